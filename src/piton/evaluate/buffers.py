"""Buffers that are used again for the outputs of one case after the other.

Problem: new memory for every copy is memory that the kernel has to find and to clear first, which takes longer than the copy.
Approach: buffers of a few sizes that are given back; a copy takes the smallest that is large enough.
Limits: what lies idle is bounded, so that large outputs get new memory each time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

_UNIT = 1 << 20
"""Sizes are multiples, so that outputs of nearly one size share a buffer."""
_IDLE_BYTES = 512 << 20


class Buffers:
    """For all threads of this process."""

    def __init__(self, idle_bytes: int = _IDLE_BYTES) -> None:
        """At most `idle_bytes` are kept for copies to come."""
        self._idle_bytes = idle_bytes
        self._lock = threading.Lock()
        self._idle: list[NDArray[np.uint8]] = []

    @contextmanager
    def copied(self, data: memoryview) -> Iterator[memoryview]:
        """A copy of these bytes that lasts until the end of the context. Other threads run while numpy copies."""
        buffer = self._take(data.nbytes)
        try:
            own = buffer[: data.nbytes]
            np.copyto(own, np.frombuffer(data, np.uint8) if data.nbytes else own)
            yield own.data
        finally:
            self._give(buffer)

    @property
    def idle_bytes(self) -> int:
        """How much lies idle."""
        return sum(buffer.nbytes for buffer in self._idle)

    def _take(self, nbytes: int) -> NDArray[np.uint8]:
        with self._lock:
            fitting = [number for number, buffer in enumerate(self._idle) if buffer.nbytes >= nbytes]
            if fitting:
                return self._idle.pop(min(fitting, key=lambda number: self._idle[number].nbytes))
        return np.empty(-(-nbytes // _UNIT) * _UNIT, np.uint8)

    def _give(self, buffer: NDArray[np.uint8]) -> None:
        if buffer.nbytes > self._idle_bytes:
            return
        with self._lock:
            self._idle.append(buffer)
            while self.idle_bytes > self._idle_bytes:
                self._idle.pop(0)  # the one that has not been wanted for longest


COPIES = Buffers()
"""Of all lanes."""
