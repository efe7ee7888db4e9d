"""The process of a kernel as the parent sees it: a batch goes in, a time comes out that the parent took itself.

Problem: the process may lie, answer early and go on working, prepare the next batch in between, or use more cores than one.
Approach: it stands still (SIGSTOP) at all times but from the wake-up for a batch to its reply, so that no work happens outside of what is measured; it is
bound to one core; what its threads, its processor clock and its cores look like is read from the kernel while it stands.
Limits: a process that the parent may not signal can't be used; without a filter of system calls it can choose its cores, which is then a finding.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from piton.core.errors import EvaluatorError
from piton.core.protocols import Limits, ProcessResult, Runner, RunningProcess
from piton.core.verdict import Cause, Outcome, outcome
from piton.targets.cpu import words
from piton.targets.cpu.arena import Arena
from piton.targets.vnpu.host_end import NO_WORDS, how_it_ended
from piton.targets.vnpu.places import nowhere

_STOP_S = 60.0
"""On a machine with much other work a thread may have to wait for the core before it sees its stop signal."""
_END_S = 10.0
"""After a closed channel: how long its end may take to be reported there; a process that has only closed its channel costs as much."""
_LOOK_S = 0.0002
_CAUSES = {words.THROWN: Cause.HOST_EXCEPTION, words.NOT_LOADED: Cause.LOAD_FAILED, words.RETURNED: Cause.OUTPUT_COUNT}
LIMITS = Limits(memory_bytes=8 << 30, may_start_processes=False)
"""A call has at most 512 MiB of tensors (`Arena`): room for sixteen times that, so that a kernel without end does not take the whole machine."""

Launch = Callable[[Runner, int, int, int], RunningProcess]
"""Starts the program with its channel, its inputs and its outputs (descriptors)."""


@dataclass(frozen=True)
class Answer:
    """What became of one message."""

    wall_us: float = 0.0
    """From the wake-up to the reply."""
    waited_us: float = 0.0
    """Part of it in which the process, or this one, was ready to run and others had the core, as the kernel accounts it."""
    cpu_us: float = 0.0
    """Processor time of the process and all its threads from the wake-up until it stands still."""
    threads: int = 0
    """Once it stands still again."""
    is_confined: bool = True
    """It may use the one core only."""
    failure: Outcome | None = None
    """After one the process is not used again."""
    is_killed: bool = False
    """It was ended by a SIGKILL that nothing explains: its own, or one from outside."""

    @property
    def time_us(self) -> float:
        """Wall-clock time to the reply without waiting for the core.

        On one core that is at least the processor time; where it is not, work went on after the reply or on further cores, and the processor time counts.
        """
        return max(self.wall_us - self.waited_us, self.cpu_us)


class KernelProcess:
    """A started process; it stands still between messages."""

    def __init__(self, launch: Launch, runner: Runner, arena: Arena, core: int) -> None:
        """Start it, bind it to `core`. Raises EvaluatorError when it can't be started."""
        self._channel, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = launch(runner, theirs.fileno(), arena.inputs_fd, arena.outputs_fd)
        except BaseException:
            self._channel.close()
            raise
        self._core = core
        with suppress(ProcessLookupError):  # it has ended already: the first message says how
            os.sched_setaffinity(self._process.pid, {core})

    @property
    def pid(self) -> int:
        """Process id as this process sees it."""
        return self._process.pid

    def ask(self, message: Sequence[int], deadline_s: float) -> Answer:
        """Wake it for one message, take the time to its reply, and let it stand still again."""
        pid = self._process.pid
        try:
            self._channel.settimeout(deadline_s)
            self._channel.sendall(words.pack(message))
            cpu, waited = _cpu_ns(pid), _waited_ns(pid)
            started = time.perf_counter_ns()
            os.kill(pid, signal.SIGCONT)
            head = self._channel.recv(words.HEAD.size + words.MOST_TEXT + 1)
            ended = time.perf_counter_ns()
            if head:
                waited = _waited_ns(pid) - waited  # now: stopping the process wakes it, and makes it wait once more
                self._stop()
                return self._answer(head, Answer((ended - started) / 1e3, waited / 1e3, (_cpu_ns(pid) - cpu) / 1e3))
        except TimeoutError:
            self._process.kill()
            return Answer(failure=outcome(Cause.HOST_DEADLINE, f"the kernel had not returned after {deadline_s:g} s", deadline_s=deadline_s))
        except OSError:  # gone
            pass
        return self._end()

    def close(self) -> ProcessResult:
        """End it."""
        self._channel.close()
        return self._process.kill()

    def _answer(self, reply: bytes, taken: Answer) -> Answer:
        failure = _failure_in(reply, self._channel)
        cores = _cores(self._process.pid)
        return replace(taken, threads=len(cores), is_confined=all(found == {self._core} for found in cores), failure=failure)

    def _stop(self) -> None:
        """Let it stand still, and wait until it does. Raises EvaluatorError when it does not; OSError when it is gone."""
        pid = self._process.pid
        os.kill(pid, signal.SIGSTOP)
        ends = time.monotonic() + _STOP_S
        while not all(state in "TtZX" for state in _states(pid)):
            if time.monotonic() > ends:
                raise EvaluatorError("the process of a kernel could not be stopped", found=f"{_STOP_S:.0f} s after its signal it still runs")
            time.sleep(_LOOK_S)

    def _end(self) -> Answer:
        ended = self._process.wait(_END_S)
        result = ended or self._process.kill()
        if ended is None and result.signal == signal.SIGKILL:  # our own: it had closed its channel and lived on
            return Answer(failure=outcome(Cause.ILLEGAL_REPLY, "the process of the kernel closed its channel instead of replying"))
        return Answer(failure=how_it_ended(result, NO_WORDS, nowhere), is_killed=result.is_killed)


def _failure_in(reply: bytes, channel: socket.socket) -> Outcome | None:
    """What a reply says went wrong; a verdict when it is none that our loop sends."""
    channel.setblocking(False)
    with suppress(BlockingIOError):
        reply += channel.recv(1)
    if len(reply) < words.HEAD.size:
        return outcome(Cause.ILLEGAL_REPLY, "the process of the kernel sent what no loop of ours sends: less than a reply")
    status, length = words.HEAD.unpack(reply[: words.HEAD.size])
    text = reply[words.HEAD.size :]
    if len(text) != length or length > words.MOST_TEXT or status not in (words.DONE, *_CAUSES):
        return outcome(Cause.ILLEGAL_REPLY, "the process of the kernel sent what no loop of ours sends: another length, a further reply, or an unknown status")
    if status == words.DONE:
        return None if not text else outcome(Cause.ILLEGAL_REPLY, "the process of the kernel sent a text with a plain reply")
    return outcome(_CAUSES[status], text.decode(errors="replace"))


def _states(pid: int) -> list[str]:
    """State letters of all threads."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            found.append((task / "stat").read_text().rpartition(")")[2].split()[0])
    return found


def _cores(pid: int) -> list[set[int]]:
    """Which cores each thread may use; one that was ending when the process was stopped may be gone, which is no fault of the kernel's."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with suppress(ProcessLookupError):
            found.append(os.sched_getaffinity(int(task)))
    return found


def _waited_ns(pid: int) -> int:
    """How long the process's first thread and this thread have been ready to run without running: the second figure of schedstat (kernel: sched-stats.rst).

    0 on a kernel that does not account for it. A wait counts once it is over, so that what follows a reply is not in it.
    """
    total = 0
    for path in (f"/proc/{pid}/schedstat", "/proc/thread-self/schedstat"):
        with suppress(OSError, IndexError, ValueError):
            total += int(Path(path).read_text().split()[1])
    return total


def _cpu_ns(pid: int) -> int:
    """Processor time of a process, its ended threads included (clock_getcpuclockid(3): the clock's number is made of the process id)."""
    return time.clock_gettime_ns((~pid << 3) | 2)
