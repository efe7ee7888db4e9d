"""Times that a refresh of baselines has measured so far: append-only lines beside the file it will write, so that stopping it loses one case at most."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType

from pydantic import ValidationError

from piton.core.canonical import plain
from piton.core.measurement import Measurement
from piton.evaluate.journal import open_locked, whole_lines

SUFFIX = ".part"


class KeptTimes:
    """One file of lines, each a time by the key of everything that decides it; lines of another key are other people's and stay unread."""

    def __init__(self, path: Path) -> None:
        """Open `path`, an existing file or a new one. Raises UsageError when another refresh is writing to it."""
        self._path = path
        self._file = open_locked(path)
        self._times = dict(_read(line) for line in whole_lines(self._file))

    def find(self, key: str) -> Measurement | None:
        """The time that was kept under this key."""
        return self._times.get(key)

    def keep(self, key: str, time: Measurement) -> None:
        """Add one; on return it is on the disk."""
        self._times[key] = time
        text = json.dumps({"key": key, "time": plain(time)}, separators=(",", ":"), allow_nan=False)
        self._file.write(text.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def remove(self) -> None:
        """Drop the file: what it kept has gone into another one."""
        self._path.unlink(missing_ok=True)

    def __enter__(self) -> KeptTimes:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()
        if self._path.exists() and not self._path.stat().st_size:
            self.remove()


def _read(line: bytes) -> tuple[str, Measurement | None]:
    """Key and time; a damaged line is a time that has to be measured again."""
    try:
        record = json.loads(line)
        return str(record["key"]), Measurement.model_validate_json(json.dumps(record["time"]))
    except (ValueError, TypeError, KeyError, ValidationError):
        return "", None
