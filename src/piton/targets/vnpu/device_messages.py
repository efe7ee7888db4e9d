"""What the parent and the device process say to each other, beside the frames that it travels in (wire.py), and how the conversation ends."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from piton.core.protocols import ProcessResult
from piton.targets.vnpu import wire
from piton.targets.vnpu.wire import Type

_ADDRESS = struct.Struct("<Q")


@dataclass(frozen=True)
class LastWords:
    """What a dying device process told."""

    signal: int
    address: int
    fault: int
    """What it was, as wire.py numbers it."""
    kernel: str
    code: tuple[int, ...] = ()
    """Offsets in the device library, innermost call first."""


@dataclass(frozen=True)
class CallOptions:
    """How the engine runs the next case."""

    auto_sync: bool
    is_timing_only: bool
    is_pessimistic: bool
    budget_cycles: int
    memory_bytes: int
    """What a submission may allocate."""
    chip_table: str


@dataclass(frozen=True)
class Wanted:
    """An allocation of the parent's."""

    nbytes: int
    is_mutable: bool
    is_defined: bool
    """The parent will fill it."""


@dataclass(frozen=True)
class Description:
    """What the allocation table says about a range of device memory."""

    is_live: bool
    address: int
    nbytes: int
    is_host_made: bool
    is_mutable: bool
    first_undefined: int
    """Address of the first byte that holds no data; the end of the range when there is none."""
    first_unstored: int
    """Address of the first byte that no kernel stored; the end of the range when there is none."""


class DeviceGoneError(Exception):
    """The device process has ended; `words` are its last, if it had time for any; or it was ended because it printed too much."""

    def __init__(self, words: LastWords | None, end: ProcessResult | None = None) -> None:
        super().__init__("device process ended")
        self.words = words
        self.is_flooded = end is not None and end.is_flooded
        self.is_killed = end is not None and end.is_killed


class DeviceForgedError(Exception):
    """The device process sent what no engine of ours sends: device code, which shares the process, wrote to its channel."""


class DeviceBusyError(Exception):
    """The device did not answer in time: a launch is in progress."""


def configuration(options: CallOptions, *, has_chip: bool) -> tuple[Type, bytes]:
    """The request that sets `options`; the chip's table is left out where the engine was made from it already."""
    table = b"" if has_chip else options.chip_table.encode()
    fields = (options.auto_sync, options.is_timing_only, options.is_pessimistic, options.budget_cycles, options.memory_bytes, len(table))
    return Type.CONFIGURE, struct.pack("<BBBQQI", *fields) + table


def allocation(wanted: Wanted) -> tuple[Type, bytes]:
    """The request for an allocation of the parent's."""
    return Type.ALLOCATE, struct.pack("<QBB", wanted.nbytes, wanted.is_mutable, wanted.is_defined)


def read_address(body: bytes) -> int:
    """The answer to `allocation`: 0 when there was no room. Raises DeviceForgedError for a body of another size."""
    return unpacked(_ADDRESS, body)[0]


def last_words(body: bytes) -> LastWords:
    """What a dying process sent. Raises DeviceForgedError for a body of another size."""
    signal, address, fault, count, *frames, length = unpacked(wire.DIED, body[: wire.DIED.size])
    name = body[wire.DIED.size : wire.DIED.size + length].decode(errors="replace")
    return LastWords(signal, address, fault, name, tuple(frames[:count]))


def description_of(extent: tuple[int, int]) -> tuple[Type, bytes]:
    """The request for what is known about (address, bytes)."""
    return Type.DESCRIBE, struct.pack("<QQ", *extent)


def read_description(body: bytes) -> Description:
    """The answer to `description_of`. Raises DeviceForgedError for a body of another size."""
    live, start, size, is_host, is_mutable, undefined, unstored = unpacked(wire.DESCRIPTION, body)
    return Description(bool(live), start, size, bool(is_host), bool(is_mutable), undefined, unstored)


def unpacked(layout: struct.Struct, body: bytes) -> tuple[int, ...]:
    """The fields of an answer. Raises DeviceForgedError for a body of another size."""
    if len(body) != layout.size:
        raise DeviceForgedError(f"{len(body)} bytes instead of {layout.size}")
    return layout.unpack(body)
