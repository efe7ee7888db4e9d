"""Does the comparison follow the precision standard, rule by rule (docs/precision.md)?"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.report import OutputCheck
from piton.core.verdict import Cause, Verdict
from piton.numerics.chunks import CHUNK
from piton.numerics.compare import compare_output
from piton.numerics.dtypes import encode, largest_finite
from piton.numerics.impostors import as_output
from piton.numerics.judge import Profile
from piton.numerics.measure import FloatPair, screen_chunk
from piton.numerics.tensors import GoldenOutput, golden_output
from piton.numerics.thresholds import GUARD, Tolerance, default_tolerance

F16, BF16, F32 = DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32
ACTIVE = [F16, BF16, F32, DType.FLOAT8_E4M3, DType.FLOAT8_E5M2]
GATED = [F16, F32]
"""Formats fine enough that any error between 0 and 10 tau can be made."""


def out(values: object, dtype: DType = F32) -> GoldenOutput:
    array = np.asarray(values, dtype=np.float64) if dtype.is_floating else np.asarray(values)
    return golden_output("y", array, dtype)


def integers(values: object, dtype: DType) -> GoldenOutput:
    return golden_output("y", np.asarray(values, dtype=dtype.value), dtype)


def check(
    got: GoldenOutput, golden: GoldenOutput, tolerance: Tolerance | None = None, profile: Profile = "strict", native: GoldenOutput | None = None
) -> OutputCheck:
    run = None if native is None else lambda: native
    return compare_output(as_output(got), golden, tolerance or default_tolerance(golden.dtype), profile, run)


def cause(got: GoldenOutput, golden: GoldenOutput, profile: Profile = "strict", native: GoldenOutput | None = None) -> Cause:
    return check(got, golden, None, profile, native).outcome.cause


# Rule 1: form


def test_an_equal_output_passes_with_zero_error() -> None:
    result = check(out([1.0, -2.0, 0.0]), out([1.0, -2.0, 0.0]))
    assert result.outcome.verdict is Verdict.PASSED
    assert (result.mean_error, result.max_error, result.worst, result.passed_first_screen) == (0, 0, (), True)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"shape": (4, 1), "strides": (1, 1)}, Cause.SHAPE_MISMATCH),
        ({"shape": (1,), "strides": (1,)}, Cause.SHAPE_MISMATCH),
        ({"dtype_name": "float16"}, Cause.DTYPE_MISMATCH),
        ({"dtype_name": "complex64"}, Cause.DTYPE_MISMATCH),
        ({"is_on_device": False}, Cause.WRONG_DEVICE),
        ({"strides": (2,)}, Cause.NOT_CONTIGUOUS),
        ({"strides": ()}, Cause.NOT_CONTIGUOUS),
    ],
)
def test_every_deviation_of_form_has_its_cause(change: dict[str, object], expected: Cause) -> None:
    golden = out([1.0, 2.0, 3.0, 4.0])
    result = compare_output(dataclasses.replace(as_output(golden), **change), golden, default_tolerance(F32))
    assert result.outcome.cause is expected
    assert math.isinf(result.max_error)


def test_the_stride_of_a_dimension_of_size_one_is_free() -> None:
    golden = out([[1.0, 2.0]])
    assert compare_output(dataclasses.replace(as_output(golden), strides=(77, 1)), golden, default_tolerance(F32)).outcome.verdict is Verdict.PASSED


def test_an_empty_output_passes() -> None:
    assert check(out(np.zeros((0, 3))), out(np.zeros((0, 3)))).outcome.verdict is Verdict.PASSED


def test_a_buffer_that_does_not_fit_its_shape_is_our_error() -> None:
    golden = out([1.0, 2.0])
    with pytest.raises(EvaluatorError, match="came with 4 bytes"):
        compare_output(dataclasses.replace(as_output(golden), data=golden.data[:4]), golden, default_tolerance(F32))


# Rule 2: first screen


@pytest.mark.parametrize("dtype", GATED)
def test_a_mean_just_below_tau_passes_and_just_above_fails(dtype: DType) -> None:
    golden, tau = np.full(1000, 1.0), default_tolerance(dtype).tau
    step = 2 * tau * (np.arange(1000) < 499)
    assert cause(out(golden + step, dtype), out(golden, dtype)) is Cause.NONE
    over = 2 * tau * (np.arange(1000) < 502)
    assert cause(out(golden + over, dtype), out(golden, dtype)) is Cause.MEAN_ERROR


@pytest.mark.parametrize("dtype", GATED)
def test_a_single_error_just_below_ten_tau_passes_and_above_fails(dtype: DType) -> None:
    tau = default_tolerance(dtype).tau
    golden = np.full(1000, 1.0)
    for factor, expected in ((9.0, Cause.NONE), (11.0, Cause.MAX_ERROR)):
        got = golden.copy()
        got[417] += factor * tau
        result = check(out(got, dtype), out(golden, dtype))
        assert result.outcome.cause is expected
        assert result.worst[0].index == (417,)


@pytest.mark.parametrize("dtype", ACTIVE)
def test_one_unit_in_the_last_place_passes_in_every_format(dtype: DType) -> None:
    golden = out(np.linspace(1, 2, 50), dtype)
    got = golden.array().copy()
    got[25] = np.nextafter(got[25], got[25].dtype.type(4))
    assert cause(dataclasses.replace(golden, data=memoryview(got.view(np.uint8))), golden) is Cause.NONE


def test_the_guard_keeps_zero_from_dividing() -> None:
    result = check(out([1e-12, 1.0]), out([0.0, 1.0]))
    assert result.max_error == pytest.approx(1e-5)


def test_an_error_carries_numbers_positions_and_the_worst_places() -> None:
    golden = np.ones((40, 50))
    got = golden.copy()
    got[3, 7], got[20, 49] = 2.0, 1.5
    result = check(out(got), out(golden))
    assert (result.outcome.cause, result.outcome.numbers["positions"], result.mismatches) == (Cause.MAX_ERROR, 2, 2)
    assert [(place.index, place.got, place.expected) for place in result.worst] == [((3, 7), 2.0, 1.0), ((20, 49), 1.5, 1.0)]


def test_the_ten_worst_positions_come_from_any_chunk_in_order() -> None:
    golden = np.ones(12 * CHUNK)
    got = golden.copy()
    places = np.arange(12) * CHUNK + 5
    got[places] += np.arange(1, 13) / 1000
    assert [place.index[0] for place in check(out(got), out(golden)).worst] == list(places[::-1][:10])


# Rule 3: regions


def small_errors(count: int, dtype: DType = F16) -> tuple[np.ndarray, np.ndarray]:
    """Golden with 500 small values among ordinary ones, and an output that is wrong at `count` of the small ones."""
    row = default_tolerance(dtype)
    golden = np.concatenate([np.full(500, row.small_bound / 2), np.full(500, 1.0)])
    got = golden.copy()
    got[:count] += 2 * row.small_error
    return got, golden


@pytest.mark.parametrize("dtype", [F16, BF16, F32])
def test_two_small_value_errors_are_free_and_three_are_not(dtype: DType) -> None:
    for count, expected in ((2, Cause.NONE), (3, Cause.SMALL_VALUE_ERRORS)):
        got, golden = small_errors(count, dtype)
        # eps_sv lies below 10 tau for coarse formats; one more error, large in relative terms, makes the first screen fail.
        got[0] = -golden[0] * 20
        assert cause(out(got, dtype), out(golden, dtype)) is expected


def test_twice_the_small_value_errors_of_the_native_run_pass_and_one_more_fails() -> None:
    native, golden = small_errors(50)
    native[0] = -golden[0] * 20
    for count, expected in ((100, Cause.NONE), (101, Cause.SMALL_VALUE_ERRORS)):
        got, _ = small_errors(count)
        got[0] = -golden[0] * 20
        result = check(out(got, F16), out(golden, F16), native=out(native, F16))
        assert result.outcome.cause is expected
        assert (result.small_value.positions, result.small_value.errors, result.small_value.native_errors) == (500, count, 50)


def test_a_small_value_within_the_absolute_bound_is_no_error() -> None:
    row = default_tolerance(F16)
    golden = np.concatenate([np.full(500, row.small_error / 2), np.ones(500)])
    got = golden.copy()
    got[:500] = 0
    assert cause(out(got, F16), out(golden, F16)) is Cause.NONE


def cancelled(count: int, dtype: DType = F32) -> tuple[np.ndarray, np.ndarray]:
    row = default_tolerance(dtype)
    golden = np.concatenate([np.full(500, row.cancel_bound / 2), np.full(500, 1.0)])
    got = golden.copy()
    got[:count] = row.cancel_zero * 0.75
    return got, golden


@pytest.mark.parametrize("dtype", [F16, BF16, F32])
def test_two_cancellation_errors_are_free_and_three_are_not(dtype: DType) -> None:
    for count, expected in ((2, Cause.NONE), (3, Cause.CANCELLATION_ERRORS)):
        got, golden = cancelled(count, dtype)
        result = check(out(got, dtype), out(golden, dtype))
        assert (result.outcome.cause, result.cancellation.errors) == (expected, count)


def test_twice_the_cancellation_errors_of_the_native_run_pass() -> None:
    native, golden = cancelled(10)
    for count, expected in ((20, Cause.NONE), (21, Cause.CANCELLATION_ERRORS)):
        got, _ = cancelled(count)
        assert cause(out(got), out(golden), native=out(native)) is expected


def test_a_candidate_that_is_not_near_zero_is_outside_the_cancellation_region() -> None:
    got, golden = cancelled(1)
    got[0] = default_tolerance(F32).cancel_zero * 1.01
    assert cause(out(got), out(golden)) is Cause.MAX_ERROR


def test_one_failing_ordinary_position_fails_whatever_the_regions_say() -> None:
    got, golden = small_errors(1)
    got[0], got[700] = -1.0, 1.5
    result = check(out(got, F16), out(golden, F16))
    assert (result.outcome.cause, result.outcome.numbers["positions"]) == (Cause.MAX_ERROR, 1)
    assert result.max_error > 1000, "at the small value"
    assert "1 of 500 ordinary positions have a relative error of 0.00977 or more, the largest of them is 0.5" in result.outcome.message
    assert result.outcome.numbers["max_error"] == pytest.approx(0.5, rel=1e-6)


def test_small_value_tails_do_not_count_into_the_strict_mean() -> None:
    """The overall mean is far above tau here; only the mean outside the regions may decide."""
    golden = np.concatenate([np.full(900, 2.0**-24), np.ones(100)])
    got = golden.copy()
    got[:900] = 0
    got[950] += 2.0**-10
    result = check(out(got, F16), out(golden, F16))
    assert result.mean_error > 100 * result.tau
    assert result.outcome.verdict is Verdict.PASSED
    assert result.mean_error_outside == pytest.approx(result.tau / 100, rel=1e-3)


def test_the_native_run_is_not_asked_for_unless_it_decides() -> None:
    def never() -> GoldenOutput:
        raise AssertionError("the same-dtype run was computed")

    ones = np.ones(1000)
    two_errors, golden = cancelled(2)
    for got, expected in ((ones, ones), (ones * 2, ones), (two_errors, golden)):
        compare_output(as_output(out(got)), out(expected), default_tolerance(F32), native=never)


def test_a_native_run_of_nan_counts_as_errors_and_not_as_right() -> None:
    got, golden = cancelled(20)
    native = golden.copy()
    native[:10] = np.nan
    assert check(out(got), out(golden), native=out(native)).cancellation.native_errors == 10
    got, golden = small_errors(100)
    got[0], native = -golden[0] * 20, golden.copy()
    native[:50] = np.nan
    assert check(out(got, F16), out(golden, F16), native=out(native, F16)).small_value.native_errors == 50


def test_a_native_run_of_another_form_is_our_error() -> None:
    got, golden = cancelled(20)
    with pytest.raises(EvaluatorError, match="another form"):
        check(out(got), out(golden), native=out(golden[:5]))


# Rule 4 and 5: special values


def test_a_nan_on_one_side_only_fails() -> None:
    for got, golden in (([1, np.nan], [1, 1]), ([1, 1], [1, np.nan]), ([np.nan, 1], [1, np.nan]), ([np.inf, 1], [np.nan, 1])):
        result = check(out(got), out(golden))
        assert result.outcome.cause is Cause.NAN_MISMATCH
        assert result.worst[0].relative_error == np.inf


def test_equal_nan_positions_are_left_out_of_the_statistics() -> None:
    result = check(out([np.nan, 1, 1 + 1e-5]), out([np.nan, 1, 1]))
    assert (result.outcome.verdict, result.finite_positions) == (Verdict.PASSED, 2)
    assert result.mean_error == pytest.approx(0.5e-5, rel=0.02)


def test_equal_infinities_pass_and_opposite_ones_fail() -> None:
    assert cause(out([np.inf, -np.inf, 1]), out([np.inf, -np.inf, 1])) is Cause.NONE
    assert cause(out([-np.inf, 1]), out([np.inf, 1])) is Cause.INF_MISMATCH


@pytest.mark.parametrize("dtype", [F16, BF16, F32, DType.FLOAT8_E5M2])
def test_a_one_sided_infinity_is_measured_as_the_largest_finite_value(dtype: DType) -> None:
    largest = largest_finite(dtype)
    assert cause(out([np.inf, 1], dtype), out([largest, 1], dtype)) is Cause.NONE
    assert cause(out([-largest, 1], dtype), out([-np.inf, 1], dtype)) is Cause.NONE
    assert cause(out([np.inf, 1], dtype), out([largest / 8, 1], dtype)) is Cause.MAX_ERROR
    assert cause(out([-np.inf, 1], dtype), out([largest, 1], dtype)) is not Cause.NONE


def test_saturation_is_counted_as_an_infinity_mismatch_even_when_it_passes() -> None:
    result = check(out([np.inf, 1], F16), out([65504.0, 1], F16))
    assert (result.outcome.verdict, result.inf_mismatches, result.finite_positions) == (Verdict.PASSED, 1, 1)


def test_without_a_finite_position_special_values_have_to_match_everywhere() -> None:
    assert cause(out([np.inf, np.nan]), out([np.inf, np.nan])) is Cause.NONE
    assert cause(out([65504.0, np.nan], F16), out([np.inf, np.nan], F16)) is Cause.SPECIAL_MISMATCH


def test_signed_zeros_are_equal() -> None:
    assert cause(out([-0.0, 1]), out([0.0, 1])) is Cause.NONE


def test_the_difference_of_huge_float64_values_never_passes() -> None:
    assert cause(out([1e308, 1], DType.FLOAT64), out([-1e308, 1], DType.FLOAT64)) is Cause.MAX_ERROR


# Integers and bool


@pytest.mark.parametrize("dtype", [DType.INT8, DType.UINT8, DType.INT16, DType.UINT16, DType.INT32, DType.UINT32, DType.INT64, DType.UINT64])
def test_integers_are_exact_by_default_and_within_the_declared_tolerance(dtype: DType) -> None:
    golden, got = integers([1, 2, 100], dtype), integers([1, 3, 100], dtype)
    assert cause(golden, golden) is Cause.NONE
    result = check(got, golden)
    assert (result.outcome.cause, result.mismatches, result.max_error) == (Cause.INTEGER_MISMATCH, 1, 1.0)
    assert result.worst[0].index == (1,)
    assert check(got, golden, Tolerance(1.0, 0.0)).outcome.verdict is Verdict.PASSED


def test_the_difference_of_extreme_integers_does_not_wrap_around() -> None:
    for dtype, least, most in ((DType.INT8, -128, 127), (DType.INT64, -(2**63), 2**63 - 1), (DType.UINT64, 0, 2**64 - 1)):
        result = check(integers([least], dtype), integers([most], dtype), Tolerance(1.0, 0.0))
        assert result.outcome.numbers["worst_difference"] == most - least


def test_neighbours_that_float64_cannot_tell_apart_are_told_apart() -> None:
    assert cause(integers([2**62 + 1], DType.INT64), integers([2**62], DType.INT64)) is Cause.INTEGER_MISMATCH


def test_bool_is_exact_whatever_the_tolerance_and_bytes_other_than_one_are_wrong() -> None:
    golden = integers([True, False], DType.BOOL)
    flipped = dataclasses.replace(golden, data=memoryview(b"\1\1"))
    illegal = dataclasses.replace(golden, data=memoryview(b"\2\0"))
    assert check(flipped, golden, Tolerance(1.0, 0.0)).outcome.cause is Cause.INTEGER_MISMATCH
    assert check(illegal, golden).outcome.cause is Cause.INTEGER_MISMATCH


# Rule 7: relaxed thresholds


def test_a_relaxed_pass_is_told_from_a_strict_one() -> None:
    golden = np.ones(100)
    got = golden * (1 + 3 * 2.0**-13)
    row = default_tolerance(F32)
    relaxed = dataclasses.replace(row, tau=8 * row.tau)
    assert check(out(got), out(golden), row).outcome.cause is Cause.MEAN_ERROR
    result = check(out(got), out(golden), relaxed)
    assert (result.outcome.verdict, result.is_relaxed, result.tau, result.default_tau) == (Verdict.PASSED, True, 2.0**-10, 2.0**-13)
    assert not check(out(golden), out(golden), row).is_relaxed


def test_a_threshold_of_zero_asks_for_equality() -> None:
    exact = dataclasses.replace(default_tolerance(F32), tau=0.0)
    golden = out([1.0, 2.0, np.nan, np.inf])
    assert check(golden, golden, exact).passed_first_screen
    result = check(out([np.nextafter(np.float32(1), np.float32(2)), 2.0, np.nan, np.inf]), golden, exact)
    assert (result.outcome.cause, result.mismatches) == (Cause.MAX_ERROR, 1)


def test_non_finite_numbers_survive_the_report() -> None:
    result = check(out([np.nan, 1]), out([1.0, 1]))
    again = OutputCheck.model_validate_json(result.model_dump_json())
    assert math.isnan(again.worst[0].got)
    assert again.worst[0].relative_error == np.inf


# The gates are open intervals

_STEP = 2.0**-10 / (1.0 + GUARD)
"""Relative error of 1 + 2**-10 against 1; sums of a power of two of it are exact."""


@pytest.mark.parametrize(("tau", "expected"), [(_STEP, Cause.MEAN_ERROR), (math.nextafter(_STEP, 1.0), Cause.NONE)], ids=["equal", "above"])
def test_a_mean_error_that_equals_tau_fails(tau: float, expected: Cause) -> None:
    tolerance = dataclasses.replace(default_tolerance(F32), tau=tau)
    assert check(out([1.0 + 2.0**-10] * 8), out([1.0] * 8), tolerance).outcome.cause is expected


@pytest.mark.parametrize("profile", ["strict", "cann-bench"])
def test_a_largest_error_that_equals_ten_tau_fails(profile: Profile) -> None:
    got, golden = out([1.0 + 2.0**-10] + [1.0] * 63), out([1.0] * 64)
    equal = next(tau for tau in (_STEP / 10, math.nextafter(_STEP / 10, 0.0), math.nextafter(_STEP / 10, 1.0)) if 10 * tau == _STEP)
    for tau, expected in ((equal, Cause.MAX_ERROR), (equal * (1 + 1e-12), Cause.NONE)):
        assert check(got, golden, dataclasses.replace(default_tolerance(F32), tau=tau), profile).outcome.cause is expected


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
@pytest.mark.parametrize("special", [None, np.nan, np.inf, -np.inf])
def test_equal_elements_that_are_left_out_change_no_figure_of_the_screen(monkeypatch: pytest.MonkeyPatch, dtype: DType, special: float | None) -> None:
    draw = np.random.default_rng(7)
    golden = encode(draw.standard_normal(5000), dtype)
    got = golden.copy()
    places = draw.choice(5000, 600, replace=False)
    got[places] = encode(draw.standard_normal(600), dtype)
    if special is not None:
        got[300] = golden[301] = got[302] = golden[302] = encode(np.array([special]), dtype)[0]
    pair, spans = FloatPair(got, golden, dtype), (slice(0, 299), slice(299, 301), slice(302, 5000), slice(0, 5000))
    found = [screen_chunk(pair, span, 1e-3) for span in spans]
    monkeypatch.setattr("piton.numerics.measure._EXPONENTS", {})
    assert found == [screen_chunk(pair, span, 1e-3) for span in spans]
