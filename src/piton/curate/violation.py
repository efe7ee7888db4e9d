"""What a lint finds, and what it looks at: one violation per broken rule, each with place, expected, found and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal

from piton.catalog.description import Description
from piton.catalog.golden_source import GoldenSource
from piton.catalog.proto import Degenerate
from piton.catalog.rules import CaseRules
from piton.core.case import Case
from piton.core.operator import Frozen, Operator

Origin = Literal["public", "generated", "hidden"]


class Severity(str, Enum):
    """How bad a broken rule is."""

    ERROR = "error"
    """The operator may not be in a suite like this."""
    WARNING = "warning"
    """Somebody should look at it."""


class Violation(Frozen):
    """One broken rule."""

    check: str
    severity: Severity
    operator: str
    case: str = ""
    """Id of the case, empty for what concerns the operator."""
    where: str = ""
    """`file:line`, or the file or folder."""
    problem: str
    expected: str = ""
    found: str = ""
    action: str = ""


class Problem(Frozen):
    """What a check found; the runner adds the check's name and severity."""

    problem: str
    expected: str = ""
    found: str = ""
    action: str = ""
    case: str = ""
    where: str = ""
    """Empty: the case's line, else the operator's folder."""


@dataclass(frozen=True)
class Subject:
    """One operator with its cases, as the structural checks see it."""

    folder: Path
    operator: Operator
    cases: tuple[Case, ...]
    origin: Origin = "public"
    is_own: bool = True
    """The suite keeps Piton's own form (suite.yaml)."""
    degenerate: tuple[Degenerate, ...] = ()
    """Listed in proto.yaml; concerns public cases."""
    rules: CaseRules | None = None
    description: Description | None = None
    golden: GoldenSource | None = None
    places: dict[str, str] = field(default_factory=dict)
    memory_ceiling_bytes: int = 0
    public: tuple[Case, ...] = ()
    """For hidden cases: those that they must not repeat."""

    def where(self, problem: Problem) -> str:
        """`file:line` of a problem."""
        return problem.where or self.places.get(problem.case, "") or str(self.folder)


@dataclass(frozen=True)
class Check:
    """One named rule. Its documentation is `rule`, which docs/lint.md repeats word by word."""

    name: str
    severity: Severity
    rule: str
    run: Callable[[Subject], Iterator[Problem]]
    is_own_only: bool = False
    """Concerns the form of Piton's own suites."""
    origins: tuple[Origin, ...] = ("public", "generated", "hidden")


@dataclass(frozen=True)
class NumericCheck:
    """A rule that needs golden runs; `curate.numeric` reports under its name."""

    name: str
    severity: Severity
    rule: str


def report(check: Check | NumericCheck, subject: Subject, problem: Problem) -> Violation:
    """The violation that `problem` is."""
    return Violation(
        check=check.name,
        severity=check.severity,
        operator=subject.operator.name,
        case=problem.case,
        where=subject.where(problem),
        problem=problem.problem,
        expected=problem.expected,
        found=problem.found,
        action=problem.action,
    )
