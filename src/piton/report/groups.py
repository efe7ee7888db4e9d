"""Operators by level and by category: sums of their scores, and how near their cases come to the limit."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from piton.core.measurement import Anchor, Measurement, Provenance
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.verdict import Verdict
from piton.report import rows

NO_CATEGORY = "no category"
NOT_SUBMITTED = "not submitted"


@dataclass(frozen=True)
class Group:
    """Operators that belong together."""

    name: str
    """`level 2`, or the category as the suite calls it."""
    operators: tuple[OperatorResult, ...]
    missing: int = 0
    """Operators of the suite that the submission does not have; each scores 0."""

    @property
    def cases(self) -> list[CaseResult]:
        """Cases that were asked for."""
        return [case for item in self.operators for case in rows.listed(item)]

    @property
    def score(self) -> float | None:
        """Sum of the operators' scores; None when one has none."""
        known = [item.score for item in self.operators if item.score is not None]
        return sum(known, 0.0) if len(known) == len(self.operators) else None

    @property
    def most(self) -> int:
        """Points of a perfect submission."""
        return 100 * (len(self.operators) + self.missing)

    @property
    def share(self) -> float:
        """Score as a share of the most points, 0 to 1; 0 where there is no score."""
        return (self.score or 0.0) / self.most if self.most else 0.0

    @property
    def passed(self) -> int:
        """Cases that passed."""
        return sum(case.outcome.verdict is Verdict.PASSED for case in self.cases)

    @property
    def mean_hap(self) -> float | None:
        """Mean HAP of the cases that have one."""
        return rows.mean_hap(self.cases)

    @property
    def median_ratio(self) -> float | None:
        """Median of T_cand / T_HW; None without times."""
        found = [value for case in self.cases if (value := rows.time_ratio(case)) is not None]
        return statistics.median(found) if found else None

    @property
    def speedup(self) -> float | None:
        """Geometric mean of T_baseline / T_cand over the cases that passed with both; None when there are none."""
        found = [baseline.value_us / time.value for baseline, time in self._both_times]
        return statistics.geometric_mean(found) if found else None

    @property
    def speedup_origin(self) -> str:
        """Where the times behind `speedup` come from: `T_baseline simulated and quoted, T_cand simulated`; empty without one."""
        known = self._both_times
        named = (("T_baseline", {baseline.provenance for baseline, _ in known}), ("T_cand", {time.provenance for _, time in known}))
        return ", ".join(f"{name} {' and '.join(origin.value for origin in Provenance if origin in found)}" for name, found in named) if known else ""

    @property
    def _both_times(self) -> list[tuple[Anchor, Measurement]]:
        return [(case.t_baseline, case.time) for case in self.cases if case.t_baseline and case.time and case.time.value]


def by_level(report: Report) -> list[Group]:
    """Groups in the order of levels; levels of which the submission has nothing are there too."""
    missing = list(report.missing_operators.values())
    levels = sorted({*(item.level for item in report.operators), *missing})
    return [Group(f"level {level}", tuple(item for item in report.operators if item.level == level), missing.count(level)) for level in levels]


def by_category(report: Report) -> list[Group]:
    """Groups by name. Of operators that the submission lacks no category is known: they make one of their own, the last."""
    found = _grouped(report.operators, lambda item: item.category or NO_CATEGORY)
    groups = [Group(name, items) for name, items in sorted(found.items(), key=lambda pair: (pair[0] == NO_CATEGORY, pair[0]))]
    return groups + ([Group(NOT_SUBMITTED, (), len(report.missing_operators))] if report.missing_operators else [])


def _grouped(operators: Sequence[OperatorResult], name: Callable[[OperatorResult], str]) -> dict[str, tuple[OperatorResult, ...]]:
    found: dict[str, tuple[OperatorResult, ...]] = {}
    for item in operators:
        found[name(item)] = (*found.get(name(item), ()), item)
    return found
