"""Work of one call, and the time each unit of a chip needs for it at its peak rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from piton.core.dtype import DType
from piton.core.errors import FormatError
from piton.core.hardware import Figure, Peaks
from piton.core.measurement import WorkFigures

US = 1e6
"""Microseconds in a second."""


@dataclass(frozen=True)
class Work:
    """What one call has to do under one implementation choice, whatever the schedule."""

    choice: str
    """Name of the implementation choice, for `Anchor.method`."""
    read_bytes: int
    """Compulsory reads from global memory."""
    write_bytes: int
    """Compulsory writes to global memory."""
    cube_flops: Mapping[DType, float] = field(default_factory=dict)
    """Floating point (or integer) operations of the cube unit by operand dtype, a multiply-add being two."""
    vector_lanes: Mapping[DType, float] = field(default_factory=dict)
    """Lane instructions of the vector unit by dtype: elements times instructions per element."""

    def figures(self) -> WorkFigures:
        """The form that reports keep."""
        return WorkFigures(
            read_bytes=self.read_bytes,
            write_bytes=self.write_bytes,
            cube_flops={dtype.value: amount for dtype, amount in self.cube_flops.items()},
            vector_lanes={dtype.value: amount for dtype, amount in self.vector_lanes.items()},
        )


def unit_times_us(work: Work, peaks: Peaks) -> dict[str, float]:
    """Microseconds each unit would need by itself.

    mte2 = read / HBM read rate
    mte3 = min(write, L2) / L2 write rate + max(0, write - L2) / HBM write rate (a write-back L2 takes what fits)
    vector, cube = sum over dtypes of work / peak rate of that dtype

    Raises FormatError when the hardware has no rate for a dtype that occurs.
    """
    in_l2 = min(float(work.write_bytes), peaks.l2_bytes.value)
    return {
        "mte2": US * work.read_bytes / peaks.hbm_read_bytes_per_s.value,
        "mte3": US * (in_l2 / peaks.l2_write_bytes_per_s.value + (work.write_bytes - in_l2) / peaks.hbm_write_bytes_per_s.value),
        "vector": US * _seconds(work.vector_lanes, peaks.vector_lanes_per_s, "vector_lanes_per_s"),
        "cube": US * _seconds(work.cube_flops, peaks.cube_flops, "cube_flops"),
    }


def _seconds(amounts: Mapping[DType, float], rates: Mapping[str, Figure], name: str) -> float:
    for dtype in amounts:
        if dtype.value not in rates:
            known = ", ".join(sorted(rates)) or "nothing"
            action = "add the rate to the hardware file"
            raise FormatError(f"no {name} for {dtype.value}", expected=f"a figure for {dtype.value}", found=known, where="hardware file", action=action)
    return sum(amount / rates[dtype.value].value for dtype, amount in amounts.items())
