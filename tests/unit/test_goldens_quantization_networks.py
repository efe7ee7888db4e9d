"""Do the goldens of Quantization Networks compute the published formula and its derivatives, and keep what desc.md promises at the edges?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from piton.catalog import load_suite
from piton.numerics.golden_module import load_golden

_PATHS = {member.operator.name: member.operator.golden_path for member in load_suite("cann-lowbit").members}
FACTORS = {"alpha": 0.7, "beta": 1.3}


def golden(name: str) -> Callable[..., Any]:
    return load_golden(_PATHS[name]).function(name)


forward, backward = golden("quantization_network"), golden("quantization_network_grad")


def data(*shape: int, seed: int = 1) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """grad_y, x, three thresholds and three scales in float64."""
    made = torch.Generator().manual_seed(seed)
    grad_y, x = (torch.randn(*shape, generator=made, dtype=torch.float64) for _ in range(2))
    return grad_y, x, torch.tensor([-0.8, 0.1, 0.9], dtype=torch.float64), torch.tensor([0.9, 1.2, 1.0], dtype=torch.float64)


def published(x: torch.Tensor, thresholds: torch.Tensor, scales: torch.Tensor, alpha: Any, beta: Any, temperature: float) -> torch.Tensor:
    """Equation of the paper: all steps on an axis of their own, the offset taken away at the end."""
    steps = torch.sigmoid(temperature * (beta * x.unsqueeze(-1) - thresholds))
    return alpha * ((scales * steps).sum(-1) - scales.sum() / 2)


@pytest.mark.parametrize("temperature", [0.5, 10.0, 1000.0])
def test_the_soft_form_is_the_published_sum_of_sigmoids(temperature: float) -> None:
    _, x, thresholds, scales = data(7, 5)
    wanted = published(x, thresholds, scales, temperature=temperature, **FACTORS)
    torch.testing.assert_close(forward(x, thresholds, scales, temperature=temperature, **FACTORS), wanted, rtol=1e-12, atol=1e-13)


def test_the_hard_form_counts_steps_and_is_the_limit_of_the_soft_one() -> None:
    _, x, thresholds, scales = data(501)
    hard = forward(x, thresholds, scales, is_hard=True, **FACTORS)
    steps = np.array([sum(scale for edge, scale in zip(thresholds.tolist(), scales.tolist(), strict=True) if 1.3 * value >= edge) for value in x.tolist()])
    np.testing.assert_allclose(hard.numpy(), 0.7 * (steps - 1.55), rtol=1e-12)
    assert len(set(hard.tolist())) == 4
    torch.testing.assert_close(forward(x, thresholds, scales, temperature=1e9, **FACTORS), hard, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_the_level_is_the_same_in_float64_and_in_the_own_dtype(dtype: torch.dtype) -> None:
    x = torch.linspace(-4, 4, 5001).to(dtype)
    thresholds, scales = (1.1 * x[::500]).float(), torch.ones(11)
    own, wide = forward(x, thresholds, scales, beta=1.1, is_hard=True), forward(x.double(), thresholds.double(), scales.double(), beta=1.1, is_hard=True)
    assert own.dtype == dtype
    assert torch.equal(own.double(), wide)


def test_edges_of_the_forward_function() -> None:
    _, _, thresholds, scales = data(1)
    x = torch.tensor([torch.nan, torch.inf, -torch.inf], dtype=torch.float64)
    for is_hard in (False, True):
        y = forward(x, thresholds, scales, is_hard=is_hard)
        assert torch.isnan(y[0])
        assert y[1:].tolist() == pytest.approx([1.55, -1.55])
    one = torch.ones(1)
    assert forward(one, one, one).item() == 0
    assert forward(one, one, one, is_hard=True).item() == 0.5
    assert forward(one, one, -one, is_hard=True).item() == -0.5
    assert forward(one, torch.ones(2), one.expand(2), beta=2.0, is_hard=True).item() == 1
    assert forward(torch.empty(0, 3), one, one).shape == (0, 3)


@pytest.mark.parametrize("temperature", [0.5, 3.0, 40.0])
def test_gradients_are_those_of_autograd_through_the_published_formula(temperature: float) -> None:
    grad_y, x, thresholds, scales = data(4, 3, 11)
    alpha, beta = (torch.tensor([value], dtype=torch.float64, requires_grad=True) for value in FACTORS.values())
    variables = (x.requires_grad_(), thresholds.requires_grad_(), alpha, beta)
    wanted = torch.autograd.grad(published(x, thresholds, scales, alpha, beta, temperature), variables, grad_y)
    got = backward(grad_y, x.detach(), thresholds.detach(), scales, temperature=temperature, **FACTORS)
    for mine, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-11, atol=1e-13)


def test_sums_over_several_chunks_are_whole() -> None:
    grad_y, x, thresholds, scales = data(3, 50021)
    parts = [backward(grad_y[i], x[i], thresholds, scales) for i in range(3)]
    whole = backward(grad_y, x, thresholds, scales)
    torch.testing.assert_close(whole[0], torch.stack([part[0] for part in parts]), rtol=1e-13, atol=0)
    for position in (1, 2, 3):
        torch.testing.assert_close(whole[position], sum(part[position] for part in parts), rtol=1e-10, atol=1e-9)


def test_derivatives_do_not_cancel_far_right_of_a_threshold() -> None:
    ones = torch.ones(1)
    left, right = (backward(ones, ones * value, ones * 0, ones)[0].item() for value in (-40.0, 40.0))
    assert left == right == pytest.approx(np.exp(-40.0), rel=1e-5)


def test_half_types_keep_float32_sums() -> None:
    ones = torch.ones(1 << 18, dtype=torch.float16)
    grad_x, grad_thresholds, grad_alpha, grad_beta = backward(ones, ones, torch.ones(1), torch.ones(1))
    assert grad_x.dtype == torch.float16
    assert [item.dtype for item in (grad_thresholds, grad_alpha, grad_beta)] == [torch.float32] * 3
    assert [item.tolist() for item in (grad_thresholds, grad_alpha, grad_beta)] == [[-65536.0], [0.0], [65536.0]]


def test_edges_of_the_gradients() -> None:
    _, _, thresholds, scales = data(1)
    ones = torch.ones(2, dtype=torch.float64)
    nan = backward(ones, torch.tensor([torch.nan, 0.3], dtype=torch.float64), thresholds, scales)
    assert torch.isnan(nan[0]).tolist() == [True, False]
    assert all(item.isnan().all() for item in nan[1:])
    infinite = backward(ones, torch.tensor([torch.inf, 0.3], dtype=torch.float64), thresholds, scales)
    assert infinite[0][0] == 0
    assert [bool(item.isnan().any()) for item in infinite] == [False, False, False, True]


def test_wrong_shapes_and_temperatures_are_errors() -> None:
    grad_y, x, thresholds, scales = data(6)
    with pytest.raises(ValueError, match="two vectors of one length"):
        forward(x, thresholds, scales[:2])
    with pytest.raises(ValueError, match="two vectors of one length"):
        backward(grad_y, x, thresholds[:2], scales)
    with pytest.raises(ValueError, match="shape of x"):
        backward(grad_y[:2], x, thresholds, scales)
    for temperature in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="temperature"):
            forward(x, thresholds, scales, temperature=temperature)
        with pytest.raises(ValueError, match="temperature"):
            backward(grad_y, x, thresholds, scales, temperature=temperature)
    assert forward(x, thresholds, scales, temperature=0.0, is_hard=True).shape == x.shape
