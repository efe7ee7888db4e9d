"""The parent's ends of the zygote and of its supervisors."""

from __future__ import annotations

import contextlib
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path

import piton
from piton.core.errors import EvaluatorError, ProcessLostError
from piton.core.protocols import ProcessResult
from piton.evaluate.sandbox import wire
from piton.evaluate.sandbox.confine import Job
from piton.evaluate.sandbox.control_groups import Group

_START_S = 120.0
"""A zygote that imports torch from a cold disk takes tens of seconds."""
_KILL_S = 30.0
_CLOSE_POLL_S = 0.01
_ENDING_S = 2.0
"""From the end of its channels to that of a zygote; spent in vain only where a supervisor was ended by itself."""

_BOOT = "import sys; sys.path.insert(0, {root!r}); from piton.evaluate.sandbox.zygote import main; main({fd}, {preload!r})"


class SupervisedProcess:
    """A started process and what it starts; implements core.protocols.RunningProcess."""

    def __init__(self, control: socket.socket, pid: int, private: str, group: Group) -> None:
        self._control = control
        self._pid = pid
        self._private = private
        self._group = group
        self._started = time.monotonic()
        self._result: ProcessResult | None = None
        self._reading = threading.Lock()
        """A run that is being stopped kills from one thread what another one waits for; only one of them may read the end."""
        self.leftover = 0
        """Processes that were still there when the job ended (and were killed)."""

    @property
    def pid(self) -> int:
        """Process id as this process sees it."""
        return self._pid

    @property
    def has_ended(self) -> bool:
        """True once its result was read."""
        return self._result is not None

    def poll(self) -> ProcessResult | None:
        """The result if it has ended."""
        return self.wait(0.0)

    def wait(self, timeout_s: float) -> ProcessResult | None:
        """Wait up to `timeout_s`; None if it still runs."""
        if self._result is None and self._has_news(timeout_s):
            self._finish()
        return self._result

    def kill(self) -> ProcessResult:
        """Kill everything the job started, and say how it ended. Raises EvaluatorError when the supervisor does not answer."""
        if self._result is None:
            try:
                self._control.sendall(b"k")
            except OSError:  # it has just ended by itself
                pass
            if not self._has_news(_KILL_S):
                raise EvaluatorError(f"process {self._pid} could not be ended within {_KILL_S:.0f} s")
            self._finish()
        assert self._result is not None
        return self._result

    def _has_news(self, timeout_s: float) -> bool:
        try:
            return is_readable(self._control, timeout_s)
        except ValueError:  # another thread has read the end and closed the socket
            return True

    def _finish(self) -> None:
        with self._reading:
            if self._result is None:
                self._take_end()

    def _take_end(self) -> None:
        try:
            report, _ = wire.receive(self._control)
        except (wire.ClosedError, OSError):
            report = {}  # the supervisor itself was ended: possible where the job shares its user
            self._group.kill()
            self._group.remove()
        self._control.close()
        if self._private:
            shutil.rmtree(self._private, ignore_errors=True)
        self._result = self._read(report)
        self.leftover = as_int(report.get("leftover")) or 0
        if report.get("setup_error"):
            raise EvaluatorError("a sandboxed process could not be set up", found=str(report["setup_error"]))
        if remaining := as_int(report.get("remaining")):
            raise EvaluatorError("a sandboxed process left others that could not be ended", expected="none", found=str(remaining))

    def _read(self, report: dict[str, object]) -> ProcessResult:
        return ProcessResult(
            exit_code=as_int(report.get("exit_code")),
            signal=as_int(report.get("signal", 9)),
            is_timed_out=False,
            stdout=str(report.get("stdout", "")),
            stderr=str(report.get("stderr", "")),
            seconds=time.monotonic() - self._started,
            cpu_s=as_float(report.get("cpu_s")),
            is_flooded=report.get("is_flooded") is True,
            is_bounded=report.get("is_bounded") is True,
        )


class ZygoteClient:
    """Starts one zygote when it is first needed and sends it requests; usable from several threads."""

    def __init__(self, preload: tuple[str, ...]) -> None:
        self._preload = preload
        self._lock = threading.Lock()
        self._sock: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._running: list[SupervisedProcess] = []
        self._early: threading.Thread | None = None

    def start_early(self) -> None:
        """Start the zygote without waiting for it, so that its imports overlap with what the caller does until its first job."""
        if self._early is None:
            self._early = threading.Thread(target=self._start_quietly, name="zygote", daemon=True)
            self._early.start()

    def start(self, job: Job, fds: tuple[int, ...], private: str) -> SupervisedProcess:
        """Start `job` with `fds`; its private folder is removed when it ends. A zygote that was ended is replaced, once.

        Raises ProcessLostError when that one is gone too, or the supervisor of the job is.
        """
        group = Group(job.group_folders)
        try:
            control, pid = self._begin(job, fds)
        except EvaluatorError:
            group.remove()
            raise
        process = SupervisedProcess(control, pid, private, group)
        with self._lock:
            self._running = [*(other for other in self._running if not other.has_ended), process]
        return process

    def _begin(self, job: Job, fds: tuple[int, ...]) -> tuple[socket.socket, int]:
        """The socket to the job's supervisor, and the job's process id."""
        used = self._process
        try:
            return self._ask(job, fds)
        except ProcessLostError:
            if used is None or not _ends(used):  # it lives, or none was there before: another one would fare no better
                raise
            return self._ask(job, fds)

    def _ask(self, job: Job, fds: tuple[int, ...]) -> tuple[socket.socket, int]:
        ours, theirs = socket.socketpair()
        try:
            with self._lock, theirs:
                wire.send(self._connected(), asdict(job), (theirs.fileno(), *fds))
            return ours, _first_pid(ours)
        except OSError as error:
            ours.close()
            raise ProcessLostError("the process that starts sandboxed processes is gone", found=str(error)) from None
        except EvaluatorError:
            ours.close()
            raise

    def _start_quietly(self) -> None:
        with contextlib.suppress(EvaluatorError, OSError), self._lock:  # whoever needs it tries again, and is told
            self._connected()

    def close(self) -> None:
        """End every job and the zygote; safe to call twice."""
        while self._early is not None and self._early.is_alive():  # nobody waits for imports that nobody needs
            if self._process is not None:
                self._process.kill()
            self._early.join(_CLOSE_POLL_S)
        for process in self._running:
            with contextlib.suppress(EvaluatorError):  # one that never came up, or does not end; the others and the zygote still have to
                process.kill()
        self._running = []
        if self._sock is not None:
            self._sock.close()
        if self._process is not None:
            self._process.wait()
        self._sock = self._process = None

    def _connected(self) -> socket.socket:
        if self._process is not None and self._process.poll() is not None:
            self._forget()
        if self._sock is None:
            self._sock, theirs = socket.socketpair()
            with theirs:
                self._process = _boot(theirs.fileno(), self._preload)
            _expect_ready(self._sock)
        return self._sock

    def _forget(self) -> None:
        """Let go of a zygote that has ended; what it had started lives on under its supervisors."""
        if self._sock is not None:
            self._sock.close()
        self._sock = self._process = None


def _boot(fd: int, preload: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """Exec a fresh isolated Python. Its environment is what every forked child's /proc/<pid>/environ shows, so it holds nothing of ours."""
    root = str(Path(piton.__file__).resolve().parent.parent)
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TMPDIR": "/tmp", "HOME": "/tmp"}
    command = [sys.executable, "-I", "-c", _BOOT.format(root=root, fd=fd, preload=preload)]
    return subprocess.Popen(command, pass_fds=(fd,), env=environment, cwd="/", stdin=subprocess.DEVNULL, start_new_session=True)


def _ends(process: subprocess.Popen[bytes]) -> bool:
    """True when it has ended, or is about to: the kernel closes the channels of a killed process before its end is told."""
    try:
        process.wait(_ENDING_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _expect_ready(sock: socket.socket) -> None:
    if not is_readable(sock, _START_S):
        raise ProcessLostError(f"the zygote did not start within {_START_S:.0f} s")
    try:
        wire.receive(sock)
    except (wire.ClosedError, OSError):
        raise ProcessLostError("the zygote ended while it started", action="run the same command again and look at its messages above") from None


def _first_pid(control: socket.socket) -> int:
    try:
        message, _ = wire.receive(control)
    except (wire.ClosedError, OSError):
        raise ProcessLostError("the supervisor of a sandboxed process ended while it started") from None
    pid = as_int(message.get("pid"))
    if pid is None:
        raise EvaluatorError("a sandboxed process could not be started", found=str(message))
    return pid


def is_readable(sock: socket.socket, timeout_s: float) -> bool:
    """True when there is something to read (or the end of the stream) within `timeout_s`."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(max(0, round(timeout_s * 1000))))


def as_int(value: object) -> int | None:
    """`value` if it is an int; bool and everything else count as absent."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_float(value: object) -> float:
    """`value` if it is a number; everything else counts as 0."""
    return float(value) if isinstance(value, (int, float)) else 0.0
