"""`piton report`: read, re-score, render; several runs are compared."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from piton.cli.comparing import run_names
from piton.cli.printing import open_console, print_json
from piton.core.errors import UsageError
from piton.core.fair import filled
from piton.core.report import Report
from piton.core.visible import visible
from piton.evaluate.traces import FOLDER as TRACES
from piton.report.compare import compare
from piton.report.compare_markdown import comparison_markdown
from piton.report.compare_terminal import render_comparison
from piton.report.fair_record import fair_record
from piton.report.fair_text import fair_markdown, render_fair
from piton.report.html import html_text
from piton.report.json_file import NAME, read_report, report_text, write_report, write_text
from piton.report.lanes import read_timelines
from piton.report.markdown import markdown_text
from piton.report.rescore import score_report
from piton.report.terminal import render_terminal

PAGE = "report.html"


@dataclass(frozen=True)
class ReportOptions:
    """The options of `piton report` as they were typed."""

    html: str = ""
    """File of the page; empty for none."""
    prints_markdown: bool = False
    prints_json: bool = False
    updates: bool = False
    """Write report.json and report.html of the run again."""
    shows_fair: bool = False
    """Show the fair-reporting record instead of the report."""


def show_reports(runs: Sequence[str], options: ReportOptions) -> int:
    """Print one report in the form asked for, the table by default, or several side by side; returns the exit status."""
    reports = [score_report(read_report(Path(run))) for run in runs]
    if len(reports) > 1:
        return _show_comparison(reports, runs, options)
    _write(reports[0], Path(runs[0]), options)
    if options.shows_fair:
        _show_fair(reports[0], options)
    elif options.prints_json:
        sys.stdout.write(report_text(reports[0]))
    elif options.prints_markdown:
        sys.stdout.write(markdown_text(reports[0]))
    elif not options.html and not options.updates:
        open_console().print(render_terminal(reports[0]))
    return 0


def _show_fair(report: Report, options: ReportOptions) -> None:
    rows = fair_record(report)
    if options.prints_json:
        print_json({"submission": report.submission, "reported": filled(rows), "of": len(rows), "items": rows})
    elif options.prints_markdown:
        sys.stdout.write("\n".join(fair_markdown(rows)) + "\n")
    else:
        open_console().print(render_fair(rows, f"Fair-reporting record of {visible(report.submission)}"))


def _write(report: Report, run: Path, options: ReportOptions) -> None:
    """The files that were asked for."""
    if not options.html and not options.updates:
        return
    folder = run if run.is_dir() else run.parent
    page = html_text(report, read_timelines(folder / TRACES, report))
    if options.html:
        write_text(Path(options.html), page)
    if options.updates:
        write_report(report, folder / NAME if run.is_dir() else run)
        write_text(folder / PAGE, page)


def _show_comparison(reports: Sequence[Report], runs: Sequence[str], options: ReportOptions) -> int:
    if options.shows_fair:
        raise UsageError("--fair is about one run", action="give one run, or see `piton metrics RUN... --fair`")
    if options.html or options.prints_json or options.updates:
        action = "give one run, or compare them: piton compare --html, --json"
        raise UsageError("several runs are compared in the terminal or as Markdown", found="--html, --json or --update", action=action)
    found = compare(reports, run_names(runs))
    if options.prints_markdown:
        sys.stdout.write(comparison_markdown(found))
    else:
        open_console().print(render_comparison(found))
    return 0
