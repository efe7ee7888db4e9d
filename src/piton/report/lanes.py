"""Pipe timelines as small charts: one lane per pipe, its height shared out among working, losing and waiting.

Problem: a launch of 20,000 instructions is drawn 300 steps wide.
Approach: each step of a lane is as high as the share of its cycles that the pipe spent in a state, so that areas are exact however short the instructions are.
Limits: two blocks are shown, the first one and the one that ends last; the whole of it is in the trace file, for Perfetto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from piton.core.errors import FormatError
from piton.core.execution import PIPES
from piton.core.report import Report
from piton.report.trace_file import BlockSpan, State, Stretch, Trace, TraceHead, read_head, read_trace

STEPS = 300
HEIGHT = 12
"""Of a lane, in the units of its drawing."""
SPAN_HEIGHT = 2
MOST_CHARTS = 60
"""Cases whose timeline is drawn; of more, those with the longest launches."""
MOST_CHARACTERS = 1_200_000
"""Of all charts of one page together."""
_TICKS = 4
Source = TypeVar("Source", Path, TraceHead)
Found = TypeVar("Found")
_STACK: tuple[State, ...] = ("busy", "lost", "waits", "gap")
"""From the bottom."""


@dataclass(frozen=True)
class Lane:
    """One pipe of one block."""

    name: str
    areas: tuple[tuple[State, str], ...]
    """(state, path), the one that is painted first comes first."""
    words: str
    """Shares of the launch's time: the lane for people who do not see it."""


@dataclass(frozen=True)
class BlockLanes:
    """One block."""

    name: str
    lanes: tuple[Lane, ...]


@dataclass(frozen=True)
class LaneChart:
    """The longest recorded launch of one case."""

    operator: str
    case_id: str
    kernel: str
    launch: int
    launches: int
    total_us: float
    ticks: tuple[str, ...]
    spans: str
    """Path of the overview: a line per recorded block, from its begin to its end."""
    span_count: int
    blocks: tuple[BlockLanes, ...]
    left_out: str
    file: str
    """Name of the trace file."""

    @property
    def span_height(self) -> int:
        """Of the overview, in the units of its drawing."""
        return max(self.span_count * SPAN_HEIGHT, HEIGHT)


@dataclass(frozen=True)
class Timelines:
    """All charts of a page."""

    charts: tuple[LaneChart, ...] = ()
    notes: tuple[str, ...] = ()
    """What is not drawn, and why."""

    def of(self, operator: str) -> tuple[LaneChart, ...]:
        """Charts of one operator."""
        return tuple(chart for chart in self.charts if chart.operator == operator)


def read_timelines(folder: Path, report: Report) -> Timelines:
    """Charts of the traces in `folder` that belong to cases of the report; none when there is no such folder. Files that can't be read are named in a note."""
    notes: list[str] = []
    wanted = {(item.operator, case.case.id): number for number, (item, case) in enumerate((item, case) for item in report.operators for case in item.cases)}
    heads = [head for head in _longest(_heads(sorted(folder.glob("*.json")), notes)) if (head.operator, head.case_id) in wanted]
    chosen = sorted(sorted(heads, key=lambda head: -head.cycles)[:MOST_CHARTS], key=lambda head: wanted[head.operator, head.case_id])
    broken: list[str] = []
    charts = tuple(_within_room(_charts(chosen, broken)))
    missing = len(heads) - len(charts) - len(broken)
    rest = [f"{missing} more timelines are not drawn here; their files are in the run's folder"] if missing else []
    return Timelines(charts, (*notes, *broken, *rest))


def lane_chart(trace: Trace) -> LaneChart:
    """The chart of one trace."""
    head = trace.head
    total_us = head.cycles / head.clock_hz * 1e6
    return LaneChart(
        operator=head.operator,
        case_id=head.case_id,
        kernel=head.kernel,
        launch=head.launch,
        launches=head.launches,
        total_us=total_us,
        ticks=tuple(f"{total_us * step / _TICKS:.4g}" for step in range(_TICKS + 1)),
        spans=_spans(trace.spans, head.cycles),
        span_count=len(trace.spans),
        blocks=tuple(BlockLanes(f"block {block}", tuple(_lanes(found, head.cycles))) for block, found in trace.stretches.items()),
        left_out=head.left_out,
        file=head.path.name,
    )


def _heads(paths: Iterable[Path], notes: list[str]) -> Iterator[TraceHead]:
    for path in paths:
        if (head := _or_note(read_head, path, notes)) is not None:
            yield head


def _charts(heads: Iterable[TraceHead], notes: list[str]) -> Iterator[LaneChart]:
    for head in heads:
        if (trace := _or_note(read_trace, head, notes)) is not None:
            yield lane_chart(trace)


def _or_note(read: Callable[[Source], Found], source: Source, notes: list[str]) -> Found | None:
    """What `read` finds, or a note that the file can't be read: a page must not be lost to a broken trace."""
    try:
        return read(source)
    except FormatError:
        path = source.path if isinstance(source, TraceHead) else source
        notes.append(f"not drawn: {path.name} can't be read")
        return None


def _longest(heads: Iterable[TraceHead]) -> list[TraceHead]:
    """Of each case the longest recorded launch, of equals the first."""
    found: dict[tuple[str, str], TraceHead] = {}
    for head in sorted(heads, key=lambda head: (-head.cycles, head.launch)):
        found.setdefault((head.operator, head.case_id), head)
    return list(found.values())


def _within_room(charts: Iterable[LaneChart]) -> Iterator[LaneChart]:
    """The first charts, until a page would become too large."""
    room = MOST_CHARACTERS
    for chart in charts:
        room -= len(chart.spans) + sum(len(path) for block in chart.blocks for lane in block.lanes for _, path in lane.areas)
        if room < 0:
            return
        yield chart


def _lanes(stretches: Sequence[Stretch], cycles: int) -> Iterator[Lane]:
    for row in (*PIPES, "left out"):
        own = [item for item in stretches if item.row == row]
        if own:
            shares = {state: _shares([item for item in own if item.state == state], cycles) for state in _STACK}
            yield Lane(row.upper() if row in PIPES else row, tuple(_areas(shares)), _words(own, cycles))


def _shares(stretches: Iterable[Stretch], cycles: int) -> list[float]:
    """Of each step the share, 0 to 1, that the stretches cover."""
    shares = [0.0] * STEPS
    width = cycles / STEPS
    for item in stretches:
        begin, end = min(item.begin, cycles) / width, min(item.end, cycles) / width
        for step in range(int(begin), min(int(end) + 1, STEPS)):
            shares[step] += max(min(end, step + 1) - max(begin, step), 0.0)
    return shares


def _areas(shares: dict[State, list[float]]) -> Iterator[tuple[State, str]]:
    """Each state upon those below it, the uppermost first: what is painted later covers what belongs to it."""
    heights = [0.0] * STEPS
    found: list[tuple[State, str]] = []
    for state in _STACK:
        if any(shares[state]):
            heights = [below + share for below, share in zip(heights, shares[state], strict=True)]
            found.append((state, _steps_path(heights)))
    yield from reversed(found)


def _steps_path(heights: Sequence[float]) -> str:
    """A closed area over the bottom line, as high as each step says."""
    tops = [HEIGHT - round(HEIGHT * min(height, 1.0)) for height in heights]
    at, parts = 0, [f"M0 {HEIGHT}"]
    for top, steps in groupby(tops):
        at += len(list(steps))
        parts.append(f"V{top}H{at}")
    return "".join(parts) + f"V{HEIGHT}Z"


def _spans(spans: Sequence[BlockSpan], cycles: int) -> str:
    """One line under the other."""
    places = ((number, *(round(STEPS * min(at, cycles) / cycles, 1) for at in (span.begin, span.end))) for number, span in enumerate(spans))
    return "".join(f"M{begin:g} {number * SPAN_HEIGHT}H{end:g}v{SPAN_HEIGHT - 0.4:g}H{begin:g}z" for number, begin, end in places)


def _words(stretches: Sequence[Stretch], cycles: int) -> str:
    named = (("busy", "busy"), ("lost", "loses"), ("waits", "waits"), ("gap", "not recorded"))
    totals = ((name, sum(item.end - item.begin for item in stretches if item.state == state) / cycles) for state, name in named)
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in totals if share >= 0.005)
