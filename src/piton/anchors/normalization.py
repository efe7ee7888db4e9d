"""Work formulas of normalisations along one axis: softmax and rms_norm.

Bytes: every element of x is read once and every element of y written once, gamma is read once. That asks for lines that stay on the chip between the statistic
and the result; a longer line has to be read again, from L2 or from HBM, and so can't reach the bound.
Instructions per element: see each formula. What is done once per line (a root, a division) is left out of `silicon` and counted where the published anchors
count it. Both kinds of counts are explained in `elementwise`.
"""

from __future__ import annotations

from piton.anchors.formula import Formula
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_CASTS = 2
"""16-bit elements that are computed in float32: one conversion before and one after."""


def softmax_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 7 float32 lane instructions per element, 9 for the 16-bit types."""
    return _streaming(case, "published count", DType.FLOAT32, 9 if _is_16_bit(case) else 7)


def softmax_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """Shortest known: Max into the running maximum, Sub of the maximum, Exp, Add into the running sum, Mul by the sum's reciprocal."""
    return _dtype_choices(case, 5)


def rms_norm_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 3 float32 lane instructions per element, 5 for the 16-bit types, and 4 per row."""
    return _streaming(case, "published count", DType.FLOAT32, (5 if _is_16_bit(case) else 3) + 4 / case.inputs[0].shape[-1])


def rms_norm_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """Shortest known: MulAddDst of x with itself into the running sum, Mul by the row's factor, Mul by gamma."""
    return _dtype_choices(case, 3)


def _is_16_bit(case: Case) -> bool:
    return case.inputs[0].dtype.bits == 16


def _dtype_choices(case: Case, per_element: int) -> tuple[Work, ...]:
    """The choices of arithmetic that dav-2201 has for the dtype of x. Sums in half arithmetic only pass for short lines, but no shorter code is known."""
    dtype = case.inputs[0].dtype
    in_float32 = _streaming(case, "float32 arithmetic", DType.FLOAT32, per_element + (_CASTS if _is_16_bit(case) else 0))
    if dtype is DType.FLOAT16:
        return (_streaming(case, "half arithmetic", DType.FLOAT16, per_element), in_float32)
    return (in_float32,)


def _streaming(case: Case, choice: str, lanes: DType, per_element: float) -> Work:
    """Read every input once, write y (as large as x) once, `per_element` lane instructions in dtype `lanes`."""
    x = case.inputs[0]
    read = sum(item.nbytes for item in case.inputs)
    return Work(choice=choice, read_bytes=read, write_bytes=x.nbytes, vector_lanes={lanes: x.elements * per_element})


FORMULAS = {
    "rms_norm": Formula(frozenset({"epsilon"}), rms_norm_convention, rms_norm_silicon),
    "softmax": Formula(frozenset({"dim"}), softmax_convention, softmax_silicon),
}
