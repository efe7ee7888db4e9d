"""Is every conversion exact, or rounded exactly once?"""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.numerics.dtypes import (
    decode,
    dtype_of,
    encode,
    encode_float32,
    from_name,
    from_torch_name,
    integer_bounds,
    is_torchs_own,
    largest_finite,
    raw_bytes,
    storage_dtype,
    torch_name,
    view_raw,
)

NARROW = [DType.FLOAT16, DType.BFLOAT16, DType.FLOAT8_E4M3, DType.FLOAT8_E5M2]
FLOATS = [*NARROW, DType.FLOAT32, DType.FLOAT64]


def every_value(dtype: DType) -> np.ndarray:
    bits = dtype.bits
    return np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8).view(storage_dtype(dtype))


@pytest.mark.parametrize("dtype", NARROW)
def test_every_bit_pattern_decodes_as_ml_dtypes_says(dtype: DType) -> None:
    patterns = every_value(dtype)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(decode(patterns, dtype), patterns.astype(np.float64))


@pytest.mark.parametrize("dtype", NARROW)
def test_every_value_survives_decode_and_encode(dtype: DType) -> None:
    patterns = every_value(dtype)
    values = decode(patterns, dtype)
    back = encode(values, dtype)
    is_number = ~np.isnan(values)
    np.testing.assert_array_equal(back.view(np.uint8).reshape(len(patterns), -1)[is_number], patterns.view(np.uint8).reshape(len(patterns), -1)[is_number])
    assert np.isnan(decode(back, dtype)[~is_number]).all()


def nearest(value: float, dtype: DType) -> float:
    """The nearest value by exact arithmetic over all finite values, ties to the even bit pattern."""
    patterns = every_value(dtype)
    values = decode(patterns, dtype)
    finite = np.flatnonzero(np.isfinite(values))
    close = finite[np.argsort(np.abs(values[finite] - value), kind="stable")[:4]]
    best = min(close, key=lambda place: (abs(Fraction(float(values[place])) - Fraction(value)), int(place) & 1))
    return float(values[best])


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
@settings(max_examples=60, deadline=None)
@given(pattern=st.integers(0x0001, 0x7BFE), nudge=st.sampled_from([0.0, 1e-13, -1e-13, 1e-9, -1e-9]))
def test_a_value_near_a_tie_is_rounded_once(dtype: DType, pattern: int, nudge: float) -> None:
    low, high = decode(np.array([pattern, pattern + 1], np.uint16).view(storage_dtype(dtype)), dtype)
    middle = float((low + high) / 2 * (1 + nudge))
    assert float(decode(encode(np.array([middle]), dtype), dtype)[0]) == nearest(middle, dtype)


def test_two_roundings_would_have_been_wrong() -> None:
    above_tie = np.array([1 + 2.0**-8 + 2.0**-40])
    assert float(above_tie.astype(np.float32).astype(ml_dtypes.bfloat16)[0]) == 1.0, "rounded to float32 first, the value becomes a tie"
    assert float(decode(encode(above_tie, DType.BFLOAT16), DType.BFLOAT16)[0]) == 1 + 2.0**-7


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values_keep_their_kind(dtype: DType) -> None:
    back = decode(encode(np.array([np.nan, 0.0, -0.0]), dtype), dtype)
    assert np.isnan(back[0])
    assert (back[1:] == 0).all()
    assert list(np.signbit(back[1:])) == [False, True]


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16, DType.FLOAT8_E5M2, DType.FLOAT32])
def test_overflow_becomes_infinity(dtype: DType) -> None:
    back = decode(encode(np.array([1e300, -1e300, np.inf]), dtype), dtype)
    assert list(back) == [np.inf, -np.inf, np.inf]


def test_the_largest_value_is_kept_and_half_a_unit_more_overflows() -> None:
    edge = largest_finite(DType.FLOAT16)
    assert list(decode(encode(np.array([edge, 65519.99, 65520.0]), DType.FLOAT16), DType.FLOAT16)) == [edge, edge, np.inf]


@pytest.mark.parametrize("dtype", FLOATS)
def test_largest_finite_agrees_with_ml_dtypes(dtype: DType) -> None:
    assert largest_finite(dtype) == float(ml_dtypes.finfo(storage_dtype(dtype)).max)


def test_float32_to_bfloat16_agrees_with_ml_dtypes_on_random_bits() -> None:
    values = np.random.default_rng(0).integers(0, 1 << 32, 100_000, dtype=np.uint32).view(np.float32)
    with np.errstate(invalid="ignore"):
        ours = encode_float32(values, DType.BFLOAT16).astype(np.float32)
        np.testing.assert_array_equal(ours, values.astype(ml_dtypes.bfloat16).astype(np.float32))


@pytest.mark.parametrize("dtype", [DType.INT4, DType.HIFLOAT32])
def test_unsupported_formats_are_named_in_the_error(dtype: DType) -> None:
    with pytest.raises(EvaluatorError, match=f"{dtype.value} is not supported"):
        storage_dtype(dtype)


def test_torch_names_go_both_ways() -> None:
    assert all(from_torch_name(f"torch.{torch_name(dtype)}") is dtype for dtype in DType if is_torchs_own(dtype))
    assert from_torch_name("torch.complex64") is None


def test_a_type_that_torch_lacks_is_carried_by_one_that_keeps_its_own_name() -> None:
    assert {dtype: torch_name(dtype) for dtype in DType if not is_torchs_own(dtype)} == {
        DType.HIFLOAT8: "uint8",
        DType.FLOAT4_E2M1: "uint8",
        DType.INT4: "uint8",
        DType.HIFLOAT32: "float32",
    }
    assert (from_torch_name("uint8"), from_torch_name("float32")) == (DType.UINT8, DType.FLOAT32)


def test_every_element_type_has_a_numpy_dtype_of_its_own() -> None:
    for dtype in (dtype for dtype in DType if dtype not in (DType.INT4, DType.HIFLOAT32)):
        array = np.zeros((3, 2), storage_dtype(dtype))
        assert dtype_of(array[1:].copy()) is dtype
    with pytest.raises(EvaluatorError, match="complex64"):
        dtype_of(np.zeros(1, np.complex64))


@pytest.mark.parametrize("name", ["float8_e4m3", "torch.float8_e4m3fn", "float8_e4m3fn"])
def test_an_attribute_may_name_a_type_by_the_suites_name_or_torchs(name: str) -> None:
    assert from_name(name) is DType.FLOAT8_E4M3
    assert (from_name("hifloat8"), from_name("no_such_type")) == (DType.HIFLOAT8, None)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (5,), (2, 3)])
def test_raw_bytes_and_view_raw_are_inverse(shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    np.testing.assert_array_equal(view_raw(raw_bytes(array), DType.INT32), array.reshape(-1))


def test_a_torn_buffer_is_refused() -> None:
    with pytest.raises(EvaluatorError, match="whole number"):
        view_raw(memoryview(b"\0\0\0"), DType.FLOAT16)


def test_integer_bounds_are_those_of_the_format() -> None:
    assert (integer_bounds(DType.INT8), integer_bounds(DType.BOOL), integer_bounds(DType.UINT64)) == ((-128, 127), (0, 1), (0, 2**64 - 1))
