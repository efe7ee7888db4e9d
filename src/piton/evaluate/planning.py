"""What is to be done: which cases run, which the journal has, what is written beside the report. Planned before anything is built."""

from __future__ import annotations

from dataclasses import dataclass

import piton
from piton.core.canonical import digest
from piton.core.execution import Build
from piton.core.report import CaseResult
from piton.core.submission import Submission
from piton.evaluate.admit import find_refusals
from piton.evaluate.assemble import Subject, effective_auto_sync, submission_name
from piton.evaluate.build import Workplace
from piton.evaluate.build_ahead import BuildsAhead, PlannedTask
from piton.evaluate.case_order import ordered
from piton.evaluate.failures import FailureKeeper
from piton.evaluate.journal import Journal
from piton.evaluate.progress import Planned
from piton.evaluate.traces import TraceKeeper

Finished = dict[tuple[str, str], CaseResult]
"""Results by operator and case id."""


def effective_submission(subject: Subject) -> Submission:
    """The submission as it is built and run: with the auto-sync that holds for this evaluation."""
    auto_sync = effective_auto_sync(subject.submission, subject.request)
    manifest = subject.submission.manifest.model_copy(update={"auto_sync": auto_sync})
    return subject.submission.model_copy(update={"manifest": manifest})


def building(place: Workplace, subject: Subject, extras: Extras) -> BuildsAhead:
    """The builds of all selected operators, begun."""
    builds = BuildsAhead(place, effective_submission(subject), find_refusals(subject.submission), extras.keep_build)
    builds.start([member.operator for member in subject.selection.members])
    return builds


@dataclass(frozen=True)
class Extras:
    """Writers of what a run leaves beside its report; None where it is not asked for."""

    failures: FailureKeeper | None
    traces: TraceKeeper | None

    def lack(self, done: CaseResult) -> bool:
        """True when one of them misses something of a finished case."""
        return (self.failures is not None and self.failures.lacks(done)) or (self.traces is not None and self.traces.lacks(done))

    def keep_build(self, build: Build) -> None:
        """Write the reproducer of a failed build."""
        if self.failures is not None and build.outcome is not None:
            self.failures.keep_build(build)


def make_extras(place: Workplace, subject: Subject) -> Extras:
    """What the request asks for."""
    request = subject.request
    failures = FailureKeeper(place.run_dir, request, subject.submission, place.events) if request.keeps_failures else None
    wanted = subject.request.timelines
    about = {"piton": piton.__version__, "submission": submission_name(subject.submission, subject.request), "target": subject.target.name}
    about["time"] = subject.target.provenance.value
    return Extras(failures, None if wanted is None else TraceKeeper(place.run_dir, wanted, about, place.events))


def plan(subject: Subject, builds: BuildsAhead, journal: Journal, extras: Extras) -> tuple[list[PlannedTask], Finished]:
    """Split the selected cases of operators that are built, as far as is known, into those to run and those that the journal already has.

    A case whose reproducer or timeline is asked for and not there runs again: they are in no journal.
    """
    finished: Finished = {}
    tasks: list[PlannedTask] = []
    for member in subject.selection.members:
        operator, pending = member.operator, builds.pending(member.operator)
        if pending is None:
            continue
        build_key, building = pending
        for case in filter(subject.selection.has, member.cases):
            key = digest([build_key, operator.name, case.digest()])
            done = journal.find(key)
            if done is not None and not extras.lack(done):
                finished[operator.name, case.id] = done
            else:
                tasks.append(PlannedTask(operator, case, building, key))
    return ordered(tasks, subject.request.integrity, subject.request.seed), finished


def announce(subject: Subject, tasks: list[PlannedTask], finished: Finished) -> Planned:
    """The first thing a listener hears about the cases."""
    return Planned(
        submission=submission_name(subject.submission, subject.request),
        suite=f"{subject.suite.name} {subject.suite.version}",
        target=subject.target.name,
        operators=tuple(member.operator.name for member in subject.selection.members),
        cases=len(tasks),
        resumed_cases=len(finished),
    )
