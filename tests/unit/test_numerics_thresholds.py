"""Are the thresholds those of the precision standard, and do an operator's own change only what they may?"""

from __future__ import annotations

import math

import pytest

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.operator import Operator, TensorSpec
from piton.numerics.thresholds import default_tolerance, lint_thresholds, relaxation_cap, tolerance_for

TABLE = [
    # dtype, tau, tau_sv, eps_sv, tau_cz = tau_cb: paper, table 4, and appendix A, tables 6 and 7
    (DType.FLOAT16, -10, -11, -16, -5),
    (DType.BFLOAT16, -7, -8, -16, -3),
    (DType.FLOAT32, -13, -14, -30, -8),
    (DType.HIFLOAT32, -11, -12, -28, -8),
    (DType.FLOAT8_E4M3, -3, -4, -6, -1),
    (DType.FLOAT8_E5M2, -2, -3, -5, 0),
]

OWN_ROWS = [
    # formats that the standard does not have yet: docs/precision.md
    (DType.HIFLOAT8, -3, -4, -6, -1),
    (DType.FLOAT4_E2M1, -3, -4, -6, -1),
]


def operator(dtypes: tuple[DType, ...], thresholds: dict[DType, float]) -> Operator:
    spec = TensorSpec(name="y", dtypes=dtypes)
    return Operator(name="op", title="Op", level=1, category="", schema_text="", inputs=(), outputs=(spec,), thresholds=thresholds)


@pytest.mark.parametrize(("dtype", "tau", "small", "error", "cancel"), [*TABLE, *OWN_ROWS])
def test_every_row_of_the_table_is_as_written_down(dtype: DType, tau: int, small: int, error: int, cancel: int) -> None:
    row = default_tolerance(dtype)
    assert (row.tau, row.default_tau, row.max_bound) == (2.0**tau, 2.0**tau, 10 * 2.0**tau)
    assert (row.small_bound, row.small_error) == (2.0**small, 2.0**error)
    assert row.cancel_zero == row.cancel_bound == 2.0**cancel


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if not dtype.is_floating])
def test_integers_and_bool_are_exact_by_default(dtype: DType) -> None:
    assert default_tolerance(dtype).tau == 0


def test_scales_of_mx_have_to_be_equal() -> None:
    assert default_tolerance(DType.FLOAT8_E8M0).max_bound == 0


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if dtype.is_floating])
def test_every_floating_type_has_a_row(dtype: DType) -> None:
    assert default_tolerance(dtype).tau < 1


def test_an_operators_threshold_replaces_tau_and_nothing_else() -> None:
    relaxed = tolerance_for(operator((DType.FLOAT32,), {DType.FLOAT32: 0.001}), "y", DType.FLOAT32)
    default = default_tolerance(DType.FLOAT32)
    assert (relaxed.tau, relaxed.default_tau) == (0.001, default.tau)
    assert (relaxed.small_bound, relaxed.cancel_bound) == (default.small_bound, default.cancel_bound)


def test_a_threshold_for_another_dtype_changes_nothing() -> None:
    assert tolerance_for(operator((DType.FLOAT32,), {DType.FLOAT16: 0.1}), "y", DType.FLOAT32) == default_tolerance(DType.FLOAT32)


@pytest.mark.parametrize("tau", [math.nan, math.inf, -1.0])
def test_a_threshold_that_accepts_anything_is_our_error(tau: float) -> None:
    with pytest.raises(EvaluatorError, match="not a tolerance"):
        tolerance_for(operator((DType.FLOAT32,), {DType.FLOAT32: tau}), "y", DType.FLOAT32)


def test_relaxation_up_to_ten_times_needs_no_reason() -> None:
    assert lint_thresholds(operator((DType.FLOAT16,), {DType.FLOAT16: 10 * 2.0**-10})) == ()


def test_relaxation_above_ten_times_needs_a_reason() -> None:
    loose = operator((DType.FLOAT16,), {DType.FLOAT16: 10.01 * 2.0**-10})
    assert len(lint_thresholds(loose)) == 1
    assert lint_thresholds(loose, reasoned={DType.FLOAT16}) == ()


def test_a_nan_threshold_is_reported() -> None:
    assert lint_thresholds(operator((DType.FLOAT16,), {DType.FLOAT16: math.nan}))


def test_a_threshold_for_a_dtype_without_an_output_is_reported() -> None:
    assert "which no output has" in lint_thresholds(operator((DType.FLOAT16,), {DType.FLOAT32: 2.0**-13}))[0]


def test_one_quantisation_step_is_free_and_two_are_not() -> None:
    assert (relaxation_cap(DType.INT8), relaxation_cap(DType.BOOL)) == (1.0, 0.0)
    assert lint_thresholds(operator((DType.INT8,), {DType.INT8: 2.0}))
