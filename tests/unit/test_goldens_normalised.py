"""Goldens of normalisation, losses, rotation and gates against plain loops, on the edges that desc.md promises, and their structured inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from golden_modules import golden_module
from numpy.typing import NDArray

INF, NAN = math.inf, math.nan
Array = NDArray[np.float64]

GROUP_NORM, CROSS_ENTROPY, ROTARY = (golden_module(name) for name in ("group_norm", "cross_entropy_loss", "apply_rotary_pos_emb"))
SINKHORN, ENGRAM = golden_module("mhc_sinkhorn"), golden_module("engram_gate_fusion")


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng([seed, *shape]).normal(size=shape))


def equal(found: torch.Tensor, expected: Array | torch.Tensor, rtol: float = 1e-12) -> None:
    np.testing.assert_allclose(found.numpy(), np.asarray(expected), rtol=rtol, atol=1e-14)


# group_norm


@pytest.mark.parametrize(("shape", "groups"), [((3, 8), 2), ((2, 6, 5), 3), ((2, 4, 3, 5), 1), ((2, 4, 2, 3, 2), 4)])
def test_group_norm_is_the_loop_over_samples_and_groups(shape: tuple[int, ...], groups: int) -> None:
    x, gamma, beta = draw(*shape), draw(shape[1], seed=1), draw(shape[1], seed=2)
    expected = np.empty(shape)
    for sample in range(shape[0]):
        for group in np.split(np.arange(shape[1]), groups):
            part = x[sample].numpy()[group]
            for channel in group:
                normal = (x[sample, channel].numpy() - part.mean()) / math.sqrt(part.var() + 1e-3)
                expected[sample, channel] = normal * float(gamma[channel]) + float(beta[channel])
    equal(GROUP_NORM.group_norm(x, gamma, beta, groups, 1e-3), expected)


def test_group_norm_keeps_special_values_in_their_group_and_gives_beta_for_equal_values() -> None:
    x, beta = draw(2, 4, 3), torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
    x[0, 0, 0], x[1, 3, 1], x[1, :2] = INF, NAN, 7.0
    y = GROUP_NORM.group_norm(x, torch.ones(4).double(), beta, 2)
    assert y[0, :2].isnan().all()
    assert y[1, 2:].isnan().all()
    assert y[0, 2:].isfinite().all()
    equal(y[1, :2], beta[:2, None].expand(2, 3))
    with pytest.raises(ValueError, match="4 channels cannot be divided into 3 groups"):
        GROUP_NORM.group_norm(x, beta, beta, 3)


# cross_entropy_loss


def losses(scores: Array, target: NDArray[np.int64], ignored: int) -> Array:
    """Losses [N, ...] position by position."""
    made = np.zeros(target.shape)
    for place in np.ndindex(target.shape):
        line = scores[(place[0], slice(None), *place[1:])]
        if target[place] != ignored:
            made[place] = math.log(sum(math.exp(value - line.max()) for value in line)) + line.max() - line[target[place]]
    return made


@pytest.mark.parametrize("shape", [(7, 5), (3, 4, 6), (2, 3, 4, 2), (2, 3, 2, 2, 3)])
@pytest.mark.parametrize("ignored", [-100, 1])
def test_cross_entropy_of_classes_is_the_loop_over_positions(shape: tuple[int, ...], ignored: int) -> None:
    scores = draw(*shape) * 4
    target = torch.from_numpy(np.random.default_rng(3).integers(0, shape[1], (shape[0], *shape[2:])))
    target.view(-1)[0] = ignored
    expected = losses(scores.numpy(), target.numpy(), ignored)
    equal(CROSS_ENTROPY.cross_entropy_loss(scores, target, "none", ignored), expected)
    equal(CROSS_ENTROPY.cross_entropy_loss(scores, target.int(), "sum", ignored), expected.sum())
    equal(CROSS_ENTROPY.cross_entropy_loss(scores, target, "mean", ignored), expected.sum() / int((target != ignored).sum()))


@pytest.mark.parametrize("shape", [(7, 5), (2, 3, 4, 2)])
def test_cross_entropy_of_probabilities_weighs_the_logarithms_of_all_classes(shape: tuple[int, ...]) -> None:
    scores, weights = draw(*shape), draw(*shape, seed=1).abs()
    exponentials = np.exp(scores.numpy())
    expected = -(weights.numpy() * np.log(exponentials / exponentials.sum(axis=1, keepdims=True))).sum(axis=1)
    equal(CROSS_ENTROPY.cross_entropy_loss(scores, weights, "none"), expected)
    equal(CROSS_ENTROPY.cross_entropy_loss(scores, weights, "sum"), expected.sum())
    equal(CROSS_ENTROPY.cross_entropy_loss(scores, weights), expected.mean())


def test_cross_entropy_of_ignored_and_special_positions_is_as_described() -> None:
    scores = torch.tensor([[NAN, 0.0], [INF, 0.0], [-INF, 0.0], [-INF, 0.0], [-INF, -INF], [NAN, 1.0], [2.0, 2.0]], dtype=torch.float64)
    target = torch.tensor([0, 1, 0, 1, 0, -100, 1])
    equal(CROSS_ENTROPY.cross_entropy_loss(scores, target, "none"), np.array([NAN, NAN, INF, 0, NAN, 0, math.log(2)]))
    nobody = torch.full((7,), -100)
    assert CROSS_ENTROPY.cross_entropy_loss(scores, nobody, "mean").isnan()
    assert CROSS_ENTROPY.cross_entropy_loss(scores, nobody, "sum") == 0
    with pytest.raises(ValueError, match="reduction must be"):
        CROSS_ENTROPY.cross_entropy_loss(scores, target, "max")


def test_cross_entropy_targets_are_classes_of_which_a_share_is_ignored_and_follow_the_seed() -> None:
    scores, drawn = draw(4000, 9), torch.zeros(4000, dtype=torch.int64)
    first, second = (CROSS_ENTROPY.get_input(scores, drawn, -1, seed)[1] for seed in (1, 2))
    assert ((first >= -1) & (first < 9)).all()
    assert 0.01 < (first == -1).double().mean() < 0.33
    assert (first == scores.argmax(1)).double().mean() > 0.05
    assert not torch.equal(first, second)
    assert not drawn.any()


def test_cross_entropy_probabilities_sum_to_one_and_reach_from_zero_to_one() -> None:
    scores, drawn = draw(500, 40).bfloat16(), torch.zeros(500, 40, dtype=torch.bfloat16)
    first, second = (CROSS_ENTROPY.get_input(scores, drawn, -100, seed)[1] for seed in (1, 2))
    assert first.dtype is torch.bfloat16
    assert (first.double().sum(1) - 1).abs().max() < 0.02
    assert first.min() < 0.01
    assert first.max() > 0.95
    assert not torch.equal(first, second)


# apply_rotary_pos_emb


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("mode", ["half", "interleaved"])
@pytest.mark.parametrize("has_batch", [False, True])
def test_rotary_embedding_multiplies_pairs_as_complex_numbers(layout: int, mode: str, has_batch: bool) -> None:
    batch, length, heads, half = 2, 5, 3, 4
    angle = draw(batch, length, half) if has_batch else draw(length, half)
    query, key = (draw(batch, length, heads, 2 * half, seed=seed) for seed in (1, 2))
    found = ROTARY.apply_rotary_pos_emb(*(item.transpose(1, 2) if layout else item for item in (query, key)), angle.cos(), angle.sin(), layout, mode)
    for x, turned in zip((query, key), found, strict=True):
        for place in np.ndindex(batch, length, heads):
            pairs = x[place].numpy().reshape((2, half) if mode == "half" else (half, 2))
            first, second = pairs if mode == "half" else pairs.T
            wanted = (first + 1j * second) * np.exp(1j * angle[place[: 2 if has_batch else 1] if has_batch else place[1]].numpy())
            axis = 0 if mode == "half" else 1
            expected = np.stack([wanted.real, wanted.imag], axis=axis).reshape(-1)
            equal((turned.transpose(1, 2) if layout else turned)[place], expected)


def test_rotary_embedding_refuses_other_layouts_and_modes() -> None:
    x, angle = draw(1, 2, 1, 4), draw(2, 2)
    with pytest.raises(ValueError, match="layout must be 0 or 1, not 2"):
        ROTARY.apply_rotary_pos_emb(x, x, angle, angle, 2)
    with pytest.raises(ValueError, match="rotaryMode must be"):
        ROTARY.apply_rotary_pos_emb(x, x, angle, angle, 0, "quarter")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_rotary_angles_lie_on_the_unit_circle_and_follow_the_seed(dtype: torch.dtype) -> None:
    x, table = draw(1, 50, 1, 80).to(dtype), torch.zeros(50, 40, dtype=dtype)
    query, key, cos, sin = ROTARY.get_input(x, x, table, table, 1)
    assert query is key is x
    assert (cos.dtype, sin.dtype) == (dtype, dtype)
    assert (cos.double().square() + sin.double().square() - 1).abs().max() < 0.02
    assert {(a > 0, b > 0) for a, b in zip(cos.view(-1).tolist(), sin.view(-1).tolist(), strict=True)} == {(p, q) for p in (True, False) for q in (True, False)}
    assert not torch.equal(ROTARY.get_input(x, x, table, table, 2)[2], cos)


# mhc_sinkhorn


@pytest.mark.parametrize(("size", "rounds", "eps"), [(4, 1, 1e-6), (4, 20, 1e-6), (3, 5, 1e-2), (7, 2, 1e-4)])
def test_sinkhorn_rounds_are_the_loops_over_rows_and_columns(size: int, rounds: int, eps: float) -> None:
    comb = draw(5, size, size) * 3
    found = SINKHORN.mhc_sinkhorn(comb, rounds, eps)
    for start, made in zip(comb.numpy(), found, strict=True):
        matrix = np.exp(start)
        matrix = matrix / matrix.sum(axis=1, keepdims=True) + eps
        for number in range(rounds):
            if number:
                matrix = np.array([row / (row.sum() + eps) for row in matrix])
            matrix = np.array([column / (column.sum() + eps) for column in matrix.T]).T
        equal(made, matrix, rtol=1e-11)


def test_sinkhorn_of_special_values_is_as_described_and_sums_come_close_to_one() -> None:
    comb = draw(4, 4, 4)
    comb[0, 0, 0], comb[1, 2, 3], comb[2, 1, 1] = NAN, INF, -INF
    found = SINKHORN.mhc_sinkhorn(comb)
    assert found[:2].isnan().all()
    assert found[2:].isfinite().all()
    assert found[2, 1, 1] < 1e-5
    for axis in (1, 2):
        assert (found[2:].sum(axis) - 1).abs().max() < 1e-3
    with pytest.raises(ValueError, match="not square"):
        SINKHORN.mhc_sinkhorn(draw(1, 2, 3))
    with pytest.raises(ValueError, match="iter_step must be at least 1"):
        SINKHORN.mhc_sinkhorn(comb, 0)


# engram_gate_fusion


def engram_inputs(length: int, taps: int, has_state: bool, dilation: int) -> dict[str, torch.Tensor | None]:
    batch, heads, width = 2, 3, 5
    return {
        "keys": draw(batch, length, heads, width),
        "hidden_states": draw(batch, length, heads, width, seed=1),
        "value": draw(batch, length, width, seed=2),
        "norm1_weight": draw(heads, width, seed=3),
        "norm2_weight": draw(heads, width, seed=4),
        "conv_norm_weight": draw(heads, width, seed=5),
        "conv_weight": draw(heads * width, 1, taps, seed=6),
        "conv_state": draw(batch, heads * width, (taps - 1) * dilation, seed=7) if has_state else None,
    }


def engram_loop(given: dict[str, Array], taps: int, dilation: int, eps: float) -> tuple[Array, Array]:
    """The formulas of desc.md, one row at a time."""
    keys, lead = given["keys"], (taps - 1) * dilation
    batch, length, heads, width = keys.shape
    output, state = np.empty(keys.shape), np.empty((batch, heads * width, lead))

    def norm(row: Array, weight: Array) -> Array:
        made: Array = row / math.sqrt((row**2).mean() + eps) * weight
        return made

    for entry, head in np.ndindex(batch, heads):
        span = slice(head * width, (head + 1) * width)
        series = list(given["conv_state"][entry, span].T) if "conv_state" in given else [np.zeros(width)] * lead
        for place in range(length):
            one = norm(keys[entry, place, head], given["norm1_weight"][head])
            other = norm(given["hidden_states"][entry, place, head], given["norm2_weight"][head])
            raw = float(one @ other) / math.sqrt(width)
            gated = given["value"][entry, place] / (1 + math.exp(-math.sqrt(max(abs(raw), 1e-6)) * np.sign(raw)))
            series.append(norm(gated, given["conv_norm_weight"][head]))
            mixed = sum(given["conv_weight"][span, 0, tap] * series[-1 - (taps - 1 - tap) * dilation] for tap in range(taps))
            output[entry, place, head] = gated + mixed / (1 + np.exp(-mixed))
        state[entry, span] = np.array(series[length:]).reshape(lead, width).T
    return output, state


@pytest.mark.parametrize(("length", "taps", "dilation"), [(9, 3, 2), (1, 4, 3), (4, 2, 1), (3, 1, 2)])
@pytest.mark.parametrize("has_state", [False, True])
def test_engram_gate_is_the_loop_over_positions(length: int, taps: int, dilation: int, has_state: bool) -> None:
    given = engram_inputs(length, taps, has_state, dilation)
    output, state = ENGRAM.engram_gate_fusion(**given, hc_mult=3, hidden_size=5, kernel_size=taps, dilation=dilation, norm_eps=1e-3)
    expected = engram_loop({name: item.numpy() for name, item in given.items() if item is not None}, taps, dilation, 1e-3)
    equal(output, expected[0], rtol=1e-11)
    equal(state, expected[1], rtol=1e-11)
    assert state.is_contiguous()


def test_engram_gate_goes_on_from_its_state_as_if_the_sequence_had_not_been_cut() -> None:
    given = engram_inputs(9, 3, False, 2)
    sizes = {"hc_mult": 3, "hidden_size": 5, "kernel_size": 3, "dilation": 2}
    whole, last = ENGRAM.engram_gate_fusion(**given, **sizes)
    state, parts = None, []
    for span in (slice(0, 4), slice(4, 5), slice(5, 9)):
        part = {name: item[:, span] for name, item in given.items() if item is not None and name in ("keys", "hidden_states", "value")}
        output, state = ENGRAM.engram_gate_fusion(**{**given, **part, "conv_state": state}, **sizes)
        parts.append(output)
    equal(torch.cat(parts, 1), whole)
    equal(state, last)


def test_engram_gate_of_zero_keys_is_one_half_and_a_nan_reaches_as_far_as_the_taps() -> None:
    given = engram_inputs(9, 3, False, 2)
    keys = given["keys"]
    assert keys is not None
    keys.zero_()
    keys[0, 2, 1, 0] = NAN
    weight = given["conv_weight"]
    assert weight is not None
    weight[:5] = 0
    output, _ = ENGRAM.engram_gate_fusion(**given, hc_mult=3, hidden_size=5, kernel_size=3, dilation=2)
    value = given["value"]
    assert value is not None
    equal(output[:, :, 0], value / 2)
    assert [bool(row.isnan().any()) for row in output[0, :, 1]] == [False, False, True, False, True, False, True, False, False]
    with pytest.raises(ValueError, match="not as in the shapes"):
        ENGRAM.engram_gate_fusion(**given, hc_mult=4, hidden_size=5, kernel_size=3)
