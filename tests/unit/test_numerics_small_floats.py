"""Are the 8- and 4-bit formats right, for every code, every middle between two codes, and every rounding?

The model is scalar and exact: values are fractions built from the formats' definitions, rounding is a comparison of fractions.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from fractions import Fraction
from functools import cache

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.numerics.dtypes import decode, encode, encode_float32, raw_bytes, storage_dtype, view_raw
from piton.numerics.small_floats import FORMATS, Rounding

E4M3, E5M2, HIF8, E8M0, FP4 = DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.HIFLOAT8, DType.FLOAT8_E8M0, DType.FLOAT4_E2M1
SMALL = [E4M3, E5M2, HIF8, E8M0, FP4]
SIGNED = [E4M3, E5M2, HIF8, FP4]
every = pytest.mark.parametrize("dtype", SMALL, ids=lambda dtype: dtype.value)
every_rounding = pytest.mark.parametrize("rounding", list(Rounding), ids=lambda rounding: rounding.value)


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def binades(mantissa_bits: int, exponents: range) -> list[Fraction]:
    return [power(e) * (1 + Fraction(m, 1 << mantissa_bits)) for e in exponents for m in range(1 << mantissa_bits)]


def hifloat8_magnitudes() -> list[Fraction]:
    """The abstract of arXiv 2409.16626: 7 exponents with 3 mantissa bits, 8 with 2, 16 with 1, and 7 more powers of two below."""
    normal = binades(1, range(-15, -7)) + binades(2, range(-7, -3)) + binades(3, range(-3, 4)) + binades(2, range(4, 8)) + binades(1, range(8, 16))
    return [Fraction(0), *(power(e) for e in range(-22, -15)), *normal[:-1]]  # the last code, 1.5 x 2^15, is the infinity


MAGNITUDES: dict[DType, list[Fraction]] = {
    E4M3: [Fraction(m) * power(-9) for m in range(8)] + binades(3, range(-6, 9))[:-1],
    E5M2: [Fraction(m) * power(-16) for m in range(4)] + binades(2, range(-14, 16)),
    HIF8: hifloat8_magnitudes(),
    E8M0: [power(e) for e in range(-127, 128)],
    FP4: [Fraction(m, 2) for m in (0, 1, 2, 3, 4, 6, 8, 12)],
}
BEYOND = {E4M3: Fraction(480), E5M2: power(16), HIF8: power(15) * Fraction(3, 2), E8M0: power(128), FP4: Fraction(8)}
GRID = {dtype: [*magnitudes, BEYOND[dtype]] for dtype, magnitudes in MAGNITUDES.items()}
OVERFLOW = {E4M3: math.nan, E5M2: math.inf, HIF8: math.inf, E8M0: math.nan, FP4: 6.0}
OWN_ROUNDING = dict.fromkeys(SMALL, Rounding.NEAREST_EVEN) | {HIF8: Rounding.NEAREST_AWAY}


def has_odd_code(place: int, dtype: DType) -> bool:
    """The lowest bit of the code of a magnitude. Codes count upwards from 0, but for hifloat8, whose binades have 1, 2, 4 or 8 codes of their own."""
    if dtype is not HIF8 or place <= 7:
        return place % 2 == 1
    exponent = math.frexp(MAGNITUDES[HIF8][place])[1] - 1
    mantissa_bits = 3 if abs(exponent) <= 3 else 2 if abs(exponent) <= 7 else 1
    return int(MAGNITUDES[HIF8][place] / power(exponent - mantissa_bits)) % 2 == 1


def rounds_up(size: Fraction, low: Fraction, high: Fraction, is_odd: bool, is_negative: bool, rounding: Rounding) -> bool:
    """For a magnitude strictly between two neighbours."""
    if rounding in (Rounding.UP, Rounding.DOWN):
        return (rounding is Rounding.UP) is not is_negative
    if rounding is Rounding.TOWARD_ZERO:
        return False
    middle = (low + high) / 2
    return size > middle or (size == middle and (is_odd or rounding is Rounding.NEAREST_AWAY))


def model(value: float, dtype: DType, rounding: Rounding, saturates: bool = False) -> float:
    """What a conversion gives, one value at a time."""
    if math.isnan(value) or (dtype is E8M0 and value < 0):
        return math.nan
    sign = math.copysign(1.0, value)
    largest = float(MAGNITUDES[dtype][-1])
    overflow = sign * (largest if saturates else OVERFLOW[dtype])
    if math.isinf(value):
        return overflow
    size, grid = abs(Fraction(value)), GRID[dtype]
    if size < grid[0]:
        return float(grid[0])
    below = min(bisect_right(grid, size), len(grid) - 1) - 1
    is_exact = size == grid[below]
    up = not is_exact and rounds_up(size, grid[below], grid[below + 1], has_odd_code(below, dtype), value < 0, rounding)
    return overflow if below + up == len(grid) - 1 else sign * float(grid[below + up])


def same(got: float, expected: float) -> bool:
    return got == expected or (math.isnan(got) and math.isnan(expected))


@cache
def probes(dtype: DType) -> tuple[float, ...]:
    """Every value, every middle, their neighbours in float64 and float32 and what lies beyond, of both signs."""
    grid = [float(item) for item in [*MAGNITUDES[dtype], BEYOND[dtype]]]
    points = [
        *grid,
        *((low + high) / 2 for low, high in itertools.pairwise(grid)),
        grid[0] / 2,
        grid[1] / 2,
        grid[1] / 4,
        4 * grid[-2],
        1e-300,
        math.inf,
    ]
    near = [float(np.nextafter(point, toward)) for point in points for toward in (0.0, math.inf)]
    near32 = [float(np.nextafter(np.float32(point), np.float32(toward))) for point in points if point < 3e38 for toward in (0.0, math.inf)]
    return tuple(sign * point for point in [*points, *near, *near32] for sign in (1.0, -1.0))


def encoded(values: list[float] | tuple[float, ...], dtype: DType, rounding: Rounding | None = None, saturates: bool = False) -> list[float]:
    found: list[float] = decode(encode(np.array(values), dtype, rounding, saturates=saturates), dtype).tolist()
    return found


@every
def test_the_values_of_all_codes_are_those_of_the_definition(dtype: DType) -> None:
    form = FORMATS[dtype]
    expected = {float(item) for item in MAGNITUDES[dtype]} | ({-float(item) for item in MAGNITUDES[dtype]} if dtype is not E8M0 else set())
    assert set(form.finite.tolist()) == expected
    zeros = 2 if dtype in (E4M3, E5M2, FP4) else 1
    finite = int(np.isfinite(form.values).sum())
    assert finite == len(expected) + (zeros - 1)


@pytest.mark.parametrize(("dtype", "name"), [(E4M3, "float8_e4m3fn"), (E5M2, "float8_e5m2"), (E8M0, "float8_e8m0fnu"), (FP4, "float4_e2m1fn")])
def test_every_code_has_the_value_that_ml_dtypes_gives_it(dtype: DType, name: str) -> None:
    codes = np.arange(len(FORMATS[dtype].values), dtype=np.uint8)
    np.testing.assert_array_equal(FORMATS[dtype].values, codes.view(getattr(ml_dtypes, name)).astype(np.float64))


@pytest.mark.parametrize(
    ("code", "value"),
    [
        (0b0_0000_000, 0.0),
        (0b1_0000_000, math.nan),
        (0b0_11_0111_1, math.inf),
        (0b1_11_0111_1, -math.inf),
        (0b0_11_0111_0, 32768.0),
        (0b0_01_01_110, 14.0),  # dot 2, exponent +3, mantissa 3/4: the example of the vendor's page on the type
        (0b1_01_10_001, -(2.0**-2) * 1.125),
        (0b0_0001_011, 1.375),
        (0b0_001_1_100, 0.75),
        (0b0_001_0_100, 3.0),
        (0b0_10_011_01, 2.0**7 * 1.25),
        (0b0_10_100_10, 2.0**-4 * 1.5),
        (0b0_11_1111_0, 2.0**-15),
        (0b0_0000_001, 2.0**-22),
        (0b1_0000_111, -(2.0**-16)),
    ],
)
def test_hifloat8_codes_read_field_by_field(code: int, value: float) -> None:
    assert same(FORMATS[HIF8].values[code], value)


@every
@every_rounding
def test_every_value_middle_and_neighbour_rounds_like_the_exact_model(dtype: DType, rounding: Rounding) -> None:
    values = probes(dtype)
    for saturates in (False, True):
        wrong = [
            (value, got)
            for value, got in zip(values, encoded(values, dtype, rounding, saturates), strict=True)
            if not same(got, model(value, dtype, rounding, saturates))
        ]
        assert wrong == []


@every
def test_a_conversion_rounds_as_the_format_does_unless_told_otherwise(dtype: DType) -> None:
    values = probes(dtype)
    found = encoded(values, dtype)
    assert [value for value, got in zip(values, found, strict=True) if not same(got, model(value, dtype, OWN_ROUNDING[dtype]))] == []


def test_hifloat8_to_nearest_even_takes_the_even_mantissa() -> None:
    assert encoded([1.0625, 1.1875, 20.0 - 2.0, 20.0 + 2.0], HIF8, Rounding.NEAREST_EVEN) == [1.0, 1.25, 16.0, 24.0]
    assert encoded([1.0625, 1.1875, -18.0, 22.0], HIF8) == [1.125, 1.25, -20.0, 24.0]


def test_hifloat8_goes_to_zero_and_infinity_where_its_paper_says() -> None:
    half = 2.0**-23
    assert encoded([half, np.nextafter(half, 0), -half, 1.25 * 2.0**15, np.nextafter(1.25 * 2.0**15, 0)], HIF8) == [2 * half, 0.0, -2 * half, math.inf, 2.0**15]
    assert encode(np.array([-0.0, -half / 2]), HIF8).view(np.uint8).tolist() == [0, 0]


@every
def test_all_codes_survive_a_round_trip(dtype: DType) -> None:
    codes = np.arange(len(FORMATS[dtype].values), dtype=np.uint8)
    back = encode(decode(codes.view(storage_dtype(dtype)), dtype), dtype).view(np.uint8)
    is_nan = np.isnan(FORMATS[dtype].values)
    np.testing.assert_array_equal(back[~is_nan], codes[~is_nan])
    assert np.isnan(FORMATS[dtype].values[back[is_nan]]).all()


@every
@every_rounding
@given(values=st.lists(st.floats(allow_nan=False, width=64), min_size=2, max_size=30))
@settings(max_examples=20, deadline=None)
def test_rounding_is_monotonic(dtype: DType, rounding: Rounding, values: list[float]) -> None:
    ordered = sorted(abs(value) for value in values) if dtype is E8M0 else sorted(values)
    found = encoded(ordered, dtype, rounding, saturates=True)
    assert found == sorted(found)


@every
@given(values=st.lists(st.one_of(st.floats(-70000, 70000), st.floats(-8, 8), st.floats(-(2.0**-14), 2.0**-14)), min_size=1, max_size=20))
@settings(max_examples=40, deadline=None)
def test_random_values_round_like_the_exact_model(dtype: DType, values: list[float]) -> None:
    rounding = OWN_ROUNDING[dtype]
    assert all(same(got, model(value, dtype, rounding)) for value, got in zip(values, encoded(values, dtype), strict=True))


@every
def test_float32_and_float64_give_the_same_code(dtype: DType) -> None:
    bits = np.random.default_rng(3).integers(0, 1 << 32, 50_000, dtype=np.uint32).view(np.float32)
    values = np.concatenate([bits[~np.isnan(bits)], np.float32([0.0, -0.0, np.inf, -np.inf])])
    np.testing.assert_array_equal(encode_float32(values, dtype).view(np.uint8), encode(values.astype(np.float64), dtype).view(np.uint8))


def test_a_value_is_rounded_once_and_not_through_float32() -> None:
    just_above = 1.0625 + 2.0**-50  # in float32 it would be the middle between 1 and 1.125
    assert encoded([just_above], E4M3) == [1.125]
    assert encoded([1.0625 - 2.0**-50], HIF8) == [1.0]


@pytest.mark.parametrize("dtype", [E4M3, E5M2])
def test_torch_rounds_values_in_range_to_the_same_codes(dtype: DType) -> None:
    values = np.random.default_rng(0).standard_normal(100_000).astype(np.float32) * 20
    theirs = torch.from_numpy(values).to(torch.float8_e4m3fn if dtype is E4M3 else torch.float8_e5m2).view(torch.uint8).numpy()
    np.testing.assert_array_equal(encode_float32(values, dtype).view(np.uint8), theirs)


def test_nan_is_refused_where_the_format_has_none() -> None:
    with pytest.raises(EvaluatorError, match="float4_e2m1 has no NaN"):
        encode(np.array([1.0, math.nan]), FP4)
    assert all(math.isnan(encoded([math.nan], dtype)[0]) for dtype in SMALL if dtype is not FP4)


def test_a_rounding_can_be_asked_for_in_small_formats_only() -> None:
    with pytest.raises(ValueError, match="nearest even only"):
        encode(np.array([1.0]), DType.FLOAT16, Rounding.DOWN)


@pytest.mark.parametrize("shape", [(0,), (2,), (3, 4), (2, 3, 6)])
def test_four_bit_elements_are_packed_lower_half_first(shape: tuple[int, ...]) -> None:
    codes = (np.arange(math.prod(shape)) % 16).astype(np.uint8).reshape(shape)
    array = codes.view(storage_dtype(FP4))
    packed = raw_bytes(array)
    assert packed.nbytes == codes.size // 2
    np.testing.assert_array_equal(view_raw(packed, FP4).view(np.uint8), codes.reshape(-1))
    if codes.size >= 2:
        assert packed[0] == codes.reshape(-1)[0] | codes.reshape(-1)[1] << 4


@pytest.mark.parametrize("shape", [(), (3,), (2, 5)])
def test_an_odd_last_axis_cannot_be_packed(shape: tuple[int, ...]) -> None:
    with pytest.raises(EvaluatorError, match="even last axis"):
        raw_bytes(np.zeros(shape, storage_dtype(FP4)))
