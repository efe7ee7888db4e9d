"""Does a program of the CPU debug interface (GmAlloc, ICPU_RUN_KF) run unchanged, and is its tiling key obeyed?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "submissions" / "programs" / "cpu_debug"


def line_of(name: str, text: str) -> int:
    """Number of the line of a source that holds `text`."""
    return next(number for number, line in enumerate((FOLDER / name).read_text().split("\n"), 1) if text in line)


def run(*arguments: str) -> dict[str, Any]:
    files = [str(FOLDER / "main.cpp"), "--source", str(FOLDER / "scale.cpp"), "-D", "ASCENDC_CPU_DEBUG", "--json"]
    command = [sys.executable, "-m", "piton.cli.main", "run", *files, "--", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False, env={**os.environ, "COLUMNS": "200"})
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize(("key", "printed"), [("1", "0 189\n"), ("2", "3 66\n")])
def test_the_tiling_key_that_the_host_sets_chooses_the_branch_and_results_come_back(key: str, printed: str) -> None:
    report = run(key)
    assert (report["outcome"]["verdict"], report["stdout"]) == ("passed", printed), report["outcomes"]
    assert len(report["launches"]) == 1


def test_a_tiling_key_that_no_branch_takes_is_told() -> None:
    found = run("7")["outcome"]
    place = found["place"]
    assert (found["cause"], place["file"], place["line"]) == ("device_exception", "scale.cpp", line_of("scale.cpp", "TILING_KEY_IS(2)")), found
    assert "no TILING_KEY_IS of the kernel takes tiling key 7" in found["message"]


def test_an_address_that_is_not_of_gmalloc_is_refused_where_it_is_passed() -> None:
    found = run("1", "local")["outcome"]
    assert "an argument is an address that does not come from AscendC::GmAlloc" in found["message"]
    assert (found["place"]["file"], found["place"]["line"]) == ("main.cpp", line_of("main.cpp", "ICPU_RUN_KF(scale")), found
