"""What does a report say of a task, and which reports may be taken together?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from metrics_world import BROKEN, LEFT_OUT, T_BASELINE_US, VOID, WRONG, Result, case_of, operator, run

from piton.core.errors import UsageError
from piton.core.metrics import FAILED, Attempt, MetricOptions
from piton.core.report import HiddenSet, Integrity, Report
from piton.core.score import ScoreProfile
from piton.core.verdict import Cause, outcome
from piton.report.metrics_view import ViewOptions, view_metrics
from piton.report.rescore import score_report
from piton.report.samples import MethodSamples, Run, Sample, TaskFacts, attempt_of, check_world, tasks_of


def attempt(results: Sequence[Result] | str) -> Attempt:
    """What became of exp with these results."""
    (item,) = run("s", {"exp": results}).operators
    return attempt_of(item, item.cases)


def samples(*reports: Report) -> tuple[Sample, ...]:
    """Each report a sample of one turn."""
    return tuple(Sample((Run(f"run-{number}", report),)) for number, report in enumerate(reports, 1))


def hap_of(speedup: float) -> float:
    """(T_baseline - T_HW) / ((T_cand - T_HW) + (T_baseline - T_HW)) with T_HW 5 us and T_baseline 20 us."""
    return 15.0 / ((T_BASELINE_US / speedup - 5.0) + 15.0)


def test_a_kernel_is_correct_when_every_case_passed() -> None:
    found = attempt((2.0, 0.5, 1.0))
    assert (found.is_compiled, found.is_correct, found.void) == (True, True, "")
    assert found.speedup == pytest.approx(1.0), "geometric mean of 2, 0.5 and 1"
    assert found.hap == pytest.approx((hap_of(2.0) + hap_of(0.5) + hap_of(1.0)) / 3)


def test_one_wrong_case_makes_it_wrong_and_takes_its_speed_up() -> None:
    found = attempt((2.0, WRONG))
    assert (found.is_compiled, found.is_correct, found.speedup) == (True, False, None)
    assert found.hap == pytest.approx(hap_of(2.0) / 2), "the case that failed brings 0"


def test_what_does_not_build_has_nothing() -> None:
    assert attempt(BROKEN) == FAILED


def test_a_void_case_decides_nothing_unless_another_one_failed() -> None:
    assert attempt((2.0, VOID)) == Attempt(void="case 2: the golden ran out of memory")
    failed = attempt((WRONG, VOID, 2.0))
    assert (failed.void, failed.is_correct, failed.is_partial) == ("", False, True)
    assert failed.hap == pytest.approx(hap_of(2.0) / 2), "over the two cases that were judged"


def test_cases_that_were_left_out_are_not_counted_and_that_is_said() -> None:
    found = attempt((2.0, LEFT_OUT))
    assert (found.is_correct, found.is_partial, found.hap) == (True, True, pytest.approx(hap_of(2.0)))
    assert attempt((LEFT_OUT, LEFT_OUT)).void == "no case was asked for"


def test_an_interrupted_case_makes_the_kernel_void() -> None:
    stopped = case_of("exp", 2, WRONG).model_copy(update={"outcome": outcome(Cause.INTERRUPTED, "the run was stopped before this case")})
    item = operator("exp", (2.0,))
    assert attempt_of(item, (*item.cases, stopped)).void == "case 2: the run was stopped before this case"


def test_an_output_that_no_kernel_stored_is_not_correct_in_either_profile() -> None:
    case = case_of("exp", 1, WRONG).model_copy(update={"outcome": outcome(Cause.NO_KERNEL_LAUNCHED)})
    item = operator("exp", (2.0,))
    assert not attempt_of(item, (case,)).is_correct


def test_tampering_anywhere_costs_every_operator_of_the_submission() -> None:
    report = run("s", {"exp": (2.0, 2.0), "gelu": (1.0, WRONG)})
    (exp, gelu) = report.operators
    bad = gelu.cases[1].model_copy(update={"outcome": outcome(Cause.ILLEGAL_REPLY)})
    report = score_report(report.model_copy(update={"operators": (exp, gelu.model_copy(update={"cases": (gelu.cases[0], bad)}))}))
    for task in tasks_of(samples(report), "operator", {}):
        ((found,),) = task.samples
        assert (found.is_correct, found.speedup, found.hap) == (False, None, 0.0)


def test_a_case_without_a_baseline_leaves_the_kernel_correct_but_without_a_speed_up() -> None:
    case = case_of("exp", 1, 2.0).model_copy(update={"t_baseline": None})
    found = attempt_of(operator("exp", (2.0,)), (case,))
    assert (found.is_correct, found.speedup, found.lacks_speedup, found.lacks_hap) == (True, None, True, True)
    assert attempt_of(operator("exp", (2.0,)), (case, case_of("exp", 2, 2.0))).speedup is None, "the other cases do not speak for it"


def test_an_operator_that_the_submission_lacks_is_a_failed_sample() -> None:
    found = tasks_of(samples(run("s", {"exp": (1.0,)}), run("s", {"gelu": (1.0,)}, missing_operators={"exp": 1})), "operator", {})
    assert {task.name: [turns[0].is_correct for turns in task.samples] for task in found} == {"exp": [True, False], "gelu": [True]}


def test_a_sample_of_one_task_counts_for_that_task_only() -> None:
    report = run("s", {"exp": (1.0,), "gelu": (1.0,)}, missing_operators={"softmax": 2})
    assert [task.name for task in tasks_of((Sample((Run("r", report),), "gelu"),), "operator", {})] == ["gelu"]
    assert [task.samples for task in tasks_of((Sample((Run("r", report),), "softmax"),), "operator", {})] == [((FAILED,),)]
    with pytest.raises(UsageError, match="does not have the task mha"):
        tasks_of((Sample((Run("r", report),), "mha"),), "operator", {})


def test_operators_of_a_named_suite_that_no_run_has_are_tasks_without_samples() -> None:
    suite = {"exp": TaskFacts(1, "Elementwise"), "matmul": TaskFacts(3, "Matrix")}
    found = {task.name: task for task in tasks_of(samples(run("s", {"exp": (1.0,)})), "operator", suite)}
    assert found["matmul"].samples == ()
    assert (found["matmul"].level, found["matmul"].category) == (3, "Matrix")


def test_a_task_may_be_a_single_case() -> None:
    found = tasks_of(samples(run("s", {"exp": (2.0, WRONG, LEFT_OUT)})), "case", {"exp": TaskFacts(1)})
    assert {task.name: task.samples[0][0].is_correct for task in found} == {"exp/1": True, "exp/2": False}
    with pytest.raises(UsageError, match="cases of operators that no run has"):
        tasks_of(samples(run("s", {"exp": (2.0,)})), "case", {"mha": TaskFacts(4)})


def test_hidden_cases_without_ids_can_not_be_told_apart() -> None:
    report = run("s", {"exp": (2.0,)}, hidden=HiddenSet(key_id="k", count=1, detail="counts"))
    with pytest.raises(UsageError, match="can't be told apart"):
        tasks_of(samples(report), "case", {})


def test_hidden_cases_have_verdicts_and_hap_but_no_speed_up() -> None:
    item = operator("exp", (2.0, 1.0))
    scored = run("s", {"exp": (2.0, 1.0)}).operators[0]
    sealed = tuple(case.model_copy(update={"time": None, "t_hw": None, "t_baseline": None, "is_sealed": True}) for case in scored.cases)
    found = attempt_of(item, sealed)
    assert (found.is_correct, found.lacks_speedup, found.lacks_hap) == (True, True, False)
    assert found.hap == pytest.approx((hap_of(2.0) + hap_of(1.0)) / 2)


def test_turns_of_a_trajectory_stay_together_and_in_order() -> None:
    turns = tuple(Run(str(number), run("s", {"exp": (float(number),)})) for number in (1, 2, 4))
    ((trajectory,),) = [task.samples for task in tasks_of((Sample(turns),), "operator", {})]
    assert [found.speedup for found in trajectory] == pytest.approx([1.0, 2.0, 4.0])


def runs(**changes: object) -> list[Run]:
    """A run and another one that differs from it in `changes`."""
    return [Run("one", run("s", {"exp": (1.0,)})), Run("two", run("s", {"exp": (1.0,)}, **changes))]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("suite", "other"),
        ("suite_version", "2"),
        ("hidden", HiddenSet(key_id="k", count=1, detail="all")),
        ("target", "ascend950pr-sim"),
        ("hardware", "ascend950pr"),
        ("hardware_digest", "0" * 64),
        ("score_profile", ScoreProfile.CANN_BENCH),
        ("precision_profile", "cann-bench"),
        ("trials", 2),
    ],
)
def test_runs_of_different_worlds_are_refused(field: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"can't be taken together: {field.replace('_', ' ')} differs") as caught:
        check_world(runs(**{field: value}))
    assert (caught.value.where, caught.value.expected.endswith("as one")) == ("two", True)


def test_runs_of_different_cases_are_refused() -> None:
    with pytest.raises(UsageError, match="the cases of exp differ"):
        check_world([Run("one", run("s", {"exp": (1.0,)})), Run("two", run("s", {"exp": (1.0, 2.0)}))])


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("seed", 7, "seed (0, 7)"),
        ("auto_sync", False, "auto sync (True, False)"),
        ("suite_digest", "0" * 64, "suite digest"),
        ("integrity", Integrity(version="2", digest="0" * 64), "integrity"),
    ],
)
def test_smaller_differences_are_shown(field: str, value: object, said: str) -> None:
    (text,) = check_world(runs(**{field: value}))
    assert said in text
    assert check_world(runs()) == []


def test_a_baseline_that_changed_between_runs_is_shown() -> None:
    (other,) = run("s", {"exp": (1.0,)}).operators
    case = other.cases[0]
    assert case.t_baseline is not None
    slower = case.model_copy(update={"t_baseline": case.t_baseline.model_copy(update={"value_us": 40.0})})
    report = run("s", {"exp": (1.0,)}).model_copy(update={"operators": (other.model_copy(update={"cases": (slower,)}),)})
    assert check_world([runs()[0], Run("two", report)]) == ["T_baseline is not the same in all runs: exp/1"]


def test_a_method_that_tried_fewer_tasks_than_another_does_not_look_better_for_it() -> None:
    both = MethodSamples("both", samples(run("a", {"exp": (1.0,), "gelu": (WRONG,)})))
    easy = MethodSamples("easy", samples(run("b", {"exp": (1.0,)})))
    found = {method.name: method.groups[0].found for method in view_metrics([both, easy], ViewOptions()).methods}
    values = {name: next(metric.value for metric in item.metrics if metric.name == "pass@1") for name, item in found.items()}
    assert values == {"both": 0.5, "easy": 0.5}
    assert found["easy"].untried == ("gelu",)


def test_groups_are_those_of_level_category_and_operator_after_all_tasks() -> None:
    method = MethodSamples("m", samples(run("a", {"exp": (1.0,), "gelu": (WRONG,), "softmax": (4.0,)})))
    names = {by: [group.group for group in view_metrics([method], ViewOptions(group_by=by)).methods[0].groups] for by in ("level", "category", "operator")}
    assert names == {
        "level": ["all", "level 1", "level 2"],
        "category": ["all", "Elementwise", "Normalisation"],
        "operator": ["all", "exp", "gelu", "softmax"],
    }
    level_1 = view_metrics([method], ViewOptions(MetricOptions(), group_by="level")).methods[0].groups[1].found
    assert [metric.value for metric in level_1.metrics if metric.name == "pass@1"] == [0.5]
    assert [metric.value for metric in level_1.metrics if metric.name.startswith("speed-up")] == [pytest.approx(math.sqrt(1.0))]
