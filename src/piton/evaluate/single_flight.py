"""One maker per thing: evaluations of one process that want the same golden at the same time wait for the first of them instead of making it again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_POLL_S = 0.1
"""How often who waits looks whether it has been told to stop."""


class SingleFlight:
    """Turns by name; a name is forgotten with the last who wants it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def turn(self, name: str, is_stopped: Callable[[], bool]) -> Iterator[bool]:
        """Wait for the turn of `name`: True when it has come, False when `is_stopped` said so before that."""
        mine = self._join(name)
        has_turn = False
        try:
            while not has_turn and not is_stopped():
                has_turn = mine.acquire(timeout=_POLL_S)
            yield has_turn
        finally:
            if has_turn:
                mine.release()
            self._leave(name)

    @property
    def names(self) -> int:
        """How many things somebody wants now."""
        return len(self._turns)

    def _join(self, name: str) -> threading.Lock:
        with self._lock:
            lock, wanted = self._turns.get(name, (threading.Lock(), 0))
            self._turns[name] = (lock, wanted + 1)
            return lock

    def _leave(self, name: str) -> None:
        with self._lock:
            lock, wanted = self._turns.pop(name)
            if wanted > 1:
                self._turns[name] = (lock, wanted - 1)


GOLDENS = SingleFlight()
"""Of all evaluations in this process, by the key of the golden."""
