"""When results count that were found between two runs of a canary."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import pytest

from piton.core.case import Case, SizeClass
from piton.core.errors import EvaluatorError, StorageError
from piton.core.execution import Build
from piton.core.fault import Fault
from piton.core.measurement import Measurement, Provenance
from piton.core.operator import Operator
from piton.core.report import CaseResult
from piton.core.verdict import PASSED, Cause, outcome
from piton.evaluate.batches import BATCH_CASES, Batches, Keep, Named, Results
from piton.evaluate.build_ahead import PlannedTask
from piton.evaluate.retry import MOST_TRIES
from piton.targets.null import NullDevice, NullTarget

OPERATOR = Operator.model_construct(name="exp")
TIME = Measurement(samples=(3.0,), provenance=Provenance.DEVICE, method="a clock")


def tasks(count: int) -> list[PlannedTask]:
    built: Future[Build] = Future()
    built.set_result(Build(operator="exp"))
    return [PlannedTask(OPERATOR, Case(operator="exp", id=str(number), inputs=()), built, str(number)) for number in range(count)]


def result(task: PlannedTask) -> CaseResult:
    if task.case.id == "1":
        return CaseResult(operator="exp", case=task.case, size=SizeClass.SMALL, outcome=outcome(Cause.HOST_SIGNAL, "crashed"))
    return CaseResult(operator="exp", case=task.case, size=SizeClass.SMALL, outcome=PASSED, time=TIME)


@dataclass(frozen=True)
class Condition:
    work_us: float


class FakeDevice(NullDevice):
    """Its canary finds one after the other what it is given; a text is what it fails with."""

    def __init__(self, *found: float | str) -> None:
        super().__init__()
        self.found = list(found)
        self.running = 0

    def canary(self, runner: object) -> FakeDevice:
        self.running += 1
        return self

    def measure(self) -> Condition:
        found = self.found.pop(0) if self.found else 1.0
        if isinstance(found, str):
            raise EvaluatorError(found)
        return Condition(found)

    def close(self) -> None:
        self.running -= 1


class Run:
    """Counts what is run and kept."""

    def __init__(self, *found: float | str, has_canary: bool = True, stops_at: int = 1000) -> None:
        self.ran: list[list[str]] = []
        self.kept: list[tuple[str, CaseResult]] = []
        self.target = NullTarget()
        if has_canary:
            self.target.device = FakeDevice(*found)
        self.stops_at = stops_at

    def lanes(self, some: Sequence[PlannedTask], keep: Keep) -> Results:
        self.ran.append([task.case.id for task in some])
        results: list[CaseResult | None] = [result(task) if int(task.case.id) < self.stops_at else None for task in some]
        for task, found in zip(some, results, strict=True):
            if found is not None:
                keep(task, found)
        return results, None in results

    def keep(self, task: Named, found: CaseResult) -> None:
        self.kept.append((task.case.id, found))

    def all(self, count: int) -> Results:
        return Batches(self.target, None, self.lanes, self.keep, lambda _seconds: None).all(tasks(count))  # type: ignore[arg-type]


def test_a_simulated_target_has_no_canary_and_no_batches() -> None:
    run = Run(has_canary=False)
    run.all(3 * BATCH_CASES)
    assert [len(ids) for ids in run.ran] == [3 * BATCH_CASES]
    assert len(run.kept) == 3 * BATCH_CASES


def test_results_count_once_and_in_order_when_both_canaries_are_fine() -> None:
    run = Run()
    results, is_stopped = run.all(BATCH_CASES + 2)
    assert not is_stopped
    assert [len(ids) for ids in run.ran] == [BATCH_CASES, 2]
    assert [found for _, found in run.kept] == results == [result(task) for task in tasks(BATCH_CASES + 2)]
    assert run.target.device.running == 0


@pytest.mark.parametrize("found", [("broken",), (1.0, "broken")], ids=["before", "after"])
def test_a_batch_whose_canary_fails_is_done_again_and_nothing_of_it_counts(found: tuple[float | str, ...]) -> None:
    run = Run(*found)
    results, _ = run.all(3)
    assert len(run.ran) == len(found)
    assert [name for name, _ in run.kept] == ["0", "1", "2"]
    assert {item.fault for kept in results for item in kept.retries} == {Fault.CANARY}
    assert all(len(kept.retries) == 1 and "broken" in kept.retries[0].reason for kept in results)


def test_a_batch_whose_canary_fails_every_time_is_void_even_where_the_submission_crashed() -> None:
    run = Run(*[1.0, "broken"] * MOST_TRIES)
    results, is_stopped = run.all(3)
    assert (len(run.ran), is_stopped) == (MOST_TRIES, False)
    assert {(kept.fault, kept.outcome.cause, len(kept.retries)) for kept in results} == {(Fault.CANARY, Cause.EVALUATION_FAILED, MOST_TRIES - 1)}
    assert [found for _, found in run.kept] == results


@pytest.mark.parametrize(("after", "is_said"), [(1.2, False), (1.3, True), (0.7, True)])
def test_a_canary_that_takes_another_time_afterwards_is_a_finding_on_times_only(after: float, *, is_said: bool) -> None:
    results, _ = Run(1.0, after).all(3)
    assert [bool(kept.findings) for kept in results] == [is_said, False, is_said]


def test_what_a_stopped_batch_had_finished_counts() -> None:
    run = Run(stops_at=2)
    results, is_stopped = run.all(BATCH_CASES + 5)
    assert is_stopped
    assert len(results) == BATCH_CASES + 5
    assert [name for name, _ in run.kept] == ["0", "1"]


def test_a_stopped_batch_whose_canary_fails_counts_for_nothing_and_is_not_done_again() -> None:
    run = Run(1.0, "broken", stops_at=2)
    results, is_stopped = run.all(BATCH_CASES + 5)
    assert (results, is_stopped) == ([None] * (BATCH_CASES + 5), True)
    assert (len(run.ran), run.kept) == (1, [])


def test_a_full_disk_in_the_middle_of_a_batch_costs_no_other_result() -> None:
    run = Run()

    def keep(task: Named, found: CaseResult) -> None:
        run.keep(task, found)
        if task.case.id == "0":
            raise StorageError("journal", OSError(28, "No space left on device"), is_kept=True, action="")

    with pytest.raises(StorageError):
        Batches(run.target, None, run.lanes, keep).all(tasks(3))  # type: ignore[arg-type]
    assert [name for name, _ in run.kept] == ["0", "1", "2"]
