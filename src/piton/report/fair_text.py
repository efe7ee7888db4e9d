"""The fair-reporting record as a table, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from piton.core.fair import FairRow, Source
from piton.core.visible import visible
from piton.report.fair_record import fair_summary
from piton.report.fit import Column, Listing
from piton.report.markup import escape_markdown

_HEAD = ("item", "source", "value")


def render_fair(rows: tuple[FairRow, ...], title: str = "Fair-reporting record") -> RenderableType:
    """The record as a table, with what is missing in yellow and a line that counts."""
    cells = [(row.item.value, Text(row.source.value, style="yellow" if row.source is Source.MISSING else ""), visible(row.value)) for row in rows]
    listing = Listing([Column(name, most=None if name == "value" else 40) for name in _HEAD], cells, title)
    return Group(listing, Text(fair_summary(rows), style="bold"))


def fair_markdown(rows: tuple[FairRow, ...]) -> list[str]:
    """Lines of a Markdown table, and one that counts."""
    lines = [f"| {escape_markdown(row.item.value)} | {row.source.value} | {escape_markdown(row.value)} |" for row in rows]
    return [*markdown_head(_HEAD), *lines, "", f"{fair_summary(rows)}."]


def markdown_head(names: Sequence[str]) -> list[str]:
    """Head and rule of a Markdown table."""
    return [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
