"""Submissions on the wire: a folder as tar.gz, packed the same way every time, and unpacked as what a stranger sent.

Problem: an archive can name files outside its folder, bring links and devices, hold a name twice, or unpack to far more than was sent.
Approach: the stream is unpacked by hand, member by member, with a bound on the bytes that leave the decompressor; only plain files and folders are made, under
names that are checked part by part, and no file is ever opened that exists. Mode, owner and times of the archive are ignored.
Limits: what lies inside is looked at afterwards, by `read_submission`, as for a folder on disk.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import tempfile
import zlib
from pathlib import Path
from typing import IO, NoReturn, cast

from piton.catalog import read_submission
from piton.catalog.submission import MAX_DEPTH, MAX_FILES, MAX_NAME_BYTES
from piton.core.errors import UsageError
from piton.server.settings import UploadLimits

_CHUNK = 1 << 16
_MOST_PATH_BYTES = 2048
"""Half of what Linux takes (PATH_MAX), so that there is room for the server's own folders before it."""
_KINDS = {tarfile.LNKTYPE: "a hard link", tarfile.SYMTYPE: "a link", tarfile.CHRTYPE: "a device", tarfile.BLKTYPE: "a device", tarfile.FIFOTYPE: "a pipe"}


def pack_submission(path: str | Path) -> bytes:
    """The submission in a folder or single source file as tar.gz; equal content gives equal bytes. Raises UsageError for what is no submission."""
    with tempfile.TemporaryDirectory(prefix="piton-pack-") as store:
        submission = read_submission(path, store)
        packed = io.BytesIO()
        with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as squeezed, tarfile.open(fileobj=squeezed, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for item in submission.files:
                member = tarfile.TarInfo(item.path)  # mode, owner and time are those of the class: nothing of this machine travels
                member.size = item.size_bytes
                with open(Path(submission.root) / item.path, "rb") as source:
                    archive.addfile(member, source)
        return packed.getvalue()


def unpack_submission(packed: IO[bytes], folder: Path, limits: UploadLimits) -> None:
    """Unpack a tar.gz into the empty `folder`. Raises UsageError for anything but plain files and folders inside it, and above the limits."""
    try:
        with (
            gzip.GzipFile(fileobj=packed, mode="rb") as squeezed,
            tarfile.open(fileobj=cast(IO[bytes], _Bounded(squeezed, limits.unpacked_bytes)), mode="r|") as archive,
        ):
            for count, member in enumerate(archive):
                if count >= 2 * MAX_FILES:  # folders count as well
                    _refuse("too many files in the archive", f"at most {MAX_FILES}", "more")
                _unpack(archive, member, folder)
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError, OverflowError, RecursionError) as error:  # the last three: broken headers
        _refuse("the upload can't be read", "a tar archive, compressed with gzip", str(error))


class _Bounded:
    """A stream to read from that ends with an error instead of giving more than it may."""

    def __init__(self, source: gzip.GzipFile, most_bytes: int) -> None:
        self._source = source
        self._left = most_bytes

    def read(self, size: int = -1) -> bytes:
        """At most a chunk: a bomb never lies in memory whole."""
        data = self._source.read(_CHUNK if size < 0 else min(size, _CHUNK))
        self._left -= len(data)
        if self._left < 0:
            _refuse("the upload unpacks to too much", "at most the bytes that the server allows", "more")
        return data


def _unpack(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    path = folder.joinpath(*_parts(member.name))
    if member.isdir():
        _make_folder(path, member.name)
        return
    source = archive.extractfile(member) if member.isreg() and not member.issparse() else None
    if source is None:
        _refuse("the archive holds something else than files and folders", "plain files", f"{_KINDS.get(member.type, 'another kind')}: {member.name!a}")
    _make_folder(path.parent, member.name)
    try:
        with open(path, "xb") as target:
            while data := source.read(_CHUNK):
                target.write(data)
    except (FileExistsError, IsADirectoryError):
        _refuse("the archive holds a name twice", "every file once", ascii(member.name))


def _make_folder(path: Path, name: str) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        _refuse("the archive holds a name twice", "a file or a folder", ascii(name))


def _parts(name: str) -> list[str]:
    """Parts of a member's path. Raises UsageError for one that leaves the folder or that no submission may have."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name:
        _refuse("the archive names a file outside its folder", "relative paths without ..", ascii(name))
    sizes = [len(part.encode(errors="surrogateescape")) for part in parts]
    if len(parts) > MAX_DEPTH or any(size > MAX_NAME_BYTES for size in sizes) or sum(sizes) + len(sizes) > _MOST_PATH_BYTES:
        expected = f"at most {MAX_DEPTH} folders, {MAX_NAME_BYTES} bytes each, {_MOST_PATH_BYTES} in all"
        _refuse("a name in the archive is too long", expected, ascii(name[:MAX_NAME_BYTES]))
    return parts


def _refuse(problem: str, expected: str, found: str) -> NoReturn:
    raise UsageError(problem, expected=expected, found=found, action="pack the submission's folder with `tar czf`, or send it with piton.server.client")
