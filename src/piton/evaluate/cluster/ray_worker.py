"""The process that Ray starts on a machine: a `NodeWork` behind methods that Ray can call.

Nothing raises what Ray would have to carry: what is wrong comes back as a value.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from piton.core.errors import PitonError
from piton.evaluate.cache_folder import cache_dir
from piton.evaluate.cluster.node import NodeWork
from piton.evaluate.cluster.order import Reply, Started, WorkOrder
from piton.evaluate.execute import CaseTask


class RayWorker:
    """One actor; its methods run in threads of their own."""

    def __init__(self) -> None:
        self._work: NodeWork | None = None
        self._starting = threading.Lock()

    def ping(self) -> bool:
        """True: the machine had room and the process runs."""
        return True

    def start(self, order: WorkOrder, lanes: int, parcels: Mapping[str, Any]) -> Started:
        """Set up for `lanes` cases at a time; `parcels` are references to the contents of parcels, which are fetched only if this machine lacks them."""
        own = replace(order, request=order.request.model_copy(update={"jobs": lanes}))
        try:
            with self._starting:
                self._work = NodeWork(own, lambda digest: _fetch(parcels[digest]), cache_dir())
        except PitonError as error:
            return Started("", refusal=str(error))
        return Started(self._work.place, self._work.isolation)

    def evaluate(self, task: CaseTask) -> Reply:
        """Evaluate one case."""
        assert self._work is not None  # a worker is given cases only after it has started
        return self._work.evaluate(task)

    def close(self) -> None:
        """End all processes of submissions and remove the run's folder; waits for a `start` in progress."""
        with self._starting:
            if self._work is not None:
                self._work.close()


def _fetch(reference: Any) -> bytes:
    found = importlib.import_module("ray").get(reference)
    assert isinstance(found, bytes)
    return found
