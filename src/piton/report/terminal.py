"""The report as people read it in a terminal: one table per operator, failures told once each, and a closing table that says it all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from piton.core.report import OperatorResult, Report
from piton.core.verdict import Verdict
from piton.core.visible import visible
from piton.report import rows
from piton.report.failures import Failure, failures, is_failure, other_text
from piton.report.fair_record import fair_record, fair_summary
from piton.report.fit import Column, Listing
from piton.report.integrity_text import summary
from piton.report.method_text import method_text
from piton.report.retries import retries_text
from piton.report.speedup import speedup_text
from piton.report.trust import accuracy_text, baselines_text, interval_text, trust_text

WIDTH = 160
"""Columns of a rendering that does not go to a terminal."""
WIDE = 120
"""From this width on there is room for the inputs, T_cand / T_HW and points."""
_OTHERS, _WORST, _DIAGNOSTICS = 3, 6, 5
"""What is shown of one failure or build; the page has more, report.json all of it."""
_METER = 10
MANY_CASES = 200
"""With more cases, operators that passed have no table: the closing one says enough, and the page has the rest."""


@dataclass(frozen=True)
class _Form:
    """What all tables of one rendering share."""

    report: Report
    found: rows.Columns
    is_wide: bool

    def has_table(self, item: OperatorResult) -> bool:
        """True for an operator whose cases are listed."""
        cases = sum(len(other.cases) for other in self.report.operators)
        return cases <= MANY_CASES or any(is_failure(case) for case in item.cases)


@dataclass(frozen=True)
class Summary:
    """A report as a rich renderable, which takes the width there is."""

    report: Report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Everything a developer wants to see after a run."""
        form = _Form(self.report, rows.columns(self.report), options.max_width >= WIDE)
        for item in self.report.operators:
            yield from _operator(item, form)
        yield from _closing(self.report)


def render_terminal(report: Report) -> RenderableType:
    """Everything a developer wants to see after a run."""
    return Group(Summary(report))


def terminal_text(report: Report, width: int = WIDTH) -> str:
    """The same without colours."""
    console = Console(width=width, no_color=True, force_terminal=False)
    with console.capture() as capture:
        console.print(render_terminal(report))
    return capture.get()


def _operator(item: OperatorResult, form: _Form) -> Iterator[RenderableType]:
    if item.compiled and form.has_table(item):
        yield _table(item, form)
    elif not item.compiled:
        yield Text(f"{item.operator}: not built", style="bold red")
    for failure in failures(item):
        yield _failure(failure)
    for diagnostic in item.diagnostics[:_DIAGNOSTICS]:
        yield Text(visible(f"    {diagnostic.file}:{diagnostic.line}: {diagnostic.severity}: {diagnostic.message}"), style="dim")
    for case_id, sentence in rows.bottlenecks(item):
        yield Text(f"  case {case_id}: {sentence}", style="cyan")
    for group in rows.findings(item):
        yield Text(f"  finding ({group.subject}) {visible(group.text)}", style="yellow")
    yield Text(f"{item.operator}: {rows.summary(item)}\n", style="bold")


def _table(item: OperatorResult, form: _Form) -> Listing:
    found, is_wide = form.found, form.is_wide
    cells: list[tuple[str | Text, ...]] = []
    for case in rows.listed(item):
        line = rows.row(case, found)
        verdict = Text(line.verdict, style="green" if line.is_good else "red")
        times = (line.t_cand, line.t_baseline, line.t_hw)
        if is_wide:
            points = rows.points_text(case, item, form.report.score_profile)
            cells.append((line.case_id, line.inputs, line.size, verdict, *times, line.ratio, line.hap, line.hap_interval, points, line.limits))
        else:
            cells.append((line.case_id, line.size, verdict, *times, line.hap, line.limits))
    return Listing(_columns(rows.headers(found), is_wide), cells, item.operator)


def _columns(head: rows.Headers, is_wide: bool) -> list[Column]:
    """What a kernel is limited by leaves first: the sentences below the table say it too."""
    times = [Column(name.replace(" us", "\nus").replace(", ", "\n"), is_right=True) for name in (head.t_cand, head.t_baseline, head.t_hw)]
    ratio = [Column("T_cand\n/ T_HW", is_right=True)] if is_wide else []
    wide = [Column("HAP\nbetween", wraps=False, leaves=4), Column("points", is_right=True)] if is_wide else []
    start = [Column("case", is_right=True), *([Column("first input", most=34, leaves=1)] if is_wide else []), Column("size", leaves=2), Column("verdict")]
    return [*start, *times, *ratio, Column("HAP", is_right=True), *wide, Column("limit of\nroof/kernel", leaves=3)]


def _failure(failure: Failure) -> Text:
    place = f" at {failure.outcome.place}" if str(failure.outcome.place) else ""
    numbers = ", ".join(f"{name} {value}" for name, value in failure.numbers)
    lines = [f"  {failure.subject}: {failure.title}{place}"]
    lines += [f"    {text}" for text in (failure.message, numbers) if text]
    lines += [f"    {_case(failure, item.case_id)}{item.text}" for item in failure.worst[:_WORST]]
    lines += [f"    also {other_text(item)}" for item in failure.others[:_OTHERS]]
    hidden = max(len(failure.others) - _OTHERS, 0) + failure.others_left_out
    lines += [f"    and {hidden} more in report.json"] if hidden else []
    return Text(visible("\n".join(lines)), style="red")


def _case(failure: Failure, case_id: str) -> str:
    return f"case {case_id} " if len(failure.cases) > 1 else ""


def _closing(report: Report) -> Iterator[RenderableType]:
    if len(report.operators) > 1:
        yield _operators(report)
    for finding in report.findings:
        yield Text(f"finding: {visible(finding.message)}", style="yellow")
    levels = ", ".join(f"level {level}: {rows.level_text(report, level)}" for level in report.level_scores)
    name = visible(report.submission)
    total = f"total {rows.total_text(report)} ({levels}) of {report.most_points}"
    if report.missing_operators:
        yield Text(visible(rows.missing_text(report)), style="yellow")
    accuracy = f"; {text}" if (text := accuracy_text(report.accuracy)) else ""
    yield Text(f"{name} on {report.target}: {total}; score profile {report.score_profile.value}{accuracy}{rows.trials_text(report)}", style="bold")
    for text in (speedup_text(report), trust_text(report), baselines_text(report), retries_text(report)):
        yield from [Text(visible(text))] if text else []
    if not report.is_complete:
        yield Text("incomplete: this report does not rank", style="yellow")
    if report.method is not None:
        yield Text(visible(method_text(report.method)), style="dim")
    yield Text(f"fair reporting: {fair_summary(fair_record(report))}", style="dim")
    if report.integrity is not None and report.integrity.rules:
        yield Text(f"{summary(report.integrity)} (docs/integrity.md)", style="dim")
    yield Text(f"isolation: {', '.join(report.environment.isolation) or 'none'}; result {report.result_digest[:16]}", style="dim")


def _operators(report: Report) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("operator", "passed", "score", "between", "", "mean HAP", "findings"):
        table.add_column(name, justify="left" if name in ("operator", "") else "right")
    for item in report.operators:
        passed = sum(case.outcome.verdict is Verdict.PASSED for case in item.cases)
        mean = rows.mean_hap(item.cases)
        style = "green" if passed == len(item.cases) else "red"
        cells = (
            rows.score_text(item.score),
            interval_text(item.interval),
            _meter(item.score),
            rows.NONE if mean is None else f"{mean:.3f}",
            str(len(rows.findings(item))),
        )
        table.add_row(item.operator, Text(f"{passed} of {len(item.cases)}", style=style), *cells)
    return table


def _meter(score: float | None) -> str:
    """A score as a bar of ten signs."""
    return "#" * round((score or 0.0) / 100 * _METER)
