"""Timelines read back from the files of `piton eval --trace`, as far as a picture needs them: which pipe did what, when.

Problem: a file has up to some 20 MB, a page shows two blocks of it.
Approach: the head line says what the file is about, lines that outline blocks are found by a search, and only lines of the blocks that are shown are parsed.
Limits: reads what `chrome_trace` writes (one event per line), not the format in general.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from piton.core.errors import FormatError
from piton.core.execution import PIPES
from piton.report.chrome_trace import FIRST_BLOCK_PID

MOST_BYTES = 64_000_000
"""A larger file was not written by us: it is refused."""
_LONGEST_HEAD = 20_000
"""Characters of the first line: names of kernels can be long."""
_ROWS = ("block", *PIPES, "left out")
_TIDS_PER_BLOCK = 16
_BLOCK = re.compile(r'\{"ph":"X","pid":(\d+),[^\n]*"cat":"block"[^\n]*\}')
State = Literal["busy", "lost", "waits", "gap"]
_STATES: dict[str, State] = {"instruction": "busy", "issue": "busy", "loss": "lost", "wait": "waits", "note": "gap"}


@dataclass(frozen=True)
class TraceHead:
    """What a trace is about."""

    path: Path
    operator: str
    case_id: str
    kernel: str
    launch: int
    launches: int
    cycles: int
    clock_hz: int
    left_out: str
    """What the recording lacks; empty for a complete one."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of one pipe in one state; stretches of a pipe do not overlap. In cycles since the launch."""

    row: str
    """One of `PIPES`, or `left out`."""
    state: State
    begin: int
    end: int


@dataclass(frozen=True)
class BlockSpan:
    """When a recorded block ran, in cycles since the launch."""

    block: int
    begin: int
    end: int


@dataclass(frozen=True)
class Trace:
    """One file: all recorded blocks, and the stretches of those that were asked for."""

    head: TraceHead
    spans: tuple[BlockSpan, ...]
    stretches: dict[int, tuple[Stretch, ...]]
    """By block."""


def read_head(path: Path) -> TraceHead:
    """What the file is about, from its first line. Raises FormatError for a file that `piton eval --trace` did not write."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES // 1_000_000} MB")
        with path.open(encoding="utf-8") as file:
            line = file.readline(_LONGEST_HEAD)
        return _head(path, json.loads(line.rstrip().removesuffix(',"traceEvents":[') + "}")["otherData"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _broken(path, error) from None


def read_trace(head: TraceHead) -> Trace:
    """The blocks of a file, and everything about the first one and the one that ends last. Raises FormatError for a broken file."""
    try:
        text = head.path.read_text(encoding="utf-8")
        spans = tuple(sorted((_span(json.loads(found[0])) for found in _BLOCK.finditer(text)), key=lambda span: span.block))
        if not spans:
            raise ValueError("no block is recorded")
        shown = dict.fromkeys((spans[0].block, max(spans, key=lambda span: span.end).block))
        return Trace(head, spans, {block: tuple(_stretches(text, block)) for block in shown})
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _broken(head.path, error) from None


def _head(path: Path, about: dict[str, object]) -> TraceHead:
    head = TraceHead(
        path=path,
        operator=str(about["operator"]),
        case_id=str(about["case"]),
        kernel=str(about["kernel"]),
        launch=_whole(about["launch"]),
        launches=_whole(about["launches"]),
        cycles=_whole(about["cycles"]),
        clock_hz=_whole(about["clock_hz"]),
        left_out=str(about["left_out"]),
    )
    if not (head.cycles and head.clock_hz):
        raise ValueError("a launch of no cycles")
    return head


def _span(event: dict[str, object]) -> BlockSpan:
    begin, end = _times(event)
    return BlockSpan(_whole(event["pid"]) - FIRST_BLOCK_PID, begin, end)


def _stretches(text: str, block: int) -> Iterator[Stretch]:
    pid = FIRST_BLOCK_PID + block
    for event in _events(re.findall(rf'^\{{"ph":"X","pid":{pid},.*\}}', text, flags=re.M)):
        row, state = _whole(event["tid"]) - pid * _TIDS_PER_BLOCK, _STATES.get(str(event["cat"]))
        if state is not None and 0 < row < len(_ROWS):
            yield Stretch(_ROWS[row], state, *_times(event))


def _events(lines: Iterable[str]) -> Iterator[dict[str, object]]:
    for line in lines:
        event = json.loads(line)
        if not isinstance(event, dict):
            raise ValueError("an event that is none")
        yield event


def _times(event: dict[str, object]) -> tuple[int, int]:
    args = event["args"]
    if not isinstance(args, dict):
        raise ValueError("an event without its cycles")
    begin = _whole(args["begin_cycle"])
    return begin, begin + _whole(args["cycles"])


def _whole(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a number of cycles")
    return value


def _broken(path: Path, error: Exception) -> FormatError:
    return FormatError("the timeline can't be read", where=str(path), found=str(error)[:200], action="evaluate again with --trace")
