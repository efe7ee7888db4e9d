"""Builds in a thread of their own, in the order of the suite: the cases of an operator run as soon as it is built, while the compiler works on the next.

Problem: with one operator after the other, devices wait for compilers and compilers for devices.
Approach: what is to be done is planned before anything is built (a build's key needs no compiler); a lane that comes to a case waits for the build of its
operator alone. What stops a run ends the compiler too.
Limits: one operator at a time; the toolchain itself compiles several files at once.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from types import TracebackType

from piton.core.case import Case
from piton.core.errors import EvaluatorError
from piton.core.execution import Build
from piton.core.operator import Operator
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role, Runner, RunningProcess
from piton.core.report import CaseResult
from piton.core.submission import Submission
from piton.core.verdict import Cause, Outcome, outcome
from piton.evaluate.build import Workplace, build_operator, refusal_of
from piton.evaluate.execute import CaseTask
from piton.evaluate.overlap import Rest
from piton.evaluate.schedule import Lane

_STOPPED = "the run was stopped before this operator was built"


class _StoppedError(EvaluatorError):
    """The compiler was ended by a stop: whatever that looked like is nobody's failure."""


class BuildsAhead:
    """The builds of a submission's operators; a context that ends with them."""

    def __init__(self, place: Workplace, submission: Submission, refusals: Mapping[str, Outcome], finished: Callable[[Build], None]) -> None:
        """`refusals` as `build_operator` takes them; `finished` hears of every build, in the thread that makes them."""
        self._runner = StoppableRunner(place.runner)
        self._place = replace(place, runner=self._runner)
        self._submission = submission
        self._refusals = refusals
        self._finished = finished
        self._futures: dict[str, Future[Build]] = {}
        self._thread: threading.Thread | None = None

    def start(self, operators: Sequence[Operator]) -> None:
        """Begin with the first of them."""
        self._futures = {operator.name: Future() for operator in operators}
        self._thread = threading.Thread(target=self._work, args=(operators,), name="builds", daemon=True)
        self._thread.start()

    def pending(self, operator: Operator) -> tuple[str, Future[Build]] | None:
        """The key that the build of an operator will have, found without a compiler, and the build to come; None for one that is refused unseen."""
        if refusal_of(self._submission, operator, self._refusals) is not None:
            return None
        with tempfile.TemporaryDirectory(prefix="piton-") as scratch:
            return self._place.target.toolchain.key(self._submission, operator, scratch), self._futures[operator.name]

    def all(self) -> dict[str, Build]:
        """Every build by the operator's name, waited for; those that a stop has prevented with the outcome `interrupted`."""
        return {name: self._found(name, future) for name, future in self._futures.items()}

    def stop(self) -> None:
        """End the compiler; nothing is built any more, and nobody waits for it."""
        self._runner.stop()
        for future in self._futures.values():
            future.cancel()

    def __enter__(self) -> BuildsAhead:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Nothing is left running: its folder may be removed next."""
        self.stop()
        if self._thread is not None:
            self._thread.join()

    @staticmethod
    def _found(name: str, future: Future[Build]) -> Build:
        try:
            return future.result()
        except (CancelledError, _StoppedError):
            return Build(operator=name, outcome=outcome(Cause.INTERRUPTED, _STOPPED))

    def _work(self, operators: Sequence[Operator]) -> None:
        failure: BaseException | None = None
        for operator in operators:
            future = self._futures[operator.name]
            if not future.set_running_or_notify_cancel():
                continue
            failure = failure or self._build(operator, future)
            if failure is not None:
                future.set_exception(_StoppedError(_STOPPED) if self._runner.is_stopped else failure)

    def _build(self, operator: Operator, future: Future[Build]) -> BaseException | None:
        """Make one build; what went wrong with it through no fault of the submission."""
        try:
            build = build_operator(self._place, self._submission, operator, self._refusals)
            self._finished(build)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits for the build
            return error
        future.set_result(build)
        return None


@dataclass(frozen=True)
class PlannedTask:
    """One case to evaluate, in an operator that may still be in the compiler."""

    operator: Operator
    case: Case
    building: Future[Build]
    key: str
    """As that of the task that it becomes."""

    @property
    def is_unbuildable(self) -> bool:
        """True when its operator is known to have failed to build."""
        is_made = self.building.done() and not self.building.cancelled() and self.building.exception() is None
        return is_made and self.building.result().outcome is not None


class BuiltFirst:
    """Implements `schedule.Lane`: another lane, which gets a case when its operator is built. A case of one that fails to build has no result."""

    def __init__(self, inner: Lane[CaseTask, CaseResult], stop_builds: Callable[[], None]) -> None:
        self._inner = inner
        self._stop_builds = stop_builds

    def run(self, task: PlannedTask) -> CaseResult | Rest[CaseResult] | None:
        """Wait for the build, and do the task; None when there is no build. Whatever kept it from being made is raised."""
        try:
            build = task.building.result()
        except CancelledError:
            return None
        return None if build.outcome is not None else self._inner.run(CaseTask(task.operator, task.case, build, task.key))

    def interrupt(self) -> None:
        """End the compiler under a lane that waits for it, and the case under one that does not."""
        self._stop_builds()
        self._inner.interrupt()

    def close(self) -> None:
        """Close the other lane."""
        self._inner.close()


class StoppableRunner:
    """Implements core.protocols.Runner: another runner whose programs end when it is stopped."""

    def __init__(self, inner: Runner) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self._running: list[RunningProcess] = []
        self.is_stopped = False
        """Has `stop` been called?"""

    @property
    def isolation(self) -> tuple[str, ...]:
        """Of the other one."""
        return self._inner.isolation

    def run(self, job: ProcessJob) -> ProcessResult:
        """Run to the end or to `limits.wall_s`. Raises EvaluatorError once this is stopped: what became of a program that we have ended is nobody's failure."""
        process = self.start(job)
        try:
            result = process.wait(job.limits.wall_s)
            result = result if result is not None else replace(process.kill(), is_timed_out=True)
        finally:
            with self._lock:
                self._running.remove(process)
        self._check()
        return result

    def start(self, job: ProcessJob) -> RunningProcess:
        """Start a program; it ends with this runner's stop."""
        self._check()
        process = self._inner.start(job)
        with self._lock:
            self._running.append(process)
        if self.is_stopped:  # `stop` sets this before it looks for processes, so that one of the two ends it
            process.kill()
        return process

    def fork_worker(
        self, role: Role, entry: str, arguments: Mapping[str, str], fds: Mapping[str, int], limits: Limits, readable: Sequence[str] = ()
    ) -> RunningProcess:
        """As the other one does; a stop does not end it."""
        return self._inner.fork_worker(role, entry, arguments, fds, limits, readable)

    def stop(self) -> None:
        """End what runs, and start nothing any more."""
        self.is_stopped = True
        with self._lock:
            running = list(self._running)
        for process in running:
            process.kill()

    def close(self) -> None:
        """The other one is its owner's."""
        self.stop()

    def _check(self) -> None:
        if self.is_stopped:
            raise EvaluatorError("the run is being stopped")
