"""What the null target computes for the operators of suite cann-lowbit that do more than one conversion: dynamic scales, activations, norms, products.

Like `null_lowbit`, in numpy and float32, by ways of its own: exponents from bit fields, roundings by search in a list of values, sums in numpy's order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piton.core.dtype import DType
from piton.core.execution import CaseCall
from piton.targets.null_lowbit import BLOCK, CONVERSIONS, LARGEST, Computed, Float32, floats, stored

Codes = NDArray[np.int64]

_FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def fp8_dequant(call: CaseCall) -> tuple[Computed, ...]:
    """Elements times scales in the type that dst_type names."""
    given = _tensors(call)
    with np.errstate(all="ignore"):
        return (stored(given["x"] * given["scale"], _kind(call, "dst_type")),)


def dynamic_mx_quant(call: CaseCall) -> tuple[Computed, ...]:
    """Elements and pairs of scales along an axis."""
    x, attributes = _tensors(call)["x"], call.attributes
    axis, kind = int(str(attributes["axis"])) % x.ndim, _kind(call, "dst_type")
    lines = np.moveaxis(x, axis, -1)
    scaled, codes = _blocks(lines, int(str(attributes["blocksize"])), kind, int(str(attributes["scale_alg"])))
    elements = _rounded(np.moveaxis(scaled, -1, axis), str(attributes["round_mode"]))
    pairs = np.moveaxis(_pairs(codes), -2, axis)
    return stored(np.ascontiguousarray(elements), kind), _scales(pairs)


def dynamic_fp8_quant(call: CaseCall) -> tuple[Computed, ...]:
    """Quotients and one scale per row."""
    given = _tensors(call)
    with np.errstate(all="ignore"):
        rows = given["x"] * given["smooth_scales"] if "smooth_scales" in given else given["x"]
    return _by_row(rows, _kind(call, "dst_type"))


def swi_glu_mx_quant(call: CaseCall) -> tuple[Computed, ...]:
    """Elements and pairs of scales of the gated activation."""
    kind = _kind(call, "dst_type")
    halves = np.split(_tensors(call)["x"], 2, axis=-1)
    gate, linear = halves if call.attributes["activate_left"] else halves[::-1]
    with np.errstate(all="ignore"):
        product = gate / (np.float32(1) + np.exp(-gate)) * linear
    scaled, codes = _blocks(product, BLOCK, kind, int(str(call.attributes["scale_alg"])))
    return stored(scaled.astype(np.float32), kind), _scales(_pairs(codes))


def add_rms_norm_fp8_quant(call: CaseCall) -> tuple[Computed, ...]:
    """Quantised rows, the sum in the inputs' type, and one scale per row."""
    given, kind = _tensors(call), _kind(call, "dst_type")
    with np.errstate(all="ignore"):
        total = given["x1"] + given["x2"]
        root = np.sqrt(np.mean(total * total, axis=-1, keepdims=True) + np.float32(call.attributes["epsilon"]))  # type: ignore[arg-type]
        quotients, scale = _by_row(total / root * given["gamma"], kind)
        return quotients, stored(total, call.tensors[0].dtype), scale


def fp8_quant_matmul(call: CaseCall) -> tuple[Computed, ...]:
    """Product with bias and scales."""
    given = _tensors(call)
    with np.errstate(all="ignore"):
        product = given["x1"] @ given["x2"]
        product = (product + given["bias"] if "bias" in given else product) * given["scale"]
        product = product * given["pertoken_scale"][..., None] if "pertoken_scale" in given else product
        return (stored(product, _kind(call, "output_dtype")),)


def mx_quant_matmul(call: CaseCall) -> tuple[Computed, ...]:
    """Product of the values of two MX tensors, with bias."""
    given = _tensors(call)
    with np.errstate(all="ignore"):
        left, right = (given[name] * _spread(given[f"{name}_scale"], given[name].shape[-1]) for name in ("x1", "x2"))
        product = left @ np.swapaxes(right, -1, -2)
        return (stored(product + given["bias"] if "bias" in given else product, _kind(call, "output_dtype")),)


_FUSED = (fp8_dequant, dynamic_mx_quant, dynamic_fp8_quant, swi_glu_mx_quant, add_rms_norm_fp8_quant, fp8_quant_matmul, mx_quant_matmul)
WHOLE_CALLS: dict[str, Callable[[CaseCall], tuple[Computed, ...]]] = {**CONVERSIONS, **{call.__name__: call for call in _FUSED}}
"""What a script can name in `compute` beside the functions of the first tensor: every operator of suite cann-lowbit."""


def _tensors(call: CaseCall) -> dict[str, Float32]:
    return {tensor.name: floats(tensor) for tensor in call.tensors}


def _kind(call: CaseCall, attribute: str) -> DType:
    return DType(str(call.attributes[attribute]))


def _by_row(rows: Float32, kind: DType) -> tuple[Computed, Computed]:
    """Rows over their scales, and the scales."""
    largest = np.float32(LARGEST[kind])
    with np.errstate(all="ignore"):
        scale = np.asarray(np.abs(rows).max(axis=-1) / largest, dtype=np.float32)
        quotients = np.clip(rows / np.where(scale == 0, np.float32(1), scale)[..., None], -largest, largest)
    return stored(quotients.astype(np.float32), kind), stored(scale, DType.FLOAT32)


def _blocks(lines: Float32, size: int, kind: DType, rule: int) -> tuple[NDArray[np.float64], Codes]:
    """Lines over the scales of their blocks along the last axis, clamped, and the codes of the scales."""
    length, largest = lines.shape[-1], LARGEST[kind]
    starts = np.arange(0, length, size)
    peak = np.maximum.reduceat(np.abs(lines), starts, axis=-1)
    field = (np.ascontiguousarray(peak).view(np.uint32) >> 23).astype(np.int64)  # biased exponent: 0 for subnormal values, 255 for infinity and NaN
    code = np.clip(field - int(np.log2(largest)), 0, 254)
    if rule == 1:
        with np.errstate(all="ignore"):
            code += (peak > largest * np.ldexp(1.0, code - 127)) & (field < 255)
    with np.errstate(all="ignore"):
        scaled = np.clip(lines / _spread(np.ldexp(1.0, code - 127), length, size), -largest, largest)
    is_special = field == 255
    return np.where(_spread(is_special, length, size), 0.0, scaled), np.where(is_special, 255, code)


def _spread(per_block: NDArray[Any], length: int, size: int = BLOCK) -> NDArray[Any]:
    spread: NDArray[Any] = np.repeat(per_block, size, axis=-1)[..., :length]
    return spread


def _rounded(values: NDArray[np.float64], mode: str) -> Float32:
    """The neighbour in float4_e2m1 that `floor` or `round` choose; `rint` leaves it to the conversion."""
    if mode == "rint":
        return values.astype(np.float32)
    if mode == "floor":
        grid = np.concatenate([-_FP4[:0:-1], _FP4])
        return np.asarray(grid[np.searchsorted(grid, values, side="right") - 1], dtype=np.float32)
    nearest = _FP4[np.searchsorted((_FP4[1:] + _FP4[:-1]) / 2, np.abs(values), side="right")]
    signed: Float32 = np.copysign(nearest, values).astype(np.float32)
    return signed


def _pairs(codes: Codes) -> Codes:
    """Codes [..., blocks] as [..., ceil(blocks / 2), 2], an odd last one beside code 0."""
    padded = np.pad(codes, [*[(0, 0)] * (codes.ndim - 1), (0, codes.shape[-1] % 2)])
    return padded.reshape(*codes.shape[:-1], -1, 2)


def _scales(codes: Codes) -> Computed:
    return Computed(codes.shape, DType.FLOAT8_E8M0, np.ascontiguousarray(codes.astype(np.uint8)).reshape(-1))
