"""What starters of processes left that were killed (SIGKILL, power cut): folders below the temporary one, and empty control groups.

A living starter holds a lock on a file in its folder, which dies with it; a folder whose lock can be had is nobody's. A control group can only be removed when
nothing is in it, and is when the process that it is named after is gone.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PREFIX = "piton-sandbox-"
_LOCK = "lock"
_REST_S = 60.0
"""Younger things are left alone: their owner may be about to lock or to enter them."""
_GROUP = re.compile(r"piton-(?:main-(?P<main>\d+)|(?P<job>\d+)-\d+)")
"""Groups of starters (control_groups.py), and of their jobs."""


def make_folder() -> tuple[str, int]:
    """A new folder for one starter, and the descriptor of its lock, to be closed when the folder is removed. What others left goes first."""
    sweep_folders(Path(tempfile.gettempdir()))
    folder = tempfile.mkdtemp(prefix=PREFIX)
    descriptor = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return folder, descriptor


def sweep_folders(place: Path) -> None:
    """Remove the folders of starters that are gone."""
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody else's, or gone meanwhile
            if _is_own(folder) and _is_old(folder) and _is_free(folder / _LOCK):
                shutil.rmtree(folder, ignore_errors=True)


def sweep_groups(parent: Path) -> None:
    """Remove the empty control groups below `parent` whose process is gone."""
    for group in parent.glob("piton-*"):
        match = _GROUP.fullmatch(group.name)
        with suppress(OSError):  # not empty, not ours, or gone meanwhile
            if match and not os.path.exists(f"/proc/{match['main'] or match['job']}") and _is_old(group):
                group.rmdir()


def _is_own(folder: Path) -> bool:
    """Everybody may make a folder of that name in /tmp, or a link: what is not a folder of this user's is not looked into."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _is_old(path: Path) -> bool:
    return path.stat().st_mtime < time.time() - _REST_S


def _is_free(lock: Path) -> bool:
    """Can the lock be had? Raises OSError where there is none: a folder that an older Piton may be using."""
    descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
