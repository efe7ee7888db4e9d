"""`piton compare`: several reports against the first, in a terminal, for a pull request, as data, and as a gate."""

from __future__ import annotations

from typing import Annotated

import typer

from piton.cli.start import until_stopped

compare_app = typer.Typer()


@compare_app.command("compare")
def compare_command(
    runs: Annotated[list[str], typer.Argument(help="Folders of runs, or report.json files; the first is what the others are compared with.")],
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown for a pull request.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON (docs/compare.schema.json).")] = False,
    html: Annotated[str, typer.Option(help="Write a page to this file.")] = "",
    least: Annotated[float, typer.Option(min=0.0, max=1000.0, help="Smallest change of T_cand that counts, in per cent.")] = 0.5,
    fail_on: Annotated[str, typer.Option(help="never, broken (a case does not pass any more) or regression (or is slower): exit status 1.")] = "never",
) -> None:
    """Say which cases moved from the first run to the others, by how much, and whether that is more than noise or the model's error."""
    from piton.cli.comparing import CompareOptions, show_comparison

    options = CompareOptions(prints_markdown=markdown, prints_json=as_json, html=html, least_percent=least, fails_on=fail_on)
    raise typer.Exit(until_stopped(lambda: show_comparison(runs, options)))
