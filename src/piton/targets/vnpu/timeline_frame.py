"""The engine's timeline of a launch, read from its bytes (vnpu_cpp/engine/device/timeline_frame.cpp).

Device code shares the process that sends them, so nothing is taken on trust: whatever does not fit is a forgery, and texts are cut.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar, get_args

from piton.core.execution import PIPES
from piton.core.timeline import (
    LOSS_REASONS,
    WAIT_REASONS,
    Arrow,
    BlockTimeline,
    Instruction,
    InstructionKind,
    LaunchTimeline,
    Operand,
    Slice,
    SliceKind,
    TrafficBin,
    UbUse,
)
from piton.targets.vnpu.log import relative

_SPACES = ("", "GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB")
_DTYPES = ("", "float16", "bfloat16", "float32", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float64", "int4", "bool")
_KINDS: tuple[InstructionKind, ...] = get_args(InstructionKind)
_SLICE_KINDS: tuple[SliceKind, ...] = get_args(SliceKind)
_CORE_KINDS = ("AIV", "AIC", "MIX 1:1", "MIX 1:2")
"""enum vnpu_core_kind (vnpu/abi.h)."""
_PIPE_NAMES = (*(pipe.upper() for pipe in PIPES), "ALL")
_NONE = 0xFFFFFFFF
_AUTO_SYNC, _L2_BYPASS = 1, 2
"""enum TraceEntry flags (trace.h)."""
_QUEUE = 8
"""VNPU_F_QUEUE (vnpu/abi.h)."""
_MAX_TEXT = 300

_COUNT = struct.Struct("<I")
_HEAD = struct.Struct("<BQQ")
_BIN = struct.Struct("<7Q")
_BLOCK = struct.Struct("<I6Q")
_ENTRY = struct.Struct("<7BHH6IQQBBQQBBQQBBQQ")
_SLICE = struct.Struct("<QQIBBBIQQQ")
_ARROW = struct.Struct("<IIBBB")
_USE = struct.Struct("<QII")

T = TypeVar("T")


class MalformedTimelineError(Exception):
    """Bytes that no engine of ours sends."""


@dataclass(frozen=True)
class RecordedLaunch:
    """What the parent knows of the launch by itself."""

    kernel: str
    number: int
    launches: int
    blocks: int
    clock_hz: int
    root: str
    """Folder of the submission: its files are named relative to it."""


class _Reader:
    """Reads the bytes front to back."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def one(self, layout: struct.Struct) -> tuple[int, ...]:
        fields = layout.unpack_from(self._data, self._at)
        self._at += layout.size
        return fields

    def many(self, layout: struct.Struct, make: Callable[[tuple[int, ...]], T]) -> tuple[T, ...]:
        (count,) = self.one(_COUNT)
        end = self._at + count * layout.size
        if end > len(self._data):
            raise MalformedTimelineError("a list longer than the message")
        items = tuple(make(fields) for fields in layout.iter_unpack(memoryview(self._data)[self._at : end]))
        self._at = end
        return items

    def text(self) -> str:
        (size,) = self.one(_COUNT)
        data = self._data[self._at : self._at + size]
        self._at += size
        return "".join(character for character in data.decode(errors="replace") if character.isprintable())[:_MAX_TEXT]

    def done(self) -> None:
        if self._at != len(self._data):
            raise MalformedTimelineError("bytes too many or too few")


class _Texts(NamedTuple):
    """The strings of a message: as names, and as files of the submission."""

    names: tuple[str, ...]
    files: tuple[str, ...]


def read_timeline(data: bytes, launch: RecordedLaunch) -> LaunchTimeline:
    """The timeline in `data`. Raises MalformedTimelineError for bytes that no engine of ours sends."""
    try:
        return _read(_Reader(data), launch)
    except (struct.error, IndexError, ValueError) as error:
        raise MalformedTimelineError(str(error)) from None


def _read(reader: _Reader, launch: RecordedLaunch) -> LaunchTimeline:
    core_kind, cycles, bin_cycles = reader.one(_HEAD)
    (count,) = reader.one(_COUNT)
    names = tuple(reader.text() for _ in range(count))
    texts = _Texts(names, tuple(relative(name, launch.root) for name in names))
    traffic = reader.many(_BIN, lambda fields: TrafficBin(*fields))
    (count,) = reader.one(_COUNT)
    tracks = tuple(_block(reader, texts, cycles) for _ in range(count))
    reader.done()
    return LaunchTimeline(
        kernel=launch.kernel,
        number=launch.number,
        launches=launch.launches,
        core_kind=_CORE_KINDS[core_kind],
        blocks=launch.blocks,
        cycles=cycles,
        clock_hz=launch.clock_hz,
        tracks=tracks,
        bin_cycles=bin_cycles,
        traffic=traffic,
    )


def _block(reader: _Reader, texts: _Texts, cycles: int) -> BlockTimeline:
    block, begin, end, gap_begin, gap_end, total, left_out = reader.one(_BLOCK)
    instructions = reader.many(_ENTRY, lambda fields: _instruction(fields, texts))
    slices = reader.many(_SLICE, lambda fields: _slice(fields, len(instructions), cycles))
    arrows = reader.many(_ARROW, lambda fields: _arrow(fields, len(slices)))
    uses = reader.many(_USE, lambda fields: UbUse(*fields))
    if not begin <= end <= cycles or not gap_begin <= cycles >= gap_end:
        raise MalformedTimelineError("a block outside of its launch")
    return BlockTimeline(block, begin, end, total, left_out, (gap_begin, gap_end), instructions, slices, arrows, uses)


def _instruction(fields: tuple[int, ...], texts: _Texts) -> Instruction:
    kind, pipe, source, target, event, flags, record_flags, name, file, line, cycles, repeats, size, gap, count, mask0, mask1, *operands = fields
    kind_name = _KINDS[kind]
    is_transfer = kind_name in ("load", "store")
    return Instruction(
        name=texts.names[name],
        file=texts.files[file],
        line=line,
        kind=kind_name,
        pipe=_PIPE_NAMES[pipe],
        flag=_flag(source, target, event) if kind_name in ("set_flag", "wait_flag") else "",
        is_auto_sync=bool(flags & _AUTO_SYNC),
        is_queue=bool(record_flags & _QUEUE),
        bypasses_l2=bool(flags & _L2_BYPASS),
        cycles=cycles,
        repeats=0 if is_transfer else repeats,
        elements=count,
        mask=(mask0, mask1),
        blocks=repeats if is_transfer else 0,
        block_bytes=size if is_transfer else 0,
        gm_gap=gap if is_transfer else 0,
        operands=_operands(operands),
    )


def _operands(fields: list[int]) -> tuple[Operand, ...]:
    found = []
    for at, role in enumerate(("dst", "src0", "src1")):
        space, dtype, address, nbytes = fields[4 * at : 4 * at + 4]
        if space:
            found.append(Operand(role, _SPACES[space], _DTYPES[dtype], address, nbytes))  # type: ignore[arg-type]  # the roles are those of Operand
    return tuple(found)


def _slice(fields: tuple[int, ...], instructions: int, cycles: int) -> Slice:
    begin, end, entry, pipe, kind, reason, cause, queued, l2_bytes, hbm_bytes = fields
    if not begin <= end <= cycles or (entry != _NONE and entry >= instructions):
        raise MalformedTimelineError("a slice outside of its launch")
    kind_name = _SLICE_KINDS[kind]
    reasons = {"loss": LOSS_REASONS, "wait": WAIT_REASONS}.get(kind_name, ("",) * 256)
    instruction = None if entry == _NONE else entry
    return Slice(begin, end, PIPES[pipe], kind_name, reasons[reason], instruction, None if cause == _NONE else cause, queued, l2_bytes, hbm_bytes)


def _arrow(fields: tuple[int, ...], slices: int) -> Arrow:
    source, target, src_pipe, dst_pipe, event = fields
    if source >= slices or target >= slices:
        raise MalformedTimelineError("an arrow to nowhere")
    return Arrow(source, target, _flag(src_pipe, dst_pipe, event))


def _flag(source: int, target: int, event: int) -> str:
    return f"{_PIPE_NAMES[source]}_{_PIPE_NAMES[target]} {event}"
