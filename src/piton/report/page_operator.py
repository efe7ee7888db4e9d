"""Operators and cases as report.html shows them, with the anchors that links go to."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from piton.core.execution import PIPES
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.verdict import Verdict
from piton.report import rows
from piton.report.bottleneck import bottleneck
from piton.report.failures import Failure, failures
from piton.report.hap_plot import ratio
from piton.report.pipe_cell import PipeCell, pipe_cell

_UNJUDGED = frozenset({"void", Verdict.NOT_RUN.value})


@dataclass(frozen=True)
class PageCase:
    """One case of the page."""

    result: CaseResult
    anchor: str
    row: rows.Row
    points: str
    pipes: dict[str, PipeCell]
    limits: str
    """What limits the submission, in a sentence; empty where launches do not say why they waited."""

    @property
    def verdict(self) -> str:
        """The verdict, or `void`."""
        return verdict_name(self.result)

    @property
    def meter(self) -> str:
        """HAP as the length of a bar, 0 to 1."""
        return f"{min(max(self.result.hap.ranked, 0.0), 1.0):.3g}" if self.result.hap else "0"

    @property
    def limit(self) -> str:
        """The unit whose time is T_HW."""
        return self.result.t_hw.limiting_unit if self.result.t_hw and self.result.t_hw.limiting_unit else rows.NONE

    @property
    def standing(self) -> str:
        """`good`, `bad` or `none` (not judged): how its verdict is coloured."""
        return standing(self.verdict)


@dataclass(frozen=True)
class PageOperator:
    """One operator of the page."""

    result: OperatorResult
    anchor: str
    cases: tuple[PageCase, ...]
    failures: tuple[Failure, ...]
    findings: tuple[rows.FindingGroup, ...]

    @property
    def passed(self) -> int:
        """Cases that passed."""
        return sum(case.result.outcome.verdict is Verdict.PASSED for case in self.cases)

    @property
    def findings_count(self) -> int:
        """Kinds of findings, by place."""
        return len(self.findings)

    @property
    def mean_hap(self) -> float | None:
        """Mean HAP of the cases that have one."""
        return rows.mean_hap([case.result for case in self.cases])

    @property
    def median_ratio(self) -> float | None:
        """Median of T_cand / T_HW."""
        return median_ratio_of(self.cases)

    @property
    def pipes(self) -> tuple[str, ...]:
        """Pipes that some case used."""
        used = {pipe for case in self.cases for pipe in case.pipes}
        return tuple(pipe for pipe in PIPES if pipe in used)

    @property
    def methods(self) -> tuple[tuple[str, str, int], ...]:
        """How the three times came about, as (which, method, number of cases)."""
        return tuple(_methods([case.result for case in self.cases]))

    def anchor_of(self, case_id: str) -> str:
        """Anchor of one of its cases."""
        return next(case.anchor for case in self.cases if case.result.case.id == case_id)


def verdict_name(case: CaseResult) -> str:
    """The verdict, or `void`."""
    return "void" if case.void else case.outcome.verdict.value


def standing(verdict: str) -> str:
    """`good`, `bad`, or `none` for what was not judged."""
    return "good" if verdict == Verdict.PASSED.value else "none" if verdict in _UNJUDGED else "bad"


class Anchors:
    """Fragment identifiers made of foreign names: letters, digits, `.`, `_`, `-` only, each given once."""

    def __init__(self) -> None:
        self._used = {"summary", "figures", "operators", "cases", "environment", "filters", "shown", "theme", "dark"}

    def name(self, *parts: str) -> str:
        """An identifier that reads like `parts`."""
        wanted = "-".join(re.sub(r"[^A-Za-z0-9._]+", "-", part)[:60] for part in parts)
        found, number = wanted, 2
        while found in self._used:
            found, number = f"{wanted}-{number}", number + 1
        self._used.add(found)
        return found


def page_operator(item: OperatorResult, report: Report, origins: rows.Columns, anchors: Anchors) -> PageOperator:
    anchor = anchors.name("op", item.operator)
    cases = tuple(
        PageCase(
            case,
            anchors.name(item.operator, case.case.id),
            rows.row(case, origins),
            rows.points_text(case, item, report.score_profile),
            *_limits(case),
        )
        for case in rows.listed(item)
    )
    return PageOperator(item, anchor, cases, tuple(failures(item)), tuple(rows.findings(item)))


def _limits(case: CaseResult) -> tuple[dict[str, PipeCell], str]:
    """Bars by pipe, and the sentence."""
    found = bottleneck(case)
    return ({share.pipe: pipe_cell(share) for share in found.pipes}, found.sentence) if found else ({}, "")


def median_ratio_of(cases: Sequence[PageCase]) -> float | None:
    found = [value for case in cases if (value := ratio(case.result)) is not None]
    return statistics.median(found) if found else None


def _methods(cases: Sequence[CaseResult]) -> Iterator[tuple[str, str, int]]:
    for name in ("T_cand", "T_baseline", "T_HW"):
        counted = Counter(filter(None, (_method(case, name) for case in cases)))
        for text, count in counted.items():
            yield name, text, count


def _method(case: CaseResult, name: str) -> str:
    found = {"T_cand": case.time, "T_baseline": case.t_baseline, "T_HW": case.t_hw}[name]
    return f"{found.method} ({found.provenance.value})" if found else ""
