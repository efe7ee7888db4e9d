"""Runs inside the process of a Python kernel: imports the submission's module, then answers the parent as native/serve.cpp does for C++.

Problem: the submission's own code shares this process, so nothing here is trusted with more than passing messages on.
Approach: inputs are read-only arrays of NumPy over one shared memory, outputs writable ones over another; the function fills its outputs and returns nothing.
Limits: a submission can replace anything in this process; all it can reach is a wrong output or an odd reply.
"""

from __future__ import annotations

import importlib.util
import math
import mmap
import socket
import struct
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import ml_dtypes
import numpy as np

from piton.targets.cpu import words

_NUMPY = (
    np.float64, np.float32, np.float16, ml_dtypes.bfloat16, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16, np.uint32, np.uint64, np.bool_,
)  # fmt: skip
"""In the order of `words.DTYPES`."""
_WORD = 8


@dataclass(frozen=True)
class Part:
    """A tensor by its place in a slot."""

    offset: int
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]


@dataclass
class Reader:
    """Reads the arguments of a case; its methods are named in `signature.parameters`."""

    message: Sequence[int]
    at: int = 0

    def integer(self) -> int:
        """One word."""
        self.at += 1
        return self.message[self.at - 1]

    def real(self) -> float:
        """One double."""
        return float(struct.unpack("<d", struct.pack("<q", self.integer()))[0])

    def text(self) -> str:
        """A text in whole words."""
        count = self.integer()
        data = b"".join(struct.pack("<q", self.integer()) for _ in range(-(-count // _WORD)))
        return data[:count].decode()

    def integers(self) -> list[int] | None:
        """A list of int; None for one that is left out."""
        count = self.integer()
        return None if count == words.ABSENT else [self.integer() for _ in range(count)]

    def real_list(self) -> list[float] | None:
        """A list of float; None for one that is left out."""
        count = self.integer()
        return None if count == words.ABSENT else [self.real() for _ in range(count)]

    def part(self) -> Part | None:
        """A tensor; None for one that is left out."""
        offset = self.integer()
        if offset == words.ABSENT:
            return None
        dtype = np.dtype(_NUMPY[self.integer()])
        return Part(offset, dtype, tuple(self.integers() or ()))

    def parts(self) -> list[Part | None]:
        """A list of tensors."""
        return [self.part() for _ in range(self.integer())]


_READERS: dict[str, Callable[[Reader], object]] = {
    "Integer": Reader.integer, "Real": Reader.real, "Text": Reader.text, "Integers": Reader.integers, "RealList": Reader.real_list,
    "Input": Reader.part, "Result": Reader.part, "Inputs": Reader.parts, "Results": Reader.parts,
}  # fmt: skip


class Bound(Protocol):
    """What knows the arguments of a call in each slot."""

    calls: list[list[object]]

    def bind(self, message: Sequence[int], kinds: Sequence[str]) -> None:
        """Take the arguments of a case."""
        ...


@dataclass
class Slots:
    """Both shared memories, and what the arguments of the present case are in each slot."""

    inputs_fd: int
    outputs_fd: int
    calls: list[list[object]] = field(default_factory=list)

    def bind(self, message: Sequence[int], kinds: Sequence[str]) -> None:
        """Make the arguments of every slot, so that a call costs nothing but itself."""
        input_stride, output_stride, slots = message[1:4]
        inputs = memoryview(mmap.mmap(self.inputs_fd, input_stride * slots, prot=mmap.PROT_READ))
        outputs = memoryview(mmap.mmap(self.outputs_fd, output_stride * slots))
        reader = Reader(message, 4)
        bound = [(kind, _READERS[kind](reader)) for kind in kinds]
        self.calls = []
        for slot in range(slots):
            sides = (inputs[slot * input_stride :], outputs[slot * output_stride :])
            self.calls.append([_placed(value, sides[kind.startswith("Result")]) for kind, value in bound])


def serve(channel: socket.socket, slots: Bound, kinds: Sequence[str], load: Callable[[], Callable[..., object]]) -> None:
    """Answer until the parent closes the channel."""
    function: Callable[..., object] | None = None
    while (message := _receive(channel)) is not None:
        status, text = words.DONE, ""
        try:
            if message[0] == words.CASE:
                slots.bind(message, kinds)
                status = words.NOT_LOADED
                function = function or load()
                status = words.DONE
            elif function is not None:
                status, text = _call_all(function, [slots.calls[slot] for slot in message[1:]])
        except Exception as error:  # noqa: BLE001 - whatever the submission raises is reported
            status, text = status or words.THROWN, _said(error)
        data = text.encode(errors="replace")[: words.MOST_TEXT]
        channel.sendall(words.HEAD.pack(status, len(data)) + data)


def main(arguments: Sequence[str]) -> None:
    """Channel, inputs, outputs (descriptors), file of the kernel, name of its function, kinds of its parameters."""
    channel, inputs, outputs, file, name, kinds = arguments
    with socket.socket(fileno=int(channel)) as connection:
        serve(connection, Slots(int(inputs), int(outputs)), kinds.split(","), lambda: load_function(Path(file), name))


def load_function(file: Path, name: str) -> Callable[..., object]:
    """The function `name` of a module that may import what lies beside it. Raises AttributeError, or whatever the module raises."""
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(f"kernel_{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module: types.ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., object] = getattr(module, name)
    return found


def _call_all(function: Callable[..., object], calls: Sequence[Sequence[object]]) -> tuple[int, str]:
    for call in calls:
        returned = function(*call)
        if returned is not None:
            return words.RETURNED, f"the kernel returned a {type(returned).__name__}; it has to fill its outputs, which come last, and to return nothing"
    return words.DONE, ""


def _placed(value: object, side: memoryview) -> object:
    """An argument in a slot."""
    if isinstance(value, list) and any(isinstance(item, Part) for item in value):
        return [_placed(item, side) for item in value]
    if not isinstance(value, Part):
        return value
    count = math.prod(value.shape)
    return np.frombuffer(side, dtype=value.dtype, count=count, offset=value.offset).reshape(value.shape)


def _said(error: Exception) -> str:
    """Type and message, with the innermost line."""
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__}: {error} ({frames[-1] if frames else 'no line'})"


def _receive(channel: socket.socket) -> tuple[int, ...] | None:
    head = _exactly(channel, _WORD)
    if head is None:
        return None
    (count,) = struct.unpack("<q", head)
    body = _exactly(channel, count * _WORD)
    return None if body is None else struct.unpack(f"<{count}q", body)


def _exactly(channel: socket.socket, count: int) -> bytes | None:
    data = bytearray()
    while len(data) < count:
        part = channel.recv(count - len(data))
        if not part:
            return None
        data += part
    return bytes(data)
