"""Journal: append-only, one JSON line per finished case, so that killing a run loses at most the cases in flight (D7)."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from pydantic import ValidationError

from piton.core.canonical import plain
from piton.core.errors import FormatError, UsageError
from piton.core.report import CaseResult

NAME = "journal.jsonl"
_SYNC_S = 1.0
"""Seconds after a sync to disk in which there is no other."""


class OtherEvaluationError(UsageError):
    """A journal that was to be gone on with is that of another evaluation."""


class DamagedJournalError(FormatError):
    """A journal that was to be gone on with is none, or a line of it is damaged."""


class Journal:
    """The journal of one run folder, locked against a second run in the same folder.

    The first line names the evaluation (`identity`); every further line is one case with the `key` of everything that decided it.
    """

    def __init__(self, path: Path, identity: str, *, is_resumed: bool) -> None:
        """Open `path`; with `is_resumed` keep what it holds. Raises UsageError for a journal of another evaluation or one in use."""
        self._lock = threading.Lock()
        self._synced_at = -_SYNC_S
        self._file = open_locked(path)
        try:
            self._done = self._take_up(path, identity) if is_resumed else self._begin(identity)
        except BaseException:
            self._file.close()
            raise

    def find(self, key: str) -> CaseResult | None:
        """The finished result whose key is `key`; voids are never kept, so that they are tried again."""
        return self._done.get(key)

    def append(self, key: str, result: CaseResult) -> None:
        """Add one finished case: on return it outlives this process; a power cut may cost what was added within `_SYNC_S` of the last sync."""
        with self._lock:
            self._write({"key": key, "result": plain(result)})

    def close(self) -> None:
        """Close the file and release the folder."""
        with self._lock:
            if not self._file.closed:
                self._sync()
                self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _begin(self, identity: str) -> dict[str, CaseResult]:
        self._file.truncate(0)
        self._write({"piton_journal": 1, "evaluation": identity})
        return {}

    def _take_up(self, path: Path, identity: str) -> dict[str, CaseResult]:
        lines = whole_lines(self._file)
        if not lines:
            return self._begin(identity)
        _check_header(path, lines[0], identity)
        pairs = [_parse(path, number, line) for number, line in enumerate(lines[1:], start=2)]
        return {key: result for key, result in pairs if not result.void}

    def _write(self, line: object) -> None:
        text = json.dumps(line, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        self._file.write(text.encode() + b"\n")
        self._file.flush()
        if time.monotonic() - self._synced_at > _SYNC_S:  # a sync takes longer than a tiny case
            self._sync()

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced_at = time.monotonic()


def check_unused(path: Path) -> None:
    """Raise UsageError when a run is writing to the journal at `path`; its folder may not be cleared then."""
    if path.exists():
        open_locked(path).close()


def open_locked(path: Path) -> BinaryIO:
    """A file to append to, for this process alone. Raises UsageError when another one has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = open(path, "a+b")  # noqa: SIM115 - the journal owns it until close()
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise UsageError("another run is using this folder", where=str(path.parent), action="wait for it, or choose another folder with --out") from None
    return file


def whole_lines(file: BinaryIO) -> list[bytes]:
    """All complete lines; a torn last one (the run was killed while writing it) is cut off the file."""
    file.seek(0)
    data = file.read()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        file.truncate(end)
    return data[:end].splitlines()


def _check_header(path: Path, line: bytes, identity: str) -> None:
    try:
        header = json.loads(line)
        found = header["evaluation"] if header["piton_journal"] == 1 else None
    except (ValueError, TypeError, KeyError):
        raise DamagedJournalError("this is not a Piton journal", where=f"{path}:1", action="start again without --resume") from None
    if found != identity:
        raise OtherEvaluationError(
            "the journal belongs to another evaluation",
            where=str(path),
            expected="the same submission, suite, target, seed and options",
            action="use the same options, or start again without --resume",
        )


def _parse(path: Path, number: int, line: bytes) -> tuple[str, CaseResult]:
    try:
        record = json.loads(line)
        return str(record["key"]), CaseResult.model_validate_json(json.dumps(record["result"]))
    except (ValueError, TypeError, KeyError, ValidationError) as error:
        found = str(error).splitlines()[0]
        problem, action = "a line of the journal is damaged", "start again without --resume"
        raise DamagedJournalError(problem, where=f"{path}:{number}", found=found, action=action) from None
