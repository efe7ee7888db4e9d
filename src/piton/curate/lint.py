"""Structural lint: every rule of the dataset that can be seen without running anything, over a suite in seconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from piton.catalog.cases import case_places
from piton.catalog.description import read_description
from piton.catalog.golden_source import read_golden_source
from piton.catalog.proto import read_proto
from piton.catalog.rules import read_rules
from piton.catalog.suite import SuitePart, is_strict, load_parts
from piton.core.case import Case
from piton.core.errors import PitonError, UsageError
from piton.core.operator import Frozen
from piton.core.suite import Suite, SuiteOperator
from piton.curate.aspects import FEWEST_ELEMENTS, MOST_ELEMENTS, attribute_key, has_many_attribute_values, is_non_aligned, range_key
from piton.curate.checks import READABLE, STRUCTURAL
from piton.curate.violation import Origin, Severity, Subject, Violation, report


class OperatorLint(Frozen):
    """What was looked at of one operator, and which of the uniqueness rules its attributes allow."""

    operator: str
    cases: int
    uniqueness: str
    """`attributes` where no two cases may share them, else `triple`."""
    numeric_cases: int = 0
    """Cases whose golden was run."""


class Measures(Frozen):
    """How a suite fares against the dataset rules, in numbers of operators or cases (the paper's own measures)."""

    operators: int
    cases: int
    unique_elements: int
    """Operators in which no two cases share the element count; likewise the next ones."""
    unique_attributes: int
    unique_ranges: int
    unique_all_three: int
    few_non_aligned: int
    """Operators with fewer than half of their cases non-aligned."""
    without_special_values: int
    """Operators without a case with an infinity or NaN."""
    too_small_cases: int
    too_large_cases: int


class LintResult(Frozen):
    """Everything one lint found."""

    suite: str
    suite_version: str
    suite_digest: str
    is_foreign: bool
    stages: tuple[str, ...]
    """`structural`, and `numeric` where goldens were run."""
    measures: Measures
    operators: tuple[OperatorLint, ...]
    violations: tuple[Violation, ...]
    is_complete: bool = True
    """False when it was stopped."""

    @property
    def errors(self) -> int:
        """Violations that are errors."""
        return sum(item.severity is Severity.ERROR for item in self.violations)


def load_subjects(path_or_name: str, operators: Sequence[str] = ()) -> tuple[Suite, list[Subject], list[Violation]]:
    """The suite, what can be checked of it, and a violation for every folder that cannot be read. Raises UsageError for an operator it does not have."""
    suite, parts = load_parts(path_or_name)
    names = [part.folder.name for part in parts]
    for name in operators:
        if name not in names:
            raise UsageError(f"suite {suite.name} has no operator {name!r}", expected=f"one of: {', '.join(names)}", action="check --op")
    wanted = [part for part in parts if not operators or part.folder.name in operators]
    read = [_read(suite, part) for part in wanted]
    return suite, [item for item in read if isinstance(item, Subject)], [item for item in read if isinstance(item, Violation)]


def with_cases(subject: Subject, cases: tuple[Case, ...], origin: Origin, table: str = "") -> Subject:
    """The same operator with generated or hidden cases in the place of the public ones; `table` is the file they were read from."""
    places = case_places(Path(table)) if table else {}
    return replace(subject, cases=cases, origin=origin, places=places, public=subject.cases, degenerate=())


def check_structure(subject: Subject) -> list[Violation]:
    """All structural violations of one operator, in the order of the list of checks."""
    checks = [check for check in STRUCTURAL if subject.origin in check.origins and (subject.is_own or not check.is_own_only)]
    return [report(check, subject, problem) for check in checks for problem in check.run(subject)]


def measure(subjects: Iterable[Subject]) -> Measures:
    """The paper's measures over the operators."""
    listed = list(subjects)
    unique = [tuple(_is_unique(subject, key) for key in (lambda case: case.elements, attribute_key, range_key)) for subject in listed]
    cases = [case for subject in listed for case in subject.cases]
    return Measures(
        operators=len(listed),
        cases=len(cases),
        unique_elements=sum(item[0] for item in unique),
        unique_attributes=sum(item[1] for item in unique),
        unique_ranges=sum(item[2] for item in unique),
        unique_all_three=sum(all(item) for item in unique),
        few_non_aligned=sum(2 * sum(map(is_non_aligned, subject.cases)) < len(subject.cases) for subject in listed),
        without_special_values=sum(not any(_has_special(case) for case in subject.cases) for subject in listed),
        too_small_cases=sum(case.elements < FEWEST_ELEMENTS for case in cases),
        too_large_cases=sum(case.elements > MOST_ELEMENTS for case in cases),
    )


def operator_line(subject: Subject, numeric_cases: int = 0) -> OperatorLint:
    """The line of one operator."""
    uniqueness = "attributes" if has_many_attribute_values(subject.operator, subject.rules) else "triple"
    return OperatorLint(operator=subject.operator.name, cases=len(subject.cases), uniqueness=uniqueness, numeric_cases=numeric_cases)


def _is_unique(subject: Subject, key: object) -> bool:
    assert callable(key)
    return len({key(case) for case in subject.cases}) == len(subject.cases)


def _has_special(case: Case) -> bool:
    return any(end != end or end in (float("inf"), -float("inf")) for item in case.inputs for end in (item.low, item.high))


def _read(suite: Suite, part: SuitePart) -> Subject | Violation:
    try:
        return _subject(suite, part)
    except PitonError as error:
        return _unreadable(part.folder, error)


def _subject(suite: Suite, part: SuitePart) -> Subject:
    if part.error is not None:
        raise part.error
    member = part.member
    assert isinstance(member, SuiteOperator)
    is_own = is_strict(suite)
    return Subject(
        folder=part.folder,
        operator=member.operator,
        cases=member.cases,
        is_own=is_own,
        degenerate=read_proto(part.folder, level=member.operator.level, is_strict=is_own).degenerate,
        rules=read_rules(part.folder, member.operator),
        description=read_description(part.folder),
        golden=read_golden_source(Path(member.operator.golden_path)),
        places=case_places(part.folder),
        memory_ceiling_bytes=suite.memory_ceiling_bytes,
    )


def _unreadable(folder: Path, error: PitonError) -> Violation:
    return Violation(
        check=READABLE.name,
        severity=READABLE.severity,
        operator=folder.name,
        where=error.where or str(folder),
        problem=error.problem,
        expected=error.expected,
        found=error.found,
        action=error.action,
    )
