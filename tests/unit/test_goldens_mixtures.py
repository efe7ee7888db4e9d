"""Do the goldens of mixtures of experts and of quantised matrices compute what their desc.md defines? Against loops written after the text."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch

from piton.catalog import load_suite

INF, NAN = math.inf, math.nan
FLOAT64 = torch.float64


def module(name: str) -> ModuleType:
    member = load_suite().member(name)
    assert member is not None
    spec = importlib.util.spec_from_file_location(f"golden_{name}", member.operator.golden_path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def golden(name: str) -> Callable[..., Any]:
    function = getattr(module(name), name)
    assert callable(function)
    return function  # type: ignore[no-any-return]  # a module read at run time


GATING, RE_ROUTING, FINALIZE = golden("moe_gating_top_k_softmax"), golden("moe_re_routing"), golden("moe_finalize_routing")
QUANT, WEIGHT_QUANT = golden("quant_matmul"), golden("weight_quant_batch_matmul")
GROUPED, SWIGLU = golden("grouped_matmul"), golden("grouped_matmul_swiglu_quant")
ROUTES, PLACES = module("moe_re_routing").get_input, module("moe_finalize_routing").get_input


def normal(*shape: int, seed: int = 5) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=FLOAT64)


def codes(*shape: int, seed: int = 7) -> torch.Tensor:
    return torch.randint(-128, 128, shape, generator=torch.Generator().manual_seed(seed), dtype=torch.int8)


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12, equal_nan=True)


# grouped_matmul


def grouped_by_loops(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, ends: list[int]) -> torch.Tensor:
    """[M, N], element by element after desc.md."""
    y = torch.zeros(x.shape[0], weight.shape[2], dtype=FLOAT64)
    for m in range(x.shape[0]):
        group = next(g for g, end in enumerate(ends) if m < end)
        for n in range(weight.shape[2]):
            y[m, n] = sum(float(x[m, k] * weight[group, k, n]) for k in range(x.shape[1])) + (0 if bias is None else float(bias[group, n]))
    return y


@pytest.mark.parametrize("split_item", [0, 1, 2, 3])
@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_every_group_has_its_own_matrix(split_item: int, is_transposed: bool, has_bias: bool) -> None:
    x, weight, bias, ends = normal(7, 5), normal(4, 5, 3, seed=6), normal(4, 3, seed=8) if has_bias else None, [0, 2, 2, 7]
    stored = weight.transpose(1, 2).contiguous() if is_transposed else weight
    parts = GROUPED(x, stored, bias, ends, split_item=split_item, transpose_weight=is_transposed)
    assert [len(part) for part in parts] == ([7] if split_item in (2, 3) else [0, 2, 0, 5])
    assert all(part.is_contiguous() for part in parts)
    close(torch.cat(parts), grouped_by_loops(x, weight, bias, ends))


def test_a_half_type_product_is_summed_in_float32_and_rounded_once() -> None:
    x, weight = normal(3, 300).half(), normal(1, 300, 4, seed=6).half()
    (found,) = GROUPED(x, weight, None, [3], split_item=3)
    assert found.dtype == torch.float16
    assert torch.equal(found, (x.float() @ weight[0].float()).half())


@pytest.mark.parametrize("ends", [[2, 1, 7, 7], [1, 2, 3, 6], [3, 7], []])
def test_groups_that_do_not_fill_the_rows_are_refused(ends: list[int]) -> None:
    with pytest.raises(ValueError, match="does not split"):
        GROUPED(normal(7, 5), normal(4, 5, 3), None, ends)


@pytest.mark.parametrize("ends", [[2, 1], [1], [0, 6], []])
def test_groups_that_do_not_fit_the_quantised_rows_are_refused(ends: list[int]) -> None:
    with pytest.raises(ValueError, match="does not split"):
        SWIGLU(codes(5, 3), codes(2, 3, 4), normal(2, 4), normal(5), ends)


def test_special_values_stay_in_their_rows_and_groups() -> None:
    x, weight = torch.ones(4, 2, dtype=FLOAT64), torch.ones(2, 2, 2, dtype=FLOAT64)
    x[0, 0], x[1, 0], weight[1, 1, 0] = NAN, INF, -INF
    (y,) = GROUPED(x, weight, None, [2, 4], split_item=2)
    close(y, torch.tensor([[NAN, NAN], [INF, INF], [-INF, 2], [-INF, 2]], dtype=FLOAT64))


# weight_quant_batch_matmul


@pytest.mark.parametrize("has_row", [False, True])
@pytest.mark.parametrize(("has_offset", "has_bias"), [(True, True), (True, False), (False, True), (False, False)])
def test_weights_are_shifted_scaled_and_multiplied(has_row: bool, has_offset: bool, has_bias: bool) -> None:
    x, weight, (scale, offset, bias) = normal(3, 5), codes(5, 4), normal(3, 4, seed=9)
    expected = torch.zeros(3, 4, dtype=FLOAT64)
    for m in range(3):
        for n in range(4):
            terms = (float(x[m, k]) * (int(weight[k, n]) + has_offset * float(offset[n])) * float(scale[n]) for k in range(5))
            expected[m, n] = sum(terms) + has_bias * float(bias[n])
    rows = [item[None] if has_row else item for item in (scale, offset, bias)]
    found = WEIGHT_QUANT(x, weight, rows[0], rows[1] if has_offset else None, rows[2] if has_bias else None)
    close(found, expected)


def test_weights_are_dequantised_in_the_type_of_x_and_products_summed_in_float32() -> None:
    x, weight, scale = normal(2, 64).bfloat16(), codes(64, 3), normal(3, seed=3).abs().bfloat16()
    offset, bias = normal(3, seed=4).bfloat16(), normal(3, seed=2).float()
    found = WEIGHT_QUANT(x, weight, scale, offset, bias)
    assert found.dtype == torch.bfloat16
    dequantised = ((weight.bfloat16() + offset) * scale).float()
    assert torch.equal(found, (x.float() @ dequantised + bias).bfloat16())


def test_an_offset_that_cancels_a_weight_leaves_nothing() -> None:
    weight = torch.full((4, 2), -3, dtype=torch.int8)
    found = WEIGHT_QUANT(normal(2, 4), weight, torch.ones(2, dtype=FLOAT64), torch.full((2,), 3.0, dtype=FLOAT64))
    assert torch.equal(found, torch.zeros(2, 2, dtype=FLOAT64))


# quant_matmul


@pytest.mark.parametrize("bias_dtype", [None, torch.int32, torch.float32])
@pytest.mark.parametrize(("has_offset", "has_pertoken"), [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("columns", [1, 4])
def test_products_are_scaled_shifted_and_biased(bias_dtype: torch.dtype | None, has_offset: bool, has_pertoken: bool, columns: int) -> None:
    left, right, scale, offset = codes(3, 6), codes(6, 4), normal(columns).abs() * 0.01, normal(columns, seed=2)
    pertoken = normal(3, seed=3).abs()
    bias = None if bias_dtype is None else (normal(4, seed=4) * 50).round().to(bias_dtype)
    found = QUANT(left, right, scale, offset=offset if has_offset else None, pertoken_scale=pertoken if has_pertoken else None, bias=bias)
    assert found.dtype == torch.float16
    for m in range(3):
        for n in range(4):
            value = float(sum(int(left[m, k]) * int(right[k, n]) for k in range(6)))
            value += float(bias[n]) if bias is not None and bias_dtype is torch.int32 else 0
            value = value * float(scale[n % columns]) + (float(offset[n % columns]) if has_offset else 0)
            value *= float(pertoken[m]) if has_pertoken else 1
            value += float(bias[n]) if bias is not None and bias_dtype is torch.float32 else 0
            assert float(found[m, n]) == pytest.approx(value, rel=2**-11, abs=2**-24)


def test_batches_are_broadcast_and_the_result_has_the_type_that_is_asked_for() -> None:
    left, right, scale = codes(2, 3, 4, 6), codes(6, 5), torch.tensor([0.001]).bfloat16()
    found = QUANT(left, right, scale, output_dtype="bfloat16")
    product = (left.reshape(-1, 6).double() @ right.double()).reshape(2, 3, 4, 5)
    assert torch.equal(found, (product.float() * scale.float()).bfloat16())
    assert torch.equal(QUANT(left, right.expand(2, 3, 6, 5), scale, output_dtype="bfloat16"), found)


def test_a_sum_beyond_the_whole_numbers_of_float32_is_exact() -> None:
    left, right = torch.full((1, 2100), -128, dtype=torch.int8), torch.full((2100, 1), -128, dtype=torch.int8)
    bias = torch.tensor([1 - 2100 * 2**14], dtype=torch.int32)
    assert float(QUANT(left, right, torch.ones(1), bias=bias)) == 1


def test_another_result_type_is_refused() -> None:
    with pytest.raises(ValueError, match="float32"):
        QUANT(codes(2, 3), codes(3, 2), torch.ones(1), output_dtype="float32")


# grouped_matmul_swiglu_quant


def test_gated_rows_are_quantised_by_their_largest_element() -> None:
    x, weight, weight_scale, x_scale, ends = codes(6, 9), codes(3, 9, 8), normal(3, 8).abs() * 0.01, normal(6).abs() * 0.01, [2, 2, 6]
    y, y_scale = SWIGLU(x, weight, weight_scale, x_scale, ends)
    for m in range(6):
        group = next(g for g, end in enumerate(ends) if m < end)
        sums = [sum(int(x[m, k]) * int(weight[group, k, n]) for k in range(9)) for n in range(8)]
        d = [value * float(x_scale[m]) * float(weight_scale[group, n]) for n, value in enumerate(sums)]
        gated = [d[n] / (1 + math.exp(-d[n])) * d[n + 4] for n in range(4)]
        scale = max(map(abs, gated)) / 127
        assert float(y_scale[m]) == pytest.approx(scale, rel=1e-12)
        assert y[m].tolist() == [round(value / scale) for value in gated]
    assert (y.dtype, y.abs().amax(-1).tolist()) == (torch.int8, [127] * 6)


def test_products_of_long_int8_rows_are_exact() -> None:
    """3000 terms of 2^14 leave float32's whole numbers; a last term of 1 has to show."""
    x = torch.full((1, 3000), -128, dtype=torch.int8)
    x[0, -1] = 1
    weight = torch.full((1, 3000, 2), -128, dtype=torch.int8)
    weight[0, -1, 1] = 1
    scale = torch.tensor([1e-9], dtype=FLOAT64)
    _, y_scale = SWIGLU(x, weight, torch.ones(1, 2, dtype=FLOAT64), scale, [1])
    left, right = (2999 * 16384 - 128) * 1e-9, (2999 * 16384 + 1) * 1e-9
    assert float(y_scale) * 127 == pytest.approx(left / (1 + math.exp(-left)) * right, rel=1e-14)


def test_rows_of_zeros_and_rows_after_the_last_group_get_the_smallest_scale() -> None:
    x = torch.zeros(3, 4, dtype=torch.int8)
    y, y_scale = SWIGLU(x, codes(1, 4, 6), torch.ones(1, 6), torch.ones(3), [2])
    assert not y.any()
    assert y_scale.dtype == torch.float32
    assert y_scale.tolist() == [float(torch.tensor(2.0**-126 / 127))] * 3


def test_very_negative_gates_close() -> None:
    x, weight = torch.tensor([[100]], dtype=torch.int8), torch.tensor([[[-100, 1, 100, 100]]], dtype=torch.int8)
    for dtype in (torch.float32, FLOAT64):
        y, y_scale = SWIGLU(x, weight, torch.ones(1, 4, dtype=dtype), torch.ones(1, dtype=dtype), [1])
        assert y.tolist() == [[0, 127]]
        assert float(y_scale) == pytest.approx(100 * 10000 / 127, rel=1e-6)


# moe_re_routing


def test_blocks_are_sorted_by_expert_and_keep_their_order() -> None:
    counts = torch.tensor([[3, 1, 2], [2, 0, 4]], dtype=torch.int64)
    blocks = [[(rank, expert, place) for place in range(int(counts[rank, expert]))] for rank in range(2) for expert in range(3)]
    old = [row for block in blocks for row in block]
    new = sorted(old, key=lambda row: (row[1], row[0], row[2]))
    tokens, scales = normal(12, 5), normal(12, seed=3).float()
    rows, moved, index, per_expert = RE_ROUTING(tokens, counts, scales)
    expected = torch.tensor([old.index(row) for row in new])
    assert torch.equal(index, expected.int())
    assert torch.equal(rows, tokens[expected])
    assert torch.equal(moved, scales[expected])
    assert (per_expert.tolist(), per_expert.dtype) == ([5, 1, 6], torch.int64)


def test_the_other_modes_are_the_inverse_and_the_running_sum() -> None:
    counts = torch.tensor([[3, 1, 2], [2, 1, 4]], dtype=torch.int32)
    tokens = codes(13, 2)
    rows, scales, index, sums = RE_ROUTING(tokens, counts, None, 0, 1)
    assert torch.equal(rows[index.long()], tokens)
    assert (sums.tolist(), sums.dtype) == ([5, 7, 13], torch.int32)
    assert torch.equal(scales, torch.zeros(13))


def test_counts_that_do_not_sum_to_the_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="sum to 6"):
        RE_ROUTING(normal(7, 2), torch.full((2, 3), 1))


@pytest.mark.parametrize(("rows", "least"), [(500, 1), (12, 1), (5, 0)])
def test_built_counts_fill_the_rows_and_follow_the_seed(rows: int, least: int) -> None:
    tokens, drawn = torch.zeros(rows, 1), torch.ones(3, 4, dtype=torch.int32)
    first, again, other = (ROUTES(tokens, drawn, seed=seed)[1] for seed in (1, 1, 2))
    assert (int(first.sum()), first.shape, first.dtype) == (rows, (3, 4), torch.int32)
    assert int(first.min()) >= least
    assert torch.equal(first, again)
    assert rows == 12 or not torch.equal(first, other)


# moe_finalize_routing


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_weighted_rows_and_shared_experts_are_summed(mode: int) -> None:
    tokens, choices, experts, width = 5, 3, 4, 6
    rows = normal(experts, 4, width) if mode in (1, 3) else normal(tokens * choices, width)
    flat = rows.reshape(-1, width)
    place = torch.randperm(len(flat), generator=torch.Generator().manual_seed(3))[: tokens * choices].int()
    if mode in (1, 3):
        place[[1, 6]] = -1
    skip1, skip2, bias, scales = normal(tokens, width, seed=1), normal(tokens, width, seed=2), normal(experts, width, seed=3), normal(tokens, choices, seed=4)
    expert = torch.arange(tokens * choices, dtype=torch.int32).reshape(tokens, choices) % (experts + 1)
    out = FINALIZE(rows, place, skip1, skip2, bias, scales, expert, mode)
    for n in range(tokens):
        expected = skip1[n] + skip2[n]
        for k in range(choices):
            at = int(place[k * tokens + n] if mode < 2 else place[n * choices + k])
            own = bias[expert[n, k]] if expert[n, k] < experts else torch.zeros(width)
            expected = expected + (0 if at < 0 else scales[n, k] * (flat[at] + own))
        close(out[n], expected)


def test_what_is_left_out_counts_as_nothing() -> None:
    rows, place = normal(4, 3), torch.tensor([2, 0, 3, 1], dtype=torch.int32)
    close(FINALIZE(rows, place), rows[place.long()])
    close(FINALIZE(rows, place, normal(4, 3, seed=1)), rows[place.long()] + normal(4, 3, seed=1))
    close(FINALIZE(rows, place, bias=normal(2, 3, seed=1)), rows[place.long()])


def test_a_dropped_choice_adds_nothing_even_beside_infinities() -> None:
    rows = torch.full((2, 1, 3), INF, dtype=FLOAT64)
    place = torch.tensor([-1, 1], dtype=torch.int32)
    bias, expert = torch.full((2, 3), INF, dtype=FLOAT64), torch.zeros(2, 1, dtype=torch.int32)
    out = FINALIZE(rows, place, None, None, bias, torch.ones(2, 1, dtype=FLOAT64), expert, 1)
    close(out, torch.tensor([[0.0] * 3, [INF] * 3], dtype=FLOAT64))


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
@pytest.mark.parametrize("has_experts", [True, False])
def test_a_built_routing_gives_every_choice_a_row_of_its_own(mode: int, has_experts: bool) -> None:
    tokens, choices, experts, capacity = 60, 3, 8, 25
    rows = torch.zeros(experts, capacity, 2) if mode in (1, 3) else torch.zeros(tokens * choices, 2)
    bias, expert = (torch.zeros(experts, 2), torch.zeros(tokens, choices, dtype=torch.int32)) if has_experts else (None, None)
    drawn, scales = torch.zeros(tokens * choices, dtype=torch.int32), torch.zeros(tokens, choices)
    built = [PLACES(rows, drawn, None, None, bias, scales, expert, mode, seed=seed) for seed in (1, 1, 2)]
    place, known = built[0][1], built[0][6]
    kept = place[place >= 0]
    assert len(kept.unique()) == len(kept)
    assert torch.equal(place, built[1][1])
    assert not torch.equal(place, built[2][1])
    assert int(place.max()) < rows.numel() // 2
    assert (int(place.min()) == -1) == (mode in (1, 3))
    if has_experts:
        assert all(len(row.unique()) == choices for row in known)
        flat = known.T.reshape(-1) if mode < 2 else known.reshape(-1)
        inside = place // capacity if mode in (1, 3) else flat[place.argsort()].sort().values[place.long()]
        assert torch.equal(inside[place >= 0], flat[place >= 0])
    else:
        assert known is None
    assert mode in (1, 3) or torch.equal(kept.sort().values, torch.arange(tokens * choices, dtype=torch.int32))


# moe_gating_top_k_softmax


@pytest.mark.parametrize("shape", [(6, 9), (2, 3, 9)])
def test_the_most_probable_experts_are_chosen_in_order(shape: tuple[int, ...]) -> None:
    x = normal(*shape)
    y, expert, place = GATING(x, None, 4)
    for row, (values, numbers) in zip(x.reshape(-1, 9), zip(y.reshape(-1, 4), expert.reshape(-1, 4), strict=True), strict=True):
        weights = [math.exp(value) for value in row.tolist()]
        order = sorted(range(9), key=lambda item: -weights[item])[:4]
        assert numbers.tolist() == order
        close(values, torch.tensor([weights[item] / sum(weights) for item in order], dtype=FLOAT64))
    assert place.reshape(-1, 4).tolist() == [[choice * 6 + row for choice in range(4)] for row in range(6)]
    assert (expert.dtype, place.dtype, place.is_contiguous()) == (torch.int32, torch.int32, True)


def test_a_finished_row_names_no_expert_and_keeps_its_probabilities() -> None:
    x, finished = normal(3, 5), torch.tensor([False, True, False])
    y, expert, _ = GATING(x, finished, 2)
    plain, chosen, _ = GATING(x, None, 2)
    assert torch.equal(y, plain)
    assert expert[1].tolist() == [5, 5]
    assert torch.equal(expert[[0, 2]], chosen[[0, 2]])


def test_half_type_probabilities_are_computed_in_float32() -> None:
    x = (normal(4, 300) * 3).half()
    y, _, _ = GATING(x, k=5)
    assert torch.equal(y, x.float().softmax(-1).topk(5).values.half())


def test_large_logits_do_not_overflow() -> None:
    y, expert, _ = GATING(torch.tensor([[65504.0, -65504.0, 65504.0]], dtype=torch.float16), k=2)
    assert y.tolist() == [[0.5, 0.5]]
    assert sorted(expert[0].tolist()) == [0, 2]
