"""Impostors: outputs that are not the result. A case that accepts one of them tests nothing, so the suite's lint asks every case to reject them.

Not every case can reject all of them (gelu of zeros is zero); such a case is listed as degenerate for that impostor by the suite.
"""

from __future__ import annotations

from collections.abc import Mapping

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


def impostors(golden: GoldenOutput, inputs: Inputs, stale: GoldenOutput | None = None) -> dict[str, GoldenOutput]:
    """All impostors that exist for this output, by name. `stale` is the golden of the same case under another seed.

    An output of one element has neither `constant` nor `mean`: both are the golden itself.
    """
    made = {
        "zeros": zeros(golden),
        "constant": constant(golden) if golden.elements > 1 else None,
        "mean": mean(golden) if golden.elements > 1 else None,
        "input_copy": input_copy(golden, inputs),
        "first_row_only": first_row_only(golden),
        LOWER_PRECISION: lower_precision(golden),
        "stale": stale if stale is not None and stale.shape == golden.shape else None,
    }
    return {name: impostor for name, impostor in made.items() if impostor is not None}


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
    values = _values(golden)
    finite = values[np.isfinite(values)]
    return _replaced(golden, _stored(np.full(golden.elements, finite.mean() if finite.size else 0.0), golden.dtype))


def input_copy(golden: GoldenOutput, inputs: Inputs) -> GoldenOutput | None:
    """The first input with as many elements, cast to the output's dtype: a kernel that computes nothing. None if there is no such input."""
    arrays = [array for value in inputs.values() for array in (value if isinstance(value, list) else [value])]
    source = next((array for array in arrays if array.size == golden.elements), None)
    return None if source is None else _replaced(golden, _stored(_as_float64(source.reshape(-1)), golden.dtype))


def first_row_only(golden: GoldenOutput) -> GoldenOutput | None:
    """The first row of the first axis repeated; None for an output with fewer than two rows."""
    if not golden.shape or golden.shape[0] < 2:
        return None
    rows = golden.array().reshape(golden.shape[0], -1)
    return _replaced(golden, np.repeat(rows[:1], golden.shape[0], axis=0).reshape(-1))


def lower_precision(golden: GoldenOutput) -> GoldenOutput | None:
    """The golden rounded to a narrower format and back; None for integers and for formats without a narrower one."""
    if golden.dtype not in _LOWER:
        return None
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
