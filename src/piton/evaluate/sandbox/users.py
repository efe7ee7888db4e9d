"""Unprivileged users of sandboxed processes, and the dropping of every privilege."""

from __future__ import annotations

import ctypes
import itertools
import os
from contextlib import suppress

_FIRST_UID = 61500
_UIDS = 3100
"""Above the range distributions give to people, below 65536 so that rootless containers have it mapped."""

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


class UserPool:
    """Hands out numeric users; nothing has to be set up in /etc/passwd for them.

    Every process has one of its own: two of them cannot signal or trace each other, and the bound on a user's processes, which the kernel counts over the
    whole machine, is reached by nobody else's.
    """

    def __init__(self) -> None:
        self._counter = itertools.count(os.getpid())  # two runs at a time begin at different places

    def next_user(self) -> int:
        """The user id for one process."""
        return _FIRST_UID + next(self._counter) % _UIDS


def prctl(option: int, value: int = 0) -> int:
    """prctl(2); returns its result, -1 on failure (errno is kept by ctypes)."""
    return int(_libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)))


def name_process(name: str) -> None:
    """What `ps` and `top` call this process, up to 15 letters; a program that is executed afterwards has its own name."""
    with suppress(OSError), open("/proc/self/comm", "w") as file:
        file.write(name)


def become(uid: int | None) -> None:
    """Change to `uid` (None: stay) and give up every capability, for this process and everything it starts.

    Raises OSError when the change is refused.
    """
    _drop_bounding_set()
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    _drop_own_sets()
    if prctl(PR_SET_NO_NEW_PRIVS, 1) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs refused")


def _drop_bounding_set() -> None:
    capability = 0
    while prctl(PR_CAPBSET_DROP, capability) == 0:  # fails past the last one, and at once without CAP_SETPCAP, when there is nothing to lose
        capability += 1


def _drop_own_sets() -> None:
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    if _libc.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())) != 0:
        raise OSError(ctypes.get_errno(), "capset refused")
