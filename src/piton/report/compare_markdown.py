"""A comparison as Markdown for a pull request: headline, what moved, and the rest folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from piton.report.compare_text import (
    Section,
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
from piton.report.comparison import Comparison, Pair, Sum
from piton.report.markup import escape_markdown as safe
from piton.report.markup import folded, table_lines
from piton.report.moves import BROKEN_KINDS

MOST_FIRST = 12
"""Moved cases of one sort that stand in the open."""
MOST_FOLDED = 60
"""And below a fold; --json has all."""


def comparison_markdown(found: Comparison) -> str:
    """The whole comparison; of two runs below 60 kB."""
    lines = [f"# {' and '.join(safe(run.name) for run in found.runs)}", ""]
    for pair in found.pairs:
        lines += _pair(pair)
    lines += [*_table(score_table(found)), *(f"- {safe(text)}" for text in difference_texts(found)), "", safe(threshold_text(found))]
    return "\n".join(lines).rstrip() + "\n"


def _pair(pair: Pair) -> Iterator[str]:
    mark = "❌" if any(item.kind in BROKEN_KINDS for item in pair.moves) else "⚠️" if pair.is_doubtful else "✅"
    yield f"{mark} **{safe(headline(pair))}**"
    yield ""
    for section in sections(pair):
        yield from _section(section)
    if pair.moves:
        yield from (f"- {safe(text)}" for text in certainty_notes(pair.moves))
        yield ""
    groups = [*_sums("level", pair.levels), *_sums("category", pair.categories)]
    if groups:
        yield from folded("By level and category", groups)
    if note := unchanged_text(pair):
        yield safe(note)
        yield ""


def _section(section: Section) -> Iterator[str]:
    """The first moves in the open, the next below a fold, and how many there are beyond."""
    yield from _table(move_table(section.title, section.moves[:MOST_FIRST]))
    rest, beyond = section.moves[MOST_FIRST:][:MOST_FOLDED], len(section.moves) - MOST_FIRST - MOST_FOLDED
    if rest:
        more = [f"and {beyond} more: `piton compare --json`"] if beyond > 0 else []
        yield from folded(f"{len(section.moves) - MOST_FIRST} more", [*_table(move_table("", rest)), *more])


def _sums(name: str, sums: Sequence[Sum]) -> list[str]:
    return _table(sum_table(name, sums)) if len(sums) > 1 else []


def _table(table: Table) -> list[str]:
    return [*([f"## {safe(table.title)}", ""] if table.title and table.title != table.head[0] else []), *table_lines(table.head, table.lines), ""]
