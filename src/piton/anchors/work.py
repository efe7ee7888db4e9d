"""Work of one call, and the time each unit of a chip needs for it at its peak rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from piton.core.dtype import DType
from piton.core.errors import FormatError
from piton.core.hardware import Figure, Peaks
from piton.core.measurement import CubePathFigures, WorkFigures

US = 1e6
"""Microseconds in a second."""
UNITS = ("mte1", "mte2", "mte3", "fixp", "vector", "cube")
"""The units of an AI core that work side by side (paper section 3.2)."""


@dataclass(frozen=True)
class CubePath:
    """What the cube units and the ways into and out of them have to do.

    Every amount is that of the busiest core times the number of cores: over a rate of the whole chip it gives the time of that core. `anchors.tiles` finds
    it for matrix products.
    """

    cube_flops: Mapping[DType, float] = field(default_factory=dict)
    """Operations by operand dtype that the cube takes the time of: those that count, padding to whole fractals, and those that idle cores could have done."""
    l2_read_bytes: float = 0.0
    """Reads over L2: compulsory ones, tiles that are read again, and what one kind of core reads that the other has written."""
    l0a_bytes: float = 0.0
    """L1 to the left operands' buffer."""
    l0b_bytes: float = 0.0
    """L1 to the right operands' buffer."""
    l0c_elements: float = 0.0
    """Results that leave the accumulators."""
    mte3_bytes: float = 0.0
    """What vector cores hand to cube cores through global memory."""

    def __add__(self, other: CubePath) -> CubePath:
        """Both, one after the other or at the same time: the units' times add up."""
        return CubePath(
            cube_flops=added(self.cube_flops, other.cube_flops),
            l2_read_bytes=self.l2_read_bytes + other.l2_read_bytes,
            l0a_bytes=self.l0a_bytes + other.l0a_bytes,
            l0b_bytes=self.l0b_bytes + other.l0b_bytes,
            l0c_elements=self.l0c_elements + other.l0c_elements,
            mte3_bytes=self.mte3_bytes + other.mte3_bytes,
        )

    def figures(self) -> CubePathFigures:
        """The form that reports keep."""
        return CubePathFigures(
            cube_flops={dtype.value: amount for dtype, amount in self.cube_flops.items()},
            l2_read_bytes=self.l2_read_bytes,
            l0a_bytes=self.l0a_bytes,
            l0b_bytes=self.l0b_bytes,
            l0c_elements=self.l0c_elements,
            mte3_bytes=self.mte3_bytes,
        )


def added(one: Mapping[DType, float], other: Mapping[DType, float]) -> dict[DType, float]:
    """Sums by dtype."""
    return {dtype: one.get(dtype, 0.0) + other.get(dtype, 0.0) for dtype in (*one, *(key for key in other if key not in one))}


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
    """Floating point (or integer) operations of the cube unit by operand dtype, a multiply-add being two; without padding."""
    vector_lanes: Mapping[DType, float] = field(default_factory=dict)
    """Lane instructions of the vector unit by dtype: elements times instructions per element."""
    path: CubePath | None = None
    """None where no cube unit works, and for the published convention, which knows nothing of it."""
    writes_from_cube: bool = False
    """True when most results go from the accumulators to global memory (pipe FIX) and not from the vector cores (MTE3)."""

    def figures(self) -> WorkFigures:
        """The form that reports keep."""
        return WorkFigures(
            read_bytes=self.read_bytes,
            write_bytes=self.write_bytes,
            cube_flops={dtype.value: amount for dtype, amount in self.cube_flops.items()},
            vector_lanes={dtype.value: amount for dtype, amount in self.vector_lanes.items()},
            cube_path=self.path.figures() if self.path else None,
        )


def unit_times_us(work: Work, peaks: Peaks, *, shares_hbm: bool = False) -> dict[str, float]:
    """Microseconds each unit would need by itself, in the order of UNITS.

    mte1 = bytes into L0A / its rate + bytes into L0B / its rate (one pipe loads both)
    mte2 = max(compulsory reads / HBM read rate, all reads / L2 read rate)
    mte3 = min(write, L2) / L2 write rate + max(0, write - L2) / HBM write rate (a write-back L2 takes what fits), and what goes to cube cores / L2 write rate;
           with `shares_hbm` no less than compulsory reads / HBM read rate + max(0, write - L2) / HBM write rate: HBM moves bytes one way at a time
    fixp = max(that write, where the cube writes the results, results / rate out of the accumulators)
    vector, cube = sum over dtypes of work / peak rate of that dtype

    Raises FormatError when the hardware has no rate for a dtype that occurs.
    """
    path = work.path or CubePath(cube_flops=work.cube_flops)
    into_l0, over_l2, out_of_l0 = _cube_path_us(path, peaks)
    written = max(_write_us(work.write_bytes, peaks), _shared_us(work, peaks) if shares_hbm else 0.0)
    return {
        "mte1": into_l0,
        "mte2": max(US * work.read_bytes / peaks.hbm_read_bytes_per_s.value, over_l2),
        "mte3": (0.0 if work.writes_from_cube else written) + US * path.mte3_bytes / peaks.l2_write_bytes_per_s.value,
        "fixp": max(written if work.writes_from_cube else 0.0, out_of_l0),
        "vector": US * _seconds(work.vector_lanes, peaks.vector_lanes_per_s, "vector_lanes_per_s"),
        "cube": US * _seconds(path.cube_flops, peaks.cube_flops, "cube_flops"),
    }


def _cube_path_us(path: CubePath, peaks: Peaks) -> tuple[float, float, float]:
    """Times of L1 to L0, of all reads over L2, and of results out of the accumulators; 0 where the block of peaks knows no rate for them."""
    rates = peaks.cube_path
    if rates is None:
        return 0.0, 0.0, 0.0
    into_l0 = path.l0a_bytes / rates.l0a_bytes_per_s.value + path.l0b_bytes / rates.l0b_bytes_per_s.value
    return US * into_l0, US * path.l2_read_bytes / rates.l2_read_bytes_per_s.value, US * path.l0c_elements / rates.fixp_elements_per_s.value


def _write_us(write_bytes: float, peaks: Peaks) -> float:
    in_l2 = min(float(write_bytes), peaks.l2_bytes.value)
    return US * (in_l2 / peaks.l2_write_bytes_per_s.value + (write_bytes - in_l2) / peaks.hbm_write_bytes_per_s.value)


def _shared_us(work: Work, peaks: Peaks) -> float:
    """How long HBM moves bytes where results do not fit into L2: what is read, and what L2 has to give away before the end."""
    spilled = max(0.0, work.write_bytes - peaks.l2_bytes.value)
    return US * (work.read_bytes / peaks.hbm_read_bytes_per_s.value + spilled / peaks.hbm_write_bytes_per_s.value) if spilled else 0.0


def _seconds(amounts: Mapping[DType, float], rates: Mapping[str, Figure], name: str) -> float:
    for dtype in amounts:
        if dtype.value not in rates:
            known = ", ".join(sorted(rates)) or "nothing"
            action = "add the rate to the hardware file"
            raise FormatError(f"no {name} for {dtype.value}", expected=f"a figure for {dtype.value}", found=known, where="hardware file", action=action)
    return sum(amount / rates[dtype.value].value for dtype, amount in amounts.items())
