"""Are the reference kernels on elements and on lists right at the edges of their tilings, and without the compiler's auto-sync?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "submissions"))

from element_cases import ALL_ROWS, MAP_ROWS, Row, write_element_suite

pytestmark = pytest.mark.slow
REFERENCE = Path(__file__).resolve().parents[2] / "kernels" / "reference"


def evaluated(rows: dict[str, list[Row]], folder: Path) -> dict[str, Any]:
    """The report on a suite of these cases."""
    suite = write_element_suite(folder / "suite", rows)
    command = [sys.executable, "-m", "piton.cli.main", "eval", str(REFERENCE), "--suite", str(suite), "--trust", "--no-auto-sync"]
    done = subprocess.run([*command, "--out", str(folder / "run")], capture_output=True, text=True, timeout=280, check=False)
    assert (folder / "run/report.json").is_file(), done.stdout + done.stderr
    found: dict[str, Any] = json.loads((folder / "run/report.json").read_text())
    return found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return evaluated(ALL_ROWS, tmp_path_factory.mktemp("elements"))


@pytest.fixture(scope="module")
def map_report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return evaluated(MAP_ROWS, tmp_path_factory.mktemp("maps"))


def assert_all_pass(report: dict[str, Any], name: str, rows: list[Row]) -> None:
    (cases,) = [item["cases"] for item in report["operators"] if item["operator"] == name]
    assert len(cases) == len(rows)
    for case, row in zip(cases, rows, strict=True):
        assert case["outcome"]["verdict"] == "passed", (row, case["outcome"])
        assert {finding["kind"] for finding in case["findings"]} <= {"no_anchor"}


@pytest.mark.parametrize("name", ALL_ROWS)
def test_every_case_passes_without_a_hazard(report: dict[str, Any], name: str) -> None:
    assert_all_pass(report, name, ALL_ROWS[name])


@pytest.mark.parametrize("name", MAP_ROWS)
def test_every_case_of_one_formula_passes_without_a_hazard(map_report: dict[str, Any], name: str) -> None:
    assert_all_pass(map_report, name, MAP_ROWS[name])
