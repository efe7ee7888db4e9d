"""Inputs of a case, reproducible from (suite version, case, seed) on any host and with any number of threads.

Values
- floating, finite range: uniform in [low, high]; the ends are first clipped to the dtype and rounded inwards, so that no value leaves the range
- an infinite or NaN end: the extremes go into head and tail of the flattened tensor, `special_count` elements each: `low` into the head, `high` into the tail;
  the interior is ordinary: [-1, 1], or 2 wide from the finite end
- float8_e8m0: a power of two inside [low, high], each equally likely; the ends have to be positive
- integers: uniform, both ends included, clipped to the dtype; bool: uniform over what [low, high] contains of {0, 1}, and never all false when 1 is allowed
- low = high = 0 gives all zero

Inputs whose elements depend on each other (distinct indices, monotone group lists ...) are rebuilt afterwards by the operator's own `get_input`, see `golden`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from functools import partial

import numpy as np

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.numerics.chunks import map_spans, spans
from piton.numerics.dtypes import AnyArray, carried_shape, decode, encode, encode_float32, integer_bounds, largest_finite, next_value, storage_dtype
from piton.numerics.streams import STREAM_CHUNK, below, stream_key, unit_float32, unit_float64

GENERATOR_VERSION = 1
"""Counts changes of the generated data; part of every golden cache key."""

TWO_TRIAL_SHIFT = 0.01
"""Added to every floating input in the second trial of the two-trial mode (rule 8)."""

SPECIAL_SHARE = 20
"""At most one element in this many becomes a special value, at each end."""

SPECIAL_LIMIT = 1024
"""Most elements at each end that become a special value: several vector registers wide, and a small part of a large tensor."""

_SCALE_EXPONENTS = (-127, 127)
"""Of the powers of two of float8_e8m0, codes 0 to 254."""

Inputs = dict[str, AnyArray | list[AnyArray]]
"""Arrays by argument name, in the order of the case; a list argument has a list. Element types that numpy lacks are as in `dtypes`."""


def make_inputs(suite_version: str, case: Case, seed: int, shift: float = 0.0, threads: int = 1) -> Inputs:
    """Draw all inputs of `case`.

    `shift` is added to every finite value of every floating input before it is rounded to its dtype. Raises EvaluatorError for a dtype or a range that
    has no values.
    """
    name = (GENERATOR_VERSION, suite_version, case.operator, case.digest(), seed)
    inputs: Inputs = {}
    lists: dict[str, list[AnyArray]] = defaultdict(list)
    for item in case.inputs:
        array = make_tensor(item, stream_key(*name, item.argument, item.list_index), shift, threads)
        if item.list_index is None:
            inputs[item.argument] = array
        else:
            lists[item.argument].append(array)
            inputs[item.argument] = lists[item.argument]
    return inputs


def make_tensor(item: CaseInput, key: int, shift: float = 0.0, threads: int = 1) -> AnyArray:
    """Draw one tensor from the stream `key`."""
    carried_shape(item.dtype, item.shape)
    if not item.dtype.is_floating:
        return _make_integers(item, key, threads)
    if item.dtype is DType.FLOAT8_E8M0:
        return _make_scales(item, key, threads)
    low, high = interior(item.low, item.high)
    flat = _fill(item, _float_filler(item.dtype, key, (low, high), shift), threads)
    _place_specials(flat, item)
    return flat.reshape(item.shape)


def special_count(elements: int) -> int:
    """How many elements at each end carry a special value: at least one, at most a twentieth and 1024."""
    return max(1, min(elements // SPECIAL_SHARE, SPECIAL_LIMIT))


def interior(low: float, high: float) -> tuple[float, float]:
    """Range of the ordinary values between special ends."""
    if math.isfinite(low) and math.isfinite(high):
        return low, high
    if math.isfinite(low):
        return low, low + 2.0
    if math.isfinite(high):
        return high - 2.0, high
    return -1.0, 1.0


def _fill(item: CaseInput, draw: Callable[[int, int], AnyArray], threads: int) -> AnyArray:
    flat = np.empty(item.elements, dtype=storage_dtype(item.dtype))

    def fill(span: slice) -> None:
        flat[span] = draw(span.start // STREAM_CHUNK, span.stop - span.start)

    map_spans(fill, spans(item.elements, STREAM_CHUNK), threads)
    return flat


def _float_filler(dtype: DType, key: int, ends: tuple[float, float], shift: float) -> Callable[[int, int], AnyArray]:
    low, high = inward(dtype, *(end + shift for end in ends))
    if dtype is DType.FLOAT64:
        return partial(_draw_float64, key, low, high)
    return partial(_draw_float32, key, dtype, low, high)


def inward(dtype: DType, low: float, high: float) -> tuple[float, float]:
    """The ends clipped to the dtype's finite range and moved to its nearest values inside [low, high].

    A range between two neighbouring values gives the one nearest to `low`, twice. Raises EvaluatorError for low > high.
    """
    if not low <= high:
        raise EvaluatorError(f"the value range [{low}, {high}] is empty", action="write the smaller end first")
    largest = largest_finite(dtype)
    first, last = (min(max(end, -largest), largest) for end in (low, high))
    inner = _next_inside(first, dtype, up=True), _next_inside(last, dtype, up=False)
    return inner if inner[0] <= inner[1] else (_rounded(first, dtype), _rounded(first, dtype))


def _rounded(value: float, dtype: DType) -> float:
    return float(decode(encode(np.array([value]), dtype), dtype)[0])


def _next_inside(value: float, dtype: DType, up: bool) -> float:
    near = _rounded(value, dtype)
    if near == value or (near > value) == up:
        return near
    return next_value(near, dtype, math.inf if up else -math.inf)


def _draw_float64(key: int, low: float, high: float, chunk: int, count: int) -> AnyArray:
    unit = unit_float64(key, chunk, count)
    return np.clip(unit * high + (1.0 - unit) * low, low, high)


def _draw_float32(key: int, dtype: DType, low: float, high: float, chunk: int, count: int) -> AnyArray:
    """Both ends are weighted, rather than the width scaled, so that the full range of float32 does not overflow."""
    unit = unit_float32(key, chunk, count)
    drawn = (np.float32(1.0) - unit) * np.float32(low)
    unit *= np.float32(high)
    drawn += unit
    np.clip(drawn, np.float32(low), np.float32(high), out=drawn)
    return encode_float32(drawn, dtype)


def _place_specials(flat: AnyArray, item: CaseInput) -> None:
    count = special_count(flat.size)
    if not math.isfinite(item.low):
        flat[:count] = encode(np.array([item.low]), item.dtype)
    if not math.isfinite(item.high) and flat.size > 1:
        flat[flat.size - count :] = encode(np.array([item.high]), item.dtype)


def _make_scales(item: CaseInput, key: int, threads: int) -> AnyArray:
    """Uniform over the exponents: a uniform draw of the values would give the two or three largest scales nearly always."""
    low, high = scale_exponents(item)
    return _fill(item, partial(_draw_scales, key, low, high - low + 1), threads).reshape(item.shape)


def scale_exponents(item: CaseInput) -> tuple[int, int]:
    """Exponents of the smallest and the largest scale of float8_e8m0 inside [low, high]. Raises EvaluatorError where there is none."""
    if not 0 < item.low <= item.high < math.inf:
        raise EvaluatorError(
            f"the value range [{item.low}, {item.high}] of {item.argument} holds no scales", expected="0 < low <= high", action="give the range of the scales"
        )
    low, high = math.ceil(math.log2(item.low)), math.floor(math.log2(item.high))
    low, high = max(low, _SCALE_EXPONENTS[0]), min(high, _SCALE_EXPONENTS[1])
    if low > high:
        raise EvaluatorError(f"the value range [{item.low}, {item.high}] of {item.argument} holds no power of two that float8_e8m0 has")
    return low, high


def _draw_scales(key: int, low: int, width: int, chunk: int, count: int) -> AnyArray:
    codes = below(key, chunk, count, width) + np.uint64(low - _SCALE_EXPONENTS[0])
    scales: AnyArray = codes.astype(np.uint8).view(storage_dtype(DType.FLOAT8_E8M0))
    return scales


def _make_integers(item: CaseInput, key: int, threads: int) -> AnyArray:
    low, high = integer_range(item)
    flat = _fill(item, partial(_draw_integers, key, item.dtype, low, high - low + 1), threads)
    if item.dtype is DType.BOOL and high == 1 and flat.size and not flat.any():
        flat[flat.size // 2] = True
    return flat.reshape(item.shape)


def integer_range(item: CaseInput) -> tuple[int, int]:
    """Smallest and largest integer inside [low, high] and the dtype; infinite ends mean the dtype's. Raises EvaluatorError for NaN or an empty range."""
    if math.isnan(item.low) or math.isnan(item.high) or item.low > item.high:
        raise EvaluatorError(f"the value range [{item.low}, {item.high}] of {item.argument} holds no {item.dtype.value}")
    least, most = integer_bounds(item.dtype)
    low = least if item.low <= least else min(math.ceil(item.low), most)
    high = most if item.high >= most else max(math.floor(item.high), least)
    if low > high:
        raise EvaluatorError(f"the value range [{item.low}, {item.high}] of {item.argument} holds no {item.dtype.value}")
    return low, high


def _draw_integers(key: int, dtype: DType, low: int, width: int, chunk: int, count: int) -> AnyArray:
    """Sums modulo 2^64 of the offset and `low` are right in two's complement for every integer dtype."""
    drawn = below(key, chunk, count, width)
    drawn += np.uint64(low % (1 << 64))
    return drawn.astype(storage_dtype(dtype), casting="unsafe")
