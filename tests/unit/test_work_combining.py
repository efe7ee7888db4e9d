"""Work of elementwise operators of several tensors, against small cases counted by hand."""

from __future__ import annotations

import pytest
from work_cases import BRAIN, BY_WAY, CHIP, HALF, LONG, NEWER, SINGLE, WORD, call, lanes_by_choice, moved, only, tensor

from piton.anchors.combining import (
    apply_adam_w_convention,
    apply_adam_w_silicon,
    apply_rotary_pos_emb_convention,
    apply_rotary_pos_emb_silicon,
    foreach_addcdiv_scalar_convention,
    foreach_addcdiv_scalar_silicon,
    gcd_convention,
    gcd_silicon,
    masked_scale_convention,
    masked_scale_silicon,
    maximum_convention,
    maximum_silicon,
)
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.operator import AttrValue

STEP: dict[str, AttrValue] = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "step": 1, "maximize": False}


def addcdiv(dtype: DType) -> Case:
    """Two entries of each list: 2 x 3 and 5 elements."""
    shapes = ((2, 3), (5,))
    return call(*(tensor(name, shape, dtype, list_index=place) for name in ("x1", "x2", "x3") for place, shape in enumerate(shapes)), scalar=0.5)


def adam_w(dtype: DType, lr: float = 0.1, weight_decay: float = 0.0) -> Case:
    return call(*(tensor(name, (4, 5), dtype) for name in ("var", "grad", "m", "v")), lr=lr, weight_decay=weight_decay, **STEP)


def rotary(heads: int, dtype: DType = SINGLE) -> Case:
    """2 sequences of 3 positions, heads of 8 elements; one angle per position and pair."""
    angles = (tensor(name, (3, 4), dtype) for name in ("cos", "sin"))
    return call(*(tensor(name, (2, 3, heads, 8), dtype) for name in ("query", "key")), *angles, layout=0, rotaryMode="half")


def test_addcdiv_reads_three_lists_and_writes_one() -> None:
    work = only(foreach_addcdiv_scalar_silicon(addcdiv(SINGLE), CHIP))
    assert moved(work) == (3 * (2 * 3 + 5) * 4, (2 * 3 + 5) * 4)
    assert work.vector_lanes == {SINGLE: 11 * (1 + 1)}  # Div, Axpy


def test_addcdiv_converts_three_operands_and_the_result() -> None:
    assert lanes_by_choice(foreach_addcdiv_scalar_silicon, addcdiv(BRAIN)) == {
        "float32 arithmetic": {SINGLE: 11 * (2 + 3 + 1)},
        BY_WAY: {HALF: 11 * 2, SINGLE: 11 * 2 * (3 + 1)},
    }


@pytest.mark.parametrize(
    ("x", "mask", "scale", "lanes"),
    [
        (SINGLE, SINGLE, 1.0, {"float32 arithmetic": {SINGLE: 6 * 1}}),  # Mul
        (SINGLE, SINGLE, 2.0, {"float32 arithmetic": {SINGLE: 6 * 2}}),  # and Muls
        (SINGLE, DType.INT8, 2.0, {"float32 arithmetic": {SINGLE: 6 * (2 + 1)}}),  # the mask is converted
        (HALF, HALF, 2.0, {"half arithmetic": {HALF: 6 * 2}, "float32 arithmetic": {SINGLE: 6 * (2 + 3)}}),  # x, mask and y are
        (HALF, DType.UINT8, 1.0, {"half arithmetic": {HALF: 6 * (1 + 1)}, "float32 arithmetic": {SINGLE: 6 * (1 + 3)}}),
        (BRAIN, SINGLE, 1.0, {"float32 arithmetic": {SINGLE: 6 * (1 + 2)}}),  # x and y are, the mask is not
    ],
)
def test_masked_scale_converts_what_is_of_another_type(x: DType, mask: DType, scale: float, lanes: dict[str, dict[DType, float]]) -> None:
    case = call(tensor("x", (2, 3), x), tensor("mask", (2, 3), mask), scale=scale)
    assert lanes_by_choice(masked_scale_silicon, case) == lanes


def test_masked_scale_reads_the_mask_in_its_own_type_whatever_the_scale() -> None:
    case = call(tensor("x", (2, 3), HALF), tensor("mask", (2, 3), DType.INT8), scale=0.0)
    assert {moved(work) for work in masked_scale_silicon(case, CHIP)} == {(6 * 2 + 6 * 1, 6 * 2)}


def test_maximum_reads_each_side_in_its_own_shape_and_writes_the_broadcast_one() -> None:
    work = only(maximum_silicon(call(tensor("x1", (3, 1, 4), WORD), tensor("x2", (5, 1), WORD)), CHIP))
    assert moved(work) == ((3 * 4 + 5) * 4, 3 * 5 * 4 * 4)
    assert work.vector_lanes == {WORD: 3 * 5 * 4}


def test_the_published_count_of_maximum_is_in_float32_for_bfloat16_only() -> None:
    counts = [maximum_convention(call(tensor("x1", (6,), dtype), tensor("x2", (6,), dtype)), "910b2").vector_lanes for dtype in (BRAIN, HALF)]
    assert counts == [{SINGLE: 6}, {HALF: 6}]


def test_euclid_takes_two_steps_at_least_by_the_published_count() -> None:
    case = call(tensor("x1", (30,), WORD, (0, 0)), tensor("x2", (30,), WORD, (0, 1)))
    assert gcd_convention(case, "910b2").vector_lanes == {WORD: 5 * 2 * 30}  # 1.7 stands for smaller numbers, and 1.618 < 1.7 < 1.618^2


def test_a_missing_axis_counts_as_one_of_length_1() -> None:
    case = call(tensor("x1", (1, 1, 4), SINGLE), tensor("x2", (5, 1), SINGLE))
    assert only(maximum_silicon(case, CHIP)).vector_lanes == {SINGLE: 1 * 5 * 4}


def test_the_published_counts_that_limit_no_case() -> None:
    x, mask = tensor("x", (2, 3), HALF), tensor("mask", (2, 3), DType.INT8)
    assert foreach_addcdiv_scalar_convention(addcdiv(HALF), "910b2").vector_lanes == {SINGLE: 11 * 6}
    assert masked_scale_convention(call(x, mask, scale=1.0), "910b2").vector_lanes == {SINGLE: 6 * 5}
    assert apply_adam_w_convention(adam_w(HALF), "910b2").vector_lanes == {SINGLE: 20 * 18}
    rotated = apply_rotary_pos_emb_convention(rotary(5, HALF), "910b2")
    assert rotated.vector_lanes == {SINGLE: 2 * 240 * 4}  # query and key
    assert rotated.write_bytes == 2 * 240 * 2


def test_the_broadcast_shape_may_be_larger_than_either_side() -> None:
    case = call(tensor("x1", (3, 1), SINGLE), tensor("x2", (4,), SINGLE))
    assert moved(maximum_convention(case, "910b2")) == ((3 + 4) * 4, 3 * 4 * 4)


def test_maximum_of_bytes_goes_through_half_on_the_older_chip() -> None:
    case = call(tensor("x1", (10,), DType.INT8), tensor("x2", (10,), DType.INT8))
    assert lanes_by_choice(maximum_silicon, case) == {"half arithmetic": {HALF: 10 * (1 + 2 + 1)}}  # Max, both sides in, one result out
    assert lanes_by_choice(maximum_silicon, case, NEWER) == {"int8 arithmetic": {DType.INT8: 10}}


def test_gcd_takes_one_instruction_per_result_at_least() -> None:
    work = only(gcd_silicon(call(tensor("x1", (6, 5), LONG, (-9, 9)), tensor("x2", (5,), LONG, (1, 9))), CHIP))
    assert moved(work) == ((30 + 5) * 8, 30 * 8)
    assert work.vector_lanes == {LONG: 30}


def test_the_published_count_of_gcd_takes_the_most_steps_of_euclid_on_one_edition_only() -> None:
    case = call(tensor("x1", (6, 5), WORD, (-12, 7)), tensor("x2", (5,), WORD, (0, 3)))
    assert gcd_convention(case, "910b2").vector_lanes == {WORD: 5 * 6 * 30}  # 1.618^5 = 11.1 < 12 < 17.9 = 1.618^6
    assert gcd_convention(case, "950pr").vector_lanes == {}


def test_adam_w_reads_four_tensors_and_writes_the_parameters_only() -> None:
    work = only(apply_adam_w_silicon(adam_w(SINGLE), CHIP))
    assert moved(work) == (4 * 20 * 4, 20 * 4)
    assert work.vector_lanes == {SINGLE: 20 * (1 + 1 + 1 + 1 + 1 + 1 + 1)}  # Mul, Axpy, Sqrt, Adds, Axpy, Div, Axpy


def test_weight_decay_takes_one_instruction_more_unless_the_step_is_0() -> None:
    counts = [only(apply_adam_w_silicon(adam_w(SINGLE, lr, 0.01), CHIP)).vector_lanes[SINGLE] for lr in (0.1, 0.0)]
    assert counts == [20 * 8, 20 * 7]


def test_adam_w_converts_four_operands_and_one_result() -> None:
    assert lanes_by_choice(apply_adam_w_silicon, adam_w(BRAIN)) == {"float32 arithmetic": {SINGLE: 20 * (7 + 5)}, BY_WAY: {HALF: 20 * 7, SINGLE: 20 * 2 * 5}}


def test_the_published_count_of_adam_w_writes_the_moments_too() -> None:
    assert moved(apply_adam_w_convention(adam_w(HALF), "910b2")) == (4 * 20 * 2, 3 * 20 * 2)


def test_rotary_reads_the_angles_once_and_takes_three_instructions_per_pair() -> None:
    work = only(apply_rotary_pos_emb_silicon(rotary(heads=5), CHIP))
    elements = 2 * 3 * 5 * 8
    assert moved(work) == ((2 * elements + 2 * 3 * 4) * 4, 2 * elements * 4)
    assert work.vector_lanes == {SINGLE: 2 * (elements // 2) * 3}  # query and key, one pair per two elements, three shears


def test_rotary_converts_every_element_of_both_tensors_twice() -> None:
    elements = 2 * 3 * 5 * 8
    lanes = lanes_by_choice(apply_rotary_pos_emb_silicon, rotary(5, BRAIN))
    turns, conversions = 2 * (elements // 2) * 3, 2 * elements * 2
    assert lanes == {"float32 arithmetic": {SINGLE: turns + conversions}, BY_WAY: {HALF: turns, SINGLE: 2 * conversions}}


def test_more_heads_share_the_angles() -> None:
    one, two = (only(apply_rotary_pos_emb_silicon(rotary(heads), CHIP)).read_bytes for heads in (5, 10))
    assert two - one == 2 * (2 * 3 * 5 * 8) * 4  # query and key grow, cos and sin do not
