"""Work of products with quantised operands and of groups, against small cases counted by hand."""

from __future__ import annotations

import pytest
from work_cases import BRAIN, CHIP, HALF, NEWER, SINGLE, WORD, call, moved, only, tensor

from piton.anchors.grouped_products import (
    grouped_matmul_convention,
    grouped_matmul_silicon,
    grouped_matmul_swiglu_quant_convention,
    grouped_matmul_swiglu_quant_silicon,
)
from piton.anchors.matmul import quant_matmul_silicon, weight_quant_batch_matmul_convention, weight_quant_batch_matmul_silicon
from piton.anchors.work import Work
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.hardware import Hardware

BYTE = DType.INT8


def quant(*more: CaseInput, output_dtype: str | None = None, batch: int = 2) -> Case:
    """Products [3, 32] x [32, 5], one fractal and one step of the cube each."""
    matrices = (tensor("x1", (batch, 3, 32), BYTE), tensor("x2", (batch, 32, 5), BYTE), tensor("scale", (5,), SINGLE))
    return call(*matrices, *more, output_dtype=output_dtype)


def path_of(work: Work) -> tuple[float, ...]:
    assert work.path is not None
    return (work.path.l2_read_bytes, work.path.l0a_bytes, work.path.l0b_bytes, work.path.l0c_elements, work.path.mte3_bytes)


def test_quant_matmul_reads_matrices_and_scale_and_writes_half() -> None:
    work = only(quant_matmul_silicon(quant(), CHIP))
    assert moved(work) == (2 * (3 * 32 + 32 * 5) + 5 * 4, 2 * 3 * 5 * 2)
    assert work.cube_flops == {BYTE: 2 * 2 * 3 * 32 * 5}
    assert (work.vector_lanes, work.writes_from_cube) == ({}, True)


def test_two_products_of_one_fractal_keep_two_of_24_cores_busy() -> None:
    """Every amount is that of one busy core, times 24: 16 x 16 x 32 multiply-adds, 16 rows of 32 B into L0A and L0B, 256 B read, 15 results."""
    work = only(quant_matmul_silicon(quant(), CHIP))
    assert work.path is not None
    assert work.path.cube_flops == {BYTE: 24 * 2 * 16 * 16 * 32}
    assert path_of(work) == (24 * (3 * 32 + 32 * 5), 24 * 16 * 32, 24 * 16 * 32, 24 * 15, 0)


def test_twice_the_batch_moves_twice_the_matrices() -> None:
    one, two = (only(quant_matmul_silicon(quant(batch=batch), CHIP)) for batch in (2, 4))
    assert two.read_bytes - 5 * 4 == 2 * (one.read_bytes - 5 * 4)
    assert two.write_bytes == 2 * one.write_bytes


def test_a_matrix_shared_by_all_rows_is_read_once() -> None:
    case = call(tensor("x1", (7, 3, 32), BYTE), tensor("x2", (32, 5), BYTE), tensor("scale", (1,), SINGLE), output_dtype=None)
    assert only(quant_matmul_silicon(case, CHIP)).read_bytes == 7 * 3 * 32 + 32 * 5 + 4


ROW_SCALE, OFFSET = tensor("pertoken_scale", (3,), SINGLE), tensor("offset", (5,), SINGLE)
WHOLE_BIAS, FLOAT_BIAS = tensor("bias", (5,), WORD), tensor("bias", (5,), SINGLE)


@pytest.mark.parametrize(
    ("more", "output_dtype", "chip", "instructions"),
    [
        ((WHOLE_BIAS,), None, CHIP, 0),  # bias table and scale in passing
        ((ROW_SCALE,), None, CHIP, 1),  # Muls
        ((FLOAT_BIAS,), None, CHIP, 1),  # Add
        ((ROW_SCALE, FLOAT_BIAS), None, CHIP, 1),  # one multiply-add
        ((OFFSET, FLOAT_BIAS), None, CHIP, 1),  # one sum of columns
        ((OFFSET, ROW_SCALE), None, CHIP, 2),  # Add, then Muls
        ((), "bfloat16", CHIP, 1),  # accumulators of integers become half only
        ((), "bfloat16", NEWER, 0),
    ],
)
def test_what_the_accumulators_cannot_do_on_their_way_out_takes_instructions(
    more: tuple[CaseInput, ...], output_dtype: str | None, chip: Hardware, instructions: int
) -> None:
    work = only(quant_matmul_silicon(quant(*more, output_dtype=output_dtype), chip))
    assert work.vector_lanes == ({HALF: 2 * 3 * 5 * instructions} if instructions else {})
    assert work.writes_from_cube is (instructions == 0)
    assert work.read_bytes == 2 * (3 * 32 + 32 * 5) + 5 * 4 + sum(item.elements * 4 for item in more)


def test_results_reach_vector_cores_through_global_memory_on_the_older_architecture_only() -> None:
    older, newer = (only(quant_matmul_silicon(quant(ROW_SCALE), chip)) for chip in (CHIP, NEWER))
    assert path_of(older)[0] == 24 * (3 * 32 + 32 * 5) + 2 * (2 * 3 * 5)
    assert path_of(newer)[0] == 32 * (3 * 32 + 32 * 5)


def weight_quant(rows: int = 1) -> Case:
    return call(tensor("x", (rows, 32), HALF), tensor("weight", (32, 16), BYTE), tensor("antiquantScale", (16,), HALF))


def test_int8_weights_are_converted_one_by_one_or_meet_activations_in_two_pieces() -> None:
    converted, pieces = weight_quant_batch_matmul_silicon(weight_quant(), CHIP)
    assert moved(converted) == moved(pieces) == (1 * 32 * 2 + 32 * 16 * 1 + 16 * 2, 16 * 2)
    assert converted.choice.startswith("weights converted")
    assert converted.cube_flops == {HALF: 2 * 1 * 32 * 16}
    assert converted.vector_lanes == {HALF: 32 * 16}
    assert path_of(converted)[4] == 2 * 32 * 16
    assert pieces.choice.startswith("x in two int8 pieces")
    assert pieces.cube_flops == {BYTE: 2 * (2 * 1) * 32 * 16}
    assert pieces.vector_lanes == {HALF: 5 * 32 + 16}
    assert (converted.writes_from_cube, pieces.writes_from_cube) == (True, False)


def test_what_the_cube_reads_of_an_activation_or_a_weight_has_the_size_it_is_handed_over_in() -> None:
    """x [3, 16], weight [16, 16]: one fractal, one of 24 cores. Converted: x and half weights; in pieces: two bytes a number of x, and weights."""
    case = call(tensor("x", (3, 16), HALF), tensor("weight", (16, 16), BYTE), tensor("antiquantScale", (16,), HALF))
    converted, pieces = weight_quant_batch_matmul_silicon(case, CHIP)
    assert path_of(converted)[0] == 24 * (3 * 16 * 2 + 16 * 16 * 2)
    assert path_of(pieces)[0] == 24 * (2 * 3 * 16 + 16 * 16) + 2 * (2 * 3 * 16)  # and both sums to the vector cores
    assert path_of(pieces)[4] == 2 * 3 * 16


def test_converted_weights_do_not_pass_through_global_memory_on_the_newer_architecture() -> None:
    assert path_of(weight_quant_batch_matmul_silicon(weight_quant(), NEWER)[0])[4] == 0


def test_an_omitted_offset_is_not_read() -> None:
    case = weight_quant()
    more = case.model_copy(update={"inputs": (*case.inputs, tensor("antiquantOffset", (16,), HALF))})
    published = [weight_quant_batch_matmul_convention(item, "910b2").read_bytes for item in (case, more)]
    physical = [weight_quant_batch_matmul_silicon(item, CHIP)[0].read_bytes for item in (case, more)]
    assert (published[1] - published[0], physical[1] - physical[0]) == (16 * 2, 16 * 2)


def grouped(dtype: DType = HALF, *, ends: tuple[int, ...] = (2, 2, 5), is_transposed: bool = False, has_bias: bool = True) -> Case:
    """5 rows of 16 in groups of 2, 0 and 3; matrices [16, 8]."""
    matrices = tensor("weight", (3, 8, 16) if is_transposed else (3, 16, 8), dtype)
    bias = (tensor("bias", (3, 8), SINGLE if dtype is BRAIN else dtype),) if has_bias else ()
    return call(tensor("x", (5, 16), dtype), matrices, *bias, group_list=ends, split_item=0, transpose_weight=is_transposed)


def test_groups_read_their_rows_and_matrices() -> None:
    """Two groups of one fractal on two of 24 cores: the amounts of both, times 12."""
    work = only(grouped_matmul_silicon(grouped(has_bias=False), CHIP))
    assert path_of(work)[0] == 12 * (2 * 16 * 2 + 3 * 16 * 2 + 2 * (16 * 8 * 2))


@pytest.mark.parametrize("is_transposed", [False, True])
def test_an_empty_group_has_no_matrix_and_no_bias_to_read(is_transposed: bool) -> None:
    work = only(grouped_matmul_silicon(grouped(is_transposed=is_transposed), CHIP))
    assert moved(work) == (5 * 16 * 2 + 2 * (16 * 8 * 2) + 2 * (8 * 2), 5 * 8 * 2)
    assert work.cube_flops == {HALF: 2 * 5 * 16 * 8}
    assert work.writes_from_cube


def test_float32_biases_beside_bfloat16_have_four_bytes_and_none_cost_none() -> None:
    reads = {has_bias: only(grouped_matmul_silicon(grouped(BRAIN, has_bias=has_bias), CHIP)).read_bytes for has_bias in (False, True)}
    assert reads == {False: 5 * 16 * 2 + 2 * (16 * 8 * 2), True: 5 * 16 * 2 + 2 * (16 * 8 * 2) + 2 * (8 * 4)}


def test_float32_products_may_be_rounded_to_hf32() -> None:
    rounded, whole = grouped_matmul_silicon(grouped(SINGLE), CHIP)
    assert (rounded.cube_flops, whole.cube_flops) == ({DType.HIFLOAT32: 2 * 5 * 16 * 8}, {SINGLE: 2 * 5 * 16 * 8})


def test_edition_910b2_reads_the_matrices_of_all_groups_and_950pr_those_with_rows() -> None:
    assert grouped_matmul_convention(grouped(), "910b2").read_bytes == 5 * 16 * 2 + 3 * (16 * 8 * 2 + 8 * 2)
    assert grouped_matmul_convention(grouped(), "950pr").read_bytes == 5 * 16 * 2 + 2 * (16 * 8 * 2 + 8 * 2)


def test_no_rows_are_no_work_but_nothing_breaks() -> None:
    case = call(tensor("x", (0, 16), HALF), tensor("weight", (1, 16, 8), HALF), group_list=(0,), split_item=0, transpose_weight=False)
    work = only(grouped_matmul_silicon(case, CHIP))
    assert (moved(work), work.cube_flops) == ((0, 0), {})


def swiglu(ends: tuple[int, ...]) -> Case:
    """6 rows of 32, matrices [32, 10] of two groups."""
    matrices = (tensor("weight", (2, 32, 10), BYTE), tensor("weight_scale", (2, 10), SINGLE))
    return call(tensor("x", (6, 32), BYTE), *matrices, tensor("x_scale", (6,), SINGLE), group_list=ends)


def test_swiglu_quant_gates_half_the_columns_and_writes_int8_with_a_scale_per_row() -> None:
    work = only(grouped_matmul_swiglu_quant_silicon(swiglu((2, 6)), CHIP))
    assert moved(work) == (6 * 32 + 6 * 4 + 2 * (32 * 10 + 10 * 4), 6 * 5 + 6 * 4)
    assert work.cube_flops == {BYTE: 2 * 6 * 32 * 10}
    assert work.vector_lanes == {HALF: 8 * 6 * 5}


def test_rows_behind_the_last_group_are_written_and_not_read() -> None:
    work = only(grouped_matmul_swiglu_quant_silicon(swiglu((4, 4)), CHIP))
    assert moved(work) == (4 * 32 + 4 * 4 + 1 * (32 * 10 + 10 * 4), 6 * 5 + 6 * 4)
    assert work.vector_lanes == {HALF: 8 * 4 * 5}


def test_the_editions_of_swiglu_quant_differ_in_groups_without_rows() -> None:
    reads = [grouped_matmul_swiglu_quant_convention(swiglu((6, 6)), edition).read_bytes for edition in ("910b2", "950pr")]
    assert reads == [6 * 32 + 6 * 4 + 2 * (32 * 10 + 10 * 4), 6 * 32 + 6 * 4 + 1 * (32 * 10 + 10 * 4)]
