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
from dataclasses import dataclass

from piton.core.errors import EvaluatorError
from piton.core.fault import TRANSIENT, Fault, Retry
from piton.core.report import CaseResult
from piton.evaluate.unrun import describe_error

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
class Tries:
    """How one case is tried."""

    evaluate: Callable[[bool], CaseResult]
    """One try; told whether it is the last one, whose crash by SIGKILL counts. Raises for what is not the submission's doing."""
    void: Callable[[Trouble], CaseResult]
    """Cleans up, and gives the result when there is no other."""
    is_over: Callable[[], bool]
    """Is the run being stopped?"""
    pause: Callable[[float], None] = time.sleep

    def run(self) -> CaseResult:
        """The result of the last try."""
        retries: list[Retry] = []
        while True:
            is_last = len(retries) + 1 == MOST_TRIES
            found = self._try(is_last=is_last)
            if isinstance(found, CaseResult):
                return found.model_copy(update={"retries": tuple(retries)})
            void = self.void(found)
            if is_last or found.fault not in TRANSIENT or self.is_over():
                return void.model_copy(update={"fault": found.fault, "retries": tuple(retries)})
            self.pause(_PAUSES_S[len(retries)])
            retries.append(Retry(fault=found.fault, reason=found.reason))

    def _try(self, *, is_last: bool) -> CaseResult | Trouble:
        try:
            return self.evaluate(is_last)
        except EvaluatorError as error:
            return Trouble(error.fault, str(error))
        except OSError as error:
            fault = Fault.STORAGE if error.errno in _NO_ROOM else Fault.MACHINE
            return Trouble(fault, f"the machine refused something: {describe_error(error)}")
        except MemoryError as error:
            return Trouble(Fault.MACHINE, f"Piton itself ran out of memory: {describe_error(error)}")
        except Exception as error:  # noqa: BLE001 - a mistake of ours voids one case and is listed; it must not cost the others
            return Trouble(Fault.INTERNAL, f"internal error of Piton, please report it: {describe_error(error)}")
