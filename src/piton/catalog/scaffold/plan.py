"""Which kind of kernel an operator gets: a working one where its formula is known, else the signature with a place to fill in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from piton.catalog.scaffold.formulas import FORMULAS, Formula
from piton.catalog.scaffold.signature import cpp_name
from piton.core.dtype import DType
from piton.core.operator import Operator

FLOATING = (DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32)


class Kind(str, Enum):
    """What a scaffold's kernel does."""

    ELEMENTWISE = "elementwise"
    """Computes the operator, element by element."""
    ROWS = "rows"
    """Computes the operator, row by row."""
    ELEMENTWISE_GAP = "elementwise_gap"
    """Element by element, but the formula is missing: copies the first input."""
    OTHER = "other"
    """Anything else: copies bytes of the first input into the first output."""

    @property
    def is_complete(self) -> bool:
        """True when the scaffold passes as it is."""
        return self in (Kind.ELEMENTWISE, Kind.ROWS)


class Layout(str, Enum):
    """How a submission is cut into files."""

    FOLDERS = "folders"
    """Direct launch: kernel, launcher and plugin apart, and a Python package."""
    SINGLE = "single"
    """One `<operator>.asc`."""


@dataclass(frozen=True)
class Plan:
    """What `write` renders."""

    kind: Kind
    formula: Formula | None = None
    """Of the elementwise kinds."""
    layout: Layout = Layout.FOLDERS


@dataclass(frozen=True)
class RowOperator:
    """An operator on rows with templates of its own (`<operator>_call`, `_kernel`, `_binding`)."""

    tensors: tuple[str, ...]
    attributes: tuple[str, ...]
    text: str
    """What it computes, for comments."""
    includes: tuple[str, ...]
    """Standard headers of the device code."""


ROWS = {
    "rms_norm": RowOperator(("x", "gamma"), ("epsilon",), "along the last axis: y = x / sqrt(mean(x^2) + epsilon) * gamma", ("cmath",)),
    "softmax": RowOperator(("x",), ("dim",), "along any axis: y = exp(x - m) / sum(exp(x - m)), m the largest element along the axis", ("limits",)),
}
"""By operator name."""


def plan_of(operator: Operator) -> Plan:
    """The most that is known about this operator."""
    tensors, attributes = tuple(item.name for item in operator.inputs), tuple(item.name for item in operator.attributes)
    row = ROWS.get(operator.name)
    if row and (row.tensors, row.attributes) == (tensors, attributes) and is_uniform(operator, FLOATING):
        return Plan(Kind.ROWS)
    formula = FORMULAS.get(operator.name)
    if formula and (formula.inputs, set(formula.attributes)) == (tensors, set(attributes)) and is_elementwise(operator, formula.takes_integers):
        return Plan(Kind.ELEMENTWISE, formula)
    if is_elementwise(operator, takes_integers=False):
        return Plan(Kind.ELEMENTWISE_GAP, _gap(operator))
    return Plan(Kind.OTHER)


def is_elementwise(operator: Operator, takes_integers: bool) -> bool:
    """True for an operator of category Elementwise with one or two tensors in and one out, all of one type that the vector unit computes in."""
    allowed = (*FLOATING, DType.INT32) if takes_integers else FLOATING
    return operator.category == "Elementwise" and 1 <= len(operator.inputs) <= 2 and is_uniform(operator, allowed)


def is_uniform(operator: Operator, allowed: tuple[DType, ...]) -> bool:
    """True when all tensors are plain and have the same types, and these are among `allowed`."""
    tensors = (*operator.inputs, *operator.outputs)
    is_plain = not any(item.is_optional or item.is_list or item.is_mutable for item in tensors)
    types = {frozenset(item.dtypes) for item in tensors}
    return is_plain and len(operator.outputs) == 1 and len(types) == 1 and set(operator.inputs[0].dtypes) <= set(allowed)


def _gap(operator: Operator) -> Formula:
    names = tuple(cpp_name(item.name) for item in operator.inputs)
    text = f"y = {names[0]}: THE FORMULA IS MISSING"
    return Formula(text=text, inputs=names, lines=("// FILL IN the formula; this line copies.", f"AscendC::Adds(y, {names[0]}, 0.0f, count);"))
