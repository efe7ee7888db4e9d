"""What report.html shows, worked out before the template draws it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from piton.core.fair import FairRow
from piton.core.hardware import Figure as HardwareFigure
from piton.core.hardware import Peaks
from piton.core.interval import Interval
from piton.core.measurement import Provenance
from piton.core.report import Report
from piton.core.score import ScoreProfile
from piton.report import rows
from piton.report.failures import Failure
from piton.report.fair_record import fair_record
from piton.report.groups import Group, by_category, by_level
from piton.report.hap_plot import hap_figure
from piton.report.lanes import Timelines
from piton.report.limits import LimitChart, Limited, limit_charts
from piton.report.page_operator import Anchors, PageCase, PageOperator, median_ratio_of, page_operator, standing
from piton.report.plot import Figure
from piton.report.roofline import left_out_notes, roofline_figures
from piton.report.series import Located, series_of

OPEN_CASES = 160
"""Pages with more cases start with closed operators."""
_EXTREMES = 5
"""Cases that are named at the top for being lowest or slowest."""


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
    levels: tuple[Group, ...]
    categories: tuple[Group, ...]
    limits: tuple[LimitChart, ...]
    timeline_notes: tuple[str, ...]
    """Timelines that are not drawn."""

    @property
    def level_intervals(self) -> dict[str, Interval | None]:
        """By name of the group; None where nothing is known."""
        return {group.name: self.report.level_intervals.get(group.name.removeprefix("level ")) for group in self.levels}

    @property
    def fair(self) -> tuple[FairRow, ...]:
        """The fair-reporting record."""
        return fair_record(self.report)

    @property
    def cases(self) -> list[PageCase]:
        """All cases that were asked for."""
        return [case for item in self.operators for case in item.cases]

    @property
    def verdicts(self) -> list[tuple[str, str, int]]:
        """(verdict, standing, number of cases), passed first, then by number."""
        counted = Counter(case.verdict for case in self.cases)
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
        return median_ratio_of(self.cases)

    @property
    def lowest(self) -> list[PageCase]:
        """The cases with the most points to gain: lowest HAP first."""
        scored = [case for case in self.cases if case.result.hap]
        return sorted(scored, key=lambda case: case.result.hap.ranked if case.result.hap else 0.0)[:_EXTREMES]

    @property
    def slowest(self) -> list[PageCase]:
        """The cases that take the most times T_HW."""
        timed = [case for case in self.cases if rows.time_ratio(case.result) is not None]
        return sorted(timed, key=lambda case: -(rows.time_ratio(case.result) or 0.0))[:_EXTREMES]

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


def build_page(report: Report, timelines: Timelines) -> Page:
    """The page of a scored report."""
    origins, anchors = rows.columns(report), Anchors()
    operators = tuple(page_operator(item, report, origins, anchors, timelines) for item in report.operators)
    located = [Located(case.result, case.anchor) for item in operators for case in item.cases]
    series = series_of(located)
    times = " / ".join(dict(provenance_labels(origins))[name] or "none" for name in ("T_cand", "T_HW"))
    hap = hap_figure(located, series, times)
    figures = (*([hap] if hap else []), *roofline_figures(located, series, report.chip))
    return Page(
        report=report,
        head=rows.headers(origins),
        origins=origins,
        operators=operators,
        figures=figures,
        notes=left_out_notes(located, report.chip),
        levels=tuple(by_level(report)),
        categories=tuple(by_category(report)),
        limits=limit_charts([Limited(item.result.level, case.result, case.found) for item in operators for case in item.cases]),
        timeline_notes=timelines.notes,
    )


def provenance_labels(origins: rows.Columns) -> tuple[tuple[str, str], ...]:
    """(quantity, provenances) of the three times."""
    named = (("T_cand", origins.t_cand), ("T_baseline", origins.t_baseline), ("T_HW", origins.t_hw))
    return tuple((name, " and ".join(origin.value for origin in found)) for name, found in named)


def _peaks(peaks: Peaks) -> Iterator[tuple[str, HardwareFigure]]:
    for name in ("hbm_read_bytes_per_s", "hbm_write_bytes_per_s", "l2_write_bytes_per_s", "l2_bytes", "floor_us"):
        yield name, getattr(peaks, name)
    yield from peaks.cube_path or ()
    for dtype, figure in peaks.vector_lanes_per_s.items():
        yield f"vector lane-instructions/s, {dtype}", figure
    for dtype, figure in peaks.cube_flops.items():
        yield f"cube FLOP/s, {dtype}", figure
