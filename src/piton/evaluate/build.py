"""Building the operators of a submission; a failure is a value that all cases of the operator share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from piton.core.execution import Build
from piton.core.operator import Operator
from piton.core.protocols import Runner, Target
from piton.core.submission import Submission
from piton.core.verdict import Cause, Outcome, outcome
from piton.evaluate.admit import SHARED
from piton.evaluate.progress import Events, StageFinished, StageStarted
from piton.evaluate.retry import made
from piton.evaluate.schedule import never

if TYPE_CHECKING:
    from piton.evaluate.cluster.crew import Crew


@dataclass(frozen=True)
class Workplace:
    """Where and with what things are built and run."""

    target: Target
    runner: Runner
    run_dir: Path
    events: Events
    is_stopped: Callable[[], bool] = never
    """Asked several times a second while cases run: has the caller given up?"""
    stop_builds: Callable[[], None] = lambda: None
    """Ends the builds that are still to come, so that nobody waits for them."""
    crew: Crew | None = None
    """Workers on other machines that evaluate the cases; None: this process does."""


def build_operator(place: Workplace, submission: Submission, operator: Operator, refusals: Mapping[str, Outcome]) -> Build:
    """Build one operator; refused and missing ones get their outcome without a compiler run."""
    failure = refusal_of(submission, operator, refusals)
    if failure is not None:
        return Build(operator=operator.name, outcome=failure)
    return build_with_progress(place, submission, operator, "build")


def refusal_of(submission: Submission, operator: Operator, refusals: Mapping[str, Outcome]) -> Outcome | None:
    """Why an operator fails without a compiler run; None when it takes one to know."""
    return refusals.get(SHARED) or refusals.get(operator.name) or _missing(submission, operator)


def build_with_progress(place: Workplace, submission: Submission, operator: Operator, folder: str) -> Build:
    """Run the toolchain in `run_dir/<folder>/<operator>` and report the stage."""
    stage: Literal["baseline", "build"] = "build" if folder == "build" else "baseline"
    build_dir = place.run_dir / folder / operator.name
    build_dir.mkdir(parents=True, exist_ok=True)
    place.events(StageStarted(stage=stage, subject=operator.name))
    build = made(lambda: place.target.toolchain.build(submission, operator, place.runner, str(build_dir)))
    place.events(StageFinished(stage=stage, subject=operator.name, message=build.outcome.message if build.outcome else "", is_cached=build.is_cached))
    return build


def _missing(submission: Submission, operator: Operator) -> Outcome | None:
    if any(sources.operator == operator.name for sources in submission.operators):
        return None
    there = ", ".join(sources.operator for sources in submission.operators) or "none"
    return outcome(Cause.OPERATOR_MISSING, f"the submission has no sources of {operator.name}, such as csrc/ops/{operator.name} (it has: {there})")
