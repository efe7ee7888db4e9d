"""Relative errors of a floating output, chunk by chunk: the first screen, the two unstable regions, the worst positions (precision standard, rules 2 to 5).

Every function here looks at one chunk and returns counts and one sum; `combine_*` adds them in chunk order, so no result depends on the number of threads.
Only subtraction, addition, division and comparison of float64 are used, which IEEE 754 fixes bit by bit; a chunk's sum has numpy's fixed pairwise order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from piton.core.dtype import DType
from piton.numerics.chunks import exact_sum
from piton.numerics.dtypes import AnyArray, Float64, decode, largest_finite
from piton.numerics.thresholds import GUARD, Tolerance

Mask = NDArray[np.bool_]

_EXPONENTS = {DType.FLOAT16: np.uint16(0x7C00), DType.BFLOAT16: np.uint16(0x7F80)}
"""Bits of the exponent, all of them set in infinities and NaN."""
_FEW = 4
"""One element in so many may differ for their errors to be computed alone."""


@dataclass(frozen=True)
class FloatPair:
    """Flat storage arrays of the candidate's output and of the golden, in one dtype."""

    got: AnyArray
    golden: AnyArray
    dtype: DType

    def load(self, span: slice) -> tuple[Float64, Float64]:
        """Float64 values of one chunk: candidate, golden."""
        return decode(self.got[span], self.dtype), decode(self.golden[span], self.dtype)

    def error(self, got: Float64, golden: Float64) -> Float64:
        """Errors of values of this dtype: relative ones; of the scales of float8_e8m0, which are powers of two, the number of steps between them."""
        return exponent_distance(got, golden) if self.dtype is DType.FLOAT8_E8M0 else relative_error(got, golden)


@dataclass(frozen=True)
class Settled:
    """One chunk after the rules for special values: what is left to measure, and what is wrong without measuring."""

    got: Float64
    golden: Float64
    """Values at the measured positions only; one-sided infinities are replaced by the largest finite value."""
    measured: Mask | None
    """Which positions are measured; None for all."""
    wrong: Mask | None
    """Positions where only one side is NaN, or infinities differ in sign; None for no such position."""
    nan_mismatches: int = 0
    sign_mismatches: int = 0
    one_sided: int = 0
    finite: int = 0
    """Positions where both sides were finite to begin with."""


def relative_error(got: Float64, golden: Float64) -> Float64:
    """e = |got - golden| / (|golden| + 1e-7) (paper, equation 1)."""
    error = np.subtract(got, golden)
    np.abs(error, out=error)
    scale = np.abs(golden)
    scale += GUARD
    error /= scale
    return error


def exponent_distance(got: Float64, golden: Float64) -> Float64:
    """How many powers of two lie between two powers of two; NaN where either is NaN. The guard of a relative error would hide all small scales."""
    distance: Float64 = np.abs(np.frexp(got)[1] - np.frexp(golden)[1]).astype(np.float64)
    distance[np.isnan(got) | np.isnan(golden)] = np.nan
    return distance


def settle(got: Float64, golden: Float64, largest: float) -> Settled:
    """Apply rule 4 to one chunk: NaN must face NaN, equal infinities are left out, opposite ones are wrong, one-sided ones become `largest`."""
    both_finite = np.isfinite(got) & np.isfinite(golden)
    if both_finite.all():
        return Settled(got, golden, None, None, finite=got.size)
    got_nan, golden_nan = np.isnan(got), np.isnan(golden)
    got_inf, golden_inf = np.isinf(got), np.isinf(golden)
    half_nan = got_nan ^ golden_nan
    opposite = got_inf & golden_inf & (got != golden)
    one_sided = (got_inf ^ golden_inf) & ~(got_nan | golden_nan)
    measured = both_finite | one_sided
    return Settled(
        saturate(got[measured], largest),
        saturate(golden[measured], largest),
        measured,
        half_nan | opposite,
        int(half_nan.sum()),
        int(opposite.sum()),
        int(one_sided.sum()),
        int(both_finite.sum()),
    )


def saturate(values: Float64, largest: float) -> Float64:
    """Replace infinities by the largest finite value of the dtype, keeping the sign; NaN stays."""
    return np.clip(values, -largest, largest)


def breaks(error: Float64, bound: float) -> Mask:
    """Positions outside `error < bound`. NaN breaks every bound, and an error of zero breaks none, so that a bound of zero asks for equality."""
    within: Mask = (error < bound) | (error == 0)
    return ~within


@dataclass(frozen=True)
class Screen:
    """Statistics of the first screen over a chunk or a whole output."""

    total: float
    """Sum of the relative errors over measured positions."""
    worst: float
    measured: int
    finite: int
    over: int
    """Measured positions that break the max bound."""
    nan_mismatches: int = 0
    sign_mismatches: int = 0
    one_sided: int = 0

    @property
    def mean(self) -> float:
        """Mean relative error; 0 when nothing was measured."""
        return self.total / self.measured if self.measured else 0.0


def screen_chunk(pair: FloatPair, span: slice, bound: float) -> Screen:
    """First screen of one chunk."""
    with np.errstate(all="ignore"):
        error = _errors(pair, span)
        total = float(error.sum())
        # Any NaN or infinity on either side makes its error, and so the sum, NaN or infinite: one test finds the chunks that need the rules for special values.
        if math.isfinite(total):
            worst = float(error.max())
            return Screen(total, worst, error.size, error.size, _count_over(error, worst, bound))
        return _screen_special(pair, settle(*pair.load(span), largest_finite(pair.dtype)), bound)


def _errors(pair: FloatPair, span: slice) -> Float64:
    """The error of every element of one chunk; most of them need not be computed where an output of 16 bits equals the golden."""
    places = _few_differences(pair, span)
    if places is None:
        return pair.error(*pair.load(span))
    error = np.zeros(span.stop - span.start)
    error[places] = pair.error(decode(pair.got[span][places], pair.dtype), decode(pair.golden[span][places], pair.dtype))
    return error


def _few_differences(pair: FloatPair, span: slice) -> NDArray[np.intp] | None:
    """Where the bits differ; None where that is in too many places, or where equal bits might be no number."""
    exponent = _EXPONENTS.get(pair.dtype)
    if exponent is None:
        return None
    got, golden = pair.got[span].view(np.uint16), pair.golden[span].view(np.uint16)
    if ((golden & exponent) == exponent).any():
        return None
    is_different = got != golden
    return np.flatnonzero(is_different) if np.count_nonzero(is_different) <= got.size // _FEW else None


def _screen_special(pair: FloatPair, chunk: Settled, bound: float) -> Screen:
    error = pair.error(chunk.got, chunk.golden)
    worst = float(error.max()) if error.size else 0.0
    over = _count_over(error, worst, bound)
    return Screen(float(error.sum()), worst, error.size, chunk.finite, over, chunk.nan_mismatches, chunk.sign_mismatches, chunk.one_sided)


def _count_over(error: Float64, worst: float, bound: float) -> int:
    return 0 if worst < bound else int(np.count_nonzero(breaks(error, bound)))


def combine_screens(parts: Sequence[Screen]) -> Screen:
    """Statistics of the whole output."""
    return Screen(
        exact_sum(part.total for part in parts),
        max((part.worst for part in parts), default=0.0),
        sum(part.measured for part in parts),
        sum(part.finite for part in parts),
        sum(part.over for part in parts),
        sum(part.nan_mismatches for part in parts),
        sum(part.sign_mismatches for part in parts),
        sum(part.one_sided for part in parts),
    )


@dataclass(frozen=True)
class Regions:
    """Positions and errors by region over a chunk or a whole output (rule 3)."""

    small_positions: int
    small_errors: int
    cancel_positions: int
    cancel_errors: int
    outside_positions: int
    outside_over: int
    """Positions outside both regions that break the max bound."""
    outside_total: float
    """Sum of the relative errors outside both regions."""
    outside_worst: float = 0.0
    """Largest relative error outside both regions."""

    @property
    def outside_mean(self) -> float:
        """Mean relative error outside both regions; 0 when they cover everything."""
        return self.outside_total / self.outside_positions if self.outside_positions else 0.0


def regions_chunk(pair: FloatPair, span: slice, tolerance: Tolerance, native: AnyArray | None = None) -> Regions:
    """Region counts of one chunk: errors of the candidate, or of the same-dtype run `native` at the candidate's region positions.

    The regions follow from golden and candidate in both cases, so that the ratio compares the same positions.
    """
    largest = largest_finite(pair.dtype)
    with np.errstate(all="ignore"):
        chunk = settle(*pair.load(span), largest)
        scored = chunk.got if native is None else _native_values(native[span], pair.dtype, chunk.measured, largest)
        return _count_regions(pair, chunk, scored, tolerance)


def _native_values(raw: AnyArray, dtype: DType, measured: Mask | None, largest: float) -> Float64:
    values = decode(raw, dtype)
    return saturate(values if measured is None else values[measured], largest)


def _count_regions(pair: FloatPair, chunk: Settled, scored: Float64, tolerance: Tolerance) -> Regions:
    size = np.abs(chunk.golden)
    small = size < tolerance.small_bound
    cancel = (np.abs(chunk.got) < tolerance.cancel_zero) & ~small & (size < tolerance.cancel_bound)
    outside = ~(small | cancel)
    error = pair.error(scored, chunk.golden)
    outside_error = error[outside]
    return Regions(
        int(small.sum()),
        # "not (error <= bound)": a NaN in the same-dtype run is an error, not a free pass.
        int(np.count_nonzero(small & ~(np.abs(scored - chunk.golden) <= tolerance.small_error))),
        int(cancel.sum()),
        int(np.count_nonzero(cancel & ~(error <= tolerance.max_bound))),
        outside_error.size,
        int(np.count_nonzero(breaks(outside_error, tolerance.max_bound))),
        float(outside_error.sum()),
        float(outside_error.max(initial=0.0)),
    )


def combine_regions(parts: Sequence[Regions]) -> Regions:
    """Region counts of the whole output."""
    return Regions(
        sum(part.small_positions for part in parts),
        sum(part.small_errors for part in parts),
        sum(part.cancel_positions for part in parts),
        sum(part.cancel_errors for part in parts),
        sum(part.outside_positions for part in parts),
        sum(part.outside_over for part in parts),
        exact_sum(part.outside_total for part in parts),
        max((part.outside_worst for part in parts), default=0.0),
    )


def rank_chunk(pair: FloatPair, span: slice) -> tuple[Float64, Float64, Float64]:
    """Candidate, golden and rank of every position of one chunk: the relative error, infinity where special values do not match, 0 where they do."""
    with np.errstate(all="ignore"):
        got, golden = pair.load(span)
        chunk = settle(got, golden, largest_finite(pair.dtype))
        rank = pair.error(chunk.got, chunk.golden)
        if chunk.measured is None or chunk.wrong is None:
            return got, golden, rank
        spread = np.zeros(got.size)
        spread[chunk.measured] = rank
        spread[chunk.wrong] = math.inf
        return got, golden, spread
