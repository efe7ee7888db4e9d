"""Thirty submissions through a server leave nothing behind. A thousand, with figures: benchmarks/serve_leak.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from null_world import environment, make_submission, make_suite

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_thirty_submissions_leave_no_process_descriptor_thread_or_file(tmp_path: Path) -> None:
    make_suite(tmp_path / "suite")
    own = make_submission(tmp_path / "submission")
    words = ["--count", "30", "--every", "3", "--keep", "4", "--submission", own, "--target", "null", "--suite", tmp_path / "suite", "--op", "grow"]
    command = [sys.executable, str(ROOT / "benchmarks" / "serve_leak.py"), *map(str, words)]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, "nothing grew" in done.stdout) == (0, True), done.stdout + done.stderr
