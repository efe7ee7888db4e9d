"""When a search along lines may end before it has seen all elements, and how many it sees at least."""

from __future__ import annotations

import math

from piton.core.case import CaseInput
from piton.core.dtype import DType

_MOST_SPECIALS = 1024
"""Special values that a tensor has at most at each of its two ends, where its range asks for them (`numerics.inputs`)."""


def seen_elements(x: CaseInput, length: int, wanted: int, *, is_largest: bool) -> int:
    """Elements of x that a search for the `wanted` largest (or smallest) of each line of `length` has to see at least.

    It may end with `wanted` elements that none exceeds. Ends of an 8-bit type that the range has may be as many, in every line. NaN and -infinity stand at the
    ends of a tensor only, and so they end as many lines as there are of them at most.
    """
    lines = x.elements // length
    if x.dtype.is_floating:
        ended = min(lines, _MOST_SPECIALS * _ends_with_extremes(x, is_largest=is_largest))
    else:
        ended = lines if _has_end_of_type(x, is_largest=is_largest) else 0
    return x.elements - ended * (length - wanted)


def _ends_with_extremes(x: CaseInput, *, is_largest: bool) -> int:
    """Ends of the tensor at which values stand that no other exceeds: NaN counts as the largest."""
    return math.isnan(x.low) + math.isnan(x.high) if is_largest else int(x.low == -math.inf)


def _has_end_of_type(x: CaseInput, *, is_largest: bool) -> bool:
    least, most = ends_of(x.dtype)
    return x.dtype.bits == 8 and (x.high >= most if is_largest else x.low <= least)


def ends_of(dtype: DType) -> tuple[int, int]:
    """Smallest and largest number of an integer type."""
    return (0, 2**dtype.bits - 1) if dtype.value.startswith("u") else (-(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1)
