"""The crew: workers on several machines, what is done when one is lost, and the lanes that hand it cases.

A worker that is lost is replaced, on its machine or on another one, and the case that it had is given to whoever is free. That happens to one case a few
times at most: it may be the case that brings workers down, and then it is a void. Which worker evaluates a case decides nothing about its result.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from piton.core.errors import EvaluatorError, TargetUnavailableError, UsageError
from piton.core.fault import Fault, Retry
from piton.core.report import CaseResult, Environment
from piton.evaluate.cluster.fleet import AHEAD, Fleet, Seat, Worker, WorkerLostError
from piton.evaluate.cluster.order import Reply, Started
from piton.evaluate.execute import CaseTask
from piton.evaluate.progress import CaseStarted, Events, Notice, StageProgress
from piton.evaluate.sandbox.levels import reached
from piton.evaluate.unrun import void_case

MOST_LOST = 3
"""Workers that one case may cost before it is a void."""
MOST_STARTS = 3
"""Starts in a row that may fail before a seat is given up."""

_FILLER_S = 10.0
"""For a thread to notice that the worker it waits for was ended."""


class StoppedError(Exception):
    """The run is being stopped."""


@dataclass
class _Post:
    """A worker that is ready."""

    seat: Seat
    worker: Worker
    isolation: tuple[str, ...]
    given: int = 0
    """Cases that it has."""

    @property
    def room(self) -> int:
        """Cases that it may still be given."""
        return self.seat.lanes + AHEAD - self.given


class Crew:
    """The workers of one run: starts one for each seat, at once and beside whatever else the driver does."""

    def __init__(self, fleet: Fleet, events: Events) -> None:
        self._fleet = fleet
        self._events = events
        self._changed = threading.Condition()
        self._posts: list[_Post] = []
        self._workers: list[Worker] = []
        self._isolations: list[tuple[str, ...]] = []
        self._refusal = ""
        self._is_stopped = False
        self._fillers: list[threading.Thread] = []
        self._filling = len(fleet.seats)
        for seat in fleet.seats:
            self._start_filling(seat)

    @property
    def lanes(self) -> int:
        """Cases that may be given out at the same time."""
        return sum(seat.lanes + AHEAD for seat in self._fleet.seats)

    @property
    def is_stopped(self) -> bool:
        """True once the run is being stopped: what workers did then is nobody's."""
        return self._is_stopped

    def ask(self, task: CaseTask) -> Reply:
        """What the next worker with room makes of a task.

        Raises WorkerLostError when it was lost over it, EvaluatorError when it has no answer, TargetUnavailableError when no worker is left, UsageError
        when a worker can't be used, StoppedError.
        """
        post = self._borrow()
        try:
            return post.worker.evaluate(task)
        except WorkerLostError as error:
            self._replace(post, str(error))
            raise
        finally:
            with self._changed:
                post.given -= 1
                self._changed.notify_all()

    def stop(self) -> None:
        """End all workers; a case in progress is lost. Safe to call twice."""
        with self._changed:
            self._is_stopped = True
            workers, self._workers = self._workers, []
            self._changed.notify_all()
        enders = [threading.Thread(target=worker.stop) for worker in workers]  # each may take seconds
        for ender in enders:
            ender.start()
        for ender in enders:
            ender.join()
        for filler in self._fillers:  # they end with the workers that they wait for, and before what connects to these goes away
            filler.join(_FILLER_S)

    def describe(self, environment: Environment) -> Environment:
        """The driver's environment with what held on all workers: the weakest isolation counts."""
        name, version = self._fleet.software
        common = tuple(item for item in environment.isolation if all(item in found for found in self._isolations))
        jobs = sum(seat.lanes for seat in self._fleet.seats)
        update = {"isolation": common, "isolation_level": reached(common), "jobs": jobs, "libraries": {**environment.libraries, name: version}}
        return environment.model_copy(update=update)

    def _borrow(self) -> _Post:
        with self._changed:
            while True:
                self._raise_if_over()
                free = [post for post in self._posts if post.room > 0]
                if free:
                    chosen = max(free, key=lambda post: post.room)
                    chosen.given += 1
                    return chosen
                self._changed.wait()

    def _raise_if_over(self) -> None:
        if self._is_stopped:
            raise StoppedError
        if self._refusal:
            raise UsageError("a worker can't be used", found=self._refusal, action="make its machine like this one, or leave it out of the cluster")
        if not self._posts and not self._filling:
            raise TargetUnavailableError("no worker of the cluster is left", action="look at its state (`ray status`), then go on with --resume")

    def _replace(self, post: _Post, reason: str) -> None:
        """Take a lost worker off; whoever of the cases that it had is first starts another one."""
        with self._changed:
            if post not in self._posts:
                return
            self._posts.remove(post)
            self._workers = [worker for worker in self._workers if worker is not post.worker]
            if self._is_stopped:
                return
            self._filling += 1
        self._events(Notice(f"the worker on {post.seat.machine} was lost ({reason}); another one takes its place"))
        post.worker.stop()
        self._start_filling(post.seat)

    def _start_filling(self, seat: Seat) -> None:
        thread = threading.Thread(target=self._fill, args=(seat,), name=f"seat-{seat.number}", daemon=True)
        self._fillers.append(thread)
        thread.start()

    def _fill(self, seat: Seat) -> None:
        try:
            if not any(self._try_start(seat) for _ in range(MOST_STARTS)):
                self._events(Notice(f"no worker comes up on {seat.machine}; the run goes on without it"))
        except Exception as error:  # noqa: BLE001 - a thread of its own: whoever waits for a worker has to hear of it
            self._refuse(f"{seat.machine}: internal error of Piton, please report it: {type(error).__name__}: {error}")
        with self._changed:
            self._filling -= 1
            self._changed.notify_all()

    def _try_start(self, seat: Seat) -> bool:
        """True when nothing more has to be done for the seat."""
        worker = self._fleet.hire(seat)
        with self._changed:
            self._workers.append(worker)
            is_late = self._is_stopped
        try:
            if is_late:
                raise WorkerLostError("the run is being stopped")
            started = worker.start()
        except WorkerLostError as error:
            self._give_up(worker)
            if not self._is_stopped:
                self._events(Notice(f"a worker on {seat.machine} did not start: {error}"))
            return self._is_stopped
        self._take_on(seat, worker, started)
        return True

    def _take_on(self, seat: Seat, worker: Worker, started: Started) -> None:
        if started.refusal:
            self._refuse(f"{seat.machine}: {started.refusal}")
            return
        self._events(StageProgress(stage="target", message=f"worker on {started.place} is ready"))
        with self._changed:
            self._isolations.append(started.isolation)
            self._posts.append(_Post(seat, worker, started.isolation))
            self._changed.notify_all()

    def _give_up(self, worker: Worker) -> None:
        with self._changed:
            self._workers = [other for other in self._workers if other is not worker]
        worker.stop()

    def _refuse(self, reason: str) -> None:
        with self._changed:
            self._refusal = self._refusal or reason
            self._changed.notify_all()


@dataclass(frozen=True)
class Handover:
    """What the driver does with what comes back."""

    crew: Crew
    events: Events
    take: Callable[[CaseTask, Reply], None]
    """Takes a finished case: journal, events, files."""
    score: Callable[[CaseResult], CaseResult]


class CrewLane:
    """Implements `schedule.Lane`: gives a case to a worker and waits for it."""

    def __init__(self, number: int, shared: Handover) -> None:
        self._number = number
        self._shared = shared

    def run(self, task: CaseTask) -> CaseResult | None:
        """Have one case evaluated; None when the run is being stopped."""
        shared = self._shared
        shared.events(CaseStarted(operator=task.operator.name, case_id=task.case.id, lane=self._number))
        try:
            reply = self._ask(task)
        except StoppedError:
            return None
        if shared.crew.is_stopped or reply.result is None:
            return None
        shared.take(task, reply)
        return reply.result

    def interrupt(self) -> None:
        """Stop the whole crew: lanes are interrupted all together or not at all."""
        self._shared.crew.stop()

    def close(self) -> None:
        """A lane owns nothing."""

    def _ask(self, task: CaseTask) -> Reply:
        started, lost = time.monotonic(), list[Retry]()
        while len(lost) < MOST_LOST:
            reply, reason = self._try(task)
            if reply is not None:
                return _after(lost, reply)
            lost.append(Retry(fault=Fault.PROCESS_LOST, reason=reason))
        reason = f"{MOST_LOST} workers were lost while they had this case; the last one: {lost[-1].reason}"
        return _after(lost[:-1], self._void(task, Fault.PROCESS_LOST, reason, started))

    def _try(self, task: CaseTask) -> tuple[Reply | None, str]:
        """What a worker made of the task; none, and how it ended, when it was lost."""
        started = time.monotonic()
        try:
            reply = _accepted(self._shared.crew.ask(task))
            return reply if reply.trouble is None else self._void(task, reply.trouble.fault, reply.trouble.reason, started), ""
        except WorkerLostError as error:
            return None, str(error)
        except EvaluatorError as error:
            return self._void(task, error.fault, str(error), started), ""

    def _void(self, task: CaseTask, fault: Fault, reason: str, started: float) -> Reply:
        update = {"wall_s": time.monotonic() - started, "fault": fault}
        result = void_case(task.operator, task.case, reason).model_copy(update=update)
        return Reply(self._shared.score(result))


def _after(lost: Sequence[Retry], reply: Reply) -> Reply:
    """The reply with the workers that its case cost before."""
    if not lost or reply.result is None:
        return reply
    return replace(reply, result=reply.result.model_copy(update={"retries": (*lost, *reply.result.retries)}))


def _accepted(reply: Reply) -> Reply:
    if reply.refusal:
        raise UsageError("a worker can't be used", found=reply.refusal, action="make its machine like this one, or leave it out of the cluster")
    return reply
