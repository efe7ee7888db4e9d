from report_world import failed_case, operator_of, passed_case, small_report

from piton.core.verdict import Cause, outcome
from piton.report.compare import MOST_CASES, compare
from piton.report.markdown import comparison_markdown

BEFORE = small_report((operator_of("exp", passed_case(), passed_case(case_id="2")), operator_of("gelu", passed_case("gelu"))))
FASTER = small_report((operator_of("exp", passed_case(time_us=6.0), passed_case(case_id="2", time_us=10.05)), operator_of("gelu", passed_case("gelu"))))
BROKEN = small_report((operator_of("exp", passed_case(), failed_case(outcome(Cause.DEADLOCK), "2")),))


def test_scores_are_listed_with_their_difference_to_the_first_report() -> None:
    found = compare([BEFORE, FASTER], ["before", "after"])
    assert found.scores.head == ("operator", "before", "after")
    assert found.scores.lines == (("exp", "87.5", "92.1 (+4.6)"), ("gelu", "87.5", "87.5 (+0.0)"), ("total", "175.0", "179.6 (+4.6)"))
    assert found.differences == ()


def test_cases_that_changed_are_listed_and_others_are_not() -> None:
    found = compare([BEFORE, FASTER], ["before", "after"])
    assert found.changes.lines == (("exp/1", "passed", "10.00 simulated", "0.750", "passed", "6.00 simulated", "0.938"),)


def test_a_changed_verdict_comes_before_any_change_of_speed() -> None:
    found = compare([FASTER, BROKEN], ["a", "b"])
    assert [line[0] for line in found.changes.lines] == ["exp/2", "exp/1"]
    assert found.changes.lines[0][4:] == ("hazard: deadlock", "–", "–")


def test_an_operator_or_case_that_one_report_lacks_is_no_change() -> None:
    found = compare([BEFORE, BROKEN], ["a", "b"])
    assert ("gelu", "87.5", "–") in found.scores.lines
    assert [line[0] for line in found.changes.lines] == ["exp/2"]


def test_an_operator_that_a_submission_lacks_has_its_score_of_0() -> None:
    found = compare([BROKEN.model_copy(update={"missing_operators": {"gelu": 1, "mish": 1}}), BEFORE], ["a", "b"])
    assert ("gelu", "0.0", "87.5 (+87.5)") in found.scores.lines
    assert "mish" not in [line[0] for line in found.scores.lines]


def test_whatever_else_differs_is_said() -> None:
    other = BEFORE.model_copy(update={"hardware": "ascend910b1", "seed": 4})
    assert compare([BEFORE, other], ["a", "b"]).differences == (
        "hardware of b differs from that of a: ascend910b1, not ascend910b2",
        "seed of b differs from that of a: 4, not 0",
    )


def test_only_the_largest_changes_are_listed_and_the_rest_is_counted() -> None:
    slow = tuple(passed_case(case_id=str(number)) for number in range(30))
    fast = tuple(passed_case(case_id=str(number), time_us=6.0 + number / 10) for number in range(30))
    found = compare([small_report((operator_of("exp", *slow),)), small_report((operator_of("exp", *fast),))], ["a", "b"])
    assert (len(found.changes.lines), found.changes_left_out, found.changes.lines[0][0]) == (MOST_CASES, 10, "exp/0")


def test_names_of_runs_do_not_become_markup() -> None:
    assert "<b>" not in comparison_markdown(compare([BEFORE, FASTER], ["<b>", "a|b"]))
