"""Entry point of the command line, and what a stop (Ctrl-C, SIGTERM) does to it.

Problem: loading the command line takes 0.3 s and more, and an exception that a stop raises in the middle of an import shows a traceback or is swallowed.
Approach: this module needs nothing that loads slowly. From its first line on a stop ends the process at once with one line, since there is nothing to clean up;
a command that has begun its work asks for KeyboardInterrupt instead (`stops_raised`).
Limits: the interpreter's own start, some 20 ms before any line of ours, is Python's.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STOPPED = 130
"""Exit status of a program that was stopped by the user."""
_GARBAGE = 50_000
"""New objects before a look for garbage in cycles. What is loaded here stays; Python's 700 would look through it again and again while it is loaded."""
_STOPS = (signal.SIGINT, signal.SIGTERM)


def run() -> None:
    """Load the command line and run it."""
    stop_at_once()
    gc.set_threshold(_GARBAGE)
    from piton.cli.main import run as run_command

    run_command()


def stop_at_once() -> None:
    """From now on a stop ends the process with one line; a signal that our caller had switched off stays so (background jobs of a shell)."""
    _handle(_leave)


@contextmanager
def stops_raised() -> Iterator[None]:
    """Inside, a stop raises KeyboardInterrupt in the main thread, so that the work can end what it started."""
    _handle(_raise)
    try:
        yield
    finally:
        stop_at_once()


def until_stopped(work: Callable[[], int]) -> int:
    """The exit status of `work`, which may clean up when it is stopped.

    Around each command and not around the program, since the command framework ends that without a word for Ctrl-C.
    """
    try:
        with stops_raised():
            return work()
    except KeyboardInterrupt:
        sys.stderr.write("piton: stopped\n")
        return STOPPED


def _handle(handler: signal._HANDLER) -> None:
    for number in _STOPS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _leave(number: int, frame: object) -> None:
    del number, frame
    os.write(2, b"piton: stopped\n")
    os._exit(STOPPED)


def _raise(number: int, frame: object) -> None:
    del number, frame
    raise KeyboardInterrupt


if __name__ == "__main__":
    run()
