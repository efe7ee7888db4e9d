"""Work formulas of the routing of a mixture of experts: moe_gating_top_k_softmax, moe_re_routing and moe_finalize_routing.

Bytes: rows that an index names are read once, indices, scales and results once. How `convention` and `silicon` are meant is said in `elementwise`.
"""

from __future__ import annotations

import math

from piton.anchors.arithmetic import arithmetics
from piton.anchors.formula import Formula
from piton.anchors.operands import has_operand, input_bytes, number, operand
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_PADDED_MODES = (1, 3)
"""Values of drop_pad_mode under which every expert has a block of rows of its own, and choices beyond it are dropped."""


def moe_gating_top_k_softmax_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors, float32 lane instructions per logit: 9 + log2 k, 1 + log2 k more for the 16-bit types, and 1, 2 (16 bits) per probability.

    One more per probability where the case has `finished`.
    """
    x, experts, k = operand(case, "x"), operand(case, "x").shape[-1], number(case, "k")
    is_16_bit = x.dtype.bits == 16
    per_logit = (10 if is_16_bit else 9) + math.log2(max(k, 1))
    per_choice = (2 if is_16_bit else 1) + has_operand(case, "finished")
    lanes = {DType.FLOAT32: x.elements * (per_logit + per_choice * k / experts)}
    return Work("published count", input_bytes(case), _gating_bytes(case), vector_lanes=lanes)


def moe_gating_top_k_softmax_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known, per logit: Max, Exp, Add into the sum. The choice of the other k - 1 depends on the data.

    Logits may be known to be small, and then nothing has to be subtracted from them. Finished rows have probabilities too, and so every logit is read.
    """
    x = operand(case, "x")
    instructions = float(x.elements * 3)
    return tuple(
        Work(way.name, input_bytes(case), _gating_bytes(case), vector_lanes=way.lanes_for(instructions, x.elements)) for way in arithmetics(x.dtype, chip)
    )


def _gating_bytes(case: Case) -> int:
    """y in the dtype of x, expert_idx and row_idx int32: k of each per row."""
    x = operand(case, "x")
    choices = x.elements // x.shape[-1] * int(number(case, "k"))
    return x.dtype.bytes_of(choices) + 2 * 4 * choices


def moe_re_routing_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: everything is read, only the tokens are written (scales, indices and counts are left out), no instruction is counted."""
    return Work("published count", input_bytes(case), operand(case, "tokens").nbytes)


def moe_re_routing_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """Everything is read once; tokens, a float32 scale and an int32 index per token and the counts of experts are written; one int32 instruction per index.

    Without per_token_scales zeros are written in their place.
    """
    tokens, counts = operand(case, "tokens"), operand(case, "expert_token_num_per_rank")
    write = tokens.nbytes + (4 + 4) * tokens.shape[0] + counts.dtype.bytes_of(counts.shape[1])
    return (Work("rows by the copy engine", input_bytes(case), write, vector_lanes={DType.INT32: float(tokens.shape[0])}),)


def moe_finalize_routing_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors, float32 lane instructions per element of out: 4 per choice (7 for the 16-bit types), 1, and 1 per skip; all inputs are read."""
    rows = operand(case, "expanded_permuted_rows")
    per_result = (7 if rows.dtype.bits == 16 else 4) * _choices(case) + 1 + _skips(case)
    results = _tokens(case) * rows.shape[-1]
    return Work("published count", input_bytes(case), rows.dtype.bytes_of(results), vector_lanes={DType.FLOAT32: float(results * per_result)})


def moe_finalize_routing_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Rows that a choice names, indices, scales and skips are read; a multiply-add per element of such a row (without scales an addition), one addition a
    skip.

    The first summand needs no instruction where it has no weight. Without padding every choice has a row of its own; with padding, blocks of C rows that are
    not full drop nothing, and so at least min(N K, C) choices are kept, and more where they are spread evenly over all places, up to chance. Rows of the bias
    are only needed for experts that exist: the experts' numbers are read, but none of these rows is certain, and so neither they nor their additions are
    counted.
    """
    rows, kept = operand(case, "expanded_permuted_rows"), _kept(case)
    width, dtype = rows.shape[-1], rows.dtype
    per_choice = ("scales", "expert_for_source_row") if has_operand(case, "bias") else ("scales",)
    numbers = sum(item.dtype.bytes_of(kept) for item in case.inputs if item.argument in per_choice)
    read = dtype.bytes_of(kept * width) + numbers + input_bytes(case, "expanded_src_to_dst_row", "skip1", "skip2")
    added = (kept + _skips(case) * _tokens(case)) * width
    results = _tokens(case) * width
    is_free = not has_operand(case, "scales") or _skips(case) > 0
    instructions = max(added - (results if is_free else 0), 0)
    conversions = added + results if instructions else 0
    return tuple(Work(way.name, read, dtype.bytes_of(results), vector_lanes=way.lanes_for(instructions, conversions)) for way in arithmetics(dtype, chip))


def _choices(case: Case) -> int:
    """K, the choices per token: the second axis of scales, 1 without them."""
    return operand(case, "scales").shape[1] if has_operand(case, "scales") else 1


def _tokens(case: Case) -> int:
    """N, of expanded_src_to_dst_row [N K]."""
    return operand(case, "expanded_src_to_dst_row").elements // _choices(case)


def _skips(case: Case) -> int:
    return has_operand(case, "skip1") + has_operand(case, "skip2")


def _kept(case: Case) -> int:
    """Choices that surely have a row.

    With padding, choices that each go to one of all places by chance reach fewer than choices that a block takes until it is full. A token changes their
    number by its K choices at most: less than the mean by 4 K sqrt(N) is never (McDiarmid's inequality, below 1e-14).
    """
    every = operand(case, "expanded_src_to_dst_row").elements
    if int(number(case, "drop_pad_mode")) not in _PADDED_MODES:
        return every
    experts, capacity = operand(case, "expanded_permuted_rows").shape[:2]
    places = experts * capacity
    reached = places * -math.expm1(every * math.log1p(-1 / (places + 1)))
    return max(min(every, capacity), math.floor(reached - 4 * _choices(case) * math.sqrt(_tokens(case))))


FORMULAS = {
    "moe_finalize_routing": Formula(frozenset({"drop_pad_mode"}), moe_finalize_routing_convention, moe_finalize_routing_silicon),
    "moe_gating_top_k_softmax": Formula(frozenset({"k"}), moe_gating_top_k_softmax_convention, moe_gating_top_k_softmax_silicon),
    "moe_re_routing": Formula(frozenset({"expert_token_num_type", "idx_type"}), moe_re_routing_convention, moe_re_routing_silicon),
}
