"""Fresh values for every call: the case's own floating inputs, each element off by up to a sixteenth.

Problem: a call that is timed must not be answered with what an earlier one left behind, and its outputs have to be checkable all the same.
Approach: every element that is no whole number is multiplied by a factor of its own, drawn from a seed that is kept; the golden is run on the very same values.
Whole numbers stay: in floating tensors they may be positions, masks or counts. So do infinities and NaN.
Limits: integer and boolean inputs, and floating ones that hold whole numbers only, are the same in every call; `is_fresh` says whether anything changes.
"""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from piton.core.dtype import DType
from piton.core.execution import TensorArgument

_NUMPY: dict[DType, np.dtype[np.generic]] = {
    DType.FLOAT64: np.dtype(np.float64),
    DType.FLOAT32: np.dtype(np.float32),
    DType.FLOAT16: np.dtype(np.float16),
    DType.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
}
_FACTORS = 1.0 + (np.arange(256, dtype=np.float64) - 128.0) / 2048.0
"""From 1 - 1/16 in steps of 1/2048: finer than float16's own steps are not needed."""


def fresh_inputs(tensors: Sequence[TensorArgument], seed: int) -> tuple[memoryview, ...]:
    """Raw bytes of all inputs of one call; the same for the same seed. Every tensor needs its data."""
    return tuple(_fresh(tensor, [seed, number]) for number, tensor in enumerate(tensors))


def is_fresh(tensors: Sequence[TensorArgument]) -> bool:
    """Does any element of these inputs change from call to call?"""
    return any(bool(np.any(_changes(_values(tensor)))) for tensor in tensors if tensor.dtype in _NUMPY and tensor.data is not None)


def _fresh(tensor: TensorArgument, seed: Sequence[int]) -> memoryview:
    assert tensor.data is not None
    if tensor.dtype not in _NUMPY:
        return tensor.data
    values = _values(tensor)
    draws = np.random.Generator(np.random.SFC64(list(seed))).integers(0, 256, values.size, dtype=np.uint8)
    with np.errstate(all="ignore"):
        moved = (values.astype(np.float64) * _FACTORS[draws]).astype(values.dtype)
    return memoryview(np.where(_changes(values), moved, values).tobytes())


def _values(tensor: TensorArgument) -> NDArray[np.generic]:
    assert tensor.data is not None
    return np.frombuffer(tensor.data, dtype=_NUMPY[tensor.dtype])


def _changes(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Elements that are finite and no whole numbers."""
    wide = values.astype(np.float64)
    with np.errstate(all="ignore"):
        changes: NDArray[np.bool_] = np.isfinite(wide) & (wide != np.floor(wide))
    return changes
