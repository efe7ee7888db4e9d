"""What a lane need not wait for: the rest of a task, done in a second thread while the lane takes its next task.

Problem: comparing the outputs of a case takes as long as computing them, and needs neither the device nor the processes of the submission.
Approach: a lane returns a `Rest`; its `Tail` works on one rest at a time, in order, and takes the next one only when that is done. So there is never more
than one case being called and one being compared per lane, which bounds memory, and results come in the order of the sequential run.
Limits: the rest runs in the same Python process; what overlaps is what releases the interpreter (comparison, waiting for other processes).
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Result = TypeVar("Result")
ResultOut = TypeVar("ResultOut", covariant=True)


@dataclass(frozen=True)
class Rest(Generic[ResultOut]):
    """The part of a task that does not need what its lane owns."""

    finish: Callable[[], ResultOut | None]
    """Called once, in another thread; the result of the task, None when it was cut short."""


def whole(found: Result | Rest[Result] | None) -> Result | None:
    """The result of a task, its rest done now; for a caller that runs a lane without a tail."""
    return found.finish() if isinstance(found, Rest) else found


class Tail(Generic[Result]):
    """The second thread of a lane; it starts with the first rest."""

    def __init__(self, keep: Callable[[int, Result | None], None], fail: Callable[[BaseException], None]) -> None:
        """`keep` takes the result of the task of a number, `fail` what a rest raises."""
        self._keep = keep
        self._fail = fail
        self._waiting: queue.SimpleQueue[tuple[int, Rest[Result]] | None] = queue.SimpleQueue()
        self._is_free = threading.Semaphore()
        self._thread: threading.Thread | None = None

    def take(self, number: int, rest: Rest[Result]) -> None:
        """Have a rest done; returns when the one before it is done."""
        self._is_free.acquire()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=f"{threading.current_thread().name}-tail", daemon=True)
            self._thread.start()
        self._waiting.put((number, rest))

    def close(self) -> None:
        """Wait for what was taken, and end the thread."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None:
            number, rest = item
            try:
                self._keep(number, rest.finish())
            except BaseException as error:  # noqa: BLE001 - handed to whoever owns the lane, which raises it in the main thread
                self._fail(error)
            self._is_free.release()
