"""Batches of cases between two runs of a canary kernel, on devices that measure.

Problem: a device that hangs, overheats or is used by others makes verdicts and times that look like the submission's doing, and often stays so for every case
that follows.
Approach: a canary (a kernel of ours with a known result) runs before and after each batch. Only when both were fine do the batch's results count and reach the
journal; otherwise the whole batch is tried again, at most `MOST_TRIES` times in all, and is void (`canary`) after that. A canary that is right but took
another time after the batch than before is a finding on the times in between.
Limits: simulated targets have no canary, since nothing outside has a say in their times; their results count one by one. With a canary, killing a run costs the
batch in hand instead of the case in hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from piton.core.case import Case
from piton.core.errors import EvaluatorError, StorageError
from piton.core.fault import Fault, Retry
from piton.core.finding import Finding, FindingKind
from piton.core.operator import Operator
from piton.core.protocols import Canary, CanaryDevice, Runner, Target
from piton.core.report import CaseResult
from piton.evaluate.build_ahead import PlannedTask
from piton.evaluate.retry import MOST_TRIES
from piton.evaluate.unrun import void_case


class Named(Protocol):
    """A case to evaluate, its operator built or still in the compiler."""

    @property
    def operator(self) -> Operator:
        """What it is a case of."""
        ...

    @property
    def case(self) -> Case:
        """The case."""
        ...

    @property
    def key(self) -> str:
        """What the journal finds its result by."""
        ...


Keep = Callable[[Named, CaseResult], None]
Results = tuple[list[CaseResult | None], bool]
"""In the order of the tasks, None for what did not run; and whether the run was stopped."""
RunLanes = Callable[[Sequence[PlannedTask], Keep], Results]
BATCH_CASES = 16
"""Most cases between two canaries: so many are done again at worst."""
DRIFT = 0.25
"""The canary after a batch may differ from that before by so much before it is said: more than one case's own canary may (10 %), since a batch takes longer."""
_PAUSE_S = 1.0


class _StoppedError(EvaluatorError):
    """The canary after a batch that was stopped failed: nothing of the batch counts, and nothing is tried again."""


@dataclass(frozen=True)
class Batches:
    """One run's batches."""

    target: Target
    runner: Runner
    run: RunLanes
    keep: Keep
    pause: Callable[[float], None] = time.sleep

    def all(self, tasks: Sequence[PlannedTask]) -> Results:
        """Run all tasks; without a canary in one go."""
        device = self.target.device
        if not isinstance(device, CanaryDevice) or not tasks:
            return self.run(tasks, self.keep)
        results: list[CaseResult | None] = []
        for start in range(0, len(tasks), BATCH_CASES):
            found, is_stopped = self._batch(tasks[start : start + BATCH_CASES], device)
            results += found
            if is_stopped:
                return [*results, *[None] * (len(tasks) - len(results))], True
        return results, False

    def _batch(self, tasks: Sequence[PlannedTask], device: CanaryDevice) -> Results:
        """One batch with its tries."""
        lost: list[Retry] = []
        while True:
            try:
                results, is_stopped, finding = self._between_canaries(tasks, device)
                return self._counted(tasks, results, lost, finding), is_stopped
            except _StoppedError:
                return [None] * len(tasks), True
            except EvaluatorError as error:
                reason = f"the canary of {self.target.name} failed: {error}"
            if len(lost) + 1 == MOST_TRIES:
                voids = [void_case(task.operator, task.case, reason).model_copy(update={"fault": Fault.CANARY}) for task in tasks]
                return self._counted(tasks, voids, lost, ()), False
            lost.append(Retry(fault=Fault.CANARY, reason=reason))
            self.pause(_PAUSE_S)

    def _between_canaries(self, tasks: Sequence[PlannedTask], device: CanaryDevice) -> tuple[list[CaseResult | None], bool, tuple[Finding, ...]]:
        """Raises EvaluatorError when one of the two canaries fails, _StoppedError when it is the second one of a run that is being stopped."""
        before = self._measured(device)
        results, is_stopped = self.run(tasks, lambda _task, _result: None)
        try:
            return results, is_stopped, tuple(_drift(before, self._measured(device)))
        except EvaluatorError as error:
            if is_stopped:
                raise _StoppedError(str(error)) from error
            raise

    def _measured(self, device: CanaryDevice) -> float:
        canary = device.canary(self.runner)
        try:
            return canary.measure().work_us
        finally:
            _close(canary)

    def _counted(
        self, tasks: Sequence[PlannedTask], results: Sequence[CaseResult | None], lost: Sequence[Retry], findings: tuple[Finding, ...]
    ) -> list[CaseResult | None]:
        """The results as they count, each in the journal."""
        counted = [None if result is None else _with(result, lost, findings) for result in results]
        errors = [self._kept(task, result) for task, result in zip(tasks, counted, strict=True) if result is not None]
        for error in filter(None, errors):  # after the others: they are finished too, and there may be room for them
            raise error
        return counted

    def _kept(self, task: Named, result: CaseResult) -> StorageError | None:
        try:
            self.keep(task, result)
        except StorageError as error:
            return error
        return None


def _with(result: CaseResult, lost: Sequence[Retry], findings: tuple[Finding, ...]) -> CaseResult:
    timed = findings if result.time is not None else ()
    return result.model_copy(update={"retries": (*lost, *result.retries), "findings": (*result.findings, *timed)})


def _drift(before_us: float, after_us: float) -> Iterator[Finding]:
    if abs(after_us - before_us) > DRIFT * min(before_us, after_us):
        text = f"the canary took {before_us:.2f} us before the batch of this case and {after_us:.2f} us after it: the machine changed in between"
        yield Finding(kind=FindingKind.OTHER, message=text)


def _close(canary: Canary) -> None:
    with suppress(EvaluatorError):  # it has been measured; whether it can end decides nothing
        canary.close()
