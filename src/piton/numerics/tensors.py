"""GoldenOutput: one output of the golden, as raw bytes in the declared dtype."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.numerics.dtypes import AnyArray, carried_shape, decode, encode, raw_bytes, view_raw


@dataclass(frozen=True)
class GoldenOutput:
    """One output of a golden or same-dtype run; `data` may lie in a cache file that is mapped into memory."""

    name: str
    """Name in the schema; an element of a list output carries its position, such as `y[2]`."""
    dtype: DType
    """The declared dtype; the float64 result was rounded to it once."""
    shape: tuple[int, ...]
    data: memoryview
    """Raw little-endian bytes, C order."""

    def __post_init__(self) -> None:
        carried_shape(self.dtype, self.shape)
        if self.data.nbytes != self.dtype.bytes_of(self.elements):
            raise EvaluatorError(f"output {self.name} holds {self.data.nbytes} bytes", expected=f"{self.dtype.bytes_of(self.elements)} for shape {self.shape}")

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def array(self) -> AnyArray:
        """Flat array of the storage dtype over the same bytes (bool as uint8)."""
        return view_raw(self.data, self.dtype)

    def values(self) -> AnyArray:
        """Values in the output's shape: float64 for floating dtypes, the storage dtype for others. For small tensors and tests: it makes a full copy."""
        flat = decode(self.array(), self.dtype) if self.dtype.is_floating else self.array()
        return flat.reshape(self.shape)


def golden_output(name: str, values: AnyArray, dtype: DType) -> GoldenOutput:
    """Build an output from values: float64 is rounded once to a floating `dtype`, anything else is taken in its own storage form."""
    stored = encode(np.asarray(values, dtype=np.float64), dtype) if dtype.is_floating and values.dtype == np.float64 else np.asarray(values)
    return GoldenOutput(name, dtype, tuple(values.shape), raw_bytes(stored))
