"""How far the scores of a report can be trusted, in words: intervals, the error behind them, and the version of T_baseline."""

from __future__ import annotations

from collections.abc import Iterator

from piton.core.execution import Accuracy
from piton.core.fidelity import band_of
from piton.core.interval import Interval, IntervalKind
from piton.core.measurement import Provenance
from piton.core.report import CaseResult, Report

PAGE = "docs/fidelity.md"
"""Where the error of simulated times is explained."""


def interval_text(found: Interval | None, digits: int = 1) -> str:
    """`[321.0 .. 371.2]`, or nothing."""
    return "" if found is None else f"[{found.low:.{digits}f} .. {found.high:.{digits}f}]"


def with_interval(text: str, found: Interval | None) -> str:
    """A number that is printed already, with its interval behind it."""
    return f"{text} {interval_text(found)}".rstrip()


def accuracy_text(accuracy: Accuracy) -> str:
    """`pessimistic accuracy mode`; empty for the usual one."""
    return "" if accuracy == "exact" else f"{accuracy} accuracy mode"


def trust_text(report: Report) -> str:
    """What the intervals of a report are made of, and what nobody knows; "" where it has no times."""
    times = [case.time for case in _timed(report) if case.time]
    if not times:
        return ""
    if all(time.provenance is not Provenance.SIMULATED for time in times):
        return _measured_text(report)
    error = _error_text(report)
    if report.total_interval is None and not error:
        return f"simulated times; how far those of {report.hardware} are from measured ones is not known"
    return "; ".join(part for part in (error, _other_text(report), _unknown_text(report)) if part)


def baselines_text(report: Report) -> str:
    """The versions of T_baseline; "" in a report from before they were kept."""
    return f"T_baseline: {'; '.join(report.baselines)}" if report.baselines else ""


def _timed(report: Report) -> Iterator[CaseResult]:
    return (case for item in report.operators for case in item.cases if case.hap)


def _error_text(report: Report) -> str:
    bands = [band_of(case.time, case.launches, report.chip.fidelity) for case in _timed(report) if case.time] if report.chip else []
    known = [band for band in bands if band]
    if not known:
        return ""
    level = f", intervals at {_level(report)}" if _level(report) else ""
    low, high = min(band.low for band in known), max(band.high for band in known)
    return f"simulated, model error {_percent(low)} .. {_percent(high)} of {PAGE}{level}"


def _level(report: Report) -> str:
    """The level of the intervals, that of the weakest band behind them, which may be less than those of the error; "" where there are none."""
    levels = [case.hap.interval.confidence for case in _timed(report) if case.hap and case.hap.interval]
    return f"{100 * min(levels):.0f} %" if levels else ""


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f} %"


def _measured_text(report: Report) -> str:
    found = [case.hap.interval for case in _timed(report) if case.hap and case.hap.interval]
    if not found:
        return "measured once: nobody knows how far the times spread"
    text = f"intervals of medians of samples ({_level(report)})"
    has_model = any(item.kind is not IntervalKind.SAMPLES for item in found)
    return "; ".join(part for part in (text, "T_baseline with its own error" if has_model else "", _unknown_text(report)) if part)


def _other_text(report: Report) -> str:
    """Baselines that are taken as exact, since nobody said how exact they are."""
    exact = sum(case.t_baseline is not None and case.t_baseline.interval is None for case in _timed(report) if case.hap and case.hap.interval)
    return f"T_baseline of {_cases(exact)} counts as exact" if exact else ""


def _unknown_text(report: Report) -> str:
    unknown = sum(case.hap is not None and case.hap.interval is None for case in _timed(report))
    return f"{_cases(unknown)} of unknown error may have any HAP from 0 to 1" if unknown and report.total_interval else ""


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"
