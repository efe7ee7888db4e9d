"""Resource limits of a sandboxed process, as setrlimit knows them."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from piton.core.protocols import Limits

OPEN_FILES = 1024


def as_rlimits(limits: Limits, has_own_user: bool) -> dict[str, int]:
    """The rlimits for `limits`.

    Memory is bounded through RLIMIT_DATA: RLIMIT_AS would count the large reserved address ranges of a device. The process count is only set for a user of
    our own: the kernel counts every process of a user, so that for a person's account it would also count the browser.
    """
    values = {"RLIMIT_CPU": limits.cpu_s, "RLIMIT_DATA": limits.memory_bytes, "RLIMIT_FSIZE": limits.file_bytes, "RLIMIT_NOFILE": OPEN_FILES, "RLIMIT_CORE": 0}
    return {**values, "RLIMIT_NPROC": limits.processes} if has_own_user else values


def apply_rlimits(values: dict[str, int]) -> None:
    """Set soft and hard limits, never above a hard limit in force."""
    for name, value in values.items():
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))
