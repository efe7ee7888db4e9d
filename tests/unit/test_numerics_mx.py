"""Are MX block formats quantised by the rule of the specification? The model is scalar and exact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.numerics.dtypes import decode, encode, storage_dtype
from piton.numerics.mx import BLOCK, ELEMENT_TYPES, MxTensor, ScaleRule, quantise
from piton.numerics.small_floats import FORMATS, Rounding

TOP_EXPONENT = {DType.FLOAT8_E4M3: 8, DType.FLOAT8_E5M2: 15, DType.FLOAT4_E2M1: 2}
every_type = pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=lambda dtype: dtype.value)


def floor_log2(value: Fraction) -> int:
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= value else exponent - 1


def scale_exponent(block: list[float], dtype: DType, rule: ScaleRule) -> int:
    """Of the shared scale, by logarithms of exact fractions."""
    peak = max(abs(Fraction(value)) for value in block)
    if peak == 0:
        return -127
    exponent = floor_log2(peak) - TOP_EXPONENT[dtype]
    if rule == "ceil":
        ratio = peak / Fraction(FORMATS[dtype].largest)
        exponent = floor_log2(ratio) + (Fraction(2) ** floor_log2(ratio) != ratio)
    return min(max(exponent, -127), 127)


def check(values: np.ndarray, dtype: DType, rule: ScaleRule) -> None:
    """Scales and elements of every block, one at a time."""
    made = quantise(values, dtype, rule)
    scales, elements = decode(made.scales, DType.FLOAT8_E8M0), decode(made.elements, dtype)
    for place in np.ndindex(made.scales.shape):
        *row, number = place
        part = (*row, slice(number * BLOCK, (number + 1) * BLOCK))
        block = values[part].tolist()
        exponent = scale_exponent(block, dtype, rule)
        assert scales[place] == math.ldexp(1.0, exponent)
        exact = [float(Fraction(value) / Fraction(2) ** exponent) for value in block]
        np.testing.assert_array_equal(elements[part], decode(encode(np.array(exact), dtype, saturates=True), dtype))


@every_type
@pytest.mark.parametrize("rule", ["floor", "ceil"])
@pytest.mark.parametrize("shape", [(32,), (31,), (33,), (2, 64), (3, 5, 70), (1, 2)])
def test_scales_and_elements_of_every_block_are_those_of_the_exact_model(dtype: DType, rule: ScaleRule, shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(sum(shape))
    check(random.standard_normal(shape) * np.exp2(random.integers(-30, 30, shape)), dtype, rule)


@every_type
@given(
    values=st.lists(
        st.one_of(st.floats(-1e38, 1e38), st.floats(-1, 1), st.sampled_from([0.0, 448.0, 449.0, 6.0, 7.999, 8.0, 2.0**-130])), min_size=1, max_size=40
    )
)
@settings(max_examples=40, deadline=None)
def test_any_block_is_quantised_like_the_exact_model(dtype: DType, values: list[float]) -> None:
    for rule in ("floor", "ceil"):
        check(np.array(values), dtype, rule)


@every_type
def test_with_the_ceil_rule_nothing_saturates_and_no_smaller_scale_would_do(dtype: DType) -> None:
    values = np.random.default_rng(1).uniform(-1000, 1000, (64, 32))
    exponents = np.log2(decode(quantise(values, dtype, "ceil").scales, DType.FLOAT8_E8M0))[:, 0]
    peaks = np.abs(values).max(-1)
    largest = FORMATS[dtype].largest
    assert np.all(peaks <= largest * np.exp2(exponents))
    assert np.all(peaks > largest * np.exp2(exponents - 1))


@every_type
@pytest.mark.parametrize("exponent", [-9, 0, 5])
def test_a_block_that_just_fits_keeps_its_scale_under_both_rules(dtype: DType, exponent: int) -> None:
    values = np.full((1, 4), -math.ldexp(FORMATS[dtype].largest, exponent))
    for rule in ("floor", "ceil"):
        assert decode(quantise(values, dtype, rule).scales, DType.FLOAT8_E8M0).tolist() == [[2.0**exponent]]


@every_type
def test_a_tensor_of_representable_values_comes_back_unchanged(dtype: DType) -> None:
    finite = FORMATS[dtype].finite
    values = np.stack(
        [np.concatenate([[finite[-1]], np.resize(finite[start:], 31)]) * 2.0**exponent for start in range(0, len(finite), 30) for exponent in (-9, 0, 4)]
    )
    np.testing.assert_array_equal(quantise(values, dtype).values(), values)


def test_a_block_of_zeros_has_the_smallest_scale() -> None:
    made = quantise(np.zeros((1, 40)), DType.FLOAT8_E4M3)
    assert made.scales.view(np.uint8).tolist() == [[0, 0]]
    assert not made.values().any()


@pytest.mark.parametrize("special", [math.inf, -math.inf, math.nan])
@every_type
def test_an_infinity_or_nan_makes_its_block_nan_and_no_other(dtype: DType, special: float) -> None:
    values = np.ones((1, 96))
    values[0, 40] = special
    made = quantise(values, dtype)
    assert made.scales.view(np.uint8)[0, 1] == 0xFF
    np.testing.assert_array_equal(np.isnan(made.values()[0]), (np.arange(96) // 32) == 1)
    assert made.elements.view(np.uint8)[0, 32:64].any() == np.False_


def test_the_shared_exponent_is_clamped_to_the_range_of_the_scale() -> None:
    made = quantise(np.array([[2.0**-140, 2.0**-133]]), DType.FLOAT8_E4M3)
    assert made.scales.view(np.uint8).tolist() == [[0]]
    np.testing.assert_array_equal(made.values(), [[0.0, 2.0**-133]])  # 2^-6 and 2^-13 of the smallest scale; the latter is below half of 2^-9


def test_elements_are_rounded_as_asked() -> None:
    values = np.array([[4.0, 1.25, -1.25, 1.75]])
    found = {mode: quantise(values, DType.FLOAT4_E2M1, rounding=mode).values()[0].tolist() for mode in Rounding}
    assert found[Rounding.NEAREST_EVEN] == [4.0, 1.0, -1.0, 2.0]
    assert found[Rounding.NEAREST_AWAY] == [4.0, 1.5, -1.5, 2.0]
    assert found[Rounding.TOWARD_ZERO] == [4.0, 1.0, -1.0, 1.5]
    assert found[Rounding.DOWN] == [4.0, 1.0, -1.5, 1.5]
    assert found[Rounding.UP] == [4.0, 1.5, -1.0, 2.0]


def test_an_empty_tensor_has_no_blocks() -> None:
    assert quantise(np.zeros((3, 0)), DType.FLOAT8_E4M3).scales.shape == (3, 0)
    assert quantise(np.zeros((0, 33)), DType.FLOAT8_E4M3).scales.shape == (0, 2)


def test_what_is_no_mx_tensor_is_refused() -> None:
    with pytest.raises(EvaluatorError, match="no elements of hifloat8"):
        quantise(np.ones(4), DType.HIFLOAT8)
    with pytest.raises(EvaluatorError, match="no blocks"):
        quantise(np.float64(1.0).reshape(()), DType.FLOAT8_E4M3)
    with pytest.raises(EvaluatorError, match="do not fit"):
        MxTensor(np.zeros((2, 33), storage_dtype(DType.FLOAT8_E4M3)), np.zeros((2, 1), storage_dtype(DType.FLOAT8_E8M0)))
