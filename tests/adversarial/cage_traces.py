"""What a job could leave behind on the machine, and where one would find it when the job is over."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

MARK = f"piton-attack-mark-{os.getpid()}"
"""Names and keys are this process's own: several may run attacks at a time."""
QUEUE = f"piton-mark-{os.getpid()}"
LEFT_KEY = 0x71000000 + os.getpid()
"""Of the shared memory that an attack leaves."""
_FILES = (Path("/tmp") / MARK, Path("/dev/shm") / MARK)
_libc = ctypes.CDLL(None, use_errno=True)


class Place(Protocol):
    """Where the attackers work."""

    @property
    def top(self) -> str:
        """A folder that stands in the command line of each of them."""
        ...


def processes(place: Place) -> list[str]:
    """Those of attackers that still run; they are ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(folder.name) != os.getpid() and place.top.encode() in (folder / "cmdline").read_bytes():
                os.kill(int(folder.name), signal.SIGKILL)
                found.append(folder.name)
    return found


def shared_memory(_place: Place | None) -> list[str]:
    """Of System V, under the key that attackers use; it is removed."""
    segment = _libc.shmget(LEFT_KEY, 0, 0)
    if segment < 0:
        return []
    _libc.shmctl(segment, 0, None)
    return [str(segment)]


def control_groups(_place: Place) -> list[str]:
    """Groups of this process's jobs."""
    name = f"piton-{os.getpid()}-"
    return [f"{top}/{folder}" for top, folders, _ in os.walk("/sys/fs/cgroup") for folder in folders if folder.startswith(name)]


def mounts(_place: Place) -> list[str]:
    """Mounts of sandboxes, in this process's own namespace."""
    return [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if "piton-sandbox-" in line]


def files(_place: Place) -> list[str]:
    """What attackers write where everybody may."""
    return [str(path) for path in _FILES if path.exists()]


def keys(_place: Place) -> list[str]:
    """Keys of the kernel's that attackers make."""
    with suppress(OSError):
        return [line for line in Path("/proc/keys").read_text().splitlines() if " piton: " in line or line.endswith(" piton")]
    return []


def queues(_place: Place | None) -> list[str]:
    """Message queues: opening one for reading shows whether it is there."""
    name, library = f"/{QUEUE}".encode(), ctypes.CDLL(None, use_errno=True)
    queue = library.mq_open(name, os.O_RDONLY) if hasattr(library, "mq_open") else -1
    if queue < 0:
        return []
    os.close(queue)
    library.mq_unlink(name)
    return [name.decode()]


def clear_traces() -> None:
    """Remove what attacks of this or an earlier run have left where nothing refused them."""
    shared_memory(None)
    queues(None)
    for path in _FILES:
        path.unlink(missing_ok=True)


TRACES: Mapping[str, Callable[[Place], list[str]]] = {
    "a process": processes,
    "shared memory": shared_memory,
    "a control group": control_groups,
    "a mount": mounts,
    "a file": files,
    "a key": keys,
    "a message queue": queues,
}
"""By what is left."""
