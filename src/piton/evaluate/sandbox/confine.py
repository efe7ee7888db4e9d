"""The job's own side: close, confine, drop, limit, then run what was asked for."""

from __future__ import annotations

import fcntl
import importlib
import os
import platform
import resource
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import piton
from piton.evaluate.sandbox import allow_list, cage, landlock, limits, syscalls, users
from piton.evaluate.sandbox.control_groups import Group

_PARKING = 600
"""Descriptors are moved above this number first, so that giving one its final number never closes another."""


@dataclass(frozen=True)
class Job:
    """One request as plain data: what to run and how to confine it."""

    cwd: str
    environment: dict[str, str]
    rlimits: dict[str, int]
    output_bytes: int
    flood_bytes: int
    may_start_processes: bool
    uid: int | None
    namespaces: tuple[str, ...]
    has_user_namespace: bool
    scaffold: str
    tmp_bytes: int
    argv: tuple[str, ...] = ()
    """Program to exec; empty when `entry` is called instead."""
    entry: str = ""
    """`package.module:function`, called with (arguments, fds) in the forked process."""
    arguments: dict[str, str] = field(default_factory=dict)
    fd_names: tuple[str, ...] = ()
    """Names of the passed descriptors, for `entry`."""
    fd_numbers: tuple[int, ...] = ()
    """Numbers of the passed descriptors, for `argv`."""
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    role: str = "host"
    has_landlock: bool = False
    has_allow_list: bool = False
    disk_bytes: int = 0
    """Bound of all files below the writable folders together; 0 for none."""
    group_folders: tuple[str, ...] = ()
    """Control group that the job enters."""

    @classmethod
    def from_request(cls, request: dict[str, object]) -> Job:
        """The job that the runner sent; lists become tuples."""
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in request.items()})  # type: ignore[arg-type]


def run_confined(job: Job, fds: list[int], *, stdout: int, stderr: int, setup: int) -> NoReturn:
    """Become the job. What goes wrong before anything foreign runs is written to `setup`; the supervisor reports it as our own trouble."""
    setup = fcntl.fcntl(setup, fcntl.F_DUPFD_CLOEXEC, _PARKING)
    try:
        numbers = _arrange_descriptors(job, fds, stdout, stderr, setup)
        _confine(job)
        if job.argv:
            _restore_signals()
            os.execve(job.argv[0], job.argv, job.environment)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is ours and has to reach the supervisor
        os.write(setup, f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(1)
    os.close(setup)
    _call(job, numbers)


def _arrange_descriptors(job: Job, fds: list[int], stdout: int, stderr: int, setup: int) -> list[int]:
    """Standard streams, then the job's own descriptors; every other one is closed."""
    parked = [fcntl.fcntl(fd, fcntl.F_DUPFD, _PARKING) for fd in (os.open(os.devnull, os.O_RDONLY), stdout, stderr, *fds)]
    wanted = [0, 1, 2, *(job.fd_numbers if job.argv else range(3, 3 + len(fds)))]
    for source, number in zip(parked, wanted, strict=True):
        os.dup2(source, number, inheritable=True)
    _close_all_but({*wanted, setup})
    return wanted[3:]


def _close_all_but(kept: set[int]) -> None:
    low = 0
    for fd in sorted(kept):
        if low < fd:  # an empty range would close everything
            os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, max(low, resource.getrlimit(resource.RLIMIT_NOFILE)[0], 4096))


def _confine(job: Job) -> None:
    """From the widest to the narrowest: each step needs what the next one takes away."""
    os.setsid()
    os.umask(0o022)
    users.name_process(f"piton-{job.role}")
    Group(job.group_folders).enter()
    _leave_namespaces(job)
    ruleset = landlock.prepare(_rights(job)) if job.has_landlock else None
    limits.apply_rlimits(job.rlimits)
    users.become(job.uid)
    users.prctl(users.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.chdir(job.cwd)
    if ruleset is not None:
        landlock.restrict(ruleset)
    if not job.may_start_processes:
        syscalls.forbid_new_processes()
    if job.has_allow_list:  # last: it refuses further filters
        needs = allow_list.needs_of(job.role, job.may_start_processes, bool(job.argv), os.getpid())
        syscalls.install(allow_list.assemble(platform.machine(), needs))


def _leave_namespaces(job: Job) -> None:
    """All but the one of process ids, which the supervisor has left already (and the user namespace with it)."""
    namespaces = [name for name in job.namespaces if name != "pid"]
    if not namespaces:
        return
    enter_namespaces(namespaces, job.has_user_namespace and "pid" not in job.namespaces)
    if "uts" in namespaces:
        cage.hide_name()
    if "mount" in namespaces:
        cage.enter(cage.View(job.scaffold, job.readable, job.writable, job.tmp_bytes, job.uid, "pid" in job.namespaces))


def enter_namespaces(namespaces: Sequence[str], with_user_namespace: bool) -> None:
    """New namespaces for this process. Raises OSError."""
    users.prctl(users.PR_SET_DUMPABLE, 1)  # a process that is not dumpable may not write its own uid_map
    cage.unshare(namespaces, with_user_namespace)
    users.prctl(users.PR_SET_DUMPABLE, 0)


def _rights(job: Job) -> landlock.Rights:
    """Files by landlock: what the view shows, once more, and which of it may be executed."""
    own = (job.environment["TMPDIR"], *(("/dev/shm",) if "mount" in job.namespaces else ()))
    writable = (*job.writable, *own)
    programs = () if not job.argv else landlock.program_and_loader(job.argv[0])
    if job.may_start_processes or (job.argv and not programs):  # a script: its interpreter is anywhere
        programs = (*job.readable, *writable)
    readable = ("/",) if "mount" in job.namespaces else job.readable  # a view holds nothing else
    return landlock.Rights(readable, writable, programs, listable=(os.path.dirname(os.path.dirname(piton.__file__)),))


def _restore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores the latter two; a program expects the defaults
        signal.signal(number, signal.SIG_DFL)


def _call(job: Job, numbers: list[int]) -> NoReturn:
    status = 1
    try:
        os.environ.clear()
        os.environ.update(job.environment)
        module, _, function = job.entry.partition(":")
        getattr(importlib.import_module(module), function)(job.arguments, dict(zip(job.fd_names, numbers, strict=True)))
        status = 0
    except SystemExit as request:
        status = request.code if isinstance(request.code, int) else 1
    except BaseException:  # noqa: BLE001 - the process ends here; the text goes to its stderr like any program's
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)
