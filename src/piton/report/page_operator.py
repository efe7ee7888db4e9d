"""Operators and cases as report.html shows them, with the anchors that links go to."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from piton.core.execution import PIPES
from piton.core.measurement import Anchor, WorkFigures
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.verdict import Verdict
from piton.report import rows
from piton.report.bottleneck import Bottleneck, bottleneck
from piton.report.failures import Failure, failures
from piton.report.lanes import LaneChart, Timelines
from piton.report.limits import roof_label
from piton.report.pipe_cell import PipeCell, pipe_cell
from piton.report.trust import interval_text

_FIGURES = ("hap", "roofline-vector", "roofline-cube")
_PARTS = "summary breakdown limits limits-roof limits-kernel figures operators fair cases environment filters shown theme dark case"
_RESERVED = frozenset({*_PARTS.split(), *(text for name in _FIGURES for text in (f"figure-{name}", f"{name}-title", f"{name}-text"))})
"""Identifiers of the page itself."""
_PREFIXES = ("", "k", "M", "G", "T", "P")
_UNITS = ("cube", "vector", "mte1", "mte2", "mte3", "fixp", "floor")
_UNJUDGED = frozenset({"void", Verdict.NOT_RUN.value})


@dataclass(frozen=True)
class PageCase:
    """One case of the page."""

    result: CaseResult
    anchor: str
    row: rows.Row
    points: str
    found: Bottleneck | None
    """What limits the submission; None where launches do not say why they waited."""

    @cached_property
    def pipes(self) -> dict[str, PipeCell]:
        """A bar for each pipe that worked."""
        return {share.pipe: pipe_cell(share) for share in self.found.pipes} if self.found else {}

    @property
    def limits(self) -> str:
        """What limits the submission, in a sentence; empty where that is not known."""
        return self.found.sentence if self.found else ""

    @property
    def verdict(self) -> str:
        """The verdict, or `void`."""
        return verdict_name(self.result)

    @property
    def meter(self) -> str:
        """HAP as the length of a bar, and its interval as the ends of a line below it, as CSS variables."""
        if self.result.hap is None:
            return ""
        found = self.result.hap.interval
        ends = f";--lo:{_clipped(found.low)};--hi:{_clipped(found.high)}" if found else ""
        return f"--v:{_clipped(self.result.hap.ranked)}{ends}"

    @property
    def time_between(self) -> str:
        """Where the true T_cand is expected."""
        return interval_text(self.result.time.bounds if self.result.time else None, 2)

    @property
    def limit(self) -> str:
        """The unit whose time is T_HW."""
        return self.result.t_hw.limiting_unit if self.result.t_hw and self.result.t_hw.limiting_unit else rows.NONE

    @property
    def roof(self) -> str:
        """That unit rolled up: Vector, Cube, MTE or floor."""
        return roof_label(self.result)

    @property
    def arithmetic(self) -> str:
        """What the work formula counts beside bytes, such as `4.12 M lane-instructions float32`."""
        work = self.result.t_hw.work if self.result.t_hw else None
        return ", ".join(_arithmetic(work)) or rows.NONE if work else rows.NONE

    @property
    def choice(self) -> str:
        """The implementation that T_HW is computed for, or how it came about."""
        method = self.result.t_hw.method if self.result.t_hw else ""
        return method.partition(f"{self.result.operator} as ")[2] or method

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
    charts: tuple[LaneChart, ...]
    """Timelines that were kept."""

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
    def units(self) -> tuple[str, ...]:
        """Units that some T_HW has a time for."""
        used = {unit for case in self.cases if case.result.t_hw for unit, value in case.result.t_hw.unit_times_us.items() if value}
        return tuple(sorted(used, key=lambda unit: (_UNITS.index(unit) if unit in _UNITS else len(_UNITS), unit)))

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
        self._used = set(_RESERVED)

    def name(self, *parts: str) -> str:
        """An identifier that reads like `parts`."""
        wanted = "-".join(re.sub(r"[^A-Za-z0-9._]+", "-", part)[:60] for part in parts)
        found, number = wanted, 2
        while found in self._used:
            found, number = f"{wanted}-{number}", number + 1
        self._used.add(found)
        return found


def page_operator(item: OperatorResult, report: Report, origins: rows.Columns, anchors: Anchors, timelines: Timelines) -> PageOperator:
    """One operator with the anchors that links go to."""
    anchor = anchors.name("op", item.operator)
    cases = tuple(
        PageCase(
            case,
            anchors.name(item.operator, case.case.id),
            rows.row(case, origins),
            rows.points_text(case, item, report.score_profile),
            bottleneck(case),
        )
        for case in rows.listed(item)
    )
    return PageOperator(item, anchor, cases, tuple(failures(item)), tuple(rows.findings(item)), timelines.of(item.operator))


def median_ratio_of(cases: Sequence[PageCase]) -> float | None:
    found = [value for case in cases if (value := rows.time_ratio(case.result)) is not None]
    return statistics.median(found) if found else None


def _clipped(value: float) -> str:
    return f"{min(max(value, 0.0), 1.0):.3g}"


def _arithmetic(work: WorkFigures) -> Iterator[str]:
    for unit, amounts in ((" lane-instructions", work.vector_lanes), ("FLOP", work.cube_flops)):
        for dtype, amount in amounts.items():
            if amount:
                yield f"{_prefixed(amount)}{unit} {dtype}"


def _prefixed(amount: float) -> str:
    """`4.12 M`, for a unit to follow."""
    step = max(min((len(f"{amount:.0f}") - 1) // 3, len(_PREFIXES) - 1), 0)
    return f"{amount / 1000**step:.3g} {_PREFIXES[step]}"


def _methods(cases: Sequence[CaseResult]) -> Iterator[tuple[str, str, int]]:
    for name in ("T_cand", "T_baseline", "T_HW"):
        counted = Counter(filter(None, (_method(case, name) for case in cases)))
        for text, count in counted.items():
            yield name, text, count


def _method(case: CaseResult, name: str) -> str:
    found = {"T_cand": case.time, "T_baseline": case.t_baseline, "T_HW": case.t_hw}[name]
    version = f", {found.version}" if isinstance(found, Anchor) and found.version else ""
    return f"{found.method} ({found.provenance.value}{version})" if found else ""
