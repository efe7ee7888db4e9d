"""Shares of time: what each pipe did while the launches of a case ran."""

from __future__ import annotations

from dataclasses import dataclass

from piton.core.execution import PIPES, LaunchRecord
from piton.core.hardware import ChipFigures
from piton.core.report import CaseResult


@dataclass(frozen=True)
class PipeShare:
    """One pipe of a case, in shares of the time of the cores that took part."""

    pipe: str
    busy: float
    stalled: float


def pipe_shares(case: CaseResult, chip: ChipFigures | None) -> tuple[PipeShare, ...]:
    """Busy and stalled shares of every pipe that the case used, in the order of the pipes; empty when there is no launch."""
    total = sum(launch.cycles * _cores(launch, chip) for launch in case.launches)
    if not total:
        return ()
    sums = ((pipe, _sum(case, "busy_cycles", pipe), _sum(case, "stall_cycles", pipe)) for pipe in PIPES)
    return tuple(PipeShare(pipe, busy / total, stalled / total) for pipe, busy, stalled in sums if busy or stalled)


def _sum(case: CaseResult, field: str, pipe: str) -> int:
    return sum(getattr(launch, field).get(pipe, 0) for launch in case.launches)


def _cores(launch: LaunchRecord, chip: ChipFigures | None) -> int:
    """Cores that took part: one per block, as far as the chip has them."""
    if chip is None:
        return launch.blocks
    is_cube_only = launch.busy_cycles.get("m", 0) > 0 and not launch.busy_cycles.get("v", 0)
    return max(min(launch.blocks, chip.cores_aic if is_cube_only else chip.cores_aiv), 1)
