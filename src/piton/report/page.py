"""What report.html shows, worked out before the template draws it: one record per operator and case, with the anchors that links go to."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from piton.core.execution import PIPES
from piton.core.hardware import Figure as HardwareFigure
from piton.core.hardware import Peaks
from piton.core.measurement import Provenance
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.score import ScoreProfile
from piton.core.verdict import Verdict
from piton.report import rows
from piton.report.bottleneck import bottleneck
from piton.report.failures import Failure, failures
from piton.report.hap_plot import hap_figure, ratio
from piton.report.pipe_cell import PipeCell, pipe_cell
from piton.report.plot import Figure
from piton.report.roofline import left_out_notes, roofline_figures
from piton.report.series import Located, series_of

OPEN_CASES = 160
"""Pages with more cases start with closed operators."""
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
        return _median_ratio(self.cases)

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


@dataclass(frozen=True)
class FailedWay:
    """Everything that failed under one verdict and cause."""

    title: str
    places: tuple[tuple[PageOperator, int, Failure], ...]
    """Operator, number of the failure in it, and the failure."""

    @property
    def cases(self) -> int:
        """Cases that failed so; a failed build counts for all of its operator."""
        return sum(len(failure.cases) or len(item.cases) for item, _, failure in self.places)


@dataclass(frozen=True)
class Page:
    """Everything."""

    report: Report
    head: rows.Headers
    origins: rows.Columns
    operators: tuple[PageOperator, ...]
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]
    """What the figures leave out."""

    @property
    def cases(self) -> list[PageCase]:
        """All cases that were asked for."""
        return [case for item in self.operators for case in item.cases]

    @property
    def verdicts(self) -> list[tuple[str, str, int]]:
        """(verdict, standing, number of cases), passed first, then by number."""
        counted = Counter(verdict_name(case.result) for case in self.cases)
        return [(name, standing(name), count) for name, count in sorted(counted.items(), key=lambda item: (item[0] != "passed", -item[1]))]

    @property
    def passed(self) -> int:
        """Cases that passed."""
        return sum(item.passed for item in self.operators)

    @property
    def mean_hap(self) -> float | None:
        """Mean HAP of the cases that have one."""
        return rows.mean_hap([case.result for case in self.cases])

    @property
    def median_ratio(self) -> float | None:
        """Median of T_cand / T_HW."""
        return _median_ratio(self.cases)

    @property
    def slowest(self) -> list[PageCase]:
        """The cases with the most to gain: lowest HAP first."""
        scored = [case for case in self.cases if case.result.hap]
        return sorted(scored, key=lambda case: case.result.hap.ranked if case.result.hap else 0.0)[:5]

    @property
    def failed_ways(self) -> list[FailedWay]:
        """All failures by what they are called, the most frequent first."""
        found: dict[str, list[tuple[PageOperator, int, Failure]]] = {}
        for item in self.operators:
            for number, failure in enumerate(item.failures, start=1):
                found.setdefault(failure.title, []).append((item, number, failure))
        ways = [FailedWay(title, tuple(places)) for title, places in found.items()]
        return sorted(ways, key=lambda way: -way.cases)

    @property
    def finding_kinds(self) -> list[tuple[str, int, list[PageOperator]]]:
        """Kinds of findings with the number of cases and the operators that have them, most frequent first."""
        kinds = Counter(finding.kind.value for case in self.cases for finding in case.result.findings)
        return [(kind, self._cases_with(kind), self._operators_with(kind)) for kind, _ in kinds.most_common()]

    def _cases_with(self, kind: str) -> int:
        return sum(any(finding.kind.value == kind for finding in case.result.findings) for case in self.cases)

    def _operators_with(self, kind: str) -> list[PageOperator]:
        return [item for item in self.operators if any(group.kind.value == kind for group in item.findings)]

    @property
    def launch_origin(self) -> str:
        """Provenance of what launches say about themselves, times or not."""
        return Provenance.SIMULATED.value if self.report.score_profile is ScoreProfile.SIM else Provenance.DEVICE.value

    @property
    def is_open(self) -> bool:
        """True when the operators of this page start open."""
        return len(self.cases) <= OPEN_CASES

    @property
    def heads(self) -> tuple[tuple[str, str], ...]:
        """The three times with their provenance, which is empty where every cell names its own."""
        return tuple((name, "" if " and " in text else text) for name, text in provenance_labels(self.origins))

    @property
    def time_methods(self) -> list[str]:
        """How T_cand came about."""
        return sorted({f"{case.result.time.method} ({case.result.time.provenance.value})" for case in self.cases if case.result.time})

    @property
    def peaks(self) -> list[tuple[str, HardwareFigure]]:
        """Name with unit, value and source of every peak."""
        return list(_peaks(self.report.chip.peaks)) if self.report.chip else []

    @property
    def origin_text(self) -> str:
        """Provenances of the times that HAP is made of."""
        return ", ".join(f"{name} {text}" for name, text in provenance_labels(self.origins) if text)


def build_page(report: Report) -> Page:
    """The page of a scored report."""
    origins, anchors = rows.columns(report), _Anchors()
    operators = tuple(_operator(item, report, origins, anchors) for item in report.operators)
    located = [Located(case.result, case.anchor) for item in operators for case in item.cases]
    series = series_of(located)
    times = " / ".join(dict(provenance_labels(origins))[name] or "none" for name in ("T_cand", "T_HW"))
    hap = hap_figure(located, series, times)
    figures = (*([hap] if hap else []), *roofline_figures(located, series, report.chip))
    return Page(report, rows.headers(origins), origins, operators, figures, left_out_notes(located, report.chip))


def provenance_labels(origins: rows.Columns) -> tuple[tuple[str, str], ...]:
    """(quantity, provenances) of the three times."""
    named = (("T_cand", origins.t_cand), ("T_baseline", origins.t_baseline), ("T_HW", origins.t_hw))
    return tuple((name, " and ".join(origin.value for origin in found)) for name, found in named)


def verdict_name(case: CaseResult) -> str:
    """The verdict, or `void`."""
    return "void" if case.void else case.outcome.verdict.value


def standing(verdict: str) -> str:
    """`good`, `bad`, or `none` for what was not judged."""
    return "good" if verdict == Verdict.PASSED.value else "none" if verdict in _UNJUDGED else "bad"


class _Anchors:
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


def _operator(item: OperatorResult, report: Report, origins: rows.Columns, anchors: _Anchors) -> PageOperator:
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


def _median_ratio(cases: Sequence[PageCase]) -> float | None:
    found = [value for case in cases if (value := ratio(case.result)) is not None]
    return statistics.median(found) if found else None


def _peaks(peaks: Peaks) -> Iterator[tuple[str, HardwareFigure]]:
    for name in ("hbm_read_bytes_per_s", "hbm_write_bytes_per_s", "l2_write_bytes_per_s", "l2_bytes", "floor_us"):
        yield name, getattr(peaks, name)
    for dtype, figure in peaks.vector_lanes_per_s.items():
        yield f"vector lane-instructions/s, {dtype}", figure
    for dtype, figure in peaks.cube_flops.items():
        yield f"cube FLOP/s, {dtype}", figure


def _methods(cases: Sequence[CaseResult]) -> Iterator[tuple[str, str, int]]:
    for name in ("T_cand", "T_baseline", "T_HW"):
        counted = Counter(filter(None, (_method(case, name) for case in cases)))
        for text, count in counted.items():
            yield name, text, count


def _method(case: CaseResult, name: str) -> str:
    found = {"T_cand": case.time, "T_baseline": case.t_baseline, "T_HW": case.t_hw}[name]
    return f"{found.method} ({found.provenance.value})" if found else ""
