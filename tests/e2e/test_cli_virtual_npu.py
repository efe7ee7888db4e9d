"""Does `piton eval` on the virtual NPU give the same numbers on every run and with any number of jobs, without a hazard?"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from piton.core.report import Report
from piton.report.rescore import score_report

ROOT = Path(__file__).resolve().parents[2]
CASES = ("exp/1", "exp/13", "exp/14", "gelu/3", "gelu/5", "gelu/13", "rms_norm/3", "rms_norm/12", "softmax/3", "softmax/4", "softmax/13")
"""Small cases of every dtype; NaN, infinite and all-zero input, a long row and an inner axis among them."""
OPERATORS = sorted({case.partition("/")[0] for case in CASES})
"""Only these are built."""


def run_eval(out: Path, jobs: int) -> tuple[int, dict[str, Any]]:
    chosen = [option for case in CASES for option in ("--case", case)]
    chosen += [option for name in OPERATORS for option in ("--op", name)]
    command = [sys.executable, "-m", "piton.cli.main", "eval", str(ROOT / "kernels/reference"), *chosen, "--jobs", str(jobs), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert (out / "report.json").is_file(), done.stdout + done.stderr
    return done.returncode, json.loads((out / "report.json").read_text())


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("runs")
    return {name: run_eval(folder / name, jobs) for name, jobs in (("first", 1), ("again", 1), ("two jobs", 2))}


def chosen_cases(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [case for item in report["operators"] for case in item["cases"] if f"{item['operator']}/{case['case']['id']}" in CASES]


@pytest.mark.parametrize("name", ["again", "two jobs"])
def test_another_run_gives_the_same_cycles_scores_and_digest(reports: dict[str, tuple[int, dict[str, Any]]], name: str) -> None:
    first, other = reports["first"][1], reports[name][1]
    for key in ("launches", "time", "hap", "t_baseline"):
        assert [case[key] for case in chosen_cases(other)] == [case[key] for case in chosen_cases(first)]
    assert other["result_digest"] == first["result_digest"]


def test_the_reference_kernels_passes_with_times_anchors_and_no_hazard(reports: dict[str, tuple[int, dict[str, Any]]]) -> None:
    status, report = reports["first"]
    cases = chosen_cases(report)
    assert status == 0
    assert [case["outcome"]["verdict"] for case in cases] == ["passed"] * len(CASES)
    for case in cases:
        assert case["t_hw"]["value_us"] < case["time"]["samples"][0] < case["t_baseline"]["value_us"]
        assert (case["time"]["provenance"], case["t_baseline"]["provenance"], case["t_hw"]["provenance"]) == ("simulated", "simulated", "modelled")
        assert {finding["kind"] for finding in case["findings"]} <= {"auto_sync_relied_on"}


def test_a_script_that_shares_nothing_with_piton_scores_the_reference_kernels_alike(reports: dict[str, tuple[int, dict[str, Any]]]) -> None:
    spec = importlib.util.spec_from_file_location("independent_rescore", ROOT / "tests" / "fidelity" / "independent_rescore.py")
    independent = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(independent)
    report = reports["first"][1]
    for case in chosen_cases(report):
        hap = case["hap"]
        assert independent.hap(case) == pytest.approx(hap["ranked"], rel=1e-12)
        assert hap["interval"]["low"] <= hap["ranked"] <= hap["interval"]["high"]
    whole = {**report, "operators": [{**item, "cases": chosen_cases({"operators": [item]})} for item in report["operators"]]}
    scored = score_report(Report.model_validate_json(json.dumps(whole)))
    operators, levels, total = independent.scores(whole)
    assert {item.operator: item.score for item in scored.operators} == pytest.approx(operators, rel=1e-12)
    assert (scored.level_scores, scored.total_score) == (pytest.approx(levels, rel=1e-12), pytest.approx(total, rel=1e-12))
    assert scored.total_interval.low <= total <= scored.total_interval.high
