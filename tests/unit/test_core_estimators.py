"""Are the estimators of "at least one of k samples" and their intervals right?"""

from __future__ import annotations

import itertools
import math
import random

import pytest

from piton.core.estimators import at_least_one, first_k, interval_of_mean, pass_at_k


def share_of_subsets_with_a_good_one(n: int, c: int, k: int) -> float:
    """By drawing every subset: samples 0 to c-1 are the good ones."""
    subsets = list(itertools.combinations(range(n), k))
    return sum(any(sample < c for sample in subset) for subset in subsets) / len(subsets)


@pytest.mark.parametrize(("n", "c", "k"), [(n, c, k) for n in range(1, 9) for c in range(n + 1) for k in range(1, n + 1)])
def test_pass_at_k_is_the_share_of_all_subsets_that_hold_a_good_sample(n: int, c: int, k: int) -> None:
    expected = share_of_subsets_with_a_good_one(n, c, k)
    assert pass_at_k(n, c, k) == pytest.approx(expected, abs=1e-12)
    chances = [1.0] * c + [0.0] * (n - c)
    random.Random(n * 100 + c * 10 + k).shuffle(chances)
    assert at_least_one(chances, k) == pytest.approx(expected, abs=1e-12)


def test_pass_at_k_of_four_samples_two_of_them_good_is_five_sixths() -> None:
    assert pass_at_k(4, 2, 2) == pytest.approx(1 - 1 / 6)  # C(2,2) / C(4,2) = 1 / 6


def test_pass_at_k_of_many_samples_neither_overflows_nor_loses_its_digits() -> None:
    expected = 1 - math.comb(99_990, 100) / math.comb(100_000, 100)  # big integers, divided once
    assert pass_at_k(100_000, 10, 100) == pytest.approx(expected, rel=1e-9)
    chances = [1.0] * 10 + [0.0] * 1_990
    assert at_least_one(chances, 100) == pytest.approx(pass_at_k(2_000, 10, 100), rel=1e-9)


def test_a_chance_between_none_and_one_counts_as_its_share_in_every_subset() -> None:
    chances = [0.5, 0.0, 1.0, 0.25]
    for k in range(1, 5):
        subsets = list(itertools.combinations(chances, k))
        expected = sum(1 - math.prod(1 - chance for chance in subset) for subset in subsets) / len(subsets)
        assert at_least_one(chances, k) == pytest.approx(expected, abs=1e-12)


def test_the_first_k_samples_are_judged_as_they_come() -> None:
    assert [first_k([0.0, 1.0, 0.0], k) for k in (1, 2, 3)] == [0.0, 1.0, 1.0]
    assert first_k([0.5, 0.5], 2) == 0.75
    assert first_k([0.0, 1.0, 0.0], 3) == at_least_one([0.0, 1.0, 0.0], 3)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 1, 4), (3, 4, 1), (3, -1, 1), (3, 1, 0), (0, 0, 1)])
def test_numbers_that_make_no_sense_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="pass@k needs"):
        pass_at_k(n, c, k)


@pytest.mark.parametrize("estimate", [at_least_one, first_k])
@pytest.mark.parametrize("k", [0, 3])
def test_a_k_that_there_are_no_subsets_of_is_refused(estimate: object, k: int) -> None:
    with pytest.raises(ValueError, match="1 <= k <= n"):
        estimate([1.0, 0.0], k)  # type: ignore[operator]


def test_an_interval_holds_the_true_mean_about_as_often_as_it_says() -> None:
    """150 made-up suites: 12 tasks of level 1 with mean 0.7, 12 of level 2 with mean 0.3, so that the true mean is 0.5.

    For a coverage of 95 % the number of hits has mean 142.5 and standard deviation sqrt(150 x 0.95 x 0.05) = 2.7; percentile intervals of so few tasks fall
    a few points short. 130 (87 %) is 4.7 deviations below, and an interval of half the width would hit 67 %, 100 times.
    """
    drawn = random.Random(5)
    hits, widths, strata = 0, [], [1] * 12 + [2] * 12
    for seed in range(150):
        values = [min(max(drawn.gauss(0.7 if level == 1 else 0.3, 0.15), 0.0), 1.0) for level in strata]
        found = interval_of_mean(values, strata, seed)
        assert found is not None
        hits += found.low <= 0.5 <= found.high
        widths.append(found.high - found.low)
    assert 130 <= hits <= 149
    assert sum(widths) / len(widths) == pytest.approx(2 * 1.96 * 0.15 / math.sqrt(24), rel=0.1), "the width of the normal approximation"


def test_levels_are_resampled_by_themselves_so_that_their_difference_does_not_widen_the_interval() -> None:
    values, levels = [0.0, 0.1, 0.2, 0.8, 0.9, 1.0], [1, 1, 1, 2, 2, 2]
    inside, pooled = interval_of_mean(values, levels, 0), interval_of_mean(values, [1] * 6, 0)
    assert inside is not None
    assert pooled is not None
    assert inside.high - inside.low < 0.5 * (pooled.high - pooled.low)
    # Two draws out of 0, 0.1, 0.2 have the mean 0 at least, and out of 0.8, 0.9, 1.0 the mean 1.0 at most.
    assert inside.low >= (0.0 + 0.8) / 2
    assert inside.high <= (0.2 + 1.0) / 2


def test_one_draw_fewer_than_there_are_tasks_is_made() -> None:
    """Of 0, 0, 0, 1 three draws have the mean 1 with chance 1/64 (below the tail of 2.5 %) and 2/3 or more with 10/64: the upper end is 2/3.

    Four draws, the biased ones, would have 3/4 or more with 13/256 = 5.1 %, and so the upper end 3/4.
    """
    found = interval_of_mean([0.0, 0.0, 0.0, 1.0], [1] * 4, 0)
    assert found is not None
    assert (found.low, found.high) == (0.0, pytest.approx(2 / 3))


def test_an_interval_is_the_same_for_the_same_seed() -> None:
    values = [math.sin(number) for number in range(40)]
    assert interval_of_mean(values, [1] * 40, 3) == interval_of_mean(values, [1] * 40, 3)
    assert interval_of_mean(values, [1] * 40, 3) != interval_of_mean(values, [1] * 40, 4)


@pytest.mark.parametrize("values", [[], [0.4], [0.7, 0.7, 0.7]])
def test_where_resamples_say_nothing_there_is_no_interval(values: list[float]) -> None:
    assert interval_of_mean(values, [1] * len(values), 0) is None


def test_levels_of_one_task_are_pooled() -> None:
    assert interval_of_mean([0.0, 1.0], [1, 2], 0) is not None
    alone_with_a_group = interval_of_mean([0.0, 0.0, 1.0], [1, 1, 2], 0)
    assert alone_with_a_group is not None
    assert alone_with_a_group.high > alone_with_a_group.low


def test_every_value_needs_its_level() -> None:
    with pytest.raises(ValueError, match="stratum"):
        interval_of_mean([0.1, 0.2], [1], 0)


def test_strata_without_a_spread_inside_give_no_interval() -> None:
    """All of level 1 solved and none of level 2: no resample differs, which says nothing about other tasks."""
    assert interval_of_mean([1.0, 1.0, 0.0, 0.0], [1, 1, 2, 2], 0) is None
    assert interval_of_mean([1.0, 1.0, 0.0, 0.5], [1, 1, 2, 2], 0) is not None
