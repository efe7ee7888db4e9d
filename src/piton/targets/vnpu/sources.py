"""The sources of one operator as the compiler sees them: a private copy in which launches are rewritten.

Problem: launches may stand in headers too, includes are relative, and operators of one submission have to build independently.
Approach: every C++ file of the submission but the units of other operators is copied, rewritten, to the same relative path under a folder of the build;
a file that was not copied can't be included, so that the copied files are all that the objects depend on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from piton.core.canonical import digest
from piton.core.submission import OperatorSources, Submission, SubmissionFile
from piton.targets.vnpu.rewrite import rewrite

_UNITS = (".cpp", ".cc", ".cxx", ".asc", ".cce", ".c")
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".ipp", ".tpp")
_TORCH = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"](?:torch|ATen|c10)", re.MULTILINE)
_QUOTED = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*\"([^\"\n]+)\"", re.MULTILINE)
_ODD_INCLUDE = re.compile(rb"incbin|__has_include|#[ \t]*embed|#[ \t]*include[ \t]*(?:[^ \t<\"]|[<\"][^>\"#\n]*(?:#|\.(?:cpp|cc|cxx|asc|cce|c)[>\"]))")
"""Includes of units, computed includes, and other ways to read a file."""
EXTENSION = "csrc/extension.cpp"
"""The unit that makes the library a Python module (CANN Bench's direct-launch layout)."""


@dataclass(frozen=True)
class SourceTree:
    """Where the copy lies and what identifies it."""

    root: Path
    files: tuple[SubmissionFile, ...]
    """What was copied."""

    @cached_property
    def key(self) -> str:
        """Digest of every path and content."""
        return digest(sorted((item.path, item.sha256) for item in self.files))

    @property
    def has_extension(self) -> bool:
        """Is there a unit that makes the library a Python module?"""
        return self.contains(EXTENSION)

    def unit_key(self, relative: str) -> str:
        """Identity of what one unit may see: itself and all headers, or everything if some file reads others in a way that names alone don't show."""
        if self._has_odd_includes:
            return self.key
        seen = [item for item in self.files if item.path == relative or item.path.endswith(_HEADERS)]
        return digest([sorted((item.path, item.sha256) for item in seen), sorted(item.path for item in self.files)])

    @cached_property
    def _has_odd_includes(self) -> bool:
        return any(_ODD_INCLUDE.search((self.root / item.path).read_bytes()) for item in self.files)

    def path(self, relative: str) -> str:
        """Absolute path of one copied file."""
        return str(self.root / relative)

    def line(self, relative: str, number: int) -> str:
        """Line `number` (from 1) of the rewritten text of a file; empty when there is none."""
        if number < 1 or not self.contains(relative):
            return ""
        lines = (self.root / relative).read_text("utf-8", errors="surrogateescape").split("\n")
        return lines[number] if number < len(lines) else ""  # the first line is the #line directive

    def contains(self, relative: str) -> bool:
        """Is this a file of the copy, by the name its `#line` directive gives it?"""
        return not relative.startswith(("/", "<")) and ".." not in relative.split("/") and (self.root / relative).is_file()

    def mentions_torch(self, relative: str) -> bool:
        """Does this unit include anything of torch, itself or through quoted includes? A header counts by its name, wherever it lies."""
        waiting, seen = [relative], {relative}
        while waiting:
            text = (self.root / waiting.pop()).read_bytes()
            if _TORCH.search(text):
                return True
            names = {PurePosixPath(name.decode(errors="surrogateescape")).name for name in _QUOTED.findall(text)}
            found = [item.path for item in self.files if PurePosixPath(item.path).name in names and item.path not in seen]
            waiting += found
            seen.update(found)
        return False

    def folders(self, sources: OperatorSources) -> tuple[str, ...]:
        """Folders that a quoted include is looked for in: those of the operator's units, csrc, the root."""
        units = [*sources.kernels, *sources.plugins]
        nearest = dict.fromkeys(str((self.root / unit).parent) for unit in units)
        return (*nearest, str(self.root / "csrc"), str(self.root))


def copy_sources(submission: Submission, sources: OperatorSources, root: Path) -> SourceTree:
    """Write the copy for `sources` under `root`."""
    chosen = tuple(item for item in submission.files if _belongs(item.path, sources))
    for item in chosen:
        _copy(Path(submission.root) / item.path, root / item.path, item.path)
    return SourceTree(root, chosen)


def _belongs(path: str, sources: OperatorSources) -> bool:
    if path.endswith(_HEADERS):
        return True
    return path.endswith(_UNITS) and not _is_foreign(PurePosixPath(path), _operator_folder(sources))


def _operator_folder(sources: OperatorSources) -> PurePosixPath | None:
    """`csrc/ops/<operator>`, the folder above op_kernel or op_plugin."""
    units = [*sources.kernels, *sources.plugins]
    return PurePosixPath(units[0]).parent.parent if units else None


def _is_foreign(path: PurePosixPath, own: PurePosixPath | None) -> bool:
    """A unit in the folder of another operator."""
    return own is not None and own.parent in path.parents and own not in path.parents and path.parent != own.parent


def _copy(source: Path, target: Path, name: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    text = source.read_bytes().decode("utf-8", errors="surrogateescape")
    target.write_bytes(rewrite(text, name).encode("utf-8", errors="surrogateescape"))
