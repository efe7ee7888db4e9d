"""The crew of a run on several machines, with workers that are scripted: what is lost is done again, a bounded number of times."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence

import pytest

from piton.core.case import Case
from piton.core.errors import EvaluatorError, TargetUnavailableError, UsageError
from piton.core.execution import Build
from piton.core.fault import Fault
from piton.core.operator import Operator
from piton.core.report import CaseResult, Environment
from piton.core.verdict import PASSED
from piton.evaluate.cluster.crew import MOST_LOST, MOST_STARTS, Crew, CrewLane, Handover
from piton.evaluate.cluster.fleet import AHEAD, Seat, WorkerLostError
from piton.evaluate.cluster.order import Reply, Started
from piton.evaluate.execute import CaseTask
from piton.evaluate.progress import CaseStarted, Event, Notice
from piton.evaluate.retry import Trouble
from piton.evaluate.schedule import run_in_lanes
from piton.evaluate.unrun import unrun_case

REFUSED = "19"
"""The case that every worker refuses."""
TROUBLED = "17"
"""The case that no worker can evaluate."""
Script = Callable[["ScriptedWorker", CaseTask], None]


def nothing(worker: ScriptedWorker, task: CaseTask) -> None:
    """Every case passes at once."""


class ScriptedWorker:
    """Passes every case, after its script had its way."""

    def __init__(self, number: int, script: Script, starts: Sequence[Started | None]) -> None:
        self.number, self._script, self._starts = number, script, starts
        self.stopped = threading.Event()
        self.given = self.most = 0
        self._lock = threading.Lock()

    def start(self) -> Started:
        started = self._starts[self.number] if self.number < len(self._starts) else Started(f"worker {self.number}")
        if started is None:
            raise WorkerLostError("it did not come up")
        return started

    def evaluate(self, task: CaseTask) -> Reply:
        with self._lock:
            self.given += 1
            self.most = max(self.most, self.given)
        try:
            self._script(self, task)
        finally:
            with self._lock:
                self.given -= 1
        if self.stopped.is_set():
            raise WorkerLostError("it was stopped")
        if task.case.id == TROUBLED:
            return Reply(trouble=Trouble(Fault.STORAGE, "no space left there"))
        return Reply(refusal="another compiler") if task.case.id == REFUSED else Reply(unrun_case(task.operator, task.case, PASSED))

    def stop(self) -> None:
        self.stopped.set()


class ScriptedFleet:
    """Hires scripted workers, and remembers them."""

    software = ("scripted", "1")

    def __init__(self, seats: int = 2, script: Script = nothing, starts: Sequence[Started | None] = (), lanes: int = 1) -> None:
        self.seats = [Seat(number, f"machine {number}", lanes) for number in range(seats)]
        self._script, self._starts = script, starts
        self.hired: list[ScriptedWorker] = []
        self._lock = threading.Lock()

    def hire(self, seat: Seat) -> ScriptedWorker:
        with self._lock:
            self.hired.append(ScriptedWorker(len(self.hired), self._script, self._starts))
            return self.hired[-1]


class Run:
    """One run of cases `0` to `count - 1` with a crew."""

    def __init__(self, fleet: ScriptedFleet, count: int = 6) -> None:
        self.events: list[Event] = []
        self.taken: list[str] = []
        self.crew = Crew(fleet, self.events.append)
        self.tasks = [CaseTask(operator(), Case(operator="exp", id=str(number), inputs=()), Build("exp"), str(number)) for number in range(count)]

    def __call__(self, is_stopped: Callable[[], bool] = lambda: False) -> tuple[list[CaseResult | None], bool]:
        shared = Handover(self.crew, self.events.append, lambda task, reply: self.taken.append(task.case.id), lambda result: result)
        try:
            return run_in_lanes(self.tasks, self.crew.lanes, lambda number: CrewLane(number, shared), is_stopped)
        finally:
            self.crew.stop()

    @property
    def notices(self) -> list[str]:
        return [event.message for event in self.events if isinstance(event, Notice)]


def operator() -> Operator:
    return Operator(name="exp", title="Exp", level=1, category="Elementwise", schema_text="exp() -> Tensor y", inputs=(), outputs=())


class Meeting:
    """Lets its first callers go when all of them are there, and later ones at once."""

    def __init__(self, callers: int) -> None:
        self._numbers, self._callers, self._barrier = itertools.count(), callers, threading.Barrier(callers)

    def wait(self) -> None:
        if next(self._numbers) < self._callers:
            self._barrier.wait(20)


def ids(results: list[CaseResult | None]) -> list[str]:
    return [result.case.id for result in results if result is not None]


def test_every_case_is_evaluated_once_and_results_have_the_order_of_the_tasks() -> None:
    run = Run(ScriptedFleet(), 6)
    results, is_interrupted = run()
    assert (ids(results), is_interrupted) == ([str(number) for number in range(6)], False)
    assert sorted(run.taken, key=int) == ids(results)
    assert sum(isinstance(event, CaseStarted) for event in run.events) == 6


def test_the_cases_of_a_lost_worker_run_again_on_another_one_that_takes_its_place() -> None:
    everybody = Meeting(2 * (1 + AHEAD))

    def script(worker: ScriptedWorker, task: CaseTask) -> None:
        everybody.wait()  # so that the first worker has cases, however late it came up
        if worker.number == 0:
            worker.stop()

    fleet = ScriptedFleet(script=script)
    run = Run(fleet)
    results, _ = run()
    assert ids(results) == ["0", "1", "2", "3", "4", "5"]
    assert sorted(run.taken) == ids(results)
    assert not any(result.void for result in results if result)
    assert len(fleet.hired) == 3
    assert [text for text in run.notices if "another one takes its place" in text]


def test_a_lost_worker_is_replaced_once_however_many_cases_it_had() -> None:
    both = Meeting(1 + AHEAD)

    def script(worker: ScriptedWorker, task: CaseTask) -> None:
        both.wait()
        if worker.number == 0:
            worker.stop()

    fleet = ScriptedFleet(seats=1, script=script)
    results, _ = Run(fleet, 4)()
    assert (len(ids(results)), len(fleet.hired)) == (4, 2)


def test_a_case_that_costs_worker_after_worker_becomes_a_void_and_the_others_finish() -> None:
    def script(worker: ScriptedWorker, task: CaseTask) -> None:
        if task.case.id == "2":
            worker.stop()

    fleet = ScriptedFleet(seats=1, script=script)
    run = Run(fleet)
    results, _ = run()
    voids = {result.case.id: result.void for result in results if result and result.void}
    assert "2" in voids
    assert "it was stopped" in voids["2"]
    assert len(fleet.hired) == 1 + MOST_LOST
    assert sorted(run.taken) == ["0", "1", "2", "3", "4", "5"]


def test_a_worker_without_an_answer_costs_the_case_only() -> None:
    def script(worker: ScriptedWorker, task: CaseTask) -> None:
        if task.case.id == "1":
            raise EvaluatorError("a mistake of ours")

    fleet = ScriptedFleet(seats=1, script=script)
    results, _ = Run(fleet)()
    assert [result.case.id for result in results if result and "a mistake of ours" in result.void] == ["1"]
    assert len(fleet.hired) == 1


def test_a_worker_that_refuses_ends_the_run_with_its_reason() -> None:
    run = Run(ScriptedFleet(starts=[Started("", refusal="no compiler"), Started("", refusal="no compiler")]))
    with pytest.raises(UsageError, match="no compiler"):
        run()


def test_a_worker_that_builds_something_else_ends_the_run_with_its_reason() -> None:
    run = Run(ScriptedFleet(), int(REFUSED) + 1)
    with pytest.raises(UsageError, match="another compiler"):
        run()
    assert REFUSED not in run.taken


def test_a_worker_that_does_not_start_is_tried_again_and_then_given_up() -> None:
    run = Run(ScriptedFleet(seats=1, starts=[None] * MOST_STARTS))
    with pytest.raises(TargetUnavailableError, match="no worker of the cluster is left"):
        run()
    assert sum("did not start" in text for text in run.notices) == MOST_STARTS


def test_a_run_goes_on_with_the_workers_that_came_up() -> None:
    run = Run(ScriptedFleet(seats=1, starts=[None, None]))
    assert len(ids(run()[0])) == 6


def test_a_stopped_run_ends_its_workers_and_keeps_nothing_of_what_they_had() -> None:
    begun = threading.Event()

    def script(worker: ScriptedWorker, task: CaseTask) -> None:
        begun.set()
        worker.stopped.wait(20)

    run = Run(ScriptedFleet(script=script))
    results, is_interrupted = run(begun.is_set)
    assert (ids(results), run.taken, is_interrupted) == ([], [], True)
    assert run.notices == []


def test_what_a_worker_still_answers_to_a_run_that_was_stopped_is_nobodys() -> None:
    begun = threading.Event()

    def script(worker: ScriptedWorker, task: CaseTask) -> None:
        begun.set()
        worker.stopped.wait(20)
        worker.stopped.clear()  # it answers as if nothing had happened

    run = Run(ScriptedFleet(script=script))
    results, is_interrupted = run(begun.is_set)
    assert (ids(results), run.taken, is_interrupted) == ([], [], True)


def test_a_worker_has_its_lanes_and_one_case_ahead_and_never_more() -> None:
    full = threading.Barrier(2 + AHEAD)
    alone = [Started("the only one that comes up"), *[None] * MOST_STARTS]
    fleet = ScriptedFleet(seats=2, lanes=2, starts=alone, script=lambda worker, task: ignore_number(full.wait(20)))
    Run(fleet, 3 * (2 + AHEAD))()
    assert fleet.hired[0].most == 2 + AHEAD


def ignore_number(number: int) -> None:
    """A script has no result."""


def test_a_report_states_the_isolation_that_held_on_all_workers() -> None:
    strong, weak = ("rlimits", "landlock", "net_namespace"), ("rlimits", "net_namespace")
    everybody = Meeting(2 * (3 + AHEAD))
    fleet = ScriptedFleet(lanes=3, starts=[Started("a", strong), Started("b", weak)], script=lambda worker, task: everybody.wait())
    run = Run(fleet, 2 * (3 + AHEAD))
    run()
    here = Environment(piton="1", python="3", torch="2", compiler="c", machine="m", cores=2, isolation=strong)
    there = run.crew.describe(here)
    assert (there.isolation, there.isolation_level, there.jobs, there.libraries) == (weak, 0, 6, {"scripted": "1"})


def test_what_keeps_a_worker_from_evaluating_is_a_void_with_its_fault_and_costs_no_worker() -> None:
    fleet = ScriptedFleet()
    results, _ = Run(fleet, 18)()
    troubled = results[int(TROUBLED)]
    assert troubled is not None
    assert (troubled.fault, "no space left" in troubled.void, len(fleet.hired)) == (Fault.STORAGE, True, 2)
    assert all(result is not None and not result.void for result in results[: int(TROUBLED)])
