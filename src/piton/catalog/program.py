"""Programs: a source file with `main()` and the folder around it, copied twice: the sources, which never change, and a working directory.

The working directory holds everything of the folder, data files included, and belongs to the program while it runs; what it wrote is found afterwards by
comparing with the state before.
"""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NoReturn

from piton.catalog.submission import MAX_FILES, MAX_TOTAL_BYTES, is_skipped, list_files, open_inside, read_inside
from piton.core.canonical import digest_bytes
from piton.core.errors import UsageError
from piton.core.submission import Manifest, Submission, SubmissionFile

UNITS = (".asc", ".cpp", ".cc", ".cxx")
"""How the name of a program's source ends."""
_SOURCES = (*UNITS, ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".ipp", ".tpp", ".c", ".cce")
MAX_WORK_BYTES = 1 << 30
"""Of a working directory before the run, and of what is brought from it afterwards."""

Stamp = tuple[int, int, int]
"""Inode, size and time of the last change: differs when a file was written."""


@dataclass(frozen=True)
class Program:
    """A program as it was found."""

    submission: Submission
    """The immutable copy of its sources."""
    main: str
    """The file that was named, inside the folder."""
    others: tuple[str, ...]
    """Further sources to compile."""


def read_program(main: Path, folder: Path | None, others: tuple[str, ...], store: Path) -> Program:
    """Copy the sources of the program `main` to `store`. `folder` is what belongs to it, by default the folder it lies in.

    Raises UsageError for a file that is not there or no source, for one outside `folder`, for links that leave it, and above the bounds.
    """
    _check_unit(main)
    root = (folder or main.parent).expanduser().resolve()
    if not root.is_dir():
        raise UsageError("no such folder", where=str(folder), action="give the folder of the program with --folder")
    names = [name for name in list_files(root) if name.endswith(_SOURCES)]
    files = _copy_sources(root, names, store)
    submission = Submission(root=str(store), manifest=Manifest(), files=files)
    return Program(submission, _inside(main, root), tuple(_inside(_existing(other, root), root) for other in others))


def make_work_dir(program_folder: Path, work: Path) -> dict[str, Stamp]:
    """Copy everything of the folder to `work`, which nobody but its owner may enter; the stamps of the copies. Raises UsageError above the bounds."""
    work.mkdir(exist_ok=True)
    work.chmod(0o700)
    root = program_folder.resolve()
    total = 0
    for name in list_files(root):
        target = work / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with open_inside(root, name) as source, target.open("wb") as copy:
            total += os.fstat(source.fileno()).st_size
            if total > MAX_WORK_BYTES:
                _refuse_size(root)
            shutil.copyfileobj(source, copy)
            os.fchmod(copy.fileno(), 0o666)  # the program writes over its files, under a user of its own
    for folder, names, _ in os.walk(root):
        names[:] = [name for name in names if not is_skipped(name)]
        (work / Path(folder).relative_to(root)).mkdir(exist_ok=True)  # an empty one too: programs write into folders that have to be there
    return stamps(work)


def _refuse_size(root: Path) -> NoReturn:
    expected = f"at most {MAX_WORK_BYTES >> 20} MiB with its data files"
    raise UsageError("the program's folder is too large to copy", expected=expected, where=str(root), action="give the program a folder of its own")


def stamps(work: Path) -> dict[str, Stamp]:
    """Every plain file below `work`, by path; links are not followed and not listed."""
    found: dict[str, Stamp] = {}
    for folder, _, names in os.walk(work):
        for name in names:
            path = Path(folder) / name
            state = path.lstat()
            if stat.S_ISREG(state.st_mode):
                found[path.relative_to(work).as_posix()] = (state.st_ino, state.st_size, state.st_mtime_ns)
    return found


def written(before: dict[str, Stamp], work: Path) -> list[str]:
    """Paths of files that are new or changed, in order."""
    return sorted(name for name, stamp in stamps(work).items() if before.get(name) != stamp)


def bring(work: Path, names: list[str], out: Path) -> list[str]:
    """Copy files of a working directory to `out`; those that did not fit MAX_WORK_BYTES or MAX_FILES. Raises OSError when `out` cannot be written to."""
    left_out: list[str] = []
    total = 0
    for index, name in enumerate(names):
        total += (work / name).lstat().st_size
        if index >= MAX_FILES or total > MAX_WORK_BYTES:
            left_out.append(name)
            continue
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(work / name, target, follow_symlinks=False)
    return left_out


def _check_unit(main: Path) -> None:
    if not main.is_file():
        found = "a folder" if main.is_dir() else "nothing there"
        raise UsageError("no program", expected=f"a source file ({', '.join(UNITS)})", found=found, where=str(main), action="give the file that has main()")
    if not main.name.endswith(UNITS):
        raise UsageError("not a source file", expected=f"a name that ends in {', '.join(UNITS)}", found=main.name, action="give the file that has main()")


def _existing(name: str, root: Path) -> Path:
    """A further source, as a path from here or from the program's folder."""
    for path in (Path(name), root / name):
        if path.is_file():
            _check_unit(path)
            return path
    raise UsageError("no such source", where=name, action="check --source; paths are from here or from the program's folder")


def _inside(path: Path, root: Path) -> str:
    real = path.expanduser().resolve()
    if not real.is_relative_to(root):
        raise UsageError(
            "a source lies outside the program's folder", where=str(path), found=str(root), action="give a folder that holds all of them with --folder"
        )
    return real.relative_to(root).as_posix()


def _copy_sources(root: Path, names: list[str], store: Path) -> tuple[SubmissionFile, ...]:
    files: list[SubmissionFile] = []
    total = 0
    for name in names:
        data = read_inside(root, name, MAX_TOTAL_BYTES - total)
        total += len(data)
        target = store / PurePosixPath(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        files.append(SubmissionFile(path=name, sha256=digest_bytes(data), size_bytes=len(data)))
    return tuple(sorted(files, key=lambda item: item.path))
