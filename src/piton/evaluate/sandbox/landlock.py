"""Rights to files by landlock: the kernel's sandbox that needs neither root nor namespaces.

Problem: where no namespace can be made, a job reads every world-readable file; and a view does not stop writes through /proc (code of a process can be
replaced through /proc/self/mem).
Approach: a ruleset that knows all rights of this kernel's ABI, with rules for what the job lists: reading, writing, and starting programs. Network ports are
refused from ABI 4 on, abstract sockets and signals to the outside from ABI 6 on. A program that starts no other may execute itself and its loader only.
Limits: looking at a file's existence and size (stat), changing its mode, and descriptors that are open already are not governed.
Source: landlock(7), linux/landlock.h.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from dataclasses import dataclass

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
"""System calls, the same numbers on every architecture."""
_VERSION, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_SPECIAL = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11
"""Devices, sockets and named pipes: nothing honest makes them, and whoever opens a pipe later waits for ever."""
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_ALL_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_NO_TCP = 1 << 0 | 1 << 1
_SCOPES = 1 << 0 | 1 << 1
"""Abstract sockets and signals."""
_READ = _READ_FILE | _READ_DIR
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


@dataclass(frozen=True)
class Rights:
    """What a job may do with which paths; those that do not exist are passed over."""

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    programs: tuple[str, ...]
    """What may be executed, with everything below it."""
    listable: tuple[str, ...] = ()
    """Folders of which the names may be seen, of everything below too."""


def version() -> int:
    """The kernel's ABI of landlock; 0 where it has none or it is switched off."""
    return max(0, int(_libc.syscall(ctypes.c_long(_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))))


def prepare(rights: Rights) -> int:
    """A descriptor of the ruleset; made while the caller can still open every path. Raises OSError."""
    abi = version()
    handled = _ALL_BY_ABI[min(max(abi, 1), 5)]
    attributes = struct.pack("<Q", handled)
    attributes += struct.pack("<Q", _NO_TCP) if abi >= 4 else b""
    attributes += struct.pack("<Q", _SCOPES) if abi >= 6 else b""
    ruleset = _call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    try:
        for paths, allowed in _rules(rights):
            for path in paths:
                _allow(ruleset, path, allowed & handled)
    except OSError:
        os.close(ruleset)
        raise
    return ruleset


def restrict(ruleset: int) -> None:
    """Put the ruleset in force for this thread and what it starts; needs no_new_privs. Raises OSError."""
    _call(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


def _rules(rights: Rights) -> Iterable[tuple[tuple[str, ...], int]]:
    write = ~(_EXECUTE | _MAKE_SPECIAL)
    return (
        (rights.readable, _READ),
        (rights.listable, _READ_DIR),
        (("/proc",), _READ),
        (_DEVICES, _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE),
        (rights.writable, write),
        (rights.programs, _EXECUTE),
    )


def _allow(ruleset: int, path: str, allowed: int) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):  # what can't be reached needs no right
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rights = allowed if stat.S_ISDIR(os.fstat(fd).st_mode) else allowed & _FILE_RIGHTS
            if rights:
                _call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), struct.pack("<Qi", rights, fd), ctypes.c_uint32(0))
        finally:
            os.close(fd)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"landlock: {os.strerror(ctypes.get_errno())}")
    return result


def program_and_loader(program: str) -> tuple[str, ...]:
    """What has to be executable for `program` to start: itself and the loader that its ELF header names; empty for anything but ELF (a script)."""
    path = os.path.realpath(program)
    with open(path, "rb") as file:
        header = file.read(64)
        if header[:5] != b"\x7fELF\x02":
            return ()
        offset, size, count = *struct.unpack_from("<Q", header, 32), *struct.unpack_from("<HH", header, 54)
        file.seek(offset)
        parts = file.read(size * count)
        for begin in range(0, size * count, size):
            kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", parts, begin)
            if kind == 3:  # PT_INTERP
                file.seek(at)
                return (path, os.path.realpath(file.read(length).rstrip(b"\0").decode()))
    return (path,)
