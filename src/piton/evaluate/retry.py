"""Another try for a case that a fault of the machine kept from being evaluated.

Problem: a process that somebody else ended, a full disk or a refused fork says nothing about a submission; but what the submission did must not be tried
again until it comes out better.
Approach: a fault is an exception of a closed set of kinds, chosen where the fact is known (`core.fault`); a failure of the submission is a value. Only faults
that may pass are tried again, at most `MOST_TRIES` times in all, each time in fresh processes; what happened before is kept with the result (`retries`).
Limits: nobody can tell who sent a SIGKILL. Code that ends itself with one gets the same tries as code that the machine ended, and what it is at the last one
counts as the submission's crash.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from piton.core.errors import EvaluatorError, ProcessLostError
from piton.core.fault import TRANSIENT, Fault, Retry
from piton.core.report import CaseResult
from piton.evaluate.unrun import describe_error

Value = TypeVar("Value")
Next = TypeVar("Next")
MOST_TRIES = 3
"""Of one case in one run; `--resume` begins to count anew."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
_PAUSES_S = (0.1, 1.0)
"""Before the second and the third try: what ended one process may still be ending others."""


@dataclass(frozen=True)
class Trouble:
    """Why a try gave no result."""

    fault: Fault
    reason: str


@dataclass(frozen=True)
class Tried(Generic[Value]):
    """What became of some tries."""

    found: Value | Trouble
    """What the last one gave."""
    retries: tuple[Retry, ...]
    """The ones before it."""

    def then(self, go_on: Callable[[Value], Tried[Next]]) -> Tried[Next]:
        """What follows, where there is something to go on with."""
        if isinstance(self.found, Trouble):
            return Tried(self.found, self.retries)
        later = go_on(self.found)
        return Tried(later.found, (*self.retries, *later.retries))


def made(make: Callable[[], Value]) -> Value:
    """What `make` returns; a process that was lost is no answer, as often as for a case. Raises what the last try raised."""
    for _ in range(MOST_TRIES - 1):
        with suppress(ProcessLostError):
            return make()
    return make()


def result_of(tried: Tried[CaseResult], void: Callable[[Trouble], CaseResult]) -> CaseResult:
    """The result with what it cost; `void` makes the one of a case that could not be evaluated."""
    if isinstance(tried.found, Trouble):
        return void(tried.found).model_copy(update={"fault": tried.found.fault, "retries": tried.retries})
    return tried.found.model_copy(update={"retries": tried.retries})


@dataclass(frozen=True)
class Tries(Generic[Value]):
    """How something is tried."""

    attempt: Callable[[bool], Value]
    """One try; told whether it is the last one, whose crash by SIGKILL counts. Raises for what is not the submission's doing."""
    clean: Callable[[], None]
    """Ends whatever a try that failed has left: the next one, or the next case, must not see it."""
    is_over: Callable[[], bool]
    """Is the run being stopped?"""
    pause: Callable[[float], None] = time.sleep

    def run(self) -> Tried[Value]:
        """Try until it works, may not be tried again, or was tried often enough."""
        retries: list[Retry] = []
        while True:
            is_last = len(retries) + 1 == MOST_TRIES
            found = self._try(is_last=is_last)
            if not isinstance(found, Trouble):
                return Tried(found, tuple(retries))
            self.clean()
            if is_last or found.fault not in TRANSIENT or self.is_over():
                return Tried(found, tuple(retries))
            self.pause(_PAUSES_S[len(retries)])
            retries.append(Retry(fault=found.fault, reason=found.reason))

    def _try(self, *, is_last: bool) -> Value | Trouble:
        try:
            return self.attempt(is_last)
        except EvaluatorError as error:
            return Trouble(error.fault, str(error))
        except OSError as error:
            fault = Fault.STORAGE if error.errno in _NO_ROOM else Fault.MACHINE
            return Trouble(fault, f"the machine refused something: {describe_error(error)}")
        except MemoryError as error:
            return Trouble(Fault.MACHINE, f"Piton itself ran out of memory: {describe_error(error)}")
        except Exception as error:  # noqa: BLE001 - a mistake of ours voids one case and is listed; it must not cost the others
            return Trouble(Fault.INTERNAL, f"internal error of Piton, please report it: {describe_error(error)}")
