"""Syncs of a file that grows, in a thread of its own: no writer waits for the disk, and nothing waits longer than a second for its sync."""

from __future__ import annotations

import os
import threading
from pathlib import Path

SYNC_S = 1.0
"""Most seconds between a write and its sync to disk (the sync itself aside), and least between two syncs."""


class Syncs:
    """Syncs a file at most once in `SYNC_S`, in a thread that starts with the first need."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._is_dirty = threading.Event()
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None
        self.error: OSError | None = None
        """Of a sync that failed: what was appended may be lost, and further records are refused."""

    def tell(self) -> None:
        """Something was written."""
        self._is_dirty.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="journal-sync", daemon=True)
            self._thread.start()

    def sync(self) -> None:
        """Now. Raises OSError."""
        self._is_dirty.clear()
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Sync what is left and end the thread. Raises OSError of this sync or an earlier one."""
        self.end()
        os.fsync(self._descriptor)
        if self.error is not None:
            raise self.error

    def end(self) -> None:
        """End the thread; before the file is closed in any case, since its number may be another file's next."""
        self._ends.set()
        self._is_dirty.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._ends.is_set():
            self._is_dirty.wait()
            try:
                self.sync()
            except OSError as error:
                self.error = error
                return
            self._ends.wait(SYNC_S)


def sync_folder(folder: Path) -> None:
    """The name of a new file is its folder's content."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError:  # some file systems refuse this for folders; then they keep names by themselves
        pass
    finally:
        os.close(descriptor)
