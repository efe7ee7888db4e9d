"""Opening and using the crew of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from piton.core.measurement import Provenance
from piton.core.report import CaseResult
from piton.evaluate.assemble import Subject
from piton.evaluate.build import Workplace
from piton.evaluate.build_ahead import BuiltFirst, PlannedTask
from piton.evaluate.cluster.brought import bring
from piton.evaluate.cluster.crew import Crew, CrewLane, Handover
from piton.evaluate.cluster.fleet import Fleet
from piton.evaluate.cluster.order import Reply, make_order
from piton.evaluate.cluster.seats import Placement, placements
from piton.evaluate.cluster.thread_fleet import THREADS, thread_fleet
from piton.evaluate.execute import CaseTask
from piton.evaluate.failures import FailureKeeper
from piton.evaluate.policy import Bounds, EvaluationRequest
from piton.evaluate.progress import Notice, StageProgress
from piton.evaluate.schedule import run_in_lanes
from piton.report.rescore import score_case


@contextmanager
def open_crew(place: Workplace, subject: Subject) -> Iterator[Crew | None]:
    """The workers of the request's cluster, being started; None when it names none.

    Raises UsageError and TargetUnavailableError for a cluster that can't be used, before anything is built.
    """
    if not subject.request.ray:
        yield None
        return
    with _open_fleet(place, subject) as fleet:
        place.events(StageProgress(stage="target", message=f"workers of {subject.request.ray}: {len(fleet.seats)}"))
        crew = Crew(fleet, place.events)
        try:
            yield crew
        finally:
            crew.stop()


@contextmanager
def _open_fleet(place: Workplace, subject: Subject) -> Iterator[Fleet]:
    request, target = subject.request, subject.target
    if request.ray.startswith(THREADS):
        yield thread_fleet(request.ray, subject)
        return
    from piton.evaluate.cluster.ray_fleet import RayFleet, check_software, connected, machines

    with connected(request.ray) as ray:
        found = placements(machines(ray), target.name, request.jobs, is_measured=target.provenance is Provenance.DEVICE)
        check_software(ray, tuple({item.machine.id: item.machine for item in found}.values()))
        yield RayFleet(ray, found, *make_order(subject, _shares(request, found)))


def run_with_crew(
    place: Workplace, tasks: list[PlannedTask], failures: FailureKeeper | None, keep: Callable[[CaseTask, CaseResult], None]
) -> tuple[list[CaseResult | None], bool]:
    """As `run_in_lanes` with lanes that evaluate: results in the order of the tasks, and whether the run was cut short."""
    assert place.crew is not None
    shared = Handover(place.crew, place.events, Taker(place, failures, keep).take, lambda result: score_case(result, place.target.hardware.fidelity))
    return run_in_lanes(tasks, place.crew.lanes, lambda number: BuiltFirst(CrewLane(number, shared), place.stop_builds), place.is_stopped)


@dataclass(frozen=True)
class Taker:
    """Takes what workers send, in the order in which a local lane would."""

    place: Workplace
    failures: FailureKeeper | None
    keep: Callable[[CaseTask, CaseResult], None]

    def take(self, task: CaseTask, reply: Reply) -> None:
        """Files, reproducer, then the journal."""
        assert reply.result is not None
        for text in reply.notices:
            self.place.events(Notice(text))
        try:
            bring(self.place.run_dir, reply.files)
        except OSError as error:
            self.place.events(Notice(f"what came with {task.operator.name}/{task.case.id} can't be written to {self.place.run_dir}: {error.strerror or error}"))
        if self.failures is not None:
            self.failures.keep_result(reply.result)
        self.keep(task, reply.result)


def _shares(request: EvaluationRequest, found: Sequence[Placement]) -> Bounds:
    """The bounds of one worker: memory is divided among those of a machine, room for reproducers among all."""
    per_machine = max(Counter(item.machine.id for item in found).values())
    bounds = request.bounds
    return bounds.model_copy(update={"memory_share": bounds.memory_share / per_machine, "failure_bytes": bounds.failure_bytes // len(found)})
