"""The supervisor of one job: fork it, watch it, collect its output, leave nothing behind.

Problem: a job may start daemons, flood its output, or outlive the parent.
Approach: the supervisor is the child subreaper of everything the job starts, so that whatever escapes a process group is still found below it; it ends the
lot when the job ends, when the parent says so, or when the parent is gone. It reads the output, keeps the first part of it and drops the rest.
Limits: where several jobs share a user (no privileges to change it) a job can kill its supervisor; the parent sees that as an abrupt end.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import stat
import time
from dataclasses import dataclass, field

from piton.evaluate.sandbox import wire
from piton.evaluate.sandbox.confine import Job, enter_namespaces, run_confined
from piton.evaluate.sandbox.control_groups import Group
from piton.evaluate.sandbox.limits import OPEN_FILES
from piton.evaluate.sandbox.users import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, name_process, prctl

_CLEANUP_S = 10.0
_LOOK_MS = 500


@dataclass
class _Output:
    """The first `limit` bytes of a stream."""

    fd: int
    limit: int
    flood: int
    kept: bytearray = field(default_factory=bytearray)
    dropped: int = 0

    def read(self) -> bool:
        """Take what is there; False at the end of the stream."""
        try:
            part = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return True
        room = self.limit - len(self.kept)
        self.kept += part[:room]
        self.dropped += max(0, len(part) - room)
        return bool(part)

    @property
    def is_flooded(self) -> bool:
        """Was more printed than any honest program prints?"""
        return len(self.kept) + self.dropped > self.flood

    def text(self) -> str:
        """What was kept, with a line that tells how much was not."""
        note = f"\n[{self.dropped} more bytes not kept]" if self.dropped else ""
        return self.kept.decode(errors="replace") + note


@dataclass
class _Disk:
    """Looks from time to time at how much a job has written to its folders: the limit of a file's size does not bound their number."""

    folders: tuple[str, ...]
    limit: int
    excess: int = 0
    """Bytes found when there were too many; else 0."""
    next_look: float = field(default_factory=time.monotonic)
    before: int = 0
    """Bytes that were there when the job began."""

    def __post_init__(self) -> None:
        self.before = self._used() if self.wait_ms else 0

    @property
    def wait_ms(self) -> int | None:
        """How long to wait for anything else; None for ever."""
        return _LOOK_MS if self.folders and self.limit else None

    def is_overfull(self) -> bool:
        """Has it just been found too full?"""
        if self.wait_ms is None or self.excess or time.monotonic() < self.next_look:
            return False
        used = self._used() - self.before
        self.next_look = time.monotonic() + _LOOK_MS / 1000
        self.excess = used if used > self.limit else 0
        return self.excess > 0

    def _used(self) -> int:
        return sum(_disk_use(folder) for folder in self.folders)


def _disk_use(top: str) -> int:
    """Bytes on the disk below `top`; what vanishes meanwhile counts nothing."""
    total = 0
    for folder, _, names in os.walk(top):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
    return total


def supervise(request: dict[str, object], fds: list[int]) -> None:
    """Run the job of `request`; `fds[0]` is the control socket to the parent, the others belong to the job."""
    control = socket.socket(fileno=fds[0])
    os.setsid()
    name_process("piton-watch")
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    job = Job.from_request(request)
    group = Group(job.group_folders)
    _give_writable(job, job.uid)
    try:
        first = _first_process(job)
    except OSError as error:
        wire.tell(control, {"pid": os.getpid()})
        group.remove()
        wire.tell(control, {"setup_error": f"OSError: {error}", "signal": None})
        return
    streams, setup_read, pid = _start(job, fds)
    control.setblocking(True)
    wire.tell(control, {"pid": pid})
    setup_error = _read_all(setup_read)
    status = _watch(control, job, pid, streams)
    leftover = _end_descendants(first)
    remaining = group.kill() + len(_children(os.getpid()))
    for stream in streams:
        _drain(stream)
    _give_writable(job, None)
    is_flooded = any(stream.is_flooded for stream in streams)
    why = _why_ended(status, group)
    is_bounded = bool(why) or _is_out_of_time(status, job)
    texts = {"stdout": streams[0].text(), "stderr": streams[1].text() + why, "setup_error": setup_error}
    group.remove()
    wire.tell(control, {**texts, "is_flooded": is_flooded, "is_bounded": is_bounded, "leftover": leftover, "remaining": remaining, **status})


def _why_ended(status: dict[str, object], group: Group) -> str:
    """A line for what ended the job, where its signal alone does not tell."""
    if status["disk_bytes"]:
        return f"\n[ended: {status['disk_bytes']} bytes in its folders, more than it may write]"
    return "\n[ended: its processes used more memory than the job may have]" if group.is_out_of_memory() else ""


def _is_out_of_time(status: dict[str, object], job: Job) -> bool:
    """Has it used its processor time? Then the kernel has ended it, with SIGKILL since the soft limit is the hard one; it counts in ticks, not as `wait4`."""
    spent, allowed = status["cpu_s"], job.rlimits.get("RLIMIT_CPU")
    return isinstance(spent, float) and allowed is not None and spent >= 0.9 * allowed


def _first_process(job: Job) -> int:
    """The first process of a namespace of process ids for the job (0 without one): it reaps what the job leaves, and when it ends the kernel ends the rest.

    The job itself is the second one: signals without a handler do not reach a first process. Raises OSError.
    """
    if "pid" not in job.namespaces:
        return 0
    enter_namespaces(("pid",), job.has_user_namespace)
    pid = os.fork()
    if pid == 0:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.closerange(0, OPEN_FILES)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps then
        while True:
            signal.pause()
    return pid


def _start(job: Job, fds: list[int]) -> tuple[list[_Output], int, int]:
    out, err, setup = os.pipe(), os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(fds[0])
        run_confined(job, fds[1:], stdout=out[1], stderr=err[1], setup=setup[1])
    for fd in (*fds[1:], out[1], err[1], setup[1]):
        os.close(fd)
    for fd in (out[0], err[0]):
        os.set_blocking(fd, False)
    return [_Output(fd, job.output_bytes, job.flood_bytes) for fd in (out[0], err[0])], setup[0], pid


def _read_all(fd: int) -> str:
    """Why the job could not be set up; empty when it was. Ends when the job closes its end, which it does before anything foreign runs."""
    with os.fdopen(fd, "rb") as file:
        return file.read(1 << 16).decode(errors="replace")


def _watch(control: socket.socket, job: Job, pid: int, streams: list[_Output]) -> dict[str, object]:
    """Wait for the job's end or the order to kill it; its exit code, signal and resource use."""
    disk = _Disk(job.writable, job.disk_bytes)
    handle = os.pidfd_open(pid)
    poll = select.poll()
    for fd in (handle, control.fileno(), *(stream.fd for stream in streams)):
        poll.register(fd, select.POLLIN)
    by_fd = {stream.fd: stream for stream in streams}
    while True:
        ready = {fd for fd, _ in poll.poll(disk.wait_ms)}
        if disk.is_overfull():
            _kill(pid)
        for fd in ready & by_fd.keys():
            if not by_fd[fd].read():
                poll.unregister(fd)
            if by_fd[fd].is_flooded:
                _kill(pid)
        if control.fileno() in ready:  # an order or the parent's death: either way the job ends
            poll.unregister(control.fileno())
            _kill(pid)
        if handle in ready:
            return {**_reap(pid), "disk_bytes": disk.excess}


def _reap(pid: int) -> dict[str, object]:
    _, status, usage = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    spent = {"max_rss_bytes": usage.ru_maxrss * 1024, "cpu_s": usage.ru_utime + usage.ru_stime}
    return {"exit_code": code if code >= 0 else None, "signal": -code if code < 0 else None, **spent}


def _end_descendants(first: int) -> int:
    """Kill whatever the job left, again and again until nothing is there; the number of processes found. `first` is our own, in the job's namespace."""
    found = set(_descendants(first)) if first else set()
    deadline = time.monotonic() + _CLEANUP_S
    while (pids := _children(os.getpid())) and time.monotonic() < deadline:
        found.update(pids)
        for pid in pids:
            for member in (*_descendants(pid), pid):
                _kill(member)
            _collect(pid)
    return len(found - {first})


def _descendants(pid: int) -> list[int]:
    direct = _children(pid)
    return [member for child in direct for member in (*_descendants(child), child)]


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:  # gone meanwhile
        return []


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _collect(pid: int) -> None:
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass


def _drain(stream: _Output) -> None:
    """Read what is still in the pipe; nobody writes any more."""
    before = -1
    while before != len(stream.kept) + stream.dropped:
        before = len(stream.kept) + stream.dropped
        stream.read()


def _give_writable(job: Job, uid: int | None) -> None:
    """Before the job: let its user write to its folders. After it (`uid` None): take the files it made, so that no later job can change them."""
    if job.uid is None:
        return
    for top in job.writable:
        for folder, _, names in os.walk(top):
            if uid is not None:
                os.chown(folder, uid, -1)
                continue
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                _take(path, job.uid)


def _take(path: str, uid: int) -> None:
    """Own what the ended job made, and let nobody else write to it. Links are never followed; nothing of the job runs any more that could swap one in."""
    found = os.lstat(path)
    if found.st_uid != uid:
        return
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode) or stat.S_ISLNK(found.st_mode)):
        os.unlink(path)  # whoever opened a named pipe would wait for ever
        return
    os.lchown(path, os.getuid(), os.getgid())
    if not stat.S_ISLNK(found.st_mode):
        os.chmod(path, stat.S_IMODE(found.st_mode) & 0o755)
