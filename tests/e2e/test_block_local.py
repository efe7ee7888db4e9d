"""Does every core have variables declared `__BLOCK_LOCAL__` for itself, wherever its code runs?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).resolve().parents[1] / "submissions" / "programs" / "per_core.asc"


def report_of(folder: Path, *options: str) -> dict[str, Any]:
    """Of a run of the program alone in its folder."""
    folder.mkdir()
    (folder / PROGRAM.name).write_text(PROGRAM.read_text())
    command = [sys.executable, "-m", "piton.cli.main", "run", "--json", str(folder / PROGRAM.name), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False, env={**os.environ, "COLUMNS": "200"})
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("engine", ["in-process", "own-process"])
def test_cores_that_take_turns_do_not_share_block_local_variables(tmp_path: Path, engine: str) -> None:
    report = report_of(tmp_path / "program", "--engine", engine)
    assert report["outcome"]["verdict"] == "passed", report["outcomes"]
    of_one_launch = [f"{40 + core} {7 + 2 * 100 * core + 1} 2 3" for core in range(5)]
    assert report["stdout"].split("\n")[:-1] == of_one_launch * 2


def test_more_block_local_bytes_than_a_core_has_are_refused(tmp_path: Path) -> None:
    report = report_of(tmp_path / "program", "-D", "LARGE=40000")
    assert report["outcome"]["cause"] == "unsupported_api", report["outcomes"]
    assert "__BLOCK_LOCAL__" in report["outcome"]["message"]
    assert 40000 <= report["outcome"]["numbers"]["bytes"] < 40200
