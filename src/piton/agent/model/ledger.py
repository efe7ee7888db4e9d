"""The ledger: one row per call to a model, whatever became of it.

Rows are in an SQLite file in WAL mode, so that a reader never waits for a writer. A row is there before its call is made, as one that was stopped, so that no
kill takes a call out of the count.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from piton.agent.model.budget import Spending
from piton.agent.model.prices import Money
from piton.agent.reading import open_for_reading
from piton.core.errors import TargetUnavailableError

STOPPED = "stopped"
"""`outcome` of a call that nobody waited for to the end; the provider may count it."""
ANSWERED = "answered"
"""`outcome` of a call with an answer; another one has the kind of its error."""
_COLUMNS = {
    "purpose": "TEXT NOT NULL",
    "model": "TEXT NOT NULL",
    "request": "TEXT NOT NULL",
    "outcome": "TEXT NOT NULL",
    "started": "REAL NOT NULL",
    "seconds": "REAL NOT NULL",
    "input_tokens": "INTEGER",
    "output_tokens": "INTEGER",
    "cached_tokens": "INTEGER",
    "usd": "REAL",
    "dropped": "TEXT NOT NULL",
    "error": "TEXT NOT NULL",
}


@dataclass(frozen=True)
class Row:
    """One call."""

    purpose: str
    model: str
    request: str
    """Digest of the request."""
    outcome: str
    started: float
    """Seconds since 1970."""
    seconds: float
    """Wall time of the call."""
    input_tokens: int | None = None
    """None when the provider did not say, as after an error."""
    output_tokens: int | None = None
    cached_tokens: int | None = None
    usd: float | None = None
    """None is an unknown price, never 0. A call without an answer costs nothing that we know of: unknown where a price is known, too."""
    dropped: str = ""
    """Refused parameters that were left out, with commas."""
    error: str = ""


class Ledger:
    """Rows in one file; for any number of threads and processes."""

    def __init__(self, path: Path) -> None:
        """Open or make the file. Raises TargetUnavailableError when it cannot be."""
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=30.0, check_same_thread=False, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode=WAL")
            columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
            self._connection.execute(f"CREATE TABLE IF NOT EXISTS calls (id INTEGER PRIMARY KEY, {columns})")
        except (OSError, sqlite3.Error) as error:
            raise _unusable(path, error) from error

    def add(self, row: Row, number: int | None = None) -> int:
        """Add a row, or write it in the place of row `number`, on disk when this returns; its number. Raises TargetUnavailableError when the disk is full."""
        names = [item.name for item in fields(Row)]
        marks = ", ".join("?" * (len(names) + 1))
        try:
            with self._lock:
                found = self._connection.execute(f"REPLACE INTO calls (id, {', '.join(names)}) VALUES ({marks})", (number, *asdict(row).values()))
                return int(found.lastrowid or 0)
        except sqlite3.Error as error:
            raise _unusable(self._path, error) from error

    def rows(self) -> tuple[Row, ...]:
        """All rows in the order they were added."""
        with self._lock:
            return _rows_of(self._connection)

    def spent(self) -> Spending:
        """What a budget goes on from when its run is resumed."""
        return spending_of(self.rows())

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def read_rows(path: Path) -> tuple[Row, ...]:
    """All rows of the file at `path`, which is not changed; none where no call was made. Raises TargetUnavailableError for a file that cannot be read."""
    try:
        with closing(open_for_reading(path)) as connection:
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone() is None:
                return ()
            return _rows_of(connection)
    except sqlite3.Error as error:
        raise TargetUnavailableError("the ledger of model calls cannot be read", where=str(path), found=str(error), action="check the file") from error


def _rows_of(connection: sqlite3.Connection) -> tuple[Row, ...]:
    names = ", ".join(item.name for item in fields(Row))
    return tuple(Row(*values) for values in connection.execute(f"SELECT {names} FROM calls ORDER BY id"))


def spending_of(rows: Iterable[Row]) -> Spending:
    """Known money, known tokens, and all calls."""
    found = list(rows)
    return Spending(usd=money_of(found).usd, tokens=sum((row.input_tokens or 0) + (row.output_tokens or 0) for row in found), calls=len(found))


def money_of(rows: Iterable[Row]) -> Money:
    """The sum of the prices of answered calls."""
    answered = [row.usd for row in rows if row.outcome == ANSWERED]
    return Money(sum(usd for usd in answered if usd is not None), sum(usd is None for usd in answered))


def _unusable(path: Path, error: Exception) -> TargetUnavailableError:
    return TargetUnavailableError(
        "the ledger of model calls cannot be written", where=str(path), found=str(error), action="make room, or choose another folder"
    )
