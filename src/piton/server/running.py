"""One job while it runs: how far it is, and why it was told to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from piton.evaluate.progress import CaseFinished, Event, Planned, StageStarted
from piton.server.core import StoppedError

Why = Literal["", "cancelled", "put_off", "too_long"]


class Running:
    """State of one run; read by the thread that runs it, written by any."""

    def __init__(self, deadline_s: float, progress: Callable[[int, int], None]) -> None:
        """`progress` takes the number of cases, and of those that have ended."""
        self._progress = progress
        self._began = time.monotonic()
        self._deadline_s = deadline_s
        self._cases = self._finished = 0
        self._why: Why = ""

    @property
    def why(self) -> Why:
        """Why it was told to stop; the first word counts."""
        return self._why

    @property
    def seconds(self) -> float:
        """Wall-clock seconds since it began."""
        return time.monotonic() - self._began

    def cancel(self) -> None:
        """Stop it for good."""
        self._why = self._why or "cancelled"

    def put_off(self) -> None:
        """Stop it until the next start of the server."""
        self._why = self._why or "put_off"

    def is_stopped(self) -> bool:
        """True once it has to stop; asked several times a second."""
        if not self._why and self.seconds > self._deadline_s:
            self._why = "too_long"
        return bool(self._why)

    def hear(self, event: Event) -> None:
        """Take an event of the evaluation. Raises StoppedError between two builds, where nothing else would stop it."""
        if isinstance(event, Planned):
            self._cases, self._finished = event.cases + event.resumed_cases, event.resumed_cases
        elif isinstance(event, CaseFinished):
            self._finished += 1
        elif isinstance(event, StageStarted) and event.stage != "baseline" and self.is_stopped():  # baselines are built in a lane, which is interrupted
            raise StoppedError
        else:
            return
        self._progress(self._cases, self._finished)
