"""Goldens of dynamic quantisation and its fusions against plain loops, and on the edges that desc.md promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from golden_modules import golden_module
from numpy.typing import NDArray

INF, NAN = math.inf, math.nan
Array = NDArray[np.float64]

QUANT, ADD_QUANT, SWIGLU = (golden_module(name) for name in ("dynamic_quant", "add_rms_norm_dynamic_quant", "dequant_swiglu_quant"))


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng([seed, *shape]).normal(size=shape))


def equal(found: torch.Tensor, expected: Array | torch.Tensor, rtol: float = 1e-12) -> None:
    np.testing.assert_allclose(found.numpy(), np.asarray(expected), rtol=rtol, atol=1e-14)


# dynamic_quant


def quantised(row: Array) -> tuple[Array, float]:
    """y and scale of one row without special values."""
    scale = max(float(np.abs(row).max()), 1e-12) / 127
    return np.rint(row / scale), scale


def test_dynamic_quant_is_the_loop_over_rows() -> None:
    x = draw(3, 4, 33)
    y, scale = QUANT.dynamic_quant(x)
    assert y.dtype is torch.int8
    assert (y.shape, scale.shape) == (x.shape, x.shape[:-1])
    for place in np.ndindex(3, 4):
        row, size = quantised(x[place].numpy())
        equal(y[place], row)
        equal(scale[place], np.array(size))


def test_dynamic_quant_of_zeros_ties_and_special_values_is_as_described() -> None:
    x = torch.tensor([[0.0, 0, 0, 0], [127, 2.5, 3.5, -0.5], [-127, 1, NAN, 1], [INF, 1, -INF, 0]], dtype=torch.float64)
    y, scale = QUANT.dynamic_quant(x)
    assert y.tolist() == [[0, 0, 0, 0], [127, 2, 4, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    equal(scale, np.array([1e-12 / 127, 1, NAN, INF]))
    halves, sizes = QUANT.dynamic_quant(x.half())
    assert torch.equal(halves, y)
    assert sizes.dtype is torch.float32


# add_rms_norm_dynamic_quant


def test_sum_norm_and_quantisation_are_the_loop_over_rows() -> None:
    left, right, gamma = draw(3, 2, 21), draw(3, 2, 21, seed=1), draw(21, seed=2)
    y, total, scale = ADD_QUANT.add_rms_norm_dynamic_quant(left, right, gamma, 1e-3)
    equal(total, left + right)
    for place in np.ndindex(3, 2):
        row = (left + right)[place].numpy()
        expected, size = quantised(row / math.sqrt((row**2).mean() + 1e-3) * gamma.numpy())
        equal(y[place], expected)
        equal(scale[place], np.array(size))


def test_sum_norm_and_quantisation_of_zeros_and_special_values_are_as_described() -> None:
    left = torch.tensor([[1.0, -2, 0], [1, NAN, 0], [INF, 1, 2]], dtype=torch.float16)
    right = torch.tensor([[-1.0, 2, 0], [1, 1, 1], [1, 1, 1]], dtype=torch.float16)
    y, total, scale = ADD_QUANT.add_rms_norm_dynamic_quant(left, right, torch.ones(3).half())
    assert not y.any()
    equal(total.double(), np.array([[0, 0, 0], [2, NAN, 1], [INF, 2, 3]]))
    equal(scale.double(), np.array([1e-12 / 127, NAN, NAN]), rtol=1e-6)


# dequant_swiglu_quant


@pytest.mark.parametrize("is_left", [False, True])
@pytest.mark.parametrize("has_factor", [False, True])
@pytest.mark.parametrize("is_integer", [False, True])
def test_swiglu_between_quantised_products_is_the_loop_over_rows(is_left: bool, has_factor: bool, is_integer: bool) -> None:
    rows, width = 4, 7
    columns, tokens, factor = draw(1, 2 * width).abs(), draw(rows).abs(), draw(1, width, seed=1) if has_factor else None
    x = (draw(rows, 2 * width) * 9).round().int() if is_integer else draw(rows, 2 * width)
    scales = (columns, tokens) if is_integer else (None, None)
    y, scale = SWIGLU.dequant_swiglu_quant(x, *scales, factor, is_left)
    for row in range(rows):
        values = x[row].double().numpy() * (columns[0].numpy() * float(tokens[row]) if is_integer else 1)
        gate, other = (values[:width], values[width:]) if is_left else (values[width:], values[:width])
        expected, size = quantised(gate / (1 + np.exp(-gate)) * other * (factor[0].numpy() if factor is not None else 1))
        equal(y[row], expected)
        equal(scale[row], np.array(size))


def test_swiglu_between_quantised_products_of_zeros_and_special_values_is_as_described() -> None:
    x = torch.tensor([[0.0, 5, 1, 0], [NAN, 1, 1, 1], [INF, 1, 1, 1], [1, 1, -INF, 1]], dtype=torch.bfloat16)
    y, scale = SWIGLU.dequant_swiglu_quant(x)
    assert not y.any()
    equal(scale.double(), np.array([1e-12, NAN, INF, NAN]), rtol=1e-6)


def test_swiglu_between_quantised_products_wants_scales_with_integers_and_only_then() -> None:
    x = draw(2, 4)
    with pytest.raises(ValueError, match="weight_scale and activation_scale are needed"):
        SWIGLU.dequant_swiglu_quant(x.int())
    with pytest.raises(ValueError, match="have to be None"):
        SWIGLU.dequant_swiglu_quant(x, x[:1], x[:, 0])
    with pytest.raises(ValueError, match="odd length"):
        SWIGLU.dequant_swiglu_quant(x[:, :3])
