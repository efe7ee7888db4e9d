"""The rest of a task overlaps with the lane's next task, one rest at a time; results, order and failures are those of the sequential run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

import pytest

from piton.evaluate.overlap import Rest
from piton.evaluate.schedule import run_in_lanes


class Lane:
    """Notes what it does; `rests` says what the rest of a task does."""

    def __init__(self, rests: Callable[[int], int | None]) -> None:
        self._rests = rests
        self.log: list[str] = []
        self.is_interrupted = threading.Event()

    def run(self, task: int) -> Rest[int]:
        self.log.append(f"call {task}")
        return Rest(lambda: self._rest(task))

    def interrupt(self) -> None:
        self.is_interrupted.set()

    def close(self) -> None:
        self.log.append("close")

    def _rest(self, task: int) -> int | None:
        found = self._rests(task)
        self.log.append(f"rest {task}")
        return None if self.is_interrupted.is_set() else found


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_of_rests_have_the_order_of_the_tasks(jobs: int) -> None:
    assert run_in_lanes(range(30), jobs, lambda _: Lane(lambda task: 10 * task)) == ([10 * task for task in range(30)], False)


def test_the_next_task_is_called_while_the_rest_of_the_one_before_is_done() -> None:
    second = threading.Event()

    class Ahead(Lane):
        def run(self, task: int) -> Rest[int]:
            if task == 1:
                second.set()
            return super().run(task)

    lane = Ahead(lambda task: int(task > 0 or second.wait(20)))
    assert run_in_lanes([0, 1, 2], 1, lambda _: lane) == ([1, 1, 1], False)


def test_no_more_than_one_rest_is_waited_for() -> None:
    calls = threading.Semaphore(0)
    ahead: list[int] = []

    class Counting(Lane):
        def run(self, task: int) -> Rest[int]:
            calls.release()
            return super().run(task)

    def rest(task: int) -> int:
        calls.acquire()
        if task < 8:  # the one call that may be ahead; a second one would have to come before this rest has ended
            assert calls.acquire(timeout=20)
            ahead.append(task)
            assert not calls.acquire(timeout=0.02)
            calls.release()
        return task

    assert run_in_lanes(range(9), 1, lambda _: Counting(rest)) == (list(range(9)), False)
    assert ahead == list(range(8))


def test_rests_are_done_before_a_lane_is_closed() -> None:
    lane = Lane(lambda task: task)
    run_in_lanes([1, 2], 1, lambda _: lane)
    assert lane.log[-1] == "close"
    assert sorted(lane.log[:-1]) == ["call 1", "call 2", "rest 1", "rest 2"]


def test_an_exception_in_a_rest_is_raised_after_the_lane_is_closed() -> None:
    def fail(task: int) -> int:
        if task == 2:
            raise ArithmeticError("2")
        return task

    lane = Lane(fail)
    with pytest.raises(ArithmeticError, match="2"):
        run_in_lanes(range(50), 1, lambda _: lane)
    assert lane.log[-1] == "close"


def test_an_interrupt_during_a_rest_drops_its_result_and_keeps_the_ones_before() -> None:
    def stop(task: int) -> int:
        if task == 2:
            signal.raise_signal(signal.SIGINT)
            lane.is_interrupted.wait(20)
        return task

    lane = Lane(stop)
    results, is_interrupted = run_in_lanes([1, 2, 3, 4], 1, lambda _: lane)
    assert is_interrupted
    assert results[:2] == [1, None]
