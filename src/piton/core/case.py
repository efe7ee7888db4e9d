"""Case: one point of an operator's input space."""

from __future__ import annotations

import math
from enum import Enum

from pydantic import Field

from piton.core.canonical import digest, once
from piton.core.dtype import DType
from piton.core.operator import AttrValue, Frozen


class CaseInput(Frozen):
    """One tensor argument of a case (a list argument has one entry per element, sharing `argument`)."""

    argument: str
    """Name in the schema."""
    shape: tuple[int, ...]
    """Sizes along each axis; empty for a scalar."""
    dtype: DType
    """Element type."""
    low: float = -1.0
    """Lower end of the value range; -inf, inf and nan ask for special values (dataset rules)."""
    high: float = 1.0
    """Largest value that is drawn."""
    list_index: int | None = None
    """Position inside a tensor-list argument; None for a plain tensor."""

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the dense tensor."""
        return self.dtype.bytes_of(self.elements)


class Case(Frozen):
    """One point: shapes, dtypes, attributes, value ranges, seed. `id` is stable for ever."""

    operator: str
    """Name of the operator."""
    id: str
    """Stable inside its operator; the published sets use "1".."20"."""
    inputs: tuple[CaseInput, ...]
    """Its tensors, in the order of the signature."""
    attributes: dict[str, AttrValue] = Field(default_factory=dict)
    """Its attributes by name."""
    omitted: tuple[str, ...] = ()
    """Optional tensor arguments that this case leaves out."""
    seed: int = 0
    """Of its inputs, beside that of the run."""
    note: str = ""
    """For people; not part of the digest."""

    @property
    def elements(self) -> int:
        """Sum of element counts over the inputs (the size measure of the dataset rules)."""
        return sum(item.elements for item in self.inputs)

    @once
    def digest(self) -> str:
        """Identity of everything that decides this case's data."""
        return digest(self.model_dump(mode="python", exclude={"note"}))


class SizeClass(str, Enum):
    """Size regimes of the dataset rules, by total input elements."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


def size_class(case: Case) -> SizeClass:
    """Small below 1e7 elements, large from 9e7 on (paper section 2.3: "a few million", "around 1e8 and above")."""
    if case.elements < 10_000_000:
        return SizeClass.SMALL
    return SizeClass.LARGE if case.elements >= 90_000_000 else SizeClass.MEDIUM
