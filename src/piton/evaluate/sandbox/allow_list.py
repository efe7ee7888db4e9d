"""The list of system calls a job may make; every other one is refused.

Problem: most ways out of a sandbox are calls that no kernel, compiler or Python program needs (ptrace, bpf, io_uring, userfaultfd, keyctl, mount, ...).
Approach: a seccomp filter in classic BPF with three lists: `host` (Python with torch; it may change files of its own), `device` (device code and its engine:
no change of files by name, no memory both writable and executable, a filter of its own on top), `build` (compilers, loaders and goldens: further processes,
never in a namespace of their own). A refused call fails with EPERM; one newer than the table with ENOSYS. The architecture is checked first, the x32 table is
closed. A job that may make no process may send signals to itself only.
Limits: x86-64 and aarch64, little-endian. Pointers can't be followed: which file is opened is for the view and landlock to decide.
Source: seccomp(2), linux/seccomp.h, linux/audit.h, prctl(2), clone(2), mmap(2).
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piton.evaluate.sandbox import syscall_table as table

Line = tuple[int, int, int, int]
"""One BPF instruction: code, how many to skip when true and when false, constant."""

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _GREATER_EQUAL, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET."""
_WRITE_EXECUTE = 6
_EXECUTE = 4
_PRCTLS = {"PDEATHSIG": 1, "GET_DUMPABLE": 3, "SET_DUMPABLE": 4, "SET_NAME": 15, "GET_NAME": 16, "GET_SECCOMP": 21, "CAPBSET_READ": 23, "SET_NO_NEW_PRIVS": 38}
"""What libraries and our own processes ask for; PR_SET_MM, PR_SET_PTRACER, PR_TASK_PERF_EVENTS and the rest stay closed."""
_PR_SET_SECCOMP, _PR_SET_VMA = 22, 0x53564D41
_OWNERS = {"fcntl": {"F_SETOWN": 8, "F_SETSIG": 10, "F_SETOWN_EX": 15}, "ioctl": {"FIOSETOWN": 0x8901, "SIOCSPGRP": 0x8902}}
"""Whom a file signals when it has news, and how: a way to signal a process without kill."""


@dataclass(frozen=True)
class Needs:
    """What one job needs beyond reading, memory and threads."""

    changes_files: bool
    starts_processes: bool
    replaces_itself: bool
    """It begins as a program (execve), or is a compiler that starts some."""
    is_device: bool
    """Device code: no memory both writable and executable, but a filter of its own may be added."""
    pid: int
    """Its process id as it sees it itself."""


def needs_of(role: str, starts_processes: bool, is_program: bool, pid: int) -> Needs:
    """What a job of `role` (core.protocols.Role) needs."""
    is_device = role == "device"
    return Needs(changes_files=not is_device, starts_processes=starts_processes, replaces_itself=is_program or starts_processes, is_device=is_device, pid=pid)


def assemble(machine: str, needs: Needs) -> bytes:
    """The filter for `machine`, 8 bytes per instruction."""
    lines: list[Line] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, AUDIT_ARCH[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_GREATER_EQUAL, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
        *_ranges(_plain(machine, needs)),
    ]
    for name, number in table.numbers(table.LOOKED_AT, machine).items():
        lines += _when(number, _looked_at(name, needs))
    lines += [(_GREATER_EQUAL, 0, 1, table.HIGHEST_KNOWN + 1), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS), (_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)


def _plain(machine: str, needs: Needs) -> set[int]:
    """Numbers of the calls that are allowed with any argument."""
    groups = [table.READ, table.MEMORY, table.THREADS, table.TIME, table.SIGNALS, table.CHANNELS, table.CHANGE_OPEN]
    groups += [table.CHANGE] if needs.changes_files else []
    groups += [table.PROCESSES] if needs.starts_processes else []
    groups += [table.EXEC] if needs.replaces_itself else []
    return {number for group in groups for number in table.numbers(group, machine).values()}


def _ranges(numbers: Iterable[int]) -> list[Line]:
    """Allow these numbers: neighbours by one pair of comparisons."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [line for low, high in runs for line in ((_GREATER_EQUAL, 0, 2, low), (_GREATER_EQUAL, 1, 0, high + 1), (_RETURN, 0, 0, _ALLOW))]


def _when(number: int, lines: Sequence[Line]) -> list[Line]:
    """`lines`, which end in a return, for this call only; the number is still loaded behind them."""
    return [(_EQUAL, 0, len(lines), number), *lines]


def _looked_at(name: str, needs: Needs) -> list[Line]:
    if name == "clone":
        return [_argument(0), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), _refuse(), (_RETURN, 0, 0, _ALLOW)]
    if name == "clone3":  # its flags can't be seen; a C library then falls back to clone
        return [(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    if name in ("kill", "tgkill"):
        return [(_RETURN, 0, 0, _ALLOW)] if needs.starts_processes else _only((needs.pid,))
    if name in _OWNERS and not needs.starts_processes:
        return _all_but(tuple(_OWNERS[name].values()))
    if name in _OWNERS:
        return [(_RETURN, 0, 0, _ALLOW)]
    if name == "prlimit64":
        return _only((0, needs.pid))
    if name == "prctl":
        return _only((*_PRCTLS.values(), _PR_SET_VMA, *((_PR_SET_SECCOMP,) if needs.is_device else ())))
    if name == "mmap":
        return _without_both() if needs.is_device else [(_RETURN, 0, 0, _ALLOW)]
    if name == "mprotect":
        return [_argument(2), (_ANY_BIT, 0, 1, _EXECUTE), _refuse(), (_RETURN, 0, 0, _ALLOW)] if needs.is_device else [(_RETURN, 0, 0, _ALLOW)]
    return [(_RETURN, 0, 0, _ALLOW if needs.is_device else _ERRNO | errno.EPERM)]  # seccomp


def _only(values: Sequence[int]) -> list[Line]:
    """Allow the call when its first argument is one of `values`."""
    count = len(values)
    comparisons: list[Line] = [(_EQUAL, count - index, 0, value) for index, value in enumerate(values)]
    return [_argument(0), *comparisons, _refuse(), (_RETURN, 0, 0, _ALLOW)]


def _all_but(values: Sequence[int]) -> list[Line]:
    """Allow the call unless its second argument is one of `values`."""
    count = len(values)
    comparisons: list[Line] = [(_EQUAL, count - index, 0, value) for index, value in enumerate(values)]
    return [_argument(1), *comparisons, (_RETURN, 0, 0, _ALLOW), _refuse()]


def _without_both() -> list[Line]:
    """Allow the call unless its third argument asks for memory both writable and executable."""
    return [_argument(2), (_AND, 0, 0, _WRITE_EXECUTE), (_EQUAL, 0, 1, _WRITE_EXECUTE), _refuse(), (_RETURN, 0, 0, _ALLOW)]


def _argument(index: int) -> Line:
    """Load the low half of an argument."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * index)


def _refuse() -> Line:
    return (_RETURN, 0, 0, _ERRNO | errno.EPERM)
