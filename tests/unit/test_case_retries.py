"""Which faults are tried again, how often, and what is kept of it."""

import errno

import pytest

from piton.core.case import Case, SizeClass
from piton.core.errors import EvaluatorError, GoldenDeadlineError, GoldenError, MemoryTooSmallError, ProcessLostError
from piton.core.fault import Fault, Retry
from piton.core.report import CaseResult
from piton.core.verdict import PASSED, Cause, outcome
from piton.evaluate.retry import MOST_TRIES, Tried, Tries, Trouble, made, result_of

RESULT = CaseResult(operator="exp", case=Case(operator="exp", id="1", inputs=()), size=SizeClass.SMALL, outcome=PASSED)


class Scripted:
    """Raises its errors one after the other, then passes; remembers what it was told and how long was waited."""

    def __init__(self, *errors: Exception, stops_after: int = 100) -> None:
        self.errors = list(errors)
        self.told: list[bool] = []
        self.waited: list[float] = []
        self.cleaned = 0
        self.stops_after = stops_after

    def evaluate(self, is_last: bool) -> CaseResult:
        self.told.append(is_last)
        if self.errors:
            raise self.errors.pop(0)
        return RESULT

    def run(self) -> CaseResult:
        return result_of(Tries(self.evaluate, self.clean, lambda: len(self.told) >= self.stops_after, self.waited.append).run(), void)

    def clean(self) -> None:
        self.cleaned += 1


def void(trouble: Trouble) -> CaseResult:
    return RESULT.model_copy(update={"outcome": outcome(Cause.EVALUATION_FAILED, "could not be evaluated"), "void": trouble.reason})


def test_a_result_at_the_first_try_has_no_retries() -> None:
    tried = Scripted()
    assert tried.run() == RESULT
    assert (tried.told, tried.waited) == ([False], [])


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (ProcessLostError("gone"), Fault.PROCESS_LOST),
        (OSError(errno.ENOSPC, "No space left on device"), Fault.STORAGE),
        (OSError(errno.EMFILE, "Too many open files"), Fault.MACHINE),
        (MemoryError(), Fault.MACHINE),
    ],
)
def test_a_fault_that_may_pass_is_tried_again_and_kept(error: Exception, fault: Fault) -> None:
    tried = Scripted(error)
    found = tried.run()
    assert (found.void, found.fault, found.outcome) == ("", None, PASSED)
    assert [item.fault for item in found.retries] == [fault]
    assert tried.told == [False, False]
    assert (len(tried.waited), tried.cleaned) == (1, 1)


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (EvaluatorError("no"), Fault.OTHER),
        (GoldenError("no"), Fault.GOLDEN_FAILED),
        (GoldenDeadlineError("no"), Fault.GOLDEN_DEADLINE),
        (MemoryTooSmallError("no"), Fault.NO_MEMORY),
        (ZeroDivisionError(), Fault.INTERNAL),
    ],
)
def test_a_fault_that_would_come_again_is_void_at_once(error: Exception, fault: Fault) -> None:
    tried = Scripted(error)
    found = tried.run()
    assert (bool(found.void), found.fault, found.retries) == (True, fault, ())
    assert len(tried.told) == 1


def test_tries_are_bounded_and_the_last_one_knows_that_it_is() -> None:
    tried = Scripted(*(ProcessLostError(f"gone {number}") for number in range(9)))
    found = tried.run()
    assert tried.told == [False] * (MOST_TRIES - 1) + [True]
    assert (found.fault, found.void) == (Fault.PROCESS_LOST, f"gone {MOST_TRIES - 1}")
    assert [item.reason for item in found.retries] == [f"gone {number}" for number in range(MOST_TRIES - 1)]


def test_a_run_that_is_stopped_tries_nothing_again() -> None:
    tried = Scripted(ProcessLostError("gone"), stops_after=1)
    assert tried.run().void == "gone"
    assert tried.told == [False]


def test_retries_are_no_part_of_what_results_are_compared_by() -> None:
    first, again = Scripted().run(), Scripted(ProcessLostError("gone")).run()
    assert first != again
    assert first.model_copy(update={"retries": again.retries}) == again


def test_what_follows_tries_adds_its_own_and_is_left_out_after_trouble() -> None:
    def follow(value: int) -> Tried[int]:
        return Tried(value + 1, (Retry(fault=Fault.MACHINE, reason="second"),))

    first = Retry(fault=Fault.PROCESS_LOST, reason="first")
    assert Tried(1, (first,)).then(follow) == Tried(2, (first, Retry(fault=Fault.MACHINE, reason="second")))
    trouble = Trouble(Fault.OTHER, "no")
    assert Tried(trouble, (first,)).then(follow) == Tried(trouble, (first,))


@pytest.mark.parametrize("lost", range(MOST_TRIES))
def test_a_build_whose_compiler_was_ended_is_made_again(lost: int) -> None:
    tried = Scripted(*[ProcessLostError("gone")] * lost)
    assert made(lambda: tried.evaluate(is_last=False)) == RESULT
    assert len(tried.told) == lost + 1


@pytest.mark.parametrize(("errors", "tries"), [([ProcessLostError("gone")] * MOST_TRIES, MOST_TRIES), ([EvaluatorError("no")], 1)])
def test_a_build_that_is_lost_every_time_or_fails_otherwise_is_an_error(errors: list[Exception], tries: int) -> None:
    tried = Scripted(*errors)
    with pytest.raises(EvaluatorError):
        made(lambda: tried.evaluate(is_last=False))
    assert len(tried.told) == tries
