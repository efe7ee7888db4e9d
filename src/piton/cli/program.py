"""`piton run`: build and run a program with live progress, show its output and the report."""

from __future__ import annotations

import sys

from rich.console import Console

from piton.cli.live import LiveView
from piton.cli.printing import open_console
from piton.core.program import ProgramReport
from piton.core.verdict import Verdict
from piton.core.visible import visible
from piton.evaluate.program import ProgramRequest, run_program
from piton.report.program import program_json, render_program


def run_and_show(request: ProgramRequest, *, prints_json: bool) -> int:
    """0 when the program returned 0 and nothing was wrong, 1 otherwise."""
    console = open_console(is_error=True)
    with LiveView(console) as view:
        report = run_program(request, view.show)
    if prints_json:
        sys.stdout.write(program_json(report))
    else:
        _show(report, console)
    return 0 if report.outcome.verdict is Verdict.PASSED else 1


def _show(report: ProgramReport, console: Console) -> None:
    """The program's output goes where it would have gone; all else to standard error, so that it can be piped."""
    sys.stdout.write(visible(report.stdout))
    sys.stdout.flush()
    sys.stderr.write(visible(report.stderr))
    if report.printed:
        console.print("printed by kernels:", style="bold")
        sys.stderr.write(visible(report.printed))
    sys.stderr.flush()
    console.print(render_program(report))
