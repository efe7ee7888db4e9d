"""A case's arguments in the form the host worker takes them, in the order of the operator's schema."""

from __future__ import annotations

from collections.abc import Sequence

from piton.core.canonical import plain
from piton.core.dtype import DType
from piton.core.execution import CaseCall, TensorArgument
from piton.core.operator import AttrValue, Operator

_TORCH_NAMES = {
    DType.FLOAT8_E4M3: "float8_e4m3fn", DType.FLOAT8_E8M0: "float8_e8m0fnu",
    DType.HIFLOAT8: "uint8", DType.FLOAT4_E2M1: "uint8", DType.INT4: "uint8", DType.HIFLOAT32: "float32",
}  # fmt: skip
"""Types that torch names differently or lacks; those travel as the bytes they are stored in."""

Placed = Sequence[tuple[TensorArgument, int]]
"""Tensors with their device addresses."""


def torch_name(dtype: DType) -> str:
    """torch's name of the element type a tensor of `dtype` is handed over with."""
    return _TORCH_NAMES.get(dtype, dtype.value)


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of a C-contiguous tensor."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def in_schema_order(call: CaseCall, placed: Placed, operator: Operator) -> list[object]:
    """One entry per argument of the schema: name, kind and value."""
    return [{"name": name, **_argument(name, call, placed, operator)} for name in call.order]


def _argument(name: str, call: CaseCall, placed: Placed, operator: Operator) -> dict[str, object]:
    tensors = [_tensor(tensor, address) for tensor, address in placed if tensor.name == name]
    if any(tensor.name == name and tensor.list_index is not None for tensor, _ in placed):
        return {"kind": "tensors", "value": tensors}
    if tensors:
        return {"kind": "tensor", "value": tensors[0]}
    if name in call.omitted:
        return {"kind": "value", "value": None}
    return _attribute(name, call.attributes.get(name), operator)


def _tensor(tensor: TensorArgument, address: int) -> dict[str, object]:
    shape = list(tensor.shape)
    if tensor.dtype.bits < 8 and shape:
        shape[-1] = tensor.dtype.bytes_of(shape[-1])
    return {"address": address, "shape": shape, "dtype": torch_name(tensor.dtype)}


def _attribute(name: str, value: AttrValue, operator: Operator) -> dict[str, object]:
    is_dtype = any(item.name == name and item.type == "dtype" for item in operator.attributes)
    if is_dtype and isinstance(value, str):
        known = {dtype.value: dtype for dtype in DType}
        return {"kind": "dtype", "value": torch_name(known[value]) if value in known else value}
    return {"kind": "value", "value": value if isinstance(value, float) else plain(value)}
