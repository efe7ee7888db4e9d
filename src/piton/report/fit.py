"""Tables that stay readable at any width: no word or number is broken; what there is no room for is left out, and that is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.table import Table
from rich.text import Text

_LONGEST_WORD = 28
"""Longer words, such as paths, are folded where there is no room."""

Cell = str | Text


@dataclass(frozen=True)
class Column:
    """One column of a listing."""

    name: str
    is_right: bool = False
    wraps: bool = True
    """False for numbers: they stay in one line."""
    leaves: int = 0
    """0: always shown. Of the others the highest leaves first when there is no room."""
    most: int | None = None
    """Columns of the terminal that it takes at most; what is longer is folded."""


@dataclass(frozen=True)
class Listing:
    """A table as a rich renderable, which takes the width there is."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    turns: bool = False
    """When it is too wide: its rows become columns, for few rows of many figures. Otherwise columns are left out."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The whole table if no word has to be broken, else turned or without some columns."""
        room = options.max_width
        if self.title:
            yield Text(self.title, style="bold")
        if self.turns and not _fits(self._spans(), room):
            yield self._turned()
            return
        kept = list(range(len(self.columns)))
        spans = self._spans()
        while not _fits([spans[index] for index in kept], room) and (last := self._next_to_leave(kept)) is not None:
            kept.remove(last)
        yield self._table(kept, _widths([spans[index] for index in kept], room))
        left = [column.name.replace("\n", " ") for index, column in enumerate(self.columns) if index not in kept]
        if left:
            yield Text(f"not shown at this width: {', '.join(left)}", style="dim")

    def _next_to_leave(self, kept: Sequence[int]) -> int | None:
        index = max(kept, key=lambda index: self.columns[index].leaves)
        return index if self.columns[index].leaves else None

    def _spans(self) -> list[_Span]:
        return [_span([column.name, *(str(row[index]) for row in self.rows)], column) for index, column in enumerate(self.columns)]

    def _table(self, kept: Sequence[int], widths: Sequence[int]) -> Table:
        table = _empty()
        for index, width in zip(kept, widths, strict=True):
            column = self.columns[index]
            table.add_column(escape(column.name), justify="right" if column.is_right else "left", overflow="fold", width=width)
        for row in self.rows:
            table.add_row(*(_text(row[index]) for index in kept))
        return table

    def _turned(self) -> Table:
        first, *others = self.columns
        table = _empty()
        table.add_column(escape(first.name), overflow="fold")
        for row in self.rows:
            table.add_column(_text(row[0]), justify="right", overflow="fold")
        for index, column in enumerate(others, start=1):
            table.add_row(Text(column.name.replace("\n", " ")), *(_text(row[index]) for row in self.rows))
        return table


@dataclass(frozen=True)
class _Span:
    """How wide a column can be."""

    least: int
    """Without breaking a word."""
    most: int
    """Without folding a line."""


def _span(texts: Sequence[str], column: Column) -> _Span:
    lines = [line for text in texts for line in text.split("\n")]
    most = max(map(cell_len, lines), default=0)
    words = max((cell_len(word) for line in lines for word in line.split()), default=0)
    bound = column.most or most
    return _Span(min(words, _LONGEST_WORD, bound) if column.wraps else most, min(most, bound) if column.wraps else most)


def _fits(spans: Sequence[_Span], room: int) -> bool:
    """True when every word has room."""
    return sum(span.least for span in spans) + _around(spans) <= room


def _around(spans: Sequence[_Span]) -> int:
    """Characters that are not of cells: a blank after each and between two, and one at each end."""
    return 2 * len(spans) + 1


def _widths(spans: Sequence[_Span], room: int) -> list[int]:
    """The room shared out: first what words need, then to the column that folds into the most lines."""
    widths = [span.least for span in spans]
    for _ in range(room - sum(widths) - _around(spans)):
        lines = [span.most / max(width, 1) for span, width in zip(spans, widths, strict=True)]
        if max(lines, default=0.0) <= 1.0:
            break
        widths[lines.index(max(lines))] += 1
    return widths


def _empty() -> Table:
    return Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)


def _text(cell: Cell) -> Text:
    """Cells are text, never markup: shapes have brackets."""
    return Text(cell) if isinstance(cell, str) else cell
