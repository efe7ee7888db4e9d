"""Why cases did not pass: those that failed the same way at the same place are told once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.report import CaseResult, OperatorResult, OutputCheck
from piton.core.verdict import LEFT_OUT, PASSED, Cause, Outcome, Verdict

MESSAGE_CHARACTERS = 4000
"""What is shown of one message; report.json has all of it. Compilers and submissions can say any amount."""
OTHERS = 8
"""Further outcomes that are shown of one failure."""


@dataclass(frozen=True)
class Worst:
    """One of the worst positions of a wrong output."""

    case_id: str
    output: str
    index: tuple[int, ...]
    got: str
    expected: str
    relative_error: str

    @property
    def text(self) -> str:
        """In one line."""
        return f"{self.output}{list(self.index)}: got {self.got}, expected {self.expected}, relative error {self.relative_error}"


@dataclass(frozen=True)
class Failure:
    """Why one case, or several in the same way, did not pass."""

    cases: tuple[CaseResult, ...]
    """Empty for a failed build."""
    title: str
    """Verdict and cause."""
    outcome: Outcome
    """Of the first case."""
    others: tuple[Outcome, ...]
    """What else was found in the first case, as far as it is shown."""
    others_left_out: int
    worst: tuple[Worst, ...]

    @property
    def subject(self) -> str:
        """`build`, `case 3`, or `5 cases: 1, 2, 3, 4, 5`."""
        return cases_text([case.case.id for case in self.cases]) if self.cases else "build"

    @property
    def message(self) -> str:
        """The message with `line 7` for places in the file that the outcome's own place names beside it."""
        return brief(self.outcome)

    @property
    def numbers(self) -> tuple[tuple[str, str], ...]:
        """The figures behind the message."""
        return tuple((name, number_text(value)) for name, value in self.outcome.numbers.items())


def failures(item: OperatorResult) -> list[Failure]:
    """Failures of one operator in the order of their first case; a failed build stands for all cases."""
    if not item.compiled:
        return [_failure((), item.build_outcome, ())]
    grouped: dict[object, list[CaseResult]] = {}
    for case in item.cases:
        if case.void or is_failure(case):
            grouped.setdefault(_key(case), []).append(case)
    return [_of_cases(tuple(cases)) for cases in grouped.values()]


def is_failure(case: CaseResult) -> bool:
    """True for a case that was asked for and did not pass."""
    return case.outcome.verdict is not Verdict.PASSED and case.outcome.cause not in LEFT_OUT


def outcome_text(found: Outcome) -> str:
    """`verdict: cause`, or just `passed`."""
    return found.verdict.value if found.cause is Cause.NONE else f"{found.verdict.value}: {found.cause.value}"


def brief(found: Outcome) -> str:
    """The message of an outcome, cut where it is very long."""
    text = found.message.replace(f"{found.place.file}:", "line ") if found.place.file else found.message
    left = len(text) - MESSAGE_CHARACTERS
    return text if left <= 0 else f"{text[:MESSAGE_CHARACTERS]} ... ({left} more characters in report.json)"


def other_text(found: Outcome) -> str:
    """One further outcome in a line."""
    return " ".join(part for part in (outcome_text(found), f"at {found.place}:" if str(found.place) else "", brief(found)) if part)


def cases_text(ids: Sequence[str]) -> str:
    """`case 3`, or `12 cases: 1, 2, 3 ...`."""
    first = ", ".join(ids[:6]) + (" ..." if len(ids) > 6 else "")
    return f"case {ids[0]}" if len(ids) == 1 else f"{len(ids)} cases: {first}"


def number_text(value: float | int | str) -> str:
    """A figure of an outcome."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _key(case: CaseResult) -> object:
    """Cases with equal keys failed in the same way."""
    if case.void:
        return case.void
    place = case.outcome.place
    return case.outcome.cause, place.file, place.line, place.instruction


def _of_cases(cases: tuple[CaseResult, ...]) -> Failure:
    first = cases[0]
    if first.void:
        told = Outcome(verdict=Verdict.NOT_RUN, cause=Cause.EVALUATION_FAILED, message=first.void)
        return Failure(cases, "void: could not be evaluated", told, (), 0, ())
    return _failure(cases, first.outcome, tuple(line for case in cases for line in _worst(case)))


def _failure(cases: tuple[CaseResult, ...], found: Outcome, worst: tuple[Worst, ...]) -> Failure:
    others = cases[0].others if cases else ()
    return Failure(cases, outcome_text(found), found, others[:OTHERS], max(len(others) - OTHERS, 0), worst)


def _worst(case: CaseResult) -> list[Worst]:
    return [line for check in (*case.checks, *case.second_checks) if check.outcome != PASSED for line in worst_positions(case.case.id, check)[:3]]


def worst_positions(case_id: str, check: OutputCheck) -> list[Worst]:
    """The worst positions of one output, worst first."""
    return [Worst(case_id, check.name, item.index, f"{item.got:.9g}", f"{item.expected:.9g}", f"{item.relative_error:.3g}") for item in check.worst]
