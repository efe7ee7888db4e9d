"""Which operators and cases of a suite a request asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.case import Case
from piton.core.errors import UsageError
from piton.core.suite import Suite, SuiteOperator
from piton.evaluate.policy import EvaluationRequest


@dataclass(frozen=True)
class Selection:
    """The operators of the report, and which of their cases run."""

    members: tuple[SuiteOperator, ...]
    left_out: tuple[str, ...]
    """Operators of the suite that are not in the report."""
    cases: tuple[str, ...] = ()
    """The filter of the request; empty lets every case run."""

    def has(self, case: Case) -> bool:
        """True when `case` is to be run."""
        return not self.cases or case.id in self.cases or f"{case.operator}/{case.id}" in self.cases


def select(suite: Suite, request: EvaluationRequest) -> Selection:
    """Apply the filters of the request. Raises UsageError for a name that the suite does not have, or when nothing is left."""
    names = [member.operator.name for member in suite.members]
    _refuse_unknown(request.operators, names, "operator", suite.name)
    wanted = request.operators or tuple(names)
    members = tuple(member for member in suite.members if member.operator.name in wanted)
    known = [name for member in members for case in member.cases for name in (case.id, f"{member.operator.name}/{case.id}")]
    _refuse_unknown(request.cases, known, "case", suite.name)
    return Selection(members, tuple(name for name in names if name not in wanted), request.cases)


def _refuse_unknown(wanted: Sequence[str], known: Sequence[str], what: str, suite: str) -> None:
    for name in wanted:
        if name not in known:
            listed = ", ".join(dict.fromkeys(known)) if len(known) <= 60 else f"{len(known)} names"
            raise UsageError(f"suite {suite} has no {what} {name!r}", expected=f"one of: {listed}", action=f"check --{'op' if what == 'operator' else what}")
