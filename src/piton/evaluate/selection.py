"""Which operators and cases of a suite a request asks for.

Filters narrow one after the other, each working on what the one before it left:
1. operators and levels: an operator runs when it is in both (a filter that was not given lets all through); the others are not in the report
2. cases: `id` (of every operator that has it) or `operator/id`
3. max_elements: the inputs of a case together
4. is_fast: the telling cases of each operator, out of what is left (`evaluate.telling`)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from piton.core.case import Case
from piton.core.errors import UsageError
from piton.core.submission import Submission
from piton.core.suite import Suite, SuiteOperator
from piton.core.verdict import Cause, Outcome, outcome
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.telling import telling_cases

_FILTERED = "left out by --case"
_NOT_TELLING = "left out by --fast"


@dataclass(frozen=True)
class Selection:
    """The operators of the report, and which of their cases run."""

    members: tuple[SuiteOperator, ...]
    left_out: tuple[str, ...]
    """Operators of the suite that are not in the report."""
    missing: Mapping[str, int] = field(default_factory=dict)
    """Operators that the submission does not have, with their levels; they score 0."""
    dropped: Mapping[tuple[str, str], Outcome] = field(default_factory=dict)
    """Why a case does not run, by operator and case id."""
    remarks: tuple[str, ...] = ()
    """What a reader has to know about the choice, for the report's findings."""

    def has(self, case: Case) -> bool:
        """True when `case` is to be run."""
        return self.why_not(case) is None

    def why_not(self, case: Case) -> Outcome | None:
        """Why `case` is not run, or None for one that is."""
        return self.dropped.get((case.operator, case.id))


def select(suite: Suite, request: EvaluationRequest) -> Selection:
    """Apply the filters of the request. Raises UsageError for a name or level that the suite does not have, or when nothing is left."""
    members = _members(suite, request)
    names = {member.operator.name for member in members}
    left_out = (*(member.operator.name for member in suite.members if member.operator.name not in names), *suite.left_out)
    known = [name for member in members for case in member.cases for name in (case.id, f"{member.operator.name}/{case.id}")]
    _refuse_unknown(request.cases, known, "case", suite.name)
    dropped = _dropped(members, request)
    return _with_remarks(Selection(members, left_out, dropped=dropped), suite, request)


def without_missing(selection: Selection, submission: Submission, suite: Suite, request: EvaluationRequest) -> Selection:
    """The selection without operators that the submission lacks, unless they were asked for by name or it has none of the suite's: then each case says so.

    Raises UsageError when the filters left no case of the operators that it has.
    """
    there = {sources.operator for sources in submission.operators}
    kept = tuple(member for member in selection.members if member.operator.name in there)
    missing = {member.operator.name: member.operator.level for member in selection.members if member not in kept}
    if request.operators or not kept or not missing:
        return selection
    dropped = {key: why for key, why in selection.dropped.items() if key[0] not in missing}
    if not _cases(kept, dropped):
        found = ", ".join(member.operator.name for member in kept)
        raise UsageError("no case is left", expected="cases of operators that the submission has", found=found, action="check --case and --max-elements")
    return _with_remarks(replace(selection, members=kept, missing=missing, dropped=dropped), suite, request)


def _with_remarks(selection: Selection, suite: Suite, request: EvaluationRequest) -> Selection:
    left_out = [name for name in selection.left_out if not suite.left_out.get(name)]
    remarks = (*_suite_remarks(suite, selection.members), *_remarks(selection.members, left_out, selection.dropped, request))
    return replace(selection, remarks=remarks)


def _members(suite: Suite, request: EvaluationRequest) -> tuple[SuiteOperator, ...]:
    _refuse_failed(suite, request)
    _refuse_unknown(request.operators, [member.operator.name for member in suite.members], "operator", suite.name)
    _refuse_unknown([str(level) for level in request.levels], sorted({str(member.operator.level) for member in suite.members}), "level", suite.name)
    found = tuple(member for member in suite.members if _is_wanted(member, request))
    if not found:
        levels = ", ".join(f"{member.operator.name} is level {member.operator.level}" for member in suite.members if member.operator.name in request.operators)
        raise UsageError("no operator is left", expected="operators of the levels asked for", found=levels, action="check --op and --level")
    return found


def _refuse_failed(suite: Suite, request: EvaluationRequest) -> None:
    for name in request.operators:
        if suite.left_out.get(name):
            raise UsageError(f"operator {name} of {suite.name} can't be evaluated", found=suite.left_out[name], action="choose another one")


def _is_wanted(member: SuiteOperator, request: EvaluationRequest) -> bool:
    return (not request.operators or member.operator.name in request.operators) and (not request.levels or member.operator.level in request.levels)


def _dropped(members: Sequence[SuiteOperator], request: EvaluationRequest) -> dict[tuple[str, str], Outcome]:
    """Why each case that does not run does not. Raises UsageError when none is left."""
    dropped: dict[tuple[str, str], Outcome] = {}
    for why_not in (_by_name(request), _by_size(request)):
        for case in _cases(members, dropped):
            reason = why_not(case)
            if reason is not None:
                dropped[case.operator, case.id] = reason
    _refuse_nothing(members, dropped, request)
    for member in members if request.is_fast else ():
        left = _cases((member,), dropped)
        telling = telling_cases(left)
        dropped |= {(case.operator, case.id): outcome(Cause.FILTERED_OUT, _NOT_TELLING) for case in left if case not in telling}
    return dropped


def _cases(members: Sequence[SuiteOperator], dropped: Mapping[tuple[str, str], Outcome]) -> list[Case]:
    return [case for member in members for case in member.cases if (case.operator, case.id) not in dropped]


def _by_name(request: EvaluationRequest) -> Callable[[Case], Outcome | None]:
    wanted = set(request.cases)

    def why_not(case: Case) -> Outcome | None:
        is_wanted = not wanted or case.id in wanted or f"{case.operator}/{case.id}" in wanted
        return None if is_wanted else outcome(Cause.FILTERED_OUT, _FILTERED)

    return why_not


def _by_size(request: EvaluationRequest) -> Callable[[Case], Outcome | None]:
    limit = request.max_elements

    def why_not(case: Case) -> Outcome | None:
        if limit is None or case.elements <= limit:
            return None
        return outcome(Cause.TOO_LARGE, f"{case.elements} elements, --max-elements allows {limit}", elements=case.elements, max_elements=limit)

    return why_not


def _refuse_nothing(members: Sequence[SuiteOperator], dropped: Mapping[tuple[str, str], Outcome], request: EvaluationRequest) -> None:
    if _cases(members, dropped):
        return
    named = [case for member in members for case in member.cases if dropped[case.operator, case.id].cause is Cause.TOO_LARGE]
    least = min((case.elements for case in named), default=0)
    raise UsageError("no case is left", expected=f"--max-elements of at least {least}", found=str(request.max_elements), action="raise it, or leave it out")


def _suite_remarks(suite: Suite, members: Sequence[SuiteOperator]) -> list[str]:
    """What the suite itself has to say: tasks of another benchmark that could not be taken over, and how the others were changed."""
    failed = {name: reason for name, reason in suite.left_out.items() if reason}
    remarks = [f"{name} can't be evaluated: {reason}" for name, reason in failed.items()]
    return [*(text for member in members for text in member.remarks), *remarks]


def _remarks(members: Sequence[SuiteOperator], left_out: Sequence[str], dropped: Mapping[tuple[str, str], Outcome], request: EvaluationRequest) -> list[str]:
    remarks: list[str] = []
    if left_out:
        filters = " and ".join(name for name, given in (("--op", request.operators), ("--level", request.levels)) if given)
        remarks.append(f"{len(left_out)} operators of the suite were left out by {filters}: {', '.join(left_out)}")
    too_large = [f"{name}/{case_id}" for (name, case_id), why in dropped.items() if why.cause is Cause.TOO_LARGE]
    if too_large:
        remarks.append(f"{len(too_large)} cases have more than {request.max_elements} elements and were not run (--max-elements): {', '.join(too_large)}")
    if request.is_fast:
        chosen = ", ".join(f"{case.operator}/{case.id}" for case in _cases(members, dropped))
        remarks.append(f"partial: --fast ran only the telling cases of each operator ({chosen}); such a report does not rank")
    return remarks


def _refuse_unknown(wanted: Sequence[str], known: Sequence[str], what: str, suite: str) -> None:
    for name in wanted:
        if name not in known:
            listed = ", ".join(dict.fromkeys(known)) if len(known) <= 60 else f"{len(known)} names"
            raise UsageError(f"suite {suite} has no {what} {name!r}", expected=f"one of: {listed}", action=f"check --{'op' if what == 'operator' else what}")
