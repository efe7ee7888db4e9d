"""Comparison of integer and bool outputs: exact, or within an absolute tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from piton.core.dtype import DType
from piton.numerics.chunks import exact_sum
from piton.numerics.dtypes import AnyArray


@dataclass(frozen=True)
class Difference:
    """Absolute differences over a chunk or a whole output."""

    total: float = 0.0
    worst: int = 0
    over: int = 0
    """Positions beyond the tolerance."""


def absolute_difference(got: AnyArray, golden: AnyArray) -> NDArray[np.uint64]:
    """|got - golden| without overflow: the difference of two 64-bit integers fits 64 bits without a sign."""
    high, low = np.maximum(got, golden), np.minimum(got, golden)
    return np.subtract(high.astype(np.uint64, casting="unsafe"), low.astype(np.uint64, casting="unsafe"))


def difference_chunk(got: AnyArray, golden: AnyArray, span: slice, tolerance: float) -> Difference:
    """Differences of one chunk."""
    if np.array_equal(got[span], golden[span]):
        return Difference()
    difference = absolute_difference(got[span], golden[span])
    return Difference(float(difference.astype(np.float64).sum()), int(difference.max()), int(np.count_nonzero(difference > np.uint64(int(tolerance)))))


def combine_differences(parts: Sequence[Difference]) -> Difference:
    """Differences of the whole output."""
    return Difference(exact_sum(part.total for part in parts), max((part.worst for part in parts), default=0), sum(part.over for part in parts))


def effective_tolerance(tau: float, dtype: DType) -> float:
    """Tolerance in force: bool is always exact, since 1 would accept everything."""
    return 0.0 if dtype is DType.BOOL else tau
