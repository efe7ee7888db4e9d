"""A service on the null target with a small suite; what the tests of `piton serve` share."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path

from null_world import make_submission

from piton.server.archive import pack_submission
from piton.server.records import JobRecord, JobState
from piton.server.service import EvaluationService
from piton.server.settings import JobOptions, QueueLimits, ServeSettings

CLIENT = "tests"
WAITS = {"grow": {"default": {"compute": "exp", "wait_s": 60.0}}}
"""A script whose calls take longer than any test."""


def settings(root: Path, suite: Path, **changes: object) -> ServeSettings:
    """Settings of a server whose files lie below `root`."""
    limits = QueueLimits.model_validate(changes.pop("limits", {}))
    base = ServeSettings(state_dir=str(root / "state"), cache_dir=str(root / "cache"), targets=("null",), suites=(str(suite),), is_trusted=True, limits=limits)
    return base.model_copy(update=changes)


def packed(root: Path, script: dict[str, object] | None = None, operators: tuple[str, ...] = ("grow", "twice")) -> bytes:
    """A submission of null_world as it is sent."""
    return pack_submission(make_submission(root, script, operators))


def submit(service: EvaluationService, data: bytes, client: str = CLIENT, **options: object) -> JobRecord:
    """Submit and return the record."""
    return service.submit(io.BytesIO(data), JobOptions.model_validate(options), client)[0]


def ended(service: EvaluationService, record: JobRecord, seconds: float = 120.0) -> JobRecord:
    """The record once the job has ended."""
    until(lambda: service.board.find(record.id, record.client).has_ended, seconds)
    return service.board.find(record.id, record.client)


def until(is_so: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait for something; a test that waits in vain fails."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def runs(service: EvaluationService, record: JobRecord) -> None:
    """Wait until a job runs its first case."""
    until(lambda: service.board.find(record.id, record.client).state is JobState.RUNNING and service.board.find(record.id, record.client).cases > 0)
