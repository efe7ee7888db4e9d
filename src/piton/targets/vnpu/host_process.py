"""The host process as the parent sees it: a call goes in, claims about outputs or a failure come out. Nothing it says is believed without a check."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piton.core.errors import EvaluatorError
from piton.core.protocols import Limits, ProcessResult, Role, Runner
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.targets.vnpu import wire
from piton.targets.vnpu.places import Locate, calls_text

ENTRY = "piton.targets.vnpu.host_worker:serve"
_START_S = 60.0
_END_S = 2.0
_TEXT = 2000
"""Characters kept of any text that comes from a host process."""


Extent = Annotated[int, Field(ge=-(2**63), lt=2**63)]
"""A number that torch itself can hold."""


def _nowhere(_offsets: Sequence[int]) -> tuple[Place, ...]:
    return ()


class OutputClaim(BaseModel):
    """What the host process says about one value that the operator returned."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    type_name: str = Field(max_length=200)
    is_plain: bool
    """Exactly torch.Tensor, without attributes of its own."""
    device: str = Field(default="", max_length=40)
    dtype: str = Field(default="", max_length=40)
    shape: list[Extent] = Field(default_factory=list, max_length=64)
    strides: list[Extent] = Field(default_factory=list, max_length=64)
    address: int = Field(default=0, ge=0, lt=2**64)
    """Device address of the first element."""


class Failure(BaseModel):
    """An exception, or why the operator could not be called."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    phase: Literal["import", "lookup", "call"]
    type_name: str = Field(max_length=_TEXT)
    message: str = Field(max_length=_TEXT)
    file: str = Field(default="", max_length=_TEXT)
    line: int = Field(default=0, ge=0, lt=2**31)
    function: str = Field(default="", max_length=_TEXT)


class HostReply(BaseModel):
    """One reply: outputs, or a failure."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    id: int
    outputs: list[OutputClaim] | None = Field(default=None, max_length=1024)
    failure: Failure | None = None


@dataclass(frozen=True)
class HostResult:
    """What became of one request. After a failure the process is not used again: its channels may be broken and its state half changed."""

    claims: tuple[OutputClaim, ...] = ()
    failures: tuple[Outcome, ...] = ()
    is_deadline: bool = False


@dataclass(frozen=True)
class HostProgram:
    """What a host process is given."""

    package_folder: str
    """Folder that holds the importable package."""
    package: str
    operator: str
    library: str
    """libpiton_npu.so."""
    platform: tuple[int, ...]
    """One figure per enum piton_platform."""
    device_channel: socket.socket
    """The host's end of its channel to the device process; closed here once the process has it."""
    limits: Limits = field(default_factory=Limits)
    locate: Locate = _nowhere
    """Finds places in the submission's host library; for the parent, the process does not get it."""


@dataclass(frozen=True)
class Fault:
    """What a crashing host process told about its end."""

    signal: int
    address: int
    """0 when the signal has none."""
    is_device_pointer: bool
    code: tuple[int, ...]
    """Offsets in the submission's library, innermost call first."""


class HostProcess:
    """A running host worker."""

    def __init__(self, program: HostProgram, runner: Runner) -> None:
        """Fork it and wait until torch's device stands. Raises EvaluatorError when it does not start."""
        self._counter = 0
        self._locate = program.locate
        self._channel, theirs = socket.socketpair()
        self._status, status_writer = os.pipe()
        arguments = {
            "package_folder": program.package_folder,
            "package": program.package,
            "operator": program.operator,
            "library": program.library,
            "platform": json.dumps(program.platform),
        }
        fds = {"parent": theirs.fileno(), "device": program.device_channel.fileno(), "status": status_writer}
        with theirs, program.device_channel:
            self._process = runner.fork_worker(Role.HOST, ENTRY, arguments, fds, program.limits, (program.package_folder, program.library))
        os.close(status_writer)
        self._expect_ready()

    def call(self, arguments: list[object], deadline_s: float) -> HostResult:
        """Call the operator once and wait for the reply, an end, or the deadline."""
        self._counter += 1
        try:
            wire.send_json(self._channel, {"id": self._counter, "arguments": arguments})
            body = wire.receive_json(self._channel, deadline_s)
            return self._illegal("more than one reply") if wire.has_more(self._channel) else self._read(body)
        except wire.ChannelClosedError:
            return self._ended()
        except wire.ChannelTimeoutError:
            return self._deadline(deadline_s)
        except wire.IllegalMessageError as error:
            return self._illegal(str(error))

    def has_spoken(self) -> bool:
        """True when it sent something that nobody asked for, such as a reply to a request that is still to come."""
        return wire.has_more(self._channel)

    def close(self) -> ProcessResult:
        """End the process and everything it started."""
        self._channel.close()
        result = self._process.kill()
        if self._status >= 0:
            os.close(self._status)
        self._status = -1
        return result

    def _expect_ready(self) -> None:
        try:
            wire.receive_json(self._channel, _START_S)
        except (wire.ChannelClosedError, wire.ChannelTimeoutError, wire.IllegalMessageError):
            result = self.close()
            raise EvaluatorError("the host process did not start", found=result.stderr.strip()[-500:] or f"exit code {result.exit_code}") from None

    def _read(self, body: bytes) -> HostResult:
        try:
            reply = HostReply.model_validate_json(body)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            return self._illegal(f"{first['msg']} at {'.'.join(map(str, first['loc']))}")
        if reply.id != self._counter or (reply.outputs is None) == (reply.failure is None):
            return self._illegal(f"reply {reply.id} to request {self._counter}")
        if reply.failure is not None:
            return HostResult(failures=(_failed(reply.failure),))
        return HostResult(claims=tuple(reply.outputs or ()))

    def _illegal(self, why: str) -> HostResult:
        return HostResult(failures=(outcome(Cause.ILLEGAL_REPLY, f"the host process sent what no worker of ours sends: {why}"[:_TEXT]),))

    def _deadline(self, deadline_s: float) -> HostResult:
        self._process.kill()
        message = f"the host code had not returned after {deadline_s:g} s of wall-clock time"
        return HostResult(failures=(outcome(Cause.HOST_DEADLINE, message, deadline_s=deadline_s),), is_deadline=True)

    def _ended(self) -> HostResult:
        ended = self._process.wait(_END_S)
        result = ended or self._process.kill()
        if ended is None and result.signal == signal.SIGKILL:  # our own kill: it had closed its channel and lived on
            return self._illegal("the end of its channel")
        return HostResult(failures=(_how_it_ended(result, self._fault(), self._locate),))

    def _fault(self) -> Fault | None:
        """Last words about a crash. A submission can write them too; they only explain."""
        os.set_blocking(self._status, False)
        try:
            words = os.read(self._status, wire.FAULT.size)
        except BlockingIOError:
            return None
        if len(words) != wire.FAULT.size:
            return None
        number, address, is_device, count, *frames = wire.FAULT.unpack(words)
        return Fault(number, address, bool(is_device), tuple(frames[:count]))


def _failed(failure: Failure) -> Outcome:
    """A failure that the worker reports; which phase it happened in decides what it is."""
    place = Place(file=failure.file, line=failure.line, instruction=failure.function)
    text = f"{failure.type_name}: {failure.message}"[:_TEXT]
    if failure.phase == "import":
        return outcome(Cause.LOAD_FAILED, f"the package could not be imported: {text}", place=place)
    if failure.phase == "lookup":
        return outcome(Cause.OPERATOR_MISSING, failure.message[:_TEXT], place=place)
    cause = Cause.HOST_MEMORY if failure.type_name == "MemoryError" else Cause.HOST_EXCEPTION
    return outcome(cause, text, place=place)


def _how_it_ended(result: ProcessResult, fault: Fault | None, locate: Locate) -> Outcome:
    tail = result.stderr.strip()[-500:]
    if result.is_flooded:
        text = "the host code printed more than a process may and was ended"
        return outcome(Cause.OUTPUT_FLOOD, text, allowed_bytes=Limits.flood_bytes)
    if result.signal is None:
        text = f"the host process ended by itself with exit code {result.exit_code} instead of returning from the operator"
        return outcome(Cause.HOST_EXIT, f"{text}\n{tail}".strip(), exit_code=result.exit_code if result.exit_code is not None else -1)
    if fault is not None and fault.signal == result.signal:
        return _crashed(fault, tail, locate(fault.code))
    if result.signal == signal.SIGSYS:
        return _started_a_process(Place(), "")
    if result.signal == signal.SIGXCPU:
        return outcome(Cause.HOST_DEADLINE, "the host process used up its processor time", signal=result.signal)
    return outcome(Cause.HOST_SIGNAL, f"the host process was ended by {_signal_name(result.signal)}\n{tail}".strip(), signal=result.signal)


def _crashed(fault: Fault, tail: str, places: Sequence[Place]) -> Outcome:
    """A signal that the process reported itself, with the innermost place inside the submission."""
    place, calls = (places[0] if places else None), calls_text(places)
    if fault.signal == signal.SIGSYS:
        return _started_a_process(place, calls)
    numbers: dict[str, int | str] = {"signal": fault.signal}
    if fault.signal in (signal.SIGSEGV, signal.SIGBUS):
        numbers["fault_address"] = f"{fault.address:#x}"
    if fault.is_device_pointer:
        text = f"the host code touched device memory through a pointer; device pointers are for kernels only{calls}"
        return outcome(Cause.HOST_DEVICE_ACCESS, text, place=place, **numbers)
    text = f"the host code was ended by {_signal_name(fault.signal)}{_MEANING.get(fault.signal, '')}{calls}"
    return outcome(Cause.HOST_SIGNAL, f"{text}\n{tail}".strip(), place=place, **numbers)


def _started_a_process(place: Place | None, calls: str) -> Outcome:
    text = f"the host code tried to start a process; an operator works in the process that calls it, with threads if it needs them{calls}"
    return outcome(Cause.PROCESS_STARTED, text, place=place, signal=int(signal.SIGSYS))


_MEANING: dict[int, str] = {
    signal.SIGSEGV: ", an access to memory that it does not have",
    signal.SIGBUS: ", an access beyond the end of a mapped file or one that is not aligned",
    signal.SIGFPE: ", an integer division by zero or overflow",
    signal.SIGILL: ", an illegal instruction",
    signal.SIGABRT: ": abort() was called, by a failed assertion or an exception that nobody caught",
}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
