"""A comparison as Markdown for a pull request: headline, what moved, and the rest folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from piton.report.compare import Comparison, Pair, Sum
from piton.report.compare_text import Table, certainty_notes, difference_texts, headline, move_table, score_table, sum_table, threshold_text, unchanged_text
from piton.report.markup import escape_markdown as safe
from piton.report.markup import folded, table_lines
from piton.report.moves import BROKEN_KINDS, Move

MOST_FIRST = 15
"""Moved cases that stand in the open."""
MOST_FOLDED = 150
"""And below a fold; --json has all."""


def comparison_markdown(found: Comparison) -> str:
    """The whole comparison, below 60 kB."""
    lines = [f"# {' and '.join(safe(run.name) for run in found.runs)}", ""]
    for pair in found.pairs:
        lines += _pair(pair)
    lines += [*_table(score_table(found)), *(f"- {safe(text)}" for text in difference_texts(found)), "", safe(threshold_text(found))]
    return "\n".join(lines).rstrip() + "\n"


def _pair(pair: Pair) -> Iterator[str]:
    mark = "❌" if any(item.kind in BROKEN_KINDS for item in pair.moves) else "⚠️" if pair.regressions else "✅"
    yield f"{mark} **{safe(headline(pair))}**"
    yield ""
    if pair.moves:
        yield from _table(move_table("", pair.moves[:MOST_FIRST]))
        yield from (f"- {safe(text)}" for text in certainty_notes(pair.moves))
        yield ""
    rest = pair.moves[MOST_FIRST:]
    if rest:
        yield from folded(f"{len(rest)} more cases that moved", [*_table(move_table("", rest[:MOST_FOLDED])), *_left(rest)])
    groups = [*_sums("level", pair.levels), *_sums("category", pair.categories)]
    if groups:
        yield from folded("By level and category", groups)
    if note := unchanged_text(pair):
        yield safe(note)
        yield ""


def _left(moves: Sequence[Move]) -> list[str]:
    return [f"and {len(moves) - MOST_FOLDED} more: `piton compare --json`"] if len(moves) > MOST_FOLDED else []


def _sums(name: str, sums: Sequence[Sum]) -> list[str]:
    return _table(sum_table(name, sums)) if len(sums) > 1 else []


def _table(table: Table) -> list[str]:
    return [*([f"## {safe(table.title)}", ""] if table.title and table.title != table.head[0] else []), *table_lines(table.head, table.lines), ""]
