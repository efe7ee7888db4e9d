"""`piton integrity`: the policy that submissions are judged by."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

integrity_app = typer.Typer(no_args_is_help=True, help="The integrity policy: what a submission must and may not do, and how it is checked.")


@integrity_app.callback()
def integrity_command() -> None:
    """The integrity policy: what a submission must and may not do, and how it is checked."""


@integrity_app.command("show")
def show_command(
    track: Annotated[str, typer.Option(help="Only the rules that this kernel language is judged by, such as ascendc.")] = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables of docs/integrity.md.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rules as JSON, with version and digest.")] = False,
) -> None:
    """Print the rules with their checks, what a breach leads to, and from which isolation level they hold."""
    from piton.cli.integrity import policy_text

    sys.stdout.write(policy_text(track, "json" if as_json else "markdown" if markdown else "text"))
