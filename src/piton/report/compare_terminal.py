"""A comparison as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from piton.core.visible import visible
from piton.report.compare_text import (
    Table,
    certainty_notes,
    difference_texts,
    headline,
    move_table,
    score_table,
    sections,
    sum_table,
    threshold_text,
    unchanged_text,
)
from piton.report.comparison import Comparison, Pair
from piton.report.fit import Column, Listing
from piton.report.moves import BROKEN_KINDS

MOST_MOVES = 20
"""Moved cases of one sort that are listed; --json has all of them."""
_LEAVES = {"certainty": 1, "HAP before": 3, "verdict": 2, "passed before": 2, "passed after": 1}
"""Columns that go when there is no room, the highest first."""


def render_comparison(found: Comparison) -> RenderableType:
    """Several reports against the first."""
    return Group(*_parts(found))


def _parts(found: Comparison) -> Iterator[RenderableType]:
    yield _listing(score_table(found))
    for pair in found.pairs:
        yield from _pair(pair)
    yield Text(threshold_text(found), style="dim")
    yield from (Text(visible(text), style="yellow") for text in difference_texts(found))


def _pair(pair: Pair) -> Iterator[RenderableType]:
    if len(pair.levels) > 1:
        yield _listing(sum_table("level", pair.levels))
    if len(pair.categories) > 1:
        yield _listing(sum_table("category", pair.categories))
    for section in sections(pair):
        yield _listing(move_table(section.title, section.moves[:MOST_MOVES]))
        left = len(section.moves) - MOST_MOVES
        yield from [Text(f"and {left} more (--json has all)\n", style="yellow")] if left > 0 else []
    yield from (Text(text, style="dim") for text in certainty_notes(pair.moves)) if pair.moves else [] if pair.is_sums_only else [Text("no case moved")]
    is_worse = any(item.kind in BROKEN_KINDS for item in pair.moves)
    yield Text(visible(headline(pair)), style="bold red" if is_worse else "bold")
    yield from [Text(rest, style="dim")] if (rest := unchanged_text(pair)) else []


def _listing(table: Table) -> Listing:
    texts = {"what", "verdict", "certainty"}
    columns = [Column(visible(_broken(name)), is_right=number > 0 and name not in texts, leaves=_LEAVES.get(name, 0)) for number, name in enumerate(table.head)]
    return Listing(columns, [tuple(visible(cell) for cell in line) for line in table.lines], table.title if table.title != table.head[0] else "")


def _broken(name: str) -> str:
    """A head of two lines, for narrow columns."""
    for word in (" before", " after"):
        if name.endswith(word):
            return name.removesuffix(word) + "\n" + word.strip()
    return name
