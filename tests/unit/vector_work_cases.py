"""Cases by hand for the tests of work formulas, and the two chips whose vector units differ."""

from __future__ import annotations

from piton.anchors.work import Work
from piton.catalog.hardware import load_hardware
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.operator import AttrValue

A2 = load_hardware("ascend910b2")
"""dav-2201: the vector unit converts bfloat16 and doesn't calculate in it."""
A5 = load_hardware("ascend950pr")
"""dav-3510: it calculates in bfloat16 too, and subtracts and exponentiates in one."""

Tensor = tuple[str, DType, tuple[int, ...]]


def case_of(operator: str, tensors: list[Tensor], **attributes: AttrValue) -> Case:
    """A case with these (argument, dtype, shape); what the schema has besides is left out."""
    inputs = tuple(CaseInput(argument=name, dtype=dtype, shape=shape) for name, dtype, shape in tensors)
    return Case(operator=operator, id="1", inputs=inputs, attributes=attributes)


def by_choice(works: tuple[Work, ...]) -> dict[str, Work]:
    """Works by the names of their choices, which differ."""
    found = {work.choice: work for work in works}
    assert len(found) == len(works)
    return found
