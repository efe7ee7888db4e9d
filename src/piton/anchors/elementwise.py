"""Work formulas of elementwise operators of one tensor.

Bytes: every element of x is read once, NaN has to propagate, and so no attribute makes a read superfluous; every element of y is written once.
Instructions per element: see each formula. `convention` counts reproduce the published anchors; `silicon` counts are the shortest instruction sequences we
know, and so what they give is a bound of known methods, not a proof. Where one day a kernel is faster, the count is wrong: a time below T_HW is a finding that
a person looks at. A table lookup for the 16-bit types would take fewer instructions, but 14 cycles each instead of 1 to 4.
"""

from __future__ import annotations

import math

from piton.anchors.choices import Demand, arithmetic_choices
from piton.anchors.formula import Formula
from piton.anchors.operands import number, operand, text
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware


def exp_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: k = 2 + 2 [16-bit] + [scale != 1] + [shift != 0] + [base > 0] float32 lane instructions per element."""
    x = case.inputs[0]
    base, scale, shift = (number(case, name) for name in ("base", "scale", "shift"))
    per_element = 2 + 2 * (x.dtype.bits == 16) + (scale != 1) + (shift != 0) + (base > 0)
    return _published(case, DType.FLOAT32, per_element)


def exp_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known: Exp, and before it Muls, Adds or both at once, unless scale * ln(base) = 1 and shift * ln(base) = 0.

    The constants fold on the host; both at once are a FusedMulAdd on constant tiles.
    """
    slope, offset = _exp_constants(case)
    return _streaming(case, chip, 1 + (slope != 1 or offset != 0))


def _exp_constants(case: Case) -> tuple[float, float]:
    """(scale, shift) times ln(base)."""
    base, scale, shift = (number(case, name) for name in ("base", "scale", "shift"))
    log_base = math.log(base) if base > 0 else 1.0
    return scale * log_base, shift * log_base


def gelu_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 8 lane instructions per element for "none" and 12 for "tanh" in bfloat16, 2 less in the other dtypes, at the dtype's own rate."""
    return _published_activation(case, 8 if text(case, "approximate") == "none" else 12)


def gelu_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known, for both forms: 6 instructions.

    x * sigmoid(x (a + b x^2)) is the tanh form exactly: t = x * x; t = b t + a (FusedMulAdd on constant tiles); t = t * x; t = Exp(t); t = t + 1; y = x / t.
    The erf form has no shorter one at the accuracy that is asked for.
    """
    return _streaming(case, chip, 6)


def sigmoid_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 10 lane instructions per element in bfloat16, 8 in the other dtypes, at the dtype's own rate."""
    return _published_activation(case, 10)


def sigmoid_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known: 3 instructions, w = Exp(x); t = w + 1; y = w / t.

    That form overflows for large x; the one that does not, 1 / (1 + exp(-x)), takes a sign change more, and x may be known to be small.
    """
    return _streaming(case, chip, 3)


def mish_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 9 lane instructions per element in bfloat16, 7 in the other dtypes, at the dtype's own rate."""
    return _published_activation(case, 9)


def mish_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known: 5 instructions, from tanh(ln(1 + w)) = 1 - 2 / (w (w + 2) + 2) with w = exp(x).

    w = Exp(x); t = w + 2; t = t w + 2 (FusedMulAdd); q = x / t; y = x - 2 q (Axpy). It loses digits where y is close to 0; keeping them takes a product more.
    """
    return _streaming(case, chip, 5)


def swi_glu_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 6 lane instructions per element of the input, both halves of it, in float32 for bfloat16 and else in the dtype itself.

    No published case is limited by it: the count is not pinned down.
    """
    x = operand(case, "input")
    lanes = DType.FLOAT32 if x.dtype is DType.BFLOAT16 else x.dtype
    return Work("published count", x.nbytes, x.nbytes // 2, vector_lanes={lanes: 6.0 * x.elements})


def swi_glu_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Both halves are read, half as much is written. Shortest known: 4 instructions per element of the output.

    a / (1 + exp(-a)) * b with an exponential that takes the sign change along (dav-3510 has one of a difference): Exp, Adds, Div, Mul. dav-2201 needs one more.
    """
    x = operand(case, "input")
    results = x.elements // 2
    return arithmetic_choices(x.dtype, chip, Demand(x.nbytes, x.nbytes // 2, instructions=4 * results, conversions=x.elements + results))


def _published_activation(case: Case, in_bfloat16: int) -> Work:
    """`in_bfloat16` lane instructions per element for bfloat16, 2 less in the other dtypes (the conversions), at the dtype's own rate."""
    dtype = case.inputs[0].dtype
    return _published(case, dtype, in_bfloat16 if dtype is DType.BFLOAT16 else in_bfloat16 - 2)


def _published(case: Case, lanes: DType, per_element: int) -> Work:
    """Read x once, write y (same size) once, `per_element` lane instructions in dtype `lanes`."""
    x = case.inputs[0]
    return Work("published count", x.nbytes, x.nbytes, vector_lanes={lanes: float(x.elements * per_element)})


def _streaming(case: Case, chip: Hardware, per_element: int) -> tuple[Work, ...]:
    """Read x once, write y (same size) once; in every arithmetic of the dtype, with a conversion before and one after where that is another one."""
    x = case.inputs[0]
    return arithmetic_choices(x.dtype, chip, Demand(x.nbytes, x.nbytes, instructions=per_element * x.elements, conversions=2 * x.elements))


FORMULAS = {
    "exp": Formula(frozenset({"base", "scale", "shift"}), exp_convention, exp_silicon),
    "gelu": Formula(frozenset({"approximate"}), gelu_convention, gelu_silicon),
    "mish": Formula(frozenset(), mish_convention, mish_silicon),
    "sigmoid": Formula(frozenset(), sigmoid_convention, sigmoid_silicon),
    "swi_glu": Formula(frozenset({"dim"}), swi_glu_convention, swi_glu_silicon),
}
