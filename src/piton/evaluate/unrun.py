"""Results of cases without a call: what we could not evaluate, and what was not to be run."""

from __future__ import annotations

import traceback
from pathlib import Path

from piton.core.case import Case, size_class
from piton.core.operator import Operator
from piton.core.report import CaseResult
from piton.core.verdict import Cause, Outcome, outcome


def describe_error(error: Exception) -> str:
    """Type, message and the innermost place of an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def void_case(operator: Operator, case: Case, reason: str) -> CaseResult:
    """A case that we could not evaluate."""
    return unrun_case(operator, case, outcome(Cause.EVALUATION_FAILED, "could not be evaluated"), reason)


def unrun_case(operator: Operator, case: Case, found: Outcome, void: str = "") -> CaseResult:
    """A case that was not called: its operator failed, it was left out, or we could not."""
    return CaseResult(operator=operator.name, case=case, size=size_class(case), outcome=found, void=void)
