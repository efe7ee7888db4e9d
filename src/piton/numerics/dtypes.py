"""Element types as numpy sees them: storage, decoding raw bytes to float64, rounding float64 to storage.

Supported now: float16, bfloat16, float32, float64, float8_e4m3 (the "fn" format without infinities, as in torch), float8_e5m2, all integers from 8 bits on,
bool. Packed and vendor formats (int4, float4_e2m1, hifloat8, hifloat32) have names and thresholds, but neither storage nor conversion: `storage_dtype`
raises EvaluatorError for them.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError

Float64 = NDArray[np.float64]
AnyArray = NDArray[Any]

_STORAGE: dict[DType, np.dtype[Any]] = {
    DType.FLOAT16: np.dtype(np.float16),
    DType.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
    DType.FLOAT32: np.dtype(np.float32),
    DType.FLOAT64: np.dtype(np.float64),
    DType.FLOAT8_E4M3: np.dtype(ml_dtypes.float8_e4m3fn),
    DType.FLOAT8_E5M2: np.dtype(ml_dtypes.float8_e5m2),
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

_LARGEST = {
    "float16": 65504.0,
    "bfloat16": float.fromhex("0x1.fep127"),
    "float32": float.fromhex("0x1.fffffep127"),
    "float64": float.fromhex("0x1.fffffffffffffp1023"),
    "float8_e4m3fn": 448.0,
    "float8_e5m2": 57344.0,
}
"""(2 - 2^-p) 2^emax of IEEE 754 formats; the 8-bit ones from the OCP 8-bit floating point specification 1.0, table 2."""

_TORCH_NAMES = {DType.FLOAT8_E4M3: "float8_e4m3fn"}
"""Where torch's name differs from the suites' name."""


def storage_dtype(dtype: DType) -> np.dtype[Any]:
    """numpy dtype that holds `dtype` in memory. Raises EvaluatorError for formats without support (see the module's text)."""
    if dtype not in _STORAGE:
        raise EvaluatorError(
            f"element type {dtype.value} is not supported yet", expected=", ".join(item.value for item in _STORAGE), action="use another dtype in this case"
        )
    return _STORAGE[dtype]


def torch_name(dtype: DType) -> str:
    """Name of the torch dtype, such as `float8_e4m3fn`, without the `torch.` prefix."""
    return _TORCH_NAMES.get(dtype, dtype.value)


def from_torch_name(name: str) -> DType | None:
    """The DType that torch calls `name`; None for one that Piton has no name for (complex64, for example)."""
    plain = name.removeprefix("torch.")
    return next((dtype for dtype in DType if torch_name(dtype) == plain), None)


def largest_finite(dtype: DType) -> float:
    """Largest finite value of a floating `dtype`, such as 65504.0 for float16."""
    return _LARGEST[storage_dtype(dtype).name]


def integer_bounds(dtype: DType) -> tuple[int, int]:
    """Smallest and largest value of an integer `dtype`; bool counts as 0..1."""
    if dtype is DType.BOOL:
        return 0, 1
    info = np.iinfo(storage_dtype(dtype))
    return int(info.min), int(info.max)


def view_raw(data: memoryview, dtype: DType) -> AnyArray:
    """One-dimensional array of the storage dtype over raw bytes, without a copy; bool becomes uint8 so that illegal bytes stay visible.

    Raises EvaluatorError when the bytes are not a whole number of elements.
    """
    kind = np.dtype(np.uint8) if dtype is DType.BOOL else storage_dtype(dtype)
    if data.nbytes % kind.itemsize:
        raise EvaluatorError(f"{data.nbytes} bytes do not hold a whole number of {dtype.value} elements")
    return np.frombuffer(data, dtype=np.uint8).view(kind)


def raw_bytes(array: AnyArray) -> memoryview:
    """Raw little-endian bytes of an array in C order (a copy only if it is not contiguous)."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def decode(raw: AnyArray, dtype: DType) -> Float64:
    """Float64 values of one chunk of a floating storage array; exact, since every supported format is a subset of float64."""
    if dtype is DType.BFLOAT16:
        # A bfloat16 is the upper half of a float32; widening the bits lets threads run, where ml_dtypes' own cast holds the interpreter lock.
        bits: NDArray[np.uint32] = np.left_shift(raw.view(np.uint16), np.uint32(16), dtype=np.uint32)
        raw = bits.view(np.float32)
    if dtype in _TABLES:
        return np.take(_TABLES[dtype], raw.view(np.uint8))
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        return raw.astype(np.float64)


def encode(values: Float64, dtype: DType) -> AnyArray:
    """Round float64 to the nearest value of a floating `dtype`, ties to even, in one rounding; overflow as in torch (infinity, NaN for float8_e4m3)."""
    kind = storage_dtype(dtype)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if kind.itemsize >= 4:
            return values.astype(kind)
        narrow = _to_float32_odd(values)
        return _bfloat16_from_float32(narrow) if dtype is DType.BFLOAT16 else narrow.astype(kind)


def encode_float32(values: NDArray[np.float32], dtype: DType) -> AnyArray:
    """Round float32 to the nearest value of a floating `dtype`, ties to even."""
    with np.errstate(over="ignore", under="ignore"):
        if dtype is DType.BFLOAT16:
            return _bfloat16_from_float32(values)
        return values.astype(storage_dtype(dtype), copy=False)


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


def _table(dtype: DType) -> Float64:
    return np.arange(256, dtype=np.uint8).view(_STORAGE[dtype]).astype(np.float64)


_TABLES = {dtype: _table(dtype) for dtype in (DType.FLOAT8_E4M3, DType.FLOAT8_E5M2)}
"""Value of every byte of the 8-bit formats; a look-up is five times faster than the generic cast."""
