"""Are the metrics over samples what their equations say?"""

from __future__ import annotations

import itertools
import math
import random

import pytest

from piton.core.errors import UsageError
from piton.core.method import SelectionScheme
from piton.core.metrics import FAILED, Attempt, MethodMetrics, MetricOptions, Task, measure, select

BUILT = Attempt(is_compiled=True)
VOID = Attempt(void="the golden ran out of memory")


def right(speedup: float, hap: float = 0.5) -> Attempt:
    """A correct kernel."""
    return Attempt(is_compiled=True, is_correct=True, speedup=speedup, hap=hap)


def task(name: str, *samples: Attempt | tuple[Attempt, ...], level: int = 1) -> Task:
    """A task; a sample of one turn may be given without its tuple."""
    return Task(name, tuple(sample if isinstance(sample, tuple) else (sample,) for sample in samples), level)


def values(found: MethodMetrics) -> dict[str, float | None]:
    """Values by name."""
    return {metric.name: metric.value for metric in found.metrics}


def complete(found: MethodMetrics) -> dict[str, bool]:
    """Completeness by name."""
    return {metric.name: metric.is_complete for metric in found.metrics}


def test_a_small_set_has_the_metrics_worked_out_by_hand() -> None:
    tasks = [task("a", right(2.0, 0.8), right(0.5, 0.4), BUILT), task("b", FAILED, BUILT, FAILED)]
    found = values(measure(tasks, MetricOptions(ks=(1, 2, 3), thresholds=(1.0,))))
    assert found == {
        "Compilation@1": pytest.approx((3 / 3 + 1 / 3) / 2),
        "Compilation@2": pytest.approx((1 + (1 - 1 / 3)) / 2),  # b: of 3 pairs one has no build
        "Compilation@3": 1.0,
        "pass@1": pytest.approx((2 / 3 + 0) / 2),
        "pass@2": pytest.approx((1 + 0) / 2),  # a: every pair of three has one of the two
        "pass@3": 0.5,
        "fast_1@1": pytest.approx((1 / 3 + 0) / 2),
        "fast_1@2": pytest.approx((2 / 3 + 0) / 2),
        "fast_1@3": 0.5,
        "speed-up (geometric mean)": pytest.approx(1.0),  # sqrt(2 x 0.5), of a alone
        "HAP (mean)": pytest.approx(((0.8 + 0.4 + 0) / 3 + 0) / 2),
    }


def test_fast_p_at_k_is_the_mean_over_all_choices_of_k_samples_per_task() -> None:
    drawn = random.Random(11)
    for _ in range(20):
        tasks = [task(f"t{number}", *(drawn.choice((FAILED, BUILT, right(0.5), right(1.0), right(3.0))) for _ in range(5))) for number in range(3)]
        for k, p in itertools.product((1, 2, 4), (0.5, 1.0, 2.0)):
            shares = []
            for item in tasks:
                subsets = list(itertools.combinations(item.samples, k))
                shares.append(sum(any(turn.is_correct and turn.speedup >= p for (turn,) in subset) for subset in subsets) / len(subsets))
            found = values(measure(tasks, MetricOptions(ks=(k,), thresholds=(p,))))
            assert found[f"fast_{p:g}@{k}"] == pytest.approx(sum(shares) / 3, abs=1e-12)


def test_a_speed_up_of_just_p_is_fast() -> None:
    found = values(measure([task("a", right(1.0))], MetricOptions(thresholds=(1.0, 1.0000001))))
    assert [value for name, value in found.items() if name.startswith("fast")] == [1.0, 0.0]


def test_su_alpha_is_another_name_of_fast_p() -> None:
    names = {metric.name: metric.also for metric in measure([task("a", right(1.0))], MetricOptions(thresholds=(0.5,))).metrics}
    assert names["fast_0.5@1"] == "SU_0.5@1"
    assert names["pass@1"] == ""


def test_the_first_k_samples_follow_equation_six_to_the_letter() -> None:
    tasks = [task("a", BUILT, right(2.0), BUILT)]
    assert values(measure(tasks, MetricOptions(ks=(1, 2), is_unbiased=False)))["fast_1@1"] == 0.0
    assert values(measure(tasks, MetricOptions(ks=(1, 2), is_unbiased=False)))["fast_1@2"] == 1.0
    assert values(measure(tasks, MetricOptions(ks=(1, 2))))["fast_1@2"] == pytest.approx(2 / 3)


def test_more_samples_asked_for_than_there_are_is_an_error_that_says_of_which_task() -> None:
    with pytest.raises(UsageError, match="k = 5 needs at least 5 samples of every task") as caught:
        measure([task("a", *[right(1.0)] * 5), task("b", BUILT, BUILT)], MetricOptions(ks=(5,)))
    assert caught.value.found == "b has 2 samples"


def test_without_a_k_those_are_taken_that_every_task_has_samples_for() -> None:
    tasks = [task("a", *[right(1.0)] * 10), task("b", *[BUILT] * 6)]
    assert [name for name in values(measure(tasks, MetricOptions())) if name.startswith("pass")] == ["pass@1", "pass@5"]


def test_a_task_that_nobody_tried_is_a_failure_at_every_k() -> None:
    found = measure([task("a", right(4.0, 1.0), right(4.0, 1.0)), task("b")], MetricOptions(ks=(1, 2)))
    assert found.untried == ("b",)
    assert values(found)["pass@2"] == values(found)["fast_1@1"] == values(found)["HAP (mean)"] == 0.5
    assert complete(found) == dict.fromkeys(values(found), True), "it is known to be a failure"
    assert values(found)["speed-up (geometric mean)"] == pytest.approx(4.0), "a failure has no time"


def test_no_tasks_have_no_metrics() -> None:
    with pytest.raises(UsageError, match="no tasks"):
        measure([], MetricOptions())


def test_a_void_sample_is_left_out_visibly() -> None:
    found = measure([task("a", right(2.0, 0.8), VOID, BUILT), task("b", right(2.0), BUILT, BUILT)], MetricOptions(ks=(1, 2)))
    assert found.voids == ("a: sample 2: the golden ran out of memory",)
    assert values(found)["pass@1"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert values(found)["HAP (mean)"] == pytest.approx((0.8 / 2 + 0.5 / 3) / 2)
    assert complete(found) == dict.fromkeys(values(found), False)
    assert found.samples_low == found.samples_high == 3, "void ones are counted"


def test_a_task_of_which_voids_leave_too_few_samples_has_no_value_and_never_counts_as_a_failure() -> None:
    found = measure([task("a", VOID, right(1.0)), task("b", BUILT, BUILT)], MetricOptions(ks=(1, 2)))
    of = {metric.name: metric for metric in found.metrics}
    assert (of["pass@1"].value, of["pass@1"].tasks) == (0.5, 2)
    assert (of["pass@2"].value, of["pass@2"].tasks, of["pass@2"].is_complete) == (0.0, 1, False)
    nothing = measure([task("a", VOID)], MetricOptions())
    assert set(values(nothing).values()) == {None}


def test_a_correct_kernel_without_a_speed_up_makes_only_what_needs_times_incomplete() -> None:
    found = measure([task("exp", Attempt(is_compiled=True, is_correct=True, hap=0.5)), task("b", right(1.0))], MetricOptions())
    assert {name for name, done in complete(found).items() if not done} == {"fast_1@1", "speed-up (geometric mean)"}
    assert found.notes == ("correct, but without a speed-up (counts as not fast): exp",)


def test_passed_cases_without_hap_make_hap_incomplete() -> None:
    found = measure([task("exp", Attempt(is_compiled=True, is_correct=True, speedup=1.0, lacks_hap=True))], MetricOptions())
    assert {name for name, done in complete(found).items() if not done} == {"HAP (mean)"}


def test_a_kernel_that_was_judged_by_a_part_of_its_cases_makes_all_but_compilation_incomplete() -> None:
    found = measure([task("exp", Attempt(is_compiled=True, is_correct=True, speedup=1.0, hap=0.5, is_partial=True))], MetricOptions())
    assert {name for name, done in complete(found).items() if done} == {"Compilation@1"}


TURNS = (right(1.0, 0.5), right(3.0, 0.9), BUILT, FAILED)


def test_last_takes_the_last_turn_whatever_came_before() -> None:
    assert select(TURNS, SelectionScheme.LAST) == (FAILED,)
    assert select((*TURNS, VOID), SelectionScheme.LAST) == (), "an earlier turn does not stand in for one that could not be judged"


def test_best_takes_the_fastest_correct_turn_and_the_earliest_of_equals() -> None:
    assert select(TURNS, SelectionScheme.BEST) == (TURNS[1],)
    twice = (BUILT, right(2.0, 0.5), right(2.0, 0.5))
    assert select(twice, SelectionScheme.BEST)[0] is twice[1]
    assert select((FAILED, BUILT), SelectionScheme.BEST) == (BUILT,)
    assert select((VOID, BUILT), SelectionScheme.BEST) == (BUILT,)
    untimed = Attempt(is_compiled=True, is_correct=True, hap=0.1)
    assert select((Attempt(is_compiled=True, hap=0.9), untimed), SelectionScheme.BEST) == (untimed,), "correct goes before all else"


def test_average_takes_all_turns() -> None:
    assert select(TURNS, SelectionScheme.AVERAGE) == TURNS
    with pytest.raises(ValueError, match="custom"):
        select(TURNS, SelectionScheme.CUSTOM)


def test_the_selection_decides_what_a_trajectory_is_worth() -> None:
    tasks = [task("a", TURNS, (BUILT,))]
    found = {scheme: values(measure(tasks, MetricOptions(ks=(1, 2), selection=scheme))) for scheme in list(SelectionScheme)[:3]}
    assert [found[scheme]["pass@1"] for scheme in found] == [0.0, pytest.approx((2 / 4 + 0) / 2), pytest.approx((1 + 0) / 2)]
    assert [found[scheme]["pass@2"] for scheme in found] == [0.0, pytest.approx(0.5), 1.0]
    average = found[SelectionScheme.AVERAGE]
    assert average["HAP (mean)"] == pytest.approx((0.5 + 0.9) / 4 / 2)
    assert average["speed-up (geometric mean)"] == pytest.approx(math.sqrt(3.0)), "of the turns that are correct"
    assert found[SelectionScheme.BEST]["speed-up (geometric mean)"] == pytest.approx(3.0)
    assert found[SelectionScheme.LAST]["speed-up (geometric mean)"] is None


def test_a_void_turn_of_a_trajectory_is_told_where_the_scheme_looks_at_it() -> None:
    tasks = [task("a", (VOID, right(1.0)))]
    assert measure(tasks, MetricOptions()).voids == ()
    assert measure(tasks, MetricOptions(selection=SelectionScheme.BEST)).voids == ("a: sample 1: the golden ran out of memory",)


def test_speed_up_weighs_tasks_equally_however_many_samples_they_have() -> None:
    tasks = [task("a", *[right(4.0)] * 9), task("b", right(1.0))]
    assert values(measure(tasks, MetricOptions()))["speed-up (geometric mean)"] == pytest.approx(2.0)


def test_the_interval_of_the_speed_up_is_that_of_its_logarithm() -> None:
    tasks = [task(str(number), right(2.0**number)) for number in range(-2, 3)]
    (metric,) = [metric for metric in measure(tasks, MetricOptions()).metrics if metric.name.startswith("speed-up")]
    assert metric.low is not None
    assert metric.high is not None
    assert metric.low < 1.0 < metric.high
    assert metric.low * metric.high == pytest.approx(1.0, rel=0.2), "symmetric about 1 as a ratio"
