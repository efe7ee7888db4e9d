"""What the parent makes of a host process whose channel ends, with the process played by the test."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Mapping

import pytest

from piton.core.protocols import Limits, ProcessResult
from piton.core.verdict import Cause
from piton.targets.vnpu import wire
from piton.targets.vnpu.host_process import HostProcess, HostProgram


class Ending:
    """A process that says it is ready, closes its channel, and is reaped only when it is killed: `by_signal` is what then turns out to have ended it."""

    isolation = ()
    pid = 1

    def __init__(self, by_signal: int | None) -> None:
        self._result = ProcessResult(exit_code=3 if by_signal is None else None, signal=by_signal, is_timed_out=False, stdout="", stderr="", seconds=0.0)

    def fork_worker(self, role: object, entry: str, arguments: Mapping[str, str], fds: Mapping[str, int], limits: Limits, readable: object) -> Ending:
        with socket.socket(fileno=os.dup(fds["parent"])) as channel:
            wire.send_json(channel, {"ready": True})
        return self

    def wait(self, timeout_s: float) -> None:
        """Busy with what the job left behind."""

    def kill(self) -> ProcessResult:
        return self._result


@pytest.mark.parametrize(
    ("by_signal", "cause"),
    [(signal.SIGKILL, Cause.ILLEGAL_REPLY), (signal.SIGSEGV, Cause.HOST_SIGNAL), (None, Cause.HOST_EXIT)],
    ids=["alive", "crash", "exit"],
)
def test_only_a_process_that_lived_on_without_its_channel_has_tampered(by_signal: int | None, cause: Cause) -> None:
    ours, theirs = socket.socketpair()
    host = HostProcess(HostProgram("/", "sub", "op", "lib.so", (), theirs), Ending(by_signal))  # type: ignore[arg-type]
    (found,) = host.call([], 5.0).failures
    host.close()
    ours.close()
    assert found.cause is cause
