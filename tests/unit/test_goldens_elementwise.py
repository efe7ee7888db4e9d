"""Do the goldens of the elementwise, broadcast and foreach operators compute what their desc.md defines? Checked against plain Python, value by value."""

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
POINTS = [-30.0, -9.5, -4.0, -1.5, -0.25, -1e-3, 0.0, 1e-3, 0.5, 1.0, 2.75, 6.0, 21.0]
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
INTEGERS = [torch.int16, torch.int32, torch.int64]


def golden(name: str) -> ModuleType:
    member = load_suite().member(name)
    assert member is not None
    spec = importlib.util.spec_from_file_location(f"golden_{name}", member.operator.golden_path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def function(name: str) -> Callable[..., Any]:
    found = getattr(golden(name), name)
    assert callable(found)
    return found


SIGMOID, MISH, SWI_GLU, MASKED_SCALE = function("sigmoid"), function("mish"), function("swi_glu"), function("masked_scale")
ADDCDIV, NORM, MAXIMUM, GCD, ADAM = (function(name) for name in ("foreach_addcdiv_scalar", "foreach_norm", "maximum", "gcd", "apply_adam_w"))
BUILD_NORM = golden("foreach_norm").get_input


def wide(values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def same(found: torch.Tensor, expected: Any, dtype: torch.dtype = torch.float64) -> None:
    torch.testing.assert_close(found, torch.tensor(expected, dtype=dtype), rtol=0, atol=0, equal_nan=True)


def spread(low: float, high: float, count: int) -> torch.Tensor:
    """Evenly spaced numbers in no order."""
    return torch.linspace(low, high, count)[torch.randperm(count, generator=torch.Generator().manual_seed(1))]


def near(found: torch.Tensor, expected: Any, rtol: float = 1e-14) -> None:
    torch.testing.assert_close(found, wide(expected), rtol=rtol, atol=0)


def test_sigmoid_is_the_logistic_function() -> None:
    near(SIGMOID(wide(POINTS)), [1 / (1 + math.exp(-x)) for x in POINTS])


@pytest.mark.parametrize("dtype", FLOATS)
def test_sigmoid_of_special_values_is_as_described(dtype: torch.dtype) -> None:
    same(SIGMOID(torch.tensor([NAN, INF, -INF, 0, -0.0, 60], dtype=dtype)), [NAN, 1, 0, 0.5, 0.5, 1], dtype)


def test_mish_is_the_input_times_the_tangent_of_its_softplus() -> None:
    powers = [(x, math.exp(x)) for x in POINTS]
    near(MISH(wide(POINTS)), [x * w * (w + 2) / (w * (w + 2) + 2) for x, w in powers])


@pytest.mark.parametrize("dtype", FLOATS)
def test_mish_of_special_values_is_as_described(dtype: torch.dtype) -> None:
    largest = torch.finfo(dtype).max
    same(MISH(torch.tensor([NAN, INF, -INF, 0, largest, 100], dtype=dtype)), [NAN, INF, NAN, 0, largest, 100], dtype)


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -3])
def test_swi_glu_weights_the_second_half_of_an_axis_by_the_swish_of_the_first(dim: int) -> None:
    x = torch.linspace(-5, 4, 4 * 6 * 2, dtype=torch.float64).reshape(4, 6, 2)
    gates, values = (x.movedim(dim, 0)[part].reshape(-1).tolist() for part in (slice(None, x.shape[dim] // 2), slice(x.shape[dim] // 2, None)))
    found = SWI_GLU(x, dim)
    assert found.is_contiguous()
    near(found.movedim(dim, 0).reshape(-1), [a / (1 + math.exp(-a)) * b for a, b in zip(gates, values, strict=True)])


def test_swi_glu_without_attributes_splits_the_last_axis_and_refuses_an_odd_one() -> None:
    x = torch.arange(12, dtype=torch.float64).reshape(2, 6)
    assert torch.equal(SWI_GLU(x), SWI_GLU(x, 1))
    with pytest.raises(ValueError, match="has to be even"):
        SWI_GLU(torch.ones(2, 3))


@pytest.mark.parametrize("dtype", FLOATS)
def test_swi_glu_of_special_values_is_as_described(dtype: torch.dtype) -> None:
    pairs = torch.tensor([[NAN, 1], [1, NAN], [INF, -2], [INF, 0], [-INF, 1], [0, INF], [-1, INF], [-20000, 3]], dtype=dtype)
    same(SWI_GLU(pairs)[:, 0], [NAN, NAN, -INF, NAN, NAN, NAN, -INF, 0], dtype)


@pytest.mark.parametrize("mask", [torch.int8, torch.uint8, torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("dtype", FLOATS)
def test_masked_scale_is_the_product_of_all_three(dtype: torch.dtype, mask: torch.dtype) -> None:
    x, factors = torch.tensor(POINTS, dtype=dtype), [0, 1, 2, 100, 127] * 3
    given = torch.tensor(factors[: len(POINTS)], dtype=mask)
    expected = [a * b * 0.5 for a, b in zip(x.tolist(), given.tolist(), strict=True)]
    same(MASKED_SCALE(x, given, 0.5), expected, dtype)
    assert torch.equal(MASKED_SCALE(x, given), MASKED_SCALE(x, given, 1.0))


def test_masked_scale_multiplies_and_does_not_select() -> None:
    x, mask = wide([NAN, INF, -INF, INF, 3]), torch.tensor([0, 0, 2, 1, 0], dtype=torch.int8)
    same(MASKED_SCALE(x, mask, -2.0), [NAN, NAN, INF, -INF, -0.0])
    same(MASKED_SCALE(torch.tensor([600.0], dtype=torch.float16), torch.tensor([127], dtype=torch.uint8), 0.25), [600 * 127 / 4], torch.float16)


def test_addcdiv_adds_the_scaled_quotient_in_every_tensor_of_the_lists() -> None:
    shapes = [(2, 3), (5,), (1, 2, 2)]
    lists = [[torch.rand(shape, dtype=torch.float64) + offset for shape in shapes] for offset in (-0.5, -0.25, 0.5)]
    for found, *terms in zip(ADDCDIV(*lists, scalar=-1.5), *lists, strict=True):
        expected = [a + b / c * -1.5 for a, b, c in zip(*(term.flatten().tolist() for term in terms), strict=True)]
        assert found.shape == terms[0].shape
        near(found.flatten(), expected)


def test_addcdiv_of_special_values_is_as_described() -> None:
    terms = [(NAN, 1, 1), (1, 1, 0), (1, -1, 0), (1, 0, 0), (1, INF, INF), (-INF, INF, 1), (2, 5, INF)]
    (found,) = ADDCDIV(*([wide([term[place] for term in terms])] for place in range(3)), 2.0)
    same(found, [NAN, INF, -INF, NAN, NAN, NAN, 2])
    assert ADDCDIV([], [], [], 1.0) == []


def test_addcdiv_refuses_lists_of_unequal_length() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ADDCDIV([wide([1]), wide([1])], [wide([1])], [wide([1])], 1.0)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, 0.5, 2.5, -1.0, -2.0])
def test_a_norm_is_the_root_of_the_sum_of_powers_of_each_tensor(order: float) -> None:
    x = [wide([[3, -4, 0.5], [1, 2, -2]]), wide([-7]), wide([[[0.25], [9]]])]
    for found, item in zip(NORM(x, order), x, strict=True):
        assert found.shape == ()
        near(found, math.fsum(abs(value) ** order for value in item.flatten().tolist()) ** (1 / order))


def test_norms_of_infinite_order_and_order_zero_are_as_described() -> None:
    x = [wide([[3, -4, 0], [1, 0, -2]]), wide([-7])]
    assert [item.item() for item in NORM(x, INF)] == [4, 7]
    assert [item.item() for item in NORM(x, -INF)] == [0, 7]
    assert [item.item() for item in NORM(x, 0.0)] == [4, 1]
    assert NORM([], 2.0) == []


@pytest.mark.parametrize("dtype", FLOATS)
def test_norms_of_special_values_are_as_described(dtype: torch.dtype) -> None:
    nan, inf, zero = (torch.tensor([value, 2, -3], dtype=dtype) for value in (NAN, -INF, 0))
    for order, expected in {1.0: [NAN, INF, 5], INF: [NAN, INF, 3], -INF: [NAN, 2, 0], 0.0: [3, 3, 2], -1.0: [NAN, 1.2, 0]}.items():
        for found, value in zip(NORM([nan, inf, zero], order), expected, strict=True):
            torch.testing.assert_close(found, torch.tensor(value, dtype=dtype), equal_nan=True)
    assert [item.item() for order in (0.0, 1.0, INF, -2.0) for item in NORM([torch.zeros(3, dtype=dtype)], order)] == [0] * 4


def test_a_sum_of_half_precision_powers_is_formed_in_float32() -> None:
    same(NORM([torch.full((400,), 300, dtype=torch.float16)], 2.0)[0], 6000, torch.float16)


@pytest.mark.parametrize("order", [1.0, 2.0, INF, -10.0, 0.0])
def test_inputs_of_a_norm_follow_the_seed_and_fill_their_range(order: float) -> None:
    low, high = (1.0, 4.0) if order < 0 else (-1.0, 4.0)
    x = [spread(low, high, 16000).reshape(4, -1), spread(low, high, 3200)]
    (first,), (again,), (other,) = (BUILD_NORM(x, order, seed) for seed in (1, 1, 2))
    for made, repeated, another, before in zip(first, again, other, x, strict=True):
        assert torch.equal(made, repeated)
        assert (made.shape, made.dtype) == (before.shape, before.dtype)
        assert made.min() >= low
        assert made.max() <= high
        assert made.max() - made.min() >= 0.9 * (high - low)
        norms = [NORM([item], order)[0].item() for item in (made, another)]
        assert abs(norms[0] - norms[1]) > 0.001 * norms[0]


def test_a_part_of_the_inputs_of_a_norm_does_not_stand_for_the_whole() -> None:
    (made,) = BUILD_NORM([spread(-1, 1, 16000)], 1.0, 3)
    parts = [NORM([part], 1.0)[0].item() for part in made[0].tensor_split(16)]
    assert max(parts) > 4 * min(parts)


@pytest.mark.parametrize("order", [2.0, -INF])
def test_special_values_stay_in_the_first_tensor_of_a_norm(order: float) -> None:
    x = [torch.tensor([NAN, 1.0, 2.0, -3.0, INF]), torch.tensor([NAN, 1.0, 2.0, -3.0, INF])]
    ((first, second),) = BUILD_NORM(x, order, 5)
    assert not first.isfinite().all()
    assert second.isfinite().all()


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int8, torch.int32, torch.int64])
def test_maximum_broadcasts_and_takes_the_larger(dtype: torch.dtype) -> None:
    x1, x2 = torch.tensor([[[3, -4, 5]], [[-100, 7, 0]]], dtype=dtype), torch.tensor([[1], [-8]], dtype=dtype)
    expected = [[[max(a, b[0]) for a in row[0]] for b in [[1], [-8]]] for row in [[[3, -4, 5]], [[-100, 7, 0]]]]
    same(MAXIMUM(x1, x2), expected, dtype)
    same(MAXIMUM(x2, x1), expected, dtype)


def test_maximum_is_exact_at_the_ends_of_the_integers() -> None:
    least, most = -(2**63), 2**63 - 1
    ends = torch.tensor([least, most, most - 1, least])
    assert MAXIMUM(ends, torch.tensor([least + 1, most - 1, most, least])).tolist() == [least + 1, most, most, least]


@pytest.mark.parametrize("dtype", FLOATS)
def test_maximum_of_special_values_is_as_described(dtype: torch.dtype) -> None:
    x1, x2 = (torch.tensor(values, dtype=dtype) for values in ([NAN, 1, NAN, INF, -INF, -INF], [1, NAN, INF, 3, 3, -INF]))
    same(MAXIMUM(x1, x2), [NAN, NAN, NAN, INF, 3, -INF], dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_gcd_is_euclids_at_every_pair_of_signs_and_at_the_ends(dtype: torch.dtype) -> None:
    bounds = torch.iinfo(dtype)
    numbers = [0, 1, -1, 12, -18, 97, 5040, -30030, 2**14, bounds.max, bounds.max - 1, bounds.min + 1, bounds.min]
    expected = [[math.gcd(a, b) for b in numbers] for a in numbers]
    wrapped = [[bounds.min if value > bounds.max else value for value in row] for row in expected]
    given = torch.tensor(numbers, dtype=dtype)
    found = GCD(given[:, None], given)
    assert found.dtype == dtype
    assert found.tolist() == wrapped


def adam(var: float, grad: float, m: float, v: float, **a: Any) -> float:
    first = (a["beta1"] * m + (1 - a["beta1"]) * grad) / (1 - a["beta1"] ** a["step"])
    second = (a["beta2"] * v + (1 - a["beta2"]) * grad**2) / (1 - a["beta2"] ** a["step"])
    update = first / (math.sqrt(second) + a["epsilon"]) + a["weight_decay"] * var
    return float(var + a["lr"] * update if a["maximize"] else var - a["lr"] * update)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("step", [1, 7])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize("beta1", [0.0, 0.9])
def test_adam_w_moves_each_parameter_by_the_definition(beta1: float, weight_decay: float, step: int, maximize: bool) -> None:
    inputs = [torch.rand(3, 5, dtype=torch.float64) - offset for offset in (0.5, 0.5, 0.3, 0.0)]
    before = [item.clone() for item in inputs]
    settings = {"lr": 0.05, "beta1": beta1, "beta2": 0.99, "weight_decay": weight_decay, "epsilon": 1e-3, "step": step, "maximize": maximize}
    rows = zip(*(item.flatten().tolist() for item in inputs), strict=True)
    near(ADAM(*inputs, **settings).flatten(), [adam(*row, **settings) for row in rows], rtol=1e-12)
    assert all(torch.equal(old, new) for old, new in zip(before, inputs, strict=True))


@pytest.mark.parametrize("step", [1, 2, 3])
def test_adam_w_agrees_with_the_optimiser_of_torch(step: int) -> None:
    weight = torch.nn.Parameter(torch.rand(4, 3, dtype=torch.float64))
    optimiser = torch.optim.AdamW([weight], lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.3)
    moments = [torch.zeros(4, 3, dtype=torch.float64)] * 2
    for number in range(1, step + 1):
        weight.grad = torch.rand(4, 3, dtype=torch.float64) - 0.5
        expected = ADAM(weight.detach(), weight.grad, *moments, 0.02, 0.8, 0.95, 0.3, 1e-6, number)
        optimiser.step()
        moments = [optimiser.state[weight][name].clone() for name in ("exp_avg", "exp_avg_sq")]
    torch.testing.assert_close(weight.detach(), expected, rtol=1e-12, atol=0)


def test_adam_w_of_special_values_is_as_described() -> None:
    def one(var: float, grad: float, m: float, v: float, weight_decay: float = 0.0, maximize: bool = False) -> float:
        tensors = (wide([value]) for value in (var, grad, m, v))
        return float(ADAM(*tensors, 0.1, 0.9, 0.999, weight_decay, maximize=maximize).item())

    assert math.isnan(one(NAN, 1, 0, 1))
    assert one(INF, 1, 0, 1) == INF
    assert math.isnan(one(INF, 1, 0, 1, 0.1))
    assert one(INF, 1, 0, 1, 0.1, maximize=True) == INF
    assert math.isnan(one(1, INF, 0, 1))
    assert math.isnan(one(1, 0, 0, -1))
    assert one(2, 0, 0, 0, 0.5) == pytest.approx(2 * (1 - 0.05))
    assert one(0, 0, 1e-8, 0) == pytest.approx(-0.1 * 0.9e-8 / 0.1 / 1e-8)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_of_these_operators_are_rounded_once(dtype: torch.dtype) -> None:
    x = torch.linspace(-4, 4, 4002).to(dtype)
    positive = x.abs() + 0.5
    for run, tensors in ((SIGMOID, (x,)), (MISH, (x,)), (SWI_GLU, (x,))):
        assert torch.equal(run(*tensors), run(*(item.float() for item in tensors)).to(dtype))
    assert torch.equal(ADDCDIV([x], [x], [positive], 0.3)[0], ADDCDIV([x.float()], [x.float()], [positive.float()], 0.3)[0].to(dtype))
    given = (x, x.flip(0), x / 8, positive)
    assert torch.equal(ADAM(*given, 0.1, 0.9, 0.99, 0.1), ADAM(*(item.float() for item in given), 0.1, 0.9, 0.99, 0.1).to(dtype))
    assert all(item.is_contiguous() for item in (SIGMOID(x), MISH(x), SWI_GLU(x)))
