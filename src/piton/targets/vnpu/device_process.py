"""The device process as the parent sees it: requests, answers, and its end."""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass

from pydantic import ValidationError

from piton.core.errors import EvaluatorError, ProcessLostError
from piton.core.execution import NO_PROBE, Probe
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role, Runner, RunningProcess
from piton.core.timeline import TimelineRequest
from piton.targets.vnpu import wire
from piton.targets.vnpu.code_process import CodeProcess, CodeProgram
from piton.targets.vnpu.log import CallLog
from piton.targets.vnpu.wire import Type

REQUEST_S = 60.0
"""Bound of a request that is answered at once unless a launch is in progress."""
_STATE_SAMPLES, _STATE_PAUSE_S = 10, 0.02
_END_S = 10.0
"""After its channel was closed: how long its end may take to be told. Nothing waits for it but code that closed the channel itself."""


@dataclass(frozen=True)
class LastWords:
    """What a dying device process told."""

    signal: int
    address: int
    is_raw_store: bool
    kernel: str
    code: tuple[int, ...] = ()
    """Offsets in the device library, innermost call first."""


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


@dataclass(frozen=True)
class DeviceProgram:
    """What to start: the executable, its device library, and the descriptors it is given."""

    executable: str
    library: str
    memfd: int
    host_channel: socket.socket
    """The device's end of its channel to the host process; closed here once the process has it."""
    limits: Limits
    code_executable: str = ""
    """Runs the device code in a process of its own; empty: it shares the engine's."""


class DeviceProcess:
    """A running `vnpu-device`."""

    def __init__(self, program: DeviceProgram, runner: Runner) -> None:
        """Start it and wait until it is ready. Raises EvaluatorError when it does not start."""
        self._code = CodeProcess(CodeProgram(program.code_executable, program.library, program.limits), runner) if program.code_executable else None
        self._channel, theirs = socket.socketpair()
        with theirs, program.host_channel:
            self._process = _start(program, theirs, runner, self._code)
        if self._code is not None:
            self._code.hand_over()
        self._expect_ready()

    def configure(self, *, auto_sync: bool, is_timing_only: bool, is_pessimistic: bool = False, budget_cycles: int, memory_bytes: int, chip_table: str) -> None:
        """Options of the next case. Raises EvaluatorError when the chip's table is not accepted."""
        table = chip_table.encode()
        self._ask(Type.CONFIGURE, struct.pack("<BBBQQI", auto_sync, is_timing_only, is_pessimistic, budget_cycles, memory_bytes, len(table)) + table)

    def begin_case(self) -> None:
        """Forget every allocation; the second-level cache is cold."""
        self._ask(Type.BEGIN_CASE)

    def allocate(self, nbytes: int, *, is_mutable: bool, is_defined: bool) -> int:
        """Address of a new allocation of the parent's; 0 when there is no room."""
        (address,) = _unpacked(struct.Struct("<Q"), self._ask(Type.ALLOCATE, struct.pack("<QBB", nbytes, is_mutable, is_defined)))
        return int(address)

    def begin_call(self, copy_allowance_bytes: int, probe: Probe = NO_PROBE) -> None:
        """From here on launches and copies are accepted."""
        self._ask(Type.BEGIN_CALL, struct.pack("<QBBB", copy_allowance_bytes, probe.launches_do_nothing, probe.repeats_answers, probe.poison))

    def end_call(self, timeout_s: float = REQUEST_S) -> CallLog:
        """From here on nothing changes any more; what happened since `begin_call`."""
        try:
            log = CallLog.model_validate_json(self._ask(Type.END_CALL, timeout_s=timeout_s).decode(errors="replace"))
        except ValidationError:
            raise DeviceForgedError("a log that cannot be read") from None
        if log.is_code_gone and self._code is not None:
            raise self._end_of_code(self._code)
        return log

    def describe(self, address: int, nbytes: int) -> Description:
        """What the allocation table says about [address, address + nbytes)."""
        body = self._ask(Type.DESCRIBE, struct.pack("<QQ", address, nbytes))
        live, start, size, is_host, is_mutable, undefined, unstored = _unpacked(wire.DESCRIPTION, body)
        return Description(bool(live), start, size, bool(is_host), bool(is_mutable), undefined, unstored)

    def record(self, request: TimelineRequest | None) -> None:
        """Whether the launches of the calls from here on are recorded."""
        wanted = request or TimelineRequest()
        blocks = wanted.blocks
        self._ask(Type.RECORD, struct.pack(f"<BII{len(blocks)}I", request is not None, wanted.instructions, len(blocks), *blocks))

    def timeline(self, number: int) -> bytes | None:
        """The timeline of a launch of the call that ended last, counted from 0 among those that were not cut; None when it was not recorded."""
        body = self._ask(Type.TIMELINE, struct.pack("<I", number))
        if not body or body[0] > 1:
            raise DeviceForgedError("a timeline that cannot be read")
        return body[1:] if body[0] else None

    def is_asleep(self) -> bool:
        """True when the process waits for something instead of computing; a simulation, however slow, never does. Nor does device code beside an engine."""
        processes = [self._process.pid, *([self._code.pid] if self._code is not None else [])]
        for _ in range(_STATE_SAMPLES):
            if any(_state(pid) not in "ST" for pid in processes):
                return False
            time.sleep(_STATE_PAUSE_S)
        return True

    def close(self) -> ProcessResult:
        """End the process."""
        self._channel.close()
        result = self._process.wait(0.0) or self._process.kill()
        if self._code is not None:
            self._code.close()
        return result

    def _ask(self, kind: Type, body: bytes = b"", timeout_s: float = REQUEST_S) -> bytes:
        try:
            wire.send_frame(self._channel, kind, body)
        except wire.ChannelClosedError:
            pass  # its last words may still be waiting to be read
        answer, content = self._receive(timeout_s)
        if answer == Type.REFUSED and kind in (Type.END_CALL, Type.DESCRIBE, Type.TIMELINE):
            raise DeviceForgedError(f"a refusal of {kind.name.lower()}")
        if answer == Type.REFUSED:
            raise EvaluatorError("the device process refused a request", found=content[4:].decode(errors="replace"), where=kind.name.lower())
        return content

    def _receive(self, timeout_s: float) -> tuple[int, bytes]:
        try:
            kind, body = wire.receive_frame(self._channel, timeout_s)
        except wire.ChannelClosedError:
            raise DeviceGoneError(None, self._process.wait(_END_S)) from None  # its channel is closed, so that its end is near
        except wire.ChannelTimeoutError:
            raise DeviceBusyError from None
        if kind == Type.DIED:
            raise DeviceGoneError(_last_words(body))
        if kind not in (Type.READY, Type.ANSWER, Type.REFUSED):
            raise DeviceForgedError(f"a message of kind {kind}")
        return kind, body

    @staticmethod
    def _end_of_code(code: CodeProcess) -> Exception:
        """Why the process of the device code ended. What it sent beside its last words reaches nobody, and is no excuse."""
        frame = code.last_frame()
        if frame is None:
            return DeviceGoneError(None, code.end(_END_S))
        kind, body = frame
        return DeviceGoneError(_last_words(body)) if kind == Type.DIED else DeviceForgedError(f"a message of kind {kind}")

    def _expect_ready(self) -> None:
        try:
            kind, body = self._receive(REQUEST_S)
        except (DeviceGoneError, DeviceBusyError):
            result = self.close()
            raise ProcessLostError("the device process did not start", found=result.stderr.strip()[-500:] or f"exit code {result.exit_code}") from None
        if kind != Type.READY or body != struct.pack("<I", wire.VERSION):
            raise EvaluatorError("the device process speaks another version", action="remove Piton's cache folder and run again")


def _start(program: DeviceProgram, theirs: socket.socket, runner: Runner, code: CodeProcess | None) -> RunningProcess:
    numbers = (program.memfd, theirs.fileno(), program.host_channel.fileno())
    shared = code.fds if code is not None else ()
    argv = (program.executable, *map(str, numbers), program.library, *map(str, shared))
    readable = (program.executable,) if code is not None else (program.executable, program.library)
    job = ProcessJob(Role.DEVICE, argv, cwd="/", readable=readable, pass_fds=(*numbers, *shared), limits=program.limits)
    return runner.start(job)


def _last_words(body: bytes) -> LastWords:
    signal, address, is_raw_store, count, *frames, length = _unpacked(wire.DIED, body[: wire.DIED.size])
    name = body[wire.DIED.size : wire.DIED.size + length].decode(errors="replace")
    return LastWords(signal, address, bool(is_raw_store), name, tuple(frames[:count]))


def _unpacked(layout: struct.Struct, body: bytes) -> tuple[int, ...]:
    """The fields of an answer. Raises DeviceForgedError for a body of another size."""
    if len(body) != layout.size:
        raise DeviceForgedError(f"{len(body)} bytes instead of {layout.size}")
    return layout.unpack(body)


def _state(pid: int) -> str:
    """The kernel's letter for what a process does (R: runs, S: waits, T: is stopped); `-` when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "-"
