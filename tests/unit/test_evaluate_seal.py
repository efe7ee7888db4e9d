"""Does a sealed report score as the open one does, and say nothing else of its cases?"""

from __future__ import annotations

import json

import pytest
from test_report_rescore import failed, passed, report

from piton.core.canonical import plain
from piton.core.report import Report
from piton.core.verdict import Cause
from piton.evaluate.policy import HiddenRequest
from piton.evaluate.seal import seal_case, seal_report
from piton.report.rescore import score_case, score_report

OPEN = score_report(report((passed("h1", time_us=12.0), failed(Cause.MAX_ERROR, "h2"), passed("h3", time_us=6.0))))
COUNTS = HiddenRequest(key_file="key", count=3)


@pytest.mark.parametrize("detail", ["counts", "verdicts", "all"])
def test_a_sealed_report_has_the_scores_of_the_open_one_and_keeps_them_when_scored_again(detail: str) -> None:
    sealed = seal_report(OPEN, COUNTS.model_copy(update={"detail": detail}), "abc")
    assert sealed.total_score == OPEN.total_score
    assert [item.score for item in sealed.operators] == [item.score for item in OPEN.operators]
    assert score_report(sealed) == sealed
    assert Report.model_validate_json(json.dumps(plain(sealed))) == sealed
    assert sealed.hidden is not None
    assert (sealed.hidden.key_id, sealed.hidden.count) == ("abc", 3)


def test_a_sealed_case_keeps_verdict_and_hap_and_nothing_else() -> None:
    case = score_case(passed("h1"), {})
    sealed = seal_case(case)
    assert sealed.hap == case.hap
    assert sealed.outcome.verdict is case.outcome.verdict
    assert (sealed.case.inputs, sealed.time, sealed.t_hw, sealed.t_baseline, sealed.checks, sealed.launches) == ((), None, None, None, (), ())
    assert seal_case(sealed) == sealed


def test_counts_are_sorted_by_result_so_that_order_says_nothing_about_which_case() -> None:
    (operator,) = seal_report(OPEN, COUNTS, "abc").operators
    haps = [case.hap.ranked if case.hap else None for case in operator.cases]
    assert [case.case.id for case in operator.cases] == ["hidden-1", "hidden-2", "hidden-3"]
    assert haps == [max(item for item in haps if item), min(item for item in haps if item), None]


def test_verdicts_keep_the_ids() -> None:
    (operator,) = seal_report(OPEN, COUNTS.model_copy(update={"detail": "verdicts"}), "abc").operators
    assert [(case.case.id, case.outcome.verdict.value) for case in operator.cases] == [("h1", "passed"), ("h2", "wrong_value"), ("h3", "passed")]
