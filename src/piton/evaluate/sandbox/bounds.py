"""Bounds on a job as a whole, beside the limits of each of its processes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from piton.core.errors import EvaluatorError
from piton.core.protocols import Limits, Role
from piton.evaluate.sandbox.control_groups import Group, Hierarchy, open_hierarchies
from piton.evaluate.sandbox.remains import sweep_groups

_SPARE = 8
"""A device job leaves this part (1/8) of the machine's memory to others."""


@dataclass(frozen=True)
class Bounds:
    """What all processes of a job together may take."""

    memory_bytes: int
    tasks: int
    """Processes and threads."""
    disk_bytes: int
    """Files below the folders it may write to."""


def machine_bytes() -> int:
    """Memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def bounds_of(role: Role, limits: Limits, tmp_bytes: int) -> Bounds:
    """From the limits of one process. What lies in the private /tmp is memory, too; device memory counts for the device process that writes it first."""
    total = machine_bytes()
    most = total - total // _SPARE
    memory = most if role is Role.DEVICE else min(limits.memory_bytes + tmp_bytes, most)
    return Bounds(memory, limits.processes, limits.file_bytes)


class GroupMaker:
    """Makes the control groups of a runner's jobs; the machine is asked for its hierarchies once."""

    def __init__(self) -> None:
        self._hierarchies: tuple[Hierarchy, ...] = ()

    def make(self, bounds: Bounds) -> tuple[str, ...]:
        """Folders of a new group. Raises EvaluatorError when it can't be made."""
        try:
            if not self._hierarchies:
                self._hierarchies = open_hierarchies()
                for hierarchy in self._hierarchies:
                    sweep_groups(Path(hierarchy.folder))
            return Group.make(self._hierarchies, bounds.memory_bytes, bounds.tasks).folders
        except OSError as error:
            raise EvaluatorError("no control group could be made for a sandboxed process", found=str(error)) from None
