"""The file of a run on its disk: opening, the lock of the one that writes, and what a disk or damage does, as one clear error each."""

from __future__ import annotations

import fcntl
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from piton.agent.reading import open_for_reading
from piton.core.errors import FormatError, PitonError, TargetUnavailableError, UsageError


def connected(path: Path) -> sqlite3.Connection:
    """The file for writing: in WAL mode, on disk when a transaction ends."""
    connection = sqlite3.connect(path, timeout=30.0, check_same_thread=False, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def holds_something(path: Path) -> bool:
    """False for a file without tables: of a run whose process was killed, or met a full disk, before it began."""
    try:
        connection = open_for_reading(path)
    except sqlite3.Error:
        return True
    try:
        return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    finally:
        connection.close()


def locked(folder: Path) -> TextIO:
    """The lock of the one process that writes; the system gives it back when the process ends. Raises UsageError when another one has it."""
    file = (folder / "run.lock").open("a", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise UsageError("another process works on this run", where=str(folder), expected="one at a time", action="wait for it, or end it") from error
    return file


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """What a damaged file holds, as one clear error."""
    try:
        yield
    except PitonError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, zlib.error) as error:
        found = f"{type(error).__name__}: {error}"
        raise FormatError("the run's file is damaged", where=str(path), expected="what Piton wrote", found=found, action="take a copy of it") from error


@contextmanager
def told(path: Path) -> Iterator[None]:
    """What the disk or the file refuses, as one clear error."""
    try:
        yield
    except PitonError:
        raise
    except (OSError, sqlite3.Error) as error:
        raise TargetUnavailableError("the run's file cannot be used", where=str(path), found=str(error), action="make room, or check the folder") from error
