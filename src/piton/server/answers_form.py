"""The forms of what the API answers with; docs/serve.md has the same as tables."""

from __future__ import annotations

from pydantic import BaseModel

from piton.server.records import JobState
from piton.server.settings import JobOptions


class ErrorParts(BaseModel):
    """One clear error."""

    problem: str
    expected: str = ""
    found: str = ""
    where: str = ""
    action: str = ""
    message: str
    """All of it as one text."""


class ErrorAnswer(BaseModel):
    """Body of every answer that is not one of success."""

    error: ErrorParts


class JobAnswer(BaseModel):
    """State of a job."""

    id: str
    state: JobState
    is_ended: bool
    """True when nothing more will happen to it."""
    position: int
    """Jobs before it in the queue."""
    submission_digest: str
    options: JobOptions
    submitted: str
    started: str
    ended: str
    cases: int
    """Cases of the evaluation; 0 until it has begun."""
    finished_cases: int
    problem: str
    """Why it was refused or failed."""


class JobsAnswer(BaseModel):
    """A client's jobs."""

    jobs: list[JobAnswer]


class HealthAnswer(BaseModel):
    """What anybody may know of the server."""

    status: str
    """`ok`, or `stopping`: then it takes no jobs."""
    piton: str
    targets: tuple[str, ...]
    suites: tuple[str, ...]
    isolation: tuple[str, ...]
    queued: int
    running: int
    uptime_s: float
