"""The pieces of Markdown that all renderings share: escaped text, tables, folds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from piton.core.visible import visible

MOST_BYTES = 60_000
"""What a comment on a pull request takes (65,536 characters on GitHub), with some room."""
_MARKS = "\\`*_[]<>|#~&$"
_NO_LINK = (("@", "@\u200b"), ("#", "#\u200b"), ("://", ":\u200b//"), ("www.", "www\u200b."), ("$", "$\u200b"))
"""What hosts of pull requests turn into mentions, references, links and formulas, escaped or not: a space of no width keeps it text."""
_NO_NAME = ((re.compile(r":(?=[\w+\\-]+:)"), ":\u200b"), (re.compile(r"\b(GH)(?=-\d)", re.IGNORECASE), "\\1\u200b"))
"""The same of names of emoji (whose underscores may be escaped) and of references by GH and a number."""


def escape_markdown(text: str) -> str:
    """Text of a submission must not become markup, links, mentions or table cells, and stays on its line."""
    for character in _MARKS:
        text = text.replace(character, f"\\{character}")
    return _unlinked(text)


def coded(text: str) -> str:
    """Text as code, which it can't end."""
    return f"`{_unlinked(text.replace('`', chr(39)))}`"


def table_lines(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    """A table with a line under its head."""
    return [_line(head), "|" + "---|" * len(head), *(_line(line) for line in lines)]


def folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    """Lines that are shown on a click. The empty lines let Markdown inside be read as such."""
    yield f"<details><summary>{_plain(summary)}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"
    yield ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escape_markdown, cells))} |"


def _plain(text: str) -> str:
    """Text inside HTML, where Markdown's escapes would be seen."""
    for character, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(character, name)
    return _unlinked(text)


def _unlinked(text: str) -> str:
    """One line in which no host finds a mention, a reference, an address, a formula or an emoji."""
    for found, harmless in _NO_LINK:
        text = text.replace(found, harmless)
    for pattern, harmless in _NO_NAME:
        text = pattern.sub(harmless, text)
    return visible(" ".join(text.split()))


def fitting(sections: Iterable[Sequence[str]], room: int) -> tuple[list[str], int]:
    """Lines of the first sections that take at most `room` bytes together, and how many sections are left out."""
    lines: list[str] = []
    left = 0
    for section in sections:
        size = sum(len(line.encode()) + 1 for line in section)
        if left or size > room:
            left += 1
        else:
            room -= size
            lines += section
    return lines, left
