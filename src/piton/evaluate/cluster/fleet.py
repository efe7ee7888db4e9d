"""What starts workers, as the crew sees it. Another way to start processes on other machines than Ray is one more implementation of `Fleet`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from piton.evaluate.cluster.order import Reply, Started
from piton.evaluate.execute import CaseTask

AHEAD = 1
"""Cases that a worker is given beyond those it evaluates, so that their goldens are made meanwhile."""


class WorkerLostError(Exception):
    """A worker is gone, with all it had; says how it ended."""


@dataclass(frozen=True)
class Seat:
    """Room for one worker."""

    number: int
    machine: str
    """Where it is meant to be, for people."""
    lanes: int
    """Cases that it evaluates at the same time."""


class Worker(Protocol):
    """One worker; every method may be called from any thread."""

    def start(self) -> Started:
        """Set it up; takes as long as its machine needs. Raises WorkerLostError."""
        ...

    def evaluate(self, task: CaseTask) -> Reply:
        """Evaluate a case. Raises WorkerLostError, and EvaluatorError when the worker is there and has no answer."""
        ...

    def stop(self) -> None:
        """End it with all its processes, at once; what it is asked meanwhile is lost. Safe to call twice."""
        ...


class Fleet(Protocol):
    """Where workers come from."""

    @property
    def seats(self) -> Sequence[Seat]:
        """Room for the workers of this run."""
        ...

    @property
    def software(self) -> tuple[str, str]:
        """Name and version of what it is, for the report."""
        ...

    def hire(self, seat: Seat) -> Worker:
        """A worker for that seat, which is yet to be started."""
        ...
