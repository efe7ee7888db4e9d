"""Work formulas of elementwise operators.

Bytes: every element of x is read once, NaN has to propagate, and so no attribute makes a read superfluous; every element of y is written once.
Instructions per element: see each formula. `convention` counts reproduce the published anchors; `silicon` counts are the shortest instruction sequences we
know for dav-2201, and so what they give is a bound of known methods, not a proof. Where one day a kernel is faster, the count is wrong: a time below T_HW
is a finding that a person looks at.
"""

from __future__ import annotations

import math

from piton.anchors.formula import Formula
from piton.anchors.operands import number
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_CASTS = 2
"""bfloat16 has no vector arithmetic on dav-2201: one conversion to float32 before and one back after."""


def exp_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: k = 2 + 2 [16-bit] + [scale != 1] + [shift != 0] + [base > 0] float32 lane instructions per element."""
    x = case.inputs[0]
    base, scale, shift = (number(case, name) for name in ("base", "scale", "shift"))
    per_element = 2 + 2 * (x.dtype.bits == 16) + (scale != 1) + (shift != 0) + (base > 0)
    return _streaming(case, "published count", DType.FLOAT32, per_element)


def exp_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """Shortest known: Exp, plus Muls when scale * ln(base) != 1 and Adds when shift * ln(base) != 0 (the constants fold on the host).

    float16 may stay in 128-lane half arithmetic; float32 has 64 lanes; bfloat16 goes through float32.
    """
    slope, offset = _exp_constants(case)
    return _dtype_choices(case, 1 + (slope != 1) + (offset != 0))


def _exp_constants(case: Case) -> tuple[float, float]:
    """(scale, shift) times ln(base)."""
    base, scale, shift = (number(case, name) for name in ("base", "scale", "shift"))
    log_base = math.log(base) if base > 0 else 1.0
    return scale * log_base, shift * log_base


def gelu_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 8 lane instructions per element for "none" and 12 for "tanh" in bfloat16, 2 less in the other dtypes, at the dtype's own rate."""
    dtype = case.inputs[0].dtype
    per_element = 8 if case.attributes["approximate"] == "none" else 12
    return _streaming(case, "published count", dtype, per_element if dtype is DType.BFLOAT16 else per_element - 2)


def gelu_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """Shortest known, for both forms: 6 instructions.

    x * sigmoid(x (a + b x^2)) is the tanh form exactly: t = x * x; t = b t + a (FusedMulAdd on constant tiles); t = t * x; t = Exp(t); t = t + 1; y = x / t.
    The erf form has no shorter one at the accuracy that is asked for. float16 may stay in half arithmetic, bfloat16 goes through float32.
    """
    return _dtype_choices(case, 6)


def _dtype_choices(case: Case, per_element: int) -> tuple[Work, ...]:
    """The choices of arithmetic that dav-2201 has for the dtype of x."""
    dtype = case.inputs[0].dtype
    if dtype is DType.FLOAT16:
        in_float32 = _streaming(case, "float32 arithmetic", DType.FLOAT32, per_element + _CASTS)
        return (_streaming(case, "half arithmetic", DType.FLOAT16, per_element), in_float32)
    casts = _CASTS if dtype is DType.BFLOAT16 else 0
    return (_streaming(case, "float32 arithmetic", DType.FLOAT32, per_element + casts),)


def _streaming(case: Case, choice: str, lanes: DType, per_element: int) -> Work:
    """Read x once, write y (same size) once, `per_element` lane instructions in dtype `lanes`."""
    x = case.inputs[0]
    return Work(choice=choice, read_bytes=x.nbytes, write_bytes=x.nbytes, vector_lanes={lanes: float(x.elements * per_element)})


FORMULAS = {
    "exp": Formula(frozenset({"base", "scale", "shift"}), exp_convention, exp_silicon),
    "gelu": Formula(frozenset({"approximate"}), gelu_convention, gelu_silicon),
}
