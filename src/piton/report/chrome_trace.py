"""A launch's timeline in the Chrome trace event format, for Perfetto and MindStudio Insight. How to read it: docs/timeline.md.

Problem: viewers keep nanoseconds and drop slices of a thread that overlap, a core's cycle is half a nanosecond, and a file of millions of events opens nowhere.
Approach: one process per block, one thread per pipe, one line per event, written as it is made. Times are rounded down to whole nanoseconds, ends like
beginnings, so that what does not overlap in cycles does not in the file; exact cycles are among the arguments.
Limits: as those of the recording (core.timeline); the file says what was left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import IO

from piton.core.execution import PIPES
from piton.core.timeline import Arrow, BlockTimeline, Instruction, LaunchTimeline, Slice, TrafficBin

MEMORY_PID = 1
FIRST_BLOCK_PID = 2
_ROWS = ("block", *PIPES, "left out")
_TIDS_PER_BLOCK = 16

_LOSS_NAMES = {
    "bandwidth_share": "shared bandwidth",
    "small_blocks": "small blocks",
    "latency": "latency",
    "bank_conflict": "bank conflicts",
    "cache_miss": "cache miss",
    "scalar_code": "scalar code",
}
_COLOURS = {"issue": "grey", "loss": "bad", "wait": "terrible", "launch": "grey"}
"""Reserved colour names of the format, by category; Perfetto chooses its own."""

Event = dict[str, object]
_SAME_ADDRESS = "HBM reads of what another core reads too, GB/s"


def write_trace(timeline: LaunchTimeline, about: Mapping[str, str], file: IO[str]) -> None:
    """Write the trace; `about` goes into its `otherData`. Equal timelines give equal bytes."""
    file.write('{"displayTimeUnit":"ns","otherData":' + _json({**about, **_summary(timeline)}) + ',"traceEvents":[\n')
    separator = ""
    for event in trace_events(timeline):
        file.write(separator + _json(event))
        separator = ",\n"
    file.write("\n]}\n")


def trace_events(timeline: LaunchTimeline) -> Iterator[Event]:
    """Every event, names of processes and threads first."""
    clock = _Clock(timeline.clock_hz)
    if timeline.traffic:
        yield from _memory(timeline, clock)
    note = left_out_text(timeline)
    if note:
        yield {"ph": "i", "pid": MEMORY_PID, "tid": MEMORY_PID * _TIDS_PER_BLOCK, "ts": clock.ts(0), "s": "g", "name": note, "cat": "note"}
    arrows = 0
    for track in timeline.tracks:
        yield from _Block(timeline, track, clock).events(arrows)
        arrows += len(track.arrows)


def left_out_text(timeline: LaunchTimeline) -> str:
    """What the recording lacks; empty when it is complete."""
    recorded = len(timeline.tracks) // timeline.cores_per_block
    missing = [f"{recorded} of {timeline.blocks} blocks are recorded"] if recorded < timeline.blocks else []
    cut = sum(track.left_out for track in timeline.tracks)
    if cut:
        missing.append(f"{cut} of the {sum(track.total for track in timeline.tracks)} instructions of the recorded blocks are left out")
    return "; ".join(missing) + " (--trace-cores chooses blocks)" if missing else ""


class _Clock:
    """Cycles to the format's microseconds."""

    def __init__(self, hz: int) -> None:
        self._hz = hz

    def ns(self, cycle: int) -> int:
        """Whole nanoseconds, rounded down."""
        return cycle * 1_000_000_000 // self._hz

    def ts(self, cycle: int) -> float:
        """A point in time."""
        return _point(self.ns(cycle))

    def span(self, begin: int, end: int) -> Event:
        """`ts` and `dur`."""
        start = self.ns(begin)
        return {"ts": _point(start), "dur": (self.ns(end) - start) / 1000}

    def rate_gb_s(self, moved: int, cycles: int) -> float:
        """Bytes in some cycles as GB/s, to the megabyte."""
        return moved * self._hz // (cycles * 1_000_000) / 1000


def _point(ns: int) -> float:
    """Microseconds, with 0.2 ns more: so it does not fall a nanosecond back where a viewer multiplies the double by 1000 and drops the fraction."""
    return (10 * ns + 2) / 10_000


class _Block:
    """The events of one block."""

    def __init__(self, timeline: LaunchTimeline, track: BlockTimeline, clock: _Clock) -> None:
        self._timeline = timeline
        self._track = track
        self._clock = clock
        self._pid = FIRST_BLOCK_PID + track.block
        self._args = [_instruction_args(item) for item in track.instructions]

    def events(self, first_arrow: int) -> Iterator[Event]:
        """Names, the block itself, slices, arrows, use of the unified buffer."""
        yield from self._names()
        yield from self._outline()
        for item in self._track.slices:
            yield self._slice(item)
        for number, arrow in enumerate(self._track.arrows, first_arrow):
            yield from self._arrow(number, arrow)
        for use in self._track.ub:
            yield self._at("block", "C", use.time, name="UB bytes", args={"given out": use.given_out, "in use": use.in_use})

    def _names(self) -> Iterator[Event]:
        used = {item.pipe for item in self._track.slices}
        name = self._timeline.core_name(self._track.block)
        yield self._at("block", "M", 0, name="process_name", args={"name": name})
        yield self._at("block", "M", 0, name="process_sort_index", args={"sort_index": self._pid})
        for row in _ROWS:
            if row == "block" or row in used or (row == "left out" and self._track.left_out):
                yield self._at(row, "M", 0, name="thread_name", args={"name": row.upper() if row in PIPES else row})
                yield self._at(row, "M", 0, name="thread_sort_index", args={"sort_index": _ROWS.index(row)})

    def _outline(self) -> Iterator[Event]:
        track = self._track
        kept = track.total - track.left_out
        if track.begin:
            yield self._complete("block", (0, track.begin), "before the block starts", "launch", {})
        core = self._timeline.core_name(track.block) if self._timeline.cores_per_block > 1 else f"block {track.block}"
        name = f"{self._timeline.kernel} {core}"
        yield self._complete("block", (track.begin, track.end), name, "block", {"instructions": track.total, "recorded": kept})
        if track.left_out:
            text = f"{track.left_out} of {track.total} instructions are left out here"
            yield self._complete("left out", (track.gap[0], max(track.gap)), text, "note", {"instructions": track.left_out})

    def _slice(self, item: Slice) -> Event:
        instruction = None if item.instruction is None else self._track.instructions[item.instruction]
        known: Event = {} if item.instruction is None else self._args[item.instruction]
        if item.kind == "run":
            return self._complete(item.pipe, (item.begin, item.end), known_name(instruction), "instruction", {**known, **_run_args(item)})
        source: Event = {name: known[name] for name in ("source", "flag", "auto_sync") if name in known}
        if item.kind == "issue":
            return self._complete(item.pipe, (item.begin, item.end), f"issue {known_name(instruction)}", "issue", source)
        args: Event = {"instruction": known_name(instruction), **source, "reason": item.reason}
        name = _LOSS_NAMES[item.reason] if item.kind == "loss" else wait_name(item, instruction, self._timeline)
        return self._complete(item.pipe, (item.begin, item.end), name, item.kind, args)

    def _complete(self, row: str, span: tuple[int, int], name: str, category: str, args: Event) -> Event:
        colour: Event = {"cname": _COLOURS[category]} if category in _COLOURS else {}
        times = {**self._clock.span(*span), "name": name, "cat": category, **colour}
        return {"ph": "X", **self._place(row), **times, "args": {**args, "cycles": span[1] - span[0], "begin_cycle": span[0]}}

    def _arrow(self, number: int, arrow: Arrow) -> Iterator[Event]:
        """Both ends lie inside their slices: a viewer binds an arrow to what encloses it."""
        source, target = self._track.slices[arrow.source], self._track.slices[arrow.target]
        start = max(self._clock.ns(source.begin), self._clock.ns(source.end) - 1)
        landing = self._clock.ns(target.begin)
        if target.kind == "wait":
            landing = max(landing, self._clock.ns(target.end) - 1)
        head: Event = {"id": number + 1, "name": f"flag {arrow.flag}", "cat": "flag"}
        yield {"ph": "s", **self._place(source.pipe), "ts": _point(start), **head}
        yield {"ph": "f", **self._place(target.pipe), "ts": _point(max(landing, start)), "bp": "e", **head}

    def _at(self, row: str, phase: str, cycle: int, **rest: object) -> Event:
        return {"ph": phase, **self._place(row), "ts": self._clock.ts(cycle), **rest}

    def _place(self, row: str) -> Event:
        return {"pid": self._pid, "tid": self._pid * _TIDS_PER_BLOCK + _ROWS.index(row)}


def known_name(instruction: Instruction | None) -> str:
    """The API call, or what there is without one."""
    return instruction.name if instruction is not None else "end of the program"


def wait_name(item: Slice, instruction: Instruction | None, timeline: LaunchTimeline | None = None) -> str:
    """What a wait is for, such as `DeQue/AllocTensor: wait for MTE2`."""
    last = f"block {item.cause}"
    if timeline is not None and timeline.cores_per_block > 1 and item.cause is not None:
        last = timeline.core_name(item.cause)
    pipe = PIPES[item.cause].upper() if item.cause is not None and item.cause < len(PIPES) else "a pipe"
    texts = {
        "barrier": f"{known_name(instruction)}: wait for {pipe}",
        "sync_all": f"SyncAll: wait for {last}",
        "full_queue": f"queue of {pipe} is full",
        "cross_flag": "wait for a flag of other cores",
        "end": f"end of the program: {pipe} still works",
    }
    return texts.get(item.reason, f"{known_name(instruction)}: wait for {pipe}")


def _memory(timeline: LaunchTimeline, clock: _Clock) -> Iterator[Event]:
    place: Event = {"pid": MEMORY_PID, "tid": MEMORY_PID * _TIDS_PER_BLOCK}
    yield {"ph": "M", **place, "ts": clock.ts(0), "name": "process_name", "args": {"name": "memory of the chip"}}
    yield {"ph": "M", **place, "ts": clock.ts(0), "name": "process_sort_index", "args": {"sort_index": 0}}
    shown: dict[str, Event] = {_SAME_ADDRESS: {"read": 0.0}}
    for number, item in enumerate((*timeline.traffic, TrafficBin(*[0] * 7))):
        begin = min(number * timeline.bin_cycles, timeline.cycles)
        cycles = max(1, min(timeline.bin_cycles, timeline.cycles - begin))
        for name, series in _rates(item, clock, cycles):
            if shown.get(name) != series:  # a counter keeps its value until the next event
                yield {"ph": "C", **place, "ts": clock.ts(begin), "name": name, "args": series}
                shown[name] = series
        if item.loaded:
            yield {"ph": "C", **place, "ts": clock.ts(begin), "name": "L2 hits of loads, %", "args": {"hits": 1000 * item.hit // item.loaded / 10}}


def _rates(item: TrafficBin, clock: _Clock, cycles: int) -> Iterator[tuple[str, Event]]:
    for name, read, written in (("HBM, GB/s", item.hbm_read + item.same_address, item.hbm_written), ("L2, GB/s", item.l2_read, item.l2_written)):
        yield name, {"read": clock.rate_gb_s(read, cycles), "written": clock.rate_gb_s(written, cycles)}
    yield _SAME_ADDRESS, {"read": clock.rate_gb_s(item.same_address, cycles)}


def _instruction_args(item: Instruction) -> Event:
    args: Event = {}
    if item.file:
        args["source"] = f"{item.file}:{item.line}"
    if item.flag:
        args["flag"] = item.flag
    if item.is_auto_sync:
        args["auto_sync"] = True
    for operand in item.operands:
        extent = f", {operand.nbytes} bytes" if operand.nbytes else ""
        args[operand.role] = f"{operand.space} {operand.address:#x}{extent}{' ' + operand.dtype if operand.dtype else ''}"
    return {**args, **_extent_args(item)}


def _extent_args(item: Instruction) -> Event:
    args: Event = {}
    if item.blocks:
        args["moves"] = f"{item.blocks} x {item.block_bytes} bytes" + (f", {item.gm_gap} apart in GM" if item.gm_gap else "")
        args["l2"] = "bypassed" if item.bypasses_l2 else "used"
    if item.repeats:
        args["repeats"] = item.repeats
    if item.elements:
        args["elements"] = item.elements
    elif item.repeats and any(item.mask):
        args["mask"] = f"{item.mask[1]:#x} {item.mask[0]:#x}"
    return args


def _run_args(item: Slice) -> Event:
    args: Event = {"queued_cycles": item.queued} if item.pipe != "s" else {}
    if item.l2_bytes or item.hbm_bytes:
        args |= {"l2_bytes": item.l2_bytes, "hbm_bytes": item.hbm_bytes}
    return args


def _summary(timeline: LaunchTimeline) -> Event:
    return {
        "kernel": timeline.kernel,
        "launch": timeline.number,
        "launches": timeline.launches,
        "blocks": timeline.blocks,
        "cycles": timeline.cycles,
        "clock_hz": timeline.clock_hz,
        "left_out": left_out_text(timeline),
    }


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
