"""Geometry of the figures: axes, ticks, and marks in the user units of an SVG; templates/plot.html.j2 draws what is computed here.

Colours are names of CSS classes, so that one drawing serves the light and the dark page; texts stay plain and are escaped by the template.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 16, 16, 58
"""Margins: room for tick texts that a phone shows larger."""
MOST_TAILS = 160
"""With more marks, lines and whiskers at them would hide the others; the texts of the marks have their ends all the same."""
_STEPS = (1.0, 2.0, 5.0)


@dataclass(frozen=True)
class Tick:
    """One tick: where, and its text."""

    at: float
    text: str


@dataclass(frozen=True)
class Axis:
    """One axis over `low`..`high`; values outside are drawn on its end."""

    label: str
    low: float
    high: float
    is_log: bool

    def share(self, value: float) -> float:
        """Where a value lies, 0 to 1."""
        low, high, at = (math.log(max(item, 1e-300)) if self.is_log else item for item in (self.low, self.high, value))
        return min(max((at - low) / (high - low), 0.0), 1.0)

    def values(self) -> list[float]:
        """Where ticks stand: 1, 2, 5 times powers of ten (fewer on a long axis), or fifths of a linear one."""
        if not self.is_log:
            return [self.low + (self.high - self.low) * step / 5 for step in range(6)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        steps = _STEPS if len(powers) <= 4 else (1.0,)
        found = [step * 10.0**power for power in powers for step in steps]
        return [value for value in found if self.low * 0.999 <= value <= self.high * 1.001]


@dataclass(frozen=True)
class Line:
    """A polyline with a label beside its end."""

    kind: str
    path: str
    label: str = ""
    x: float = 0.0
    y: float = 0.0
    is_end: bool = False
    """True when the label ends at its point instead of starting there."""
    angle: float = 0.0
    """Degrees by which the label is turned, clockwise."""


@dataclass(frozen=True)
class Mark:
    """One case in a figure: a link to its row, its shape and colour by series, and its text for pointer and screen reader."""

    x: float
    y: float
    series: int
    anchor: str
    title: str
    tail_y: float | None = None
    """Other end of a thin line from the mark, such as the rate that T_HW allows."""
    whisker: tuple[float, float] | None = None
    """Ends of an interval, from the top."""


@dataclass(frozen=True)
class Figure:
    """One drawing with everything said in words beside it."""

    name: str
    title: str
    description: str
    """What is seen, for people who do not see it."""
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    series: tuple[tuple[int, str], ...]
    """Number and name of each series that occurs."""
    note: str = ""

    @property
    def x_ticks(self) -> list[Tick]:
        """Ticks in user units."""
        return [Tick(round(x_of(self.x, value), 1), tick_text(value)) for value in self.x.values()]

    @property
    def y_ticks(self) -> list[Tick]:
        """Ticks in user units."""
        return [Tick(round(y_of(self.y, value), 1), tick_text(value)) for value in self.y.values()]


def x_of(axis: Axis, value: float) -> float:
    """User units from the left."""
    return LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)


def y_of(axis: Axis, value: float) -> float:
    """User units from the top."""
    return HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM)


def slope_angle(x: Axis, y: Axis) -> float:
    """Degrees, clockwise, of a line along which y grows as x does, on two logarithmic axes."""
    across = (WIDTH - LEFT - RIGHT) / math.log(x.high / x.low)
    up = (HEIGHT - TOP - BOTTOM) / math.log(y.high / y.low)
    return -math.degrees(math.atan2(up, across))


def polyline(x: Axis, y: Axis, points: Iterable[tuple[float, float]]) -> str:
    """The `points` attribute of an SVG polyline."""
    return " ".join(f"{x_of(x, a):.1f},{y_of(y, b):.1f}" for a, b in points)


def log_axis(label: str, values: Sequence[float], least_span: float = 4.0) -> Axis:
    """A logarithmic axis with some room around positive values, at least `least_span` wide as a ratio."""
    low, high = min(values) / 1.3, max(values) * 1.3
    missing = math.sqrt(max(least_span / (high / low), 1.0))
    return Axis(label, low / missing, high * missing, is_log=True)


def tick_text(value: float) -> str:
    """Short: 0.02, 5, 1000."""
    return f"{value:.3g}" if value < 1000 or value >= 1e6 else f"{value:.0f}"
