"""Do Piton's goldens compute what desc.md defines? Checked against the C library, value by value."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable

import pytest
import torch

from piton.catalog import load_suite

INF, NAN = math.inf, math.nan
POINTS = [-9.5, -4.0, -1.5, -1.0, -0.25, -1e-3, 0.0, 1e-3, 0.5, 1.0, 2.75, 6.0, 11.0]


def golden(name: str) -> Callable[..., torch.Tensor]:
    member = load_suite().member(name)
    assert member is not None
    spec = importlib.util.spec_from_file_location(f"golden_{name}", member.operator.golden_path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name)
    assert callable(function)
    return function


EXP, GELU, RMS_NORM, SOFTMAX = golden("exp"), golden("gelu"), golden("rms_norm"), golden("softmax")


def wide(values: list[float]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def phi_erf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def phi_tanh(x: float) -> float:
    return 0.5 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (0.5, 1.25), (-2.0, -0.5)])
@pytest.mark.parametrize("base", [-1.0, 0.0, 2.0, 0.5, 1.0, 10.0])
def test_exp_is_the_power_of_its_base(base: float, scale: float, shift: float) -> None:
    ground = math.e if base <= 0 else base
    expected = wide([ground ** (scale * x + shift) for x in POINTS])
    torch.testing.assert_close(EXP(wide(POINTS), base, scale, shift), expected, rtol=1e-13, atol=0)


def test_exp_without_attributes_is_natural() -> None:
    torch.testing.assert_close(EXP(wide(POINTS)), wide([math.exp(x) for x in POINTS]), rtol=1e-14, atol=0)


def test_exp_of_special_values_is_as_described() -> None:
    x = torch.tensor([NAN, INF, -INF, 1e4, -1e4], dtype=torch.float64)
    torch.testing.assert_close(EXP(x), wide([NAN, INF, 0, INF, 0]), equal_nan=True)
    torch.testing.assert_close(EXP(x, 0.5), wide([NAN, 0, INF, 0, INF]), equal_nan=True)
    torch.testing.assert_close(EXP(x, 1.0), wide([NAN, NAN, NAN, 1, 1]), equal_nan=True)


@pytest.mark.parametrize(("approximate", "phi"), [("none", phi_erf), ("tanh", phi_tanh)])
def test_gelu_is_x_times_its_distribution_function(approximate: str, phi: Callable[[float], float]) -> None:
    torch.testing.assert_close(GELU(wide(POINTS), approximate), wide([x * phi(x) for x in POINTS]), rtol=1e-13, atol=1e-15)


def test_gelu_without_attributes_is_exact() -> None:
    assert torch.equal(GELU(wide(POINTS)), GELU(wide(POINTS), "none"))
    assert not torch.equal(GELU(wide(POINTS)), GELU(wide(POINTS), "tanh"))


@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_gelu_of_special_values_is_as_described(dtype: torch.dtype, approximate: str) -> None:
    largest = torch.finfo(dtype).max
    x = torch.tensor([NAN, INF, -INF, 0, largest, -largest] * 5, dtype=dtype)
    expected = torch.tensor([NAN, INF, NAN, 0, largest, 0] * 5, dtype=dtype)
    torch.testing.assert_close(GELU(x, approximate), expected, rtol=0, atol=0, equal_nan=True)


def test_gelu_refuses_another_approximation() -> None:
    with pytest.raises(ValueError, match='"none" or "tanh"'):
        GELU(wide([1.0]), "sigmoid")


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_softmax_is_the_share_of_each_exponential_along_its_axis(dim: int) -> None:
    x = torch.linspace(-3, 4, 24, dtype=torch.float64).reshape(2, 3, 4)[:, :, [2, 0, 3, 1]]
    lines = x.movedim(dim, -1).reshape(-1, x.shape[dim])
    expected = [[math.exp(value) / math.fsum(math.exp(other) for other in line) for value in line] for line in lines.tolist()]
    found = SOFTMAX(x, dim).movedim(dim, -1).reshape(-1, x.shape[dim])
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-14, atol=0)


def test_softmax_without_attributes_runs_along_the_last_axis() -> None:
    x = torch.tensor([[0.0, 1.0, 5.0], [2.0, 2.0, -1.0]], dtype=torch.float64)
    assert torch.equal(SOFTMAX(x), SOFTMAX(x, 1))
    assert not torch.equal(SOFTMAX(x), SOFTMAX(x, 0))


def test_softmax_refuses_an_axis_that_is_not_there() -> None:
    with pytest.raises(IndexError):
        SOFTMAX(wide(POINTS), 1)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_softmax_of_special_values_is_as_described(dtype: torch.dtype) -> None:
    largest = torch.finfo(dtype).max
    rows = [[NAN, 0, 1], [INF, 0, 1], [-INF, 3, 3], [-INF, -INF, -INF], [largest, -largest, -largest], [0, -900, -900]]
    expected = [[NAN] * 3, [NAN] * 3, [0, 0.5, 0.5], [NAN] * 3, [1, 0, 0], [1, 0, 0]]
    found = SOFTMAX(torch.tensor(rows, dtype=dtype))
    torch.testing.assert_close(found, torch.tensor(expected, dtype=dtype), rtol=0, atol=0, equal_nan=True)
    assert SOFTMAX(torch.tensor([[5.0]], dtype=dtype)).item() == 1


@pytest.mark.parametrize("epsilon", [1e-6, 0.5])
def test_rms_norm_divides_each_row_by_its_root_mean_square(epsilon: float) -> None:
    x, gamma = wide(POINTS * 2).reshape(2, -1) * torch.tensor([[1.0], [0.01]]), wide([0.1 * index - 0.3 for index in range(len(POINTS))])
    roots = [math.sqrt(math.fsum(value * value for value in row) / len(POINTS) + epsilon) for row in x.tolist()]
    expected = [[value / root * scale for value, scale in zip(row, gamma.tolist(), strict=True)] for row, root in zip(x.tolist(), roots, strict=True)]
    torch.testing.assert_close(RMS_NORM(x, gamma, epsilon), torch.tensor(expected, dtype=torch.float64), rtol=1e-13, atol=0)


def test_rms_norm_without_attributes_adds_a_millionth() -> None:
    x, gamma = wide([1e-4, -2e-4]), wide([1, 1])
    assert torch.equal(RMS_NORM(x, gamma), RMS_NORM(x, gamma, 1e-6))
    assert not torch.equal(RMS_NORM(x, gamma), RMS_NORM(x, gamma, 1e-5))


def test_rms_norm_refuses_a_gamma_of_another_size() -> None:
    with pytest.raises(RuntimeError):
        RMS_NORM(wide(POINTS), wide([1, 2]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_rms_norm_of_special_values_is_as_described(dtype: torch.dtype) -> None:
    rows = torch.tensor([[NAN, 0, 1], [INF, -2, 1], [0, 0, 0]], dtype=dtype)
    expected = torch.tensor([[NAN] * 3, [NAN, 0, 0], [0] * 3], dtype=dtype)
    torch.testing.assert_close(RMS_NORM(rows, torch.tensor([1, 2, 3], dtype=dtype)), expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_rounded_once(dtype: torch.dtype) -> None:
    """Every result is the float32 one, rounded; computing in the half type itself would be off by more than the tolerance."""
    x = torch.linspace(-4, 4, 4001).to(dtype)
    assert torch.equal(EXP(x, 2.0, 0.7, 0.3), EXP(x.float(), 2.0, 0.7, 0.3).to(dtype))
    assert torch.equal(GELU(x, "tanh"), GELU(x.float(), "tanh").to(dtype))
    assert torch.equal(SOFTMAX(x), SOFTMAX(x.float()).to(dtype))
    assert torch.equal(RMS_NORM(x, x), RMS_NORM(x.float(), x.float()).to(dtype))
