import math

import pytest

from piton.core.score import CasePoints, ScoreProfile, hap, operator_score
from piton.core.verdict import Verdict


@pytest.mark.parametrize(
    ("t_cand", "t_hw", "t_base", "expected"),
    [
        (10.0, 10.0, 20.0, 1.0),
        (20.0, 10.0, 20.0, 0.5),
        (30.0, 10.0, 20.0, 1 / 3),
        (15.0, 10.0, 20.0, 2 / 3),
        (100.0, 1.0, 1.2, 0.2 / 99.2),
    ],
)
def test_hap_follows_the_papers_formula(t_cand: float, t_hw: float, t_base: float, expected: float) -> None:
    score = hap(t_cand, t_hw, t_base)
    assert score.raw == pytest.approx(expected)
    assert score.ranked == score.raw


def test_a_time_below_the_roof_keeps_its_raw_value_and_ranks_as_one() -> None:
    score = hap(0.81, 1.0, 1.2)
    assert score.raw == pytest.approx(20.0)
    assert (score.ranked, score.is_below_t_hw) == (1.0, True)


def test_a_non_positive_denominator_never_divides() -> None:
    score = hap(0.79, 1.0, 1.2)
    assert math.isinf(score.raw)
    assert score.ranked == 1.0


def test_a_baseline_at_the_roof_is_raised_to_five_per_cent_above() -> None:
    score = hap(1.05, 1.0, 1.0)
    assert score.is_baseline_raised
    assert score.raw == pytest.approx(0.5)
    assert not hap(1.05, 1.0, 1.05).is_baseline_raised


@pytest.mark.parametrize("times", [(0.0, 1.0, 2.0), (1.0, 0.0, 2.0), (1.0, 1.0, -1.0), (math.nan, 1.0, 2.0)])
def test_a_time_that_is_not_positive_is_refused(times: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        hap(*times)


def _points(*verdicts: Verdict, speed: float | None = 1.0) -> list[CasePoints]:
    return [CasePoints(verdict=verdict, hap=speed) for verdict in verdicts]


def test_a_perfect_operator_scores_one_hundred() -> None:
    assert operator_score(_points(Verdict.PASSED, Verdict.PASSED), ScoreProfile.SIM) == pytest.approx(100.0)


def test_a_wrong_case_costs_its_share_and_nothing_else() -> None:
    assert operator_score(_points(Verdict.PASSED, Verdict.WRONG_VALUE), ScoreProfile.SIM) == pytest.approx(20 + 40)


def test_a_compiled_but_wrong_operator_keeps_the_compile_weight() -> None:
    assert operator_score(_points(Verdict.CRASHED, Verdict.HAZARD), ScoreProfile.SIM) == pytest.approx(20.0)


def test_an_operator_that_was_not_built_scores_nothing() -> None:
    assert operator_score(_points(Verdict.BUILD_FAILED, Verdict.BUILD_FAILED), ScoreProfile.SIM, is_compiled=False) == 0.0


def test_a_path_that_needs_a_missing_api_costs_its_case_only() -> None:
    assert operator_score(_points(Verdict.PASSED, Verdict.BUILD_FAILED), ScoreProfile.SIM) == pytest.approx(60.0)


@pytest.mark.parametrize("verdict", [Verdict.REJECTED, Verdict.TAMPERED])
def test_one_such_case_zeroes_the_operator(verdict: Verdict) -> None:
    assert operator_score(_points(Verdict.PASSED, verdict), ScoreProfile.SIM) == 0.0


def test_unattributed_output_earns_correctness_only_in_the_device_profile() -> None:
    cases = _points(Verdict.UNATTRIBUTED)
    assert operator_score(cases, ScoreProfile.SIM) == pytest.approx(20.0)
    assert operator_score(cases, ScoreProfile.CANN_BENCH) == pytest.approx(50.0)


def test_a_pass_without_a_time_earns_no_speed_credit() -> None:
    assert operator_score(_points(Verdict.PASSED, speed=None), ScoreProfile.SIM) == pytest.approx(50.0)


def test_not_run_cases_stay_in_the_denominator() -> None:
    assert operator_score(_points(Verdict.PASSED, Verdict.NOT_RUN), ScoreProfile.SIM) == pytest.approx(60.0)


def test_no_cases_have_no_score() -> None:
    with pytest.raises(ValueError, match="without cases"):
        operator_score([], ScoreProfile.SIM)
