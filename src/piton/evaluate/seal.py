"""Reports of hidden cases: what they say, and what they keep to themselves.

| detail | a report says |
|---|---|
| `counts` (default) | per operator how many cases passed and how they scored: lines are sorted by result and numbered anew, so that no line has a known case |
| `verdicts` | the same with the cases' own ids |
| `all` | everything, as for public cases |

In the first two a line has verdict, cause code, size class and HAP (the ends of its interval in hundredths): what scores are made of, and nothing from which
shapes, values or times follow. Sealing
comes after scoring, and a sealed line is never scored again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from piton.core.case import Case
from piton.core.execution import CopyLog
from piton.core.fault import Retry
from piton.core.report import CaseResult, HiddenSet, OperatorResult, Report
from piton.core.score import HapScore
from piton.core.verdict import Outcome, Verdict
from piton.evaluate.policy import HiddenRequest
from piton.report.rescore import score_report

_WITHHELD = "withheld: a hidden case"
_VOID = "could not be evaluated; the details are withheld: a hidden case"


def seal_case(result: CaseResult) -> CaseResult:
    """The result without anything that tells what the case is; its id stays."""
    if result.is_sealed:
        return result
    return result.model_copy(
        update={
            "case": Case(operator=result.operator, id=result.case.id, inputs=()),
            "outcome": _bare(result.outcome),
            "others": tuple(_bare(item) for item in result.others),
            "void": _VOID if result.void else "",
            "retries": tuple(Retry(fault=item.fault, reason=_WITHHELD) for item in result.retries),
            "checks": (),
            "second_checks": (),
            "time": None,
            "t_hw": None,
            "t_baseline": None,
            "hap": _coarse(result.hap),
            "launches": (),
            "copies": CopyLog(),
            "findings": tuple(type(item)(kind=item.kind, message=_WITHHELD) for item in result.findings),
            "wall_s": 0.0,
            "is_sealed": True,
        }
    )


def seal_report(report: Report, hidden: HiddenRequest, key_id: str) -> Report:
    """The report as it may be shown, with the name of its hidden set."""
    named = report.model_copy(update={"hidden": HiddenSet(key_id=key_id, count=hidden.count, detail=hidden.detail)})
    if hidden.detail != "all":
        operators = tuple(item.model_copy(update={"cases": _sealed_cases(item, hidden)}) for item in named.operators)
        named = named.model_copy(update={"operators": operators})
    return score_report(named)


def _sealed_cases(item: OperatorResult, hidden: HiddenRequest) -> tuple[CaseResult, ...]:
    sealed = [seal_case(case) for case in item.cases]
    return tuple(sealed) if hidden.detail == "verdicts" else _unlinked(sealed)


def _unlinked(cases: Sequence[CaseResult]) -> tuple[CaseResult, ...]:
    """Sorted by result, with new ids: best first."""
    ordered = sorted(
        cases, key=lambda case: (case.outcome.verdict is not Verdict.PASSED, case.outcome.cause.value, -(case.hap.raw if case.hap else 0.0), case.size)
    )
    width = len(str(len(ordered)))
    return tuple(
        case.model_copy(update={"case": Case(operator=case.operator, id=f"hidden-{number:0{width}}", inputs=())})
        for number, case in enumerate(ordered, start=1)
    )


def _coarse(found: HapScore | None) -> HapScore | None:
    """HAP with the ends of its interval rounded outwards to hundredths: exact ones would tell the ratios of the times that are withheld."""
    if found is None or found.interval is None:
        return found
    low, high = math.floor(found.interval.low * 100) / 100, math.ceil(found.interval.high * 100) / 100
    return found.model_copy(update={"interval": found.interval.model_copy(update={"low": low, "high": high})})


def _bare(outcome: Outcome) -> Outcome:
    return Outcome(verdict=outcome.verdict, cause=outcome.cause)
