"""The host process as the parent sees it: a call goes in, claims about outputs or a failure come out. Nothing it says is believed without a check."""

from __future__ import annotations

import json
import os
import signal
import socket
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piton.core.errors import ProcessLostError
from piton.core.protocols import Limits, ProcessResult, Role, Runner
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.targets.vnpu import wire
from piton.targets.vnpu.host_end import after_the_deadline, how_it_ended, read_last_words
from piton.targets.vnpu.places import Locate, nowhere

ENTRY = "piton.targets.vnpu.host_worker:serve"
_START_S = 60.0
_END_S = 5.0
"""After its channel was closed: how long its end may take to be told. Nothing waits for it but code that closed the channel itself."""
_WORDS_S = 1.0
"""After the deadline: how long the process has for saying where it is."""
_TEXT = 2000
"""Characters kept of any text that comes from a host process."""


Extent = Annotated[int, Field(ge=-(2**63), lt=2**63)]
"""A number that torch itself can hold."""


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
    is_killed: bool = False
    """A SIGKILL ended it that none of its bounds explains."""


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
    locate: Locate = nowhere
    """Finds places in the submission's host library; for the parent, the process does not get it."""


class HostProcess:
    """A running host worker."""

    def __init__(self, program: HostProgram, runner: Runner) -> None:
        """Fork it; `wait_until_ready` comes before the first call. Raises EvaluatorError when it can't be started."""
        self._counter = 0
        self._locate = program.locate
        self._folder = program.package_folder
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
        try:
            with theirs, program.device_channel:
                self._process = runner.fork_worker(Role.HOST, ENTRY, arguments, fds, program.limits, (program.package_folder, program.library))
        except BaseException:
            self._close_channels()
            raise
        finally:
            os.close(status_writer)

    def wait_until_ready(self) -> None:
        """Return when torch's device stands. Raises ProcessLostError when it does not start."""
        try:
            wire.receive_json(self._channel, _START_S)
        except (wire.ChannelClosedError, wire.ChannelTimeoutError, wire.IllegalMessageError):
            result = self.close()
            raise ProcessLostError("the host process did not start", found=result.stderr.strip()[-500:] or f"exit code {result.exit_code}") from None

    def call(self, arguments: list[object], deadline_s: float) -> HostResult:
        """Call the operator once and wait for the reply, an end, or the deadline."""
        self._counter += 1
        try:
            wire.send_json(self._channel, {"id": self._counter, "arguments": arguments, "deadline_s": deadline_s})
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
        self._close_channels()
        return self._process.kill()

    def _close_channels(self) -> None:
        self._channel.close()
        if self._status >= 0:
            os.close(self._status)
        self._status = -1

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
        words = read_last_words(self._status, self._folder, _WORDS_S)
        self._process.kill()
        message = f"the host code had not returned after {deadline_s:g} s of wall-clock time"
        return HostResult(failures=(after_the_deadline(message, deadline_s, words, self._locate),), is_deadline=True)

    def _ended(self) -> HostResult:
        ended = self._process.wait(_END_S)
        result = ended or self._process.kill()
        if ended is None and result.signal == signal.SIGKILL:  # our own kill: it had closed its channel and lived on
            return self._illegal("the end of its channel")
        return HostResult(failures=(how_it_ended(result, read_last_words(self._status, self._folder), self._locate),), is_killed=result.is_killed)


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
