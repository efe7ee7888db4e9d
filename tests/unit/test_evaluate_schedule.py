import signal
import threading

import pytest

from piton.evaluate.schedule import run_in_lanes


class Lane:
    """Returns ten times its task; a task can be told to wait or to fail."""

    def __init__(self, log: list[str] | None = None) -> None:
        self.log = [] if log is None else log
        self.interrupted = threading.Event()

    def run(self, task: int) -> int | None:
        if task < 0:
            raise ArithmeticError(str(task))
        if task == 99:
            signal.raise_signal(signal.SIGINT)
            return None if self.interrupted.wait(20) else 0
        return 10 * task

    def interrupt(self) -> None:
        self.log.append("interrupt")
        self.interrupted.set()

    def close(self) -> None:
        self.log.append("close")


@pytest.mark.parametrize("jobs", [1, 2, 5, 50])
def test_results_have_the_order_of_the_tasks(jobs: int) -> None:
    assert run_in_lanes(range(40), jobs, lambda _: Lane()) == ([10 * task for task in range(40)], False)


def test_no_task_needs_no_lane_to_work() -> None:
    assert run_in_lanes([], 3, lambda _: Lane()) == ([], False)


def test_a_second_lane_goes_on_while_the_first_waits() -> None:
    second_done = threading.Event()

    class Waiting(Lane):
        def run(self, task: int) -> int | None:
            if task == 0:
                return 0 if second_done.wait(20) else -1
            second_done.set()
            return super().run(task)

    assert run_in_lanes([0, 1], 2, lambda _: Waiting()) == ([0, 10], False)


def test_a_lane_that_cannot_be_closed_is_an_error_and_hangs_nothing() -> None:
    class Stuck(Lane):
        def close(self) -> None:
            raise ArithmeticError("close")

    with pytest.raises(ArithmeticError, match="close"):
        run_in_lanes([1, 2], 2, lambda _: Stuck())


def test_an_exception_of_a_lane_is_raised_after_all_lanes_are_closed() -> None:
    log: list[str] = []
    with pytest.raises(ArithmeticError, match="-3"):
        run_in_lanes([1, 2, -3, 4], 2, lambda _: Lane(log))
    assert log == ["close", "close"]


def test_an_interrupt_keeps_what_is_finished_and_ends_what_runs() -> None:
    log: list[str] = []
    results, is_interrupted = run_in_lanes([1, 2, 99, 4], 1, lambda _: Lane(log))
    assert (results, is_interrupted, log) == ([10, 20, None, None], True, ["interrupt", "close"])
