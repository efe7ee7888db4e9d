"""What moved between two reports, how far that can be trusted, and how it is told."""

import io
import json
import math
from pathlib import Path
from typing import Literal

import pytest
from report_world import failed_case, large_report, operator_of, passed_case, small_report
from rich.console import Console

from piton.core.case import Case
from piton.core.interval import Interval, IntervalKind
from piton.core.measurement import Measurement, Provenance
from piton.core.report import CaseResult, HiddenSet, OperatorResult, Report
from piton.core.score import HapScore
from piton.core.verdict import Cause, outcome
from piton.report.compare import compare
from piton.report.compare_markdown import comparison_markdown
from piton.report.compare_page import comparison_html
from piton.report.compare_terminal import render_comparison
from piton.report.compare_text import difference_texts, headline, move_line, score_table, sections, speedup_text, sum_line
from piton.report.comparison import Comparison, Pair
from piton.report.moves import CERTAINTY_TEXTS, Certainty, Move, MoveKind, Thresholds, move
from piton.report.schema import compare_schema_text, properties_of
from piton.report.speedup_plot import speedup_figure

ROOT = Path(__file__).resolve().parents[2]
KEY = ("exp", "1")
LEAST = Thresholds()
HAZARD = outcome(Cause.DEADLOCK)
HOSTILE = "<script>alert(1)</script>|[x](http://evil) @everyone"


def simulated(time_us: float, low: float | None = None, high: float | None = None) -> CaseResult:
    """A case that passed; with ends, those of the measured time that the model's error leaves."""
    case = passed_case(time_us=time_us)
    assert case.time
    band = None if low is None or high is None else Interval(low=low, high=high, kind=IntervalKind.MODEL_ERROR, confidence=0.9)
    return case.model_copy(update={"time": case.time.model_copy(update={"interval": band})})


def measured(*samples: float) -> CaseResult:
    time = Measurement(samples=samples, provenance=Provenance.DEVICE, method="events")
    return passed_case().model_copy(update={"time": time})


def void() -> CaseResult:
    return passed_case().model_copy(update={"void": "the device went away", "outcome": outcome(Cause.EVALUATION_FAILED), "time": None})


def pair_of(before: Report, after: Report) -> Pair:
    (found,) = compare([before, after], ["before", "after"]).pairs
    return found


def report_of(*operators: OperatorResult) -> Report:
    return small_report(operators)


BEFORE = report_of(operator_of("exp", passed_case(), passed_case(case_id="2")), operator_of("gelu", passed_case("gelu")))
FASTER = report_of(operator_of("exp", passed_case(time_us=6.0), passed_case(case_id="2", time_us=10.03)), operator_of("gelu", passed_case("gelu")))
BROKEN = report_of(operator_of("exp", passed_case(time_us=6.0), failed_case(HAZARD, "2")))


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (passed_case(), failed_case(HAZARD, "1"), MoveKind.BROKE),
        (passed_case(), void(), MoveKind.UNJUDGED),
        (void(), failed_case(HAZARD, "1"), MoveKind.JUDGED),
        (failed_case(HAZARD, "1"), passed_case(), MoveKind.REPAIRED),
        (failed_case(HAZARD, "1"), failed_case(outcome(Cause.MAX_ERROR), "1"), MoveKind.OTHER_VERDICT),
        (failed_case(HAZARD, "1"), failed_case(HAZARD, "1"), MoveKind.UNCHANGED),
        (passed_case(), None, MoveKind.VANISHED),
        (None, passed_case(), MoveKind.APPEARED),
        (passed_case(time_us=10.0), passed_case(time_us=10.06), MoveKind.SLOWER),
        (passed_case(time_us=10.06), passed_case(time_us=10.0), MoveKind.FASTER),
        (passed_case(time_us=10.0), passed_case(time_us=10.04), MoveKind.UNCHANGED),
    ],
)
def test_every_case_has_one_kind_of_move(before: CaseResult | None, after: CaseResult | None, kind: MoveKind) -> None:
    """A change of T_cand counts from 0.5 % on: 10.06 / 10 is more, 10.04 / 10 is less."""
    assert move(KEY, before, after, LEAST).kind is kind


def test_a_case_with_other_inputs_under_its_old_name_is_not_judged() -> None:
    other = passed_case(time_us=99.0)
    other = other.model_copy(update={"case": other.case.model_copy(update={"attributes": {"base": 2.0}})})
    found = move(KEY, passed_case(), other, LEAST)
    assert (found.kind, found.speedup, found.is_regression) == (MoveKind.ALTERED, None, False)
    renamed = passed_case(time_us=99.0)
    renamed = renamed.model_copy(update={"case": renamed.case.model_copy(update={"note": "another note"})})
    assert move(KEY, passed_case(), renamed, LEAST).kind is MoveKind.SLOWER


def test_a_case_whose_range_is_nan_is_the_same_case() -> None:
    """A NaN differs from itself, also when two reports were read from one file."""
    before, after = (passed_case(), passed_case(time_us=20.0))
    before, after = (
        case.model_copy(
            update={"case": case.case.model_copy(update={"inputs": tuple(item.model_copy(update={"low": float("nan")}) for item in case.case.inputs)})}
        )
        for case in (before, after)
    )
    assert move(KEY, before, after, LEAST).kind is MoveKind.SLOWER


def test_a_score_that_moves_with_its_anchors_is_not_the_kernels_doing() -> None:
    before, after = (report_of(operator_of("exp", passed_case(t_hw_us=t_hw))) for t_hw in (5.0, 4.0))
    # HAP 15 / (5 + 15) = 0.75 and 12 / (6 + 12) = 0.667, both at 10 us
    (found,) = pair_of(before, after).moves
    assert (found.kind, found.speedup, found.certainty, found.is_regression) == (MoveKind.RESCALED, 1.0, Certainty.NONE, False)


@pytest.mark.parametrize(
    ("before", "after", "certainty", "is_real"),
    [
        # six samples: the interval of the median is their whole range (97 %)
        (measured(9.8, 9.9, 10.0, 10.0, 10.1, 10.2), measured(8.8, 8.9, 9.0, 9.0, 9.1, 9.2), Certainty.MEASURED, True),
        (measured(9.1, 9.9, 10.0, 10.0, 10.1, 10.2), measured(8.8, 8.9, 9.0, 9.0, 9.1, 9.2), Certainty.WITHIN_SPREAD, False),
        (measured(10.0), measured(9.0), Certainty.SPREAD_UNKNOWN, False),
        (simulated(10.0, 8.0, 12.0), simulated(6.0, 5.0, 7.0), Certainty.EXACT, True),
        (simulated(10.0, 8.0, 12.0), simulated(9.0, 7.0, 11.0), Certainty.EXACT_WITHIN_ERROR, True),
        (simulated(10.0), simulated(6.0), Certainty.EXACT_ERROR_UNKNOWN, True),
    ],
)
def test_a_change_is_judged_by_the_spread_of_a_device_and_by_the_error_of_a_model(
    before: CaseResult, after: CaseResult, certainty: Certainty, is_real: bool
) -> None:
    faster, slower = move(KEY, before, after, LEAST), move(KEY, after, before, LEAST)
    assert (faster.kind, faster.certainty, faster.is_real, faster.is_regression) == (MoveKind.FASTER, certainty, is_real, False)
    assert (slower.kind, slower.certainty, slower.is_regression) == (MoveKind.SLOWER, certainty, is_real)


def test_times_of_two_origins_are_not_compared() -> None:
    found = move(KEY, measured(10.0), simulated(5.0), LEAST)
    assert (found.kind, found.speedup, found.certainty) == (MoveKind.OTHER_ORIGIN, None, Certainty.OTHER_ORIGIN)
    assert not found.is_regression
    # with HAPs of 0.75 and 1.0 it is no change of T_HW or T_baseline either
    before, after = (report_of(operator_of("exp", case)).operators[0].cases[0] for case in (measured(10.0), simulated(5.0)))
    assert move(KEY, before, after, LEAST).kind is MoveKind.OTHER_ORIGIN


def test_a_score_that_moves_with_t_cand_below_the_threshold_is_not_said_to_be_rescaled() -> None:
    """3 % slower and `--least 5`: HAP goes from 15 / 20 = 0.75 to 15 / 20.3 = 0.739, more than 0.005, and both anchors are the same."""
    before, after = (report_of(operator_of("exp", passed_case(time_us=time_us))).operators[0].cases[0] for time_us in (10.0, 10.3))
    assert move(KEY, before, after, Thresholds(time=0.05)).kind is MoveKind.UNCHANGED
    assert move(KEY, before, after, Thresholds(time=0.02)).kind is MoveKind.SLOWER


def sealed(hap: float, *ends: float) -> CaseResult:
    """A hidden case that passed: nothing but its HAP, and where that of true times is expected."""
    interval = Interval(low=ends[0], high=ends[1], kind=IntervalKind.SAMPLES, confidence=0.95) if ends else None
    told = HapScore(raw=hap, ranked=hap, interval=interval)
    return passed_case().model_copy(update={"time": None, "t_hw": None, "t_baseline": None, "is_sealed": True, "hap": told})


@pytest.mark.parametrize(
    ("before", "after", "certainty", "is_real"),
    [
        (sealed(0.75, 0.74, 0.76), sealed(0.5, 0.49, 0.51), Certainty.HAP_MOVED, True),
        (sealed(0.75, 0.70, 0.80), sealed(0.74, 0.69, 0.79), Certainty.HAP_WITHIN_SPREAD, False),
        (sealed(0.75), sealed(0.5), Certainty.HAP_ONLY, False),
        (sealed(0.75, 0.74, 0.76), sealed(0.5), Certainty.HAP_ONLY, False),
    ],
)
def test_hidden_cases_are_judged_by_the_intervals_of_hap_that_they_keep(before: CaseResult, after: CaseResult, certainty: Certainty, is_real: bool) -> None:
    found = move(KEY, before, after, LEAST)
    assert (found.kind, found.certainty, found.speedup, found.is_regression) == (MoveKind.SLOWER, certainty, None, is_real)


def test_the_threshold_of_times_is_a_share_of_hap_where_times_are_withheld() -> None:
    """0.8 / 0.75 is 6.7 % more."""
    before, after = sealed(0.8, 0.79, 0.81), sealed(0.75, 0.74, 0.76)
    assert move(KEY, before, after, Thresholds(time=0.06)).kind is MoveKind.SLOWER
    assert move(KEY, before, after, Thresholds(time=0.07)).kind is MoveKind.UNCHANGED


def test_every_certainty_is_explained() -> None:
    assert set(CERTAINTY_TEXTS) == set(Certainty) - {Certainty.NONE}


def test_the_threshold_is_the_users() -> None:
    found = compare([BEFORE, FASTER], ["a", "b"], Thresholds(time=0.7)).pairs[0]
    # 10 / 6 is 67 % faster: less than 70 %; its HAP moved all the same, but not because of the anchors
    assert found.moves == ()
    equal = compare([BEFORE, BEFORE], ["a", "b"], Thresholds(time=0.0)).pairs[0]
    assert equal.moves == (), "equal times are no change, however small a change may be"


def test_what_broke_comes_first_and_then_the_largest_changes_of_time() -> None:
    times = {"1": 20.0, "2": 9.0, "3": 4.0, "4": 10.0}
    before = report_of(operator_of("exp", *(passed_case(case_id=name) for name in (*times, "5", "6"))))
    after = report_of(operator_of("exp", *(passed_case(case_id=name, time_us=value) for name, value in times.items()), failed_case(HAZARD, "6")))
    found = pair_of(before, after)
    # 3 is 2.5 times faster, 1 two times slower, 2 faster by a ninth; 4 stayed, 5 is gone
    assert [item.case for item in found.moves] == ["6", "5", "3", "1", "2"]
    assert [item.case for item in found.regressions] == ["6", "5", "1"]
    assert headline(found).startswith("after against before: 1 broke, 1 vanished, 1 slower, 2 faster, 1 unchanged; geometric-mean speed-up")
    assert [section.title for section in sections(found)] == ["Verdicts that changed", "Cases that became faster or slower", "Other changes"]


def test_the_speed_up_is_a_geometric_mean_over_cases_that_passed_in_both() -> None:
    before = report_of(operator_of("exp", passed_case(), passed_case(case_id="2"), passed_case(case_id="3")))
    after = report_of(operator_of("exp", passed_case(time_us=5.0), passed_case(case_id="2", time_us=40.0), failed_case(HAZARD, "3")))
    found = pair_of(before, after).speedup
    # (10 / 5 x 10 / 40) ** (1 / 2) = 0.5 ** 0.5
    assert found is not None
    assert (found.value, found.cases) == (pytest.approx(math.sqrt(0.5)), 2)
    assert found.low is not None
    assert found.high is not None
    assert 0.25 <= found.low <= found.value <= found.high <= 2.0


def test_equal_speed_ups_have_no_interval_and_none_at_all_is_said() -> None:
    same = pair_of(BEFORE, BEFORE).speedup
    assert same is not None
    assert (same.value, same.low, same.high, same.cases) == (1.0, None, None, 3)
    nothing = pair_of(report_of(operator_of("exp", failed_case(HAZARD, "1"))), BEFORE).speedup
    assert nothing is None
    assert speedup_text(nothing) == "no case has times of one origin in both"


def test_every_speed_up_says_where_its_times_come_from() -> None:
    """2 of simulated times, 4 of a device's; both together are no number of one world, and that is said too."""
    before = report_of(operator_of("exp", simulated(10.0)), operator_of("gelu", measured(8.0)))
    after = report_of(operator_of("exp", simulated(5.0)), operator_of("gelu", measured(2.0)))
    found = pair_of(before, after)
    assert speedup_text(found.speedup).endswith("over 2 cases, device and simulated")
    assert [(item.name, item.speedup_provenances) for item in found.operators] == [("exp", (Provenance.SIMULATED,)), ("gelu", (Provenance.DEVICE,))]
    assert [sum_line(item)[-1] for item in found.operators] == ["2.000 simulated", "4.000 device"]
    assert sum_line(found.total)[-1] == "2.828 device and simulated"
    assert sorted(move_line(item)[5] for item in found.moves) == ["2.000 simulated", "4.000 device"]
    assert json.loads(found.model_dump_json())["speedup"]["provenances"] == ["device", "simulated"]
    figure = speedup_figure(found, 1)
    assert figure is not None
    assert (figure.x.label, figure.y.label) == ("T_cand before, us, device and simulated", "speed-up, device and simulated")


def test_scores_of_all_runs_stand_side_by_side_with_their_difference_to_the_first() -> None:
    """HAP is 0.75 at 10 us, 15 / 16 = 0.9375 at 6 and 15 / 20.03 = 0.7489 at 10.03: exp goes from 87.5 to 50 + 50 (0.9375 + 0.7489) / 2 = 92.16."""
    found = score_table(compare([BEFORE, FASTER, BROKEN], ["a", "b", "c"]))
    assert found.head == ("operator", "a", "b", "c")
    exp, gelu, total = found.lines
    # one of two cases is left in the third: 20 + 100 (0.3 + 0.5 x 0.9375) / 2 = 58.44; it does not have gelu
    assert exp == ("exp", "87.5", "92.2 (+4.7)", "58.4 (-29.1)")
    assert gelu == ("gelu", "87.5", "87.5 (+0.0)", "–")
    assert total == ("total", "175.0", "179.7 (+4.7)", "58.4 (-116.6)")


def test_levels_and_categories_have_sums_of_their_own() -> None:
    def placed(report: Report) -> Report:
        names = {"exp": (1, "Elementwise"), "gelu": (2, "Elementwise")}
        operators = (item.model_copy(update=dict(zip(("level", "category"), names[item.operator], strict=True))) for item in report.operators)
        return report_of(*operators)

    found = pair_of(placed(BEFORE), placed(FASTER))
    assert [(item.name, item.before, item.most, item.passed_after) for item in found.levels] == [("level 1", 87.5, 100, 2), ("level 2", 87.5, 100, 1)]
    (category,) = found.categories
    assert (category.name, category.before, category.most) == ("Elementwise", 175.0, 200)
    # 10 / 6, 10 / 10.03 and 10 / 10 over three cases
    assert category.speedup == pytest.approx((10 / 6 * 10 / 10.03) ** (1 / 3))
    assert [item.has_changed for item in found.operators] == [True, False]


def test_an_operator_that_a_submission_lacks_has_its_score_of_0() -> None:
    found = pair_of(BROKEN.model_copy(update={"missing_operators": {"gelu": 1, "mish": 1}}), BEFORE)
    gelu = next(item for item in found.operators if item.name == "gelu")
    assert (gelu.before, gelu.after, gelu.change) == (0.0, 87.5, 87.5)
    assert "mish" not in [item.name for item in found.operators]


def test_whatever_else_differs_is_said() -> None:
    other = BEFORE.model_copy(update={"hardware": "ascend910b1", "seed": 4, "environment": BEFORE.environment.model_copy(update={"piton": "9"})})
    assert difference_texts(compare([BEFORE, other], ["a", "b"])) == [
        "not the same as in a: hardware of b: ascend910b1, not ascend910b2",
        "not the same as in a: seed of b: 4, not 0",
        "not the same as in a: piton of b: 9, not 0",
    ]


def hidden_report(detail: Literal["counts", "verdicts"], *haps: float, key_id: str = "k") -> Report:
    """Sealed cases with ids by rank; with verdicts, those of the key would be kept."""
    cases = []
    for number, hap in enumerate(haps, start=1):
        case = sealed(hap, hap, hap)
        cases.append(case.model_copy(update={"case": Case(operator="exp", id=f"hidden-{number}", inputs=())}))
    return report_of(operator_of("exp", *cases)).model_copy(update={"hidden": HiddenSet(key_id=key_id, count=len(haps), detail=detail)})


def test_hidden_cases_that_are_numbered_by_rank_are_compared_by_their_sums_only() -> None:
    """0.9 and 0.5 may be other cases before and after, so that none of the two lines is known to be unchanged."""
    found = compare([hidden_report("counts", 0.9, 0.5), hidden_report("counts", 0.9, 0.4)], ["a", "b"])
    (pair,) = found.pairs
    assert (pair.is_sums_only, pair.moves, sum(pair.counts.values()), pair.speedup) == (True, (), 0, None)
    # 20 + 100 (0.3 + 0.5 x 0.7) = 85, and with a mean HAP of 0.65 it is 82.5
    assert (pair.total.before, pair.total.after, pair.is_doubtful) == (pytest.approx(85.0), pytest.approx(82.5), True)
    told = "b against a: hidden cases can't be told apart, so only sums are compared: score 85.0, then 82.5; 2 passed, then 2"
    assert headline(pair) == told
    text = comparison_markdown(found)
    assert "⚠️ **b against a: hidden cases" in text
    assert "No case moved" not in comparison_html(found)
    assert "no case moved" not in rendered(found)
    same = compare([hidden_report("counts", 0.9, 0.5)] * 2, ["a", "b"]).pairs[0]
    assert (same.is_sums_only, same.is_doubtful) == (True, False)


def test_hidden_cases_with_ids_are_matched_where_both_runs_have_the_same_ones() -> None:
    before, after, other = (hidden_report("verdicts", *haps, key_id=key) for haps, key in (((0.9, 0.5), "k"), ((0.9, 0.4), "k"), ((0.9, 0.4), "another")))
    matched, unmatched = compare([before, after, other], ["a", "b", "c"]).pairs
    assert (matched.is_sums_only, [item.kind for item in matched.moves]) == (False, [MoveKind.SLOWER])
    assert (unmatched.is_sums_only, unmatched.moves) == (True, ())
    assert difference_texts(compare([before, other, BEFORE], ["a", "c", "p"])) == [
        "not the same as in a: hidden of c: 2 per operator by key another, told as verdicts, not 2 per operator by key k, told as verdicts",
        "not the same as in a: hidden of p: none, not 2 per operator by key k, told as verdicts",
    ]


def rendered(found: Comparison) -> str:
    console = Console(width=200, file=io.StringIO())
    console.print(render_comparison(found))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (measured(10.0), measured(11.0)),  # slower, but nobody knows whether it is noise: no gate stops it
        (measured(10.0), simulated(10.0)),
        (passed_case(), passed_case().model_copy(update={"case": passed_case().case.model_copy(update={"attributes": {"base": 2.0}})})),
    ],
    ids=["slower", "other origin", "altered"],
)
def test_a_run_that_is_not_shown_to_be_as_good_has_no_check_mark(before: CaseResult, after: CaseResult) -> None:
    found = compare([report_of(operator_of("exp", case)) for case in (before, after)], ["a", "b"])
    assert found.pairs[0].regressions == ()
    assert comparison_markdown(found).startswith("# a and b\n\n⚠️ **b against a: ")
    page = comparison_html(found)
    assert '<p class="headline warn">⚠ b against a: ' in page
    assert "headline good" not in page
    assert '<p class="headline good">✓ b against a: ' in comparison_html(compare([BEFORE, BEFORE], ["a", "b"]))


def test_of_the_baselines_those_that_differ_are_said_in_full() -> None:
    shared = "quoted times of the suite, version 2026-11-01.1, of a plain implementation"
    first, other = (
        BEFORE.model_copy(update={"baselines": (shared, f"modelled, model version {number} of the eager baseline"), "seed": 0}) for number in (1, 2)
    )
    assert difference_texts(compare([first, other], ["a", "b"])) == [
        "not the same as in a: baselines of b: modelled, model version 2 of the eager baseline, not modelled, model version 1 of the eager baseline"
    ]
    bare = first.model_copy(update={"baselines": (shared,), "suite": "a suite with a long name", "suite_digest": "1" * 64})
    assert difference_texts(compare([first, bare], ["a", "b"])) == [
        "not the same as in a: suite of b: a suite with a long name, not made up",
        "not the same as in a: suite digest of b: 1111111111111111, not dddddddddddddddd",
        "not the same as in a: baselines of b: none, not modelled, model version 1 of the eager baseline",
    ]


def test_the_figure_has_a_mark_for_each_case_whose_time_moved_and_links_to_its_row() -> None:
    found = pair_of(BEFORE, FASTER)
    figure = speedup_figure(found, 1)
    assert figure is not None
    assert [(mark.anchor, mark.title.split(":")[0]) for mark in figure.marks] == [("move-1-1", "exp/1")]
    assert speedup_figure(pair_of(BEFORE, BEFORE), 1) is None
    assert 'id="move-1-1"' in comparison_html(compare([BEFORE, FASTER], ["a", "b"]))


def test_the_published_schema_is_that_of_the_records_and_names_every_field() -> None:
    text = compare_schema_text()
    assert (ROOT / "docs" / "compare.schema.json").read_text() == text, "write it again: piton schema compare > docs/compare.schema.json"
    schema = json.loads(text)
    assert schema["$id"] == "urn:piton:schema:compare:1"
    fields = properties_of(schema)
    document = json.loads(compare([BEFORE, FASTER, BROKEN], ["a", "b", "c"]).model_dump_json())
    pair = document["pairs"][1]
    shown = {"": document, "Run": document["runs"][0], "Pair": pair, "Move": pair["moves"][0], "Side": pair["moves"][0]["before"], "Sum": pair["total"]}
    assert {name: set(found) for name, found in shown.items()} == {name: set(fields[name]) for name in shown}
    assert Comparison.model_validate(document).pairs[1].moves[0].kind is MoveKind.BROKE


def test_names_of_runs_operators_and_submissions_do_not_become_markup() -> None:
    before, after = (small_report((operator_of(HOSTILE, passed_case(HOSTILE, HOSTILE, time_us)),), name=HOSTILE) for time_us in (10.0, 5.0))
    found = compare([before, after], [HOSTILE, "b|c"])
    markdown = comparison_markdown(found)
    for text in ("<script>", "[x](http", "@everyone", "http://", "b|c"):
        assert text not in markdown
    page = comparison_html(found)
    assert page.count("<script") == 1
    assert "&lt;script&gt;alert(1)" in page


def test_a_pull_request_has_room_for_the_comparison_of_a_whole_suite() -> None:
    before = large_report()
    slower = [
        item.model_copy(update={"cases": tuple(case if case.time is None else _slower(case, number) for number, case in enumerate(item.cases))})
        for item in before.operators
    ]
    found = compare([before, small_report(tuple(slower))], ["a", "b"])
    assert found.pairs[0].counts["slower"] == 892
    text = comparison_markdown(found)
    assert len(text.encode()) < 60_000
    assert "and 820 more: `piton compare --json`" in text, "892 less 12 in the open and 60 below the fold"
    assert text.startswith("# a and b\n\n⚠️ **b against a: 892 slower, 168 unchanged; ")


def _slower(case: CaseResult, number: int) -> CaseResult:
    assert case.time
    return case.model_copy(update={"time": case.time.model_copy(update={"samples": (case.time.value * (1.1 + number / 100),)})})


def test_nothing_that_moved_is_good_news_too() -> None:
    assert comparison_markdown(compare([BEFORE, BEFORE], ["a", "b"])).splitlines()[2].startswith("✅ **b against a: 3 unchanged")
    assert Move(operator="a", case="1", kind=MoveKind.APPEARED).is_regression is False
