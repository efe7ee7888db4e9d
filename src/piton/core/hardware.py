"""Hardware: one chip's figures, each with its source (one YAML file per chip, read by catalog)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from piton.core.canonical import digest, once
from piton.core.dtype import DType
from piton.core.interval import ErrorBand
from piton.core.operator import Frozen

Edition = Literal["910b2", "950pr"]
"""Which published anchors a convention follows: the benchmark counts the work of some operators in another way for each."""


class Figure(Frozen):
    """One number with its origin."""

    value: float
    """In the unit of its name."""
    source: str
    """Document, table or derivation the value comes from."""


class CubePathPeaks(Frozen):
    """Peak rates of the ways into and out of the cube units, all cores together."""

    l2_read_bytes_per_s: Figure
    """Reads that hit L2: what a second core, or the same one, reads again."""
    l0a_bytes_per_s: Figure
    """L1 to the left operands' buffer (pipe MTE1)."""
    l0b_bytes_per_s: Figure
    """L1 to the right operands' buffer (pipe MTE1)."""
    fixp_elements_per_s: Figure
    """Results out of the accumulators (pipe FIX), whatever they are converted to."""


class Peaks(Frozen):
    """Peak rates that T_HW is computed from; `convention` and `silicon` blocks share this form (D5)."""

    hbm_read_bytes_per_s: Figure
    """Reads from HBM."""
    hbm_write_bytes_per_s: Figure
    """Writes to HBM."""
    l2_write_bytes_per_s: Figure
    """Rate of writes that stay in L2."""
    l2_bytes: Figure
    """Size of the second-level cache."""
    cube_flops: dict[str, Figure]
    """FLOP/s by input dtype name."""
    vector_lanes_per_s: dict[str, Figure]
    """Lane-instructions per second by dtype name, one per lane and issue."""
    floor_us: Figure
    """No case is said to need less than this."""
    cube_path: CubePathPeaks | None = None
    """None in a block that knows nothing of them (the published convention), and in files from before they were counted."""


class ChipFigures(Frozen):
    """What a reader of a report needs of the chip: core counts to make shares of cycle sums, and the peaks behind T_HW to draw roofs."""

    clock_hz: float = Field(gt=0)
    """Cycles per second of a core."""
    cores_aic: int
    """Cube cores."""
    cores_aiv: int
    """Vector cores."""
    block: Literal["silicon", "convention"]
    """Which block of the hardware file `peaks` is."""
    peaks: Peaks
    """Rates that T_HW is computed from."""
    fidelity: dict[str, ErrorBand] = Field(default_factory=dict)
    """How far simulated times were from measured ones, see `Hardware.fidelity`."""


class Hardware(Frozen):
    """One chip: identity, capacities, the two peak blocks, and the flat table that the simulator obeys."""

    name: str
    """Such as `ascend910b2`."""
    arch: str
    """Compiler architecture name, such as `dav-2201`."""
    clock_hz: Figure
    cores_aic: int
    cores_aiv: int
    memory_bytes: dict[str, Figure]
    """Capacity by on-chip memory: ub, l1, l0a, l0b, l0c, bt."""
    edition: Edition = "910b2"
    """Whose counts go with `convention`."""
    convention: Peaks
    silicon: Peaks
    absent_types: tuple[DType, ...] = ()
    """Element types that no instruction of the chip takes; operators on them can't be asked of it."""
    simulation: dict[str, Figure] = Field(default_factory=dict)
    """Every parameter of the timing model by dotted name (`mte2.setup_cycles`), handed to the engine as it stands."""
    fidelity: dict[str, ErrorBand] = Field(default_factory=dict)
    """Error of simulated times by the kind of call (`core.fidelity.Regime`), and `pair`; a kind that is not there was not measured."""

    def figures(self, block: Literal["silicon", "convention"]) -> ChipFigures:
        """The part that reports keep, with the peaks of `block`."""
        peaks = self.silicon if block == "silicon" else self.convention
        return ChipFigures(clock_hz=self.clock_hz.value, cores_aic=self.cores_aic, cores_aiv=self.cores_aiv, block=block, peaks=peaks, fidelity=self.fidelity)

    @once
    def digest(self) -> str:
        """Identity of every figure that a time depends on (sources included). `fidelity` says how good the times are and changes none."""
        return digest(self.model_dump(mode="python", exclude={"fidelity"}))
