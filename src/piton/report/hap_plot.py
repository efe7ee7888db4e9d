"""The HAP curve: how HAP falls from 1 at T_HW over 0.5 at T_baseline, with the cases on it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from piton.core.score import hap
from piton.report.plot import MOST_TAILS, Axis, Figure, Line, Mark, log_axis, polyline, x_of, y_of
from piton.report.rows import time_ratio
from piton.report.series import Located, Series
from piton.report.trust import interval_text

_POINTS = 40
"""Points of one curve: no corner is seen at this size."""
_LABEL_HEIGHT = 20
"""Between two names, in user units: as much as the larger letters on a phone need."""


@dataclass(frozen=True)
class _Scored:
    """A case with its times as multiples of T_HW."""

    located: Located
    candidate: float
    baseline: float
    """As scored: raised to 1.05 where it was below (D4)."""
    value: float


def hap_figure(cases: Sequence[Located], series: Series, origin: str) -> Figure | None:
    """HAP over T_cand / T_HW of all scored cases; None when there are none. `origin` names the provenances of the times.

    Each case lies on the curve of its own T_baseline / T_HW; drawn are those of the smallest, the median and the largest ratio.
    """
    scored = [item for item in map(_scored, cases) if item is not None]
    if not scored:
        return None
    middle = statistics.median(item.baseline for item in scored)  # some baselines are hundreds of times slower: those would squeeze the marks
    x = log_axis(f"T_cand / T_HW ({origin})", [1.0, middle, *(item.candidate for item in scored)])
    y = Axis("HAP", 0.0, 1.0, is_log=False)
    marks = tuple(_mark(item, x, y, series) for item in scored)
    if len(marks) > MOST_TAILS:
        marks = tuple(replace(mark, whisker=None) for mark in marks)
    return Figure(
        name="hap",
        title="HAP: between hardware limit and baseline",
        description=_description(scored),
        x=x,
        y=y,
        lines=(*_levels(x, y), *_curves(scored, x, y)),
        marks=marks,
        series=series.used([item.located for item in scored]),
        note="HAP is 1 at the hardware limit and 0.5 where a kernel is as fast as the baseline. A case lies on the curve of its own T_baseline / T_HW; "
        "ticks on the 0.5 line are the baselines, as far as they fit; drawn are the curves of the smallest, the median and the largest, named at their end. "
        + ("Whiskers: where the HAP of true times is expected." if any(mark.whisker for mark in marks) else ""),
    )


def _scored(located: Located) -> _Scored | None:
    case = located.case
    relative = time_ratio(case)
    if relative is None or case.hap is None or case.t_hw is None or case.t_baseline is None:
        return None
    return _Scored(located, relative, max(case.t_baseline.value_us / case.t_hw.value_us, 1.05), case.hap.ranked)


def _mark(item: _Scored, x: Axis, y: Axis, series: Series) -> Mark:
    text = f"{item.located.label}: HAP {item.value:.3f}, T_cand {item.candidate:.2f} x T_HW, T_baseline {item.baseline:.2f} x T_HW"
    place = (round(x_of(x, item.candidate), 1), round(y_of(y, item.value), 1))
    found = item.located.case.hap.interval if item.located.case.hap else None
    if found is None:
        return Mark(*place, series.of(item.located), item.located.anchor, text)
    ends = (round(y_of(y, found.high), 1), round(y_of(y, found.low), 1))
    return Mark(*place, series.of(item.located), item.located.anchor, f"{text}, {interval_text(found, 2)}", whisker=ends)


def _levels(x: Axis, y: Axis) -> list[Line]:
    """The hardware limit and the baseline's level."""
    start = x_of(x, 1.0) + 8
    return [
        Line("limit", polyline(x, y, [(1.0, 0.0), (1.0, 1.0)]), "T_HW", x_of(x, 1.0) + 5, y_of(y, 0.04)),
        Line("level", polyline(x, y, [(x.low, 0.5), (x.high, 0.5)]), "as fast as the baseline", start, y_of(y, 0.5) - 7),
    ]


def _curves(scored: Sequence[_Scored], x: Axis, y: Axis) -> list[Line]:
    """Curves of the smallest, the median and the largest baseline ratio, and a tick for every baseline on HAP 0.5."""
    ratios = sorted(item.baseline for item in scored)
    chosen = dict.fromkeys(f"{value:.3g}" for value in (ratios[0], statistics.median(ratios), ratios[-1]))
    ticks = dict.fromkeys(_tick(item.baseline, x, y) for item in scored if item.baseline <= x.high)
    return [*_labelled_curves([float(text) for text in chosen], x, y), *ticks]


def _labelled_curves(baselines: Sequence[float], x: Axis, y: Axis) -> Iterator[Line]:
    """A curve for each ratio, from low to high, named above its end, and no name on another."""
    lowest = float("inf")
    for baseline in baselines:
        points = _curve(baseline, x.high)
        lowest = min(y_of(y, points[-1][1]) - 8, lowest - _LABEL_HEIGHT)
        yield Line("curve", polyline(x, y, points), f"T_baseline {baseline:.3g} x T_HW", x_of(x, x.high) - 4, lowest, is_end=True)


def _tick(baseline: float, x: Axis, y: Axis) -> Line:
    at, middle = x_of(x, baseline), y_of(y, 0.5)
    return Line("base", f"{at:.1f},{middle - 4:.1f} {at:.1f},{middle + 4:.1f}")


def _curve(baseline: float, high: float) -> list[tuple[float, float]]:
    steps = [high ** (step / _POINTS) for step in range(_POINTS + 1)]
    return [(value, hap(value, 1.0, baseline).ranked) for value in steps]


def _description(scored: Sequence[_Scored]) -> str:
    values = [item.value for item in scored]
    times = [item.candidate for item in scored]
    return (
        f"HAP of {len(scored)} cases over T_cand / T_HW. HAP from {min(values):.2f} to {max(values):.2f}, mean {statistics.fmean(values):.2f}; "
        f"T_cand from {min(times):.2f} to {max(times):.2f} times T_HW, median {statistics.median(times):.2f}."
    )
