"""Does every core have variables declared `__BLOCK_LOCAL__` for itself, wherever its code runs?"""

from __future__ import annotations

from pathlib import Path

import pytest
from program_runs import report_alone

PROGRAM = Path(__file__).resolve().parents[1] / "submissions" / "programs" / "per_core.asc"


@pytest.mark.parametrize("engine", ["in-process", "own-process"])
def test_cores_that_take_turns_do_not_share_block_local_variables(tmp_path: Path, engine: str) -> None:
    report = report_alone(PROGRAM, tmp_path / "program", "--engine", engine)
    assert report["outcome"]["verdict"] == "passed", report["outcomes"]
    of_one_launch = [f"{40 + core} {7 + 2 * 100 * core + 1} 2 3" for core in range(5)]
    assert report["stdout"].split("\n")[:-1] == of_one_launch * 2


def test_more_block_local_bytes_than_a_core_has_are_refused(tmp_path: Path) -> None:
    report = report_alone(PROGRAM, tmp_path / "program", "-D", "LARGE=40000")
    assert report["outcome"]["cause"] == "unsupported_api", report["outcomes"]
    assert "__BLOCK_LOCAL__" in report["outcome"]["message"]
    assert 40000 <= report["outcome"]["numbers"]["bytes"] < 40200
