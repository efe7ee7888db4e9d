"""Values by key in a file that only grows: the one implementation behind the journals of evaluations, calibrations and refreshes of baselines.

The first record of a file is its head; every further one has a key, which names everything that decides the value, and the value. Of several with one key
the last one counts, so that nothing is counted twice.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from piton.core.canonical import plain
from piton.evaluate.line_file import DamagedLineError, Kind, LineFile, Record, close_after

if TYPE_CHECKING:
    from typing_extensions import Self

Value = TypeVar("Value")
_KEY = "key"


class Kept(Generic[Value]):
    """The values of one file, locked against a second writer."""

    def __init__(self, path: Path, kind: Kind, field: str, form: TypeAdapter[Value], *, is_kept: bool = True) -> None:
        """Open `path`; with `is_kept` what it holds is found again. `field` names the value in a line.

        Raises UsageError for a file in use, DamagedLineError, StorageError; what the kind's check raises.
        """
        self._kind = kind
        self._field = field
        self._form = form
        self._lock = threading.Lock()
        self._file = LineFile(path, kind, is_kept=is_kept)
        try:
            self._values = dict(self._parse(number, record) for number, record in enumerate(self._file.records, start=2))
        except BaseException:
            self._file.close()
            raise
        self._file.records = []

    @property
    def remark(self) -> str:
        """What a person should know about what was found; empty for nothing."""
        return self._file.remark

    @property
    def count(self) -> int:
        """Values in the file."""
        return len(self._values)

    def find(self, key: str) -> Value | None:
        """The value whose key is `key`."""
        return self._values.get(key)

    def keep(self, key: str, value: Value) -> None:
        """Add one. Raises StorageError when the disk is full or broken (see `LineFile.append`)."""
        with self._lock:
            self._values[key] = value
        self._file.append({_KEY: key, self._field: plain(value)})

    def sync(self) -> None:
        """Wait until everything is on the disk."""
        self._file.sync()

    def close(self) -> None:
        """Sync, close and release the file; safe to call twice."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        close_after(self.close, error)

    def _parse(self, number: int, record: Record) -> tuple[str, Value]:
        try:
            return str(record[_KEY]), self._form.validate_json(json.dumps(record[self._field]))
        except (KeyError, ValidationError) as error:  # its checksum is right: another version wrote it
            found, action = str(error).splitlines()[0], self._kind.anew
            raise DamagedLineError("this Piton can't read the line", where=f"{self._file.path}:{number}", found=found, action=action) from None
