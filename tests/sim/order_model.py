"""Which accesses of a core nothing orders, from its records alone: written after the page on hazards, apart from the engine.

For every record the set of records known complete when it starts, as bits of an integer, in program order; and the bytes it may touch, never too few: a
pair that is ordered by this model is ordered, one that is not may still be apart.
Limits: one core; auto-sync off; masks of lanes (no counter mode); order within a composed instruction (reductions with their own flags) is taken as the page
of the ABI tells it.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from dataclasses import dataclass

from engine_rig import (
    ALL,
    BARRIER,
    BLOCK_REDUCE_MAX,
    BLOCK_REDUCE_MIN,
    BLOCK_REDUCE_SUM,
    BRCB,
    CACHE_CLEAN,
    DATA_COPY,
    DATA_COPY_PAD,
    F_COUNT,
    F_SET_MASK,
    GATHER_MASK,
    GM,
    I4,
    REDUCE_MAX,
    REDUCE_MIN,
    REDUCE_SUM,
    SCALAR_LOAD,
    SCALAR_STORE,
    SET_FLAG,
    SET_MASK,
    SIZE,
    UNBOUNDED,
    WAIT_FLAG,
    WHOLE_REDUCE_MAX,
    WHOLE_REDUCE_MIN,
    WHOLE_REDUCE_SUM,
    Operand,
    Record,
    S,
    V,
)
from removals import Logged, at

MOST = 1 << 18


@dataclass(frozen=True)
class Bytes:
    """A range of one memory."""

    space: int
    begin: int
    end: int
    is_write: bool

    def meets(self, other: Bytes) -> bool:
        """Whether the two can be at odds."""
        return (self.is_write or other.is_write) and self.space == other.space and self.begin < other.end and other.begin < self.end


def _strided(repeats: int, operand: Operand, blocks: int = 8) -> int:
    return int(max(repeats - 1, 0) * operand.rep * 32 + (blocks - 1) * operand.blk * 32 + 32)


def _blocks(record: Record, size: int) -> int:
    """Blocks of a repeat: eight of the widest type, fewer of a narrower one beside it, and none behind the last lane of the mask that the record brings."""
    widest = max(SIZE.get(operand.dtype, 1) for operand in (record.dst, record.src0, record.src1) if operand.space != 0)
    lanes = (record.mask[0] | record.mask[1] << 64).bit_length() if record.flags & F_SET_MASK else 256
    return max(min(8 * size // widest, -(-lanes * size // 32)), 1)


def _by_blocks(record: Record, operand: Operand, size: int) -> int:
    """Eight elements on the one side of a repeat, eight blocks on the other: dense elements become blocks (BRCB), or blocks become elements."""
    is_result = ctypes.addressof(operand) == ctypes.addressof(record.dst)
    if record.opcode == BRCB:
        return _strided(record.p[0], operand) if is_result else int(record.p[0] * 8 * size)
    return int((max(record.p[0] - 1, 0) * operand.rep + 1) * 8 * size) if is_result else _strided(record.p[0], operand)


def _extent(record: Record, operand: Operand, is_copy: bool, gap: int) -> int:
    if record.opcode in (SCALAR_LOAD, SCALAR_STORE):
        return int(record.p[0])
    if is_copy:
        blocks, length = record.p[0], record.p[1]
        chip = length if record.opcode == DATA_COPY or operand.space == GM else (length + 95) // 32 * 32
        return int(blocks * chip + max(blocks - 1, 0) * gap)
    size = SIZE.get(operand.dtype, 8 if operand.dtype != I4 else 1)
    simple = record.opcode < 96
    if simple and record.flags & F_COUNT:
        return int(record.p[0] * size)
    if simple and record.p[0] <= 255:
        return _strided(record.p[0], operand, _blocks(record, size))
    if record.opcode in (BRCB, BLOCK_REDUCE_SUM, BLOCK_REDUCE_MAX, BLOCK_REDUCE_MIN) and record.p[0] <= 255:
        return _by_blocks(record, operand, size)
    if record.opcode in (WHOLE_REDUCE_SUM, WHOLE_REDUCE_MAX, WHOLE_REDUCE_MIN) and record.p[0] <= 255:
        is_result = ctypes.addressof(operand) == ctypes.addressof(record.dst)
        return int(max(record.p[0] - 1, 0) * operand.rep * 8 + 8) if is_result else _strided(record.p[0], operand)
    return int(MOST)


def touched(record: Record) -> list[Bytes]:
    """What a record may read and write."""
    found = []
    is_copy = record.opcode in (DATA_COPY, DATA_COPY_PAD)
    for number, operand in enumerate((record.dst, record.src0, record.src1)):
        if operand.space == 0:
            continue
        extent = _extent(record, operand, is_copy, record.p[3] if number == 0 else record.p[2])
        if operand.limit != UNBOUNDED:
            extent = min(extent, operand.limit)
        found.append(Bytes(operand.space, operand.addr, operand.addr + extent, number == 0))
        if number == 0:
            found.append(Bytes(operand.space, operand.addr, operand.addr + extent, False))
    return found


class Order:
    """Walks a core's records in program order."""

    def __init__(self) -> None:
        self.issued: dict[int, int] = defaultdict(int)
        self.known: dict[int, int] = defaultdict(int)
        self.sets: dict[tuple[int, ...], list[int]] = defaultdict(list)
        self.past: list[tuple[int, Record, list[Bytes]]] = []
        self.unordered: list[tuple[Record, Record]] = []

    def _learn(self, pipe: int, bits: int) -> None:
        for learner in range(ALL) if pipe == S else (pipe,):
            self.known[learner] |= bits

    def _barrier(self, pipe: int) -> None:
        for one in range(ALL) if pipe == ALL else (pipe,):
            self.known[one] |= sum(self.issued.values()) if pipe == ALL else self.issued[one]

    def _flag(self, source: int, target: int) -> None:
        self._learn(target, self.known[source] | self.issued[source])

    def _sync(self, record: Record) -> bool:
        if record.opcode == SET_FLAG:
            self.sets[tuple(record.p[:3])].append(self.known[record.p[0]] | self.issued[record.p[0]])
        elif record.opcode == WAIT_FLAG:
            self._learn(record.p[1], self.sets[tuple(record.p[:3])].pop(0))
        elif record.opcode == BARRIER:
            self._barrier(record.p[0])
        else:
            return False
        return True

    def add(self, record: Record) -> None:
        """The next record."""
        if self._sync(record) or record.opcode >= SET_MASK or record.opcode == CACHE_CLEAN:
            return
        if record.opcode in (REDUCE_SUM, REDUCE_MAX, REDUCE_MIN):
            self._barrier(V)
        pipe, bytes_ = record.pipe, touched(record)
        for bit, earlier, theirs in self.past:
            if self.known[pipe] & bit or (pipe == S and earlier.pipe == S):
                continue
            if any(one.meets(other) for one in bytes_ for other in theirs):
                self.unordered.append((earlier, record))
        bit = 1 << len(self.past)
        self.past.append((bit, record, bytes_))
        self.issued[pipe] |= bit
        if record.opcode in (REDUCE_SUM, REDUCE_MAX, REDUCE_MIN):
            for target in (V, S, 4, 5):
                self._flag(V, target)
        if record.opcode == GATHER_MASK:
            self._flag(V, S)


def unordered(log: list[Logged]) -> list[str]:
    """Pairs that nothing orders, with what they are."""
    cores: dict[int, Order] = defaultdict(Order)
    for one in log:
        cores[one.core].add(one.record)
    return [f"{a.opcode} at {at(a)} and {b.opcode} at {at(b)}" for core in cores.values() for a, b in core.unordered]
