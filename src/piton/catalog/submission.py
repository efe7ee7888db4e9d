"""Submissions: a folder of sources, or one single-source file, copied into a store before anything reads it.

Layouts are in layout.py; beside the sources may be `<package>/__init__.py`, `csrc/extension.cpp`, `piton.yaml` and `submission.toml` (method.py). The copy is
named by the digest of what it holds, its files are read-only, and nothing in it is run here.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn

from pydantic import Field

from piton.catalog import method
from piton.catalog.layout import KERNEL_SUFFIXES, find_operators, find_package, find_python, find_track, other_archs
from piton.catalog.source import Form, check_form, read_yaml
from piton.core.canonical import digest_bytes
from piton.core.errors import EvaluatorError, UsageError
from piton.core.submission import Manifest, Submission, SubmissionFile

MAX_FILES = 2_000
"""Far above what sources need; the official example has 30."""
MAX_TOTAL_BYTES = 64 * 2**20
MAX_DEPTH = 32
"""Folders inside one another; the official example has 5."""
MAX_NAME_BYTES = 200
"""Of a file's or folder's name: names are made from it, and file systems end at 255."""
MANIFEST_NAME = "piton.yaml"

_SKIPPED_FOLDERS = {".git", ".hg", ".svn", ".idea", ".vscode", ".venv", "venv", "build", "dist", "node_modules", "runs", "__pycache__"}
_SKIPPED_SUFFIXES = ("_cache", ".egg-info")
_SKIPPED_FILES = (".pyc", ".pyo")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n\0]+)"', re.MULTILINE)
_BINARY_SUFFIXES = (".so", ".o", ".a", ".bin", ".obj", ".dylib", ".dll", ".pyd", ".ko", ".whl")
_BINARY_HEADS = (b"\x7fELF", b"!<arch>\n", b"PK\x03\x04", b"MZ\x90\x00")


class ManifestForm(Form):
    """piton.yaml of a submission; every key is optional."""

    name: str = Field(default="", max_length=200)
    track: str = Field(default="", max_length=40)
    package: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    auto_sync: bool = True


def read_submission(path: str | Path, store_dir: str | Path) -> Submission:
    """Copy the submission in folder `path`, or the single-source file `path` with what it includes, to `store_dir/<digest>` and describe the copy.

    Left out: version control, build folders, caches, virtual environments. Raises UsageError for a folder that is no submission, for links that leave it,
    for anything but plain files, and above MAX_FILES or MAX_TOTAL_BYTES; FormatError for a wrong piton.yaml.
    """
    root = Path(path).expanduser()
    only = _single_file(root)
    if only is not None:
        root = root.parent
    elif not root.is_dir():
        found = "a file of another kind" if root.exists() else "nothing there"
        expected = f"a folder, or a file that ends in {' or '.join(KERNEL_SUFFIXES)}"
        raise UsageError("no submission", expected=expected, found=found, where=str(path), action="give the folder that holds csrc/, or one source file")
    store = Path(store_dir)
    store.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix="incoming-", dir=store))
    try:
        files = _copy_tree(root.resolve(), staging, only)
        return _keep(_describe(staging, files, root), staging, store)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def list_binaries(submission: Submission) -> tuple[str, ...]:
    """Paths of files that are not source: compiled or packed, by their name or their first bytes."""
    root = Path(submission.root)
    return tuple(item.path for item in submission.files if item.path.lower().endswith(_BINARY_SUFFIXES) or _has_binary_head(root / item.path))


def _has_binary_head(path: Path) -> bool:
    with path.open("rb") as stream:
        head = stream.read(8192)
    return head.startswith(_BINARY_HEADS) or b"\0" in head


def list_files(root: Path) -> Iterator[str]:
    """Paths of what belongs to the sources below `root`, a resolved folder. Raises UsageError above the bounds and for names that cannot be shown."""
    for count, relative in enumerate(_walk(root, root)):
        if count == MAX_FILES:
            _refuse(root, "too many files", f"at most {MAX_FILES}", "more")
        yield relative


def _single_file(path: Path) -> list[str] | None:
    """The source file `path` and every file that it includes in quotes, as paths below its folder; None when it is no source file."""
    if not path.is_file() or not path.name.endswith(KERNEL_SUFFIXES):
        return None
    root = path.parent.resolve()
    found = [path.name]
    for name in found:  # grows while it is walked
        text = read_inside(root, name)
        for match in _INCLUDE.finditer(text):
            included = os.path.normpath(os.path.join(os.path.dirname(name), os.fsdecode(match[1])))
            if included not in found and not included.startswith("..") and (root / included).is_file() and len(found) < MAX_FILES:
                found.append(included)
    return found


def _copy_tree(root: Path, staging: Path, only: list[str] | None) -> tuple[SubmissionFile, ...]:
    files: list[SubmissionFile] = []
    total = 0
    for relative in only or list_files(root):
        data = read_inside(root, relative, MAX_TOTAL_BYTES - total)
        total += len(data)
        _write(staging / relative, data)
        files.append(SubmissionFile(path=relative, sha256=digest_bytes(data), size_bytes=len(data)))
    return tuple(sorted(files, key=lambda item: item.path))


def _walk(root: Path, folder: Path, depth: int = 0) -> Iterator[str]:
    if depth > MAX_DEPTH:
        _refuse(folder, "folders too deep inside one another", f"at most {MAX_DEPTH}", "more")
    for entry in os.scandir(folder):
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            if not is_skipped(entry.name):
                yield from _walk(root, path, depth + 1)
        elif not entry.name.endswith(_SKIPPED_FILES):
            relative = path.relative_to(root).as_posix()
            _check_name(root, relative)
            yield relative


def _check_name(root: Path, relative: str) -> None:
    """A path is shown to people, written into reports and given to a compiler: nothing in it may act there."""
    if not relative.isprintable() or any(sign in relative for sign in '"\\'):
        _refuse(root, "a file's name that cannot be shown", "printable UTF-8 without quotes and backslashes", ascii(relative))
    if max(len(part.encode()) for part in relative.split("/")) > MAX_NAME_BYTES:
        _refuse(root, "a file's name is too long", f"at most {MAX_NAME_BYTES} bytes", relative)


def is_skipped(name: str) -> bool:
    """Is a folder of this name left out: version control, build products, caches?"""
    return name in _SKIPPED_FOLDERS or name.endswith(_SKIPPED_SUFFIXES)


def read_inside(root: Path, relative: str, limit: int = MAX_TOTAL_BYTES) -> bytes:
    """Bytes of one plain file below `root`; a link counts as the file it names when that lies inside the tree.

    Raises UsageError for a link that leaves the tree, for anything but a plain file, and for a file of more than `limit` bytes.
    """
    with open_inside(root, relative) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        _refuse(root, "submission too large", f"at most {MAX_TOTAL_BYTES} bytes", f"more, up to {relative}")
    return data


def open_inside(root: Path, relative: str) -> BinaryIO:
    """The same file, opened."""
    path = root / relative
    real = Path(os.path.realpath(path))  # Path.resolve raises for a link to itself; here opening it fails
    if not real.is_relative_to(root):
        _refuse(path, "a link that leaves the submission", "links to files inside it", str(real))
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # a pipe must not block, a link put there meanwhile must not be followed
    except OSError as error:
        raise UsageError("a file cannot be read", found=error.strerror or "", where=str(path), action="remove it or correct its permissions") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        _refuse(path, "not a plain file", "files and folders", "a folder behind a link, a pipe, a socket or a device")
    return open(descriptor, "rb")


def _refuse(path: Path, problem: str, expected: str, found: str) -> NoReturn:
    raise UsageError(problem, expected=expected, found=found, where=str(path), action="remove what does not belong to the sources")


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o444)


def _describe(staging: Path, files: tuple[SubmissionFile, ...], root: Path) -> Submission:
    names = [item.path for item in files]
    form = _manifest(staging, root) if MANIFEST_NAME in names else ManifestForm()
    operators = find_python(names) if form.track == "python" else find_operators(names)
    package = form.package or find_package(names, staging, operators)
    manifest = Manifest(name=form.name, track=form.track or find_track(staging, operators), package=package, auto_sync=form.auto_sync)
    if not operators and MANIFEST_NAME not in names and f"{package}/__init__.py" not in names:
        raise UsageError(
            "no submission in this folder",
            expected=f"csrc/ops/<operator>/op_kernel/*.cpp and {package}/__init__.py, <operator>.asc, or a {MANIFEST_NAME}",
            found=", ".join(sorted({name.split("/")[0] for name in names})[:8]) or "an empty folder",
            where=str(root),
            action="give the folder that holds csrc/",
        )
    about, reporting = method.read_submission_toml(staging / method.FILE_NAME, str(root / method.FILE_NAME)) if method.FILE_NAME in names else (None, None)
    notes = other_archs(names)
    return Submission(root=str(staging), manifest=manifest, files=files, operators=operators, notes=notes, method=about, reporting=reporting)


def _manifest(staging: Path, root: Path) -> ManifestForm:
    return check_form(ManifestForm, read_yaml(staging / MANIFEST_NAME, str(root / MANIFEST_NAME)), is_strict=True)


def _keep(submission: Submission, staging: Path, store: Path) -> Submission:
    """Give the copy its name; an equal one that is already there is checked and used."""
    place = store / submission.digest()
    if not place.exists():
        try:
            staging.rename(place)
        except OSError:  # another process put the same submission there first
            if not place.is_dir():
                raise
    kept = submission.model_copy(update={"root": str(place.resolve())})
    _verify(kept)
    return kept


def _verify(submission: Submission) -> None:
    root = Path(submission.root)
    present = {path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir()}
    if present != {item.path for item in submission.files} or any(digest_bytes((root / item.path).read_bytes()) != item.sha256 for item in submission.files):
        raise EvaluatorError(
            "the stored copy of a submission was changed", expected="the files it was named after", where=str(root), action="delete that folder"
        )
