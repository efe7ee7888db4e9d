"""A system-call filter that keeps a job the one process it is.

Problem: host code that forks or starts a program computes outside the process that is watched, timed and asked; when someone looks the child may be gone.
Approach: a seccomp filter (classic BPF) lets threads be made and answers every other way to make a process with SIGSYS, so that the call does not happen and
the handler of the process can say where it was. clone3, whose flags a filter can't see, is reported as unknown: the C library then falls back to clone.
Limits: x86-64 and aarch64; needs no_new_privs and a kernel with seccomp. Replacing the program (execve) is not forbidden: a program is started that way.
Source: seccomp(2), clone(2), linux/seccomp.h, linux/audit.h, the tables of system calls of the two architectures.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from dataclasses import dataclass

from piton.evaluate.sandbox.users import prctl

_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_ALLOW, _TRAP, _KILL, _ERRNO = 0x7FFF0000, 0x00030000, 0x80000000, 0x00050000
_CLONE_THREAD = 0x00010000
_LOAD, _EQUAL, _GREATER_EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""BPF: load a word of the call's description, three comparisons with a constant, return."""
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in struct seccomp_data; the first argument's low half, on little-endian machines."""
_X32 = 0x40000000
"""Numbers from here on are the x32 table's, which would be another way to the same calls."""


@dataclass(frozen=True)
class _Machine:
    audit_arch: int
    clone: int
    clone3: int
    forks: tuple[int, ...]
    """Calls that always make a process."""


_MACHINES = {"x86_64": _Machine(0xC000003E, 56, 435, (57, 58)), "aarch64": _Machine(0xC00000B7, 220, 435, ())}


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def is_available() -> bool:
    """Can this kernel take a filter? Asked with no filter at all: a kernel with seccomp then complains of the address (seccomp(2))."""
    if platform.machine() not in _MACHINES:
        return False
    return prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER) != 0 and ctypes.get_errno() == errno.EFAULT


def forbid_new_processes() -> None:
    """From here on this process and its threads make no further process. Raises OSError when the kernel refuses the filter."""
    install(_assemble(_MACHINES[platform.machine()]))


def install(code: bytes) -> None:
    """Put a filter in force for this process and its threads, on top of those that are. Raises OSError when the kernel refuses it."""
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(program), zero, zero) != 0:
        raise OSError(ctypes.get_errno(), "the system-call filter was refused")


def _assemble(machine: _Machine) -> bytes:
    """The filter, 8 bytes per instruction: code, how many to skip when true and when false, constant."""
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, machine.audit_arch),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_GREATER_EQUAL, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
        *(line for number in machine.forks for line in ((_EQUAL, 0, 1, number), (_RETURN, 0, 0, _TRAP))),
        (_EQUAL, 0, 1, machine.clone3),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
        (_EQUAL, 0, 3, machine.clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 1, 0, _CLONE_THREAD),
        (_RETURN, 0, 0, _TRAP),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)
