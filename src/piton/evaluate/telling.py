"""The telling cases of an operator: three that together show most mistakes soon (`piton eval --fast`).

1. odd: the smallest ordinary case whose rows do not end on a 32-byte block; tails and padding are where a first version breaks
2. middle: of the ordinary cases of another dtype, the one in the middle by size; several blocks and rounds, another path through the code
3. edge: a case with infinite or NaN values, or with values near the end of its dtype's range; of a dtype not yet seen if there is one, the smallest

A rule that finds nothing takes the nearest case it has: any smallest one, any dtype, the widest range of values. The choice depends on the cases alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.numerics.dtypes import largest_finite

_BLOCK_BYTES = 32
"""What vector instructions and copies of an AI core are aligned to."""
_NEAR_THE_END = 0.5
"""An end of a value range above this share of the dtype's largest value counts as an edge."""


def telling_cases(cases: Sequence[Case]) -> tuple[Case, ...]:
    """At most three of `cases`, in their order; all of them when there are no more."""
    chosen: list[Case] = []
    for rule in (_odd, _middle, _edge):
        left = [case for case in cases if case not in chosen]
        if left:
            chosen.append(rule(left, {_dtype(case) for case in chosen}))
    return tuple(case for case in cases if case in chosen)


def _odd(cases: Sequence[Case], seen: set[DType | None]) -> Case:
    del seen
    return min(_some(_some(cases, _is_ordinary), _is_odd), key=_size)


def _middle(cases: Sequence[Case], seen: set[DType | None]) -> Case:
    others = _some(_some(cases, _is_ordinary), lambda case: _dtype(case) not in seen)
    return sorted(others, key=_size)[(len(others) - 1) // 2]


def _edge(cases: Sequence[Case], seen: set[DType | None]) -> Case:
    edges = [case for case in cases if _is_edge(case)]
    if not edges:
        return min(cases, key=lambda case: (-_widest(case), _size(case)))
    return min(edges, key=lambda case: (_dtype(case) in seen, math.isfinite(_widest(case)), _size(case)))


def _some(cases: Sequence[Case], is_wanted: Callable[[Case], bool]) -> Sequence[Case]:
    """The wanted ones, or all when there are none."""
    return [case for case in cases if is_wanted(case)] or cases


def _size(case: Case) -> int:
    return case.elements


def _dtype(case: Case) -> DType | None:
    return case.inputs[0].dtype if case.inputs else None


def _is_ordinary(case: Case) -> bool:
    """Neither special values nor a range of one value."""
    return not _is_edge(case) and not any(item.low == item.high for item in case.inputs)


def _is_edge(case: Case) -> bool:
    return any(not math.isfinite(end) or abs(end) > _NEAR_THE_END * _largest(item) for item in case.inputs for end in (item.low, item.high))


def _is_odd(case: Case) -> bool:
    return any(item.shape and item.dtype.bytes_of(item.shape[-1]) % _BLOCK_BYTES for item in case.inputs)


def _widest(case: Case) -> float:
    """The value range's end that is farthest from 0; infinite for special values."""
    ends = [abs(end) for item in case.inputs for end in (item.low, item.high)]
    return max((math.inf if math.isnan(end) else end for end in ends), default=0.0)


def _largest(item: CaseInput) -> float:
    """Largest value of a floating input's dtype; integers have no edge of this kind, and a dtype without arithmetic here has none that we know."""
    if not item.dtype.is_floating:
        return math.inf
    try:
        return largest_finite(item.dtype)
    except EvaluatorError:
        return math.inf
