"""Are bytes and instructions of the routing of experts those that one counts by hand?"""

from __future__ import annotations

import pytest
from vector_work_cases import A2, A5, Tensor, by_choice, case_of

from piton.anchors.routing import (
    moe_finalize_routing_convention,
    moe_finalize_routing_silicon,
    moe_gating_top_k_softmax_convention,
    moe_gating_top_k_softmax_silicon,
    moe_re_routing_convention,
    moe_re_routing_silicon,
)
from piton.core.case import Case
from piton.core.dtype import DType

F16, F32, BF16, I32, I64 = DType.FLOAT16, DType.FLOAT32, DType.BFLOAT16, DType.INT32, DType.INT64


def gating_case(dtype: DType, *, has_finished: bool = False, rows: int = 2, k: int = 2) -> Case:
    """Eight experts, two of which are chosen."""
    finished = [("finished", DType.BOOL, (rows,))] if has_finished else []
    return case_of("moe_gating_top_k_softmax", [("x", dtype, (rows, 8)), *finished], k=k)


def test_gating_reads_logits_and_writes_three_results_per_choice() -> None:
    (work,) = moe_gating_top_k_softmax_silicon(gating_case(F32, has_finished=True), A2)
    assert work.read_bytes == 16 * 4 + 2  # x [2, 8], finished [2]
    assert work.write_bytes == 4 * (4 + 4 + 4)  # y, expert_idx, row_idx [2, 2]
    assert work.vector_lanes == {F32: 16 * 3}  # Max, Exp, Add


def test_gating_without_finished_reads_none() -> None:
    (work,) = moe_gating_top_k_softmax_silicon(gating_case(F32), A2)
    assert work.read_bytes == 16 * 4


def test_gating_of_sixteen_bits() -> None:
    works = by_choice(moe_gating_top_k_softmax_silicon(gating_case(F16), A2))
    assert works["half arithmetic"].vector_lanes == {F16: 16 * 3}
    assert works["float32 arithmetic"].vector_lanes == {F32: 16 * 4}  # a Cast each
    assert by_choice(moe_gating_top_k_softmax_silicon(gating_case(BF16), A5))["bfloat16 arithmetic"].vector_lanes == {BF16: 16 * 3}


def test_twice_the_rows_are_twice_the_bytes_of_gating() -> None:
    (one,), (two,) = (moe_gating_top_k_softmax_silicon(gating_case(F32, has_finished=True, rows=rows), A2) for rows in (2, 4))
    assert (two.read_bytes, two.write_bytes) == (2 * one.read_bytes, 2 * one.write_bytes)


@pytest.mark.parametrize(("dtype", "has_finished", "per_row"), [(F32, False, 10 * 8 + 2), (F32, True, 10 * 8 + 4), (F16, False, 11 * 8 + 4)])
def test_the_convention_of_gating_counts_a_tournament_of_two(dtype: DType, has_finished: bool, per_row: int) -> None:
    assert moe_gating_top_k_softmax_convention(gating_case(dtype, has_finished=has_finished), "910b2").vector_lanes == {F32: 2 * per_row}


def test_the_convention_of_gating_with_one_choice_has_no_tournament() -> None:
    assert moe_gating_top_k_softmax_convention(gating_case(F32, k=1), "910b2").vector_lanes == {F32: 2 * (9 * 8 + 1)}


def re_routing_case(*, has_scales: bool) -> Case:
    """Six tokens of four, from two ranks to three experts."""
    scales = [("per_token_scales", F32, (6,))] if has_scales else []
    tensors = [("tokens", BF16, (6, 4)), ("expert_token_num_per_rank", I64, (2, 3)), *scales]
    return case_of("moe_re_routing", tensors, expert_token_num_type=1, idx_type=0)


@pytest.mark.parametrize("has_scales", [False, True])
def test_re_routing_moves_tokens_and_writes_scales_whether_given_or_not(has_scales: bool) -> None:
    (work,) = moe_re_routing_silicon(re_routing_case(has_scales=has_scales), A2)
    assert work.read_bytes == 24 * 2 + 6 * 8 + (6 * 4 if has_scales else 0)  # tokens, counts int64, scales
    assert work.write_bytes == 24 * 2 + 6 * 4 + 6 * 4 + 3 * 8  # tokens, scales, int32 indices, counts per expert
    assert work.vector_lanes == {I32: 6}


def test_the_convention_of_re_routing_writes_tokens_only() -> None:
    assert moe_re_routing_convention(re_routing_case(has_scales=True), "910b2").write_bytes == 24 * 2


def finalize_case(dtype: DType, extra: list[Tensor], *, mode: int = 0, rows: tuple[int, ...] = (6, 4)) -> Case:
    """Six choices, rows of four."""
    tensors = [("expanded_permuted_rows", dtype, rows), ("expanded_src_to_dst_row", I32, (6,)), *extra]
    return case_of("moe_finalize_routing", tensors, drop_pad_mode=mode)


def test_two_choices_and_a_skip_are_three_summands_of_which_the_skip_is_free() -> None:
    works = by_choice(moe_finalize_routing_silicon(finalize_case(F16, [("skip1", F16, (3, 4)), ("scales", F16, (3, 2))]), A2))
    half = works["half arithmetic"]
    assert half.read_bytes == 24 * 2 + 6 * 4 + 12 * 2 + 6 * 2  # rows, indices, skip1, scales
    assert half.write_bytes == 12 * 2  # three tokens of four
    assert half.vector_lanes == {F16: 12 * 2}  # a multiply-add for each of two choices on top of the skip
    assert works["float32 arithmetic"].vector_lanes == {F32: 12 * 2 + 36 + 12}  # Cast of 24 + 12 elements and back of 12


def test_rows_without_scales_and_skips_are_copied() -> None:
    (work,) = moe_finalize_routing_silicon(finalize_case(F32, []), A2)
    assert (work.read_bytes, work.write_bytes) == (24 * 4 + 6 * 4, 24 * 4)
    assert work.vector_lanes == {F32: 0}


def test_a_weight_costs_an_instruction_even_for_the_only_summand() -> None:
    (work,) = moe_finalize_routing_silicon(finalize_case(F32, [("scales", F32, (6, 1))]), A2)
    assert work.vector_lanes == {F32: 24}


def test_a_second_skip_is_read_and_added() -> None:
    (work,) = moe_finalize_routing_silicon(finalize_case(F32, [("skip1", F32, (6, 4)), ("skip2", F32, (6, 4))]), A2)
    assert work.read_bytes == 24 * 4 + 6 * 4 + 2 * 24 * 4
    assert work.vector_lanes == {F32: 24 + 24}  # the row and one skip on top of the other


@pytest.mark.parametrize("mode", [1, 3])
def test_only_choices_that_surely_find_a_place_are_read_with_padding(mode: int) -> None:
    (work,) = moe_finalize_routing_silicon(finalize_case(F32, [("scales", F32, (3, 2))], mode=mode, rows=(2, 2, 4)), A2)
    assert work.read_bytes == 2 * 4 * 4 + 6 * 4 + 2 * 4  # two rows of four (the least that blocks of two hold), all indices, two scales


def test_many_choices_fill_the_blocks_up_to_chance() -> None:
    tensors: list[Tensor] = [("expanded_permuted_rows", F32, (10, 100, 4)), ("expanded_src_to_dst_row", I32, (10_000,))]
    (work,) = moe_finalize_routing_silicon(case_of("moe_finalize_routing", tensors, drop_pad_mode=1), A2)
    # Of 1000 places, 10000 choices (or a mark in their place) miss 1000 (1000 / 1001)^10000 = 0.05; chance takes at most 4 sqrt(10000) = 400 off.
    assert work.read_bytes == 599 * 4 * 4 + 10_000 * 4


def test_a_bias_takes_the_numbers_of_experts_and_no_row_for_sure() -> None:
    experts: Tensor = ("expert_for_source_row", I32, (6, 1))
    plain, numbered, biased = (moe_finalize_routing_silicon(finalize_case(F32, extra), A2)[0] for extra in ([], [experts], [("bias", F32, (8, 4)), experts]))
    assert numbered.read_bytes == plain.read_bytes  # without a bias the experts make no difference
    assert biased.read_bytes == plain.read_bytes + 6 * 4


def test_the_convention_of_finalizing_reads_everything() -> None:
    extra: list[Tensor] = [("skip1", F16, (3, 4)), ("bias", F16, (8, 4)), ("scales", F16, (3, 2)), ("expert_for_source_row", I32, (3, 2))]
    work = moe_finalize_routing_convention(finalize_case(F16, extra), "910b2")
    assert work.read_bytes == 24 * 2 + 6 * 4 + 12 * 2 + 32 * 2 + 6 * 2 + 6 * 4
    assert work.vector_lanes == {F32: 12 * (7 * 2 + 1 + 1)}
    assert moe_finalize_routing_convention(finalize_case(F32, []), "910b2").vector_lanes == {F32: 24 * (4 + 1)}
