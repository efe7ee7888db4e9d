"""Suites that were read before in this process: a server reads a suite of fifty operators once, not for every job.

A suite is read anew when any file below its folder is another one, has another size or was written since (as far as the file system's clock tells).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from piton.catalog import load_suite
from piton.catalog.suite import suite_root
from piton.core.suite import Suite

_MOST = 8
"""Suites that are remembered; the one that was read first goes first."""
Stamps = tuple[tuple[str, int, int, int], ...]
"""Path, inode, size and time of writing in nanoseconds of every file."""


@dataclass
class _Memory:
    lock: threading.Lock = field(default_factory=threading.Lock)
    known: dict[str, tuple[Stamps, Suite]] = field(default_factory=dict)


_MEMORY = _Memory()


def load_unchanged(path_or_name: str) -> Suite:
    """The same as `load_suite`, and the same object as before when no file has changed."""
    root = str(suite_root(path_or_name))
    now = stamps(root)  # before it is read: what is written meanwhile is seen the next time
    with _MEMORY.lock:
        known = _MEMORY.known.get(root)
    if known is not None and known[0] == now:
        return known[1]
    suite = load_suite(path_or_name)
    with _MEMORY.lock:
        _MEMORY.known.pop(root, None)
        while len(_MEMORY.known) >= _MOST:
            del _MEMORY.known[next(iter(_MEMORY.known))]
        _MEMORY.known[root] = (now, suite)
    return suite


def stamps(folder: str) -> Stamps:
    """What tells the files below a folder from others, in order."""
    return tuple(sorted(_stamps(folder)))


def _stamps(folder: str) -> Iterator[tuple[str, int, int, int]]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]  # no suite keeps its operators there
        for name in names:
            path = os.path.join(place, name)
            found = os.stat(path, follow_symlinks=True) if os.path.exists(path) else os.lstat(path)
            yield path, found.st_ino, found.st_size, found.st_mtime_ns
