"""Is the time of a call what the times of batches say, whatever a kernel does to some of them?"""

from __future__ import annotations

import random

import pytest

from piton.targets.cpu import bench
from piton.targets.cpu.canary import Condition
from piton.targets.cpu.kernel_process import Answer
from piton.targets.cpu.stopwatch import Sample, batch_sizes, call_time, fit


def line(fixed_us: float, call_us: float, sizes: list[int]) -> list[Sample]:
    return [Sample(size, fixed_us + call_us * size) for size in sizes]


SIZES = [1, 30, 7, 12, 25, 3, 18, 21, 9, 28]


def test_sizes_are_random_within_their_bounds_and_never_all_alike() -> None:
    drawn = [batch_sizes(10, 32, random.Random(seed)) for seed in range(50)]
    assert all(1 <= size <= 32 for sizes in drawn for size in sizes)
    assert all(min(sizes) <= 4 and max(sizes) >= 28 for sizes in drawn)
    assert len({tuple(sizes) for sizes in drawn}) == 50
    assert set(batch_sizes(10, 2, random.Random(1))) == {1, 2}


def test_the_fixed_cost_of_batches_is_no_part_of_a_call() -> None:
    found = call_time(line(40.0, 115.0, SIZES), most_fixed_us=50.0)
    assert found.value_us == pytest.approx(115.0)
    assert found.line.fixed_us == pytest.approx(40.0)
    assert found.interval.low == pytest.approx(115.0) == found.interval.high
    assert not found.is_padded


def test_a_few_disturbed_batches_change_nothing() -> None:
    samples = line(40.0, 115.0, SIZES)
    for index in (2, 6):
        samples[index] = Sample(samples[index].calls, samples[index].time_us * 20)
    found = call_time(samples, most_fixed_us=50.0)
    assert found.value_us == pytest.approx(115.0, rel=0.05)


def test_batches_that_all_take_as_long_as_the_largest_gain_nothing() -> None:
    """A kernel that knows the size of a batch waits in small ones: the slope is 0, the time is not."""
    honest = call_time(line(40.0, 115.0, SIZES), most_fixed_us=50.0)
    padded = call_time([Sample(size, 40.0 + 115.0 * 30) for size in SIZES], most_fixed_us=50.0)
    assert padded.line.slope_us == 0.0
    assert padded.value_us > honest.value_us
    assert padded.is_padded


def test_a_slope_below_what_the_largest_batches_take_is_never_reported() -> None:
    """Small batches slowed down so that the line is flat, but not too flat."""
    samples = [Sample(size, max(40.0 + 115.0 * size, 40.0 + 115.0 * 20)) for size in SIZES]
    assert call_time(samples, most_fixed_us=50.0).value_us >= 115.0


def test_the_interval_holds_the_spread_of_slopes() -> None:
    draw = random.Random(3)
    samples = [Sample(size, 40.0 + 115.0 * size * draw.uniform(0.9, 1.1)) for size in SIZES]
    found = call_time(samples, most_fixed_us=50.0)
    assert found.interval.low < 115.0 < found.interval.high
    assert found.interval.low <= found.value_us <= found.interval.high


def test_equal_sizes_have_no_slope() -> None:
    with pytest.raises(ValueError, match="different sizes"):
        fit([Sample(3, 1.0), Sample(3, 2.0)])


def test_waiting_for_the_core_is_no_time_of_the_kernel_but_never_less_than_what_it_computed() -> None:
    assert Answer(wall_us=1000.0, waited_us=880.0, cpu_us=115.0).time_us == 120.0
    assert Answer(wall_us=120.0, waited_us=0.0, cpu_us=115.0).time_us == 120.0
    assert Answer(wall_us=1000.0, waited_us=990.0, cpu_us=115.0).time_us == 115.0, "two waits at the same time count twice"
    assert Answer(wall_us=40.0, waited_us=0.0, cpu_us=115.0).time_us == 115.0, "work after the reply, or on a second core"


@pytest.mark.parametrize(("call_us", "is_told"), [(0.0, True), (0.5, False)])
def test_a_time_of_which_nothing_is_left_is_told(call_us: float, is_told: bool) -> None:
    found = call_time(line(40.0, call_us, SIZES), most_fixed_us=80.0)
    told = bench._judged(found, (Condition(10.0, 40.0), Condition(10.0, 40.0)))
    assert any("nothing is left of the time" in item.message for item in told) == is_told
