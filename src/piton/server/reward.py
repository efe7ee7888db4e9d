"""A reward for training: one number between 0 and 1, a pure function of a report.

Counted are the cases that were asked for: what a filter left out is in no mean. A rejected or tampered submission gets 0 by every rule. What we could not
evaluate is nobody's failure: a report with a void has no reward, and says why, instead of a 0 that a trainer would learn from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

from piton.core.named import named
from piton.core.operator import Frozen
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.score import CasePoints, is_correct, operator_score
from piton.core.verdict import LEFT_OUT, Cause, Verdict

Rule = Literal["score", "hap", "correct", "compiled"]
DEFAULT_RULE: Rule = "score"
_CHEATS = frozenset({Verdict.REJECTED, Verdict.TAMPERED})


class Reward(Frozen):
    """The reward and what it is made of."""

    rule: Rule
    reward: float | None
    """None where there is none; `reason` says why."""
    reason: str = ""
    compiled: float
    """Share of the operators that were built."""
    correct: float
    """Share of the cases that earn credit for correctness."""
    hap: float
    """Mean over the cases of HAP as it ranks; a case that did not pass, or has no HAP, counts 0."""
    score: float
    """Mean over the operators of score / 100 (docs/scoring.md), over the cases asked for."""
    operators: int
    cases: int
    passed: int
    voids: int
    below_t_hw: int
    """Cases whose time is below T_HW: they rank as HAP 1 until a person has looked. A trainer does well to leave such samples out."""


def rule_named(name: str) -> Rule:
    """The rule of that name. Raises UsageError for another one."""
    rules: tuple[Rule, ...] = get_args(Rule)
    return named(name, rules, "for a reward there is no rule", "check `rule`")


def reward_of(report: Report, rule: Rule = DEFAULT_RULE) -> Reward:
    """The reward of a report by a rule."""
    asked = [(item, _asked(item)) for item in report.operators]
    asked = [(item, cases) for item, cases in asked if cases]
    cases = [case for _, found in asked for case in found]
    values = {
        "compiled": _mean([float(item.compiled) for item, _ in asked]),
        "correct": _mean([float(is_correct(case.outcome.verdict, report.score_profile)) for case in cases]),
        "hap": _mean([_hap(case) or 0.0 for case in cases]),
        "score": _mean([_score(item, found, report) for item, found in asked]),
    }
    if any(case.outcome.verdict in _CHEATS for case in cases) or any(item.build_outcome.verdict in _CHEATS for item, _ in asked):
        values = dict.fromkeys(values, 0.0)
    reason = _why_none(cases)
    return Reward(
        rule=rule,
        reward=None if reason else values[rule],
        reason=reason,
        **values,
        operators=len(asked),
        cases=len(cases),
        passed=sum(case.outcome.verdict is Verdict.PASSED for case in cases),
        voids=sum(bool(case.void) for case in cases),
        below_t_hw=sum(case.hap is not None and case.hap.is_below_t_hw for case in cases),
    )


def _asked(item: OperatorResult) -> list[CaseResult]:
    return [case for case in item.cases if case.outcome.cause not in LEFT_OUT]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _hap(case: CaseResult) -> float | None:
    return case.hap.ranked if case.hap is not None and case.outcome.verdict is Verdict.PASSED else None


def _score(item: OperatorResult, cases: Sequence[CaseResult], report: Report) -> float:
    points = [CasePoints(verdict=case.outcome.verdict, hap=_hap(case)) for case in cases]
    return operator_score(points, report.score_profile, item.compiled) / 100.0


def _why_none(cases: Sequence[CaseResult]) -> str:
    checks: tuple[tuple[str, Callable[[CaseResult], bool]], ...] = (
        ("could not be evaluated", lambda case: bool(case.void)),
        ("were not run because the evaluation was stopped", lambda case: case.outcome.cause is Cause.INTERRUPTED),
    )
    for text, is_so in checks:
        found = [f"{case.operator}/{case.case.id}" for case in cases if is_so(case)]
        if found:
            return f"{len(found)} of {len(cases)} cases {text}, the first is {found[0]}"
    return "" if cases else "no case was asked for"
