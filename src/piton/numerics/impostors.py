"""Impostors: outputs that are not the result. A case that accepts one of them tests nothing, so the suite's lint asks every case to reject them.

Not every case can reject all of them (gelu of zeros is zero); such a case is listed as degenerate for that impostor by the suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from piton.core.dtype import DType
from piton.core.execution import OutputBuffer
from piton.numerics.compare import compare_output
from piton.numerics.dtypes import AnyArray, Float64, carried_shape, decode, dtype_of, encode, integer_bounds, raw_bytes, storage_dtype, torch_name
from piton.numerics.inputs import Inputs
from piton.numerics.judge import Profile
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import Tolerance

LOWER_PRECISION = "lower_precision"
NAMES = ("zeros", "constant", "mean", "input_copy", "first_row_only", LOWER_PRECISION, "stale")
"""All impostors; which of them exist depends on the output."""

_LOWER: Mapping[DType, DType] = {
    DType.FLOAT64: DType.FLOAT32,
    DType.FLOAT32: DType.BFLOAT16,
    DType.FLOAT16: DType.FLOAT8_E4M3,
    DType.BFLOAT16: DType.FLOAT8_E5M2,
}
"""The format a kernel would compute in to save time."""
_BLOCK = 1 << 20
"""Elements that are widened at a time."""


Maker = Callable[[], GoldenOutput]


def makers(golden: GoldenOutput, inputs: Inputs, stale: GoldenOutput | None = None) -> dict[str, Maker]:
    """What makes each impostor that exists for this output, by name. `stale` is the golden of the same case under another seed.

    An output of one element has neither `constant` nor `mean`: both are the golden itself.
    """
    source = _source(golden, inputs)
    found: dict[str, Maker | None] = {
        "zeros": lambda: zeros(golden),
        "constant": (lambda: constant(golden)) if golden.elements > 1 else None,
        "mean": (lambda: mean(golden)) if golden.elements > 1 else None,
        "input_copy": None if source is None else lambda: _as_output_of(golden, source),
        "first_row_only": (lambda: _first_row(golden)) if _has_rows(golden) else None,
        LOWER_PRECISION: (lambda: _lowered(golden)) if golden.dtype in _LOWER else None,
        "stale": None if stale is None or stale.shape != golden.shape else lambda: stale,
    }
    return {name: make for name, make in found.items() if make is not None}


def impostors(golden: GoldenOutput, inputs: Inputs, stale: GoldenOutput | None = None) -> dict[str, GoldenOutput]:
    """All impostors that exist for this output, by name."""
    return {name: make() for name, make in makers(golden, inputs, stale).items()}


def leading_makers(golden: GoldenOutput, inputs: Inputs, stale: GoldenOutput | None, count: int) -> dict[str, Maker]:
    """What makes the first `count` elements of each impostor, as a flat output; the rest of a large impostor need not exist to see that it is refused."""
    start = leading(golden, count)
    source = _source(golden, inputs)
    found = makers(golden, inputs, stale)
    found["zeros"] = lambda: zeros(start)
    found |= {"constant": lambda: constant(start)} if "constant" in found else {}
    found |= {"mean": lambda: _filled(start, _mean(golden))} if "mean" in found else {}
    found |= {"input_copy": lambda: _as_output_of(start, source.reshape(-1)[:count])} if source is not None else {}
    found |= {"first_row_only": lambda: _replaced(start, np.resize(golden.array()[: golden.elements // golden.shape[0]], count))} if _has_rows(golden) else {}
    found |= {LOWER_PRECISION: lambda: _lowered(start)} if LOWER_PRECISION in found else {}
    found |= {"stale": lambda: leading(stale, count)} if stale is not None and "stale" in found else {}
    return found


def leading(output: GoldenOutput, count: int) -> GoldenOutput:
    """The first `count` elements as a flat output of the same name. Not for elements of less than a byte."""
    return GoldenOutput(output.name, output.dtype, (count,), raw_bytes(output.array()[:count]))


def rejects(golden: GoldenOutput, impostor: GoldenOutput, tolerance: Tolerance, profile: Profile = "strict", native: GoldenOutput | None = None) -> bool:
    """True when the comparison refuses `impostor` as the output."""
    run = None if native is None else lambda: native
    check = compare_output(as_output(impostor), golden, tolerance, profile, run)
    return check.outcome.verdict.value != "passed"


def as_output(output: GoldenOutput) -> OutputBuffer:
    """A golden output in the role of a candidate's output on the device."""
    shape = carried_shape(output.dtype, output.shape)
    strides = tuple(int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape)))
    return OutputBuffer(output.name, shape, torch_name(output.dtype), strides, True, output.data)


def zeros(golden: GoldenOutput) -> GoldenOutput:
    """All bytes zero: an output that was never written on fresh memory."""
    return _replaced(golden, np.zeros(golden.elements, dtype=storage_dtype(golden.dtype)))


def constant(golden: GoldenOutput) -> GoldenOutput:
    """Every element equal to the first one."""
    return _replaced(golden, np.repeat(golden.array()[:1], golden.elements))


def mean(golden: GoldenOutput) -> GoldenOutput:
    """Every element equal to the mean of the finite ones, the best constant guess."""
    return _filled(golden, _mean(golden))


def _filled(golden: GoldenOutput, value: float) -> GoldenOutput:
    return _replaced(golden, np.repeat(_stored(np.full(1, value), golden.dtype), golden.elements))


def _mean(golden: GoldenOutput) -> float:
    """Mean of the finite elements, block by block; 0 without any."""
    total, count = 0.0, 0
    array = golden.array()
    for start in range(0, golden.elements, _BLOCK):
        part = _as_float64(array[start : start + _BLOCK])
        finite = part[np.isfinite(part)]
        total, count = total + float(finite.sum()), count + finite.size
    return total / count if count else 0.0


def input_copy(golden: GoldenOutput, inputs: Inputs) -> GoldenOutput | None:
    """The first input with as many elements, cast to the output's dtype: a kernel that computes nothing. None if there is no such input."""
    source = _source(golden, inputs)
    return None if source is None else _as_output_of(golden, source)


def _source(golden: GoldenOutput, inputs: Inputs) -> AnyArray | None:
    arrays = [array for value in inputs.values() for array in (value if isinstance(value, list) else [value])]
    return next((array for array in arrays if array.size == golden.elements), None)


def _as_output_of(golden: GoldenOutput, source: AnyArray) -> GoldenOutput:
    return _replaced(golden, _stored(_as_float64(source.reshape(-1)), golden.dtype))


def first_row_only(golden: GoldenOutput) -> GoldenOutput | None:
    """The first row of the first axis repeated; None for an output with fewer than two rows."""
    return _first_row(golden) if _has_rows(golden) else None


def _has_rows(golden: GoldenOutput) -> bool:
    return bool(golden.shape) and golden.shape[0] >= 2


def _first_row(golden: GoldenOutput) -> GoldenOutput:
    rows = golden.array().reshape(golden.shape[0], -1)
    return _replaced(golden, np.repeat(rows[:1], golden.shape[0], axis=0).reshape(-1))


def lower_precision(golden: GoldenOutput) -> GoldenOutput | None:
    """The golden rounded to a narrower format and back; None for integers and for formats without a narrower one."""
    return _lowered(golden) if golden.dtype in _LOWER else None


def _lowered(golden: GoldenOutput) -> GoldenOutput:
    lower = _LOWER[golden.dtype]
    return _replaced(golden, encode(decode(encode(_values(golden), lower), lower), golden.dtype))


def _as_float64(array: AnyArray) -> Float64:
    dtype = dtype_of(array)
    return decode(array, dtype) if dtype.is_floating else array.astype(np.float64)


def _values(golden: GoldenOutput) -> Float64:
    return decode(golden.array(), golden.dtype) if golden.dtype.is_floating else golden.array().astype(np.float64)


def _stored(values: Float64, dtype: DType) -> AnyArray:
    if dtype.is_floating:
        return encode(values, dtype) if dtype is not DType.FLOAT4_E2M1 else encode(np.nan_to_num(values), dtype)
    least, most = integer_bounds(dtype)
    nearest = float(most)  # of 64 bits it is one too many, and a cast of it undefined
    whole: Float64 = np.clip(np.nan_to_num(np.rint(values)), least, nearest if nearest <= most else np.nextafter(nearest, 0))
    return whole.astype(storage_dtype(dtype))


def _replaced(golden: GoldenOutput, stored: AnyArray) -> GoldenOutput:
    return GoldenOutput(golden.name, golden.dtype, golden.shape, raw_bytes(stored.reshape(golden.shape)))
