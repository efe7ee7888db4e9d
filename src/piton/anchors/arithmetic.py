"""Which arithmetic the vector unit of a chip has for the floating type of an operand."""

from __future__ import annotations

from dataclasses import dataclass

from piton.anchors.work import added
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
    steps: int = 0
    """Conversions that every operand takes before, and every result after."""
    conversion: DType = DType.FLOAT32
    """Type whose rate conversions go at: the wider one of both sides."""

    @property
    def is_converted(self) -> bool:
        """True where operands have another type than the instructions."""
        return self.steps > 0

    def lanes_for(self, instructions: float, conversions: float) -> dict[DType, float]:
        """Lane instructions of a calculation that has `instructions`, and `conversions` operands and results that are converted where that is needed."""
        return added({self.lanes: instructions}, {self.conversion: self.steps * conversions} if self.steps * conversions else {})


_FLOAT32 = Arithmetic("float32 arithmetic", DType.FLOAT32)
_CONVERTED = Arithmetic("float32 arithmetic", DType.FLOAT32, steps=1)
_HALF = Arithmetic("half arithmetic", DType.FLOAT16)
_BY_WAY_OF_FLOAT32 = Arithmetic("half arithmetic by way of float32", DType.FLOAT16, steps=2)
_BFLOAT16 = Arithmetic("bfloat16 arithmetic", DType.BFLOAT16)


def arithmetics(dtype: DType, chip: Hardware) -> tuple[Arithmetic, ...]:
    """The ways to calculate with operands of `dtype`: in the type itself where the chip can, and in float32.

    bfloat16 on dav-2201 has half as well, which holds more digits and calculates twice as fast: two conversions on the way in and two on the way out, as there
    are none between the two types. That pays from five instructions on, where an element comes in and one goes out.
    Whether a sum in a 16-bit type is accurate enough depends on the data; a bound has to allow it. Types other than float16 and bfloat16 are taken as they are.
    """
    if dtype is DType.FLOAT16:
        return (_HALF, _CONVERTED)
    if dtype is DType.BFLOAT16:
        return (_CONVERTED, _BY_WAY_OF_FLOAT32) if chip.arch == _FEW_TYPES else (_BFLOAT16, _CONVERTED)
    return (_FLOAT32,)


def cube_depth(dtype: DType) -> int:
    """Shortest contraction that the cube calculates: its blocks are 32 bytes deep, and shorter ones are filled up with zeros."""
    return 32 * 8 // dtype.bits
