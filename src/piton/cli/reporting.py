"""`piton report`: read, re-score, render."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from piton.report.html import html_text
from piton.report.json_file import read_report, report_text, write_text
from piton.report.markdown import markdown_text
from piton.report.rescore import score_report
from piton.report.terminal import render_terminal


def show_report(run: str, *, html: str, markdown: bool, as_json: bool) -> int:
    """Print the report in the form asked for, the table by default; returns the exit status."""
    report = score_report(read_report(Path(run)))
    if html:
        write_text(Path(html), html_text(report))
    if as_json:
        sys.stdout.write(report_text(report))
    elif markdown:
        sys.stdout.write(markdown_text(report))
    elif not html:
        Console().print(render_terminal(report))
    return 0
