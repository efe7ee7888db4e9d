"""Workers in this process: for tests of everything around Ray, and as the shortest example of a fleet.

The address is `threads:N` for N workers. They share the driver's machine and its cache folder, so nothing is gained by them.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from piton.core.errors import PitonError, UsageError
from piton.evaluate.assemble import Subject
from piton.evaluate.cluster.fleet import Seat, WorkerLostError
from piton.evaluate.cluster.node import NodeWork
from piton.evaluate.cluster.order import Reply, Started, WorkOrder, make_order
from piton.evaluate.cluster.parcel import Parcel
from piton.evaluate.execute import CaseTask

THREADS = "threads:"
_MOST = 16


def thread_fleet(address: str, subject: Subject) -> ThreadFleet:
    """The fleet of that address. Raises UsageError for a number of workers that is none."""
    number = address.removeprefix(THREADS)
    if not number.isdigit() or not 1 <= int(number) <= _MOST:
        raise UsageError("no number of workers", expected=f"{THREADS}1 to {THREADS}{_MOST}", found=address, action="correct --ray")
    jobs = subject.request.jobs
    seats = tuple(Seat(index, f"thread {index}", jobs) for index in range(int(number)))
    order, parcels = make_order(subject, subject.request.bounds)
    return ThreadFleet(seats, order, parcels)


class ThreadFleet:
    """Implements `crew.Fleet`."""

    software = ("threads", "1")

    def __init__(self, seats: Sequence[Seat], order: WorkOrder, parcels: Sequence[Parcel]) -> None:
        self.seats = seats
        self._order = order
        self._parcels = {parcel.digest: parcel.data for parcel in parcels}

    def hire(self, seat: Seat) -> ThreadWorker:
        """A worker for that seat."""
        own = replace(self._order, request=self._order.request.model_copy(update={"jobs": seat.lanes}))
        return ThreadWorker(own, self._parcels)


class ThreadWorker:
    """Implements `crew.Worker`; lost once it was stopped."""

    def __init__(self, order: WorkOrder, parcels: dict[str, bytes]) -> None:
        self._order = order
        self._parcels = parcels
        self._work: NodeWork | None = None
        self._is_stopped = False
        self._starting = threading.Lock()

    def start(self) -> Started:
        """Set it up."""
        with self._starting:
            if self._is_stopped:
                raise WorkerLostError("it was stopped before it started")
            try:
                self._work = NodeWork(self._order, self._parcels.__getitem__, Path(self._order.request.cache_dir))
            except PitonError as error:
                return Started("", refusal=str(error))
        return Started(self._work.place, self._work.isolation)

    def evaluate(self, task: CaseTask) -> Reply:
        """Evaluate a case."""
        assert self._work is not None
        reply = self._work.evaluate(task)
        if self._is_stopped:
            raise WorkerLostError("it was stopped")
        return reply

    def stop(self) -> None:
        """End its processes; waits for a `start` in progress."""
        self._is_stopped = True
        with self._starting:
            if self._work is not None:
                self._work.close()
