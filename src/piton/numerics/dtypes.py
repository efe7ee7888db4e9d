"""Element types as numpy sees them: storage, decoding raw bytes to float64, rounding float64 to storage.

Supported: float16, bfloat16, float32, float64, integers from 8 bits on, bool, and the formats of `small_floats`. An array has one item per element, with a
numpy dtype that no other element type has. In raw bytes float4_e2m1 is packed, two elements to a byte along the last axis, the first of them in the lower half;
that axis has to be even. int4 and hifloat32 have names (hifloat32 also thresholds), but no storage: `storage_dtype` raises EvaluatorError for them.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.numerics.small_floats import FORMATS, Rounding, encode_table

Float64 = NDArray[np.float64]
AnyArray = NDArray[Any]

_STORAGE: dict[DType, np.dtype[Any]] = {
    DType.FLOAT16: np.dtype(np.float16),
    DType.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
    DType.FLOAT32: np.dtype(np.float32),
    DType.FLOAT64: np.dtype(np.float64),
    DType.FLOAT8_E4M3: np.dtype(ml_dtypes.float8_e4m3fn),
    DType.FLOAT8_E5M2: np.dtype(ml_dtypes.float8_e5m2),
    # numpy has no HiF8; a byte with a name is told from uint8 and keeps its name through slices and copies.
    DType.HIFLOAT8: np.dtype([("hifloat8", np.uint8)]),
    DType.FLOAT8_E8M0: np.dtype(ml_dtypes.float8_e8m0fnu),
    DType.FLOAT4_E2M1: np.dtype(ml_dtypes.float4_e2m1fn),
    DType.INT8: np.dtype(np.int8),
    DType.UINT8: np.dtype(np.uint8),
    DType.INT16: np.dtype(np.int16),
    DType.UINT16: np.dtype(np.uint16),
    DType.INT32: np.dtype(np.int32),
    DType.UINT32: np.dtype(np.uint32),
    DType.INT64: np.dtype(np.int64),
    DType.UINT64: np.dtype(np.uint64),
    DType.BOOL: np.dtype(np.bool_),
}

_DTYPES = {kind: dtype for dtype, kind in _STORAGE.items()}

_LARGEST = {
    DType.FLOAT16: 65504.0,
    DType.BFLOAT16: float.fromhex("0x1.fep127"),
    DType.FLOAT32: float.fromhex("0x1.fffffep127"),
    DType.FLOAT64: float.fromhex("0x1.fffffffffffffp1023"),
    **{dtype: form.largest for dtype, form in FORMATS.items()},
}
"""(2 - 2^-p) 2^emax of IEEE 754 formats; the others follow from their values."""

_TORCH_NAMES = {DType.FLOAT8_E4M3: "float8_e4m3fn", DType.FLOAT8_E8M0: "float8_e8m0fnu"}
"""Where torch's name differs from the suites' name."""

_CARRIERS = {DType.HIFLOAT8: "uint8", DType.FLOAT4_E2M1: "uint8", DType.INT4: "uint8", DType.HIFLOAT32: "float32"}
"""Element types that torch lacks (or, for float4_e2m1, can only hold), and the dtype of the tensors that carry them between host and device."""


def storage_dtype(dtype: DType) -> np.dtype[Any]:
    """numpy dtype of an array with one item per element. Raises EvaluatorError for formats without support (see the module's text)."""
    if dtype not in _STORAGE:
        raise EvaluatorError(
            f"element type {dtype.value} is not supported yet", expected=", ".join(item.value for item in _STORAGE), action="use another dtype in this case"
        )
    return _STORAGE[dtype]


def dtype_of(array: AnyArray) -> DType:
    """The element type of a storage array. Raises EvaluatorError for an array that is none."""
    if array.dtype not in _DTYPES:
        raise EvaluatorError(f"arrays of {array.dtype} hold no element type of Piton")
    return _DTYPES[array.dtype]


def has_infinity(dtype: DType) -> bool:
    """True when an element can be infinite."""
    return dtype.is_floating and (dtype not in FORMATS or bool(np.isinf(FORMATS[dtype].values).any()))


def has_nan(dtype: DType) -> bool:
    """True when an element can be NaN."""
    return dtype.is_floating and (dtype not in FORMATS or FORMATS[dtype].nan is not None)


def is_torchs_own(dtype: DType) -> bool:
    """True when torch has this element type and can convert it."""
    return dtype not in _CARRIERS


def torch_name(dtype: DType) -> str:
    """Name of the torch dtype, such as `float8_e4m3fn`, without the `torch.` prefix; for an element type that torch lacks, of the tensor that carries it."""
    return _CARRIERS.get(dtype) or _TORCH_NAMES.get(dtype, dtype.value)


def carried_shape(dtype: DType, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the torch tensor for a tensor of `shape`: the last axis of a packed format counts bytes.

    Raises EvaluatorError where that axis does not fill its bytes.
    """
    if dtype.bits >= 8:
        return shape
    if not shape or shape[-1] % 2:
        raise EvaluatorError(f"{dtype.value} has two elements in a byte along the last axis", expected="an even last axis", found=f"shape {list(shape)}")
    return (*shape[:-1], shape[-1] // 2)


def from_torch_name(name: str) -> DType | None:
    """The DType that torch calls `name`, or that has this name here and none in torch; None where there is no such (complex64, for example)."""
    plain = name.removeprefix("torch.")
    return next((dtype for dtype in DType if plain == _TORCH_NAMES.get(dtype, dtype.value)), None)


def from_name(name: str) -> DType | None:
    """The DType of an attribute's value: a name of the suites or of torch."""
    plain = name.removeprefix("torch.")
    return next((dtype for dtype in DType if dtype.value == plain), None) or from_torch_name(plain)


def largest_finite(dtype: DType) -> float:
    """Largest finite value of a floating `dtype`, such as 65504.0 for float16."""
    storage_dtype(dtype)
    return _LARGEST[dtype]


def next_value(value: float, dtype: DType, toward: float) -> float:
    """The neighbour of `value`, which the floating `dtype` has, in the direction of `toward`; `value` itself at the end of the finite range."""
    if dtype in FORMATS:
        finite = FORMATS[dtype].finite
        place = int(np.searchsorted(finite, value)) + (1 if toward > value else -1 if toward < value else 0)
        return float(finite[min(max(place, 0), len(finite) - 1)])
    stored = encode(np.array([value, toward]), dtype)
    return float(decode(np.nextafter(stored[:1], stored[1:]), dtype)[0])


def integer_bounds(dtype: DType) -> tuple[int, int]:
    """Smallest and largest value of an integer `dtype`; bool counts as 0..1."""
    if dtype is DType.BOOL:
        return 0, 1
    info = np.iinfo(storage_dtype(dtype))
    return int(info.min), int(info.max)


def view_raw(data: memoryview, dtype: DType) -> AnyArray:
    """One-dimensional array of the storage dtype over raw bytes, without a copy unless they are packed; bool becomes uint8 so that illegal bytes stay visible.

    Raises EvaluatorError when the bytes are not a whole number of elements.
    """
    kind = np.dtype(np.uint8) if dtype is DType.BOOL else storage_dtype(dtype)
    if data.nbytes % kind.itemsize:
        raise EvaluatorError(f"{data.nbytes} bytes do not hold a whole number of {dtype.value} elements")
    flat = np.frombuffer(data, dtype=np.uint8)
    return (_unpacked(flat) if dtype.bits < 8 else flat).view(kind)


def raw_bytes(array: AnyArray) -> memoryview:
    """Raw little-endian bytes of an array in C order (a copy only if it is not contiguous, or packed).

    Raises EvaluatorError where the last axis of a packed format is odd.
    """
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    dtype = _DTYPES.get(array.dtype)
    if dtype is None or dtype.bits >= 8:
        return flat.data
    carried_shape(dtype, array.shape)
    return _packed(flat).data


def _packed(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Two codes a byte, the first in the lower half, as in torch's float4_e2m1fn_x2."""
    packed: NDArray[np.uint8] = codes[1::2] << np.uint8(4)
    packed |= codes[::2]
    return packed


def _unpacked(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    codes = np.empty(2 * packed.size, dtype=np.uint8)
    np.bitwise_and(packed, np.uint8(0xF), out=codes[::2])
    np.right_shift(packed, np.uint8(4), out=codes[1::2])
    return codes


def decode(raw: AnyArray, dtype: DType) -> Float64:
    """Float64 values of one chunk of a floating storage array; exact, since every supported format is a subset of float64."""
    if dtype is DType.BFLOAT16:
        # A bfloat16 is the upper half of a float32; widening the bits lets threads run, where ml_dtypes' own cast holds the interpreter lock.
        bits: NDArray[np.uint32] = np.left_shift(raw.view(np.uint16), np.uint32(16), dtype=np.uint32)
        raw = bits.view(np.float32)
    if dtype in FORMATS:
        return np.take(FORMATS[dtype].values, raw.view(np.uint8))
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        return raw.astype(np.float64)


def encode(values: Float64, dtype: DType, rounding: Rounding | None = None, *, saturates: bool = False) -> AnyArray:
    """Round float64 to a value of a floating `dtype` in one rounding, by default to the nearest: ties to even, in hifloat8 away from zero.

    What is too large becomes infinity, in float8_e4m3 and float8_e8m0 NaN (the non-saturating mode of the OCP formats), in float4_e2m1 the largest value; with
    `saturates` always that. A rounding or saturation can only be asked for in formats of 8 and 4 bits. Raises EvaluatorError for NaN where the format has none.
    """
    kind = storage_dtype(dtype)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if dtype in FORMATS:
            return _encode_small(_to_float32_odd(values), dtype, rounding, saturates)
        if rounding is not None or saturates:
            raise ValueError(f"{dtype.value} is rounded to nearest even only")
        return _bfloat16_from_float64(values) if dtype is DType.BFLOAT16 else values.astype(kind)  # numpy rounds float64 to float16 once


def encode_float32(values: NDArray[np.float32], dtype: DType) -> AnyArray:
    """Round float32 to the nearest value of a floating `dtype`, like `encode`."""
    with np.errstate(over="ignore", under="ignore"):
        if dtype in FORMATS:
            return _encode_small(values, dtype)
        if dtype is DType.BFLOAT16:
            return _bfloat16_from_float32(values)
        return values.astype(storage_dtype(dtype), copy=False)


def _encode_small(values: NDArray[np.float32], dtype: DType, rounding: Rounding | None = None, saturates: bool = False) -> AnyArray:
    """Look up the upper half of each float32, its lowest bit set when the lower half is not zero (`small_floats.encode_table`)."""
    if FORMATS[dtype].nan is None and np.isnan(values).any():
        raise EvaluatorError(f"{dtype.value} has no NaN", action="keep NaN out of this tensor")
    bits = np.ascontiguousarray(values).view(np.uint32)
    upper: NDArray[np.uint16] = (bits >> np.uint32(16)).astype(np.uint16)
    upper |= (bits & np.uint32(0xFFFF)) != 0
    return np.take(encode_table(dtype, rounding, saturates), upper).view(storage_dtype(dtype))


def _to_float32_odd(values: Float64) -> NDArray[np.float32]:
    """Round to float32 with "round to odd", so that a second rounding to 22 bits or fewer gives what one rounding would have given.

    Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008.
    """
    narrow = values.astype(np.float32)
    back = narrow.astype(np.float64)
    bits = narrow.view(np.uint32)
    is_inexact = (back != values) & ~np.isnan(values) & (bits & 1 == 0)
    is_below = np.abs(back) < np.abs(values)
    bits += np.where(is_inexact, np.where(is_below, 1, -1), 0).astype(np.int32).view(np.uint32)
    return narrow


def _bfloat16_from_float64(values: Float64) -> AnyArray:
    """By way of float32. That rounds twice only where the float32 lies in the middle between two results: there what was lost decides."""
    narrow = values.astype(np.float32)
    is_middle = (narrow.view(np.uint32) & np.uint32(0xFFFF)) == np.uint32(0x8000)
    if is_middle.any():
        narrow[is_middle] = _to_float32_odd(values[is_middle])
    return _bfloat16_from_float32(narrow)


def _bfloat16_from_float32(values: NDArray[np.float32]) -> AnyArray:
    """Nearest-even rounding on the bits: add half a unit (less one bit when the kept part is even), drop the lower half; NaN becomes the quiet NaN."""
    bits = values.view(np.uint32)
    rounded = bits >> np.uint32(16)
    rounded &= np.uint32(1)
    rounded += np.uint32(0x7FFF)
    rounded += bits
    rounded >>= np.uint32(16)
    half: NDArray[np.uint16] = rounded.astype(np.uint16)
    is_nan = np.isnan(values)
    if is_nan.any():
        half[is_nan] = 0x7FC0
    return half.view(_STORAGE[DType.BFLOAT16])
