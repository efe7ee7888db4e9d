"""Roofline figures: what the cases achieved, over arithmetic intensity, below the peaks that T_HW is computed from.

One figure per computing unit (vector: lane-instructions; cube: operations). The amount of work is the work formula's, so a rate says how fast the necessary
work was done, not how busy a unit was. Reads and writes go through different pipes at different peaks and overlap, so the intensity of a case counts the
bytes of the direction that takes longer: its point can then be compared with the slanted roof of that direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piton.core.hardware import ChipFigures, Figure, Peaks
from piton.core.measurement import WorkFigures
from piton.core.report import CaseResult
from piton.report.plot import MOST_TAILS, Axis, Line, Mark, log_axis, polyline, slope_angle, x_of, y_of
from piton.report.plot import Figure as Drawing
from piton.report.series import COLOURS, Located, Series

_TERA = 1e12
_US = 1e-6
_TAILS = (
    " The line above a mark ends where T_HW would put the case: below the roofs where something else decides: the floor, another unit, reads that hit L2, or "
    "padding to whole fractals."
)


@dataclass(frozen=True)
class Unit:
    """A computing unit: what its work is called, and where its amount and its peaks are found."""

    name: str
    work: str
    rate: str

    def amounts(self, work: WorkFigures) -> Mapping[str, float]:
        """Work by dtype."""
        return work.vector_lanes if self.name == "vector" else work.cube_flops

    def peaks(self, peaks: Peaks) -> Mapping[str, Figure]:
        """Peak rate by dtype."""
        return peaks.vector_lanes_per_s if self.name == "vector" else peaks.cube_flops


VECTOR = Unit("vector", "lane-instructions", "T lane-instr/s")
CUBE = Unit("cube", "FLOP", "TFLOP/s")


@dataclass(frozen=True)
class _Point:
    """One case on one unit."""

    located: Located
    intensity: float
    """Work per byte of the slower direction."""
    achieved: float
    """Tera work per second of T_cand."""
    allowed: float
    """The same at T_HW."""
    dtypes: tuple[str, ...]


def roofline_figures(cases: Sequence[Located], series: Series, chip: ChipFigures | None) -> tuple[Drawing, ...]:
    """A figure for each unit that has work; none when the report has no chip figures."""
    if chip is None:
        return ()
    found = ((unit, [point for item in cases if (point := _point(item, unit, chip.peaks)) is not None]) for unit in (VECTOR, CUBE))
    return tuple(_figure(unit, points, series, chip) for unit, points in found if points)


def left_out_notes(cases: Sequence[Located], chip: ChipFigures | None) -> tuple[str, ...]:
    """Why cases that have a time are in no roofline, in a sentence each."""
    if chip is None:
        return ("No roofline: this report was written before the peaks of the chip were kept in it.",)
    timed = [item.case for item in cases if item.case.time is not None]
    unknown = [case for case in timed if case.t_hw is None or case.t_hw.work is None]
    moving = [case for case in timed if case.t_hw and case.t_hw.work and not (case.t_hw.work.vector_lanes or case.t_hw.work.cube_flops)]
    texts = (("have no work formula", unknown), ("only move data: their work formula has no arithmetic", moving))
    return tuple(f"Not in the roofline, because they {text}: {_operators(found)}." for text, found in texts if found)


def _operators(cases: Sequence[CaseResult]) -> str:
    names = list(dict.fromkeys(case.operator for case in cases))
    return ", ".join(f"{name} ({sum(case.operator == name for case in cases)} cases)" for name in names)


def _point(located: Located, unit: Unit, peaks: Peaks) -> _Point | None:
    case = located.case
    work = case.t_hw.work if case.t_hw else None
    if case.time is None or case.t_hw is None or work is None:
        return None
    amounts = {dtype: amount for dtype, amount in unit.amounts(work).items() if amount > 0}
    total, moved = sum(amounts.values()), _slower_bytes(work, peaks)
    if not amounts or not moved or not case.time.value:
        return None
    return _Point(located, total / moved, total / case.time.value / _US / _TERA, total / case.t_hw.value_us / _US / _TERA, tuple(amounts))


def _slower_bytes(work: WorkFigures, peaks: Peaks) -> int:
    """Bytes of the direction that takes longer at its peak."""
    is_read = work.read_bytes / peaks.hbm_read_bytes_per_s.value >= work.write_bytes / peaks.l2_write_bytes_per_s.value
    return work.read_bytes if is_read else work.write_bytes


def _figure(unit: Unit, points: Sequence[_Point], series: Series, chip: ChipFigures) -> Drawing:
    roofs, kinds = _roofs(unit, points, chip.peaks), _kinds(points, series)
    x, y = _axes(unit, points, roofs, chip.peaks)
    return Drawing(
        name=f"roofline-{unit.name}",
        title=f"Roofline of the {unit.name} unit",
        description=_description(unit, points),
        x=x,
        y=y,
        lines=(*_slopes(x, y, chip.peaks, max(roofs)), *_flats(x, y, roofs, chip.peaks)),
        marks=tuple(_mark(point, x, y, unit, kinds) for point in points),
        series=tuple(sorted({(kinds.number(point), kinds.name(point)) for point in points})),
        note=f"Peaks: {chip.block} block of the hardware file. Work is the work formula's; intensity counts the bytes of the direction (reads, writes) "
        "that takes longer." + (_TAILS if kinds.has_tails else ""),
    )


@dataclass(frozen=True)
class _Kinds:
    """Which colour and shape a point has: by operator where these suffice, else by the element type whose roof it is under, else as in the other figures."""

    series: Series
    dtypes: tuple[str, ...]
    """Empty where it is not by type."""
    has_tails: bool

    def name(self, point: _Point) -> str:
        """What the legend says."""
        return ", ".join(point.dtypes) if self.dtypes else self.series.names[self.series.of(point.located)]

    def number(self, point: _Point) -> int:
        """Of its colour."""
        return self.dtypes.index(self.name(point)) if self.dtypes else self.series.of(point.located)


def _kinds(points: Sequence[_Point], series: Series) -> _Kinds:
    found = tuple(sorted({", ".join(point.dtypes) for point in points}))
    is_by_dtype = not series.is_by_operator and len(found) <= COLOURS
    return _Kinds(series, found if is_by_dtype else (), has_tails=len(points) <= MOST_TAILS)


def _roofs(unit: Unit, points: Sequence[_Point], peaks: Peaks) -> dict[float, str]:
    """Peak rates in tera per second of the dtypes that occur, each with its dtypes."""
    found: dict[float, str] = {}
    for dtype in dict.fromkeys(dtype for point in points for dtype in point.dtypes):
        if dtype in unit.peaks(peaks):
            rate = unit.peaks(peaks)[dtype].value / _TERA
            found[rate] = f"{found[rate]}, {dtype}" if rate in found else dtype
    return found or {max(point.allowed for point in points): "T_HW"}


def _axes(unit: Unit, points: Sequence[_Point], roofs: Mapping[float, str], peaks: Peaks) -> tuple[Axis, Axis]:
    intensities = [point.intensity for point in points]
    ridge = max(roofs) * _TERA / peaks.hbm_read_bytes_per_s.value
    rates = [rate for point in points for rate in (point.achieved, point.allowed)]
    x = log_axis(f"{unit.work} per byte (work formula)", [*intensities, ridge])
    origins = ", ".join(dict.fromkeys(point.located.case.time.provenance.value for point in points if point.located.case.time))
    return x, log_axis(f"{unit.rate}, {origins}", [*rates, *roofs])


def _slopes(x: Axis, y: Axis, peaks: Peaks, highest: float) -> list[Line]:
    rates = (("HBM read", peaks.hbm_read_bytes_per_s.value), ("L2 write", peaks.l2_write_bytes_per_s.value))
    return [_slope(x, y, f"{name} {rate / _TERA:.3g} TB/s", rate / _TERA, highest) for name, rate in rates]


def _slope(x: Axis, y: Axis, label: str, tera_bytes: float, highest: float) -> Line:
    """From the edge of the figure to where it meets the highest roof, named along its lower end."""
    start = max(x.low, y.low / tera_bytes)
    end = max(min(x.high, highest / tera_bytes), start)
    at = start * (end / start) ** 0.03
    path = polyline(x, y, [(start, start * tera_bytes), (end, end * tera_bytes)])
    return Line("slope", path, label, x_of(x, at), y_of(y, at * tera_bytes) - 7, angle=slope_angle(x, y))


def _flats(x: Axis, y: Axis, roofs: Mapping[float, str], peaks: Peaks) -> list[Line]:
    steepest = peaks.l2_write_bytes_per_s.value / _TERA
    edge = x_of(x, x.high)
    return [
        Line("roof", polyline(x, y, [(max(rate / steepest, x.low), rate), (x.high, rate)]), f"{dtypes} {rate:.3g}", edge - 4, y_of(y, rate) - 6, is_end=True)
        for rate, dtypes in roofs.items()
    ]


def _mark(point: _Point, x: Axis, y: Axis, unit: Unit, kinds: _Kinds) -> Mark:
    share = point.achieved / point.allowed
    text = f"{point.located.label}: {point.achieved:.3g} {unit.rate}, {share:.0%} of what T_HW allows, {point.intensity:.3g} {unit.work} per byte"
    places = (round(x_of(x, point.intensity), 1), round(y_of(y, point.achieved), 1), round(y_of(y, point.allowed), 1))
    return Mark(places[0], places[1], kinds.number(point), point.located.anchor, text, tail_y=places[2] if kinds.has_tails else None)


def _description(unit: Unit, points: Sequence[_Point]) -> str:
    shares = sorted(point.achieved / point.allowed for point in points)
    return (
        f"Achieved {unit.work} per second of {len(points)} cases over {unit.work} per byte, under the roofs of memory and {unit.name} unit. "
        f"The cases reach {shares[0]:.0%} to {shares[-1]:.0%} of the rate that T_HW allows, median {shares[len(shares) // 2]:.0%}."
    )
