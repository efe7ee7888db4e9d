"""Measurement: all samples with unit, provenance and method; Anchor: T_HW or T_baseline of a case."""

from __future__ import annotations

import math
import statistics
from enum import Enum
from typing import Literal

from pydantic import Field, model_validator

from piton.core.interval import Interval, median_interval
from piton.core.operator import Frozen


class Provenance(str, Enum):
    """Where a number comes from; numbers of different provenance never share an unlabelled column."""

    DEVICE = "device"
    """Measured on real hardware."""
    SIMULATED = "simulated"
    """Replay on a virtual NPU."""
    MODELLED = "modelled"
    """Closed formula."""
    QUOTED = "quoted"
    """Taken from a published set."""


class Measurement(Frozen):
    """All samples of one quantity."""

    samples: tuple[float, ...]
    """All samples, in the order they were taken."""
    unit: Literal["us", "cycles", "bytes"] = "us"
    """Of the samples."""
    provenance: Provenance
    """Where they come from."""
    method: str
    """How: warm-up, repeats, flush, clock; one sentence."""
    interval: Interval | None = None
    """Of a simulated time: where the measured one is expected; None where nobody knows, and for what was not simulated."""

    @model_validator(mode="after")
    def _has_samples(self) -> Measurement:
        if not self.samples or any(not (0 <= sample < math.inf) for sample in self.samples):
            raise ValueError("a measurement needs at least one sample, all of them finite and not negative")
        return self

    @property
    def value(self) -> float:
        """Median of the samples."""
        return statistics.median(self.samples)

    @property
    def bounds(self) -> Interval | None:
        """Where the true value is expected: `interval`, or for a device the interval of the median of its samples."""
        if self.interval is not None or self.provenance is not Provenance.DEVICE:
            return self.interval
        return median_interval(self.samples)


class AnchorKind(str, Enum):
    """The two ends of the HAP scale (paper section 3.3)."""

    T_HW = "t_hw"
    T_BASELINE = "t_baseline"


class CubePathFigures(Frozen):
    """What the cube units and the ways into and out of them have to do: amounts of the busiest core times the number of cores."""

    cube_flops: dict[str, float] = Field(default_factory=dict)
    """Operations by operand dtype that the cube takes the time of: those of `WorkFigures.cube_flops`, padding to fractals, and those of idle cores."""
    l2_read_bytes: float = Field(default=0.0, ge=0)
    """Reads over L2: compulsory ones, tiles that are read again, and intermediates."""
    l0a_bytes: float = Field(default=0.0, ge=0)
    """L1 to the left operands' buffer."""
    l0b_bytes: float = Field(default=0.0, ge=0)
    """L1 to the right operands' buffer."""
    l0c_elements: float = Field(default=0.0, ge=0)
    """Results that leave the accumulators."""
    mte3_bytes: float = Field(default=0.0, ge=0)
    """What vector cores hand to cube cores through global memory."""


class WorkFigures(Frozen):
    """What one call has to do at least, as the work formula behind a T_HW counts it."""

    read_bytes: int = Field(ge=0)
    """Compulsory reads from global memory."""
    write_bytes: int = Field(ge=0)
    """Compulsory writes to global memory."""
    cube_flops: dict[str, float] = Field(default_factory=dict)
    """Operations of the cube unit by operand dtype, a multiply-add being two."""
    vector_lanes: dict[str, float] = Field(default_factory=dict)
    """Lane-instructions of the vector unit by dtype: elements times instructions per element."""
    cube_path: CubePathFigures | None = None
    """None where no cube unit works, in the published convention, and in files from before it was kept."""


class Anchor(Frozen):
    """T_HW or T_baseline of one case on one hardware."""

    kind: AnchorKind
    """Which of the two ends of the scale."""
    value_us: float = Field(gt=0, allow_inf_nan=False)
    """Microseconds."""
    provenance: Provenance
    """Where the value comes from."""
    method: str
    """Formula block, baseline kernel or published file behind the value."""
    limiting_unit: str = ""
    """For T_HW: the unit whose time is the maximum (vector, cube, mte2, mte3, mte1, fixp, floor)."""
    unit_times_us: dict[str, float] = Field(default_factory=dict)
    """For T_HW: the time each unit would need by itself."""
    work: WorkFigures | None = None
    """For T_HW: what the formula counted; None for a quoted value, and in files from before it was kept."""
    version: str = ""
    """For T_baseline: the version of the set that it belongs to, as people cite it; empty in files from before it was kept."""
    interval: Interval | None = None
    """For T_baseline: where the true value is expected (us); None where nobody knows."""
