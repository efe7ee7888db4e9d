"""Memory guard: work starts only when its estimated footprint fits beside what already runs (a killed harness evaluates nothing)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piton.core.case import Case
from piton.core.errors import EvaluatorError, MemoryTooSmallError

_GOLDEN_COPIES = 2
"""A golden run holds its inputs and outputs in the wide type, and about as much again in temporaries."""
_DEVICE_COPIES = 3
"""Device memory: the data and the bookkeeping of defined and stored bytes, rounded up."""


def golden_bytes(case: Case) -> int:
    """Estimated peak of one golden run: inputs in their dtype, float64 copies, outputs as large as the largest input."""
    return _raw_bytes(case) + _elements(case) * 8 * _GOLDEN_COPIES


def call_bytes(case: Case) -> int:
    """Estimated peak of one call with its check: device memory, a copy of the outputs, and the same-dtype run that a failed first screen asks for."""
    output_bytes = max((item.nbytes for item in case.inputs), default=0)
    return _raw_bytes(case) * _DEVICE_COPIES + output_bytes + _elements(case) * 4 * _GOLDEN_COPIES


def available_bytes() -> int:
    """Memory this process may still use: the machine's, or its control group's where that is less."""
    limits = [_meminfo_available(), _cgroup_available()]
    return min(limit for limit in limits if limit is not None)


class MemoryGuard:
    """Counts what running work is estimated to need."""

    def __init__(self, total_bytes: int) -> None:
        self._total = total_bytes
        self._used = 0
        self._changed = threading.Condition()

    @contextmanager
    def reserve(self, wanted_bytes: int, subject: str) -> Iterator[None]:
        """Wait until `wanted_bytes` fit. Raises EvaluatorError, naming `subject`, if they never can."""
        if wanted_bytes > self._total:
            raise MemoryTooSmallError(
                "skipped: this machine has too little memory",
                expected=f"about {wanted_bytes >> 20} MiB",
                found=f"{self._total >> 20} MiB to use",
                where=subject,
                action="use a machine with more memory, or leave the case out with --case",
            )
        with self._changed:
            self._changed.wait_for(lambda: self._used + wanted_bytes <= self._total)
            self._used += wanted_bytes
        try:
            yield
        finally:
            with self._changed:
                self._used -= wanted_bytes
                self._changed.notify_all()


def _raw_bytes(case: Case) -> int:
    return sum(item.nbytes for item in case.inputs) + max((item.nbytes for item in case.inputs), default=0)


def _elements(case: Case) -> int:
    return sum(item.elements for item in case.inputs) + max((item.elements for item in case.inputs), default=0)


def _meminfo_available() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    raise EvaluatorError("/proc/meminfo has no MemAvailable line", action="use Linux 3.14 or newer")


def _cgroup_available() -> int | None:
    root = Path("/sys/fs/cgroup")
    try:
        limit, used = (root / "memory.max").read_text().strip(), (root / "memory.current").read_text()
        return None if limit == "max" else max(0, int(limit) - int(used))
    except (OSError, ValueError):
        return None
