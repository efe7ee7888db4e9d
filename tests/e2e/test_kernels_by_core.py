"""Is a kernel that asks the preprocessor for the kind of core compiled for each kind, and does every core run the code of its own?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[1] / "submissions" / "programs" / "by_core.asc"


@pytest.mark.parametrize("engine", ["in-process", "own-process"])
def test_cube_and_vector_cores_run_what_was_compiled_for_them(engine: str) -> None:
    command = [sys.executable, "-m", "piton.cli.main", "run", "--json", "--engine", engine, str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    report = json.loads(done.stdout)
    assert report["outcomes"] == [], done.stderr
    assert report["stdout"] == "both 1100 1101 2200 2201 2202 2203\ncube_alone 100 100\nsays_it_later 100 100\n"
    assert [launch["cores"] for launch in report["launches"]] == [6, 2, 2]
