"""The sources of one operator as the compiler sees them: a private copy in which launches are rewritten.

Problem: launches may stand in headers too, includes are relative, and operators of one submission have to build independently.
Approach: every C++ file of the submission but those of other operators is copied, rewritten, to the same relative path under a folder of the build; a header
in another operator's folder comes along when something includes a file of its name. A file that was not copied can't be included, so that the copied files are
all that the objects depend on. What any operator leaves out is copied for none: admission does not look into such files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from piton.core.canonical import digest, digest_bytes
from piton.core.submission import OperatorSources, Submission, SubmissionFile
from piton.targets.vnpu.launchers import Launcher, find_launchers, launched_by_name, missing_header
from piton.targets.vnpu.rewrite import rewrite

_UNITS = (".cpp", ".cc", ".cxx", ".asc", ".cce", ".c")
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".ipp", ".tpp")
_TORCH = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"](?:torch|ATen|c10)", re.MULTILINE)
_QUOTED = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*\"([^\"\n]+)\"", re.MULTILINE)
_INCLUDED = re.compile(rb"include(?:_next)?[ \t]*[\"<]([^\">\n]+)[\">]")
"""Every name that may be included, wherever the words stand."""
_MAIN = re.compile(rb"^[^\n#/]*\bmain[ \t\r\n]*\(", re.MULTILINE)
_ODD_INCLUDE = re.compile(rb"incbin|__has_include|#[ \t]*embed|#[ \t]*include[ \t]*(?:[^ \t<\"]|[<\"][^>\"#\n]*(?:#|\.(?:cpp|cc|cxx|asc|cce|c)[>\"]))")
"""Includes of units, computed includes, and other ways to read a file."""
_BY_CORE = re.compile(
    rb"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b(?:[^\n\\]|\\(?:\r?\n)?){0,1000}\b__DAV_(?:C220_)?(?:CUBE|VEC)__|\bconstexpr[ \t]*\([^;{}]{0,1000}\bg_coreType\b",
    re.MULTILINE,
)
"""A condition on the kind of core that is decided when the source is compiled. Each sign is taken in one way only, and not any number of
them: hostile lines would take forever."""
EXTENSION = "csrc/extension.cpp"
"""The unit that makes the library a Python module (CANN Bench's direct-launch layout)."""


@dataclass(frozen=True)
class SourceTree:
    """Where the copy lies and what identifies it."""

    root: Path
    files: tuple[SubmissionFile, ...]
    """What was copied."""
    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Headers that a file is compiled with although it may not include them: declarations of the generated launchers it uses."""

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
        return any(_TORCH.search((self.root / path).read_bytes()) for path in self.included_by(relative))

    def tells_cores_apart(self, relative: str) -> bool:
        """Does device code of this unit, or of a header it may include, differ between cube and vector cores when it is compiled?"""
        return any(_BY_CORE.search((self.root / path).read_bytes()) for path in self.included_by(relative))

    def is_single_source(self, relative: str) -> bool:
        """Does this unit hold host code that has no place in the device pass: torch, by itself or through its headers, or a `main()`?"""
        return _MAIN.search((self.root / relative).read_bytes()) is not None or self.mentions_torch(relative)

    def included_by(self, relative: str) -> tuple[str, ...]:
        """The unit and every copied file that it may include, directly or not. A file counts by its name, wherever it lies."""
        found = {relative: None}
        waiting = [relative]
        while waiting:
            text = (self.root / waiting.pop()).read_bytes()
            names = {PurePosixPath(name.decode(errors="surrogateescape")).name for name in _QUOTED.findall(text)}
            added = [item.path for item in self.files if PurePosixPath(item.path).name in names and item.path not in found]
            found.update(dict.fromkeys(added))
            waiting += added
        return tuple(found)

    def text(self, relative: str) -> str:
        """The rewritten text of a file."""
        return (self.root / relative).read_bytes().decode("utf-8", errors="surrogateescape")

    def folders(self, sources: OperatorSources) -> tuple[str, ...]:
        """Folders that a quoted include is looked for in: those of the operator's units, csrc, the root."""
        units = [*sources.kernels, *sources.plugins, *sources.hosts]
        nearest = dict.fromkeys(str((self.root / unit).parent) for unit in units)
        return (*nearest, str(self.root / "csrc"), str(self.root))


def copy_sources(submission: Submission, sources: OperatorSources, root: Path) -> SourceTree:
    """Write the copy for `sources` under `root`."""
    for item in (chosen := files_of(submission, sources)):
        _copy(Path(submission.root) / item.path, root / item.path, item.path)
    return _with_launchers(SourceTree(root, chosen))


def files_of(submission: Submission, sources: OperatorSources) -> tuple[SubmissionFile, ...]:
    """The files that an operator is built from: its units, the units outside all operators, and headers."""
    known = (sources, *submission.operators)
    candidates = [item for item in submission.files if not any(one.leaves_out(item.path) for one in known) and _belongs(item.path, sources)]
    own = _operator_folder(sources)
    foreign = {item.path for item in candidates if _is_foreign(PurePosixPath(item.path), own)}
    return tuple(item for item in candidates if item.path not in foreign - _included(Path(submission.root), [item.path for item in candidates], foreign))


def _included(root: Path, paths: Sequence[str], foreign: set[str]) -> set[str]:
    """Of the foreign headers those that some file may include, itself or through others: by their names, or all where names alone don't show it."""
    waiting, found = [path for path in paths if path not in foreign], set[str]()
    while waiting:
        data = (root / waiting.pop()).read_bytes()
        if _ODD_INCLUDE.search(data):
            return foreign
        names = {PurePosixPath(name.decode(errors="surrogateescape")).name for name in _INCLUDED.findall(data)}
        added = {path for path in foreign - found if PurePosixPath(path).name in names}
        found |= added
        waiting += added
    return found


def _with_launchers(tree: SourceTree) -> SourceTree:
    """The same with the functions and headers that a kernel-launch project generates, for the kernels that are launched by them."""
    launched = {item.path: launched_by_name(tree.text(item.path)) for item in tree.files}
    wanted = {name for names in launched.values() for name in names}
    if not wanted:
        return tree
    files = {item.path: item for item in tree.files}
    found: dict[str, Launcher] = {}
    for path in [item.path for item in tree.files if item.path.endswith(_UNITS)]:
        launchers = find_launchers(tree.text(path), wanted)
        found.update({launcher.kernel: launcher for launcher in launchers})
        if launchers:
            files[path] = _written(tree.root, path, tree.text(path) + "".join(launcher.definition() for launcher in launchers))
    for name in sorted(wanted):
        text = found[name].declaration() if name in found else missing_header(name)
        files.setdefault(f"aclrtlaunch_{name}.h", _written(tree.root, f"aclrtlaunch_{name}.h", text))
    declared = {path: tuple(f"aclrtlaunch_{name}.h" for name in sorted(names) if name in found and found[name].is_plain) for path, names in launched.items()}
    return SourceTree(tree.root, tuple(files[path] for path in sorted(files)), declared)


def _written(root: Path, path: str, text: str) -> SubmissionFile:
    data = text.encode("utf-8", errors="surrogateescape")
    (root / path).write_bytes(data)
    return SubmissionFile(path=path, sha256=digest_bytes(data), size_bytes=len(data))


def _belongs(path: str, sources: OperatorSources) -> bool:
    if path.endswith(_HEADERS):
        return True
    return path.endswith(_UNITS) and not _is_foreign(PurePosixPath(path), _operator_folder(sources))


def _operator_folder(sources: OperatorSources) -> PurePosixPath | None:
    """The folder of one operator: above op_kernel, op_plugin or the name of an architecture, else that of its source."""
    units = [*sources.kernels, *sources.plugins]
    folder = PurePosixPath(units[0]).parent if units else None
    return folder.parent if folder and (folder.name in ("op_kernel", "op_plugin") or folder.name.startswith("dav-")) else folder


def _is_foreign(path: PurePosixPath, own: PurePosixPath | None) -> bool:
    """A unit in the folder of another operator."""
    return own is not None and own.parent in path.parents and own not in path.parents and path.parent != own.parent


def _copy(source: Path, target: Path, name: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    text = source.read_bytes().decode("utf-8", errors="surrogateescape")
    target.write_bytes(rewrite(text, name).encode("utf-8", errors="surrogateescape"))


def add_files(tree: SourceTree, texts: Mapping[str, str]) -> SourceTree:
    """The same tree with generated files."""
    files = {item.path: item for item in tree.files}
    files.update({path: _written(tree.root, path, text) for path, text in texts.items()})
    return SourceTree(tree.root, tuple(files[path] for path in sorted(files)), tree.declared)


def alone(tree: SourceTree, path: str) -> SourceTree:
    """The tree as a generated file sees it that includes nothing of the submission: what is made of it stays the same when the rest changes."""
    return SourceTree(tree.root, tuple(item for item in tree.files if item.path == path))


def device_tree(tree: SourceTree, unit: str, cut_texts: Mapping[str, str], root: Path) -> SourceTree:
    """A copy for the device pass of `unit` under `root`: files of `cut_texts` with that text, all headers besides as they are."""
    files: list[SubmissionFile] = []
    for item in tree.files:
        if item.path != unit and not item.path.endswith(_HEADERS):
            continue
        data = cut_texts[item.path].encode("utf-8", errors="surrogateescape") if item.path in cut_texts else Path(tree.path(item.path)).read_bytes()
        target = root / item.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        files.append(SubmissionFile(path=item.path, sha256=digest_bytes(data), size_bytes=len(data)))
    return SourceTree(root, tuple(files))
