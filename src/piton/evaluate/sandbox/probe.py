"""Which mechanisms this machine allows, found by trying them: strongest first, the first that runs a real job is taken."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from piton.evaluate.sandbox import syscalls

NAMESPACES = ("mount", "net", "ipc", "uts")

ALWAYS = ("no_new_privs", "no_capabilities", "clean_environment", "closed_descriptors", "rlimits", "process_tree_kill", "output_cap")
"""In force on every machine."""


@dataclass(frozen=True)
class Mechanisms:
    """The optional mechanisms of one runner."""

    users: bool = False
    """Each role under an unprivileged user of its own; needs root."""
    namespaces: tuple[str, ...] = ()
    user_namespace: bool = False
    """Namespaces entered through a user namespace (no root needed)."""
    no_new_processes: bool = False
    """Host and device processes can start no other process (syscalls.py)."""

    @property
    def names(self) -> tuple[str, ...]:
        """For the report."""
        optional = (
            *(("separate_users",) if self.users else ()),
            *(("user_namespace",) if self.user_namespace else ()),
            *(f"{name}_namespace" for name in self.namespaces),
            *(("read_only_view",) if "mount" in self.namespaces else ()),
            *(("no_new_processes",) if self.no_new_processes else ()),
        )
        return (*optional, *ALWAYS)


def candidates(is_root: bool) -> tuple[Mechanisms, ...]:
    """Combinations to try, strongest first; the last one needs no privilege. The system-call filter belongs to each where the kernel has it."""
    privileged = (Mechanisms(users=True, namespaces=NAMESPACES), Mechanisms(users=True), Mechanisms(namespaces=NAMESPACES))
    ordinary = (Mechanisms(namespaces=NAMESPACES, user_namespace=True), Mechanisms())
    has_filter = syscalls.is_available()
    return tuple(replace(item, no_new_processes=has_filter) for item in ((*privileged, *ordinary) if is_root else ordinary))


def choose(attempt: Callable[[Mechanisms], str]) -> tuple[Mechanisms, dict[Mechanisms, str]]:
    """The strongest set for which `attempt` returns no complaint, and the complaints about the stronger ones.

    Raises LookupError with all complaints when nothing works.
    """
    complaints: dict[Mechanisms, str] = {}
    for mechanisms in candidates(os.geteuid() == 0):
        complaint = attempt(mechanisms)
        if not complaint:
            return mechanisms, complaints
        complaints[mechanisms] = complaint
    raise LookupError("; ".join(complaints.values()))
