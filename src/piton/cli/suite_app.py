"""`piton suite`: its commands and their options; the work is in modules that load when a command is used."""

from __future__ import annotations

from typing import Annotated

import typer

from piton.cli.completion import complete_operator, complete_suite, complete_suite_or_operator, complete_target
from piton.cli.options import (
    SuiteFormatOption,
    SuiteMemoryOption,
    SuiteWorkOption,
    TrustOption,
)
from piton.cli.start import until_stopped

suite_app = typer.Typer(no_args_is_help=True, help="Look into suites, check them, draw cases.")


@suite_app.command("list")
def suite_list_command(
    suite: Annotated[list[str] | None, typer.Argument(help="Suites by name or folder; by default all of Piton's.", autocompletion=complete_suite)] = None,
    suite_format: SuiteFormatOption = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List suites: format, version, operators per level, cases. Nothing of them is run. Without arguments also the formats that Piton reads."""
    from piton.cli.suites import list_suites

    raise typer.Exit(until_stopped(lambda: list_suites(suite or (), suite_format, as_json=as_json)))


@suite_app.command("show")
def suite_show_command(  # noqa: PLR0913 - one parameter per option of the command
    suite: Annotated[str, typer.Argument(help="A suite by name or folder, or an operator of Piton's.", autocompletion=complete_suite_or_operator)] = "",
    operator: Annotated[str, typer.Argument(help="Only this operator, with its cases.", autocompletion=complete_operator)] = "",
    case: Annotated[list[str] | None, typer.Option(help="Only this case of the operator, in full; may be repeated.")] = None,
    target: Annotated[str, typer.Option(help="Whose anchors are shown.", autocompletion=complete_target)] = "ascend910b2-sim",
    suite_format: SuiteFormatOption = "",
    suite_memory: SuiteMemoryOption = 8.0,
    suite_work: SuiteWorkOption = 10.0,
    trust: TrustOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the operators of a suite, or one operator: signature, text, thresholds, cases, anchors.

    Nothing of the suite is run, unless it is one of another benchmark and trusted: then the tasks shown are described by running them once.
    """
    from piton.cli.suites import ShowOptions, SuiteOptions, show_suite

    how = SuiteOptions(format=suite_format, memory_gib=suite_memory, work_gflop=suite_work, is_trusted=trust)
    options = ShowOptions(suite=suite, operator=operator, cases=tuple(case or ()), target=target, prints_json=as_json, how=how)
    raise typer.Exit(until_stopped(lambda: show_suite(options)))


@suite_app.command("check")
def suite_check_command(  # noqa: PLR0913 - one parameter per option of the command
    suite: Annotated[str, typer.Argument(help="A suite by name or folder.", autocompletion=complete_suite)],
    op: Annotated[list[str] | None, typer.Option(help="Only this operator; may be repeated.")] = None,
    level: Annotated[list[int] | None, typer.Option(help="Only operators of this level; may be repeated.")] = None,
    suite_format: SuiteFormatOption = "",
    suite_memory: SuiteMemoryOption = 8.0,
    suite_work: SuiteWorkOption = 10.0,
    trust: TrustOption = False,
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Cases at the same time.")] = 1,
    max_elements: Annotated[int | None, typer.Option(min=1, help="Leave out cases with more elements.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run every golden in float64 and in its own precision, and judge the second by the first: can this suite be used?

    Results are kept: a check that was stopped goes on, and one of a suite that has not changed runs nothing.
    """
    from piton.cli.suite_check import CheckOptions, check_suite
    from piton.cli.suites import SuiteOptions

    how = SuiteOptions(format=suite_format, memory_gib=suite_memory, work_gflop=suite_work, is_trusted=trust)
    options = CheckOptions(suite, tuple(op or ()), tuple(level or ()), how, prints_json=as_json, jobs=jobs, max_elements=max_elements)
    raise typer.Exit(until_stopped(lambda: check_suite(options)))


@suite_app.command("init")
def suite_init_command(folder: Annotated[str, typer.Argument(help="Folder to write to.")]) -> None:
    """Write a commented example of a suite of your own: suite.toml and a golden."""
    from piton.cli.suites import init_suite

    raise typer.Exit(until_stopped(lambda: init_suite(folder)))


@suite_app.command("lint")
def suite_lint_command(  # noqa: PLR0913 - one parameter per option of the command
    suite: Annotated[str, typer.Argument(help="A suite by name or folder.", autocompletion=complete_suite)] = "piton",
    op: Annotated[list[str] | None, typer.Option(help="Only this operator; may be repeated.", autocompletion=complete_operator)] = None,
    structural: Annotated[bool, typer.Option("--structural", help="Run no golden: only what can be seen in the files.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Run the goldens of all cases, whatever their size; goes on where it was stopped.")] = False,
    max_elements: Annotated[int | None, typer.Option(min=1, help="Run goldens of cases up to this size (4,000,000).")] = None,
    trust: TrustOption = False,
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Cases at the same time.")] = 1,
    cases: Annotated[str, typer.Option(help="Check this table of cases instead of the operator's own; needs --op.")] = "",
    hidden_key_file: Annotated[str, typer.Option(help="Check the hidden cases of this key instead of the public ones.")] = "",
    count: Annotated[int, typer.Option(min=1, max=2000, help="Hidden cases per operator.")] = 80,
    checks: Annotated[bool, typer.Option("--checks", help="List the checks with their rules, and do nothing else.")] = False,
    show_all: Annotated[bool, typer.Option("--all", help="Show every violation, not the first of each check.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check a suite against the rules of the dataset: files, cases, and the numbers of its goldens. Exit status 1 when something is an error."""
    from piton.cli.curation import LintOptions, lint_suite, list_checks

    if checks:
        raise typer.Exit(list_checks(as_json=as_json))
    options = LintOptions(
        suite=suite,
        operators=tuple(op or ()),
        is_structural=structural,
        is_full=full,
        max_elements=max_elements,
        is_trusted=trust,
        jobs=jobs,
        cases=cases,
        key_file=hidden_key_file,
        count=count,
        shows_all=show_all,
        prints_json=as_json,
    )
    raise typer.Exit(until_stopped(lambda: lint_suite(options)))


@suite_app.command("generate")
def suite_generate_command(
    op: Annotated[str, typer.Option(help="Operator to draw cases of; it needs a rules.yaml.", autocompletion=complete_operator)],
    suite: Annotated[str, typer.Option(help="A suite by name or folder.", autocompletion=complete_suite)] = "piton",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw; recorded beside the table.")] = 0,
    count: Annotated[int, typer.Option(min=1, max=2000, help="Number of cases; the rules of the dataset are kept twenty by twenty.")] = 20,
    out: Annotated[str, typer.Option(help="File to write; by default standard output.")] = "",
) -> None:
    """Draw an operator's public cases from its rules and a seed: the same seed gives the same cases."""
    from piton.cli.curation import GenerateOptions, generate_suite_cases

    raise typer.Exit(until_stopped(lambda: generate_suite_cases(GenerateOptions(suite, op, seed, count, out))))


@suite_app.command("hidden")
def suite_hidden_command(
    key_file: Annotated[str, typer.Option(help="File with the secret key: at least 32 bytes, readable by you alone.")],
    suite: Annotated[str, typer.Option(help="A suite by name or folder.", autocompletion=complete_suite)] = "piton",
    op: Annotated[list[str] | None, typer.Option(help="Only this operator; may be repeated.", autocompletion=complete_operator)] = None,
    count: Annotated[int, typer.Option(min=1, max=2000, help="Cases per operator.")] = 80,
    out: Annotated[str, typer.Option(help="Folder to write the cases to, in clear; by default they are not written.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Draw the hidden cases of a secret key and say what they are named; nothing of them is shown or written unless asked."""
    from piton.cli.curation import HiddenOptions, draw_hidden_cases

    raise typer.Exit(until_stopped(lambda: draw_hidden_cases(HiddenOptions(suite, tuple(op or ()), key_file, count, out, as_json))))
