"""Reads the shell commands out of the documentation: what stands in a ```sh block is promised to work.

A block runs line by line in one folder that holds the examples and the reference kernels. A line ends with the exit status it has, when that is not 0:
`# exit status 1`. A block that cannot run on every machine says why: ```sh not-run: needs root.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "examples/*/README.md", "kernels/*/README.md")
_BLOCK = re.compile(r"^(?P<indent> *)```sh(?P<note>[^\n]*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_STATUS = re.compile(r"#.*\bexit status (\d+)")


@dataclass(frozen=True)
class Command:
    """One line of a block, with continuation lines joined to it."""

    text: str
    status: int


@dataclass(frozen=True)
class Block:
    """The commands of one block, in order."""

    page: str
    line: int
    """1-based, of the first command."""
    commands: tuple[Command, ...]
    reason: str
    """Why it is not run; empty for one that is."""


def blocks() -> list[Block]:
    """All blocks of all pages."""
    pages = sorted({path for pattern in PAGES for path in ROOT.glob(pattern)})
    return [block for page in pages for block in read_page(page.read_text(), page.relative_to(ROOT).as_posix())]


def read_page(text: str, name: str) -> list[Block]:
    """The blocks of one page."""
    return [_block(text, name, match) for match in _BLOCK.finditer(text)]


def _block(text: str, name: str, match: re.Match[str]) -> Block:
    note = match["note"].strip()
    if (note and not note.removeprefix("not-run:").strip()) or (note and not note.startswith("not-run:")):
        raise ValueError(f"{name}: a block begins with ```sh or ```sh not-run: REASON, found {note!r}")
    line = text.count("\n", 0, match.start("body")) + 1
    return Block(name, line, tuple(_commands(match["body"])), note.removeprefix("not-run:").strip())


def _commands(body: str) -> list[Command]:
    lines = (line.strip() for line in body.replace("\\\n", " ").splitlines())
    return [Command(line, _status(line)) for line in lines if line and not line.startswith("#")]


def _status(line: str) -> int:
    found = _STATUS.search(line)
    return int(found[1]) if found else 0
