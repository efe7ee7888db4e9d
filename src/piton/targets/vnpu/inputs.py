"""Inputs after a call: the parent compares what lies in device memory with what it wrote there.

The engine refuses stores and copies into inputs by its own table; this look at the bytes does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from piton.core.execution import TensorArgument
from piton.core.verdict import Cause, Outcome, outcome

_CHUNK = 1 << 20
"""Bytes compared at once: they stay in the processor's cache."""


def changed_inputs(tensors: Sequence[tuple[TensorArgument, int]], read: Callable[[int, int], memoryview]) -> list[Outcome]:
    """One outcome per input that the operator may not change and whose bytes are not those that were uploaded; `tensors` have their device addresses."""
    return [found for tensor, address in tensors if (found := _changed(tensor, address, read)) is not None]


def _changed(tensor: TensorArgument, address: int, read: Callable[[int, int], memoryview]) -> Outcome | None:
    if tensor.is_mutable or tensor.data is None or tensor.data.nbytes == 0:
        return None
    first = first_difference(tensor.data.cast("B"), read(address, tensor.data.nbytes))
    if first is None:
        return None
    text = f"the input {tensor.name} was changed: byte {first} of {tensor.data.nbytes} is not what it was before the call"
    return outcome(Cause.INPUT_MODIFIED, text, first_byte=first, bytes=tensor.data.nbytes)


def first_difference(expected: memoryview, found: memoryview) -> int | None:
    """Index of the first byte that differs between two views of equal length; None when there is none."""
    left, right = np.frombuffer(expected, np.uint8), np.frombuffer(found, np.uint8)
    for begin in range(0, left.size, _CHUNK):
        one, other = left[begin : begin + _CHUNK], right[begin : begin + _CHUNK]
        if not _is_equal(one, other):
            return begin + int((one != other).argmax())
    return None


def _is_equal(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    """Eight bytes at a time, which leaves an eighth of the answers to look through."""
    words = one.size // 8 * 8
    return np.array_equal(one[:words].view(np.uint64), other[:words].view(np.uint64)) and np.array_equal(one[words:], other[words:])
