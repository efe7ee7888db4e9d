"""Small cases for tests of work formulas, and the two chips that they are computed for."""

from __future__ import annotations

from collections.abc import Callable

from piton.anchors.work import Work
from piton.catalog.hardware import load_hardware
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.hardware import Hardware
from piton.core.operator import AttrValue

CHIP = load_hardware("ascend910b2")
"""dav-2201: bfloat16 is converted, never computed in."""
NEWER = load_hardware("ascend950pr")
"""dav-3510: computes in bfloat16, and has an exponential of a difference."""
BY_WAY = "half arithmetic by way of float32"
HALF, BRAIN, SINGLE, WORD, LONG = DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.INT32, DType.INT64


def tensor(argument: str, shape: tuple[int, ...], dtype: DType, ends: tuple[float, float] = (-1.0, 1.0), list_index: int | None = None) -> CaseInput:
    """One tensor with its value range."""
    return CaseInput(argument=argument, shape=shape, dtype=dtype, low=ends[0], high=ends[1], list_index=list_index)


def call(*inputs: CaseInput, **attributes: AttrValue) -> Case:
    """A case of these inputs and attributes; work formulas don't read the operator's name."""
    return Case(operator="operator", id="1", inputs=inputs, attributes=attributes)


def only(works: tuple[Work, ...]) -> Work:
    """The one choice there is."""
    (work,) = works
    return work


def lanes_by_choice(silicon: Callable[[Case, Hardware], tuple[Work, ...]], case: Case, chip: Hardware = CHIP) -> dict[str, dict[DType, float]]:
    """Lane instructions of every implementation choice."""
    return {work.choice: dict(work.vector_lanes) for work in silicon(case, chip)}


def moved(work: Work) -> tuple[int, int]:
    """Bytes read and written."""
    return work.read_bytes, work.write_bytes
