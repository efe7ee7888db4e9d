"""`piton suite lint`, `generate` and `hidden`: call curate, draw what it found."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from piton.catalog import load_suite
from piton.catalog.case_table import cases_csv
from piton.catalog.cases import read_case_table
from piton.catalog.suite import load_operator
from piton.cli.evaluation import cache_dir
from piton.cli.printing import RUNNING, goldens_bar, print_json, safe
from piton.core.canonical import canonical_json
from piton.core.errors import UsageError
from piton.core.suite import Suite, SuiteOperator
from piton.curate.checks import NUMERIC, READABLE, STRUCTURAL
from piton.curate.generate import generate_cases
from piton.curate.hidden import HIDDEN_COUNT, HiddenKey, hidden_suite, read_key, require_cases
from piton.curate.lint import LintResult, Measures, check_structure, load_subjects, measure, operator_line, with_cases
from piton.curate.numeric_run import DEFAULT_ELEMENTS, NumericOptions, NumericResult, Told, check_numbers
from piton.curate.violation import Check, NumericCheck, Severity, Subject, Violation
from piton.evaluate.sandbox import make_runner
from piton.evaluate.suite_view import find_member
from piton.report.json_file import write_text

_CLEAN, _BROKEN, _INTERRUPTED = 0, 1, 130
_SHOWN_PER_CHECK = 12
"""Violations of one check that a terminal shows, unless asked for all."""


@dataclass(frozen=True)
class LintOptions:
    """The options of `piton suite lint` as they were typed."""

    suite: str
    operators: tuple[str, ...]
    is_structural: bool
    is_full: bool
    max_elements: int | None
    is_trusted: bool
    jobs: int
    cases: str
    key_file: str
    count: int
    shows_all: bool
    prints_json: bool


@dataclass(frozen=True)
class GenerateOptions:
    """The options of `piton suite generate` as they were typed."""

    suite: str
    operator: str
    seed: int
    count: int
    out: str


@dataclass(frozen=True)
class HiddenOptions:
    """The options of `piton suite hidden` as they were typed."""

    suite: str
    operators: tuple[str, ...]
    key_file: str
    count: int
    out: str
    prints_json: bool


def list_checks(*, as_json: bool) -> int:
    """Print every check with its severity and rule."""
    rows = [(check.name, check.severity.value, stage, check.rule) for stage, listed in _stages() for check in listed]
    if as_json:
        print_json({"checks": [dict(zip(("name", "severity", "stage", "rule"), row, strict=True)) for row in rows]})
        return _CLEAN
    table = Table("check", "severity", "stage", "rule", box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    return _CLEAN


def _stages() -> tuple[tuple[str, Sequence[Check | NumericCheck]], ...]:
    return (("structural", (READABLE, *STRUCTURAL)), ("numeric", NUMERIC))


def lint_suite(options: LintOptions) -> int:
    """Check a suite and print what is wrong with it."""
    console = Console(stderr=options.prints_json)
    suite, subjects, unread = load_subjects(options.suite, options.operators)
    subjects = _chosen_cases(options, suite, subjects, console)
    violations = [*unread, *(item for subject in subjects for item in check_structure(subject))]
    result = LintResult(
        suite=suite.name,
        suite_version=suite.version,
        suite_digest=suite.digest(),
        is_foreign=suite.is_foreign,
        stages=("structural",),
        measures=measure(subjects),
        operators=tuple(operator_line(subject) for subject in subjects),
        violations=tuple(violations),
    )
    if _runs_goldens(options, suite, console):
        result = _with_numbers(result, subjects, _check_numbers(options, suite, subjects, console))
    if options.prints_json:
        print_json(result)
    else:
        _print_lint(console, result, shows_all=options.shows_all)
    return _CLEAN if result.is_complete and not result.errors else _BROKEN if result.is_complete else _INTERRUPTED


def _chosen_cases(options: LintOptions, suite: Suite, subjects: list[Subject], console: Console) -> list[Subject]:
    """The subjects with the cases of a table or a hidden set, where one is asked for."""
    if options.cases and options.key_file:
        raise UsageError("--cases and --hidden-key-file exclude one another", action="leave one of them out")
    if options.cases:
        if len(subjects) != 1:
            raise UsageError("--cases needs the operator of the table", action="name it with --op")
        table = Path(options.cases)
        return [with_cases(subjects[0], read_case_table(table, subjects[0].operator), "generated", str(table))]
    if options.key_file:
        key = _key(options.key_file, console)
        names = {subject.operator.name for subject in subjects}
        asked = suite.model_copy(update={"members": tuple(member for member in suite.members if member.operator.name in names)})
        hidden = hidden_suite(asked, key, options.count)
        members = [find_member(hidden, subject.operator.name) for subject in subjects]
        require_cases(members)
        return [with_cases(subject, member.cases, "hidden") for subject, member in zip(subjects, members, strict=True)]
    return subjects


def _runs_goldens(options: LintOptions, suite: Suite, console: Console) -> bool:
    if options.is_structural:
        return False
    if suite.is_foreign and not options.is_trusted:
        console.print("structural checks only: the goldens of a suite from outside are code; read them, then add --trust to run them", style="yellow")
        return False
    return True


def _check_numbers(options: LintOptions, suite: Suite, subjects: Sequence[Subject], console: Console) -> NumericResult:
    limit = None if options.is_full else options.max_elements or DEFAULT_ELEMENTS
    chosen = NumericOptions(cache_dir(), limit, options.jobs, is_secret=bool(options.key_file))
    runner = make_runner()
    try:
        with _progress(console) as told:
            return check_numbers(suite, subjects, runner, chosen, told)
    finally:
        runner.close()


@contextmanager
def _progress(console: Console) -> Iterator[Told]:
    with goldens_bar(console) as advance:
        yield lambda name, done, total: advance(name or RUNNING, done, total)


def _with_numbers(result: LintResult, subjects: Sequence[Subject], numbers: NumericResult) -> LintResult:
    operators = tuple(operator_line(subject, numbers.ran.get(subject.operator.name, 0)) for subject in subjects)
    return result.model_copy(
        update={
            "stages": ("structural", "numeric"),
            "operators": operators,
            "violations": (*result.violations, *numbers.violations),
            "is_complete": numbers.is_complete,
        }
    )


def _print_lint(console: Console, result: LintResult, *, shows_all: bool) -> None:
    for check, items in _by_check(result.violations).items():
        console.print(safe(f"{check}: {len(items)}", "red" if items[0].severity is Severity.ERROR else "yellow"))
        for item in items if shows_all else items[:_SHOWN_PER_CHECK]:
            console.print(safe(_violation_text(item)), soft_wrap=True)
        if len(items) > _SHOWN_PER_CHECK and not shows_all:
            console.print(f"  and {len(items) - _SHOWN_PER_CHECK} more (--all shows them)")
    console.print(_measures_table(result.measures))
    console.print(safe(_summary(result), "bold"), soft_wrap=True)
    if not result.is_complete:
        console.print("stopped; cases that were finished are kept: the same command goes on", style="yellow")


def _by_check(violations: Sequence[Violation]) -> dict[str, list[Violation]]:
    found: dict[str, list[Violation]] = {}
    for item in violations:
        found.setdefault(item.check, []).append(item)
    return found


def _violation_text(item: Violation) -> str:
    name = f"{item.operator}/{item.case}" if item.case else item.operator
    lines = [f"  {name}: {item.problem} ({item.where})" if item.where else f"  {name}: {item.problem}"]
    parts = [f"{title} {text}" for title, text in (("expected", item.expected), ("found", item.found), ("to do:", item.action)) if text]
    return "\n".join([*lines, *([f"      {'; '.join(parts)}"] if parts else [])])


def _measures_table(measures: Measures) -> Table:
    table = Table("measure", "found", "of", box=SIMPLE_HEAD, pad_edge=False, title="against the dataset rules", title_justify="left")
    of = str(measures.operators)
    for name, value, total in (
        ("operators with unique element counts", measures.unique_elements, of),
        ("operators with unique attributes", measures.unique_attributes, of),
        ("operators with unique value ranges", measures.unique_ranges, of),
        ("operators with all three", measures.unique_all_three, of),
        ("operators with fewer than half of the cases non-aligned", measures.few_non_aligned, of),
        ("operators without special values", measures.without_special_values, of),
        ("cases below 1e6 elements", measures.too_small_cases, str(measures.cases)),
        ("cases above 3e8 elements", measures.too_large_cases, str(measures.cases)),
    ):
        table.add_row(name, str(value), total)
    return table


def _summary(result: LintResult) -> str:
    counts = Counter(item.severity for item in result.violations)
    ran, skipped = sum(item.numeric_cases for item in result.operators), result.measures.cases - sum(item.numeric_cases for item in result.operators)
    rest = "above the size left out" if result.is_complete else "above the size or not reached"
    numeric = f", goldens of {ran} cases run, {skipped} {rest}" if "numeric" in result.stages else ", no golden run"
    by_triple = [item.operator for item in result.operators if item.uniqueness == "triple"]
    rule = f"; attributes of {len(by_triple)} operators are few, so that only the triple with them is unique: {', '.join(by_triple)}" if by_triple else ""
    head = f"{result.suite} {result.suite_version}: {counts[Severity.ERROR]} errors, {counts[Severity.WARNING]} warnings in {result.measures.cases} cases"
    return f"{head} of {result.measures.operators} operators{numeric}{rule}"


def generate_suite_cases(options: GenerateOptions) -> int:
    """Draw public cases and write or print their table."""
    suite, operator = load_operator(options.suite, options.operator)
    cases, origin = generate_cases(suite, SuiteOperator(operator=operator, cases=()), options.seed, options.count)
    text = cases_csv(operator, cases)
    if options.out:
        write_text(Path(options.out), text)
        write_text(Path(f"{options.out}.origin.json"), canonical_json(origin) + "\n")
        Console(stderr=True).print(safe(f"{len(cases)} cases: {options.out}; where they come from: {options.out}.origin.json"), soft_wrap=True)
    else:
        sys.stdout.write(text)
        sys.stderr.write(f"origin: {canonical_json(origin)}\n")
    return _CLEAN


def draw_hidden_cases(options: HiddenOptions) -> int:
    """Draw the hidden cases of a key: say what they are like, and write them only to --out."""
    console = Console(stderr=options.prints_json)
    key = _key(options.key_file, console)
    suite = load_suite(options.suite)
    hidden = hidden_suite(suite, key, options.count)
    members = [find_member(hidden, name) for name in options.operators] or list(hidden.members)
    require_cases(members)
    if options.out:
        _write_hidden(members, Path(options.out))
    lines = [{"operator": item.operator.name, "cases": len(item.cases), "elements": sum(case.elements for case in item.cases)} for item in members]
    if options.prints_json:
        print_json({"suite": suite.name, "suite_version": suite.version, "key_id": key.key_id, "set_digest": hidden.digest(), "operators": lines})
        return _CLEAN
    table = Table("operator", "cases", "elements together", box=SIMPLE_HEAD, pad_edge=False)
    for line in lines:
        table.add_row(safe(str(line["operator"])), str(line["cases"]), f"{line['elements']:,}")
    console.print(table)
    console.print(safe(f"key {key.key_id}, set {hidden.digest()[:16]}" + (f", written to {options.out}" if options.out else ", not written (--out does)")))
    return _CLEAN


def _write_hidden(members: Sequence[SuiteOperator], out: Path) -> None:
    """One table per operator, readable by their owner only. Raises UsageError where something lies already."""
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    places = {item.operator.name: out / f"{item.operator.name}.csv" for item in members}
    taken = [str(place) for place in places.values() if place.exists()]
    if taken:
        raise UsageError("a file is there already", found=taken[0], where=str(out), action="choose another folder with --out")
    for item in members:
        place = places[item.operator.name]
        place.touch(mode=0o600)
        place.write_text(cases_csv(item.operator, item.cases), encoding="utf-8")


def _key(path: str, console: Console) -> HiddenKey:
    key = read_key(Path(path).expanduser())
    if key.warning:
        console.print(safe(f"warning: {key.warning}", "yellow"), soft_wrap=True)
    return replace(key, warning="")


__all__ = ["HIDDEN_COUNT", "GenerateOptions", "HiddenOptions", "LintOptions", "draw_hidden_cases", "generate_suite_cases", "lint_suite", "list_checks"]
