"""What the server knows of one job: frozen, replaced as a whole at every change, and kept in a log that only grows."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from piton.core.errors import FormatError
from piton.core.operator import Frozen
from piton.evaluate.line_file import open_locked, whole_lines
from piton.server.settings import JobOptions

_FORM = 1
LOG = "jobs.jsonl"


class JobState(str, Enum):
    """What became of a job so far."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    """There is a report; what it says of the submission is another matter."""
    REFUSED = "refused"
    """The client asked for something that can't be evaluated, such as an operator that the suite lacks."""
    FAILED = "failed"
    """We could not evaluate; no fault of the submission."""
    CANCELLED = "cancelled"


ENDED = frozenset({JobState.DONE, JobState.REFUSED, JobState.FAILED, JobState.CANCELLED})
IN_VAIN = frozenset({JobState.FAILED, JobState.CANCELLED})
"""States after which the same submission, sent again, is evaluated anew."""


class JobRecord(Frozen):
    """One job."""

    id: str
    """Digest of client, submission, options and what the server decides: the same request again is the same job."""
    client: str
    submission_digest: str
    options: JobOptions = JobOptions()
    state: JobState = JobState.QUEUED
    number: int = 0
    """Counts the jobs in the order in which they came."""
    starts: int = 0
    """How often the server began with it, restarts included."""
    submitted: str = ""
    """ISO 8601, as are the next two; empty for what has not happened."""
    started: str = ""
    ended: str = ""
    cases: int = 0
    """Cases of the evaluation, known once it has begun."""
    finished_cases: int = 0
    problem: str = ""
    """Why it was refused or failed."""
    report_bytes: int = 0

    @property
    def has_ended(self) -> bool:
        """True when nothing more will happen to it."""
        return self.state in ENDED


def now() -> str:
    """The time of day as the records have it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


class JobLog:
    """The log of one state folder, locked against a second server. Every line is a whole record; of several with one id the last one counts.

    What is written with `is_durable` has reached the disk when `write` returns (fsync). The other lines outlive this process but maybe not a power cut; they
    say that a job has begun, and without them it begins again.
    """

    def __init__(self, folder: Path) -> None:
        """Open the log in `folder`. Raises UsageError when another server uses it, FormatError when it is none."""
        self._path = folder / LOG
        self._lock_file = open_locked(folder / "lock")
        try:
            self._file: BinaryIO = open(self._path, "a+b")  # noqa: SIM115 - owned until close()
            self.records = self._read()
        except BaseException:
            self._lock_file.close()
            raise
        self.lines = 0

    def write(self, record: JobRecord, *, is_durable: bool) -> None:
        """Add the record as it is now."""
        self._file.write(record.model_dump_json(exclude_defaults=True).encode() + b"\n")
        self._file.flush()
        self.lines += 1
        if is_durable:
            os.fsync(self._file.fileno())

    def replace(self, records: Iterable[JobRecord]) -> None:
        """Write a new log of these records only, in one step."""
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as target:
                target.write(json.dumps({"piton_jobs": _FORM}).encode() + b"\n")
                target.writelines(record.model_dump_json(exclude_defaults=True).encode() + b"\n" for record in records)
                target.flush()
                os.fsync(target.fileno())
            os.replace(name, self._path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        self._file.close()
        self._file = open(self._path, "a+b")  # noqa: SIM115 - as above
        self.lines = 0

    def close(self) -> None:
        """Close the log and release the folder; safe to call twice."""
        self._file.close()
        self._lock_file.close()

    def _read(self) -> list[JobRecord]:
        lines = whole_lines(self._file)
        records: dict[str, JobRecord] = {}
        for number, line in enumerate(lines, start=1):
            if number == 1:
                self._check_head(line)
            else:
                record = self._parse(number, line)
                records[record.id] = record
        return sorted(records.values(), key=lambda record: record.number)

    def _check_head(self, line: bytes) -> None:
        try:
            form = json.loads(line)["piton_jobs"]
        except (ValueError, TypeError, KeyError):
            form = None
        if form != _FORM:
            found, action = repr(line[:60]), "give another folder with --state, or the version of Piton that wrote this one"
            raise FormatError("this is no log of jobs that this Piton reads", where=f"{self._path}:1", found=found, action=action)

    def _parse(self, number: int, line: bytes) -> JobRecord:
        try:
            return JobRecord.model_validate_json(line)
        except ValidationError as error:
            found, action = str(error).splitlines()[0], "remove that line: its job is forgotten"
            raise FormatError("a line of the log of jobs is damaged", where=f"{self._path}:{number}", found=found, action=action) from None
