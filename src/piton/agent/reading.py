"""Opening an SQLite file for reading only: of a run that goes on, of one that was killed, and on a medium that takes no writes."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote


def open_for_reading(path: Path) -> sqlite3.Connection:
    """The file at `path`, which is not changed. Raises sqlite3.Error.

    A file in WAL mode wants a shared index beside it. Where none can be made (a folder that is closed to us), nobody writes the file either, so that it is
    read as it lies, unless changes wait in its log.
    """
    try:
        return _opened(path, "mode=ro")
    except sqlite3.OperationalError:
        log = Path(f"{path}-wal")
        if log.exists() and log.stat().st_size:
            raise
        return _opened(path, "immutable=1")


def _opened(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{how}", uri=True, timeout=30.0, check_same_thread=False, isolation_level=None)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection
