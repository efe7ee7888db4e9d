"""Reports against the first of them: which cases moved, what that did to scores, and what beside the submission differs."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence

from piton.core.estimators import interval_of_mean
from piton.core.measurement import Provenance
from piton.core.report import CaseResult, HiddenSet, OperatorResult, Report
from piton.report import rows
from piton.report.comparison import Comparison, Difference, Pair, Run, SpeedUp, Sum
from piton.report.groups import Group, by_category, by_level
from piton.report.moves import Move, MoveKind, Thresholds, move

_WORLD = (
    "suite",
    "suite_version",
    "suite_digest",
    "target",
    "hardware",
    "hardware_digest",
    "score_profile",
    "precision_profile",
    "accuracy",
    "seed",
    "trials",
    "auto_sync",
    "baselines",
    "hidden",
)
"""Fields that have to agree for a difference to be the submission's."""
_DIGEST = 16
"""Digits of a digest that are shown."""
_SEED = 0
"""Of the resamples behind the interval of a speed-up."""


def compare(reports: Sequence[Report], names: Sequence[str], least: Thresholds | None = None) -> Comparison:
    """Compare scored reports; `names` are what they are called. The first is what the others are compared with."""
    used = least or Thresholds()
    return Comparison(
        runs=tuple(_run(report, name) for report, name in zip(reports, names, strict=True)),
        least_time_change=used.time,
        least_hap_change=used.hap,
        differences=tuple(_differences(reports, names)),
        pairs=tuple(_pair(reports[0], other, (names[0], name), used) for other, name in zip(reports[1:], names[1:], strict=True)),
    )


def _run(report: Report, name: str) -> Run:
    return Run(
        name=name,
        submission=report.submission,
        submission_digest=report.submission_digest,
        target=report.target,
        score_profile=report.score_profile.value,
        result_digest=report.result_digest,
        piton=report.environment.piton,
    )


def _pair(first: Report, other: Report, names: tuple[str, str], least: Thresholds) -> Pair:
    is_sums_only = _lacks_ids(first, other)
    every = [] if is_sums_only else _moves(first, other, least)
    counted = Counter(item.kind for item in every)
    by_operator = _by_operator(every)
    return Pair(
        before=names[0],
        after=names[1],
        counts={kind.value: counted[kind] for kind in MoveKind},
        moves=tuple(sorted((item for item in every if item.kind is not MoveKind.UNCHANGED), key=lambda item: item.weight)),
        speedup=_speedup(every),
        total=_total(first, other, every),
        levels=tuple(_group_sums(by_level(first), by_level(other), by_operator)),
        categories=tuple(_group_sums(by_category(first), by_category(other), by_operator)),
        operators=tuple(_operator_sums(first, other, by_operator)),
        is_sums_only=is_sums_only,
    )


def _lacks_ids(first: Report, other: Report) -> bool:
    """True when cases of equal ids need not be the same ones: hidden ones numbered by rank, and withheld ones of two hidden sets."""
    sets = [report.hidden for report in (first, other)]
    if any(found is not None and found.detail == "counts" for found in sets):
        return True
    if any(found is None or found.detail == "all" for found in sets):
        return False
    drawn = [(report.hidden.key_id, report.hidden.count, report.suite_digest) for report in (first, other) if report.hidden]
    return drawn[0] != drawn[1]


def _moves(first: Report, other: Report, least: Thresholds) -> list[Move]:
    before, after = _cases(first), _cases(other)
    return [move(key, before.get(key), after.get(key), least) for key in dict.fromkeys((*before, *after))]


def _cases(report: Report) -> dict[tuple[str, str], CaseResult]:
    """The cases that were asked for."""
    return {(item.operator, case.case.id): case for item in report.operators for case in rows.listed(item)}


def _by_operator(moves: Sequence[Move]) -> dict[str, list[Move]]:
    found: dict[str, list[Move]] = {}
    for item in moves:
        found.setdefault(item.operator, []).append(item)
    return found


def _timed(moves: Sequence[Move]) -> list[Move]:
    return [item for item in moves if item.speedup is not None]


def _geometric_mean(moves: Sequence[Move]) -> float | None:
    found = [item.speedup for item in _timed(moves) if item.speedup]
    return statistics.geometric_mean(found) if found else None


def _origins(moves: Sequence[Move]) -> tuple[Provenance, ...]:
    """Where the times behind the speed-ups come from, in the order of `Provenance`."""
    found = {item.before.time_provenance for item in _timed(moves) if item.before}
    return tuple(origin for origin in Provenance if origin in found)


def _speedup(moves: Sequence[Move]) -> SpeedUp | None:
    timed = _timed(moves)
    value = _geometric_mean(timed)
    if value is None:
        return None
    logs = [math.log(item.speedup) for item in timed if item.speedup]
    spread = interval_of_mean(logs, [item.operator for item in timed], _SEED)
    low, high = (math.exp(spread.low), math.exp(spread.high)) if spread else (None, None)
    return SpeedUp(value=value, low=low, high=high, cases=len(timed), provenances=_origins(timed))


def _total(first: Report, other: Report, moves: Sequence[Move]) -> Sum:
    return Sum(
        name="total",
        before=first.total_score,
        after=other.total_score,
        most=max(first.most_points, other.most_points),
        passed_before=_passed(first.operators),
        passed_after=_passed(other.operators),
        speedup=_geometric_mean(moves),
        speedup_provenances=_origins(moves),
    )


def _passed(operators: Sequence[OperatorResult]) -> int:
    return sum(case.outcome.verdict.value == "passed" for item in operators for case in rows.listed(item))


def _group_sums(before: Sequence[Group], after: Sequence[Group], moves: dict[str, list[Move]]) -> list[Sum]:
    """Groups by name, in the order of the first report."""
    first, other = ({group.name: group for group in groups} for groups in (before, after))
    return [_group_sum(name, first.get(name), other.get(name), moves) for name in dict.fromkeys((*first, *other))]


def _group_sum(name: str, before: Group | None, after: Group | None, moves: dict[str, list[Move]]) -> Sum:
    known = [group for group in (before, after) if group is not None]
    operators = dict.fromkeys(item.operator for group in known for item in group.operators)
    counted = [item for operator in operators for item in moves.get(operator, ())]
    return Sum(
        name=name,
        before=before.score if before else None,
        after=after.score if after else None,
        most=max(group.most for group in known),
        passed_before=before.passed if before else 0,
        passed_after=after.passed if after else 0,
        speedup=_geometric_mean(counted),
        speedup_provenances=_origins(counted),
    )


def _operator_sums(first: Report, other: Report, moves: dict[str, list[Move]]) -> list[Sum]:
    """Every operator that one report has; one that a submission lacks has 0 there."""
    before, after = ({item.operator: item for item in report.operators} for report in (first, other))
    return [
        Sum(
            name=name,
            before=before[name].score if name in before else _absent(name, first),
            after=after[name].score if name in after else _absent(name, other),
            most=100,
            passed_before=_passed([before[name]]) if name in before else 0,
            passed_after=_passed([after[name]]) if name in after else 0,
            speedup=_geometric_mean(moves.get(name, ())),
            speedup_provenances=_origins(moves.get(name, ())),
        )
        for name in dict.fromkeys((*before, *after))
    ]


def _absent(name: str, report: Report) -> float | None:
    """The score of an operator that is not in the report: 0 when the submission lacks it, none when it was not asked for."""
    return 0.0 if name in report.missing_operators else None


def _differences(reports: Sequence[Report], names: Sequence[str]) -> list[Difference]:
    first = reports[0]
    found = [
        Difference(run=name, field=field, first=told[0], other=told[1])
        for report, name in zip(reports[1:], names[1:], strict=True)
        for field in _WORLD
        if (told := _told(field, getattr(first, field), getattr(report, field)))
    ]
    versions = [
        Difference(run=name, field="piton", first=first.environment.piton, other=report.environment.piton)
        for report, name in zip(reports[1:], names[1:], strict=True)
        if report.environment.piton != first.environment.piton
    ]
    return found + versions


def _told(field: str, first: object, other: object) -> tuple[str, str] | None:
    """Both values in words, of lists what only one of the two has; None when they are equal."""
    if first == other:
        return None
    if isinstance(first, tuple) and isinstance(other, tuple):
        only = [item for item in first if item not in other], [item for item in other if item not in first]
        first, other = only if any(only) else (list(first), list(other))  # the same entries in another order are told whole
    return _words(field, first), _words(field, other)


def _words(field: str, value: object) -> str:
    if isinstance(value, list):
        return "; ".join(map(str, value)) or "none"
    if isinstance(value, HiddenSet):
        return f"{value.count} per operator by key {value.key_id}, told as {value.detail}"
    if value is None:
        return "none"
    text = str(getattr(value, "value", value))
    return text[:_DIGEST] if field.endswith("_digest") else text
