"""Do the goldens of the attention operators compute what desc.md defines? Checked against plain loops and torch's own attention, in float64 on small inputs."""

from __future__ import annotations

import importlib.util
import itertools
import math
from types import ModuleType

import pytest
import torch

from piton.catalog import load_suite

Tensor = torch.Tensor
ATTENTION = ("mha", "gqa", "mla", "sparse_flash_attention")
SHAPES = [(7, 7), (5, 11), (11, 5), (1, 9)]
"""Rows of the query and of the keys."""

by_shape = pytest.mark.parametrize(("rows", "columns"), SHAPES)
by_mask = pytest.mark.parametrize("is_causal", [False, True])


def golden(name: str) -> ModuleType:
    member = load_suite().member(name)
    assert member is not None
    spec = importlib.util.spec_from_file_location(f"golden_{name}", member.operator.golden_path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODULES = {name: golden(name) for name in (*ATTENTION, "mla_prolog")}


@pytest.fixture(params=["one block", "many blocks"])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results must not depend on how many rows are taken at a time."""
    if request.param == "many blocks":
        for name in ATTENTION:
            limit = "GATHERED" if name == "sparse_flash_attention" else "SCORES"
            monkeypatch.setattr(MODULES[name], limit, 150 if limit == "GATHERED" else 80)


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def row_of(query: Tensor, keys: Tensor, values: Tensor, scale: float) -> Tensor:
    """Attention of one query vector to the listed keys, one by one; zeros where there is none."""
    if not len(keys):
        return torch.zeros(values.shape[-1], dtype=torch.float64)
    scores = [scale * float((query * key).sum()) for key in keys]
    powers = [math.exp(score - max(scores)) for score in scores]
    return sum((power / sum(powers) * value for power, value in zip(powers, values, strict=True)), torch.zeros_like(values[0]))


def by_loops(query: Tensor, key: Tensor, value: Tensor, scale: float, is_causal: bool) -> Tensor:
    """Attention of every batch item, row and head, in layout BSND."""
    (batch, rows, heads, _), (columns, groups) = query.shape, key.shape[1:3]
    y = torch.empty(batch, rows, heads, value.shape[-1], dtype=torch.float64)
    for b, i, n in itertools.product(range(batch), range(rows), range(heads)):
        last = max(0, i + columns - rows + 1) if is_causal else columns
        m = n // (heads // groups)
        y[b, i, n] = row_of(query[b, i, n], key[b, :last, m], value[b, :last, m], scale)
    return y


@by_mask
@by_shape
@pytest.mark.parametrize("scale", [-1.0, 0.0, 0.4])
@pytest.mark.usefixtures("block")
def test_mha_and_gqa_are_the_weighted_means_of_their_definition(rows: int, columns: int, is_causal: bool, scale: float) -> None:
    for name, groups in (("mha", 6), ("gqa", 6), ("gqa", 2), ("gqa", 1)):
        query, key, value = numbers(2, rows, 6, 4), numbers(2, columns, groups, 4, seed=1), numbers(2, columns, groups, 4, seed=2)
        y = getattr(MODULES[name], name)(query, key, value, scale, is_causal)
        torch.testing.assert_close(y, by_loops(query, key, value, scale if scale > 0 else 0.5, is_causal), rtol=1e-12, atol=1e-14)
        assert y.is_contiguous()


@by_mask
@by_shape
@pytest.mark.parametrize("layout", ["BSND", "BNSD"])
@pytest.mark.usefixtures("block")
def test_mla_is_attention_over_both_parts_of_the_keys(rows: int, columns: int, is_causal: bool, layout: str) -> None:
    nope, rope = (numbers(2, rows, 6, size, seed=size) for size in (8, 4))
    k_nope, k_rope = (numbers(2, columns, 2, size, seed=size + 20) for size in (8, 4))
    expected = by_loops(torch.cat((nope, rope), -1), torch.cat((k_nope, k_rope), -1), k_nope, 12**-0.5, is_causal)
    given = [item if layout == "BSND" else item.transpose(1, 2).contiguous() for item in (nope, rope, k_nope, k_rope, k_nope)]
    y = MODULES["mla"].mla(*given, numKVHeads=2, inputLayout=layout, is_causal=is_causal)
    assert y.is_contiguous()
    torch.testing.assert_close(y if layout == "BSND" else y.transpose(1, 2), expected, rtol=1e-12, atol=1e-14)


@by_mask
@pytest.mark.parametrize("layout", ["BSND", "BNSD"])
@pytest.mark.usefixtures("block")
def test_sparse_attention_sees_what_its_indices_select(is_causal: bool, layout: str) -> None:
    rows, columns, chosen = 5, 9, 4
    query, key, value = numbers(2, rows, 6, 8), numbers(2, columns, 2, 8, seed=1), numbers(2, columns, 2, 5, seed=2)
    index = torch.rand(2, rows, 2, columns, generator=torch.Generator().manual_seed(3)).argsort(-1)[..., :chosen].int()
    index[0, 1, 0, 2] = -1
    index[1, 2, 1] = -1
    y = torch.empty(2, rows, 6, 5, dtype=torch.float64)
    for b, i, n in itertools.product(range(2), range(rows), range(6)):
        seen = [int(c) for c in index[b, i, n // 3] if c >= 0 and (not is_causal or c <= i + columns - rows)]
        y[b, i, n] = row_of(query[b, i, n], key[b, seen, n // 3], value[b, seen, n // 3], 0.3)
    given = [item if layout == "BSND" else item.transpose(1, 2).contiguous() for item in (query, key, value, index)]
    found = MODULES["sparse_flash_attention"].sparse_flash_attention(*given, 0.3, layout, is_causal)
    assert found.is_contiguous()
    torch.testing.assert_close(found if layout == "BSND" else found.transpose(1, 2), y, rtol=1e-12, atol=1e-14)
    assert found.count_nonzero() == found.numel() - y.eq(0).sum()
    assert y[1, 2, 3:].eq(0).all()


def test_sparse_attention_over_all_keys_in_any_order_is_gqa() -> None:
    query, key = numbers(1, 6, 4, 8), numbers(1, 6, 2, 8, seed=1)
    index = torch.rand(1, 6, 2, 6, generator=torch.Generator().manual_seed(4)).argsort(-1).int()
    for is_causal in (False, True):
        sparse = MODULES["sparse_flash_attention"].sparse_flash_attention(query, key, key, index, 0.2, is_causal=is_causal)
        torch.testing.assert_close(sparse, MODULES["gqa"].gqa(query, key, key, 0.2, is_causal), rtol=1e-12, atol=1e-14)


def test_special_values_of_a_query_stay_in_its_row_and_head() -> None:
    query, key, value = numbers(1, 4, 4, 8), numbers(1, 5, 2, 8, seed=1).abs(), numbers(1, 5, 2, 8, seed=2)
    clean = MODULES["gqa"].gqa(query, key, value)
    query[0, 0, 1, 3], query[0, 1, 2, 0], query[0, 2, 3, 0] = math.nan, math.inf, -math.inf
    y = MODULES["gqa"].gqa(query, key, value)
    assert y[0, 0, 1].isnan().all()
    assert y[0, 1, 2].isnan().all()
    assert y[0, 2, 3].eq(0).all(), "scores of minus infinity only: nothing to see"
    touched = torch.zeros(4, 4, dtype=torch.bool)
    touched[[0, 1, 2], [1, 2, 3]] = True
    assert torch.equal(y[0][~touched], clean[0][~touched])


@pytest.mark.parametrize("name", ["mha", "gqa"])
def test_scores_far_outside_of_exp_leave_the_largest_one_all_the_weight(name: str) -> None:
    query, key, value = numbers(1, 3, 2, 8), numbers(1, 6, 2, 8, seed=1), numbers(1, 6, 2, 8, seed=2)
    y = getattr(MODULES[name], name)(query * 1e6, key, value)
    best = torch.einsum("bind,bjnd->bnij", query, key).argmax(-1)
    for i, n in itertools.product(range(3), range(2)):
        torch.testing.assert_close(y[0, i, n], value[0, best[0, n, i], n])
    torch.testing.assert_close(getattr(MODULES[name], name)(query * 0, key, value)[0, 1], value[0].mean(0), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@by_mask
def test_half_types_are_rounded_once(dtype: torch.dtype, is_causal: bool) -> None:
    """float32 all the way, against torch's own attention in float64; one rounding leaves at most half a unit and what float32 adds."""
    query, key, value = (numbers(2, 40, 3, 16, seed=seed).to(dtype) for seed in range(3))
    y = MODULES["mha"].mha(query, key, value, is_causal=is_causal)
    wide = (item.double().transpose(1, 2) for item in (query, key, value))
    expected = torch.nn.functional.scaled_dot_product_attention(*wide, is_causal=is_causal).transpose(1, 2)
    half_unit = torch.finfo(dtype).eps / 2
    assert y.dtype == dtype
    assert float(((y.double() - expected).abs() / (expected.abs() + 1e-3)).max()) < half_unit * 1.02


@pytest.mark.parametrize("name", ["mla", "sparse_flash_attention"])
def test_another_layout_is_refused(name: str) -> None:
    tensors = [numbers(1, 2, 2, 4)] * (5 if name == "mla" else 4)
    with pytest.raises(ValueError, match="SBND"):
        getattr(MODULES[name], name)(*tensors, scaleValue=1.0, inputLayout="SBND")


def test_values_of_latent_attention_are_built_from_its_keys() -> None:
    parts = [numbers(1, 2, 2, size, seed=seed) for seed, size in enumerate((8, 4, 8, 4, 8))]
    built = MODULES["mla"].get_input(*parts)
    assert torch.equal(built[4], parts[2])
    assert all(after is before for before, after in zip(parts[:4], built[:4], strict=True))


@pytest.mark.parametrize("layout", ["BSND", "BNSD"])
def test_sparse_indices_are_distinct_in_range_and_follow_the_seed(layout: str) -> None:
    shape = (2, 30, 3) if layout == "BSND" else (2, 3, 30)
    query, key, index = numbers(2, 30, 6, 8), numbers(*shape, 8), torch.zeros(2, 4, 3, 20, dtype=torch.int32)
    build = MODULES["sparse_flash_attention"].get_input
    first, again, other = (build(query, key, key[..., :5] * 0, index, seed, layout) for seed in (5, 5, 6))
    assert torch.equal(first[2], key[..., :5])
    assert first[3].dtype == torch.int32
    assert torch.equal(first[3], again[3])
    assert not torch.equal(first[3], other[3])
    ordered = first[3].sort(-1).values
    assert (ordered.diff(dim=-1) > 0).all()
    assert int(ordered.min()) >= 0
    assert int(ordered.max()) < 30
    assert (first[3] != ordered).any(), "in any order"
    more = build(query, key, key, torch.zeros(1, 1, 1, 40, dtype=torch.int32), 5, layout)[3]
    assert sorted(more.flatten().tolist()) == [-1] * 10 + list(range(30))


# mla_prolog

SIZES = {"rows": 3, "He": 10, "Hcq": 6, "N": 2, "D": 4, "Dr": 4, "Hckv": 5}


def prolog_inputs(seed: int = 0) -> list[Tensor]:
    rows, he, hcq, heads, width, rotary, latent = SIZES.values()
    shapes = [(2, rows, he), (he, hcq), (hcq, heads * (width + rotary)), (heads, width, latent), (he, latent + rotary), (hcq,), (latent,)]
    plain = [numbers(*shape, seed=seed + 10 * place) for place, shape in enumerate(shapes)]
    return list(MODULES["mla_prolog"].get_input(*plain, *[numbers(2, rows, rotary)] * 2, seed=seed))


def test_mla_prolog_follows_its_definition_token_by_token() -> None:
    x, w_dq, w_uq, w_uk, w_dkv, gamma_q, gamma_kv, sin, cos = prolog_inputs()
    query, query_rope, c_kv, k_rope = MODULES["mla_prolog"].mla_prolog(x, w_dq, w_uq, w_uk, w_dkv, gamma_q, gamma_kv, sin, cos, 2, 0.1, 0.2)
    rows, _, _, heads, width, rotary, latent = SIZES.values()

    def norm(v: Tensor, gamma: Tensor, epsilon: float) -> Tensor:
        return v / math.sqrt(float((v * v).sum()) / len(v) + epsilon) * gamma

    def turned(v: Tensor, b: int, i: int) -> Tensor:
        """Pairs of columns j and j + Dr / 2 as complex numbers, times the one on the unit circle."""
        half = rotary // 2
        pairs = torch.complex(v[:half], v[half:]) * torch.complex(cos[b, i, :half], sin[b, i, :half])
        return torch.cat((pairs.real, pairs.imag))

    for b, i in itertools.product(range(2), range(rows)):
        up, entry = norm(x[b, i] @ w_dq, gamma_q, 0.1) @ w_uq, x[b, i] @ w_dkv
        torch.testing.assert_close(c_kv[b, i], norm(entry[:latent], gamma_kv, 0.2))
        torch.testing.assert_close(k_rope[b, i], turned(entry[latent:], b, i))
        for n in range(heads):
            own = up[n * (width + rotary) : (n + 1) * (width + rotary)]
            torch.testing.assert_close(query[b, i, n], own[:width] @ w_uk[n])
            torch.testing.assert_close(query_rope[b, i, n], turned(own[width:], b, i))


def test_mla_prolog_keeps_special_tokens_apart() -> None:
    given = prolog_inputs()
    given[0][0, 0], given[0][0, 1], given[0][1, 2, 3] = 0.0, math.nan, math.inf
    outputs = MODULES["mla_prolog"].mla_prolog(*given, 2)
    for output in outputs:
        assert output.is_contiguous()
        assert output[0, 0].eq(0).all()
        assert output[0, 1].isnan().all()
        assert output[1, :2].isfinite().all()
    assert all(output[1, 2].isnan().all() for output in outputs[:3])
    assert not outputs[3][1, 2].isfinite().any()


def test_rotary_angles_turn_pairs_together_and_follow_the_seed() -> None:
    first, again, other = prolog_inputs(7), prolog_inputs(7), prolog_inputs(8)
    for place in (7, 8):
        assert torch.equal(first[place], again[place])
        assert not torch.equal(first[place], other[place])
        assert torch.equal(first[place][..., :2], first[place][..., 2:])
    torch.testing.assert_close(first[7].square() + first[8].square(), torch.ones_like(first[7]))
    assert float(first[7].std()) > 0.5
