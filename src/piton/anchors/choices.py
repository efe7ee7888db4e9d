"""The implementation choice that nearly every count of the vector unit has: what it computes in.

A count is given once, in lane instructions of the computation itself; the choice of arithmetic adds what converting costs. Floating types as in `arithmetic`;
integers are computed as they are, but for bytes on dav-2201, which only converts them, to half and back. 64-bit integers have no vector arithmetic on dav-2201.
Their counts stay in lanes of 8 bytes: whatever is done with them in pieces passes over all their bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from piton.anchors.arithmetic import Arithmetic, arithmetics
from piton.anchors.work import Work
from piton.core.dtype import DType
from piton.core.hardware import Hardware


@dataclass(frozen=True)
class Demand:
    """What an operator needs under every choice of arithmetic."""

    read_bytes: int
    write_bytes: int
    instructions: float
    """Lane instructions of the computation itself, over all elements."""
    conversions: float
    """Elements that come in or go out, each converted once where the tensors have another type than the arithmetic."""


def arithmetic_choices(dtype: DType, chip: Hardware, demand: Demand) -> tuple[Work, ...]:
    """The work of `demand` in each arithmetic that the chip has for tensors of `dtype`."""
    return tuple(
        Work(way.name, demand.read_bytes, demand.write_bytes, vector_lanes=way.lanes_for(float(demand.instructions), demand.conversions))
        for way in ways(dtype, chip)
    )


def ways(dtype: DType, chip: Hardware) -> tuple[Arithmetic, ...]:
    """Every arithmetic for tensors of `dtype`, floating or not."""
    if dtype.is_floating:
        return arithmetics(dtype, chip)
    if dtype.bits == 8 and not has_bfloat16(chip):
        return (Arithmetic("half arithmetic", DType.FLOAT16, is_converted=True),)
    return (Arithmetic(f"{dtype.value} arithmetic", dtype, is_converted=False),)


def exact_ways(dtype: DType, chip: Hardware) -> tuple[Arithmetic, ...]:
    """Those of `ways` that hold every value of `dtype`: half does not hold all of bfloat16."""
    return tuple(way for way in ways(dtype, chip) if not way.is_by_way_of_float32)


def has_bfloat16(chip: Hardware) -> bool:
    """True where the vector unit computes in bfloat16 (and on bytes): after dav-2201."""
    return any(way.lanes is DType.BFLOAT16 for way in arithmetics(DType.BFLOAT16, chip))
