"""Several reports side by side: scores per operator, and the cases that changed most from the first report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.report import CaseResult, Report
from piton.report import rows

MOST_CASES = 20
"""Changed cases that are listed."""
LEAST_CHANGE = 0.005
"""A smaller change of HAP, with an equal verdict, is none."""
_WORLD = ("suite", "suite_version", "suite_digest", "hardware", "hardware_digest", "score_profile", "precision_profile", "seed", "trials", "auto_sync")
"""Fields that have to agree for a difference to be the submission's."""


@dataclass(frozen=True)
class Table:
    """Cells as text, ready for any rendering."""

    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Comparison:
    """The reports in the order they were given; the first is what the others are compared with."""

    names: tuple[str, ...]
    scores: Table
    changes: Table
    changes_left_out: int
    differences: tuple[str, ...]
    """What beside the submission differs, one sentence each: then a difference of scores says little about the submissions."""


def compare(reports: Sequence[Report], names: Sequence[str]) -> Comparison:
    """Compare scored reports; `names` are what they are called in the tables."""
    changes = sorted(_changes(reports), key=lambda item: -item[0])
    shown = tuple(line for _, line in changes[:MOST_CASES])
    head = ("case", *(f"{column} {name}" for name in names for column in ("verdict", "T_cand us", "HAP")))
    return Comparison(
        names=tuple(names),
        scores=Table("Scores", ("operator", *names), tuple(_scores(reports))),
        changes=Table("Cases that changed most", head, shown),
        changes_left_out=len(changes) - len(shown),
        differences=tuple(_differences(reports, names)),
    )


def _scores(reports: Sequence[Report]) -> list[tuple[str, ...]]:
    found = [_by_operator(report) for report in reports]
    operators = list(dict.fromkeys(item.operator for report in reports for item in report.operators))
    lines = [(name, *(_score(scores, found[0], name, number) for number, scores in enumerate(found))) for name in operators]
    totals = [report.total_score for report in reports]
    return [*lines, ("total", *(_changed(total, totals[0], number) for number, total in enumerate(totals)))]


def _by_operator(report: Report) -> dict[str, float | None]:
    """Scores by operator; one that the submission lacks has 0."""
    return {**dict.fromkeys(report.missing_operators, 0.0), **{item.operator: item.score for item in report.operators}}


def _score(scores: dict[str, float | None], first: dict[str, float | None], name: str, number: int) -> str:
    return _changed(scores[name], first.get(name), number) if name in scores else rows.NONE


def _changed(score: float | None, first: float | None, number: int) -> str:
    """A score, with its difference to the first report unless it is the first."""
    text = rows.score_text(score)
    return text if not number or score is None or first is None else f"{text} ({score - first:+.1f})"


def _changes(reports: Sequence[Report]) -> list[tuple[float, tuple[str, ...]]]:
    """(how much, cells) of the cases that changed."""
    found = [{(case.operator, case.case.id): case for item in report.operators for case in rows.listed(item)} for report in reports]
    keys = list(dict.fromkeys(key for cases in found for key in cases))
    changed = [(_change([cases.get(key) for cases in found]), key) for key in keys]
    return [(amount, ("/".join(key), *(cell for cases in found for cell in _cells(cases.get(key))))) for amount, key in changed if amount >= LEAST_CHANGE]


def _change(cases: Sequence[CaseResult | None]) -> float:
    """Largest difference of HAP to the first; more than any such for a verdict that changed; 0 for a case that one report lacks."""
    first = cases[0]
    if first is None or None in cases:
        return 0.0
    known = [case for case in cases if case is not None]
    if len({rows.verdict_text(case) for case in known}) > 1:
        return 2.0
    return max(abs(_ranked(case) - _ranked(first)) for case in known)


def _ranked(case: CaseResult) -> float:
    return case.hap.ranked if case.hap else 0.0


def _cells(case: CaseResult | None) -> tuple[str, str, str]:
    if case is None:
        return (rows.NONE,) * 3
    time = f"{case.time.value:.2f} {case.time.provenance.value}" if case.time else rows.NONE
    return rows.verdict_text(case), time, f"{case.hap.ranked:.3f}" if case.hap else rows.NONE


def _differences(reports: Sequence[Report], names: Sequence[str]) -> list[str]:
    first = reports[0]
    return [
        f"{field.replace('_', ' ')} of {name} differs from that of {names[0]}: {_short(getattr(report, field))}, not {_short(getattr(first, field))}"
        for report, name in zip(reports[1:], names[1:], strict=True)
        for field in _WORLD
        if getattr(report, field) != getattr(first, field)
    ]


def _short(value: object) -> str:
    return str(getattr(value, "value", value))[:16]
