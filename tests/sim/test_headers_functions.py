"""Composed elementwise functions of one and two tensors on the engine, in every form, against NumPy in double."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array

DTYPES = {"f16": np.float16, "f32": np.float32}
GIVEN, IN_PLACE, WHOLE = range(3)
FORMS = {"given": GIVEN, "in place": IN_PLACE, "whole": WHOLE}
N = 1040
"""No whole number of parts that fit 4 KiB of memory; a multiple of 16."""

erf = np.vectorize(math.erf)
erfc = np.vectorize(math.erfc)


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def swish(x: Array, beta: float = 1.5) -> Array:
    return x / (1 + np.exp(-beta * x))


def parabola(x: Array) -> Array:
    curve = 0.5 - 0.1444 * (np.minimum(np.abs(x) * 0.70710678, 1.769) - 1.769) ** 2
    return x * (np.sign(x) * np.maximum(curve, 0) + 0.5)


def half_up(x: Array) -> Array:
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


@dataclass(frozen=True)
class One:
    """A function of one tensor: its model, where it is looked at, relative and absolute error of floats, forms."""

    model: Callable[[Array], Array]
    low: float
    high: float
    rtol: float = 2e-6
    atol: float = 2e-7
    forms: tuple[int, ...] = (GIVEN, IN_PLACE, WHOLE)


COUNTED = (GIVEN, IN_PLACE)
ONES = {
    "sin": One(np.sin, -60000, 60000, 0, 3e-7),
    "cos": One(np.cos, -60000, 60000, 0, 3e-7),
    "tan": One(np.tan, -1.5, 1.5, 4e-6),
    "asin": One(np.arcsin, -1, 1),
    "acos": One(np.arccos, -1, 1, 2e-6, 3e-7),
    "atan": One(np.arctan, -60, 60),
    "sinh": One(np.sinh, -11, 11, 4e-6),
    "cosh": One(np.cosh, -11, 11, 4e-6),
    "asinh": One(np.arcsinh, -900, 900, 1e-6, 4e-7),
    "acosh": One(np.arccosh, 1, 900, 1e-6, 2e-6),
    "atanh": One(np.arctanh, -0.95, 0.95, 4e-6, 3e-7),
    "erf": One(erf, -6, 6, 1e-6, 1e-8),
    "erfc": One(erfc, -9, 9, 2e-5, 0),
    "round": One(half_up, -40, 40, 0, 0),
    "frac": One(lambda x: x - np.trunc(x), -40, 40, 0, 0),
    "gelu": One(gelu, -8, 8, 4e-6, 1e-7, COUNTED),
    "faster_gelu": One(lambda x: swish(x, 1.702), -8, 8, 4e-6, 1e-7, COUNTED),
    "faster_gelu_v2": One(parabola, -8, 8, 4e-6, 1e-6, COUNTED),
    "silu": One(lambda x: swish(x, 1.0), -8, 8, 4e-6, 1e-7, COUNTED),
    "swish": One(swish, -8, 8, 4e-6, 1e-7, COUNTED),
    "clamp": One(lambda x: np.clip(x, -2, 1.5), -8, 8, 0, 0, COUNTED),
    "exp_series": One(np.exp, -9, 9, 4e-6, 0, COUNTED),
    "exp_without_series": One(np.exp, -9, 9, 4e-6, 0, COUNTED),
}
TWOS: dict[str, Callable[[Array, Array], Array]] = {
    "fmod": np.fmod,
    "geglu": lambda x, y: x * gelu(y),
    "reglu": lambda x, y: x * np.maximum(y, 0),
    "swiglu": lambda x, y: x * swish(y),
}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def run(rig: Rig, name: str, data: Array, n: int, form: int) -> tuple[Array, list[str]]:
    """What the kernel leaves of `n` elements, and the causes of what was wrong."""
    rig.reset()
    out = rig.allocate(n * data.itemsize)
    report = rig.run_kernel(name, rig.upload(data), out, n, form)
    return rig.download(out, n, data.dtype), report.causes()


def close(got: Array, expected: Array, rtol: float, atol: float) -> None:
    """Halves are allowed their own rounding besides."""
    if got.dtype == np.float16:
        rtol, atol = rtol + 2.0**-10, atol + 2.0**-24
    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=rtol, atol=atol)


def values(low: float, high: float, n: int, dtype: Any) -> Array:
    """Evenly over the range, with its ends and what is near 0."""
    data = np.random.default_rng(n).uniform(low, high, n)
    data[:2] = low, high
    if low < 0:
        data[2:6] = 0.0, 1e-3, -1e-3, 0.5
    return np.clip(data, low, high).astype(dtype)


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("name", "form"), [(name, form) for name, one in ONES.items() for form in one.forms])
def test_a_function_of_one_tensor_gives_its_values(rig: Rig, name: str, form: int, kind: str) -> None:
    one = ONES[name]
    data = values(one.low, one.high, N, DTYPES[kind])
    got, causes = run(rig, f"{name} {kind}", data, N, form)
    assert causes == []
    close(got, one.model(data.astype(np.float64)), one.rtol, one.atol)


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
@pytest.mark.parametrize("name", TWOS)
def test_a_function_of_two_tensors_gives_its_values(rig: Rig, name: str, form: int, kind: str) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-8, 8, N).astype(DTYPES[kind]), (rng.uniform(1, 4, N) * rng.choice([-1, 1], N)).astype(DTYPES[kind])
    got, causes = run(rig, f"{name} {kind}", np.concatenate([x, y]), N, form)
    assert causes == []
    close(got, TWOS[name](x.astype(np.float64), y.astype(np.float64)), 4e-6, 2e-6)


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_xor_is_exclusive(rig: Rig, form: int) -> None:
    data = np.random.default_rng(4).integers(-(2**15), 2**15, 2 * N).astype(np.int16)
    got, causes = run(rig, "xor_of i16", data, N, form)
    assert causes == []
    assert np.array_equal(got, data[:N] ^ data[N:])


@pytest.mark.parametrize(
    ("name", "beyond", "limit"), [("atan", np.inf, np.pi / 2), ("erf", np.inf, 1), ("erfc", np.inf, 0), ("gelu", -30, 0), ("cosh", 89, np.cosh(89))]
)
def test_a_function_reaches_its_limit(rig: Rig, name: str, beyond: float, limit: float) -> None:
    got, causes = run(rig, f"{name} f32", np.full(16, beyond, np.float32), 16, GIVEN)
    assert causes == []
    np.testing.assert_allclose(got, limit, rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize(("name", "outside"), [("asin", 1.5), ("acos", -2.0), ("acosh", 0.5), ("atanh", 2.0)])
def test_a_function_is_not_a_number_outside_its_range(rig: Rig, name: str, outside: float) -> None:
    assert np.isnan(run(rig, f"{name} f32", np.full(16, outside, np.float32), 16, GIVEN)[0]).all()


def test_memory_of_a_function_that_is_what_it_reads_is_reported(rig: Rig) -> None:
    assert run(rig, "overlap f32", np.ones(2048, np.float32), 2048, GIVEN)[1][0] == "bad_overlap"


def test_a_preload_changes_nothing_that_a_kernel_sees(rig: Rig) -> None:
    data = np.arange(64, dtype=np.float32)
    got, causes = run(rig, "preload f32", data, 64, 3)
    assert causes == []
    assert np.array_equal(got, data)


def test_a_preload_beyond_the_instruction_cache_is_refused(rig: Rig) -> None:
    assert run(rig, "preload f32", np.arange(64, dtype=np.float32), 64, 16)[1] == ["bad_parameter"]
