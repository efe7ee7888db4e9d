"""Work of reductions and running results, against small cases counted by hand."""

from __future__ import annotations

import math

import pytest
from work_cases import BRAIN, BY_WAY, CHIP, HALF, LONG, SINGLE, WORD, call, lanes_by_choice, moved, only, tensor

from piton.anchors.reduction import (
    arg_max_convention,
    arg_max_silicon,
    cross_entropy_loss_convention,
    cross_entropy_loss_silicon,
    cummin_convention,
    cummin_silicon,
    foreach_norm_convention,
    foreach_norm_silicon,
    unsorted_segment_sum_convention,
    unsorted_segment_sum_silicon,
)
from piton.core.case import Case
from piton.core.dtype import DType


def norm(order: float, dtype: DType = SINGLE) -> Case:
    """Two tensors, 2 x 3 and 5 elements."""
    return call(tensor("x", (2, 3), dtype, list_index=0), tensor("x", (5,), dtype, list_index=1), scalar=order)


def loss(shape: tuple[int, ...], target: DType = LONG, reduction: str = "mean", dtype: DType = SINGLE) -> Case:
    targets = shape if target.is_floating else (shape[0], *shape[2:])
    return call(tensor("input", shape, dtype), tensor("target", targets, target, (0, shape[1] - 1)), reduction=reduction, ignore_index=-100)


def segments(rows: int, count: int, dtype: DType) -> Case:
    return call(tensor("data", (rows, 4), dtype), tensor("segment_ids", (rows,), WORD, (0, count - 1)), num_segments=count)


@pytest.mark.parametrize(
    ("order", "instructions"),
    [
        (0.0, 1),  # Compare
        (1.0, 2),  # Abs, Add
        (2.0, 1),  # MulAddDst
        (math.inf, 2),  # Abs, Max
        (-math.inf, 2),  # Abs, Min
        (3.0, 3),  # Abs, Mul, MulAddDst
        (4.0, 2),  # Mul, MulAddDst
        (6.0, 3),  # Mul, Mul, MulAddDst
        (5.0, 4),  # Abs, Mul, Mul, MulAddDst
        (10.0, 4),
        (-1.0, 3),  # Reciprocal, Abs, Add
        (-2.0, 2),  # Reciprocal, MulAddDst
        (0.5, 3),  # Abs, Sqrt, Add
        (1.5, 3),  # Abs, Sqrt, MulAddDst
        (0.25, 4),  # Abs, Sqrt, Sqrt, Add
        (0.75, 4),  # Abs, Sqrt, Sqrt, MulAddDst
        (1.2, 5),
        (1.35, 5),  # Abs, Ln, Muls, Exp, Add
        (-20.0, 5),  # by logarithms: no more than any other order
    ],
)
def test_foreach_norm_counts_the_shortest_power(order: float, instructions: int) -> None:
    work = only(foreach_norm_silicon(norm(order), CHIP))
    assert moved(work) == ((2 * 3 + 5) * 4, 2 * 4)  # one number per tensor
    assert work.vector_lanes == {SINGLE: 11 * instructions}


def test_foreach_norm_converts_what_it_reads_and_nothing_that_it_writes() -> None:
    assert lanes_by_choice(foreach_norm_silicon, norm(2.0, BRAIN)) == {"float32 arithmetic": {SINGLE: 11 * (1 + 1)}, BY_WAY: {HALF: 11, SINGLE: 11 * 2}}


def test_the_published_norm_writes_four_bytes_per_tensor_in_every_type() -> None:
    assert moved(foreach_norm_convention(norm(2.0, HALF), "910b2")) == (22, 8)
    assert [foreach_norm_convention(norm(order), "910b2").vector_lanes[SINGLE] for order in (2.0, 3.0)] == [11 * 3, 11 * 7]


def test_the_published_norm_takes_some_orders_for_simple() -> None:
    simple = [foreach_norm_convention(norm(order), "910b2").vector_lanes[SINGLE] for order in (0.0, 1.0, 2.0, -1.0, math.inf, -math.inf)]
    others = [foreach_norm_convention(norm(order), "910b2").vector_lanes[SINGLE] for order in (3.0, -2.0, 0.5)]
    assert (simple, others) == ([11 * 3] * 6, [11 * 7] * 3)
    assert foreach_norm_convention(norm(1.0, HALF), "910b2").vector_lanes == {SINGLE: 11 * 4}


@pytest.mark.parametrize(
    ("shape", "dtype", "per_score"),
    [((10, 7), SINGLE, 5), ((10, 7), HALF, 6), ((5, 7, 2), SINGLE, 6), ((5, 7, 2), BRAIN, 7)],
)
def test_the_published_count_of_cross_entropy_has_six_instructions_per_position(shape: tuple[int, ...], dtype: DType, per_score: int) -> None:
    work = cross_entropy_loss_convention(loss(shape, dtype=dtype), "910b2")
    assert work.vector_lanes[SINGLE] == pytest.approx(70 * per_score + 10 * 6)
    assert moved(work) == (70 * dtype.bits // 8 + 10 * 8, 0)


def test_the_published_counts_in_bfloat16_are_of_float32_lanes_but_for_segment_sums() -> None:
    x = tensor("input", (3, 5), BRAIN)
    assert arg_max_convention(call(x, dim=1, keepdim=False), "910b2").vector_lanes == {SINGLE: 15 * 2}
    assert cummin_convention(call(x, dim=1), "910b2").vector_lanes == {SINGLE: 15 * 3}
    assert unsorted_segment_sum_convention(segments(10, 3, BRAIN), "910b2").vector_lanes == {BRAIN: 10 * 4}
    assert arg_max_convention(call(tensor("input", (3, 5), HALF), dim=1, keepdim=False), "910b2").vector_lanes == {HALF: 15 * 2}


def test_arg_max_takes_one_instruction_per_element_and_writes_an_index_per_line() -> None:
    work = only(arg_max_silicon(call(tensor("input", (3, 4, 5), WORD), dim=1, keepdim=False), CHIP))
    assert moved(work) == (3 * 4 * 5 * 4, 3 * 5 * 8)
    assert work.vector_lanes == {WORD: 60}


def test_arg_max_converts_bfloat16_on_its_way_in() -> None:
    assert lanes_by_choice(arg_max_silicon, call(tensor("input", (6,), BRAIN), dim=0, keepdim=False)) == {
        "float32 arithmetic": {SINGLE: 6 * 2},
        BY_WAY: {HALF: 6, SINGLE: 6 * 2},
    }


def test_a_nan_ends_the_search_of_its_line_for_a_largest_value() -> None:
    """At most 2048 NaN stand at the ends: in 1 of 1 line, or in 3 of 3, or in 2048 of 5000."""
    read = [only(arg_max_silicon(call(tensor("input", shape, SINGLE, (math.nan, 2.0)), dim=dim, keepdim=False), CHIP)).read_bytes for shape, dim in NAN_SHAPES]
    assert read == [1 * 4, 3 * 4, (5000 * 4 - 2048 * (4 - 1)) * 4]


NAN_SHAPES = [((7,), -1), ((3, 4), -1), ((4, 5000), 0)]


def test_arg_max_of_an_axis_of_one_reads_nothing() -> None:
    work = only(arg_max_silicon(call(tensor("input", (3, 1, 5), SINGLE), dim=-2, keepdim=True), CHIP))
    assert (moved(work), work.vector_lanes) == ((0, 3 * 5 * 8), {})


def test_the_published_count_of_arg_max_leaves_the_indices_out() -> None:
    assert arg_max_convention(call(tensor("input", (3, 4), SINGLE), dim=1, keepdim=False), "950pr").write_bytes == 0


def test_cross_entropy_of_classes_reads_the_scores_that_count() -> None:
    work = only(cross_entropy_loss_silicon(loss((100, 7)), CHIP))
    counted = 100 - 30 - 20  # 30 % ignored, 2 sqrt(100) more by chance
    assert moved(work) == (100 * 8 + counted * 7 * 4, 4)
    assert work.vector_lanes == {SINGLE: counted * 7 * (1 + 1)}  # Exp, Add


def test_scores_of_neighbouring_positions_are_ignored_together_or_read() -> None:
    work = only(cross_entropy_loss_silicon(loss((100, 7, 2)), CHIP))
    read = 200 * (1 - 0.3 * 0.3) - 2 * math.sqrt(200)  # 2 positions in each block of 32 bytes, both ignored: 0.3^2; 153.7
    counted = 200 * (1 - 0.3) - 2 * math.sqrt(200)  # 111.7
    assert moved(work) == (200 * 8 + math.floor(read) * 7 * 4, 4)
    assert work.vector_lanes == {SINGLE: math.floor(counted) * 7 * 2}


def test_a_block_of_many_positions_is_hardly_ever_ignored() -> None:
    work = only(cross_entropy_loss_silicon(loss((1000, 2, 1000)), CHIP))
    read = 1e6 - 65.61 - 2000  # 8 positions in each block of 32 bytes, all ignored: 1e6 x 0.3^8; 2 sqrt(1e6) by chance
    assert work.read_bytes == 10**6 * 8 + math.floor(read) * 2 * 4


def test_cross_entropy_of_few_positions_may_need_no_scores_at_all() -> None:
    assert moved(only(cross_entropy_loss_silicon(loss((4, 7)), CHIP))) == (4 * 8, 4)


def test_probabilities_are_read_whole_and_take_two_instructions_more() -> None:
    work = only(cross_entropy_loss_silicon(loss((100, 7), SINGLE), CHIP))
    assert moved(work) == (2 * 100 * 7 * 4, 4)
    assert work.vector_lanes == {SINGLE: 700 * (2 + 2)}


def test_scores_and_probabilities_are_both_converted() -> None:
    lanes = lanes_by_choice(cross_entropy_loss_silicon, loss((100, 7), BRAIN, dtype=BRAIN))
    assert lanes == {"float32 arithmetic": {SINGLE: 700 * (4 + 2)}, BY_WAY: {HALF: 700 * 4, SINGLE: 700 * 2 * 2}}
    assert lanes_by_choice(cross_entropy_loss_silicon, loss((100, 7), dtype=BRAIN))["float32 arithmetic"] == {SINGLE: 50 * 7 * (2 + 1)}


def test_losses_are_written_for_every_position_without_a_reduction() -> None:
    assert only(cross_entropy_loss_silicon(loss((100, 7), reduction="none"), CHIP)).write_bytes == 100 * 4


def test_cummin_writes_a_value_and_an_index_for_every_element() -> None:
    work = only(cummin_silicon(call(tensor("input", (3, 5), SINGLE), dim=0), CHIP))
    assert moved(work) == (15 * 4, 15 * (4 + 8))
    assert work.vector_lanes == {SINGLE: 15 * 2, WORD: 15, LONG: 15}  # Min, Compare; Select of the place; the place to int64


def test_cummin_of_integers_adds_the_place_to_the_same_lanes() -> None:
    assert only(cummin_silicon(call(tensor("input", (3, 5), WORD), dim=0), CHIP)).vector_lanes == {WORD: 15 * 3, LONG: 15}


def test_cummin_converts_bfloat16_on_its_way_in_and_out() -> None:
    assert only(cummin_silicon(call(tensor("input", (3, 5), BRAIN), dim=0), CHIP)).vector_lanes == {SINGLE: 15 * 4, WORD: 15, LONG: 15}


def test_cummin_of_an_axis_of_one_is_a_copy() -> None:
    work = only(cummin_silicon(call(tensor("input", (15, 1), HALF), dim=-1), CHIP))
    assert (moved(work), work.vector_lanes) == ((30, 15 * (2 + 8)), {})


def test_the_published_count_of_cummin_is_a_scan_in_doubling_steps() -> None:
    work = cummin_convention(call(tensor("input", (3, 5), HALF), dim=-1), "910b2")
    assert moved(work) == (30, 30)
    assert work.vector_lanes == {HALF: 15 * 3}  # 2^2 < 5 <= 2^3


def test_segment_sums_add_what_is_not_first_or_let_the_stores_add() -> None:
    added, stored = unsorted_segment_sum_silicon(segments(10, 3, SINGLE), CHIP)
    assert moved(added) == (10 * 4 * 4 + 10 * 4, 3 * 4 * 4)
    assert added.vector_lanes == {SINGLE: (10 - 3) * 4}
    assert moved(stored) == (added.read_bytes, 10 * 4 * 4)
    assert stored.vector_lanes == {}


def test_segments_without_rows_are_written_and_nothing_is_added() -> None:
    added, stored = unsorted_segment_sum_silicon(segments(3, 10, SINGLE), CHIP)
    assert added.vector_lanes == {SINGLE: 0}
    assert added.write_bytes == stored.write_bytes == 10 * 4 * 4


def test_stores_do_not_add_64_bit_integers() -> None:
    assert only(unsorted_segment_sum_silicon(segments(10, 3, LONG), CHIP)).vector_lanes == {LONG: (10 - 3) * 4}


def test_segment_sums_of_bfloat16_convert_what_they_add() -> None:
    assert lanes_by_choice(unsorted_segment_sum_silicon, segments(10, 3, BRAIN))["float32 arithmetic"] == {SINGLE: 7 * 4 * 2}
