"""What `piton calibrate` shows: constants before and after, and errors of the rows that were fitted and held out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from piton.core.calibration import CalibrationReport, GroupError
from piton.core.visible import visible

_LITTLE = 0.02
"""Influence below which the rows hardly say anything about a constant: 2 % over its whole range."""


def render_calibration(report: CalibrationReport) -> RenderableType:
    """Constants, then errors per group before and after."""
    parts: list[RenderableType] = []
    if report.constants:
        parts.append(_constants(report))
    parts.append(_errors("fitted kernels" if report.constants else "kernels", report.fitted_before, report.fitted_after, with_after=bool(report.constants)))
    if report.held_out_before:
        parts.append(_errors("kernels held out", report.held_out_before, report.held_out_after, with_after=bool(report.constants)))
    return Group(*parts, *_closing(report))


def calibration_json(report: CalibrationReport) -> str:
    """The report as JSON text."""
    return json.dumps(report.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def _constants(report: CalibrationReport) -> Table:
    table = _table("constants (simulated; fitted to measured times)", "name", "before", "after", "bounds", "influence")
    for item in report.constants:
        note = "none: not determined" if item.influence < _LITTLE else f"{item.influence:.2f}"
        table.add_row(Text(visible(item.name)), f"{item.start:g}", f"{item.value:g}", f"{item.low:g} .. {item.high:g}", note)
    return table


def _errors(title: str, before: Sequence[GroupError], after: Sequence[GroupError], *, with_after: bool) -> Table:
    names = ("group", "kernels", "median error", "simulated / measured", "rank correlation")
    table = _table(f"{title}: errors of simulated times", *names)
    for old, new in zip(before, after, strict=True):
        cells = (_pair(text(old), text(new), with_after) for text in (_median, _spread, _rank))
        table.add_row(Text(visible(old.group)), str(old.count), *cells)
    return table


def _pair(old: str, new: str, with_after: bool) -> str:
    return f"{old} -> {new}" if with_after else old


def _median(item: GroupError) -> str:
    return f"{100 * item.median_error:.1f} %"


def _spread(item: GroupError) -> str:
    return f"{item.bias:.2f} [{item.low:.2f} .. {item.high:.2f}]"


def _rank(item: GroupError) -> str:
    return "-" if item.rank_correlation is None else f"{item.rank_correlation:.3f}"


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
    return table


def _closing(report: CalibrationReport) -> Iterator[Text]:
    if report.unmatched_rows:
        yield Text(f"{report.unmatched_rows} rows of {visible(report.profile)} belong to no kernel of the mapping", style="dim")
    if not report.out:
        yield Text("nothing was fitted; --out FILE.yaml fits and writes a hardware file")
        return
    yield Text(f"{report.simulations} sets of constants tried; wrote {visible(report.out)}: use it as --target {visible(report.out)}", style="bold green")
