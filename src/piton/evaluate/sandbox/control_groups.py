"""A control group per job: memory and number of tasks of the whole job, and one place to kill all of it.

Problem: resource limits count per process, and shared memory not at all; a job with many processes, or with memory that is shared, takes the machine's memory.
Approach: below the group that this process is in, one folder per job with its bounds, in version 1 (a hierarchy per controller) or 2. The job enters by
itself before it gives up its rights; the supervisor kills what is in the group at the end and removes it.
Limits: needs folders that we may write to (root, or a delegated group). With version 2 a group that holds processes can't hand its controllers down: this
process then moves into a group of its own first, which fails when it shares its group with others. Pages of a shared file count for who touches them first.
Source: cgroups(7), Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import time
from dataclasses import dataclass

_CONTROLLERS = ("memory", "pids")
_EMPTY_S = 5.0
"""How long killed processes may take to leave their group."""
_MAIN = "piton-main-"
"""Group of version 2 into which a starter moves itself; named after its process."""

_counter = itertools.count()


@dataclass(frozen=True)
class Hierarchy:
    """Where groups for jobs can be made."""

    folder: str
    """The group that jobs' groups lie in."""
    controllers: tuple[str, ...]
    is_unified: bool
    """Version 2."""


def find(cgroup_text: str, mountinfo_text: str) -> tuple[Hierarchy, ...]:
    """The hierarchies that hold the memory and the pids controller, from /proc/self/cgroup and /proc/self/mountinfo. Raises OSError saying what lacks."""
    mounts = [_mount_of(line) for line in mountinfo_text.splitlines()]
    groups = {names: path for _, names, path in (line.split(":", 2) for line in cgroup_text.splitlines())}
    found: list[Hierarchy] = []
    for controller in _CONTROLLERS:
        names = next((names for names in groups if controller in names.split(",")), None)
        if names is None:
            continue
        place = next((item for item in mounts if item[0] == "cgroup" and controller in item[3].split(",")), None)
        if place is not None:
            found.append(Hierarchy(_below(place, groups[names]), (controller,), is_unified=False))
    if len(found) == len(_CONTROLLERS):
        return tuple(found)
    unified = next((item for item in mounts if item[0] == "cgroup2"), None)
    if unified is None or "" not in groups:
        raise OSError("no hierarchy of control groups with memory and pids is mounted")
    own = re.sub(rf"/{_MAIN}\d+$", "", groups[""]) or "/"  # a starter that has moved: jobs' groups lie beside it, or it would move deeper each time
    return (Hierarchy(_below(unified, own), _CONTROLLERS, is_unified=True),)


def _mount_of(line: str) -> tuple[str, str, str, str]:
    """File system, root within it, mount point, options of the file system."""
    before, _, after = line.partition(" - ")
    words, kinds = before.split(), after.split()
    return (kinds[0], words[3], words[4], kinds[2]) if len(kinds) > 2 else ("", "", "", "")


def _below(mount: tuple[str, str, str, str], path: str) -> str:
    """The folder of the group `path`, which is told from the hierarchy's root, below a mount that may show only a part of it."""
    _, root, point, _ = mount
    if root != "/" and (path == root or path.startswith(root + "/")):
        path = path[len(root) :]
    return point + path.rstrip("/") if path != "/" else point


def open_hierarchies() -> tuple[Hierarchy, ...]:
    """The machine's, ready for groups of jobs. Raises OSError saying what lacks."""
    with open("/proc/self/cgroup") as file, open("/proc/self/mountinfo") as mounts:
        found = find(file.read(), mounts.read())
    for hierarchy in found:
        if hierarchy.is_unified:
            _hand_down(hierarchy)
        if not os.access(hierarchy.folder, os.W_OK):
            raise OSError(f"{hierarchy.folder} may not be written to")
    return found


def _hand_down(hierarchy: Hierarchy) -> None:
    """Let groups below use the controllers."""
    offered = _read(f"{hierarchy.folder}/cgroup.controllers").split()
    if missing := [name for name in hierarchy.controllers if name not in offered]:
        raise OSError(f"{hierarchy.folder} has no controller {', '.join(missing)}")
    wanted = " ".join(f"+{name}" for name in hierarchy.controllers)
    control = f"{hierarchy.folder}/cgroup.subtree_control"
    if set(hierarchy.controllers) <= set(_read(control).split()):
        return
    try:
        _write(control, wanted)
    except OSError:  # it holds processes: ours, which can move
        own = f"{hierarchy.folder}/{_MAIN}{os.getpid()}"
        os.makedirs(own, exist_ok=True)
        _write(f"{own}/cgroup.procs", str(os.getpid()))
        _write(control, wanted)


def complaint() -> str:
    """Why no group can be made here; empty when one can (one is made and removed)."""
    try:
        Group.make(open_hierarchies(), 1 << 30, 16).remove()
    except OSError as error:
        return f"no control group can be made: {error.strerror or error}"
    return ""


@dataclass(frozen=True)
class Group:
    """One job's group: a folder in each hierarchy."""

    folders: tuple[str, ...]

    @classmethod
    def make(cls, hierarchies: tuple[Hierarchy, ...], memory_bytes: int, tasks: int) -> Group:
        """A new, empty group with these bounds. Raises OSError; then nothing is left of it."""
        name = f"piton-{os.getpid()}-{next(_counter)}"
        group = cls(tuple(f"{hierarchy.folder}/{name}" for hierarchy in hierarchies))
        try:
            for hierarchy, folder in zip(hierarchies, group.folders, strict=True):
                os.mkdir(folder)
                _bound(hierarchy, folder, memory_bytes, tasks)
        except OSError:
            group.remove()
            raise
        return group

    def enter(self) -> None:
        """Move this process into it. Raises OSError."""
        for folder in self.folders:
            _write(f"{folder}/cgroup.procs", "0")

    def kill(self) -> int:
        """Kill all that is in it, until nothing is; the number of processes that stay for `_EMPTY_S` (0, unless the kernel hangs)."""
        deadline = time.monotonic() + _EMPTY_S
        while (members := self._members()) and time.monotonic() < deadline:
            for pid in members:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)
        return len(members)

    def is_out_of_memory(self) -> bool:
        """Did the kernel end a process of it for memory?"""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    counts = dict(line.split() for line in _read(f"{folder}/{name}").splitlines())
                    if int(counts.get("oom_kill", 0)) > 0:
                        return True
        return False

    def remove(self) -> None:
        """Remove it; one that still holds something stays."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                os.rmdir(folder)

    def _members(self) -> set[int]:
        found: set[int] = set()
        for folder in self.folders:
            with contextlib.suppress(OSError):
                found |= {int(word) for word in _read(f"{folder}/cgroup.procs").split()}
        return found


def _bound(hierarchy: Hierarchy, folder: str, memory_bytes: int, tasks: int) -> None:
    if "pids" in hierarchy.controllers:
        _write(f"{folder}/pids.max", str(tasks))
    if "memory" not in hierarchy.controllers:
        return
    if hierarchy.is_unified:
        _write(f"{folder}/memory.max", str(memory_bytes))
        with contextlib.suppress(OSError):  # no swap accounting
            _write(f"{folder}/memory.swap.max", "0")
        return
    _write(f"{folder}/memory.limit_in_bytes", str(memory_bytes))
    with contextlib.suppress(OSError):
        _write(f"{folder}/memory.memsw.limit_in_bytes", str(memory_bytes))


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
