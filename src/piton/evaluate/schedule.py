"""Lanes: threads of the parent that take tasks in order; results come back in the order of the tasks, whatever the number of lanes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
TaskIn = TypeVar("TaskIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)

_POLL_S = 0.2
"""The main thread wakes this often so that Ctrl-C is seen."""


class Lane(Protocol[TaskIn, ResultOut]):
    """What one lane does; owned by its thread, except for `interrupt`."""

    def run(self, task: TaskIn) -> ResultOut:
        """Do one task. An exception stops all lanes and is raised by `run_in_lanes`."""
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

    def work(self, lane: Lane[Task, Result]) -> None:
        try:
            while not self.stop.is_set():
                number, task = self.waiting.get_nowait()
                result = lane.run(task)
                if not self.stop.is_set():
                    self.results[number] = result
        except queue.Empty:
            pass
        except BaseException as error:  # noqa: BLE001 - handed to the main thread, which raises it
            self.failures.append(error)
            self.stop.set()
        finally:
            lane.close()


def run_in_lanes(tasks: Sequence[Task], jobs: int, make_lane: Callable[[int], Lane[Task, Result]]) -> tuple[list[Result | None], bool]:
    """Run `tasks` in `jobs` lanes and return their results in order, and whether Ctrl-C cut the run short (missing results are None).

    Raises the first exception that a lane raised, after all lanes have ended.
    """
    pool: _Pool[Task, Result] = _Pool(tasks)
    lanes = [make_lane(number) for number in range(max(1, min(jobs, len(tasks))))]
    threads = [threading.Thread(target=pool.work, args=(lane,), name=f"lane-{number}", daemon=True) for number, lane in enumerate(lanes)]
    is_interrupted = _run_threads(pool, lanes, threads)
    if pool.failures and not is_interrupted:
        raise pool.failures[0]
    return pool.results, is_interrupted


def _run_threads(pool: _Pool[Task, Result], lanes: Sequence[Lane[Task, Result]], threads: Sequence[threading.Thread]) -> bool:
    try:
        for thread in threads:
            thread.start()
        _join(threads)
    except KeyboardInterrupt:
        pool.stop.set()
        for lane in lanes:
            lane.interrupt()
        _join(threads)
        return True
    return False


def _join(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        while thread.is_alive():
            thread.join(_POLL_S)
