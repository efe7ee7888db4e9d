"""Is the table of the reference kernels what a report says, counted anew from its JSON?"""

from __future__ import annotations

import json
import math
import runpy
import statistics
from pathlib import Path
from typing import Any

import pytest

from piton.report.json_file import read_report

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "examples/metrics/refined/sample-1/turn-2/report.json"
TABLE: dict[str, Any] = runpy.run_path(str(ROOT / "benchmarks/reference_kernels.py"))


def passed_cases() -> list[dict[str, Any]]:
    cases = [case for item in json.loads(REPORT.read_text())["operators"] for case in item["cases"]]
    return [case for case in cases if case["outcome"]["verdict"] == "passed" and case["time"] and case["t_hw"]]


def test_ratios_and_hap_are_means_over_the_cases_that_passed() -> None:
    report = read_report(REPORT)
    row = TABLE["row_of"]("all", [case for item in report.operators for case in item.cases])
    cases = passed_cases()
    assert cases, "the example has passed cases"
    for size in ("small", "medium", "large"):
        logs = [math.log(case["time"]["samples"][0] / case["t_hw"]["value_us"]) for case in cases if case["size"] == size]
        assert getattr(row, size) == (pytest.approx(math.exp(statistics.fmean(logs))) if logs else None)
    assert row.passed == len(cases)
    assert row.hap == pytest.approx(statistics.fmean(case["hap"]["ranked"] for case in cases))


def test_a_case_that_failed_counts_among_the_cases_and_in_no_mean() -> None:
    cases = [case for item in read_report(REPORT).operators for case in item.cases if case.time]
    broken = cases[0].model_copy(update={"void": "the machine was switched off"})
    assert TABLE["row_of"]("x", [broken]).passed == 0
    assert TABLE["row_of"]("x", [broken]).hap is None
    assert TABLE["row_of"]("x", [broken, *cases]).cases == len(cases) + 1
