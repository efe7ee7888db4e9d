"""Groups of operators, and shares of what limits their cases."""

import pytest
from report_world import failed_case, launch_of, operator_of, passed_case, small_report

from piton.core.report import OperatorResult, Report
from piton.core.verdict import Cause, outcome
from piton.report.groups import NO_CATEGORY, NOT_SUBMITTED, by_category, by_level
from piton.report.html import html_text
from piton.report.limits import UNKNOWN, limit_charts, limited_cases, roof_label

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
