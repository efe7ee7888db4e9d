"""Which arithmetic the vector unit of a chip has for the floating type of an operand."""

from __future__ import annotations

from dataclasses import dataclass

from piton.core.dtype import DType
from piton.core.hardware import Hardware

_FEW_TYPES = "dav-2201"
"""On this architecture bfloat16 is a storage type of the vector unit: only conversions take it. Later ones calculate in it."""


@dataclass(frozen=True)
class Arithmetic:
    """One way to calculate with operands of a dtype."""

    name: str
    """For `Work.choice`."""
    lanes: DType
    """Type that the instructions work in."""
    is_converted: bool
    """Whether every operand takes a conversion before, and every result one after."""
    is_by_way_of_float32: bool = False
    """Whether a conversion is two, with float32 in between: dav-2201 has none from bfloat16 to half."""

    def lanes_for(self, instructions: float, conversions: float) -> dict[DType, float]:
        """Lane instructions of a calculation that has `instructions`, and `conversions` where its operands are converted."""
        if self.is_by_way_of_float32:
            return {self.lanes: instructions, DType.FLOAT32: 2 * conversions}
        return {self.lanes: instructions + (conversions if self.is_converted else 0)}


_FLOAT32 = Arithmetic("float32 arithmetic", DType.FLOAT32, is_converted=False)
_CONVERTED = Arithmetic("float32 arithmetic", DType.FLOAT32, is_converted=True)
_HALF = Arithmetic("half arithmetic", DType.FLOAT16, is_converted=False)
_HALF_FOR_BFLOAT16 = Arithmetic("half arithmetic by way of float32", DType.FLOAT16, is_converted=True, is_by_way_of_float32=True)
_BFLOAT16 = Arithmetic("bfloat16 arithmetic", DType.BFLOAT16, is_converted=False)


def arithmetics(dtype: DType, chip: Hardware) -> tuple[Arithmetic, ...]:
    """The ways to calculate with operands of `dtype`: in the type itself where the chip can, in float32, and for bfloat16 on dav-2201 in half.

    Half has twice the lanes, and so long calculations on bfloat16 gain by it although each conversion is two then; values beyond its range are lost. Whether a
    sum in a 16-bit type is accurate enough depends on the data; a bound has to allow it. Types other than float16 and bfloat16 are taken as they are.
    """
    if dtype is DType.FLOAT16:
        return (_HALF, _CONVERTED)
    if dtype is DType.BFLOAT16:
        return (_CONVERTED, _HALF_FOR_BFLOAT16) if chip.arch == _FEW_TYPES else (_BFLOAT16, _CONVERTED)
    return (_FLOAT32,)


def cube_depth(dtype: DType) -> int:
    """Shortest contraction that the cube calculates: its blocks are 32 bytes deep, and shorter ones are filled up with zeros."""
    return 32 * 8 // dtype.bits
