"""`piton suite check`: run the goldens of a suite and say which cases can be used here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from piton.cli.evaluation import cache_dir
from piton.cli.printing import amount, open_console, print_json, safe
from piton.cli.suites import SuiteOptions
from piton.core.suite import Suite
from piton.core.verdict import Verdict
from piton.evaluate.admit import check_trust
from piton.evaluate.foreign import open_suite
from piton.evaluate.suite_check import CaseCheck, check_cases
from piton.report.fit import Column, Listing

_ALL_USABLE, _SOME_NOT = 0, 1


@dataclass(frozen=True)
class CheckOptions:
    """The options of `piton suite check` as they were typed."""

    suite: str
    operators: tuple[str, ...]
    levels: tuple[int, ...]
    how: SuiteOptions
    prints_json: bool


def check_suite(options: CheckOptions) -> int:
    """Print what became of every case; 0 when all can be used."""
    progress = Console(stderr=True, highlight=False)
    suite = open_suite(options.how.request(options.suite, options.operators, options.levels), lambda text: progress.print(safe(text, "dim"), soft_wrap=True))
    check_trust(suite, is_trusted=options.how.is_trusted)
    suite = _narrowed(suite, options)
    checks = check_cases(suite, str(cache_dir().absolute()), lambda check: progress.print(safe(_line(check), "dim"), soft_wrap=True))
    failed = {name: reason for name, reason in suite.left_out.items() if reason}
    if options.prints_json:
        print_json({"suite": suite.name, "suite_version": suite.version, "cases": checks, "left_out": failed})
    else:
        _print(open_console(), checks, failed)
    is_usable = not failed and all(check.is_run and check.outcome.verdict is Verdict.PASSED for check in checks)
    return _ALL_USABLE if is_usable else _SOME_NOT


def _narrowed(suite: Suite, options: CheckOptions) -> Suite:
    members = [
        item
        for item in suite.members
        if (not options.operators or item.operator.name in options.operators) and (not options.levels or item.operator.level in options.levels)
    ]
    return suite.model_copy(update={"members": tuple(members)})


def _line(check: CaseCheck) -> str:
    return f"{check.operator}/{check.case}: {_result(check)} ({check.seconds:.1f} s)"


def _result(check: CaseCheck) -> str:
    if not check.is_run:
        return f"did not run: {check.error}"
    return "usable" if check.outcome.verdict is Verdict.PASSED else f"runs, but its own precision fails: {check.outcome.message}"


def _print(console: Console, checks: Sequence[CaseCheck], failed: dict[str, str]) -> None:
    rows: list[tuple[str | Text, ...]] = []
    for check in checks:
        remarks = "\n".join(text.removeprefix(f"{check.operator}: ") for text in check.remarks)
        figures = (amount(check.golden_bytes, "B"), f"{check.seconds:.1f}")
        rows.append((safe(check.operator), safe(check.case), *figures, safe(_result(check)), safe(remarks)))
    for name, reason in failed.items():
        rows.append((safe(name), "-", "", "", safe(f"can't become an operator: {reason}"), ""))
    numbers = (Column("bytes", is_right=True, wraps=False, leaves=2), Column("s", is_right=True, wraps=False, leaves=1))
    console.print(Listing((Column("operator"), Column("case"), *numbers, Column("result"), Column("remarks")), rows))
    usable = sum(check.is_run and check.outcome.verdict is Verdict.PASSED for check in checks)
    run = sum(check.is_run for check in checks)
    console.print(safe(f"{usable} of {len(checks)} cases can be used, {run} run, {len(failed)} tasks can't become operators"))
