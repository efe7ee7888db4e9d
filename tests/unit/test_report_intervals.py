"""Intervals of scores: what single cases add, what nobody knows, how sums are made, and what a reader is told."""

import pytest
from report_world import CHIP, launch_of, operator_of, passed_case, small_report

from piton.core.interval import ErrorBand, Interval, IntervalKind
from piton.core.measurement import Measurement, Provenance
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.verdict import Cause, outcome
from piton.evaluate.seal import seal_case
from piton.report.markdown import markdown_text
from piton.report.rescore import score_report
from piton.report.terminal import terminal_text
from piton.report.trust import interval_text, trust_text

BAND = ErrorBand(low=0.8, high=1.25, confidence=0.9, references=19, source="made up")


def simulated(case_id: str, *, is_known: bool = True) -> CaseResult:
    """T_cand 10 us, T_HW 5 us, T_baseline 20 us (a published one, exact): HAP 15 / (5 + 15) = 0.75; true times 8 to 12.5: 15 / 22.5 to 15 / 18."""
    time = Measurement(samples=(10.0,), provenance=Provenance.SIMULATED, method="replay", interval=BAND.around(10.0) if is_known else None)
    case = passed_case(case_id=case_id)
    base = case.t_baseline.model_copy(update={"provenance": Provenance.QUOTED})
    return case.model_copy(update={"time": time, "t_baseline": base})


LOW, HIGH = 15 / 22.5, 15 / 18


def scored(*operators: OperatorResult, chip_bands: dict[str, ErrorBand] | None = None) -> Report:
    chip = CHIP.model_copy(update={"fidelity": {"short": BAND} if chip_bands is None else chip_bands})
    return score_report(small_report(operators).model_copy(update={"chip": chip}))


def ends(found: Interval) -> tuple[object, object]:
    return pytest.approx(found.low), pytest.approx(found.high)


def test_the_interval_of_an_operator_is_the_mean_of_its_cases_ends() -> None:
    report = scored(operator_of("exp", simulated("1"), simulated("2")))
    item = report.operators[0]
    assert item.score == pytest.approx(50 + 50 * 0.75)
    assert ends(item.interval) == (50 + 50 * LOW, 50 + 50 * HIGH)
    assert (item.interval.kind, item.interval.confidence, item.interval.unknown) == (IntervalKind.MODEL_ERROR, 0.9, 0)


@pytest.mark.parametrize(("bands", "low", "high"), [({}, 11 / 18.5, 20 / 23), ({"pair": BAND}, 15 / 22.5, 15 / 18)])
def test_errors_of_one_simulator_are_no_further_apart_than_the_chip_says(bands: dict[str, ErrorBand], low: float, high: float) -> None:
    # T_baseline 20 may be 16 to 25: 11 / (7.5 + 11) and 20 / (3 + 20) at the corners. No further apart than 1.25: candidate at its slowest forces
    # the baseline to at least 20: 15 / (7.5 + 15), baseline at its fastest the candidate to at most 10: 11 / (5 + 11), which is more;
    # and the other way round 15 / (3 + 15), or 20 / (5 + 20), which is less
    case = simulated("1")
    base = case.t_baseline.model_copy(update={"provenance": Provenance.SIMULATED, "interval": BAND.around(20.0)})
    (item,) = scored(operator_of("exp", case.model_copy(update={"t_baseline": base})), chip_bands=bands).operators
    assert ends(item.cases[0].hap.interval) == (low, high)


def test_a_simulated_baseline_of_unknown_error_does_not_make_a_score_more_certain() -> None:
    # with its band the interval is 11 / 18.5 to 20 / 23; with less knowledge it can't be 15 / 22.5 to 15 / 18, which lies inside
    case = simulated("1")
    base = case.t_baseline.model_copy(update={"provenance": Provenance.SIMULATED, "interval": None})
    (item,) = scored(operator_of("exp", case.model_copy(update={"t_baseline": base}), simulated("2"))).operators
    assert item.cases[0].hap.interval is None
    assert ends(item.interval) == (50 + 25 * LOW, 50 + 25 * HIGH + 25)
    assert item.interval.unknown == 1


def test_a_case_that_failed_is_certain() -> None:
    wrong = simulated("2").model_copy(update={"outcome": outcome(Cause.MAX_ERROR), "time": None})
    (item,) = scored(operator_of("exp", simulated("1"), wrong)).operators
    # 20 + 100 (0.3 + 0.5 HAP) / 2
    assert ends(item.interval) == (35 + 25 * LOW, 35 + 25 * HIGH)


def test_a_case_whose_error_nobody_knows_counts_with_everything_that_it_could_be() -> None:
    (item,) = scored(operator_of("exp", simulated("1"), simulated("2", is_known=False))).operators
    assert ends(item.interval) == (50 + 25 * LOW, 50 + 25 * HIGH + 25)
    assert item.interval.unknown == 1
    assert item.interval.low <= item.score <= item.interval.high


def test_an_operator_that_is_certain_has_the_interval_of_a_point() -> None:
    rejected = simulated("2").model_copy(update={"outcome": outcome(Cause.HOST_COPY), "time": None})
    report = scored(operator_of("exp", simulated("1")), operator_of("gelu", simulated("1"), rejected))
    assert (report.operators[1].score, report.operators[1].interval.low, report.operators[1].interval.high) == (0.0, 0.0, 0.0)


def test_sums_add_the_ends_of_their_parts_and_do_not_average_errors_away() -> None:
    operators = [operator_of(f"op{number}", simulated("1")) for number in range(4)]
    operators[3] = operators[3].model_copy(update={"level": 2})
    report = scored(*operators)
    one = (50 + 50 * LOW, 50 + 50 * HIGH)
    assert ends(report.level_intervals["1"]) == (3 * one[0], 3 * one[1])
    assert ends(report.level_intervals["2"]) == one
    assert ends(report.total_interval) == (4 * one[0], 4 * one[1])


def test_a_report_that_knows_of_no_error_has_no_intervals() -> None:
    report = scored(operator_of("exp", simulated("1", is_known=False)), chip_bands={})
    assert (report.operators[0].interval, report.level_intervals, report.total_interval) == (None, {}, None)
    assert trust_text(report) == "simulated times; how far those of ascend910b2 are from measured ones is not known"


def test_a_void_takes_the_interval_with_the_score() -> None:
    void = simulated("2").model_copy(update={"void": "device away", "outcome": outcome(Cause.EVALUATION_FAILED), "time": None})
    report = scored(operator_of("exp", simulated("1"), void), operator_of("gelu", simulated("1")))
    assert (report.operators[0].interval, report.total_interval, report.level_intervals) == (None, None, {})
    assert report.operators[1].interval is not None


def test_a_sealed_case_keeps_its_interval_in_hundredths_outwards() -> None:
    open_report = scored(operator_of("exp", simulated("1")))
    (case,) = open_report.operators[0].cases
    sealed = score_report(open_report.model_copy(update={"operators": (operator_of("exp", seal_case(case)),)}))
    interval = sealed.operators[0].cases[0].hap.interval
    assert (interval.low, interval.high) == (0.66, 0.84)  # 0.667 and 0.833
    assert ends(sealed.total_interval) == (50 + 50 * 0.66, 50 + 50 * 0.84)


def test_every_rendering_shows_the_interval_and_what_it_is_made_of() -> None:
    case = simulated("1").model_copy(update={"launches": (launch_of("k", 10.0),)})
    report = scored(operator_of("exp", case), operator_of("gelu", case.model_copy(update={"operator": "gelu"})))
    text = " ".join(terminal_text(report).split())
    # 2 (50 + 50 * 2 / 3) = 166.67 and 2 (50 + 50 * 5 / 6) = 183.33
    assert "total 175.0 [166.7 .. 183.3] (level 1: 175.0 [166.7 .. 183.3])" in text
    assert "simulated, model error -20 % .. +25 % of docs/fidelity.md, intervals at 90 %; T_baseline of 2 cases counts as exact" in text
    assert "[0.67 .. 0.83]" in text
    page = markdown_text(report)
    assert [text in page for text in ("175.0 [166.7 .. 183.3]", "[83.3 .. 91.7]")] == [True, True]


def test_a_report_says_how_many_cases_nobody_can_judge() -> None:
    report = scored(operator_of("exp", simulated("1"), simulated("2", is_known=False)))
    assert "; 1 case of unknown error may have any HAP from 0 to 1" in trust_text(report)


def test_no_interval_is_no_text() -> None:
    assert interval_text(None) == ""
    assert interval_text(BAND.around(10.0), 2) == "[8.00 .. 12.50]"
