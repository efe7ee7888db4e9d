"""`piton new`: write a submission to start from and say what it is."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from rich.console import Console

from piton.catalog import load_suite
from piton.catalog.scaffold import Kind, Layout, Scaffold, write_scaffold
from piton.catalog.suite import DEFAULT_SUITE
from piton.core.errors import UsageError
from piton.core.operator import Operator

_KINDS = {
    Kind.ELEMENTWISE: "a plain elementwise kernel; builds and passes as it is",
    Kind.ROWS: "a plain row-wise kernel; builds and passes as it is",
}


@dataclass(frozen=True)
class NewOptions:
    """The options of `piton new` as they were typed."""

    operator: str
    out: str
    suite: str
    package: str
    layout: str


def start_submission(options: NewOptions) -> int:
    """Write the folder and print what it holds and what to do next; the exit status."""
    operator, is_foreign = _find(options)
    suite = "" if options.suite == DEFAULT_SUITE else f" --suite {shlex.quote(options.suite)}{' --trust' if is_foreign else ''}"
    made = write_scaffold(operator, options.out or operator.name, options.package, suite, _layout(options.layout))
    console = Console(highlight=False)
    console.print(f"{made.folder}: {operator.name}, {_describe(made)}", soft_wrap=True, markup=False)
    for path in made.files:
        console.print(f"  {path}", soft_wrap=True, markup=False)
    console.print(f"next: piton eval {shlex.quote(str(made.folder))}{suite} --op {operator.name}", soft_wrap=True, markup=False)
    return 0


def _layout(name: str) -> Layout:
    if name not in [item.value for item in Layout]:
        raise UsageError(f"there is no layout {name!r}", expected=" or ".join(item.value for item in Layout), action="check --op-layout")
    return Layout(name)


def _find(options: NewOptions) -> tuple[Operator, bool]:
    suite = load_suite(options.suite)
    member = suite.member(options.operator)
    if member is None:
        known = ", ".join(item.operator.name for item in suite.members)
        raise UsageError(f"suite {suite.name} has no operator {options.operator!r}", expected=f"one of {known}", action="choose another one, or its suite")
    return member.operator, suite.is_foreign


def _describe(made: Scaffold) -> str:
    """One sentence; plain about what is missing."""
    if made.kind.is_complete:
        return _KINDS[made.kind]
    return f"NOT COMPLETE: the formula is not known here, so the kernel {made.gap}. It builds and fails its cases until what is marked FILL IN is filled in"
