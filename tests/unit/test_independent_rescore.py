"""Do Piton's scores agree with those of a script that shares nothing with it, on stored reports that have every edge case?"""

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from piton.core.canonical import plain
from piton.core.finding import FindingKind
from piton.core.report import Report
from piton.core.score import HapScore
from piton.evaluate.seal import seal_case
from piton.report.json_file import read_report
from piton.report.rescore import score_report

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "fidelity" / "independent_rescore.py"
STORED = ("sim", "device", "incomplete", "tampered")
CLOSE = 1e-12


def stored(name: str) -> Path:
    return ROOT / "tests" / "data" / f"report_edges_{name}.json"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("independent_rescore", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_report(report: Report) -> tuple[dict[str, float | None], dict[str, float | None], float | None]:
    return {item.operator: item.score for item in report.operators}, report.level_scores, report.total_score


def assert_agree(found: object, expected: object) -> None:
    """Equal keys, None at the same places, numbers within CLOSE of one another."""
    if isinstance(expected, dict):
        assert isinstance(found, dict)
        assert set(found) == set(expected)
        for name, value in expected.items():
            assert_agree(found[name], value)
    elif expected is None or found is None:
        assert found is expected
    else:
        assert found == pytest.approx(expected, rel=CLOSE, abs=CLOSE)


@pytest.mark.parametrize("name", STORED)
def test_the_stored_scores_are_those_of_the_independent_script(name: str) -> None:
    content = json.loads(stored(name).read_text())
    operators, levels, total = script().scores(content)
    assert_agree({item["operator"]: item["score"] for item in content["operators"]}, operators)
    assert_agree(content["level_scores"], levels)
    assert_agree(content["total_score"], total)


@pytest.mark.parametrize("name", STORED)
def test_scoring_a_stored_report_again_gives_the_same_report(name: str) -> None:
    report = read_report(stored(name))
    assert score_report(report) == report
    for found, expected in zip(of_report(report), script().scores(json.loads(stored(name).read_text())), strict=True):
        assert_agree(found, expected)


def test_sealed_cases_are_scored_by_the_hap_that_they_keep() -> None:
    report = read_report(stored("sim"))
    operators = tuple(item.model_copy(update={"cases": tuple(seal_case(case) for case in item.cases)}) for item in report.operators)
    sealed = score_report(report.model_copy(update={"operators": operators}))
    assert_agree(script().scores(plain(sealed))[2], report.total_score)
    assert_agree(sealed.total_score, report.total_score)


def test_the_script_shares_nothing_with_piton() -> None:
    tree = ast.parse(SCRIPT.read_text())
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert sorted(names) == ["json", "math", "statistics", "sys"]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]


def test_the_script_runs_without_piton() -> None:
    answer = subprocess.run([sys.executable, "-I", SCRIPT, stored("sim")], capture_output=True, text=True, check=True)
    assert float(answer.stdout.splitlines()[-1]) == pytest.approx(json.loads(stored("sim").read_text())["total_score"], rel=CLOSE)


INFINITE = float("inf")
SPEEDS = {
    # T_cand, T_HW, T_baseline in us: HAP as it ranks, raw
    "at_the_roof": (1.0, 1.0),  # 1, 1, 1.2
    "at_the_baseline": (0.5, 0.5),  # 1.2, 1, 1.2
    "between": (7.4 / 9.0, 7.4 / 9.0),  # 3.3, 1.7, 9.1: 7.4 / (1.6 + 7.4)
    "very_slow": (0.2 / (1e9 - 1 + 0.2), 0.2 / (1e9 - 1 + 0.2)),
    "all_three_equal": (1.0, 1.0),  # 1, 1, 1: the baseline is raised to 1.05, 0.05 / (0 + 0.05)
    "baseline_raised": (0.05 / 0.35, 0.05 / 0.35),  # 1.3, 1, 1.02
    "baseline_below_the_roof": (0.05 / 0.35, 0.05 / 0.35),  # 1.3, 1, 0.4
    "baseline_at_the_floor": (0.05 / 0.35, 0.05 / 0.35),  # 1.3, 1, 1.05
    "below_the_roof": (1.0, 20.0),  # 0.81, 1, 1.2: 0.2 / (-0.19 + 0.2)
    "non_positive": (1.0, INFINITE),  # 0.79, 1, 1.2: -0.21 + 0.2 = -0.01
    "zero_denominator": (1.0, INFINITE),  # 0.5, 1, 1.5
}
RAISED = {"all_three_equal", "baseline_raised", "baseline_below_the_roof"}
BELOW = {"below_the_roof", "non_positive", "zero_denominator"}


@pytest.mark.parametrize("name", ["sim", "device"])
def test_every_edge_of_the_formula_has_the_outcome_that_the_page_states(name: str) -> None:
    report = score_report(read_report(stored(name)))
    cases = {case.case.id: case for item in report.operators if item.operator == "speeds" for case in item.cases}
    assert set(cases) == set(SPEEDS)
    for case_id, (ranked, raw) in SPEEDS.items():
        found = cases[case_id].hap
        assert isinstance(found, HapScore)
        assert (found.ranked, found.raw) == (pytest.approx(ranked, rel=1e-9), pytest.approx(raw, rel=1e-9)), case_id
        expected = [FindingKind.TIME_BELOW_T_HW] * (case_id in BELOW) + [FindingKind.BASELINE_RAISED] * (case_id in RAISED)
        assert [item.kind for item in cases[case_id].findings] == expected


def test_what_is_missing_costs_the_credit_for_speed_and_nothing_else() -> None:
    report = score_report(read_report(stored("sim")))
    (item,) = (item for item in report.operators if item.operator == "anchors")
    assert [case.hap is None for case in item.cases] == [True, True, True, True, False]
    assert [[finding.kind for finding in case.findings] for case in item.cases] == [[FindingKind.NO_ANCHOR]] * 4 + [[]]
    # five correct cases, one of them with HAP 2 / (1 + 2)
    assert item.score == pytest.approx(100 * (0.2 + 0.3 + 0.5 * (2 / 3) / 5))


def test_unattributed_cases_and_failures_are_worth_what_the_page_states() -> None:
    sim, device = ({item.operator: item.score for item in score_report(read_report(stored(name))).operators} for name in ("sim", "device"))
    assert sim["failures"] == pytest.approx(100 * (0.2 + (0.3 + 0.5 * 2 / 3) / 7))  # one of seven passed, HAP 2 / (1 + 2)
    assert (sim["all_wrong"], sim["rejected"], sim["not_built"]) == (pytest.approx(20.0), 0.0, 0.0)
    assert sim["unattributed"] == pytest.approx(100 * (0.2 + (0.3 + 0.5 * 2 / 3) / 2))
    assert device["unattributed"] == pytest.approx(100 * (0.2 + (0.3 + 0.3 + 0.5 * 2 / 3) / 2))


def test_a_void_and_a_case_left_out_take_the_score_of_their_operator_and_of_all_above_it() -> None:
    report = score_report(read_report(stored("incomplete")))
    found = {item.operator: item.score for item in report.operators}
    assert (found["void"], found["left_out"], report.level_scores["4"], report.total_score) == (None, None, None, None)
    assert report.level_scores["1"] == pytest.approx(found["speeds"] + found["anchors"])
    assert not report.is_complete
    assert report.total_interval is None


def test_tampering_costs_everything_with_certainty() -> None:
    report = score_report(read_report(stored("tampered")))
    assert {item.score for item in report.operators} == {0.0}
    assert (report.total_score, report.total_interval.low, report.total_interval.high) == (0.0, 0.0, 0.0)
