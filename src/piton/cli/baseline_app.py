"""`piton baseline`: measure T_baseline anew into a versioned file, look into such files, compare them."""

from __future__ import annotations

from typing import Annotated

import typer

from piton.cli.completion import complete_operator, complete_suite, complete_target
from piton.cli.options import SuiteFormatOption, TrustOption
from piton.cli.start import until_stopped

baseline_app = typer.Typer(no_args_is_help=True, help="Measure T_baseline into versioned files, list, show and compare them.")

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@baseline_app.command("refresh")
def refresh_command(  # noqa: PLR0913 - one parameter per option of the command
    out: Annotated[str, typer.Option(help="File to write, such as baselines/2026-11-30.json.")],
    target: Annotated[str, typer.Option(help="Where the times are taken.", autocompletion=complete_target)] = "ascend910b2-sim",
    suite: Annotated[str, typer.Option(help="A suite of Piton's by name, or a folder of a suite.", autocompletion=complete_suite)] = "piton",
    suite_format: SuiteFormatOption = "",
    op: Annotated[list[str] | None, typer.Option(help="Only this operator; may be repeated.", autocompletion=complete_operator)] = None,
    level: Annotated[list[int] | None, typer.Option(help="Only operators of this level; may be repeated.")] = None,
    case: Annotated[list[str] | None, typer.Option(help="Only this case (`3` or `exp/3`); may be repeated.")] = None,
    submission: Annotated[str, typer.Option(help="Kernels to measure instead of the suite's plain ones; a device needs it.")] = "",
    name: Annotated[str, typer.Option(help="Name of the set; by default suite and target.")] = "",
    set_version: Annotated[str, typer.Option("--set-version", help="Its version; by default the day and a number, such as 2026-11-30.1.")] = "",
    trust: TrustOption = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file --out.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure T_baseline of every case into one versioned file.

    What is measured is kept at once: the same command goes on where it was stopped. Exit status 1 when some case failed.
    """
    from piton.cli.baselines import RefreshOptions, refresh_baselines

    options = RefreshOptions(
        out=out,
        target=target,
        suite=suite,
        suite_format=suite_format,
        operators=tuple(op or ()),
        levels=tuple(level or ()),
        cases=tuple(case or ()),
        submission=submission,
        name=name,
        version=set_version,
        is_trusted=trust,
        overwrites=overwrite,
        prints_json=as_json,
    )
    raise typer.Exit(until_stopped(lambda: refresh_baselines(options)))


@baseline_app.command("list")
def list_command(
    paths: Annotated[list[str] | None, typer.Argument(help="Baseline files, or folders with some; by default this folder.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List baseline files: name, version, what they are of."""
    from piton.cli.baselines import list_baselines

    raise typer.Exit(until_stopped(lambda: list_baselines(paths or ["."], prints_json=as_json)))


@baseline_app.command("show")
def show_command(
    file: Annotated[str, typer.Argument(help="A baseline file.")],
    op: Annotated[list[str] | None, typer.Option(help="Only this operator; may be repeated.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a baseline file: where it is from, and the time of every case."""
    from piton.cli.baselines import show_baselines

    raise typer.Exit(until_stopped(lambda: show_baselines(file, op or (), prints_json=as_json)))


@baseline_app.command("diff")
def diff_command(
    before: Annotated[str, typer.Argument(help="A baseline file.")],
    after: Annotated[str, typer.Argument(help="Another one, usually a later version.")],
    show_all: Annotated[bool, typer.Option("--all", help="List cases that are the same as well.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare two baseline files: which times moved, by how much."""
    from piton.cli.baselines import compare_baselines

    raise typer.Exit(until_stopped(lambda: compare_baselines(before, after, shows_all=show_all, prints_json=as_json)))
