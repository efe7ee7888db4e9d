"""Intervals: order statistics, error bands, and what they make of a HAP. Expected values are worked out in the comments."""

import itertools
import random

import pytest
from pydantic import ValidationError

from piton.core.execution import LaunchRecord
from piton.core.fidelity import regime, with_error
from piton.core.interval import ErrorBand, Interval, IntervalKind, median_interval, merged_kind, prediction_band
from piton.core.measurement import Measurement, Provenance
from piton.core.score import TrueTime, hap, hap_interval

BAND = ErrorBand(low=0.8, high=1.25, confidence=0.9, references=19, source="made up")


def times(low: float, high: float, kind: IntervalKind = IntervalKind.MODEL_ERROR, confidence: float = 0.9) -> Interval:
    return Interval(low=low, high=high, kind=kind, confidence=confidence)


@pytest.mark.parametrize(
    ("count", "low", "high", "level"),
    [
        (2, 1, 2, 1 - 2 * 1 / 4),  # k = 1 is all there is
        (5, 1, 5, 1 - 2 * 1 / 32),  # 0.9375, below 0.95, but there is no wider one
        (6, 1, 6, 1 - 2 * 1 / 64),  # 0.969
        (9, 2, 8, 1 - 2 * (1 + 9) / 512),  # k = 2: 0.961
        (10, 2, 9, 1 - 2 * (1 + 10) / 1024),  # k = 2: 0.979, k = 3 has (1 + 10 + 45): 0.891
    ],
)
def test_the_interval_of_a_median_lies_between_two_order_statistics(count: int, low: int, high: int, level: float) -> None:
    samples = [float(value) for value in range(1, count + 1)]
    random.Random(1).shuffle(samples)
    found = median_interval(samples)
    assert (found.low, found.high, found.kind) == (low, high, IntervalKind.SAMPLES)
    assert found.confidence == pytest.approx(level, abs=1e-15)


def test_one_sample_says_nothing_about_its_spread() -> None:
    assert median_interval([3.0]) is None


def test_the_interval_of_a_median_covers_it_as_often_as_it_says() -> None:
    drawn = random.Random(5)
    hits = 0
    for _ in range(2000):
        found = median_interval([drawn.expovariate(1.0) for _ in range(10)])
        hits += found.low <= 0.6931471805599453 <= found.high  # the median of this distribution is ln 2
    assert abs(hits / 2000 - 0.9785) < 0.01  # three standard deviations are 0.0097


@pytest.mark.parametrize(
    ("count", "left", "level"),
    [
        (2, 0, 1 / 3),  # (n + 1 - 2 k) / (n + 1) = (3 - 2) / 3
        (12, 0, 11 / 13),  # 13 * 0.05 = 0.65: not even one can be left out
        (21, 0, 20 / 22),  # 22 * 0.05 = 1.1: k = 1
        (39, 1, 36 / 40),  # 40 * 0.05 = 2: k = 2 leaves one out at each end
        (41, 1, 38 / 42),
    ],
)
def test_one_more_of_a_kind_lies_inside_the_band_with_the_level_that_it_states(count: int, left: int, level: float) -> None:
    low, high, found = prediction_band([1.0 + value for value in range(count)])
    assert (low, high) == (1.0 + left, float(count - left))
    assert found == pytest.approx(level)


def test_a_band_needs_two_references() -> None:
    with pytest.raises(ValueError, match="at least two"):
        prediction_band([1.0])


@pytest.mark.parametrize("ends", [(2.0, 1.0), (float("nan"), 1.0), (1.0, float("inf"))])
def test_ends_are_finite_and_in_order(ends: tuple[float, float]) -> None:
    with pytest.raises(ValidationError):
        times(*ends)


def test_a_simulator_that_may_be_a_fifth_too_fast_gives_times_that_may_be_a_quarter_longer() -> None:
    found = BAND.around(8.0)
    assert (found.low, found.high, found.kind, found.confidence) == (6.4, 10.0, IntervalKind.MODEL_ERROR, 0.9)  # 8 / 1.25 and 8 / 0.8


def test_kinds_that_differ_make_both() -> None:
    samples, model = IntervalKind.SAMPLES, IntervalKind.MODEL_ERROR
    assert [merged_kind(kinds) for kinds in ([samples], [model, model], [samples, model])] == [samples, model, IntervalKind.BOTH]


def test_a_device_time_has_the_interval_of_its_samples_and_a_simulated_one_only_what_it_was_given() -> None:
    def made(provenance: Provenance, interval: Interval | None = None) -> Interval | None:
        return Measurement(samples=(3.0, 1.0), provenance=provenance, method="m", interval=interval).bounds

    assert (made(Provenance.DEVICE).low, made(Provenance.DEVICE).high) == (1.0, 3.0)
    assert made(Provenance.SIMULATED) is None
    assert made(Provenance.SIMULATED, times(1.0, 2.0)) == times(1.0, 2.0)


def test_the_ends_of_hap_are_those_of_the_slowest_and_the_fastest_candidate() -> None:
    # T_HW 10, T_baseline 30 exactly: 20 / (T - 10 + 20); T = 40 gives 0.4, T = 15 gives 0.8
    found = hap_interval(TrueTime(value_us=20.0, interval=times(15.0, 40.0)), 10.0, TrueTime(value_us=30.0))
    assert (found.low, found.high) == (pytest.approx(0.4), pytest.approx(0.8))


def test_a_baseline_with_an_interval_widens_both_ends_and_the_least_level_counts() -> None:
    # T_baseline 20 to 40: 10 / (30 + 10) = 0.25 against the slowest, 30 / (5 + 30) = 6 / 7 against the fastest
    base = TrueTime(value_us=30.0, interval=times(20.0, 40.0, IntervalKind.SAMPLES, 0.95))
    found = hap_interval(TrueTime(value_us=20.0, interval=times(15.0, 40.0)), 10.0, base)
    assert (found.low, found.high) == (pytest.approx(0.25), pytest.approx(6 / 7))
    assert (found.kind, found.confidence) == (IntervalKind.BOTH, 0.9)


def test_a_candidate_that_may_be_below_the_roof_ranks_as_one_at_that_end() -> None:
    found = hap_interval(TrueTime(value_us=11.0, interval=times(9.0, 12.0)), 10.0, TrueTime(value_us=30.0))
    assert (found.low, found.high) == (pytest.approx(20 / 22), 1.0)


def test_errors_of_one_simulator_that_are_always_equal_leave_one_line_of_hap() -> None:
    # T_HW 10; both times are simulated and true times are 0.8 to 1.25 times that: 20 and 30 become 16 and 24, or 25 and 37.5
    # 14 / (6 + 14) = 0.7; 27.5 / (15 + 27.5) = 0.647
    equal = ErrorBand(low=1.0, high=1.0, confidence=0.5, references=2, source="made up")
    candidate, base = TrueTime(value_us=20.0, interval=BAND.around(20.0)), TrueTime(value_us=30.0, interval=BAND.around(30.0))
    found = hap_interval(candidate, 10.0, base, equal)
    assert (found.low, found.high, found.confidence) == (pytest.approx(27.5 / 42.5), pytest.approx(0.7), 0.5)


def test_errors_that_may_differ_by_half_reach_part_of_the_way_to_the_corners() -> None:
    # Candidate at 1.25 forces the baseline to at least 1.25 / 1.2; candidate at 0.8 forces it to at most 0.96.
    # 25 against 31.25: 21.25 / (15 + 21.25) = 0.586; or baseline at 0.8 (24) with the candidate at 0.96 (19.2): 14 / (9.2 + 14) = 0.603: the first is less
    # 16 against 28.8: 18.8 / (6 + 18.8) = 0.758; or baseline at 1.25 (37.5), candidate at 1.0417 (20.83): 27.5 / (10.83 + 27.5) = 0.717: the first is more
    apart = ErrorBand(low=1 / 1.2, high=1.2, confidence=0.5, references=2, source="made up")
    candidate, base = TrueTime(value_us=20.0, interval=BAND.around(20.0)), TrueTime(value_us=30.0, interval=BAND.around(30.0))
    found = hap_interval(candidate, 10.0, base, apart)
    assert (found.low, found.high) == (pytest.approx(21.25 / 36.25), pytest.approx(18.8 / 24.8))


@pytest.mark.parametrize("apart", [1.0, 1.1, 1.3, 5.0])
def test_no_pair_of_true_times_that_is_allowed_leaves_the_interval(apart: float) -> None:
    drawn = random.Random(9)
    bound = ErrorBand(low=1 / apart, high=apart, confidence=0.5, references=2, source="made up")
    for _ in range(60):
        t_cand, t_hw, t_base = (drawn.uniform(1, 20) for _ in range(3))
        wide = ErrorBand(low=drawn.uniform(0.5, 1.0), high=drawn.uniform(1.0, 1.6), confidence=0.9, references=9, source="made up")
        candidate, base = TrueTime(value_us=t_cand, interval=BAND.around(t_cand)), TrueTime(value_us=t_base, interval=wide.around(t_base))
        found = hap_interval(candidate, t_hw, base, bound)
        steps = [step / 12 for step in range(13)]
        for one, other in itertools.product(steps, steps):
            mine, its = 0.8 + 0.45 * one, 1 / wide.high + (1 / wide.low - 1 / wide.high) * other
            if 1 / apart <= mine / its <= apart:
                assert found.low - 1e-12 <= hap(mine * t_cand, t_hw, its * t_base).ranked <= found.high + 1e-12


def launch(waits: dict[str, dict[str, int]] | None = None, **busy: int) -> LaunchRecord:
    return LaunchRecord(
        kernel="k",
        blocks=1,
        cycles=100,
        time_us=1.0,
        instructions=1,
        busy_cycles=busy,
        stall_cycles={},
        gm_read_bytes=0,
        gm_written_bytes=0,
        wait_cycles=waits or {},
    )


@pytest.mark.parametrize(
    ("launches", "time_us", "kind"),
    [
        ((launch(mte2=9, v=3),), 50.0, "memory"),
        ((launch(mte3=9, v=3),), 50.0, "memory"),
        ((launch(v=9, mte2=3),), 50.0, "vector"),
        ((launch(mte2=9), launch(v=20)), 50.0, "vector"),  # all launches of the call together
        ((launch(v=9, mte2=3),), 19.9, "short"),
        ((launch(v=9, m=1),), 50.0, None),  # cube work
        ((launch(mte2=9, mte1=1),), 50.0, None),
        ((launch(v=9, fix=1),), 5.0, None),
        ((launch(s=9, v=3),), 50.0, None),  # the scalar unit keeps it longest
        ((launch({"v": {"sync_all": 1}}, v=9),), 50.0, None),
        ((launch({"s": {"cross_flag": 1}}, v=9),), 50.0, None),
        ((launch({"v": {"flag_mte2": 5, "sync_all": 0}}, v=9),), 50.0, "vector"),
        ((launch(v=0),), 50.0, None),
        ((), 50.0, None),
    ],
)
def test_a_call_is_of_the_kind_whose_measured_references_it_resembles(launches: tuple[LaunchRecord, ...], time_us: float, kind: str | None) -> None:
    assert regime(launches, time_us) == kind


def test_only_simulated_times_of_a_kind_with_references_get_a_band() -> None:
    def made(provenance: Provenance, *launches: LaunchRecord) -> Interval | None:
        return with_error(Measurement(samples=(40.0,), provenance=provenance, method="m"), launches, {"memory": BAND}).interval

    assert made(Provenance.SIMULATED, launch(mte2=9)) == BAND.around(40.0)
    assert made(Provenance.SIMULATED, launch(v=9)) is None  # a kind that the chip has no band for
    assert made(Provenance.DEVICE, launch(mte2=9)) is None
    assert made(Provenance.SIMULATED) is None
