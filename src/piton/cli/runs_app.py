"""`piton runs`: what the agents' runs hold."""

from __future__ import annotations

from typing import Annotated

import typer

from piton.cli.start import until_stopped

runs_app = typer.Typer(no_args_is_help=True, help="Runs of the agents: list them, look into one, take a candidate out.")


@runs_app.command("list")
def list_command(
    folder: Annotated[str, typer.Argument(help="Folder that holds runs.")] = "runs",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the runs in a folder."""
    from piton.cli.runs import list_runs

    raise typer.Exit(until_stopped(lambda: list_runs(folder, prints_json=as_json)))


@runs_app.command("show")
def show_command(
    run: Annotated[str, typer.Argument(help="Folder of the run.")],
    variant: Annotated[int | None, typer.Option(min=1, help="Only this variant: prompt, answer, what its evaluation said.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the variants of a run, with lineage and cost, or one of them."""
    from piton.cli.runs import show_stored

    raise typer.Exit(until_stopped(lambda: show_stored(run, variant, prints_json=as_json)))


@runs_app.command("export")
def export_command(
    run: Annotated[str, typer.Argument(help="Folder of the run.")],
    out: Annotated[str, typer.Option(help="Folder to write, which must not exist.")],
    variant: Annotated[int | None, typer.Option(min=1, help="This variant; by default the best one.")] = None,
) -> None:
    """Write a variant as a submission."""
    from piton.cli.runs import export_variant

    raise typer.Exit(until_stopped(lambda: export_variant(run, out, variant)))
