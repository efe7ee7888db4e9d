"""Does our comparison have a defect that another checker had (docs/precision.md, "Known defects")?"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from piton.core.dtype import DType
from piton.core.verdict import Cause, Verdict
from piton.numerics.compare import compare_output
from piton.numerics.dtypes import torch_name
from piton.numerics.impostors import as_output
from piton.numerics.tensors import GoldenOutput, golden_output
from piton.numerics.thresholds import default_tolerance

F32 = DType.FLOAT32
NOISE = np.random.default_rng(1).uniform(0.5, 2.0, 10_000)


def compared(got: GoldenOutput, golden: GoldenOutput) -> Cause:
    return compare_output(as_output(got), golden, default_tolerance(golden.dtype)).outcome.cause


def out(values: np.ndarray, dtype: DType = F32) -> GoldenOutput:
    return golden_output("y", values, dtype)


@pytest.mark.parametrize("dtype", [F32, DType.FLOAT16])
def test_a_uniform_error_of_nine_tau_passes_the_paper_and_fails_strict(dtype: DType) -> None:
    golden, got = out(NOISE, dtype), as_output(out(NOISE * (1 + 9 * default_tolerance(dtype).tau), dtype))
    tolerance = default_tolerance(dtype)
    paper = compare_output(got, golden, tolerance, "cann-bench")
    strict = compare_output(got, golden, tolerance, "strict")
    assert (paper.outcome.verdict, paper.precision_profile) == (Verdict.PASSED, "cann-bench")
    assert (strict.outcome.cause, strict.precision_profile) == (Cause.MEAN_ERROR, "strict")
    assert strict.outcome.numbers["mean_error"] == pytest.approx(9 * tolerance.tau, rel=0.05)


def test_int8_zeros_do_not_pass_for_a_float_output() -> None:
    zeros = golden_output("y", np.zeros(16, dtype=np.int8), DType.INT8)
    assert compared(zeros, out(np.zeros(16))) is Cause.DTYPE_MISMATCH


@pytest.mark.parametrize("lower", [DType.BFLOAT16, DType.FLOAT16, DType.FLOAT8_E4M3, DType.FLOAT8_E5M2])
def test_a_narrower_format_does_not_pass_for_float32(lower: DType) -> None:
    assert compared(out(np.ones(16), lower), out(np.ones(16))) is Cause.DTYPE_MISMATCH


def test_float16_bits_do_not_pass_for_bfloat16_of_the_same_size() -> None:
    golden = out(np.ones(16), DType.BFLOAT16)
    claimed = dataclasses.replace(as_output(out(np.ones(16), DType.FLOAT16)), dtype_name=torch_name(DType.BFLOAT16))
    assert compare_output(claimed, golden, default_tolerance(DType.BFLOAT16)).outcome.verdict is Verdict.WRONG_VALUE


@pytest.mark.parametrize("profile", ["strict", "cann-bench"])
@pytest.mark.parametrize("place", [0, 5_000, 9_999])
def test_a_nan_error_never_passes(profile: str, place: int) -> None:
    got = NOISE.copy()
    got[place] = np.nan
    assert compare_output(as_output(out(got)), out(NOISE), default_tolerance(F32), profile).outcome.cause is Cause.NAN_MISMATCH  # type: ignore[arg-type]


def test_all_nan_does_not_pass_for_numbers() -> None:
    assert compared(out(np.full(100, np.nan)), out(np.ones(100))) is Cause.NAN_MISMATCH


@pytest.mark.parametrize("dtype", [F32, DType.FLOAT16, DType.BFLOAT16])
@pytest.mark.parametrize("scale", [1.0, 1e-2, 1e-4])
def test_zeros_do_not_pass_for_small_numbers(dtype: DType, scale: float) -> None:
    """An absolute tolerance would let them pass. The native run is the rounded golden, as for a correct elementwise operator."""
    golden = out(NOISE * scale, dtype)
    result = compare_output(as_output(out(np.zeros(NOISE.size), dtype)), golden, default_tolerance(dtype), "strict", lambda: golden)
    assert result.outcome.verdict is Verdict.WRONG_VALUE


@pytest.mark.parametrize("shape", [(1,), (), (100, 1), (1, 100)])
def test_an_output_is_never_broadcast(shape: tuple[int, ...]) -> None:
    assert compared(out(np.ones(shape)), out(np.ones((100, 100)))) is Cause.SHAPE_MISMATCH


def test_a_flat_output_with_the_right_number_of_elements_is_no_match() -> None:
    assert compared(out(np.ones(10_000)), out(np.ones((100, 100)))) is Cause.SHAPE_MISMATCH


def test_a_transposed_view_is_no_contiguous_output() -> None:
    golden = out(np.ones((4, 4)))
    view = dataclasses.replace(as_output(golden), strides=(1, 4))
    assert compare_output(view, golden, default_tolerance(F32)).outcome.cause is Cause.NOT_CONTIGUOUS


def test_a_single_wrong_element_among_many_is_found_anywhere() -> None:
    golden = out(np.ones(300_001))
    for place in (0, 32_767, 32_768, 150_000, 300_000):
        got = np.ones(300_001)
        got[place] = 1.1
        assert compared(out(got), golden) is Cause.MAX_ERROR
