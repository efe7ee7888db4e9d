"""Parcels: folders named by their content, sent to a machine once and kept there for later runs."""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from piton.core.canonical import digest, digest_bytes
from piton.core.errors import EvaluatorError, UsageError

MAX_FILES = 20_000
"""The published suite has some hundreds of files; a folder with more than this is no suite."""
MAX_BYTES = 1 << 30
"""A parcel is held in memory by the driver and once by each machine."""
_KEPT_S = 30 * 86_400.0
"""Parcels that no run has asked for in this time are removed: far longer than a run takes, so that none loses its own."""


@dataclass(frozen=True)
class Parcel:
    """The files of a folder."""

    digest: str
    """Of their paths and contents."""
    data: bytes
    """A zip archive of them."""


def pack(root: Path, names: Iterable[str]) -> Parcel:
    """The files `names` (POSIX paths below `root`), links followed. Raises UsageError above MAX_FILES or MAX_BYTES."""
    buffer, total = io.BytesIO(), 0
    listed: list[tuple[str, str]] = []
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in sorted(set(names)):
            data = (root / name).read_bytes()
            total += len(data)
            if len(listed) >= MAX_FILES or total > MAX_BYTES:
                expected = f"at most {MAX_FILES} files and {MAX_BYTES >> 20} MiB"
                action = "leave what does not belong to the suite out of that folder"
                raise UsageError("the folder is too large to be sent to other machines", where=str(root), expected=expected, action=action)
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=zipfile.ZIP_DEFLATED)
            listed.append((name, digest_bytes(data)))
    return Parcel(digest(listed), buffer.getvalue())


def list_tree(root: Path) -> Iterator[str]:
    """POSIX paths of the files below `root`, without what begins with a dot and without caches of Python."""
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        for name in names:
            path = Path(place, name)
            if path.is_file() and not name.startswith("."):
                yield path.relative_to(root).as_posix()


def unpack(wanted: str, store: Path, fetch: Callable[[], bytes]) -> Path:
    """The folder `store/<wanted>` with the files of that parcel; `fetch` is called when it is not there whole, once for all processes of a machine.

    Raises EvaluatorError when what was fetched is another parcel.
    """
    store.mkdir(parents=True, exist_ok=True)
    place = store / wanted
    with locked(store / ".lock"):
        if not _is_whole(place, wanted):
            shutil.rmtree(place, ignore_errors=True)
            _extract(fetch(), place, wanted)
        os.utime(place)
        _sweep(store, keep=wanted)  # still locked: another process may be about to take an old one
    return place


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path` against other processes of this machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _is_whole(place: Path, wanted: str) -> bool:
    return place.is_dir() and _tree_digest(place) == wanted


def _tree_digest(place: Path) -> str:
    names = sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file())
    return digest([(name, digest_bytes((place / name).read_bytes())) for name in names])


def _extract(data: bytes, place: Path, wanted: str) -> None:
    staging = Path(tempfile.mkdtemp(dir=place.parent, prefix="new-"))
    try:
        staging.chmod(0o755)  # jobs of a sandbox are another user
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            archive.extractall(staging)
        for path in staging.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o444)
        if _tree_digest(staging) != wanted:
            raise EvaluatorError("what was sent is not what was announced", expected=wanted, found=_tree_digest(staging))
        staging.rename(place)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _sweep(store: Path, keep: str) -> None:
    """Remove parcels that nobody has asked for in a long time, and what a killed process left half made."""
    for path in store.iterdir():
        if path.is_dir() and path.name != keep and _age_s(path) > _KEPT_S:
            shutil.rmtree(path, ignore_errors=True)


def _age_s(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
