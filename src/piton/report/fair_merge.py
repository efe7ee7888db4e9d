"""One fair-reporting record for all runs of a method: what they agree on once, what they differ in with the number of runs, budgets added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from piton.core.fair import FairItem, FairRow, Source
from piton.core.method import Method, Reporting
from piton.core.operator import Frozen
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.verdict import Verdict
from piton.report.fair_record import budget_row, fair_record, known

_SHOWN = 3
"""Differing values of an item that are written out."""
_BUDGET = ("llm_calls", "tokens", "wall_clock_s")
RecordT = TypeVar("RecordT", bound=Frozen)


def method_record(reports: Sequence[Report], method: Method | None, reporting: Reporting | None, counted: Mapping[FairItem, str]) -> tuple[FairRow, ...]:
    """The eleven items of a method with these runs, which are of one world.

    `method` and `reporting` are what a sample set says of all its runs together; they go before what the single submissions say. `counted` are items that
    the caller knows itself: metrics, number of samples, selection of turns.
    """
    whole = [_told(report, method, reporting) for report in _of_the_whole(reports)]
    records = [fair_record(report) for report in whole]
    rows = {item: _merged([record[number] for record in records]) for number, item in enumerate(FairItem)}
    totals = _totals(reports) if len(reports) > 1 and not _says_budget(reporting) else None
    if totals is not None:
        row = budget_row(whole[0].method or Method(), totals)
        rows[FairItem.BUDGET] = row.model_copy(update={"value": f"{row.value} (sum over {len(reports)} runs)"})
    rows |= {item: known(item, text) for item, text in counted.items()}
    return tuple(rows[item] for item in FairItem)


def _of_the_whole(reports: Sequence[Report]) -> list[Report]:
    """Every report with the operators of all, so that only what is not the same about the runs themselves differs."""
    lines: dict[str, dict[str, CaseResult]] = {}
    first: dict[str, OperatorResult] = {}
    for item in (item for report in reports for item in report.operators):
        first.setdefault(item.operator, item)
        kept = lines.setdefault(item.operator, {})
        for case in item.cases:
            if case.case.id not in kept or case.outcome.verdict is Verdict.PASSED:
                kept[case.case.id] = case
    operators = tuple(item.model_copy(update={"cases": tuple(lines[name].values())}) for name, item in first.items())
    missing = {name: level for report in reports for name, level in report.missing_operators.items() if name not in first}
    return [report.model_copy(update={"operators": operators, "missing_operators": missing, "findings": ()}) for report in reports]


def _told(report: Report, method: Method | None, reporting: Reporting | None) -> Report:
    """The report as if its submission had said what the sample set says; what that leaves open stays as it was."""
    return report.model_copy(update={"method": over(report.method, method, Method()), "reporting": over(report.reporting, reporting, Reporting())})


def over(own: RecordT | None, theirs: RecordT | None, empty: RecordT) -> RecordT | None:
    """`theirs` over `own`, field by field, where it says something."""
    if own is None or theirs is None:
        return theirs or own
    return own.model_copy(update={name: value for name in type(theirs).model_fields if (value := getattr(theirs, name)) != getattr(empty, name)})


def _merged(rows: Sequence[FairRow]) -> FairRow:
    """A row on which all agree as it is; else all values, and as weak as the weakest."""
    counted = Counter((row.source, row.value) for row in rows).most_common()
    if len(counted) == 1:
        return rows[0]
    weakest = max((row.source for row in rows), key=list(Source).index)
    texts = [f"{'missing' if source is Source.MISSING else value} ({count} runs)" for (source, value), count in counted[:_SHOWN]]
    rest = [f"and {len(counted) - _SHOWN} other values"] if len(counted) > _SHOWN else []
    return FairRow(item=rows[0].item, value="differs: " + " | ".join([*texts, *rest]), source=weakest)


def _says_budget(reporting: Reporting | None) -> bool:
    return reporting is not None and any(getattr(reporting, name) is not None for name in _BUDGET)


def _totals(reports: Sequence[Report]) -> Reporting | None:
    """Budget figures summed over the runs, those that every run states; None when there are none."""
    said = [report.reporting or Reporting() for report in reports]
    values = {name: [getattr(item, name) for item in said] for name in _BUDGET}
    sums = {name: sum(found) for name, found in values.items() if None not in found}
    return Reporting(**sums) if sums else None
