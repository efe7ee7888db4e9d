"""desc.md: its sections and its Python blocks, each with the line it begins on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from piton.catalog.source import read_text

FILE = "desc.md"
_FENCE = re.compile(r"^(```+|~~~+)\s*(\w*)")


@dataclass(frozen=True)
class CodeBlock:
    """One fenced block."""

    language: str
    code: str
    line: int
    """1-based line of its first line of code."""


@dataclass(frozen=True)
class Section:
    """One `## ` section."""

    title: str
    text: str
    line: int


@dataclass(frozen=True)
class Description:
    """A desc.md taken apart."""

    text: str
    sections: tuple[Section, ...]
    blocks: tuple[CodeBlock, ...]
    """All fenced blocks, whatever the language."""

    def section(self, title: str) -> Section | None:
        """The section of that title, or None."""
        return next((item for item in self.sections if item.title == title), None)


def read_description(folder: Path) -> Description | None:
    """The desc.md in `folder`, or None when there is none. Raises FormatError when it is no text."""
    path = folder / FILE
    if not path.is_file():
        return None
    text = read_text(path)
    return Description(text, _sections(text), _blocks(text))


def _sections(text: str) -> tuple[Section, ...]:
    lines = text.splitlines()
    starts = [index for index, line in enumerate(lines) if line.startswith("## ")]
    ends = [*starts[1:], len(lines)]
    return tuple(Section(lines[start][3:].strip(), "\n".join(lines[start + 1 : end]), start + 1) for start, end in zip(starts, ends, strict=False))


def _blocks(text: str) -> tuple[CodeBlock, ...]:
    found: list[CodeBlock] = []
    fence, language, start = "", "", 0
    body: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = _FENCE.match(line)
        if fence and match and line.startswith(fence) and not match[2]:
            found.append(CodeBlock(language, "\n".join(body) + "\n", start))
            fence = ""
        elif fence:
            body.append(line)
        elif match:
            fence, language, start, body = match[1], match[2].lower(), number + 1, []
    return tuple(found)
