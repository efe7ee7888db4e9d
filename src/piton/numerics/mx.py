"""MX block formats: 32 elements along the last axis share one scale, a power of two (MXFP8, MXFP4).

A tensor of an MX format is two tensors: the elements in float8_e4m3, float8_e5m2 or float4_e2m1, and the scales in float8_e8m0, one per block. The last axis of
the scales has ceil(n / 32) entries; the last block of a row may be shorter. Ascend C's names: `fp8_e4m3fn_t`, `fp8_e5m2_t`, `fp4x2_e2m1_t`, `fp8_e8m0_t`; its
operators may pad the scales to an even number per row, which is the operator's layout and not the format's.

Source: OCP Microscaling Formats (MX) Specification 1.0, sections 5 and 6.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.numerics.chunks import CHUNK, map_spans, spans
from piton.numerics.dtypes import AnyArray, Float64, decode, dtype_of, encode, largest_finite, storage_dtype
from piton.numerics.small_floats import Rounding

BLOCK = 32
"""Elements that share a scale (specification, section 5.2)."""

ELEMENT_TYPES = (DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.FLOAT4_E2M1)
"""Element types of MXFP8 and MXFP4."""

ScaleRule = Literal["floor", "ceil"]
"""How the shared exponent follows from the largest magnitude of a block.

`floor` is the specification's: floor(log2(largest)) - emax, emax being the exponent of the element type's largest value. Large elements may then saturate.
`ceil` is the smallest power of two that keeps every element in range: ceil(log2(largest / largest value of the type)).
"""

_EXPONENTS = (-127, 127)


@dataclass(frozen=True)
class MxTensor:
    """Elements and scales in their storage dtypes; `elements` has the tensor's shape."""

    elements: AnyArray
    scales: AnyArray

    def __post_init__(self) -> None:
        expected = (*self.elements.shape[:-1], block_count(self.elements.shape[-1])) if self.elements.shape else ()
        if not self.elements.shape or self.scales.shape != expected:
            raise EvaluatorError("elements and scales of an MX tensor do not fit", expected=f"scales {list(expected)}", found=str(list(self.scales.shape)))

    def values(self) -> Float64:
        """Element times scale in float64, exact; NaN throughout a block whose scale is NaN."""
        scales = _spread(decode(self.scales, DType.FLOAT8_E8M0), self.elements.shape[-1])
        values: Float64 = decode(self.elements, dtype_of(self.elements)) * scales
        return values


def block_count(length: int) -> int:
    """Blocks of an axis."""
    return -(-length // BLOCK)


def quantise(values: Float64, dtype: DType, rule: ScaleRule = "floor", rounding: Rounding = Rounding.NEAREST_EVEN) -> MxTensor:
    """The MX tensor of `values`, of shape [..., n].

    Elements that the scale leaves out of range saturate. A block of zeros has the smallest scale, 2^-127. A block with an infinity or NaN has the scale NaN and
    elements of zero: the specification leaves its elements open. Raises EvaluatorError for an element type that no MX format has.
    """
    if dtype not in ELEMENT_TYPES:
        raise EvaluatorError(f"MX has no elements of {dtype.value}", expected=", ".join(item.value for item in ELEMENT_TYPES))
    if not values.shape:
        raise EvaluatorError("a scalar has no blocks", expected="at least one axis")
    rows = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    blocks = block_count(values.shape[-1])
    elements, scales = np.empty(rows.shape, storage_dtype(dtype)), np.empty((len(rows), blocks), np.uint8)

    def fill(span: slice) -> None:
        scales[span], scaled = _scaled(rows[span], dtype, rule)
        elements[span] = encode(scaled, dtype, rounding, saturates=True)

    map_spans(fill, spans(len(rows), max(1, CHUNK // max(values.shape[-1], 1))))
    return MxTensor(elements.reshape(values.shape), scales.view(storage_dtype(DType.FLOAT8_E8M0)).reshape(*values.shape[:-1], blocks))


def _scaled(rows: Float64, dtype: DType, rule: ScaleRule) -> tuple[NDArray[np.uint8], Float64]:
    """Codes of the scales, and the rows divided by them: exact, the scales being powers of two."""
    peaks = _block_peaks(np.abs(rows))
    exponents = _shared_exponents(peaks, dtype, rule)
    is_special = ~np.isfinite(peaks)
    with np.errstate(invalid="ignore"):
        scaled = rows * _spread(np.ldexp(1.0, -exponents.astype(np.int32)), rows.shape[-1])
    if is_special.any():
        scaled[_spread(is_special, rows.shape[-1])] = 0.0
    return np.where(is_special, 0xFF, exponents - _EXPONENTS[0]).astype(np.uint8), scaled


def _spread(per_block: NDArray[Any], length: int) -> NDArray[Any]:
    """One entry per element from one per block."""
    return np.repeat(per_block, BLOCK, axis=-1)[..., :length]


def _block_peaks(sizes: Float64) -> Float64:
    """Largest magnitude of every block; NaN where it has one."""
    if 0 in sizes.shape:
        return np.zeros((*sizes.shape[:-1], block_count(sizes.shape[-1])))
    starts = np.arange(0, sizes.shape[-1], BLOCK)
    return np.maximum.reduceat(sizes, starts, axis=-1)


def _shared_exponents(peaks: Float64, dtype: DType, rule: ScaleRule) -> NDArray[np.int64]:
    """Exponent of each scale, inside the range of float8_e8m0; frexp is exact where a logarithm is not."""
    fraction, exponent = np.frexp(np.where(np.isfinite(peaks), peaks, 0.0))
    top_fraction, top_exponent = np.frexp(largest_finite(dtype))
    shared = exponent.astype(np.int64) - int(top_exponent)
    if rule == "ceil":
        shared += fraction > top_fraction
    shared[peaks == 0] = _EXPONENTS[0]
    return np.clip(shared, *_EXPONENTS)
