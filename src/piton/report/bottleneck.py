"""Where the time of a case went: shares of every pipe, what limits it, and one sentence that says so.

Problem: "9.2 us, HAP 0.6" does not tell what to change.
Approach: busy cycles and reasons of waits of all launches, as shares of the time in which the cores could have worked. The busiest pipe is the limit unless
launching or copying takes more.
Limits: shares are means over the cores; a pipe that is 60 % busy may be the limit of one phase and idle in another, which only the timeline shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from piton.core.execution import PIPES, LaunchRecord
from piton.core.report import CaseResult

OVERHEAD = ("launch", "tail")
"""Waits of a whole core, the same for all its pipes."""

WAIT_TEXTS = {
    **{f"flag_{pipe}": f"for {pipe.upper()}" for pipe in PIPES},
    "barrier": "for all pipes (barrier)",
    "full_queue": "for room in a queue",
    "sync_all": "for other cores (SyncAll)",
    "cross_flag": "for other cores (flags)",
    "end": "for pipes to finish",
    "idle": "for work to be issued",
    "launch": "for its block to start",
    "tail": "for the last block to end",
}
"""Reasons of `LaunchRecord.wait_cycles`, to follow "waits 12 %"."""

LOSS_TEXTS = {
    "bandwidth_share": "bandwidth shared with other transfers",
    "small_blocks": "small blocks",
    "latency": "latency",
    "bank_conflict": "bank conflicts",
    "cache_miss": "data cache misses",
    "scalar_code": "the kernel's own scalar code",
}
"""Reasons of `LaunchRecord.lost_cycles`, to follow "loses 12 % to"."""

_WORTH_SAYING = 0.05


@dataclass(frozen=True)
class PipeShare:
    """One pipe in all launches of a case. Shares of the time, mean over the cores, between 0 and 1."""

    pipe: str
    """One of `PIPES`."""
    busy: float
    waits: Mapping[str, float] = field(default_factory=dict)
    """By reason, largest first; `busy` and these make 1, less what device copies took."""
    lost: Mapping[str, float] = field(default_factory=dict)
    """The part of `busy` that the instructions would not need by themselves, by reason, largest first."""


@dataclass(frozen=True)
class Bottleneck:
    """What limits a case."""

    limit: str
    """One of `PIPES`; `launch` when waiting for blocks to start and end takes most, `copy` when device copies do."""
    share: float
    """Of the time, between 0 and 1."""
    time_us: float
    """Of all launches and device copies."""
    gm_bytes_per_s: float
    """Bytes that kernels and copies moved from and to global memory, per second."""
    over_t_hw: float | None
    """Time as a multiple of T_HW; None when that is not known."""
    pipes: tuple[PipeShare, ...]
    """Every pipe that worked, in the order of `PIPES`."""

    @property
    def sentence(self) -> str:
        """Such as "MTE2 bound: busy 83 % of 21.30 us, GM 1.40 TB/s, 1.2 x T_HW; waits 12 % for V; loses 6 % to latency"."""
        head = f"{self._kind()} {percent(self.share)} of {self.time_us:.2f} us, GM {rate_text(self.gm_bytes_per_s)}"
        roof = f", {self.over_t_hw:.1f} x T_HW" if self.over_t_hw is not None else ""
        return "; ".join([head + roof, *self._busiest()])

    def _kind(self) -> str:
        if self.limit == "launch":
            return "launch bound: blocks start and end during"
        return "copy bound: device copies take" if self.limit == "copy" else f"{self.limit.upper()} bound: busy"

    def _busiest(self) -> list[str]:
        """What holds up the busiest pipe."""
        if not self.pipes:
            return []
        pipe = busiest(self.pipes)
        name = "" if pipe.pipe == self.limit else f"{pipe.pipe.upper()} "
        busy = [f"{name}is busy {percent(pipe.busy)}"] if name else []
        waits = [f"{percent(share)} {WAIT_TEXTS.get(reason, reason)}" for reason, share in pipe.waits.items() if self._is_news(reason, share)]
        lost = [f"{percent(share)} to {LOSS_TEXTS.get(reason, reason)}" for reason, share in pipe.lost.items() if share >= _WORTH_SAYING]
        return [*busy, *([f"waits {', '.join(waits[:2])}"] if waits else []), *([f"loses {', '.join(lost[:2])}"] if lost else [])]

    def _is_news(self, reason: str, share: float) -> bool:
        return share >= _WORTH_SAYING and not (self.limit == "launch" and reason in OVERHEAD)


def bottleneck(case: CaseResult) -> Bottleneck | None:
    """What limits a case; None when nothing ran, or when its launches have no reasons of waits (reports from before they were recorded, other targets)."""
    found = bottleneck_of(case.launches)
    if found is None or case.t_hw is None:
        return found
    return Bottleneck(found.limit, found.share, found.time_us, found.gm_bytes_per_s, found.time_us / case.t_hw.value_us, found.pipes)


def bottleneck_of(launches: Sequence[LaunchRecord]) -> Bottleneck | None:
    """The same for launches by themselves, without T_HW."""
    cycles = sum(launch.cycles for launch in launches)
    kernels = [launch for launch in launches if launch.kind == "kernel"]
    if not cycles or any(launch.cores == 0 for launch in kernels):
        return None
    pipes = tuple(share for share in (_share(pipe, kernels, cycles) for pipe in PIPES) if share.busy)
    limit, share = max(_candidates(pipes, launches, cycles), key=lambda item: item[1])
    time_us = sum(launch.time_us for launch in launches)
    moved = sum(launch.gm_read_bytes + launch.gm_written_bytes for launch in launches)
    return Bottleneck(limit, share, time_us, moved / time_us * 1e6, None, pipes)


def busiest(pipes: Sequence[PipeShare]) -> PipeShare:
    """The pipe that worked most; of equals the first."""
    return max(pipes, key=lambda item: item.busy)


def percent(share: float) -> str:
    """`83 %`."""
    return f"{100 * share:.0f} %"


def rate_text(bytes_per_s: float) -> str:
    """`1.40 TB/s` or `512 GB/s`."""
    return f"{bytes_per_s / 1e12:.2f} TB/s" if bytes_per_s >= 1e12 else f"{bytes_per_s / 1e9:.0f} GB/s"


def _candidates(pipes: Sequence[PipeShare], launches: Sequence[LaunchRecord], cycles: int) -> list[tuple[str, float]]:
    """What may be the limit, with its share; of equals the first is taken."""
    working = [(item.pipe, item.busy) for item in (pipes and [busiest(pipes)])]
    outside = max((sum(item.waits.get(reason, 0.0) for reason in OVERHEAD) for item in pipes), default=0.0)
    copies = sum(launch.cycles for launch in launches if launch.kind == "copy") / cycles
    return [*working, ("launch", outside), ("copy", copies)]


def _busier(launch: LaunchRecord, pipe: str) -> LaunchRecord:
    """A mixed launch as that kind of its cores which keeps the pipe busier; any other as it is."""
    if launch.cube is None:
        return launch
    kinds = [launch.pipes_of(is_cube=is_cube) for is_cube in (True, False)]
    busiest_kind = max(kinds, key=lambda kind: kind.busy_cycles.get(pipe, 0) / kind.cores)
    return launch.model_copy(update={**dict(busiest_kind), "cube": None})


def _share(pipe: str, kernels: Sequence[LaunchRecord], cycles: int) -> PipeShare:
    """Each launch counts by its cycles; its cores are averaged."""
    kernels = [_busier(launch, pipe) for launch in kernels]
    busy = sum(launch.busy_cycles.get(pipe, 0) / launch.cores for launch in kernels) / cycles
    return PipeShare(pipe, busy, _by_reason(pipe, kernels, cycles, "wait_cycles"), _by_reason(pipe, kernels, cycles, "lost_cycles"))


def _by_reason(pipe: str, kernels: Sequence[LaunchRecord], cycles: int, field_name: str) -> dict[str, float]:
    total: dict[str, float] = {}
    for launch in kernels:
        for reason, value in getattr(launch, field_name).get(pipe, {}).items():
            total[reason] = total.get(reason, 0.0) + value / launch.cores / cycles
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))
