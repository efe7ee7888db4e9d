"""A file of records that only grows: what journals are made of.

Problem: a run may be killed, lose its power or fill its disk at any moment. What it had finished must be found again, what it had not must not, and damage
must not pass for a result.
Approach: one line of JSON per record, with its number and a CRC-32 over number and content, handed to the system by one write. A last line that is torn
(no end, or zeros of blocks that never reached the disk) is cut off; any other that is damaged, missing or doubled is an error that names it.
Policy of syncing: the first line at once, with its folder; every further one by a thread of its own, at most `syncs.SYNC_S` after it was appended, so that no
append waits for the disk (an fsync takes longer than a tiny case). So a kill costs nothing that was appended, a power cut what was appended in
the last second. Room for `_AHEAD_BYTES` more is taken before it is needed: once the disk is full the records in hand still go in, and then there is one error.
Limits: the number of records is that of lines that fit the memory; one writer at a time (a lock on the file, which dies with its process).
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal

from piton.core.errors import FormatError, StorageError, UsageError
from piton.evaluate.room import give_back, take_room
from piton.evaluate.syncs import Syncs, sync_folder

Record = dict[str, object]
"""One line: JSON types only, at least one field."""
_AHEAD_BYTES = 1 << 20
"""Room taken ahead of the end: some hundred results of cases, more than are ever in hand at once."""
_LINE = re.compile(rb'\{"line":(\d{1,12}),"crc32":"([0-9a-f]{8})",(.+)\}', re.DOTALL)


class DamagedLineError(FormatError):
    """A line that is damaged, missing or doubled, with intact ones after it; or a file that is none of ours."""


def open_locked(path: Path) -> BinaryIO:
    """A file to append to, for this process alone. Raises UsageError when another one has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = open(path, "a+b")  # noqa: SIM115 - the caller owns it until it closes it
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise UsageError(
            "another run is using this folder", where=str(path.parent), action="wait for it, or choose another folder with --out (piton serve: --state)"
        ) from None
    return file


def whole_lines(file: BinaryIO) -> list[bytes]:
    """All complete lines of a file without checksums; a torn last one (the writer was killed) is cut off."""
    file.seek(0)
    data = file.read()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        file.truncate(end)
    return data[:end].splitlines()


def line_of(number: int, record: Record) -> bytes:
    """The record as a line of the file."""
    body = json.dumps(record, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()[1:-1]
    return b'{"line":%d,"crc32":"%08x",%b}\n' % (number, _sum(number, body), body)


def _is_torn(line: bytes) -> bool:
    """True for what a kill or a power cut leaves: a line without an end, or with blocks that never reached the disk and read as zeros."""
    return not line.endswith(b"\n") or b"\0" in line


def _sum(number: int, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(b"%d" % number))


def _read_line(line: bytes) -> tuple[int, bytes] | None:
    """Number and fields of an intact line; None for anything else."""
    match = _LINE.fullmatch(line)
    if match is None or _sum(int(match[1]), match[3]) != int(match[2], 16):
        return None
    return int(match[1]), b"{" + match[3] + b"}"


@dataclass
class _Read:
    """What a file holds."""

    records: list[Record]
    size: int
    """Bytes up to the end of the last intact line."""
    cut: int
    """Bytes after it."""


@dataclass(frozen=True)
class Kind:
    """What a file is for."""

    head: Record
    """Its first record."""
    check: Callable[[Path, Record], None]
    """Raises for the head of a file that is not to be gone on with, which is then left as it is."""
    anew: str = "start again without --resume"
    """What to do to start without the file."""
    again: str = "go on with --resume"
    """What to do to go on with it."""


class LineFile:
    """One file, locked; its first record says what it is about."""

    def __init__(self, path: Path, kind: Kind, *, is_kept: bool) -> None:
        """Open `path`; with `is_kept` its records are in `records`, otherwise it is begun anew.

        Raises UsageError for a file in use, DamagedLineError, StorageError when it can't be written, and what the kind's check raises.
        """
        self.path = path
        self._kind = kind
        self.records: list[Record] = []
        """Found when it was opened, without the head."""
        self.remark = ""
        """What a person should know about what was found; empty for nothing."""
        self._lock = threading.Lock()
        self._file = open_locked(path)
        self._count = self._size = self._room = 0
        self._full: OSError | None = None
        self._is_broken = False
        self._syncs = Syncs(self._file.fileno())
        try:
            found = self._take_up() if is_kept else None
            self._begin() if found is None else self._go_on(found)
        except BaseException:
            self._syncs.end()
            self._file.close()
            raise

    def append(self, record: Record) -> None:
        """Add a record: on return it outlives this process, and within `syncs.SYNC_S` it is on the disk.

        Raises StorageError when the disk is full or broken. `is_kept` of the error says whether the record is in the file nonetheless.
        """
        with self._lock:
            self._write(record)
        self._check_room()
        if self._syncs.error is not None:
            raise self._error(self._syncs.error, is_kept=True)

    def sync(self) -> None:
        """Wait until everything is on the disk. Raises StorageError."""
        try:
            self._syncs.sync()
        except OSError as error:
            raise self._error(error, is_kept=True) from error

    def close(self) -> None:
        """Sync, close, release the lock; safe to call twice. Raises StorageError when what was appended did not reach the disk."""
        with self._lock:
            if self._file.closed:
                return
            try:
                self._syncs.close()
                give_back(self._file.fileno(), self._size)
            except OSError as error:
                raise self._error(error, is_kept=True) from error
            finally:
                self._file.close()

    def __enter__(self) -> LineFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        close_after(self.close, error)

    def _begin(self) -> None:
        self._file.truncate(0)
        self._write(self._kind.head)
        self._check_room()
        self.sync()
        sync_folder(self.path.parent)

    def _go_on(self, found: _Read) -> None:
        give_back(self._file.fileno(), found.size)  # what a killed run had taken ahead goes too
        self._size, self._count, self.records = found.size, len(found.records), found.records[1:]
        self._take_room(0)
        self._check_room()
        if found.cut:
            self.sync()
            self.remark = f"{self.path}: the last line was cut short and is dropped ({found.cut} bytes); what it was about is done again"

    def _take_up(self) -> _Read | None:
        """What the file holds; None when not even its head is whole."""
        found = _Read([], 0, 0)
        for number, line in enumerate(self._lines(), start=1):
            read = _read_line(line.removesuffix(b"\n")) if line.endswith(b"\n") else None
            if read is None and _is_torn(line):
                found.cut += len(line)
            elif read is None or found.cut or read[0] != number:
                raise self._damaged(len(found.records) + 1, read)
            else:
                found.records.append(json.loads(read[1]))
                found.size += len(line)
                if number == 1:
                    self._kind.check(self.path, found.records[0])
        return found if found.records else None

    def _lines(self) -> Iterator[bytes]:
        self._file.seek(0)
        return iter(self._file)

    def _damaged(self, number: int, read: tuple[int, bytes] | None) -> DamagedLineError:
        if number == 1:
            return DamagedLineError("this file is none of Piton's, or of another form", where=f"{self.path}:1", action=self._kind.anew)
        found = "no line of ours" if read is None else f"line {read[0]}"
        copy = f"head -n {number - 1} {self.path} > {self.path}.part && mv {self.path}.part {self.path}"
        action = f"keep what comes before it and do the rest again: {copy}"
        return DamagedLineError("a line of the file is damaged or missing", where=f"{self.path}:{number}", found=found, action=action)

    def _write(self, record: Record) -> None:
        if self._is_broken:
            raise self._error(OSError("an earlier line could not be taken back"), is_kept=False)
        line = line_of(self._count + 1, record)
        self._take_room(len(line))
        try:
            _write_all(self._file.fileno(), line)
        except OSError as error:
            self._take_back()
            self._full = self._full or error  # further records that are in hand may still fit, but the run is over
            raise self._error(error, is_kept=False) from error
        self._count, self._size = self._count + 1, self._size + len(line)
        self._syncs.tell()

    def _take_room(self, nbytes: int) -> None:
        """Stay `_AHEAD_BYTES` ahead. A disk that has no more room is remembered: this line goes into what was taken before, and is the last one."""
        if self._full is not None or self._size + nbytes + _AHEAD_BYTES // 2 < self._room:
            return
        try:
            wanted = nbytes + _AHEAD_BYTES
            self._room = self._size + wanted if take_room(self._file.fileno(), self._size, wanted) else 1 << 62
        except OSError as error:
            self._full = error

    def _check_room(self) -> None:
        if self._full is not None:
            raise self._error(self._full, is_kept=True)

    def _take_back(self) -> None:
        """Remove the part of a line that was written."""
        try:
            os.ftruncate(self._file.fileno(), self._size)
        except OSError:
            self._is_broken = True  # a further line would follow half a one

    def _error(self, error: OSError, *, is_kept: bool) -> StorageError:
        return StorageError(self.path, error, is_kept=is_kept, action=f"make room there, then {self._kind.again}")


def close_after(close: Callable[[], None], error: BaseException | None) -> Literal[None]:
    """Close at the end of a `with`: an error that is on its way is the cause of one that closing brings, and must not be hidden by it."""
    try:
        close()
    except StorageError:
        if error is None:
            raise


def _write_all(descriptor: int, data: bytes) -> None:
    """Usually one write; a disk that is nearly full takes a part first and refuses the next."""
    while data:
        data = data[os.write(descriptor, data) :]
