"""The device process as the parent sees it: requests, answers, and its end."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from piton.core.errors import EvaluatorError, ProcessLostError
from piton.core.execution import NO_PROBE, Probe
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role, Runner, RunningProcess
from piton.core.timeline import TimelineRequest
from piton.targets.vnpu import wire
from piton.targets.vnpu.code_process import CodeProcess, CodeProgram
from piton.targets.vnpu.device_messages import (
    CallOptions,
    Description,
    DeviceBusyError,
    DeviceForgedError,
    DeviceGoneError,
    Wanted,
    allocation,
    configuration,
    description_of,
    last_words,
    read_address,
    read_description,
)
from piton.targets.vnpu.log import CallLog
from piton.targets.vnpu.wire import Type

REQUEST_S = 60.0
"""Bound of a request that is answered at once unless a launch is in progress."""
_BURST = 256
"""Requests sent before their answers are read: both fit a socket's buffer, or two processes would wait for each other."""
_STATE_SAMPLES, _STATE_PAUSE_S = 10, 0.02
_END_S = 10.0
"""After its channel was closed: how long its end may take to be told. Nothing waits for it but code that closed the channel itself."""


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
        """Start it; `wait_until_ready` comes before anything else. Raises EvaluatorError when it can't be started."""
        self._has_chip = False
        self._unread = 0
        self._code = CodeProcess(CodeProgram(program.code_executable, program.library, program.limits), runner) if program.code_executable else None
        self._channel, theirs = socket.socketpair()
        with theirs, program.host_channel:
            try:
                self._process = _start(program, theirs, runner, self._code)
            except BaseException:
                self._channel.close()
                if self._code is not None:
                    self._code.close()
                raise
        if self._code is not None:
            self._code.hand_over()

    def wait_until_ready(self) -> None:
        """Return when it takes requests. Raises ProcessLostError when it does not start."""
        try:
            kind, body = self._receive(REQUEST_S)
        except (DeviceGoneError, DeviceBusyError):
            result = self.close()
            raise ProcessLostError("the device process did not start", found=result.stderr.strip()[-500:] or f"exit code {result.exit_code}") from None
        if kind != Type.READY or body != struct.pack("<I", wire.VERSION):
            raise EvaluatorError("the device process speaks another version", action="remove Piton's cache folder and run again")

    def open_case(self, options: CallOptions, wanted: Sequence[Wanted]) -> list[int]:
        """Set `options` and forget every allocation; the second-level cache is cold. An address for each of the parent's, 0 where there is no room.

        Raises EvaluatorError when the chip's table is not accepted.
        """
        setting = configuration(options, has_chip=self._has_chip)
        self._has_chip = True
        return [read_address(answer) for answer in self._ask_all([setting, (Type.BEGIN_CASE, b""), *map(allocation, wanted)])[2:]]

    def begin_call(self, copy_allowance_bytes: int, probe: Probe = NO_PROBE) -> None:
        """From here on launches and copies are accepted.

        Nobody waits for the answer: the device reads what the parent sent before it looks at what a host process sends. The next request reads it.
        """
        body = struct.pack("<QBBB", copy_allowance_bytes, probe.launches_do_nothing, probe.repeats_answers, probe.poison)
        self._send((Type.BEGIN_CALL, body))
        self._unread += 1

    def end_call(self, timeout_s: float = REQUEST_S, ranges: Sequence[tuple[int, int]] = ()) -> tuple[CallLog, list[Description]]:
        """From here on nothing changes any more; what happened since `begin_call`, and what the allocation table says about `ranges` (address, bytes)."""
        body, *described = self._ask_all([(Type.END_CALL, b""), *map(description_of, ranges)], timeout_s)
        try:
            log = CallLog.model_validate_json(body.decode(errors="replace"))
        except ValidationError:
            raise DeviceForgedError("a log that cannot be read") from None
        if log.is_code_gone and self._code is not None:
            raise self._end_of_code(self._code)
        return log, [read_description(item) for item in described]

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
        return self._ask_all([(kind, body)], timeout_s)[0]

    def _ask_all(self, requests: Sequence[tuple[Type, bytes]], timeout_s: float = REQUEST_S) -> list[bytes]:
        """The answers to several requests, in their order; sent together, since each exchange costs two changes of process."""
        answers: list[bytes] = []
        for start in range(0, len(requests), _BURST):
            burst = requests[start : start + _BURST]
            self._send(*burst)
            answers += [self._answer(kind, timeout_s) for kind, _ in burst]
        return answers

    def _send(self, *requests: tuple[Type, bytes]) -> None:
        try:
            wire.send_frames(self._channel, requests)
        except wire.ChannelClosedError:
            pass  # its last words may still be waiting to be read

    def _answer(self, kind: Type, timeout_s: float) -> bytes:
        for _ in range(self._unread):
            self._unread -= 1
            self._read(Type.BEGIN_CALL, timeout_s)
        return self._read(kind, timeout_s)

    def _read(self, kind: Type, timeout_s: float) -> bytes:
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
            raise DeviceGoneError(last_words(body))
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
        return DeviceGoneError(last_words(body)) if kind == Type.DIED else DeviceForgedError(f"a message of kind {kind}")


def _start(program: DeviceProgram, theirs: socket.socket, runner: Runner, code: CodeProcess | None) -> RunningProcess:
    numbers = (program.memfd, theirs.fileno(), program.host_channel.fileno())
    shared = code.fds if code is not None else ()
    argv = (program.executable, *map(str, numbers), program.library, *map(str, shared))
    readable = (program.executable,) if code is not None else (program.executable, program.library)
    job = ProcessJob(Role.DEVICE, argv, cwd="/", readable=readable, pass_fds=(*numbers, *shared), limits=program.limits)
    return runner.start(job)


def _state(pid: int) -> str:
    """The kernel's letter for what a process does (R: runs, S: waits, T: is stopped); `-` when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "-"
