"""Floating formats of 8 and 4 bits as tables: the value of every code, and the code of every rounded value.

Problem: FP8, FP4, HiF8 and the scales of MX differ in layout, special values, overflow and rounding, and tensors have hundreds of millions of elements.
Approach: a format is the list of its values, written down once from its definition. Decoding is a look-up by code. For encoding, a value is first cut to the
upper 16 bits of a float32 with "round to odd"; no format here has more than 4 significant bits, so those 16 bits say on which side of every midpoint the
value lies, and one look-up among 65536 entries rounds it in any mode.
Limits: the random rounding of HiF8 (`CAST_HYBRID`) is not here; its outcome depends on low bits of the source that a comparison with tolerances does not see.

Sources
- float8_e4m3, float8_e5m2: OCP 8-bit Floating Point Specification 1.0, sections 5.1 and 5.2
- float4_e2m1, float8_e8m0: OCP Microscaling Formats Specification 1.0, sections 5.3.3 and 5.4.1
- hifloat8: Luo et al., "Ascend HiFloat8 Format for Deep Learning", arXiv 2409.16626, section 2
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from piton.core.dtype import DType

Float64 = NDArray[np.float64]
Codes = NDArray[np.uint8]
"""One code per element, also for formats of 4 bits."""

Mask = NDArray[np.bool_]

_PATTERNS = 1 << 16


class Rounding(str, Enum):
    """Which neighbour a value between two codes becomes; the words of Ascend C in brackets."""

    NEAREST_EVEN = "nearest_even"
    """The nearer one, of two equally near ones the one with an even code (CAST_RINT)."""
    NEAREST_AWAY = "nearest_away"
    """The nearer one, of two equally near ones the larger magnitude (CAST_ROUND)."""
    TOWARD_ZERO = "toward_zero"
    """The smaller magnitude (CAST_TRUNC)."""
    DOWN = "down"
    """The smaller value (CAST_FLOOR)."""
    UP = "up"
    """The larger value (CAST_CEIL)."""


@dataclass(frozen=True)
class SmallFloat:
    """One format."""

    values: Float64
    """Value of every code."""
    beyond: float
    """The value that would follow the largest finite one; rounding up to it overflows."""
    overflow: int
    """Code without sign that stands for what lies beyond: infinity, NaN, or the largest value where the format has neither."""
    nan: int | None
    """Code of the canonical NaN; None where the format has none."""
    rounding: Rounding = Rounding.NEAREST_EVEN
    """What a conversion does unless it is told otherwise."""
    is_signed: bool = True
    has_negative_zero: bool = True

    @property
    def magnitudes(self) -> tuple[Float64, Codes]:
        """Finite values from 0 (or the smallest power of two) up, and their codes."""
        half: Float64 = self.values[: len(self.values) // 2] if self.is_signed else self.values
        codes = np.flatnonzero(np.isfinite(half))
        order = np.argsort(half[codes], kind="stable")
        return half[codes][order], codes[order].astype(np.uint8)

    @property
    def largest(self) -> float:
        """Largest finite value."""
        return float(self.magnitudes[0][-1])

    @property
    def finite(self) -> Float64:
        """All finite values in ascending order, each once."""
        return np.unique(self.values[np.isfinite(self.values)])

    @property
    def sign_bit(self) -> int:
        """The bit that negates a code; 0 for a format without signs."""
        return len(self.values) // 2 if self.is_signed else 0


def _binary_value(code: int, exponent_bits: int, mantissa_bits: int, bias: int) -> float:
    """Value of an IEEE 754 style code without its special values: a biased exponent, of which 0 means subnormal."""
    mantissa = code & ((1 << mantissa_bits) - 1)
    exponent = (code >> mantissa_bits) & ((1 << exponent_bits) - 1)
    sign = -1.0 if code >> (exponent_bits + mantissa_bits) else 1.0
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)


_DOTS = ((0b11, 2, 4, 1), (0b10, 2, 3, 2), (0b01, 2, 2, 3), (0b001, 3, 1, 3), (0b0001, 4, 0, 3))
"""Dot field of HiF8: its bits, their number, and the widths of exponent and mantissa that it announces. 0000 announces a denormal value."""


def hifloat8_value(code: int) -> float:
    """Value of a HiF8 code: sign, dot, exponent, mantissa; the exponent is sign and magnitude with a hidden leading one (arXiv 2409.16626, tables 1 and 2)."""
    sign, payload = (-1.0 if code & 0x80 else 1.0), code & 0x7F
    if payload == 0:
        return math.nan if code else 0.0
    if payload == 0x6F:
        return sign * math.inf
    for dot, width, exponent_bits, mantissa_bits in _DOTS:
        if payload >> (7 - width) == dot:
            return sign * _hifloat8_normal(payload, exponent_bits, mantissa_bits)
    return sign * math.ldexp(1.0, payload - 23)


def _hifloat8_normal(payload: int, exponent_bits: int, mantissa_bits: int) -> float:
    mantissa = payload & ((1 << mantissa_bits) - 1)
    exponent = 0
    if exponent_bits:
        field = (payload >> mantissa_bits) & ((1 << exponent_bits) - 1)
        hidden = 1 << (exponent_bits - 1)
        magnitude = hidden | (field & (hidden - 1))
        exponent = -magnitude if field & hidden else magnitude
    return math.ldexp((1 << mantissa_bits) + mantissa, exponent - mantissa_bits)


def _e4m3() -> SmallFloat:
    values = np.array([_binary_value(code, 4, 3, 7) for code in range(256)])
    values[[0x7F, 0xFF]] = math.nan
    return SmallFloat(values, beyond=480.0, overflow=0x7F, nan=0x7F)


def _e5m2() -> SmallFloat:
    values = np.array([_binary_value(code, 5, 2, 15) for code in range(256)])
    values[[0x7C, 0xFC]] = math.inf, -math.inf
    values[[0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]] = math.nan
    return SmallFloat(values, beyond=65536.0, overflow=0x7C, nan=0x7F)


def _hifloat8() -> SmallFloat:
    values = np.array([hifloat8_value(code) for code in range(256)])
    return SmallFloat(values, beyond=49152.0, overflow=0x6F, nan=0x80, rounding=Rounding.NEAREST_AWAY, has_negative_zero=False)


def _e2m1() -> SmallFloat:
    return SmallFloat(np.array([_binary_value(code, 2, 1, 1) for code in range(16)]), beyond=8.0, overflow=0x7, nan=None)


def _e8m0() -> SmallFloat:
    values = np.array([*(math.ldexp(1.0, code - 127) for code in range(255)), math.nan])
    return SmallFloat(values, beyond=math.ldexp(1.0, 128), overflow=0xFF, nan=0xFF, is_signed=False, has_negative_zero=False)


FORMATS: dict[DType, SmallFloat] = {
    DType.FLOAT8_E4M3: _e4m3(),
    DType.FLOAT8_E5M2: _e5m2(),
    DType.HIFLOAT8: _hifloat8(),
    DType.FLOAT8_E8M0: _e8m0(),
    DType.FLOAT4_E2M1: _e2m1(),
}


def encode_table(dtype: DType, rounding: Rounding | None = None, saturates: bool = False) -> Codes:
    """Code of every upper half of a float32, the lowest bit of which stands for "and something more".

    rounding: the format's own if None. saturates: what lies beyond, infinities included, becomes the largest finite value of its sign instead of the format's
    infinity or NaN; NaN stays. A value below the smallest power of two of float8_e8m0 becomes that one, a negative one NaN. Where a format has no NaN, the
    entry of NaN is 0 and means nothing: the caller has to refuse NaN.
    """
    return _encode_table(dtype, FORMATS[dtype].rounding if rounding is None else rounding, saturates)


@cache
def _encode_table(dtype: DType, rounding: Rounding, saturates: bool) -> Codes:
    form = FORMATS[dtype]
    patterns = (np.arange(_PATTERNS, dtype=np.uint32) << 16).view(np.float32).astype(np.float64)
    is_negative = np.arange(_PATTERNS) >= _PATTERNS // 2
    size = np.abs(patterns)
    codes = _round_magnitudes(form, size, is_negative, rounding, saturates)
    negated = is_negative & (form.has_negative_zero | (codes != 0))
    codes[negated] |= np.uint8(form.sign_bit)
    if not form.is_signed and form.nan is not None:
        codes[is_negative & (size > 0)] = form.nan
    codes[np.isnan(patterns)] = 0 if form.nan is None else form.nan
    codes.flags.writeable = False
    return codes


def _round_magnitudes(form: SmallFloat, size: Float64, is_negative: Mask, rounding: Rounding, saturates: bool) -> Codes:
    magnitudes, codes = form.magnitudes
    grid = np.append(magnitudes, form.beyond)
    below = np.clip(np.searchsorted(grid, size, side="right") - 1, 0, len(magnitudes) - 1)
    gap = _Gap(size, grid[below], grid[below + 1], codes[below] % 2 == 1, is_negative)
    index = below + _ROUNDS_UP[rounding](gap)
    index[np.isinf(size)] = len(magnitudes)
    return np.append(codes, np.uint8(codes[-1] if saturates else form.overflow))[index]


@dataclass(frozen=True)
class _Gap:
    """Per element: its magnitude, the format's magnitudes on both sides, whether the lower one has an odd code, and its sign."""

    size: Float64
    below: Float64
    above: Float64
    is_odd: Mask
    is_negative: Mask

    @property
    def middle(self) -> Float64:
        return (self.below + self.above) / 2

    @property
    def is_inexact(self) -> Mask:
        return self.size > self.below


_ROUNDS_UP: dict[Rounding, Callable[[_Gap], Mask]] = {
    Rounding.NEAREST_EVEN: lambda gap: (gap.size > gap.middle) | ((gap.size == gap.middle) & gap.is_odd),
    Rounding.NEAREST_AWAY: lambda gap: gap.size >= gap.middle,
    Rounding.TOWARD_ZERO: lambda gap: np.zeros_like(gap.is_negative),
    Rounding.DOWN: lambda gap: gap.is_inexact & gap.is_negative,
    Rounding.UP: lambda gap: gap.is_inexact & ~gap.is_negative,
}
"""Where the magnitude is rounded up."""
