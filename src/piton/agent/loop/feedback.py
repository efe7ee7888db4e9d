"""What an evaluation said, as text for whoever mends the candidate: fixed rules, the most telling first, never longer than asked.

A failed build: its errors with file and line. Failed cases: one per cause, with what was expected. A right candidate: where the time of the cases with most
headroom went. Nothing secret can be in it: hidden cases are never evaluated in a run.
"""

from __future__ import annotations

from collections.abc import Iterator

from piton.agent.analysis import profile_of
from piton.core.report import CaseResult, OperatorResult
from piton.core.verdict import LEFT_OUT, Outcome, Verdict

_ERRORS, _CAUSES, _CASES, _FINDINGS = 6, 4, 3, 3


def feedback_of(operator: OperatorResult, most: int = 6000) -> str:
    """The feedback on one operator, at most so many characters; cut at a line, with a mark."""
    text = "\n".join(_lines(operator))
    if len(text) <= most:
        return text
    return text[: text.rfind("\n", 0, most)] + "\n(more was left out)"


def _lines(operator: OperatorResult) -> Iterator[str]:
    if not operator.compiled:
        yield f"It does not build: {_said(operator.build_outcome)}"
        for item in [item for item in operator.diagnostics if item.severity == "error"][:_ERRORS]:
            yield f"- {item.file}:{item.line}: {item.message}"
        return
    asked = [case for case in operator.cases if case.outcome.cause not in LEFT_OUT]
    failed = [case for case in asked if case.outcome.verdict is not Verdict.PASSED and not case.void]
    yield f"It builds; {len(asked) - len(failed)} of {len(asked)} cases pass."
    if failed:
        yield from _failures(failed)
    else:
        yield from _times(operator)
    yield from _findings(asked)


def _failures(failed: list[CaseResult]) -> Iterator[str]:
    """The smallest case of each cause, the most frequent cause first."""
    by_cause: dict[str, list[CaseResult]] = {}
    for case in failed:
        by_cause.setdefault(case.outcome.cause.value, []).append(case)
    causes = sorted(by_cause.values(), key=len, reverse=True)
    for cases in causes[:_CAUSES]:
        smallest = min(cases, key=lambda case: case.case.elements)
        inputs = ", ".join(f"{item.argument} {item.dtype.value}{list(item.shape)}" for item in smallest.case.inputs[:6])
        attributes = f", {dict(smallest.case.attributes)}" if smallest.case.attributes else ""
        yield f"- {len(cases)} cases: {_said(smallest.outcome)} (case {smallest.case.id}: {inputs}{attributes})"
        for other in smallest.others[:2]:
            yield f"  also: {_said(other)}"
    if len(causes) > _CAUSES:
        yield f"- and {len(causes) - _CAUSES} further causes"


def _times(operator: OperatorResult) -> Iterator[str]:
    profile = profile_of(operator)
    if profile.headroom is None:
        return
    yield f"T_cand is {profile.headroom:.2f} T_HW in the geometric mean. Most headroom:"
    for case in sorted(profile.cases, key=lambda item: -item.ratio)[:_CASES]:
        where = f": {case.limit.sentence}" if case.limit else ""
        yield f"- case {case.case} ({case.size.value}): {case.ratio:.2f} T_HW, roof {case.roof_us:.2f} us by {case.roof_unit}{where}"


def _findings(asked: list[CaseResult]) -> Iterator[str]:
    """Different findings, once each."""
    found = dict.fromkeys(f"- finding: {item.kind.value}: {item.message}{_where(item.place.file, item.place.line)}" for case in asked for item in case.findings)
    yield from list(found)[:_FINDINGS]


def _said(outcome: Outcome) -> str:
    return f"{outcome.verdict.value}: {outcome.cause.value}: {outcome.message}{_where(outcome.place.file, outcome.place.line)}"


def _where(file: str | None, line: int | None) -> str:
    return f" ({file}:{line})" if file and line else ""
