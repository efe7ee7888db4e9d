"""The supervisor of one job: fork it, watch it, collect its output, leave nothing behind.

Problem: a job may start daemons, flood its output, or outlive the parent.
Approach: the supervisor is the child subreaper of everything the job starts, so that whatever escapes a process group is still found below it; it ends the
lot when the job ends, when the parent says so, or when the parent is gone. It reads the output, keeps the first part of it and drops the rest.
Limits: where several jobs share a user (no privileges to change it) a job can kill its supervisor; the parent sees that as an abrupt end.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import stat
import time
from dataclasses import dataclass, field

from piton.evaluate.sandbox import wire
from piton.evaluate.sandbox.confine import Job, run_confined
from piton.evaluate.sandbox.users import PR_SET_CHILD_SUBREAPER, prctl

_CLEANUP_S = 10.0


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


def supervise(request: dict[str, object], fds: list[int]) -> None:
    """Run the job of `request`; `fds[0]` is the control socket to the parent, the others belong to the job."""
    control = socket.socket(fileno=fds[0])
    os.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    job = Job.from_request(request)
    _give_writable(job, job.uid)
    streams, setup_read, pid = _start(job, fds)
    control.setblocking(True)
    wire.tell(control, {"pid": pid})
    setup_error = _read_all(setup_read)
    status = _watch(control, pid, streams)
    leftover = _end_descendants()
    for stream in streams:
        _drain(stream)
    _give_writable(job, None)
    is_flooded = any(stream.is_flooded for stream in streams)
    texts = {"stdout": streams[0].text(), "stderr": streams[1].text(), "setup_error": setup_error}
    report = {**texts, "is_flooded": is_flooded, "leftover": leftover, **status}
    wire.tell(control, report)


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


def _watch(control: socket.socket, pid: int, streams: list[_Output]) -> dict[str, object]:
    """Wait for the job's end or the order to kill it; its exit code, signal and resource use."""
    handle = os.pidfd_open(pid)
    poll = select.poll()
    for fd in (handle, control.fileno(), *(stream.fd for stream in streams)):
        poll.register(fd, select.POLLIN)
    by_fd = {stream.fd: stream for stream in streams}
    while True:
        ready = {fd for fd, _ in poll.poll()}
        for fd in ready & by_fd.keys():
            if not by_fd[fd].read():
                poll.unregister(fd)
            if by_fd[fd].is_flooded:
                _kill(pid)
        if control.fileno() in ready:  # an order or the parent's death: either way the job ends
            poll.unregister(control.fileno())
            _kill(pid)
        if handle in ready:
            return _reap(pid)


def _reap(pid: int) -> dict[str, object]:
    _, status, usage = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    spent = {"max_rss_bytes": usage.ru_maxrss * 1024, "cpu_s": usage.ru_utime + usage.ru_stime}
    return {"exit_code": code if code >= 0 else None, "signal": -code if code < 0 else None, **spent}


def _end_descendants() -> int:
    """Kill whatever the job left, again and again until nothing is there; the number of processes found."""
    found: set[int] = set()
    deadline = time.monotonic() + _CLEANUP_S
    while (pids := _children(os.getpid())) and time.monotonic() < deadline:
        found.update(pids)
        for pid in pids:
            for member in (*_descendants(pid), pid):
                _kill(member)
            _collect(pid)
    return len(found)


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
    os.lchown(path, os.getuid(), os.getgid())
    if not stat.S_ISLNK(found.st_mode):
        os.chmod(path, stat.S_IMODE(found.st_mode) & 0o755)
