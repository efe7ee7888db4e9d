"""The figures of a variant that decide what to try next, per case and together.

All of it is arithmetic on report.json: nothing is run, and nothing a model said is in it. Source: equation 4 of CAKE (headroom over the binding unit's roof).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.case import SizeClass
from piton.core.report import CaseResult, OperatorResult
from piton.core.verdict import Verdict
from piton.report.bottleneck import Bottleneck, bottleneck, busiest


@dataclass(frozen=True)
class CaseProfile:
    """One case that passed."""

    case: str
    size: SizeClass
    is_aligned: bool
    """Every input's last axis is a multiple of 32 bytes."""
    ratio: float
    """T_cand / T_HW: headroom, 1 at the roof."""
    time_us: float
    roof_us: float
    """T_HW."""
    roof_unit: str
    """The unit whose work takes T_HW: mte2, vector, cube ..."""
    intensity: float
    """Operations (lanes of vector instructions and flops of the cube) per byte that has to move."""
    traffic: float
    """Bytes that kernels asked for over those that have to move; 1 is each byte once."""
    kernels: int
    """Kernel launches of the call."""
    copies: int
    """Device copies of the call."""
    cores: int
    """Cores of the widest launch."""
    limit: Bottleneck | None
    """Where the time went; None on targets that do not say."""

    def wait(self, reason: str) -> float:
        """Share of the time in which the busiest pipe waited for this reason; 0 where nothing is known."""
        if self.limit is None or not self.limit.pipes:
            return 0.0
        return busiest(self.limit.pipes).waits.get(reason, 0.0)

    def loss(self, reason: str) -> float:
        """Share of the time that the busiest pipe lost for this reason."""
        if self.limit is None or not self.limit.pipes:
            return 0.0
        return busiest(self.limit.pipes).lost.get(reason, 0.0)

    def busy(self, pipe: str) -> float:
        """Share of the time in which a pipe worked."""
        return next((item.busy for item in self.limit.pipes if item.pipe == pipe), 0.0) if self.limit else 0.0


@dataclass(frozen=True)
class Profile:
    """A variant's cases together."""

    cases: tuple[CaseProfile, ...]

    @property
    def headroom(self) -> float | None:
        """Geometric mean of T_cand / T_HW; None without a case."""
        return geometric_mean([case.ratio for case in self.cases])

    @property
    def worst(self) -> CaseProfile | None:
        """The case with most headroom."""
        return max(self.cases, key=lambda case: case.ratio, default=None)

    def of_size(self, size: SizeClass) -> tuple[CaseProfile, ...]:
        """The cases of one size class."""
        return tuple(case for case in self.cases if case.size is size)


def profile_of(operator: OperatorResult) -> Profile:
    """The profile of an operator's passed cases that have a time and a T_HW."""
    return Profile(tuple(found for case in operator.cases if (found := _case(case)) is not None))


def _case(case: CaseResult) -> CaseProfile | None:
    if case.outcome.verdict is not Verdict.PASSED or case.void or case.time is None or case.t_hw is None:
        return None
    work = case.t_hw.work
    needed = work.read_bytes + work.write_bytes if work else 0
    moved = sum(launch.gm_read_bytes + launch.gm_written_bytes for launch in case.launches)
    operations = sum(work.vector_lanes.values()) + sum(work.cube_flops.values()) if work else 0.0
    kernels = [launch for launch in case.launches if launch.kind == "kernel"]
    return CaseProfile(
        case=case.case.id,
        size=case.size,
        is_aligned=all(not item.shape or item.shape[-1] * item.dtype.bytes_of(32) % 1024 == 0 for item in case.case.inputs),
        ratio=case.time.value / case.t_hw.value_us,
        time_us=case.time.value,
        roof_us=case.t_hw.value_us,
        roof_unit=case.t_hw.limiting_unit,
        intensity=operations / needed if needed else 0.0,
        traffic=moved / needed if needed and moved else 1.0,
        kernels=len(kernels),
        copies=len(case.launches) - len(kernels),
        cores=max((launch.cores for launch in kernels), default=0),
        limit=bottleneck(case),
    )


def geometric_mean(values: Sequence[float]) -> float | None:
    """None of nothing."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None
