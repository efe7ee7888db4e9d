"""What a kernel orders with, taken away piece by piece, and work that comes after the flag that vouches for it.

A piece is what one edit of the source would remove: a SetFlag with its WaitFlag (or EnQue with DeQue, FreeTensor with AllocTensor, CrossCoreSetFlag with
CrossCoreWaitFlag), a PipeBarrier, a SyncAll. All of its turns in a loop go together.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from engine_rig import (
    ALL,
    BARRIER,
    CROSS_SET,
    CROSS_WAIT,
    F_QUEUE,
    GATHER_MASK,
    SET_FLAG,
    SYNC_ALL,
    WAIT_FLAG,
    Record,
    Report,
    Rig,
    S,
    engine_library,
)

PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL")


class Logged(ctypes.Structure):
    """A record with its core and its number there (`cpp/engine_injector.cpp`)."""

    _fields_ = [("core", ctypes.c_uint32), ("number", ctypes.c_uint32), ("record", Record)]


@dataclass
class Piece:
    """Records that one edit would remove or move, by core and number."""

    name: str
    is_of_user: bool
    """Written in the kernel; otherwise it is inside a call that is made of several instructions."""
    records: list[tuple[int, int]] = field(default_factory=list)
    is_late: bool = False
    """Work that is moved behind the next flag or barrier of its pipe, rather than left out."""


def logged(run: Callable[[], Report], piece: Piece | None = None) -> tuple[Report, list[Logged]]:
    """The report of a launch without a piece, and the records that the engine got."""
    library = engine_library()
    flat = [number for place in (piece.records if piece else ()) for number in place]
    library.rig_inject((ctypes.c_uint32 * max(len(flat), 1))(*flat), len(flat) // 2, int(piece is not None and piece.is_late))
    try:
        report = run()
        first = ctypes.c_void_p()
        count = library.rig_logged(ctypes.byref(first))
        copy = (Logged * count)()
        ctypes.memmove(copy, first, ctypes.sizeof(copy))
    finally:
        library.rig_inject_nothing()
    return report, list(copy)


def at(record: Record) -> str:
    """File and line, as the kernel's author knows them."""
    return f"{Path(record.file.decode()).name}:{record.line}" if record.file else "?"


def _add(pieces: dict[str, Piece], name: str, records: list[Logged]) -> None:
    piece = pieces.setdefault(name, Piece(name, not records[0].record.flags & F_QUEUE))
    piece.records += [(one.core, one.number) for one in records]


def _flag_pieces(log: list[Logged], pieces: dict[str, Piece]) -> None:
    waiting: dict[tuple[int, ...], deque[Logged]] = defaultdict(deque)
    for one in log:
        record = one.record
        key = (one.core, *record.p[:3])
        if record.opcode == SET_FLAG:
            waiting[key].append(one)
        elif record.opcode == WAIT_FLAG and waiting[key]:
            earlier = waiting[key].popleft()
            pair = f"{PIPES[record.p[0]]}_{PIPES[record.p[1]]}({record.p[2]})"
            _add(pieces, f"{pair} set at {at(earlier.record)}, waited for at {at(record)}", [earlier, one])


def _barrier_pieces(log: list[Logged], pieces: dict[str, Piece]) -> None:
    turn: dict[int, tuple[str, int]] = {}
    for one in log:
        place, number = at(one.record), 0
        last, so_far = turn.get(one.core, ("", 0))
        if one.record.opcode == BARRIER:
            number = so_far + 1 if last == place else 1
            inside = f", number {number} there" if one.record.flags & F_QUEUE else ""
            _add(pieces, f"PipeBarrier<PIPE_{PIPES[one.record.p[0]]}> at {place}{inside}", [one])
        elif last == place:
            number = so_far
        turn[one.core] = (place, number)


def _core_pieces(log: list[Logged], pieces: dict[str, Piece]) -> None:
    for one in log:
        if one.record.opcode == SYNC_ALL:
            _add(pieces, f"SyncAll at {at(one.record)}", [one])
        elif one.record.opcode in (CROSS_SET, CROSS_WAIT):
            _add(pieces, f"CrossCoreSetFlag and CrossCoreWaitFlag of id {one.record.p[2]}", [one])


def _late_pieces(log: list[Logged], pieces: dict[str, Piece]) -> None:
    """Work on chip or in global memory that a flag or barrier of its pipe follows."""
    for one in log:
        record = one.record
        if not 0 < record.opcode < SET_FLAG or record.pipe == S or record.opcode == GATHER_MASK:
            continue
        if any(later.core == one.core and later.number > one.number and _ends(later.record, record.pipe) for later in log):
            name = f"opcode {record.opcode} at {at(record)}, behind the next flag of its pipe"
            _add(pieces, name, [one])
            pieces[name].is_late = True


def _ends(record: Record, pipe: int) -> bool:
    return bool((record.opcode == SET_FLAG and record.p[0] == pipe) or (record.opcode == BARRIER and record.p[0] in (pipe, ALL)))


def pieces_of(log: list[Logged]) -> list[Piece]:
    """Everything in a launch that one edit could remove or move."""
    pieces: dict[str, Piece] = {}
    for find in (_flag_pieces, _barrier_pieces, _core_pieces, _late_pieces):
        find(log, pieces)
    return list(pieces.values())


def results_of(run: Callable[[], Report]) -> Iterable[tuple[Piece, Report, list[Logged]]]:
    """Every piece of a kernel with the report of the kernel without it, and the records that the engine got."""
    _, log = logged(run)
    for piece in pieces_of(log):
        report, mutant = logged(run, piece)
        yield piece, report, mutant


__all__ = ["Logged", "Piece", "Rig", "at", "logged", "pieces_of", "results_of"]
