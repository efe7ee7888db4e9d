"""Timelines of a run: `<run>/traces/<operator>-<case>-<launch>.json`, one file per recorded launch of the first trial.

A file is written under a name that begins with a dot and renamed when it is whole. A disk that is full or closed costs timelines only, with one message; the
run goes on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from piton.core.case import Case
from piton.core.report import CaseResult
from piton.core.timeline import LaunchTimeline, TimelineRequest
from piton.evaluate.failures import folder_name
from piton.evaluate.progress import Events, Notice
from piton.report.chrome_trace import write_trace

FOLDER = "traces"


class TraceKeeper:
    """Writes the timelines of one run; safe to call from several lanes."""

    def __init__(self, run_dir: Path, request: TimelineRequest, about: Mapping[str, str], events: Events) -> None:
        self.request = request
        self._root = run_dir / FOLDER
        self._about = about
        self._events = events
        self._lock = threading.Lock()
        self._is_broken = False

    def lacks(self, result: CaseResult) -> bool:
        """True for a case that launched a kernel and has no timeline."""
        launched = any(launch.kind == "kernel" for launch in result.launches)
        return launched and not (self._root / _file_name(result.operator, result.case.id, 1)).is_file()

    def keep(self, operator: str, case: Case, timelines: Sequence[LaunchTimeline]) -> None:
        """Write the timelines of a call."""
        with self._lock:
            for timeline in timelines if not self._is_broken else ():
                self._write(_file_name(operator, case.id, timeline.number), {"operator": operator, "case": case.id, **self._about}, timeline)

    def _write(self, name: str, about: Mapping[str, str], timeline: LaunchTimeline) -> None:
        staging = self._root / f".{name}"
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            with staging.open("w", encoding="ascii") as file:
                write_trace(timeline, about, file)
            os.replace(staging, self._root / name)
        except OSError as error:
            self._give_up(staging, error)

    def _give_up(self, staging: Path, error: OSError) -> None:
        try:
            staging.unlink(missing_ok=True)
        except OSError:  # a closed folder: there is nothing to remove either
            pass
        if not self._is_broken:
            self._is_broken = True
            found = error.strerror or str(error)
            self._events(Notice(f"timelines can't be written to {self._root}: {found}; the run goes on, --resume --trace writes what is missing"))


def _file_name(operator: str, case_id: str, launch: int) -> str:
    return f"{folder_name(operator, case_id)}-{launch}.json"
