"""Work formulas of sorting and selection: top_k, unique and nms.

Bytes: every element is read once. How much unique and nms write depends on the data; `silicon` takes the least, one value or one box.
Instructions: one comparison per element (of nms: with the one box that is surely kept); how many more it takes depends on the data and on the algorithm. How
`convention` and `silicon` are meant is said in `elementwise`.
"""

from __future__ import annotations

import math

from piton.anchors.formula import Formula
from piton.anchors.operands import flag, input_bytes, number, operand
from piton.anchors.work import Work
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_INDEX_BYTES = 8
"""Indices are int64."""
_MOST_SPECIAL = 2 * 1024
"""Infinities and NaN in a tensor whose range has them: up to 1024 at its head and at its tail (rules of the data sets)."""


def top_k_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: ceil(log2 k) lane instructions per element, at least 1, in the dtype of x (bfloat16: float32), as for a heap of k."""
    x = operand(case, "x")
    per_element = math.ceil(math.log2(max(2, number(case, "k"))))
    return Work("published count", x.nbytes, _top_k_bytes(case), vector_lanes={_published_lanes(x.dtype): float(x.elements * per_element)})


def top_k_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """Every element is read and compared once with what has to be exceeded; k values and int64 indices of every line are written.

    A search may end with k values that none exceeds. Where the range of the case has them, a line with k special values (NaN, -infinity) has k certain
    elements, and a line of an 8-bit type as many as it takes by chance to meet its end k times.
    """
    x = operand(case, "x")
    seen = _searched(case) if _has_unexceeded(x, flag(case, "largest")) else x.elements
    return (Work("one comparison", x.dtype.bytes_of(seen), _top_k_bytes(case), vector_lanes={_compared_lanes(x.dtype): float(seen)}),)


def _searched(case: Case) -> int:
    """Elements that a search which may end early has to look at."""
    x, k = operand(case, "x"), int(number(case, "k"))
    length = x.shape[int(number(case, "dim"))]
    lines = x.elements // length
    if x.dtype.is_floating:
        return x.elements - min(lines, _MOST_SPECIAL // max(k, 1)) * (length - k)
    least, most = _ends_of(x.dtype)
    values = min(x.high, most) - max(x.low, least) + 1
    # To be met k times with a chance of 1e-14 or more, an end has to be expected k - t times, with t^2 / (2 (k - t + t / 3)) = 32 (Chernoff's bound).
    expected = k + 64 / 3 - math.sqrt((64 / 3) ** 2 + 64 * k)
    return lines * min(length, max(k, math.floor(expected * values)))


def _has_unexceeded(x: CaseInput, is_largest: bool) -> bool:
    if x.dtype.is_floating:
        return math.isnan(x.low) or math.isnan(x.high) if is_largest else x.low == -math.inf
    least, most = _ends_of(x.dtype)
    return x.dtype.bits == 8 and (x.high >= most if is_largest else x.low <= least)


def _ends_of(dtype: DType) -> tuple[int, int]:
    """Smallest and largest number of an integer type."""
    return (0, 2**dtype.bits - 1) if dtype.value.startswith("u") else (-(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1)


def _top_k_bytes(case: Case) -> int:
    """k values and k indices for every line along axis `dim`."""
    selected = _selected(case)
    return operand(case, "x").dtype.bytes_of(selected) + _INDEX_BYTES * selected


def _selected(case: Case) -> int:
    x = operand(case, "x")
    return x.elements // x.shape[int(number(case, "dim"))] * int(number(case, "k"))


def unique_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors, for n elements: log2 n + 1 lane instructions per element, 2 more with the inverse, in the dtype of x (bfloat16: float32).

    All n elements are taken to be different: as many are written.
    """
    x, has_inverse = operand(case, "x"), flag(case, "return_inverse")
    per_element = math.log2(max(x.elements, 1)) + 1 + 2 * has_inverse
    write = x.nbytes + _INDEX_BYTES * x.elements * has_inverse
    return Work("published count", x.nbytes, write, vector_lanes={_published_lanes(x.dtype): x.elements * per_element})


def unique_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """The least there can be: all elements are equal, each is compared once, one is written. The inverse has an int64 for every element whatever the data.

    Where the case's range has every value of an 8-bit type and no inverse is asked for, reading may end when all 256 have been met.
    """
    x, has_inverse = operand(case, "x"), flag(case, "return_inverse")
    write = x.dtype.bytes_of(min(x.elements, 1)) + _INDEX_BYTES * x.elements * has_inverse
    seen = min(x.elements, 256) if _has_every_byte(x) and not has_inverse else x.elements
    return (Work("one comparison", x.dtype.bytes_of(seen), write, vector_lanes={_compared_lanes(x.dtype): float(seen)}),)


def _has_every_byte(x: CaseInput) -> bool:
    least, most = _ends_of(x.dtype)
    return x.dtype.bits == 8 and x.low <= least and x.high >= most


def nms_convention(case: Case, edition: Edition) -> Work:
    """Published anchors, for n boxes: 9 n^2 float32 lane instructions on edition 910b2, none on edition 950pr (reason unknown); n indices are written."""
    boxes = operand(case, "boxes").shape[0]
    lanes = {DType.FLOAT32: 9.0 * boxes * boxes} if edition == "910b2" else {}
    return Work("published count", input_bytes(case), _INDEX_BYTES * boxes, vector_lanes=lanes)


def nms_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """The least there can be: the box of the highest score suppresses all others, so that each is compared once and one index is written. 13 per box.

    The scores' Max; the common area by Maxs, Mins and SubRelu for each axis and a Mul; the area of the box by two Sub and a Mul; Axpy and CompareScalar
    against the threshold. A threshold below 0 suppresses whatever the boxes are, one from 1 on suppresses nothing, which leaves the Max.
    """
    boxes, threshold = operand(case, "boxes").shape[0], number(case, "iou_threshold")
    per_box = 13 if 0 <= threshold < 1 else 1
    read = input_bytes(case, "scores") + (0 if threshold < 0 else input_bytes(case, "boxes"))
    return (Work("one kept box", read, _INDEX_BYTES * min(boxes, 1), vector_lanes={DType.FLOAT32: float(per_box * boxes)}),)


def _published_lanes(dtype: DType) -> DType:
    return DType.FLOAT32 if dtype is DType.BFLOAT16 else dtype


def _compared_lanes(dtype: DType) -> DType:
    """Type that elements are compared in: the bits of bfloat16 order like those of an integer; 8-bit types take at least the Cast to a wider one."""
    return DType.INT16 if dtype is DType.BFLOAT16 else dtype


FORMULAS = {
    "nms": Formula(frozenset({"iou_threshold"}), nms_convention, nms_silicon),
    "top_k": Formula(frozenset({"k", "dim", "largest"}), top_k_convention, top_k_silicon),
    "unique": Formula(frozenset({"return_inverse"}), unique_convention, unique_silicon),
}
