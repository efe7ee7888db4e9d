"""Are bytes and instructions of the operators that quantise rows those that one counts by hand?"""

from __future__ import annotations

from vector_work_cases import A2, A5, by_choice, case_of

from piton.anchors.quantized_rows import (
    add_rms_norm_dynamic_quant_convention,
    add_rms_norm_dynamic_quant_silicon,
    dequant_swiglu_quant_convention,
    dequant_swiglu_quant_silicon,
)
from piton.core.case import Case
from piton.core.dtype import DType

F16, F32, BF16, I32 = DType.FLOAT16, DType.FLOAT32, DType.BFLOAT16, DType.INT32


def norm_case(dtype: DType, rows: int = 6) -> Case:
    """Rows of four."""
    return case_of("add_rms_norm_dynamic_quant", [("x1", dtype, (rows, 4)), ("x2", dtype, (rows, 4)), ("gamma", dtype, (4,))], epsilon=1e-6)


def test_a_normalised_sum_is_written_three_ways() -> None:
    works = by_choice(add_rms_norm_dynamic_quant_silicon(norm_case(F16), A2))
    half, mixed = works["half arithmetic"], works["float32 sum, half quantisation"]
    assert half.read_bytes == 2 * 24 * 2 + 4 * 2  # x1, x2, gamma
    assert half.write_bytes == 24 * 2 + 24 + 6 * 4  # xOut, y int8, a float32 scale for each of 6 rows
    assert half.vector_lanes == {F16: 24 * 6}  # Add, square into a sum, gamma, Abs, Max, MulCast
    assert mixed.vector_lanes == {F32: 24 * 5, F16: 24 * 5}  # Cast, Cast, Add, xOut, to half; square, gamma, Abs, Max, MulCast


def test_bfloat16_rows_have_their_own_arithmetic_on_the_later_chip_only() -> None:
    assert list(by_choice(add_rms_norm_dynamic_quant_silicon(norm_case(BF16), A2))) == ["float32 sum, half quantisation"]
    assert by_choice(add_rms_norm_dynamic_quant_silicon(norm_case(BF16), A5))["bfloat16 arithmetic"].vector_lanes == {BF16: 24 * 6}


def test_the_convention_of_the_normalised_sum_counts_in_float32() -> None:
    work = add_rms_norm_dynamic_quant_convention(norm_case(F16), "910b2")
    assert work.vector_lanes == {F32: 24 * 14 + 6 * 8}
    assert (work.read_bytes, work.write_bytes) == (2 * 24 * 2 + 4 * 2, 24 * 2 + 24 + 6 * 4)


def test_twice_the_rows_are_twice_the_bytes_but_for_gamma() -> None:
    one, two = (add_rms_norm_dynamic_quant_silicon(norm_case(F16, rows), A2)[0] for rows in (6, 12))
    assert two.read_bytes - 8 == 2 * (one.read_bytes - 8)
    assert two.write_bytes == 2 * one.write_bytes


def swiglu_case(dtype: DType, *, is_scaled: bool = False) -> Case:
    """x [2, 8]: y [2, 4]."""
    scales = [("weight_scale", F32, (1, 8)), ("activation_scale", F32, (2,))] if dtype is I32 else []
    quant = [("quant_scale", F32, (1, 4))] if is_scaled else []
    return case_of("dequant_swiglu_quant", [("x", dtype, (2, 8)), *scales, *quant], activate_left=False)


def test_accumulators_are_converted_in_passing_and_scaled_by_columns() -> None:
    (work,) = dequant_swiglu_quant_silicon(swiglu_case(I32), A2)
    assert work.read_bytes == 16 * 4 + 8 * 4 + 2 * 4  # x, weight_scale, activation_scale
    assert work.write_bytes == 8 + 2 * 4  # y int8, a float32 scale for each of 2 rows
    # A conversion for each of 16 elements; for each of 8 results: scale, Exp, Adds, Div, scale of the other half, Mul, Abs, Max, MulCast.
    assert work.vector_lanes == {F32: 16, F16: 8 * 9}


def test_quant_scale_is_read_where_given_and_goes_into_the_scales_of_accumulators() -> None:
    (plain,), (scaled,) = (dequant_swiglu_quant_silicon(swiglu_case(I32, is_scaled=is_scaled), A2) for is_scaled in (False, True))
    assert scaled.read_bytes == plain.read_bytes + 4 * 4
    assert scaled.vector_lanes == plain.vector_lanes


def test_quant_scale_costs_a_product_where_there_is_no_other_scale() -> None:
    plain, scaled = (by_choice(dequant_swiglu_quant_silicon(swiglu_case(F16, is_scaled=is_scaled), A2))["half arithmetic"] for is_scaled in (False, True))
    assert plain.vector_lanes == {F16: 8 * 8}  # sign, Exp, Adds, Div, Mul, Abs, Max, MulCast
    assert scaled.vector_lanes == {F16: 8 * 9}
    assert scaled.read_bytes == 16 * 2 + 4 * 4


def test_bfloat16_goes_through_float32_on_the_older_chip() -> None:
    (older,) = dequant_swiglu_quant_silicon(swiglu_case(BF16), A2)
    (later,) = dequant_swiglu_quant_silicon(swiglu_case(BF16), A5)
    assert older.vector_lanes == {F32: 16 * 2, F16: 8 * 8}
    assert later.vector_lanes == {BF16: 8 * 8}


def test_the_convention_of_swiglu_counts_by_elements_of_x() -> None:
    counts = [(I32, False, 9), (F16, False, 8), (F16, True, 8.5), (BF16, True, 8.5)]
    for dtype, is_scaled, per_element in counts:
        assert dequant_swiglu_quant_convention(swiglu_case(dtype, is_scaled=is_scaled), "910b2").vector_lanes == {F32: 16 * per_element}
