"""Events of a running evaluation; the command line draws them, the server will send them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from piton.core.report import CaseResult


@dataclass(frozen=True)
class Planned:
    """What will be done."""

    submission: str
    suite: str
    target: str
    operators: tuple[str, ...]
    cases: int
    resumed_cases: int
    """Cases taken from the journal of an earlier, interrupted run."""


@dataclass(frozen=True)
class StageStarted:
    """A stage that may take seconds begins."""

    stage: Literal["target", "build", "baseline"]
    subject: str
    """Target or operator it is about."""


@dataclass(frozen=True)
class StageFinished:
    """The stage of the same name ended."""

    stage: Literal["target", "build", "baseline"]
    subject: str
    message: str = ""
    """What went wrong; empty when nothing did."""
    is_cached: bool = False


@dataclass(frozen=True)
class StageProgress:
    """Something went on inside a stage."""

    stage: Literal["target", "suite"]
    message: str


@dataclass(frozen=True)
class CaseStarted:
    """A lane took up a case."""

    operator: str
    case_id: str
    lane: int


@dataclass(frozen=True)
class CaseFinished:
    """A case is in the journal."""

    result: CaseResult


@dataclass(frozen=True)
class HiddenCaseFinished:
    """A hidden case is in the journal; which one, and how it went, is not said."""

    operator: str


@dataclass(frozen=True)
class Notice:
    """Something that the user should know and that changes no result."""

    message: str


@dataclass(frozen=True)
class Interrupted:
    """The run was asked to stop; what is finished stays in the journal."""

    remaining: int


Event = Planned | StageStarted | StageProgress | StageFinished | CaseStarted | CaseFinished | HiddenCaseFinished | Notice | Interrupted
Events = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Listener of a caller that wants the report only."""
    del event


def one_at_a_time(events: Events) -> Events:
    """Wrap a listener so that lanes never call it at the same time."""
    lock = threading.Lock()

    def emit(event: Event) -> None:
        with lock:
            events(event)

    return emit
