"""For all suites: signals are as in a terminal, before each test and after it.

A shell that starts tests in the background has SIGINT ignored, and every program that a test starts would inherit that and could not be stopped by it.
A command that a test runs in its own process sets handlers that end the process; the next test that raises SIGINT would end the test runner.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
