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


EXP, GELU = golden("exp"), golden("gelu")


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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_rounded_once(dtype: torch.dtype) -> None:
    """Every result is the float32 one, rounded; computing in the half type itself would be off by more than the tolerance."""
    x = torch.linspace(-4, 4, 4001).to(dtype)
    assert torch.equal(EXP(x, 2.0, 0.7, 0.3), EXP(x.float(), 2.0, 0.7, 0.3).to(dtype))
    assert torch.equal(GELU(x, "tanh"), GELU(x.float(), "tanh").to(dtype))
