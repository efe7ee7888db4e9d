"""The process that runs device code when the engine has one of its own.

It shares one small memory with the engine (vnpu_cpp/engine/remote/channel.h) and has a channel to the parent for its last words; it holds neither device
memory nor anything else that decides a result. What it sends is foreign.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from dataclasses import dataclass

from piton.core.errors import EvaluatorError, ProcessLostError
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role, Runner, RunningProcess
from piton.targets.vnpu import wire
from piton.targets.vnpu.wire import Type

RING_BYTES = 1 << 19
"""Size of the shared memory; engine/remote/channel.h has the same."""
_START_S = 60.0
_WORDS_S = 2.0
"""After its end was seen: how long its last words may take to be read."""


@dataclass(frozen=True)
class CodeProgram:
    """What to start: the executable, its device library, and its bounds."""

    executable: str
    library: str
    limits: Limits


class CodeProcess:
    """A running `piton-code`."""

    def __init__(self, program: CodeProgram, runner: Runner) -> None:
        """Start it and wait until it is ready. Raises EvaluatorError when it does not start."""
        self.ring = shared_memory()
        self.control, code_control = socket.socketpair()
        self._channel, theirs = socket.socketpair()
        with theirs, code_control:
            fds = (self.ring, code_control.fileno(), theirs.fileno())
            argv = (program.executable, *(str(number) for number in fds), program.library)
            job = ProcessJob(Role.DEVICE, argv, cwd="/", readable=(program.executable, program.library), pass_fds=fds, limits=program.limits)
            try:
                self._process: RunningProcess = runner.start(job)
            except BaseException:
                self.hand_over()
                self._channel.close()
                raise
        self._expect_ready()

    @property
    def pid(self) -> int:
        """Process id as this process sees it."""
        return self._process.pid

    @property
    def fds(self) -> tuple[int, int]:
        """What the engine is given: the shared memory, and its end of the connection that tells of this process's end."""
        return self.ring, self.control.fileno()

    def hand_over(self) -> None:
        """The engine has its descriptors: give up ours."""
        self.control.close()
        if self.ring >= 0:
            os.close(self.ring)
        self.ring = -1

    def last_frame(self) -> tuple[int, bytes] | None:
        """What it sent before it ended; None when it sent nothing."""
        try:
            return wire.receive_frame(self._channel, _WORDS_S)
        except (wire.ChannelClosedError, wire.ChannelTimeoutError):
            return None

    def end(self, timeout_s: float) -> ProcessResult | None:
        """How it ended, if it has."""
        return self._process.wait(timeout_s)

    def close(self) -> None:
        """End the process."""
        self.hand_over()
        self._channel.close()
        self._process.kill()

    def _expect_ready(self) -> None:
        try:
            kind, body = wire.receive_frame(self._channel, _START_S)
        except (wire.ChannelClosedError, wire.ChannelTimeoutError):
            self.hand_over()
            self._channel.close()
            result = self._process.kill()
            found = result.stderr.strip()[-500:] or f"exit code {result.exit_code}"
            raise ProcessLostError("the process of the device code did not start", found=found) from None
        if kind != Type.READY or body != struct.pack("<I", wire.VERSION):
            raise EvaluatorError("the process of the device code speaks another version", action="remove Piton's cache folder and run again")


def shared_memory() -> int:
    """A memfd whose size nobody can change, so that no access to it can fault."""
    fd = os.memfd_create("piton-ring", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, RING_BYTES)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return fd
