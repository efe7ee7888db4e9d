"""Thresholds of the precision standard per dtype, and what an operator's own thresholds make of them.

Source: CANN Bench paper (arXiv 2607.20518), section 3.1 table 4 (tau) and appendix A tables 6 and 7 (regions).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.operator import Operator

RELAXATION_CAP = 10.0
"""An operator may relax tau up to this factor without a written reason (paper, "Per-operator relaxation")."""

MAX_OVER_MEAN = 10.0
"""The max gate is this many times the mean gate tau (paper, equation 2)."""

GUARD = 1e-7
"""Added to |golden| in the relative error (paper, equation 1)."""

ERROR_RATIO = 2
"""Errors in a region per error of the same-dtype run that are still accepted (paper, equation 3)."""

QUANTISED_TOLERANCE = 1.0
"""Largest absolute tolerance of an integer output that needs no written reason: one quantisation step."""


@dataclass(frozen=True)
class Tolerance:
    """Everything the comparison of one output needs to know; for integers and bool only `tau`, an absolute tolerance, counts."""

    tau: float
    """Mean gate of a floating output, absolute tolerance of an integer one."""
    default_tau: float
    """What the standard gives for the dtype."""
    small_bound: float = 0.0
    """tau_sv: |golden| below it is the small-value region."""
    small_error: float = 0.0
    """eps_sv: absolute error from which a small value counts as wrong."""
    cancel_zero: float = 0.0
    """tau_cz: a candidate below it may have lost its digits to cancellation."""
    cancel_bound: float = 0.0
    """tau_cb: upper end of |golden| of the cancellation region."""
    one_step: float = 0.0
    """Max gate of a format in which an error is a number of steps (float8_e8m0), where it is not zero."""

    @property
    def max_bound(self) -> float:
        """Max gate: 10 tau, or one step."""
        return self.one_step if self.one_step and self.tau else MAX_OVER_MEAN * self.tau


def _row(tau: int, small_bound: int, small_error: int, cancel: int) -> Tolerance:
    """One row of the table, given as exponents of two."""
    return Tolerance(2.0**tau, 2.0**tau, 2.0**small_bound, 2.0**small_error, 2.0**cancel, 2.0**cancel)


_DEFAULTS: dict[DType, Tolerance] = {
    DType.FLOAT16: _row(-10, -11, -16, -5),
    DType.BFLOAT16: _row(-7, -8, -16, -3),
    DType.FLOAT32: _row(-13, -14, -30, -8),
    # The paper has no row for float64; the official checker uses the one of float32.
    DType.FLOAT64: _row(-13, -14, -30, -8),
    DType.HIFLOAT32: _row(-11, -12, -28, -8),
    DType.FLOAT8_E4M3: _row(-3, -4, -6, -1),
    DType.FLOAT8_E5M2: _row(-2, -3, -5, 0),
    # Rows of our own, for formats that the standard does not have yet: that of float8_e4m3, the tightest power of two whose max gate (1.25) admits a
    # neighbouring code everywhere. Around zero and in the denormal range neighbours are up to 1 apart relatively. A tau after the one mantissa bit of
    # float4_e2m1 (2^-1) would pass outputs of which half is lost.
    DType.HIFLOAT8: _row(-3, -4, -6, -1),
    DType.FLOAT4_E2M1: _row(-3, -4, -6, -1),
    # Neighbouring scales differ by a factor of two, and a wrong one makes its whole block wrong: equality. An operator that computes what it quantises may
    # declare a tau: the mean distance in steps, in effect the share of scales that are one power of two off. Two steps are never right.
    DType.FLOAT8_E8M0: Tolerance(0.0, 0.0, one_step=1.5),
}


def default_tolerance(dtype: DType) -> Tolerance:
    """The row of `dtype`; exact for integers and bool."""
    return _DEFAULTS[dtype] if dtype.is_floating else Tolerance(0.0, 0.0)


def tolerance_for(operator: Operator, output: str, dtype: DType) -> Tolerance:
    """Effective thresholds of `output` of `operator` in `dtype`: the default row with the operator's own tau, if it declares one.

    Regions keep the default bounds: a relaxed tau speaks about ordinary values. Raises EvaluatorError for a threshold that is no tolerance at all.
    """
    default = default_tolerance(dtype)
    tau = operator.thresholds.get(dtype)
    if tau is None:
        return default
    if not (math.isfinite(tau) and tau >= 0):
        raise EvaluatorError(f"threshold {tau} for {dtype.value} is not a tolerance", where=f"{operator.name}: {output}", action="fix proto.yaml")
    return replace(default, tau=float(tau))


def lint_thresholds(operator: Operator, reasoned: Collection[DType] = ()) -> tuple[str, ...]:
    """Complaints about an operator's thresholds: above the cap without a written reason (`reasoned`), or for a dtype that no output has."""
    declared = {dtype for output in operator.outputs for dtype in output.dtypes}
    complaints = []
    for dtype, tau in operator.thresholds.items():
        if dtype not in declared:
            complaints.append(f"{operator.name}: threshold for {dtype.value}, which no output has")
        cap = relaxation_cap(dtype)
        if not tau <= cap and dtype not in reasoned:
            complaints.append(f"{operator.name}: {dtype.value} threshold {tau:g} is above {cap:g} and desc.md gives no reason")
    return tuple(complaints)


def relaxation_cap(dtype: DType) -> float:
    """Largest threshold that needs no written reason."""
    return RELAXATION_CAP * default_tolerance(dtype).tau if dtype.is_floating else (0.0 if dtype is DType.BOOL else QUANTISED_TOLERANCE)
