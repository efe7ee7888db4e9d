"""`piton deliver`: package a submission as a project for a machine with an NPU."""

from __future__ import annotations

from typing import Annotated

import typer

from piton.cli.completion import complete_operator, complete_suite
from piton.cli.start import until_stopped

deliver_app = typer.Typer()


@deliver_app.command("deliver")
def deliver_command(  # noqa: PLR0913 - one parameter per option of the command
    submission: Annotated[str, typer.Argument(help="Folder of the submission, or a single .asc or .cpp file.")],
    out: Annotated[str, typer.Option(help="Folder to write, which must not exist; by default <submission>-delivery here.")] = "",
    op: Annotated[list[str] | None, typer.Option(help="Only this operator; may be repeated.", autocompletion=complete_operator)] = None,
    suite: Annotated[str, typer.Option(help="The suite whose smallest case each operator is tried on.", autocompletion=complete_suite)] = "piton",
    trust: Annotated[bool, typer.Option("--trust", help="Run the golden code of a suite that is not Piton's.")] = False,
    no_eval: Annotated[bool, typer.Option("--no-eval", help="Do not build and try it on the virtual NPU.")] = False,
    no_dry_run: Annotated[bool, typer.Option("--no-dry-run", help="Do not run build.sh against a toolkit that is none.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print delivery.json (docs/deliver.md).")] = False,
) -> None:
    """Package a submission as a project that a machine with an NPU builds, installs and evaluates.

    Exit status 1 when a check fails; the folder is written nonetheless.
    """
    from piton.cli.delivering import DeliverOptions, deliver_and_show

    options = DeliverOptions(submission, out, tuple(op or ()), suite, trust, evaluates=not no_eval, builds=not no_dry_run, prints_json=as_json)
    raise typer.Exit(until_stopped(lambda: deliver_and_show(options)))
