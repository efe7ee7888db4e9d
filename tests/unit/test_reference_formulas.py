"""Are the formulas of the example and baseline kernels accurate enough? Their steps in NumPy float32, with the kernels' own coefficients, against torch."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "kernels/reference/csrc/ops/gelu/op_kernel/gelu_math.h"
BASELINE = ROOT / "src/piton/suites/piton/baselines/csrc/ops/gelu/op_kernel/gelu_kernel.cpp"
TYPES = {"float": torch.float32, "half": torch.float16, "bfloat16_t": torch.bfloat16}
TAU = {torch.float32: 2.0**-13, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
SMALL = {torch.float32: (2.0**-14, 2.0**-30), torch.float16: (2.0**-11, 2.0**-16), torch.bfloat16: (2.0**-8, 2.0**-16)}
"""Small-value bound and error, from the precision standard."""
RANGES = [(-1, 1), (-3, 3), (-10, 10), (-100, 100), (-0.1, 0.1), (-5, 10), (-1000, 1000), (-65504, 65504), (-3e38, 3e38), (-6.5, -5), (-9, -6), (0, 0)]


def numbers(text: str) -> list[float]:
    """The C++ float literals in `text`."""
    return [float(np.float32(item)) for item in re.findall(r"-?\d+\.\d+(?:e-?\d+)?(?=f)", text)]


def reference_terms(type_name: str) -> list[float]:
    body = re.search(rf"struct LogTail<{type_name}> .*?kTerm\[kTerms\] = {{(.*?)}};", REFERENCE.read_text(), re.S)
    assert body is not None
    return numbers(body.group(1))


def baseline_terms() -> list[float]:
    text = BASELINE.read_text()
    body, leading = re.search(r"kTerms\[\] = {(.*?)};", text), re.search(r"Duplicate\(power, (.*?), count", text)
    assert body is not None
    assert leading is not None
    return numbers(body.group(1)) + numbers(leading.group(1))


def exponential(x: np.ndarray, ulp: int) -> np.ndarray:
    """float32 exp, off by `ulp` units in the last place: the chip's accuracy is not published."""
    return np.exp(x.astype(np.float64)).astype(np.float32) * np.float32(1 + ulp * 2.0**-23)


def gelu_exact(x: np.ndarray, terms: list[float], ulp: int) -> np.ndarray:
    """The steps of GeluExact, each rounded to float32."""
    y = x * np.float32(0.5)
    b = np.abs(y)
    y = y + b
    b = np.minimum(b, np.float32(4))
    work = b * np.float32(terms[-1])
    for term in terms[-2:0:-1]:
        work = (work + np.float32(term)) * b
    work = exponential(work + np.float32(terms[0]), ulp)
    return y - work * b


def gelu_tanh(x: np.ndarray, ulp: int) -> np.ndarray:
    """The steps of GeluTanh."""
    linear, cubic = (numbers(match)[0] for match in re.findall(r"kTanh(?:Linear|Cubic) = (.*?);", REFERENCE.read_text()))
    y = (x * x * np.float32(cubic) + np.float32(linear)) * x
    return x / (exponential(y, ulp) + np.float32(1))


def sample(low: float, high: float, dtype: torch.dtype) -> np.ndarray:
    """Values of `dtype` in [low, high], as float32."""
    values = np.random.default_rng(7).uniform(low, high, 100_000).astype(np.float32)
    return torch.from_numpy(values).to(dtype).float().numpy()


def assert_within_standard(x: np.ndarray, y: np.ndarray, form: str, dtype: torch.dtype) -> None:
    """Half of the mean bound, and no large error but in the small-value region, where none may count as an error."""
    golden = torch.nn.functional.gelu(torch.from_numpy(x).double(), approximate=form).to(dtype).double().numpy()
    got = torch.from_numpy(y).to(dtype).double().numpy()
    np.testing.assert_array_equal(np.isnan(got), np.isnan(golden))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(golden))
    finite = np.isfinite(golden)
    got, golden = got[finite], golden[finite]
    error = np.abs(got - golden) / (np.abs(golden) + 1e-7)
    bound, allowed = SMALL[dtype]
    small = np.abs(golden) < bound
    if (~small).any():
        assert error[~small].mean() < TAU[dtype] / 2
    assert np.all(error[~small] < 10 * TAU[dtype])
    assert np.all((error[small] < 10 * TAU[dtype]) | (np.abs(got - golden)[small] <= allowed))


@pytest.mark.parametrize("ulp", [-1, 0, 1])
@pytest.mark.parametrize("type_name", TYPES)
def test_gelu_exact_of_the_reference_kernels_meets_the_standard_in_every_range(type_name: str, ulp: int) -> None:
    with np.errstate(all="ignore"):
        for low, high in RANGES:
            x = sample(low, high, TYPES[type_name])
            assert_within_standard(x, gelu_exact(x, reference_terms(type_name), ulp), "none", TYPES[type_name])


@pytest.mark.parametrize("ulp", [-1, 1])
@pytest.mark.parametrize("type_name", TYPES)
def test_gelu_tanh_meets_the_standard_in_every_range(type_name: str, ulp: int) -> None:
    with np.errstate(all="ignore"):
        for low, high in RANGES:
            x = sample(low, high, TYPES[type_name])
            assert_within_standard(x, gelu_tanh(x, ulp), "tanh", TYPES[type_name])


def test_gelu_exact_of_the_baseline_uses_the_float32_polynomial_for_every_type() -> None:
    assert baseline_terms() == reference_terms("float")


@pytest.mark.parametrize("form", ["none", "tanh"])
def test_gelu_of_special_values_is_what_the_definition_says(form: str) -> None:
    x = np.array([-np.inf, np.inf, np.nan, 0.0, -0.0, 3.4e38, -3.4e38, 1e-40], dtype=np.float32)
    with np.errstate(all="ignore"):
        y = gelu_exact(x, reference_terms("float"), 0) if form == "none" else gelu_tanh(x, 0)
    assert_within_standard(x, y, form, torch.float32)


def test_the_fit_reproduces_the_coefficients_of_the_kernel() -> None:
    fit = runpy.run_path(str(ROOT / "kernels/reference/tools/fit_gelu.py"))["fit"]
    terms, error = fit(4)
    np.testing.assert_allclose(terms, reference_terms("bfloat16_t"), rtol=1e-4)
    assert 1.4e-3 < error < 1.6e-3
