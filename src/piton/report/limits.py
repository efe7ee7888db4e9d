"""What limits the cases: shares of the units that T_HW comes from, and of what held up the kernels that ran.

The units of a roof are rolled up as the published set does: Vector, Cube, and MTE for everything that moves data (MTE1, MTE2, MTE3 and FixP). The least time of
a launch is kept apart as floor: there no unit decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from piton.anchors import bottleneck as roll_up
from piton.core.execution import PIPES
from piton.core.report import CaseResult, Report
from piton.report import rows
from piton.report.bottleneck import Bottleneck, bottleneck

UNKNOWN = "not known"
ROOFS = ("Vector", "Cube", "MTE", "floor")
KERNELS = (*(pipe.upper() for pipe in PIPES), "launch", "copy")
_COLOURS = {"Vector": 0, "Cube": 2, "MTE": 1, "floor": 6, UNKNOWN: 7, "V": 0, "M": 2, "MTE2": 1, "MTE3": 3, "MTE1": 4, "FIX": 4, "S": 5, "launch": 6, "copy": 7}
"""Series colours: a unit and its pipe have the same one."""


@dataclass(frozen=True)
class Part:
    """One part of a bar."""

    label: str
    number: int
    """Of its colour: the place among the labels of the whole chart."""
    count: int
    share: float

    @property
    def text(self) -> str:
        """`64 % (678)`."""
        return f"{100 * self.share:.0f} % ({self.count})" if self.count else rows.NONE


@dataclass(frozen=True)
class Bar:
    """Cases of one level, or all, by what limits them."""

    name: str
    total: int
    parts: tuple[Part, ...]
    """One for every label of the chart, also for those that no case of this bar has."""

    @property
    def words(self) -> str:
        """All parts in a sentence, for people who do not see the bar."""
        return f"{self.name}: " + ", ".join(f"{part.label} {part.text}" for part in self.parts if part.count)


@dataclass(frozen=True)
class LimitChart:
    """A bar for all cases and one per level."""

    name: str
    title: str
    note: str
    labels: tuple[str, ...]
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Limited:
    """A case with its level and what was found about its launches."""

    level: int
    case: CaseResult
    found: Bottleneck | None


def limited_cases(report: Report) -> list[Limited]:
    """Every case that was asked for."""
    return [Limited(item.level, case, bottleneck(case)) for item in report.operators for case in rows.listed(item)]


def limit_charts(cases: Sequence[Limited]) -> tuple[LimitChart, ...]:
    """What T_HW comes from, and what held up the kernels; a chart of which nothing is known is left out."""
    roofs = [(item.level, roof_label(item.case)) for item in cases if item.case.t_hw]
    kernels = [(item.level, _kernel_label(item.found)) for item in cases if item.found]
    found = (
        _chart("roof", "Which unit T_HW comes from", "Cases by the unit that takes longest at its peak; MTE: everything that moves data.", ROOFS, roofs),
        _chart("kernel", "What limited the kernels", "Cases by what took the largest part of their time; launch: blocks start and end.", KERNELS, kernels),
    )
    return tuple(chart for chart in found if chart is not None)


def roof_label(case: CaseResult) -> str:
    """Vector, Cube, MTE or floor; `not known` without a T_HW, or when that was quoted without its unit."""
    try:
        return roll_up(case.t_hw.limiting_unit) if case.t_hw else UNKNOWN
    except KeyError:
        return UNKNOWN


def _kernel_label(found: Bottleneck | None) -> str:
    limit = found.limit if found else ""
    return limit.upper() if limit in PIPES else limit or UNKNOWN


def _chart(name: str, title: str, note: str, known: Sequence[str], cases: Sequence[tuple[int, str]]) -> LimitChart | None:
    labels = tuple(label for label in (*known, UNKNOWN) if any(label == other for _, other in cases))
    if all(label == UNKNOWN for label in labels):
        return None
    levels = sorted({level for level, _ in cases})
    numbers = {label: _COLOURS[label] for label in labels}
    bars = [_bar("all", (label for _, label in cases), numbers)]
    bars += [_bar(f"level {level}", (label for other, label in cases if other == level), numbers) for level in levels if len(levels) > 1]
    return LimitChart(name, title, note, labels, tuple(bars))


def _bar(name: str, found: Iterable[str], numbers: Mapping[str, int]) -> Bar:
    counted = Counter(found)
    total = sum(counted.values())
    return Bar(name, total, tuple(Part(label, number, counted[label], counted[label] / total) for label, number in numbers.items()))
