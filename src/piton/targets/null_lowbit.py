"""What the null target computes for the operators of low-bit formats.

Problem: a suite of FP8, HiF8 and MX operators has to be run end to end before a chip, real or virtual, has these types.
Approach: computations by name, from a call's tensors and attributes to its outputs' bytes, in float32 and with ml_dtypes, or plain arithmetic for HiF8.
They share nothing with `piton.numerics`, so that an agreement says something about both.
Limits: small and slow; the conversions of suite cann-lowbit (its other operators: `null_lowbit_fused`), nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.execution import CaseCall, TensorArgument

Float32 = NDArray[np.float32]
Bytes = NDArray[np.uint8]

NUMPY_TYPES: dict[DType, np.dtype[Any]] = {
    DType.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
    DType.FLOAT8_E4M3: np.dtype(ml_dtypes.float8_e4m3fn),
    DType.FLOAT8_E5M2: np.dtype(ml_dtypes.float8_e5m2),
    DType.FLOAT8_E8M0: np.dtype(ml_dtypes.float8_e8m0fnu),
}
"""Types that numpy gets from ml_dtypes."""

TORCH_NAMES = {
    DType.FLOAT8_E4M3: "float8_e4m3fn",
    DType.FLOAT8_E8M0: "float8_e8m0fnu",
    DType.HIFLOAT8: "uint8",
    DType.FLOAT4_E2M1: "uint8",
}
"""What torch calls a tensor of the type, or the tensor that carries it."""

LARGEST = {DType.FLOAT8_E4M3: 448.0, DType.FLOAT8_E5M2: 57344.0, DType.HIFLOAT8: 32768.0, DType.FLOAT4_E2M1: 6.0}
BLOCK = 32
"""Elements that share a scale of MX."""


class Computed(NamedTuple):
    """One output: its shape in elements, its type, its bytes."""

    shape: tuple[int, ...]
    dtype: DType
    data: Bytes


def fp8_quant(call: CaseCall) -> tuple[Computed, ...]:
    """x / scale, saturating, in the type that dst_type names."""
    x, scale = (floats(tensor) for tensor in call.tensors)
    kind = DType(str(call.attributes["dst_type"]))
    with np.errstate(all="ignore"):
        return (stored(np.clip(x / scale, -LARGEST[kind], LARGEST[kind]), kind),)


def mx_quant(call: CaseCall) -> tuple[Computed, ...]:
    """Elements and scales of the MX format whose elements dst_type names."""
    x, kind = floats(call.tensors[0]), DType(str(call.attributes["dst_type"]))
    padded = np.pad(x, [*[(0, 0)] * (x.ndim - 1), (0, -x.shape[-1] % BLOCK)]).reshape(*x.shape[:-1], -1, BLOCK)
    peak = np.abs(padded).max(-1)
    field = (peak.view(np.uint32) >> 23).astype(np.int64)  # biased exponent, 0 for zero and subnormal values, 255 for infinity and NaN
    code = np.clip(field - int(np.log2(LARGEST[kind])), 0, 254)
    with np.errstate(all="ignore"):
        scaled = padded / np.ldexp(np.float64(1), code - 127)[..., None]
    scaled = np.where(field[..., None] == 255, 0.0, np.clip(scaled, -LARGEST[kind], LARGEST[kind]))
    elements = scaled.reshape(*x.shape[:-1], -1)[..., : x.shape[-1]].astype(np.float32)
    scales = np.where(field == 255, 255, code).astype(np.uint8)
    return (stored(elements, kind), Computed(scales.shape, DType.FLOAT8_E8M0, scales.reshape(-1)))


def mx_dequant(call: CaseCall) -> tuple[Computed, ...]:
    """Elements times scales in the type that dst_type names."""
    x, scale = (floats(tensor) for tensor in call.tensors)
    with np.errstate(all="ignore"):
        product = x.astype(np.float64) * np.repeat(scale, BLOCK, axis=-1)[..., : x.shape[-1]]
        return (stored(product.astype(np.float32), DType(str(call.attributes["dst_type"]))),)


CONVERSIONS: dict[str, Callable[[CaseCall], tuple[Computed, ...]]] = {"fp8_quant": fp8_quant, "mx_quant": mx_quant, "mx_dequant": mx_dequant}
"""The part of `null_lowbit_fused.WHOLE_CALLS` that is here."""


def numpy_type(dtype: DType) -> np.dtype[Any]:
    """Type of an array with one item per element. Raises EvaluatorError for formats that are packed or that numpy lacks."""
    if dtype.bits < 8 or dtype in (DType.HIFLOAT8, DType.HIFLOAT32):
        raise EvaluatorError(f"the null target computes nothing from tensors of {dtype.value}")
    return NUMPY_TYPES.get(dtype) or np.dtype(dtype.value)


def floats(tensor: TensorArgument) -> Float32:
    """Values of a tensor, whatever floating format it has."""
    assert tensor.data is not None  # only timing runs come without data, and they have no outputs
    raw = np.frombuffer(tensor.data, dtype=np.uint8)
    if tensor.dtype is DType.FLOAT4_E2M1:
        codes = np.stack([raw & 0xF, raw >> 4], axis=-1).reshape(tensor.shape)
        elements: Float32 = codes.astype(np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float32)
        return elements
    if tensor.dtype is DType.HIFLOAT8:
        decoded: Float32 = _HIFLOAT8_VALUES[raw].reshape(tensor.shape)
        return decoded
    values: Float32 = raw.view(numpy_type(tensor.dtype)).reshape(tensor.shape).astype(np.float32)
    return values


def stored(values: Float32, dtype: DType) -> Computed:
    """The output that holds `values`, rounded once to `dtype`."""
    if dtype is DType.HIFLOAT8:
        return Computed(values.shape, dtype, _hifloat8(values).reshape(-1))
    if dtype is DType.FLOAT4_E2M1:
        codes = values.astype(ml_dtypes.float4_e2m1fn).view(np.uint8).reshape(-1)
        return Computed(values.shape, dtype, codes[::2] | codes[1::2] << np.uint8(4))
    with np.errstate(over="ignore"):
        return Computed(values.shape, dtype, values.astype(numpy_type(dtype)).reshape(-1).view(np.uint8))


def _hifloat8(values: Float32) -> Bytes:
    """Codes of finite values within the range and NaN: round half away in the binade's own unit, then put the fields together (arXiv 2409.16626)."""
    size = np.abs(np.nan_to_num(values)).astype(np.float64)
    exponent = np.maximum(np.frexp(size)[1] - 1, -23)
    unit = exponent - _mantissa_bits(exponent)
    rounded = np.ldexp(np.floor(np.ldexp(size, -unit) + 0.5), unit)  # may have reached the next binade
    fraction, exponent = np.frexp(rounded)
    exponent = exponent - 1
    width = _mantissa_bits(exponent)
    mantissa = (np.ldexp(2 * fraction - 1, width)).astype(np.int64)
    code = np.where(exponent < -15, exponent + 23, _normal_code(exponent, mantissa, width))
    code = np.where(rounded == 0, 0, code | (values < 0) * 0x80)
    return np.where(np.isnan(values), 0x80, code).astype(np.uint8)


def _hifloat8_value(code: int) -> float:
    """Value of a code: what its dot field announces is read from the left, field by field (arXiv 2409.16626)."""
    bits = f"{code:08b}"
    sign, payload = (-1.0 if bits[0] == "1" else 1.0), code & 0x7F
    if payload in (0, 0x6F):
        return sign * np.inf if payload else (np.nan if code else 0.0)
    for dot, width in (("11", 4), ("10", 3), ("01", 2), ("001", 1), ("0001", 0)):
        if bits[1:].startswith(dot):
            rest = bits[1 + len(dot) :]
            exponent, mantissa = rest[:width], rest[width:]
            size = int("1" + exponent[1:], 2) if width else 0
            return float(sign * (1 + int(mantissa, 2) / 2 ** len(mantissa)) * 2.0 ** (-size if exponent.startswith("1") else size))
    return float(sign * 2.0 ** (payload - 23))


_HIFLOAT8_VALUES = np.array([_hifloat8_value(code) for code in range(256)], dtype=np.float32)


def _mantissa_bits(exponent: NDArray[np.int64]) -> NDArray[np.int64]:
    size = np.abs(exponent)
    width: NDArray[np.int64] = np.select([size < 4, size < 8, size < 16], [3, 2, 1], 0)
    return width


def _normal_code(exponent: NDArray[np.int64], mantissa: NDArray[np.int64], width: NDArray[np.int64]) -> NDArray[np.int64]:
    """Dot field, sign of the exponent, its magnitude without the leading one, mantissa."""
    size = np.abs(exponent)
    dots = np.select([size == 0, size == 1, size < 4, size < 8], [0x08, 0x10, 0x20, 0x40], 0x60)
    bits = np.select([size == 0, size == 1, size < 4, size < 8], [0, 1, 2, 3], 4)
    leading = (1 << bits) >> 1
    code: NDArray[np.int64] = dots | ((exponent < 0) * leading | (size - leading) * (bits > 0)) << width | mantissa
    return code
