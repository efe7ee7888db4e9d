"""Lanes: threads of the parent that take tasks in order; results come back in the order of the tasks, whatever the number of lanes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from piton.evaluate.overlap import Rest, Tail

Task = TypeVar("Task")
Result = TypeVar("Result")
TaskIn = TypeVar("TaskIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)

_POLL_S = 0.2
"""The main thread wakes this often so that Ctrl-C is seen."""


def never() -> bool:
    """Answer of a caller that stops its work by Ctrl-C only."""
    return False


class _StoppedError(Exception):
    """The caller said stop."""


class Lane(Protocol[TaskIn, ResultOut]):
    """What one lane does; owned by its thread, except for `interrupt`."""

    def run(self, task: TaskIn) -> ResultOut | Rest[ResultOut] | None:
        """Do one task; None when `interrupt` cut it short. An exception stops all lanes and is raised by `run_in_lanes`.

        With a `Rest` the lane is free for its next task; the result is what the rest returns.
        """
        ...

    def interrupt(self) -> None:
        """Make a `run` in progress end soon; called from another thread."""
        ...

    def close(self) -> None:
        """Free what the lane owns."""
        ...


class _Pool(Generic[Task, Result]):
    """State that the threads of one `run_in_lanes` share."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.waiting: queue.SimpleQueue[tuple[int, Task]] = queue.SimpleQueue()
        for item in enumerate(tasks):
            self.waiting.put(item)
        self.results: list[Result | None] = [None] * len(tasks)
        self.stop = threading.Event()
        self.failures: list[BaseException] = []
        self._done: list[threading.Event] = []

    def start(self, number: int, lane: Lane[Task, Result]) -> None:
        """Give a lane its thread."""
        done = threading.Event()
        self._done.append(done)
        threading.Thread(target=self._work, args=(lane, done), name=f"lane-{number}", daemon=True).start()

    def wait(self, is_stopped: Callable[[], bool] = never) -> None:
        """Return when all lanes have ended. Raises _StoppedError when `is_stopped` says so before that.

        Thread.join would not do: an interrupt makes Python 3.11 take a running thread for ended.
        """
        for done in self._done:
            while not done.wait(_POLL_S):
                if is_stopped():
                    raise _StoppedError

    def _work(self, lane: Lane[Task, Result], done: threading.Event) -> None:
        tail: Tail[Result] = Tail(self.keep, self._fail)
        try:
            while not self.stop.is_set():
                number, task = self.waiting.get_nowait()
                found = lane.run(task)
                if isinstance(found, Rest):
                    tail.take(number, found)
                else:
                    self.keep(number, found)
        except queue.Empty:
            pass
        except BaseException as error:  # noqa: BLE001 - handed to the main thread, which raises it
            self._fail(error)
        tail.close()
        try:
            lane.close()
        except BaseException as error:  # noqa: BLE001 - likewise; the main thread waits for `done` whatever happens
            self._fail(error)
        done.set()

    def keep(self, number: int, result: Result | None) -> None:
        """The result of the task of that number."""
        self.results[number] = result

    def _fail(self, error: BaseException) -> None:
        self.failures.append(error)
        self.stop.set()


def run_in_lanes(
    tasks: Sequence[Task], jobs: int, make_lane: Callable[[int], Lane[Task, Result]], is_stopped: Callable[[], bool] = never
) -> tuple[list[Result | None], bool]:
    """Run `tasks` in `jobs` lanes and return their results in order, and whether Ctrl-C or `is_stopped` cut the run short (missing results are None).

    Raises the first exception that a lane raised, after all lanes have ended.
    """
    pool: _Pool[Task, Result] = _Pool(tasks)
    lanes = [make_lane(number) for number in range(max(1, min(jobs, len(tasks))))]
    is_interrupted = _run(pool, lanes, is_stopped)
    if pool.failures and not is_interrupted:
        raise pool.failures[0]
    return pool.results, is_interrupted


def _run(pool: _Pool[Task, Result], lanes: Sequence[Lane[Task, Result]], is_stopped: Callable[[], bool]) -> bool:
    try:
        for number, lane in enumerate(lanes):
            pool.start(number, lane)
        pool.wait(is_stopped)
    except (KeyboardInterrupt, _StoppedError):
        pool.stop.set()
        for lane in lanes:
            lane.interrupt()
        pool.wait()
        return True
    return False
