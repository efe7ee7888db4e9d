"""The engine's tests once more under AddressSanitizer and UndefinedBehaviorSanitizer (`make sanitize`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SUITES = [
    *(path for path in sorted(HERE.glob("test_engine_*.py")) if path != Path(__file__).resolve()),
    HERE / "test_footprints.py",
    HERE / "test_footprints_cube.py",
]
"""All that run the engine under the rig: records, kernels beside it and in a process of its own, every matmul form, the probes of the race detector.

Without the sweep over every block of a probe, whose sample here goes the same ways: under a sanitizer it would take an hour.
"""


def runtime(name: str) -> str:
    """Path of a sanitizer's library, which has to be loaded before Python."""
    found = subprocess.run(["g++", f"-print-file-name={name}"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


@pytest.mark.slow
def test_the_engine_is_clean_under_the_sanitizers() -> None:
    environment = {**os.environ, "PITON_ENGINE_ASAN": "1", "LD_PRELOAD": f"{runtime('libasan.so')}:{runtime('libubsan.so')}", "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", *map(str, SUITES)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
