"""Do the control loops ask for what their definitions say, find the optimum of a landscape, and go on after a resume as if nothing had happened?"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piton.agent.runs import Measured, Variant
from piton.agent.search import CONTROLLERS, Action, Controller, Finished, Step, Tier, controller_of, tiers_of
from piton.agent.search.controllers import Adaptive, Evolution, Feedback, TreeSearch
from piton.agent.search.steps import Asked, best, ratio_of
from piton.core.errors import UsageError


def variant(number: int, ratio: float | None = None, parents: tuple[int, ...] = (), passed: int = 0, note: str = "", origin: str = "model") -> Variant:
    """A variant with this ratio when it is right, else with so many of ten cases passed; a negative number of these: it waits."""
    is_right = ratio is not None
    measured = None if passed < 0 else Measured(is_right, 10 if is_right else passed, 10, ratio, "", "", "d", 0.0)
    return Variant(number, 0, "start" if number == 1 else origin, parents, "", {}, f"d{number}", note, 0.0, measured)


def ask(controller: Controller, *variants: Variant, seed: int = 1) -> Step:
    step = controller.ask(Asked(variants, seed))
    assert isinstance(step, Step)
    return step


class TestTiers:
    @pytest.mark.parametrize(("count", "sizes"), [(1, (1, 0, 0)), (2, (1, 1, 0)), (3, (1, 1, 1)), (10, (3, 4, 3)), (20, (6, 8, 6))])
    def test_the_fastest_thirty_per_cent_are_good_and_the_slowest_thirty_poor(self, count: int, sizes: tuple[int, int, int]) -> None:
        found = list(tiers_of(range(count)).values())
        assert tuple(found.count(tier) for tier in Tier) == sizes
        assert found == sorted(found, key=list(Tier).index)

    @given(st.integers(3, 300))
    def test_from_three_on_no_tier_is_empty(self, count: int) -> None:
        assert set(tiers_of(range(count)).values()) == set(Tier)


class TestSteps:
    def test_direct_always_begins_at_the_start(self) -> None:
        assert ask(controller_of("direct"), variant(1, 3.0), variant(2, 1.2, (1,))).parents == (1,)

    def test_feedback_repairs_the_newest_a_few_times_and_then_goes_back_to_the_best(self) -> None:
        found = [variant(1, 3.0), variant(2, 2.0, (1,)), variant(3, None, (2,), 5)]
        assert ask(Feedback(), *found) == Step(Action.REPAIR, (3,), reason="variant 3 passes 50% of its cases")
        found += [variant(4, None, (3,), 6), variant(5, None, (4,), 6), variant(6, None, (5,), 6)]
        assert ask(Feedback(), *found).parents == (2,)

    def test_feedback_goes_on_from_the_best_and_not_from_a_slower_newest(self) -> None:
        step = ask(Feedback(), variant(1, 3.0), variant(2, 1.5, (1,)), variant(3, 2.5, (2,)))
        assert (step.action, step.parents) == (Action.IMPROVE, (2,))

    def test_evolution_takes_good_parents_and_inspirations_of_every_tier(self) -> None:
        people = [variant(1, 9.0), *(variant(number, 9.0 - number * 0.5, (1,)) for number in range(2, 12))]
        tiers = tiers_of([item.id for item in Asked(tuple(people), 1).right])
        for seed in range(20):
            step = ask(Evolution(islands=1), *people, seed=seed)
            assert tiers[step.parents[0]] is Tier.GOOD
            assert {item.tier for item in step.inspirations} == set(Tier)
            assert all(tiers[item.variant] is item.tier and item.variant != step.parents[0] for item in step.inspirations)

    def test_evolution_crosses_in_its_share_of_steps(self) -> None:
        people = [variant(1, 9.0), *(variant(number, 9.0 - number * 0.5, (1,)) for number in range(2, 12))]
        crosses = sum(ask(Evolution(islands=1), *people, seed=seed).action is Action.CROSS for seed in range(400))
        assert 50 <= crosses <= 115, "a fifth of 400, five standard deviations"

    def test_islands_keep_apart_until_the_best_of_one_moves_to_the_next(self) -> None:
        controller = Evolution(islands=2, migration=4)
        few = [variant(1, 9.0), *(variant(number, 8.0 if number % 2 else 2.0, (1,)) for number in range(2, 7))]
        assert len(few) % 2 == 0, "the next step is of island 0, which has the odd numbers"
        assert {ask(controller, *few, seed=seed).parents[0] for seed in range(30)} <= {1, 3, 5}
        many = [variant(1, 9.0), *(variant(number, 8.0 if number % 2 else 2.0, (1,)) for number in range(2, 13))]
        assert any(ask(controller, *many, seed=seed).parents[0] % 2 == 0 for seed in range(30))

    def test_evolution_repairs_the_nearest_while_nothing_is_right(self) -> None:
        step = ask(Evolution(islands=1), variant(1, None, (), 0), variant(2, None, (1,), 4), variant(3, None, (1,), 7))
        assert (step.action, step.parents) == (Action.REPAIR, (3,))

    def test_a_tree_is_widened_before_it_is_deepened_and_waiting_nodes_are_not_gone_into(self) -> None:
        start = variant(1, 4.0)
        assert ask(TreeSearch(width=3), start, variant(2, 2.0, (1,)), variant(3, 3.0, (1,))).parents == (1,)
        wide = (start, variant(2, 1.5, (1,)), variant(3, 3.0, (1,)), variant(4, None, (1,), -1))
        assert ask(TreeSearch(width=3), *wide).parents == (2,)

    def test_exploration_leads_to_what_is_little_known(self) -> None:
        children = (variant(2, 2.0, (1,)), variant(3, 2.1, (1,)), variant(4, 2.2, (1,)))
        below = tuple(variant(number, 2.0, (2,)) for number in range(5, 9))
        assert ask(TreeSearch(exploration=0.0), variant(1, 4.0), *children, *below).parents[0] in (2, 5, 6, 7, 8)
        assert ask(TreeSearch(exploration=5.0), variant(1, 4.0), *children, *below).parents == (3,)

    def test_adaptive_uses_the_tool_that_paid(self) -> None:
        found = [variant(1, 8.0), variant(2, 4.0, (1,), note="cross: x"), variant(3, 4.0, (2,), note="improve best: x")]
        found += [variant(4, 4.0, (2,), note="improve good: x"), variant(5, 4.0, (2,), note="fresh: x"), variant(6, 2.0, (2, 3), note="cross: x")]
        assert ask(Adaptive(exploration=0.0), *found).reason.startswith("cross:")

    def test_adaptive_repairs_what_is_nearly_right_first(self) -> None:
        assert ask(Adaptive(), variant(1, 8.0), variant(2, None, (1,), 9)).action is Action.REPAIR
        assert ask(Adaptive(), variant(1, 8.0), variant(2, None, (1,), 2)).action is Action.IMPROVE

    def test_an_unknown_controller_is_one_clear_error(self) -> None:
        with pytest.raises(UsageError, match="one of direct, feedback, evolution, tree, adaptive"):
            controller_of("magic")


def run(controller: Controller, count: int, seed: int, climb: Callable[[float, random.Random], float | None]) -> list[Variant]:
    """A run on a landscape: a child's ratio is made of its best parent's."""
    found, dice = [variant(1, 8.0)], random.Random(seed)
    while len(found) < count:
        step = controller.ask(Asked(tuple(found), seed))
        assert isinstance(step, Step)
        by_id = {item.id: item for item in found}
        parent = min(ratio_of(by_id[number]) for number in step.parents)
        ratio = climb(8.0 if parent == float("inf") else parent, dice)
        found.append(replace(variant(len(found) + 1, ratio, step.parents, 0 if ratio else 7), note=step.reason))
    return found


def climb(parent: float, dice: random.Random) -> float | None:
    """A third of the children is wrong, a third is slower, a third is up to a fifth faster."""
    kind = dice.random()
    return None if kind < 0.33 else parent * dice.uniform(1.0, 1.3) if kind < 0.66 else max(parent * dice.uniform(0.8, 1.0), 1.0)


@pytest.mark.parametrize("name", [name for name in CONTROLLERS if name != "direct"])
def test_every_loop_that_looks_at_results_beats_best_of_n(name: str) -> None:
    def final(which: str) -> float:
        results = [best(run(controller_of(which), 40, seed, climb)) for seed in range(12)]
        return sum(ratio_of(item) for item in results if item) / len(results)

    assert final(name) < 0.8 * final("direct")


@pytest.mark.parametrize("name", CONTROLLERS)
@given(seed=st.integers(0, 1000), count=st.integers(1, 15))
def test_a_decision_depends_on_the_variants_and_the_seed_alone(name: str, seed: int, count: int) -> None:
    people = tuple(run(controller_of(name), count, seed, climb))
    step = controller_of(name).ask(Asked(people, seed))
    assert step == controller_of(name).ask(Asked(people, seed))
    assert isinstance(step, Step | Finished)
    if isinstance(step, Step):
        known = {item.id for item in people}
        assert set(step.parents) <= known
        assert {item.variant for item in step.inspirations} <= known
        assert step.reason
