"""What a vector unit computes in, by element type of the tensors: the implementation choice that nearly every silicon count has.

A count is given once, in lane instructions of the computation itself, whatever it is computed in; this module adds what the choice of arithmetic costs:

float32, integers     computed as they are
float16               in half arithmetic (128 lanes), or in float32 (64 lanes) with a conversion of every element on its way in and out
bfloat16              in float32 with conversions; as it is where the chip has instructions for it (dav-2201 converts it and nothing else)
int8, uint8           in half arithmetic with conversions on dav-2201, as they are elsewhere

Half arithmetic is a choice even where its rounding would fail the comparison of long sums: no bound above it is proven. 64-bit integers have no vector
arithmetic on dav-2201. Their counts stay in lanes of 8 bytes: whatever is done with them in pieces passes over all their bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from piton.anchors.work import Work
from piton.core.dtype import DType
from piton.core.hardware import Hardware

_HALF = ("half arithmetic", DType.FLOAT16)
_SINGLE = ("float32 arithmetic", DType.FLOAT32)


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
    """The work of `demand` in each arithmetic that the chip has for tensors of `dtype`, the narrowest lanes first."""
    return tuple(
        Work(
            choice=choice,
            read_bytes=demand.read_bytes,
            write_bytes=demand.write_bytes,
            vector_lanes={lanes: float(demand.instructions + (0 if lanes is dtype else demand.conversions))},
        )
        for choice, lanes in lane_types(dtype, chip)
    )


def lane_types(dtype: DType, chip: Hardware) -> tuple[tuple[str, DType], ...]:
    """Name and element type of every arithmetic for tensors of `dtype`."""
    if dtype is DType.FLOAT16:
        return (_HALF, _SINGLE)
    if dtype is DType.BFLOAT16:
        return (_SINGLE,) if converts_bfloat16(chip) else (("bfloat16 arithmetic", dtype), _SINGLE)
    if dtype.bits == 8 and converts_bfloat16(chip):
        return (_HALF,)
    return ((f"{dtype.value} arithmetic", dtype),)


def converts_bfloat16(chip: Hardware) -> bool:
    """True for the architecture whose vector unit has no instruction on bfloat16 and on bytes but the conversion."""
    return chip.arch == "dav-2201"
