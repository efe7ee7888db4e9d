"""The work of `piton compare`: read, score anew, compare, print, and the exit status of a gate."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from piton.cli.printing import open_console, print_json, safe
from piton.core.errors import UsageError
from piton.report.compare import compare
from piton.report.compare_markdown import comparison_markdown
from piton.report.compare_terminal import render_comparison
from piton.report.comparison import Comparison
from piton.report.json_file import read_report, write_text
from piton.report.moves import BROKEN_KINDS, Move, Thresholds
from piton.report.rescore import score_report

_PASSED, _FAILED = 0, 1
_GATES: dict[str, Callable[[Move], bool]] = {
    "never": lambda _: False,
    "broken": lambda item: item.kind in BROKEN_KINDS,
    "regression": lambda item: item.is_regression,
}


@dataclass(frozen=True)
class CompareOptions:
    """The options of `piton compare` as they were typed."""

    prints_markdown: bool = False
    prints_json: bool = False
    html: str = ""
    """File of the page; empty for none."""
    least_percent: float = 0.5
    fails_on: str = "never"


def show_comparison(runs: Sequence[str], options: CompareOptions) -> int:
    """Print the comparison in the form asked for, the table by default; returns the exit status."""
    _check(runs, options)
    reports = [score_report(read_report(Path(run))) for run in runs]
    found = compare(reports, run_names(runs), Thresholds(time=options.least_percent / 100))
    if options.fails_on != "never" and any(pair.is_sums_only for pair in found.pairs):
        raise UsageError("single cases of these runs can't be told apart: hidden cases without ids", where=", ".join(runs), action="leave out --fail-on")
    if options.html:
        from piton.report.compare_page import comparison_html

        write_text(Path(options.html), comparison_html(found))
    if options.prints_json:
        print_json(found)
    elif options.prints_markdown:
        sys.stdout.write(comparison_markdown(found))
    elif not options.html:
        open_console().print(render_comparison(found))
    return _status(found, options.fails_on)


def run_names(runs: Sequence[str]) -> list[str]:
    """Folder names where they tell the runs apart, else what was typed; a run that is given twice is numbered."""
    short = [Path(run).resolve().name if Path(run).is_dir() else run for run in runs]
    names = short if len(set(short)) == len(short) else list(runs)
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, start=1)]


def _check(runs: Sequence[str], options: CompareOptions) -> None:
    if len(runs) < 2:
        raise UsageError("there is nothing to compare with", expected="two runs or more", found=str(len(runs)), action="give another run, or use piton report")
    if options.fails_on not in _GATES:
        raise UsageError("--fail-on can't be read", expected=", ".join(_GATES), found=options.fails_on, action="check --fail-on")
    if options.prints_json and options.prints_markdown:
        raise UsageError("--json and --markdown exclude one another", action="leave one of them out")


def _status(found: Comparison, gate: str) -> int:
    """1 when a run has what the gate stops, with one line on standard error that counts it."""
    stopped = [(pair.after, item) for pair in found.pairs for item in pair.moves if _GATES[gate](item)]
    if stopped:
        count = "1 case is" if len(stopped) == 1 else f"{len(stopped)} cases are"
        first = ", ".join(f"{item.name} {item.kind.value}" for _, item in stopped[:3]) + (" ..." if len(stopped) > 3 else "")
        open_console(is_error=True).print(safe(f"piton: {count} worse: {first}"), soft_wrap=True)
    return _FAILED if stopped else _PASSED
