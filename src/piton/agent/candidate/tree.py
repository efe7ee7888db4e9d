"""A candidate's files, and a digest that does not change when only comments or layout do.

Two candidates with one digest would be measured alike, so that the second is refused before anything is built. Names count: a renamed variable makes another
candidate, since telling that apart needs a compiler.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from piton.core.canonical import digest
from piton.core.errors import UsageError
from piton.targets.vnpu.tokens import tokens_of

MOST_FILES = 500
MOST_BYTES = 4 << 20
_CPP = (".cpp", ".cc", ".cxx", ".asc", ".c", ".h", ".hpp", ".hh", ".inl", ".inc")
_PROSE = (".md", ".txt", ".rst")
_LONGEST, _LONGEST_NAME = 1000, 200
"""Characters of a path and bytes of a name: what every file system takes below a folder of our own."""
_SKIPPED = {".git", "build", "dist", "__pycache__", "runs"}


class TreeError(UsageError):
    """A tree that no submission can be."""


@dataclass(frozen=True)
class Tree:
    """Texts by path, relative and with `/`; immutable."""

    files: Mapping[str, str]

    def __post_init__(self) -> None:
        for path in self.files:
            check_path(path)
            parent = next((str(folder) for folder in PurePosixPath(path).parents if str(folder) in self.files), None)
            if parent is not None:
                raise TreeError("a candidate's file lies below another file", expected="a folder", found=f"{path!r} below the file {parent!r}")
        size = sum(len(text.encode("utf-8", "surrogateescape")) for text in self.files.values())
        if len(self.files) > MOST_FILES or size > MOST_BYTES:
            raise TreeError(
                "the candidate is too large", expected=f"at most {MOST_FILES} files and {MOST_BYTES} bytes", found=f"{len(self.files)} files, {size} bytes"
            )

    @cached_property
    def source_digest(self) -> str:
        """What duplicates share: paths and normalised texts; prose is no part of it."""
        texts = [(path, text) for path, text in sorted(self.files.items()) if not path.endswith(_PROSE)]
        return digest([(path, digest([_plain(item) for item in normalised(path, text)])) for path, text in texts])

    def with_files(self, changed: Mapping[str, str | None]) -> Tree:
        """The tree with these files written, or removed where there is None."""
        return Tree({path: text for path, text in {**self.files, **changed}.items() if text is not None})

    def write(self, folder: Path) -> None:
        """Write all files below `folder`."""
        for path, text in self.files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8", errors="surrogateescape")


def check_path(path: str) -> None:
    """Raise TreeError for a path that could lie outside the tree, or that is not in its simplest form."""
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or str(pure) != path or "\\" in path:
        raise TreeError(
            "a candidate's file has a path outside of it", expected="a relative path such as csrc/ops/exp/op_kernel/exp_kernel.cpp", found=repr(path)
        )
    if not path.isprintable() or len(path) > _LONGEST or any(len(part.encode()) > _LONGEST_NAME for part in pure.parts):
        expected = "a short path of printable characters"
        raise TreeError("a candidate's file has a path that a file system may not take", expected=expected, found=ascii(path)[:200])


def read_tree(folder: Path) -> Tree:
    """The files of a submission's folder, without build folders and what is no text. Raises TreeError for one that is too large."""
    files: dict[str, str] = {}
    size = 0
    for path in _paths(folder):
        size += path.stat().st_size
        if size > MOST_BYTES or len(files) >= MOST_FILES:
            raise TreeError(
                "the folder is too large for a candidate", where=str(folder), expected=f"at most {MOST_FILES} files and {MOST_BYTES} bytes", found="more"
            )
        data = path.read_bytes()
        if b"\0" not in data:
            files[path.relative_to(folder).as_posix()] = data.decode("utf-8", "surrogateescape")
    return Tree(files)


def _paths(folder: Path) -> Iterator[Path]:
    """Plain files in a fixed order; links are not followed."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name in _SKIPPED:
            continue
        if path.is_dir():
            yield from _paths(path)
        elif path.is_file():
            yield path


def normalised(path: str, text: str) -> list[str]:
    """What a compiler sees of a text, roughly: tokens of C++ (directives keep their lines), the syntax tree of Python, other lines without trailing blanks."""
    if path.endswith(_CPP):
        return _cpp(text)
    if path.endswith(".py"):
        try:
            return [ast.dump(ast.parse(text))]
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last is what the parser says of too many brackets
            return [text]
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _plain(text: str) -> str:
    """Bytes that are no UTF-8 (a comment in Latin-1) as escapes, since a digest is of UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _cpp(text: str) -> list[str]:
    """Tokens; a `#` at the start of a line and the end of that line are marked, since there a line's end means something."""
    found: list[str] = []
    ends: int | None = None
    for token in tokens_of(text):
        if ends is not None and token.start >= ends:
            found.append("\n")
            ends = None
        if token.text == "#" and ends is None and not text[text.rfind("\n", 0, token.start) + 1 : token.start].strip():
            ends = _line_end(text, token.start)
        found.append(token.text)
    return found if ends is None else [*found, "\n"]


def _line_end(text: str, start: int) -> int:
    """Where the line of `start` ends, lines that a backslash continues counted as one."""
    end = text.find("\n", start)
    while end > 0 and text[:end].rstrip("\r").endswith("\\"):
        end = text.find("\n", end + 1)
    return len(text) if end < 0 else end
