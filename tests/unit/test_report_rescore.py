from pathlib import Path

import pytest

from piton.core.case import Case, CaseInput, SizeClass
from piton.core.dtype import DType
from piton.core.finding import Finding, FindingKind
from piton.core.measurement import Anchor, AnchorKind, Measurement, Provenance
from piton.core.report import CaseResult, Environment, OperatorResult, OutputCheck, Report
from piton.core.score import ScoreProfile
from piton.core.verdict import PASSED, Cause, outcome
from piton.report import rescore
from piton.report.json_file import read_report, write_report
from piton.report.rescore import score_report


def anchor(kind: AnchorKind, value_us: float) -> Anchor:
    return Anchor(kind=kind, value_us=value_us, provenance=Provenance.MODELLED, method="made up")


def passed(case_id: str = "1", time_us: float | None = 10.0, t_hw_us: float | None = 5.0, t_baseline_us: float | None = 20.0) -> CaseResult:
    return CaseResult(
        operator="exp",
        case=Case(operator="exp", id=case_id, inputs=(CaseInput(argument="x", shape=(4,), dtype=DType.FLOAT32),)),
        size=SizeClass.SMALL,
        outcome=PASSED,
        time=Measurement(samples=(time_us,), provenance=Provenance.SIMULATED, method="replay") if time_us else None,
        t_hw=anchor(AnchorKind.T_HW, t_hw_us) if t_hw_us else None,
        t_baseline=anchor(AnchorKind.T_BASELINE, t_baseline_us) if t_baseline_us else None,
    )


def failed(cause: Cause, case_id: str = "9") -> CaseResult:
    return passed(case_id, time_us=None).model_copy(update={"outcome": outcome(cause)})


def report(*operators: tuple[CaseResult, ...], profile: ScoreProfile = ScoreProfile.SIM) -> Report:
    results = tuple(
        OperatorResult(operator=f"op{n}", level=1 + n % 2, compiled=True, build_outcome=PASSED, cases=cases, score=None) for n, cases in enumerate(operators)
    )
    return Report(
        suite="s",
        suite_version="1",
        suite_digest="d",
        submission="x",
        submission_digest="e",
        target="t",
        hardware="h",
        hardware_digest="f",
        score_profile=profile,
        precision_profile="strict",
        seed=0,
        auto_sync=True,
        operators=results,
        environment=Environment(piton="0", python="3", torch="2", compiler="g", machine="m", cores=1),
    )


def score_case(case: CaseResult) -> CaseResult:
    return rescore.score_case(case, {})


def kinds(case: CaseResult) -> list[FindingKind]:
    return [found.kind for found in case.findings]


def test_scores_follow_the_formula_of_the_paper() -> None:
    scored = score_report(report((passed("1"), failed(Cause.MAX_ERROR))))
    hap = 15 / (5 + 15)
    assert scored.operators[0].score == pytest.approx(100 * (0.2 + (0.3 + 0.5 * hap) / 2))
    assert scored.level_scores == {"1": scored.operators[0].score}
    assert scored.result_digest == scored.canonical_digest()


def test_scoring_again_changes_nothing() -> None:
    once = score_report(report((passed("1", time_us=4.0), passed("2", t_baseline_us=5.1), failed(Cause.DEADLOCK)), (passed("1"),)))
    assert score_report(once) == once


def test_a_report_with_a_level_of_which_nothing_was_submitted_can_be_read_again(tmp_path: Path) -> None:
    scored = score_report(report((passed("1"),)).model_copy(update={"missing_operators": {"other": 3}}))
    assert scored.level_scores["3"] == 0.0
    write_report(scored, tmp_path / "report.json")
    assert read_report(tmp_path) == scored


def test_a_failed_case_that_carries_a_time_gets_no_hap_from_it() -> None:
    assert score_case(passed().model_copy(update={"outcome": outcome(Cause.MEAN_ERROR)})).hap is None


def test_a_time_below_the_roof_is_flagged_and_ranks_as_one() -> None:
    case = score_case(passed(time_us=4.9))
    assert (kinds(case), case.hap.ranked) == ([FindingKind.TIME_BELOW_T_HW], 1.0)
    assert kinds(score_case(passed(time_us=5.0))) == []


def test_a_baseline_near_the_roof_is_raised_with_a_finding() -> None:
    assert kinds(score_case(passed(t_baseline_us=5.2))) == [FindingKind.BASELINE_RAISED]
    assert kinds(score_case(passed(t_baseline_us=5.25))) == []


@pytest.mark.parametrize("missing", ["time_us", "t_hw_us", "t_baseline_us"])
def test_without_one_of_the_three_times_there_is_a_finding_and_no_hap(missing: str) -> None:
    case = score_case(passed(**{missing: None}))
    assert (kinds(case), case.hap) == ([FindingKind.NO_ANCHOR], None)


def test_a_relaxed_pass_is_told_from_a_strict_one() -> None:
    check = OutputCheck(
        name="y", dtype=DType.FLOAT32, elements=4, precision_profile="strict", tau=2e-3, default_tau=1e-3, mean_error=0, max_error=0, outcome=PASSED
    )
    assert kinds(score_case(passed().model_copy(update={"checks": (check,)}))) == [FindingKind.RELAXED_PASS]
    assert kinds(score_case(passed().model_copy(update={"checks": (check.model_copy(update={"tau": 1e-3}),)}))) == []


def test_findings_of_the_run_stay() -> None:
    kept = Finding(kind=FindingKind.AUTO_SYNC_RELIED_ON, message="m")
    assert kinds(score_case(passed(time_us=4.0).model_copy(update={"findings": (kept,)}))) == [FindingKind.AUTO_SYNC_RELIED_ON, FindingKind.TIME_BELOW_T_HW]


def test_a_void_makes_operator_level_and_total_unscored_and_shrinks_nothing() -> None:
    void = failed(Cause.EVALUATION_FAILED).model_copy(update={"void": "device away"})
    scored = score_report(report((passed(), void), (passed(),)))
    assert [item.score is None for item in scored.operators] == [True, False]
    assert (scored.level_scores["1"], scored.total_score, scored.is_complete) == (None, None, False)
    assert scored.level_scores["2"] == scored.operators[1].score


@pytest.mark.parametrize("cause", [Cause.FILTERED_OUT, Cause.INTERRUPTED])
def test_a_case_that_did_not_run_makes_the_report_incomplete(cause: Cause) -> None:
    assert not score_report(report((passed(), failed(cause)))).is_complete


def test_a_rejected_case_costs_the_operator_and_a_tampered_one_everything() -> None:
    rejected = score_report(report((passed(), failed(Cause.HOST_COPY)), (passed(),)))
    assert [item.score for item in rejected.operators] == [0.0, pytest.approx(87.5)]
    tampered = score_report(report((passed(), failed(Cause.ILLEGAL_REPLY)), (passed(),)))
    assert ([item.score for item in tampered.operators], tampered.total_score) == ([0.0, 0.0], 0.0)


def test_unattributed_output_earns_correctness_credit_in_the_cann_bench_profile_only() -> None:
    cases = (failed(Cause.NOT_STORED_BY_KERNEL),)
    assert score_report(report(cases)).total_score == pytest.approx(20.0)
    assert score_report(report(cases, profile=ScoreProfile.CANN_BENCH)).total_score == pytest.approx(50.0)
