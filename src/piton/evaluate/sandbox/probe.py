"""Which mechanisms this machine allows, found by trying them: strongest first, the first that runs a real job is taken."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from piton.evaluate.sandbox import control_groups, landlock, syscalls

NAMESPACES = ("mount", "net", "ipc", "uts", "pid")

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
    allow_list: bool = False
    """System calls that are not on a list fail (allow_list.py)."""
    landlock: bool = False
    """Files by landlock, too (landlock.py)."""
    control_group: bool = False
    """Memory and tasks of a job as a whole (control_groups.py)."""

    @property
    def names(self) -> tuple[str, ...]:
        """For the report."""
        optional = (
            *(("separate_users",) if self.users else ()),
            *(("user_namespace",) if self.user_namespace else ()),
            *(f"{name}_namespace" for name in self.namespaces),
            *(("read_only_view",) if "mount" in self.namespaces else ()),
            *(("no_new_processes",) if self.no_new_processes else ()),
            *(("system_call_filter",) if self.allow_list else ()),
            *(("landlock",) if self.landlock else ()),
            *(("control_group",) if self.control_group else ()),
        )
        return (*optional, *ALWAYS)


def candidates(is_root: bool) -> tuple[Mechanisms, ...]:
    """Combinations to try, strongest first; the last one needs no privilege. What the kernel offers to everybody belongs to each."""
    without_pid = NAMESPACES[:-1]
    users = (Mechanisms(users=True, namespaces=NAMESPACES), Mechanisms(users=True, namespaces=without_pid), Mechanisms(users=True))
    privileged = (*users, Mechanisms(namespaces=NAMESPACES))
    ordinary = (Mechanisms(namespaces=NAMESPACES, user_namespace=True), Mechanisms(namespaces=without_pid, user_namespace=True), Mechanisms())
    has_filter, has_landlock, has_groups = syscalls.is_available(), landlock.version() > 0, not control_groups.complaint()
    return tuple(
        replace(item, no_new_processes=has_filter, allow_list=has_filter, landlock=has_landlock, control_group=has_groups)
        for item in ((*privileged, *ordinary) if is_root else ordinary)
    )


def choose(attempt: Callable[[Mechanisms], str]) -> tuple[Mechanisms, dict[Mechanisms, str]]:
    """The strongest set for which `attempt` returns no complaint, and the complaints about the stronger ones.

    Raises LookupError with all complaints when nothing works.
    """
    complaints: dict[Mechanisms, str] = {}
    for whole in candidates(os.geteuid() == 0):
        for mechanisms in (whole, replace(whole, allow_list=False, landlock=False, control_group=False)):
            complaint = complaints[mechanisms] if mechanisms in complaints else attempt(mechanisms)
            if not complaint:
                return (mechanisms if mechanisms == whole else _extended(mechanisms, whole, attempt, complaints)), complaints
            complaints[mechanisms] = complaint
    raise LookupError("; ".join(complaints.values()))


def _extended(lean: Mechanisms, whole: Mechanisms, attempt: Callable[[Mechanisms], str], complaints: dict[Mechanisms, str]) -> Mechanisms:
    """`lean`, which works, with each extra of `whole` that works, too."""
    extras: tuple[Callable[[Mechanisms], Mechanisms], ...] = (
        lambda item: replace(item, allow_list=whole.allow_list),
        lambda item: replace(item, landlock=whole.landlock),
        lambda item: replace(item, control_group=whole.control_group),
    )
    for add in extras:
        more = add(lean)
        if more == lean:
            continue
        complaint = attempt(more)
        if complaint:
            complaints[more] = complaint
        else:
            lean = more
    return lean


def reasons(chosen: Mechanisms, complaints: dict[Mechanisms, str], is_root: bool) -> dict[str, str]:
    """Why each mechanism that is not in force isn't, by its name in a report."""
    every = Mechanisms(users=True, namespaces=NAMESPACES, no_new_processes=True, allow_list=True, landlock=True, control_group=True)
    return {name: _reason(name, complaints, is_root) for name in every.names if name not in chosen.names}


def _reason(name: str, complaints: dict[Mechanisms, str], is_root: bool) -> str:
    if name == "separate_users" and not is_root:
        return "needs root"
    if name in ("system_call_filter", "no_new_processes") and not syscalls.is_available():
        return "this kernel or processor has no seccomp filter that Piton knows"
    if name == "landlock" and landlock.version() == 0:
        return "this kernel has no landlock, or it is switched off"
    if name == "control_group" and (found := control_groups.complaint()):
        return found
    tried = [text for mechanisms, text in complaints.items() if name in mechanisms.names]
    return tried[-1] if tried else "was not tried: a weaker combination was asked for"
