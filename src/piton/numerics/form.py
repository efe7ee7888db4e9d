"""Form of an output before its values: shape, dtype, device, layout exactly as declared (precision standard, rule 1)."""

from __future__ import annotations

from piton.core.execution import OutputBuffer
from piton.core.verdict import Cause, Outcome, outcome
from piton.numerics.dtypes import carried_shape, torch_name
from piton.numerics.tensors import GoldenOutput


def wrong_form(got: OutputBuffer, golden: GoldenOutput) -> Outcome | None:
    """The outcome for the first thing that is not as declared, or None. Nothing is broadcast, cast or copied into place."""
    shape = carried_shape(golden.dtype, golden.shape)
    if tuple(got.shape) != shape:
        packed = f" ({list(golden.shape)} elements of {golden.dtype.value}, two in a byte)" if shape != golden.shape else ""
        return outcome(Cause.SHAPE_MISMATCH, f"output {golden.name} has shape {list(got.shape)}, expected {list(shape)}{packed}", output=golden.name)
    expected = torch_name(golden.dtype)
    if got.dtype_name.removeprefix("torch.") != expected:
        return outcome(Cause.DTYPE_MISMATCH, f"output {golden.name} has dtype {got.dtype_name}, expected {_with_type(expected, golden)}", output=golden.name)
    if not got.is_on_device:
        return outcome(Cause.WRONG_DEVICE, f"output {golden.name} is not on the device", output=golden.name)
    if not is_contiguous(got.shape, got.strides):
        return outcome(Cause.NOT_CONTIGUOUS, f"output {golden.name} of shape {list(got.shape)} has strides {list(got.strides)}", output=golden.name)
    return None


def is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """True for C order; the stride of a dimension of size 1 and all strides of an empty tensor are free, as in torch."""
    if len(strides) != len(shape):
        return False
    if 0 in shape:
        return True
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def _with_type(expected: str, golden: GoldenOutput) -> str:
    """The carrying dtype, with the element type where the two differ."""
    return expected if expected.startswith(golden.dtype.value) else f"{expected} (which carries {golden.dtype.value})"
