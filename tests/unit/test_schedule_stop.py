"""A caller that is not at the keyboard stops its lanes as Ctrl-C would."""

from __future__ import annotations

import threading

from piton.evaluate.schedule import run_in_lanes


class _Lane:
    """Takes a first task to its end and waits in the second one until it is interrupted."""

    def __init__(self, reached: threading.Event) -> None:
        self._reached = reached
        self._interrupted = threading.Event()

    def run(self, task: int) -> int | None:
        if task == 1:
            return task
        self._reached.set()
        assert self._interrupted.wait(60)
        return None

    def interrupt(self) -> None:
        self._interrupted.set()

    def close(self) -> None:
        pass


def test_a_caller_that_says_stop_gets_what_is_finished() -> None:
    reached = threading.Event()
    results, is_interrupted = run_in_lanes([1, 2, 3], 1, lambda number: _Lane(reached), reached.is_set)
    assert (results, is_interrupted) == ([1, None, None], True)


def test_a_caller_that_never_says_stop_gets_everything() -> None:
    results, is_interrupted = run_in_lanes([1, 1], 2, lambda number: _Lane(threading.Event()))
    assert (results, is_interrupted) == ([1, 1], False)
