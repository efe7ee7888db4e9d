"""Groups of operators, and shares of what limits their cases."""

import pytest
from report_world import CHIP, failed_case, large_report, launch_of, operator_of, passed_case, small_report

from piton.core.interval import Interval, IntervalKind
from piton.core.measurement import Provenance
from piton.core.method import Method
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.verdict import Cause, outcome
from piton.report.groups import NO_CATEGORY, NOT_SUBMITTED, by_category, by_level
from piton.report.hap_plot import hap_figure
from piton.report.html import html_text
from piton.report.limits import UNKNOWN, limit_charts, limited_cases, roof_label
from piton.report.markdown import markdown_text
from piton.report.plot import MOST_TAILS, Figure, y_of
from piton.report.roofline import roofline_figures
from piton.report.series import Located, series_of

HOSTILE = "<script>alert(1)</script>"


def placed(item: OperatorResult, level: int, category: str) -> OperatorResult:
    return item.model_copy(update={"level": level, "category": category})


def report() -> Report:
    """T_HW 5, T_baseline 20: T_cand 10 has HAP 15 / (5 + 15) = 0.75, T_cand 20 has 0.5."""
    exp = placed(operator_of("exp", passed_case(time_us=10.0), passed_case(case_id="2", time_us=20.0)), 1, "Elementwise")
    mish = placed(operator_of("mish", passed_case("mish", time_us=10.0, unit="vector"), failed_case(outcome(Cause.DEADLOCK), "2", "mish")), 2, "Elementwise")
    softmax = placed(operator_of("softmax", passed_case("softmax", time_us=5.0, unit="floor")), 2, "Normalization")
    return small_report((exp, mish, softmax))


def test_levels_sum_scores_and_average_what_was_timed() -> None:
    first, second = by_level(report())
    # exp: 100 (0.2 + (2 x 0.3 + 0.5 (0.75 + 0.5)) / 2) = 20 + 50 (0.6 + 0.625) = 81.25
    assert (first.name, first.score, first.most, first.passed, len(first.cases)) == ("level 1", pytest.approx(81.25), 100, 2, 2)
    # mish: 20 + 100 (0.3 + 0.375) / 2 = 53.75, softmax at the limit: 100
    assert (second.score, second.most, second.passed, len(second.cases)) == (pytest.approx(153.75), 200, 2, 3)
    assert second.mean_hap == pytest.approx((0.75 + 1.0) / 2)
    assert second.median_ratio == pytest.approx((2.0 + 1.0) / 2)
    # T_baseline / T_cand: 20 / 10 and 20 / 20; their geometric mean is the root of 2
    assert first.speedup == pytest.approx(2**0.5)


def test_the_speed_up_of_a_group_says_where_both_times_come_from() -> None:
    quoted = passed_case(case_id="2", time_us=20.0)
    assert quoted.t_baseline
    quoted = quoted.model_copy(update={"t_baseline": quoted.t_baseline.model_copy(update={"provenance": Provenance.QUOTED})})
    found = small_report((operator_of("exp", passed_case(), quoted),))
    told = "T_baseline simulated and quoted, T_cand simulated"
    assert by_level(found)[0].speedup_origin == told
    assert f"| 1.41, {told} |".replace("_", "\\_") in markdown_text(found)
    assert f"1.41×<small>{told}</small>" in html_text(found)
    assert by_level(small_report((operator_of("exp", failed_case(outcome(Cause.DEADLOCK))),)))[0].speedup_origin == ""


def test_categories_are_those_of_the_suite_and_what_lacks_one_comes_last() -> None:
    found = report()
    unnamed = found.model_copy(update={"operators": (*found.operators, placed(operator_of("x", passed_case("x")), 3, ""))})
    assert [group.name for group in by_category(unnamed)] == ["Elementwise", "Normalization", NO_CATEGORY]
    assert [item.operator for item in by_category(unnamed)[0].operators] == ["exp", "mish"]


def test_operators_that_were_not_submitted_count_in_their_level_and_apart_among_categories() -> None:
    found = report().model_copy(update={"missing_operators": {"gelu": 1, "lstm": 4}})
    assert [(group.name, group.missing, group.most) for group in by_level(found)] == [("level 1", 1, 200), ("level 2", 0, 200), ("level 4", 1, 100)]
    last = by_category(found)[-1]
    assert (last.name, last.score, last.most, last.mean_hap) == (NOT_SUBMITTED, 0.0, 200, None)


def test_a_group_with_an_operator_without_score_has_none() -> None:
    void = passed_case("mish").model_copy(update={"void": "the device went away", "outcome": outcome(Cause.EVALUATION_FAILED)})
    (level,) = by_level(small_report((operator_of("exp", passed_case()), operator_of("mish", void))))
    assert (level.score, level.share) == (None, 0.0)


@pytest.mark.parametrize(("unit", "label"), [("vector", "Vector"), ("cube", "Cube"), ("floor", "floor"), ("", UNKNOWN)])
def test_units_that_compute_keep_their_name(unit: str, label: str) -> None:
    assert roof_label(passed_case(unit=unit)) == label


@pytest.mark.parametrize("unit", ["mte1", "mte2", "mte3", "fixp"])
def test_units_that_move_data_are_rolled_up_as_mte(unit: str) -> None:
    assert roof_label(passed_case(unit=unit)) == "MTE"


def test_shares_of_limiting_units_are_counted_for_all_cases_and_per_level() -> None:
    roof, kernel = limit_charts(limited_cases(report()))
    assert roof.labels == ("Vector", "MTE", "floor")
    everything, first, second = roof.bars
    # of five cases: exp/1 and exp/2 move data, mish/1 computes, mish/2 failed (its T_HW is known: mte2), softmax is at the floor
    assert [(part.label, part.text) for part in everything.parts] == [("Vector", "20 % (1)"), ("MTE", "60 % (3)"), ("floor", "20 % (1)")]
    assert [part.count for part in first.parts] == [0, 2, 0]
    assert second.words == "level 2: Vector 33 % (1), MTE 33 % (1), floor 33 % (1)"
    assert [bar.total for bar in kernel.bars] == [5, 2, 3]
    assert kernel.bars[0].words == "all: MTE2 100 % (5)"


def test_a_report_of_one_level_has_one_bar_and_no_launches_no_chart_of_kernels() -> None:
    case = passed_case().model_copy(update={"launches": ()})
    (chart,) = limit_charts(limited_cases(small_report((operator_of("exp", case),))))
    assert (chart.name, [bar.name for bar in chart.bars]) == ("roof", ["all"])


def test_a_kernel_that_mostly_starts_and_ends_is_limited_by_its_launch() -> None:
    waits = {"v": {"launch": 60, "tail": 25, "idle": 5}}
    launch = launch_of("k", 1.0).model_copy(update={"cycles": 100, "cores": 1, "busy_cycles": {"v": 10}, "wait_cycles": waits})
    case = passed_case().model_copy(update={"launches": (launch,)})
    chart = limit_charts(limited_cases(small_report((operator_of("exp", case),))))[1]
    assert chart.bars[0].words == "all: launch 100 % (1)"


def test_the_page_shows_both_breakdowns_with_their_words() -> None:
    page = html_text(report())
    for text in ('aria-label="level 2: Vector 33 % (1), MTE 33 % (1), floor 33 % (1)"', '<td class="wrap narrow">Normalization</td>', "1.41×"):
        assert text in page


def test_a_category_of_a_suite_from_outside_is_text() -> None:
    page = html_text(small_report((placed(operator_of("exp", passed_case()), 1, HOSTILE),)))
    assert page.count("<script") == 1
    assert "&lt;script&gt;alert(1)" in page


def test_each_unit_behind_t_hw_has_its_time_and_the_limiting_one_its_mark() -> None:
    page = html_text(small_report((operator_of("exp", passed_case(t_hw_us=6.0)),)))
    # mte2 6, vector half of it, mte3 a third, the floor 1 us; cube has no work and no column
    assert '<td class="unit" style="--v:1.0">6.00 ◆</td>' in page
    assert '<td class="unit" style="--v:0.5">3.00</td>' in page
    assert '<td class="unit" style="--v:0.33">2.00</td>' in page
    assert "<th>cube</th>" not in page
    # four lane-instructions for each of 1009 x 1021 = 1,030,189 elements
    assert "4.12 M lane-instructions float32" in page


def with_band(low: float, high: float, case_id: str = "1") -> CaseResult:
    """A case of 10 us whose true time is expected between two ends, against a published T_baseline, which counts as exact."""
    case = passed_case(case_id=case_id)
    assert case.time
    assert case.t_baseline
    exact = case.t_baseline.model_copy(update={"provenance": Provenance.QUOTED})
    band = Interval(low=low, high=high, kind=IntervalKind.MODEL_ERROR, confidence=0.9)
    return case.model_copy(update={"time": case.time.model_copy(update={"interval": band}), "t_baseline": exact})


def test_intervals_stand_beside_the_case_its_operator_its_level_and_the_total() -> None:
    """T_HW 5, T_baseline 20: between 8 and 12.5 us HAP is between 15 / 22.5 = 0.667 and 15 / 18 = 0.833; the score is 50 + 50 HAP."""
    page = html_text(small_report((operator_of("exp", with_band(8.0, 12.5)),)))
    assert '<td class="n meter band" style="--v:0.75;--lo:0.667;--hi:0.833">0.750 <small>[0.67 .. 0.83]</small></td>' in page
    assert page.count("<small>[83.3 .. 91.7]</small>") == 3, "total, level, operator"
    assert '<td class="n">[8.00 .. 12.50]</td>' in page
    assert "[83.3" not in html_text(small_report((operator_of("exp", passed_case()),)))


def test_whiskers_of_the_hap_curve_end_where_the_interval_does_and_leave_when_there_are_too_many() -> None:
    def figure_of(count: int) -> Figure:
        cases = small_report((operator_of("exp", *(with_band(8.0, 12.5, str(number)) for number in range(count))),)).operators[0].cases
        located = [Located(case, case.case.id) for case in cases]
        found = hap_figure(located, series_of(located), "simulated")
        assert found is not None
        return found

    few = figure_of(1)
    assert few.marks[0].whisker == (round(y_of(few.y, 15 / 18), 1), round(y_of(few.y, 15 / 22.5), 1))
    assert "Whiskers" in few.note
    many = figure_of(MOST_TAILS + 1)
    assert {mark.whisker for mark in many.marks} == {None}
    assert "Whiskers" not in many.note


def test_with_many_operators_a_roofline_is_coloured_by_element_type() -> None:
    report = large_report(15, 3)
    located = [Located(case, case.case.id) for item in report.operators for case in item.cases]
    figures = {figure.name: figure for figure in roofline_figures(located, series_of(located), CHIP)}
    assert [name for _, name in figures["roofline-cube"].series] == ["float16", "float32", "int8"]
    roofs = [line.label for line in figures["roofline-cube"].lines if line.kind == "roof"]
    # 24 cores x 4096 multiply-adds x 2 x 1.8 GHz for float16, a quarter of that for float32, twice for int8
    assert sorted(roofs) == ["float16 354", "float32 88.5", "int8 708"]
    few = [item for item in located if item.case.operator in ("operator_number_2", "operator_number_8")]
    assert [name for _, name in roofline_figures(few, series_of(few), CHIP)[0].series] == ["operator_number_2", "operator_number_8"]


def test_the_fair_reporting_record_the_method_and_the_baseline_are_in_the_page() -> None:
    report = small_report((operator_of("exp", passed_case()),)).model_copy(
        update={"method": Method(name="mine", models=("m1",)), "baselines": ("set 2026-11-30.1",)}
    )
    page = html_text(report)
    for text in (
        "of 11 items reported",
        '<td>number of samples</td><td class="missing">missing</td>',
        "<dt>models</dt><dd>m1</dd>",
        "<dd>set 2026-11-30.1</dd>",
    ):
        assert text in page
    assert page.count("T_baseline: set 2026-11-30.1") == 1


def test_a_report_from_before_categories_were_kept_has_its_old_digest() -> None:
    def kept(category: str) -> object:
        report = small_report((placed(operator_of("exp", passed_case()), 1, category),))
        operators = report.canonical_result()["operators"]
        assert isinstance(operators, (list, tuple))
        return operators[0].get("category", "left out")

    assert (kept(""), kept("Elementwise")) == ("left out", "Elementwise")
