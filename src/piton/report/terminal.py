"""The report as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from piton.core.report import OperatorResult, Report
from piton.core.visible import visible
from piton.report.rows import Columns, Failure, bottlenecks, columns, failures, findings, headers, listed, row, score_text, summary, trials_text

WIDTH = 160
"""Columns of a rendering that does not go to a terminal."""


def render_terminal(report: Report) -> RenderableType:
    """Everything a developer wants to see after a run."""
    found = columns(report)
    parts = [part for item in report.operators for part in _operator(item, found)]
    return Group(*parts, *_closing(report))


def terminal_text(report: Report, width: int = WIDTH) -> str:
    """The same without colours."""
    console = Console(width=width, no_color=True, force_terminal=False)
    with console.capture() as capture:
        console.print(render_terminal(report))
    return capture.get()


def _operator(item: OperatorResult, found: Columns) -> Iterator[RenderableType]:
    if item.compiled:
        yield _table(item, found)
    else:
        yield Text(f"{item.operator}: not built", style="bold red")
    for failure in failures(item):
        yield _failure(failure)
    for diagnostic in item.diagnostics[:5]:
        yield Text(visible(f"    {diagnostic.file}:{diagnostic.line}: {diagnostic.severity}: {diagnostic.message}"), style="dim")
    for case_id, sentence in bottlenecks(item):
        yield Text(f"  case {case_id}: {sentence}", style="cyan")
    for cases, text in findings(item):
        yield Text(f"  finding ({cases}) {visible(text)}", style="yellow")
    yield Text(f"{item.operator}: {summary(item)}\n", style="bold")


def _table(item: OperatorResult, found: Columns) -> Table:
    head = headers(found)
    table = Table(title=item.operator, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("case", justify="right")
    table.add_column("size")
    lines = [row(case, found) for case in listed(item)]
    words = [word for line in lines for word in line.verdict.split()]
    table.add_column("verdict", min_width=max(map(len, words), default=0))  # a cause is never cut in two
    for name in (head.t_cand, head.t_baseline, head.t_hw, "HAP"):
        table.add_column(escape(name.replace(" us", "\nus").replace(", ", "\n")), justify="right", overflow="fold")
    table.add_column("limit of\nroof/kernel")
    for line in lines:
        style = "green" if line.is_good else "red"
        table.add_row(line.case_id, line.size, Text(line.verdict, style=style), line.t_cand, line.t_baseline, line.t_hw, line.hap, line.limits)
    return table


def _failure(failure: Failure) -> Text:
    lines = [f"  case {failure.case_id}: {failure.title}" + (f" at {failure.place}" if failure.place else "")]
    lines += [f"    {text}" for text in (failure.message, failure.numbers) if text]
    lines += [f"    {text}" for text in failure.worst]
    lines += [f"    also {text}" for text in failure.others]
    return Text(visible("\n".join(lines)), style="red")


def _closing(report: Report) -> Iterator[RenderableType]:
    for finding in report.findings:
        yield Text(f"finding: {visible(finding.message)}", style="yellow")
    levels = ", ".join(f"level {level}: {score_text(score)}" for level, score in report.level_scores.items())
    name = visible(report.submission)
    total = f"total {score_text(report.total_score)} ({levels})"
    yield Text(f"{name} on {report.target}: {total}; score profile {report.score_profile.value}{trials_text(report)}")
    if not report.is_complete:
        yield Text("incomplete: this report does not rank", style="yellow")
    yield Text(f"isolation: {', '.join(report.environment.isolation) or 'none'}; result {report.result_digest[:16]}", style="dim")
