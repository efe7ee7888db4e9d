"""Has the target's chip the element types that the chosen cases need? Asked before anything is built: a lack is nobody's failure."""

from __future__ import annotations

from collections.abc import Iterator

from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.errors import UsageError
from piton.core.hardware import Hardware
from piton.core.operator import Operator
from piton.evaluate.arguments import all_attributes
from piton.evaluate.selection import Selection
from piton.numerics.dtypes import from_name


def check_types(selection: Selection, target: str, hardware: Hardware) -> None:
    """Raise UsageError when a chosen case needs an element type that the chip lacks; it names the first such case of every operator."""
    absent = set(hardware.absent_types)
    lacks: dict[str, str] = {}
    for member in selection.members:
        for case in filter(selection.has, member.cases):
            missing = [dtype.value for dtype in needed_types(member.operator, case) if dtype in absent]
            if missing:
                lacks.setdefault(member.operator.name, f"{missing[0]} in {member.operator.name}/{case.id}")
    if lacks:
        raise UsageError(
            f"unsupported: {target} has no such element types",
            expected=f"cases without {', '.join(sorted(dtype.value for dtype in absent))}",
            found="; ".join(lacks.values()),
            action="take a target whose chip has them (null runs every type), or leave these cases out with --op or --case",
        )


def needed_types(operator: Operator, case: Case) -> Iterator[DType]:
    """Types of a case's inputs, of outputs that can have only one, and those that its attributes name."""
    yield from (item.dtype for item in case.inputs)
    yield from (output.dtypes[0] for output in operator.outputs if len(output.dtypes) == 1)
    attributes = all_attributes(operator, case)
    for spec in operator.attributes:
        named = from_name(str(attributes[spec.name])) if spec.type == "dtype" else None
        if named is not None:
            yield named
