"""`piton suite check`: run the goldens of a suite and say which cases can be used here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from piton.cli.evaluation import cache_dir
from piton.cli.printing import amount, goldens_bar, open_console, print_json, safe
from piton.cli.suites import SuiteOptions
from piton.core.errors import UsageError
from piton.core.suite import Suite
from piton.core.verdict import Verdict
from piton.evaluate.admit import check_trust
from piton.evaluate.foreign import open_suite
from piton.evaluate.suite_check import CaseCheck, CheckSettings, CheckSummary, check_cases, slowest
from piton.report.fit import Column, Listing

_ALL_USABLE, _SOME_NOT, _INTERRUPTED = 0, 1, 130
_LISTED = 100
"""With more cases, those that can be used are told by operator."""


@dataclass(frozen=True)
class CheckOptions:
    """The options of `piton suite check` as they were typed."""

    suite: str
    operators: tuple[str, ...]
    levels: tuple[int, ...]
    how: SuiteOptions
    prints_json: bool
    jobs: int = 1
    max_elements: int | None = None


def check_suite(options: CheckOptions) -> int:
    """Print what became of every case; 0 when all can be used."""
    console = Console(stderr=True, highlight=False)
    suite = open_suite(options.how.request(options.suite, options.operators, options.levels), lambda text: console.print(safe(text, "dim"), soft_wrap=True))
    check_trust(suite, is_trusted=options.how.is_trusted)
    suite = _narrowed(suite, options)
    settings = CheckSettings(cache_dir().absolute(), options.jobs, options.max_elements)
    with _progress(console) as told:
        checks, summary = check_cases(suite, settings, told)
    failed = {name: reason for name, reason in suite.left_out.items() if reason}
    if options.prints_json:
        lines = {"suite": suite.name, "suite_version": suite.version, "cases": checks, "left_out": failed, "summary": summary}
        print_json({**lines, "slowest": [f"{check.operator}/{check.case}" for check in slowest(checks)]})
    else:
        _print(open_console(), checks, failed, summary)
    if not summary.is_complete:
        return _INTERRUPTED
    return _ALL_USABLE if not failed and all(check.is_usable for check in checks) else _SOME_NOT


@contextmanager
def _progress(console: Console) -> Iterator[Callable[[CaseCheck, int, int], None]]:
    """A bar on a terminal; elsewhere a line per case that was run."""
    with goldens_bar(console) as advance:

        def told(check: CaseCheck, done: int, total: int) -> None:
            advance(f"{check.operator}/{check.case}", done, total)
            if not check.is_kept and (not console.is_terminal or not check.is_usable):
                console.print(safe(_line(check), "dim"), soft_wrap=True)

        yield told


def _narrowed(suite: Suite, options: CheckOptions) -> Suite:
    """The suite with the operators and levels asked for. Raises UsageError for a name it lacks, and when no case is left: nothing checked is no pass."""
    names = [member.operator.name for member in suite.members]
    for name in options.operators:
        if name not in names and name not in suite.left_out:
            raise UsageError(f"suite {suite.name} has no operator {name!r}", expected=f"one of: {', '.join(names)}", action="check --op")
    members = [
        item
        for item in suite.members
        if (not options.operators or item.operator.name in options.operators) and (not options.levels or item.operator.level in options.levels)
    ]
    if not members and not any(suite.left_out.values()):
        levels = ", ".join(f"{item.operator.name} is level {item.operator.level}" for item in suite.members if item.operator.name in options.operators)
        raise UsageError("no operator is left", expected="operators of the levels asked for", found=levels, action="check --op and --level")
    least = min((case.elements for item in members for case in item.cases), default=0)
    if options.max_elements is not None and least > options.max_elements:
        found = str(options.max_elements)
        raise UsageError("no case is left", expected=f"--max-elements of at least {least}", found=found, action="raise it, or leave it out")
    return suite.model_copy(update={"members": tuple(members)})


def _line(check: CaseCheck) -> str:
    return f"{check.operator}/{check.case}: {_result(check)} ({check.seconds:.1f} s)"


def _result(check: CaseCheck) -> str:
    if not check.is_run:
        return f"did not run: {check.error}"
    return "usable" if check.outcome.verdict is Verdict.PASSED else f"runs, but its own precision fails: {check.outcome.message}"


def _print(console: Console, checks: Sequence[CaseCheck], failed: dict[str, str], summary: CheckSummary) -> None:
    rows: list[tuple[str | Text, ...]] = []
    for check in checks if len(checks) <= _LISTED else [item for item in checks if not item.is_usable]:
        remarks = "\n".join(text.removeprefix(f"{check.operator}: ") for text in check.remarks)
        figures = (amount(check.golden_bytes, "B"), f"{check.seconds:.1f}")
        rows.append((safe(check.operator), safe(check.case), *figures, safe(_result(check)), safe(remarks)))
    for name, reason in failed.items():
        rows.append((safe(name), "-", "", "", safe(f"can't become an operator: {reason}"), ""))
    numbers = (Column("bytes", is_right=True, wraps=False, leaves=2), Column("s", is_right=True, wraps=False, leaves=1))
    if len(checks) > _LISTED:
        console.print(_by_operator(checks))
    if rows:
        console.print(Listing((Column("operator"), Column("case"), *numbers, Column("result"), Column("remarks")), rows))
    _print_summary(console, checks, len(failed), summary)


def _by_operator(checks: Sequence[CaseCheck]) -> Listing:
    rows: list[tuple[str | Text, ...]] = []
    for name in dict.fromkeys(check.operator for check in checks):
        mine = [check for check in checks if check.operator == name]
        times = sorted(check.seconds for check in mine)
        figures = (f"{times[len(times) // 2]:.1f}", f"{times[-1]:.1f}", f"{sum(times):.1f}")
        rows.append((safe(name), f"{sum(check.is_usable for check in mine)} of {len(mine)}", *figures))
    return Listing((Column("operator"), *(Column(name, is_right=True) for name in ("usable", "median s", "longest s", "all s"))), rows)


def _print_summary(console: Console, checks: Sequence[CaseCheck], failed: int, summary: CheckSummary) -> None:
    usable, run = sum(check.is_usable for check in checks), sum(check.is_run for check in checks)
    console.print(safe(f"{usable} of {len(checks)} cases can be used, {run} run, {failed} tasks can't become operators"))
    kept = f", {summary.kept} cases known from earlier runs (saved {summary.saved_s:.1f} s)" if summary.kept else ""
    memory = f"; at most {summary.most_memory_bytes / 2**30:.1f} GiB more memory in use than at the start" if summary.goldens_run else ""
    console.print(safe(f"{summary.wall_s:.1f} s, {summary.goldens_run} golden runs{kept}{memory}"))
    if len(checks) > _LISTED:
        console.print(safe("slowest: " + ", ".join(f"{item.operator}/{item.case} {item.seconds:.1f} s" for item in slowest(checks))), soft_wrap=True)
    if not summary.is_complete:
        console.print("stopped; cases that were finished are kept: the same command goes on", style="yellow")
