"""One SQLite file per run, in WAL mode: any number of readers, one process that writes.

Problem: a run lasts hours and is killed at any moment; what was evaluated must never be evaluated again, nor be lost.
Approach: every change is one transaction, on disk when the call returns (synchronous=FULL). A variant is written before its evaluation begins, its measurement
in one row when it ends, so that after a kill a variant either is measured or waits. Texts (files, prompts, answers, reports) are kept once, compressed, by
digest.
Limits: a lock of the file system guards against a second writer on the same machine; a network file system may not know such locks.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from piton.agent.candidate import Tree
from piton.agent.reading import open_for_reading
from piton.agent.runs.file import connected, holds_something, locked, told, understood
from piton.agent.runs.records import Event, Head, Measured, NewVariant, State, Variant
from piton.core.canonical import digest_bytes
from piton.core.errors import FormatError, UsageError

NAME = "run.db"
FORM = "1"
_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE texts (digest TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE variants (
    id INTEGER PRIMARY KEY, round INTEGER NOT NULL, origin TEXT NOT NULL, parents TEXT NOT NULL, strategy TEXT NOT NULL, genes TEXT NOT NULL,
    source_digest TEXT NOT NULL UNIQUE, tree TEXT NOT NULL REFERENCES texts, prompt TEXT NOT NULL REFERENCES texts, answer TEXT NOT NULL REFERENCES texts,
    note TEXT NOT NULL, created REAL NOT NULL);
CREATE TABLE measurements (
    variant INTEGER PRIMARY KEY REFERENCES variants, is_right INTEGER NOT NULL, passed INTEGER NOT NULL, cases INTEGER NOT NULL, ratio REAL,
    summary TEXT NOT NULL, report TEXT NOT NULL REFERENCES texts, report_digest TEXT NOT NULL, seconds REAL NOT NULL, finished REAL NOT NULL);
CREATE TABLE events (id INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL);
"""
_VARIANT = "v.id, v.round, v.origin, v.parents, v.strategy, v.genes, v.source_digest, v.note, v.created"
_MEASURED = "m.is_right, m.passed, m.cases, m.ratio, m.summary, m.report_digest, m.seconds"
_MOST = 2**63 - 1
"""The largest number of a row."""
_JOINED = f"SELECT {_VARIANT}, {_MEASURED} FROM variants v LEFT JOIN measurements m ON m.variant = v.id"


class RunStore:
    """The file of one run; methods may be called from any thread. Errors of the disk are TargetUnavailableError."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: TextIO | None, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._connection = connection
        self._file_lock = lock
        self._lock = threading.RLock()
        self._clock = clock
        with understood(self.path):
            self.head = Head(**json.loads(self._meta("head")))
        """What the run is about."""

    @classmethod
    def create(cls, folder: Path, head: Head, clock: Callable[[], float] = time.time) -> RunStore:
        """A new run in `folder`. Raises UsageError when it holds one."""
        path = folder / NAME
        if path.exists() and holds_something(path):
            raise UsageError("the folder holds a run", expected="a folder without run.db", found=str(path), action="resume it, or choose another folder")
        with told(path):
            folder.mkdir(parents=True, exist_ok=True)
            lock = locked(folder)
            connection = connected(path)
            connection.executescript(f"BEGIN;{_SCHEMA}")
            values = {"form": FORM, "head": json.dumps(asdict(head)), "state": State.RUNNING.value, "reason": ""}
            connection.executemany("INSERT INTO meta VALUES (?, ?)", values.items())
            connection.execute("COMMIT")
        return cls(folder, connection, lock, clock)

    @classmethod
    def open(cls, folder: Path, *, writes: bool = False, clock: Callable[[], float] = time.time) -> RunStore:
        """The run in `folder`. Raises UsageError for none, and one that another process writes; FormatError for a file that is none."""
        path = folder / NAME
        if not path.is_file():
            raise UsageError(
                "there is no run", expected=f"a folder with {NAME}", found=f"none in {folder}", action="check the path; `piton runs list` knows them"
            )
        with told(path):
            lock = locked(folder) if writes else None
            try:
                connection = connected(path) if writes else open_for_reading(path)
                found = connection.execute("SELECT value FROM meta WHERE name = 'form'").fetchone()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError) and "no such table" not in str(error):
                    raise
                raise FormatError("this is not a run's file", where=str(path), found=str(error), action="choose another folder") from error
        if found is None or found[0] != FORM:
            raise FormatError("the run's file has another form", where=str(path), expected=f"form {FORM}", found=str(found and found[0]))
        return cls(folder, connection, lock, clock)

    def close(self) -> None:
        """Close the file and give the lock back."""
        with self._lock:
            self._connection.close()
            if self._file_lock is not None:
                self._file_lock.close()

    @property
    def path(self) -> Path:
        """The file; the ledger of model calls keeps its table in it."""
        return self._folder / NAME

    def add(self, new: NewVariant) -> Variant | None:
        """Write a variant that waits for its evaluation; None when one with the same source digest is there already."""
        with self._writing() as connection:
            if self.find(new.tree.source_digest) is not None:
                return None
            manifest = json.dumps({path: self._keep(connection, text) for path, text in sorted(new.tree.files.items())})
            texts = [self._keep(connection, text) for text in (manifest, new.prompt, new.answer)]
            values = (
                new.round,
                new.origin,
                json.dumps(new.parents),
                new.strategy,
                json.dumps(new.genes),
                new.tree.source_digest,
                *texts,
                new.note,
                self._clock(),
            )
            names = "round, origin, parents, strategy, genes, source_digest, tree, prompt, answer, note, created"
            connection.execute(f"INSERT INTO variants ({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
            return self.find(new.tree.source_digest)

    def measure(self, variant: int, measured: Measured) -> None:
        """Write what the evaluation said. Raises UsageError for a variant that is measured already: nothing is counted twice."""
        with self._writing() as connection:
            if connection.execute("SELECT 1 FROM measurements WHERE variant = ?", (variant,)).fetchone():
                raise UsageError(f"variant {variant} is measured already", expected="one that waits for its evaluation", found="a measurement")
            report = self._keep(connection, measured.report)
            values = (
                variant,
                measured.is_right,
                measured.passed,
                measured.cases,
                measured.ratio,
                measured.summary,
                report,
                measured.report_digest,
                measured.seconds,
            )
            connection.execute("INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*values, self._clock()))

    def note(self, kind: str, **data: Any) -> None:
        """Write an event; `data` are JSON values."""
        with self._writing() as connection:
            connection.execute("INSERT INTO events (time, kind, data) VALUES (?, ?, ?)", (self._clock(), kind, json.dumps(data)))

    def set_state(self, state: State, reason: str = "") -> None:
        """Say where the run stands, and why."""
        with self._writing() as connection:
            connection.executemany("UPDATE meta SET value = ? WHERE name = ?", [(state.value, "state"), (reason, "reason")])

    @property
    def state(self) -> tuple[State, str]:
        """Where the run stands, and why."""
        with understood(self.path):
            return State(self._meta("state")), self._meta("reason")

    def variants(self) -> tuple[Variant, ...]:
        """All variants in the order they were proposed."""
        with understood(self.path):
            return tuple(_variant(row) for row in self._read(f"{_JOINED} ORDER BY v.id"))

    def waiting(self) -> tuple[Variant, ...]:
        """Variants without a measurement: what a resumed run evaluates first."""
        return tuple(item for item in self.variants() if item.measured is None)

    def find(self, source_digest: str) -> Variant | None:
        """The variant with this source digest."""
        rows = self._read(f"{_JOINED} WHERE v.source_digest = ?", source_digest)
        return _variant(rows[0]) if rows else None

    def tree(self, variant: int) -> Tree:
        """A variant's files. Raises UsageError for one that is not there."""
        with understood(self.path):
            manifest = json.loads(self._text_of(variant, "tree"))
            return Tree({path: self._text(name) for path, name in manifest.items()})

    def prompt(self, variant: int) -> str:
        """What was asked for it; empty for one that no model wrote."""
        return self._text_of(variant, "prompt")

    def answer(self, variant: int) -> str:
        """What was answered, unchanged."""
        return self._text_of(variant, "answer")

    def report(self, variant: int) -> str:
        """report.json of its evaluation. Raises UsageError for one that is not measured."""
        rows = self._read("SELECT report FROM measurements WHERE variant = ?", variant)
        if not rows:
            raise UsageError(f"variant {variant} has no report", expected="a variant that was measured", found="none, or one that waits")
        return self._text(rows[0][0])

    def events(self, kind: str = "") -> tuple[Event, ...]:
        """Events in order, of one kind or all."""
        rows = self._read("SELECT id, time, kind, data FROM events WHERE ? IN ('', kind) ORDER BY id", kind)
        with understood(self.path):
            return tuple(Event(number, when, name, json.loads(data)) for number, when, name, data in rows)

    def problems(self) -> list[str]:
        """Invariants that do not hold; empty for a file as it should be."""
        found = [str(row[0]) for row in self._read("PRAGMA integrity_check") if row[0] != "ok"]
        found += [f"row {row[1]} of {row[0]} refers to nothing" for row in self._read("PRAGMA foreign_key_check")]
        known = {item.id for item in self.variants()}
        for item in self.variants():
            found += [f"variant {item.id} descends from {parent}, which is not older" for parent in item.parents if parent not in known or parent >= item.id]
            if self.tree(item.id).source_digest != item.source_digest:
                found.append(f"variant {item.id} has other files than it had")
        return found

    def _text_of(self, variant: int, column: str) -> str:
        rows = self._read(f"SELECT {column} FROM variants WHERE id = ?", variant) if variant <= _MOST else []
        if not rows:
            raise UsageError(f"there is no variant {variant}", expected=f"1 to {len(self.variants())}", found=str(variant), action="see `piton runs show`")
        return self._text(rows[0][0])

    def _text(self, name: str) -> str:
        with understood(self.path):
            return zlib.decompress(self._read("SELECT body FROM texts WHERE digest = ?", name)[0][0]).decode("utf-8", "surrogateescape")

    @staticmethod
    def _keep(connection: sqlite3.Connection, text: str) -> str:
        """Keep a text once; its name."""
        data = text.encode("utf-8", "surrogateescape")
        name = digest_bytes(data)
        connection.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (name, zlib.compress(data)))
        return name

    def _meta(self, name: str) -> str:
        return str(self._read("SELECT value FROM meta WHERE name = ?", name)[0][0])

    def _read(self, query: str, *values: Any) -> list[Any]:
        with self._lock, told(self.path):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        if self._file_lock is None:
            raise RuntimeError("the run was opened for reading")
        with self._lock, told(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk rolls back by itself
                    self._connection.execute("ROLLBACK")
                raise


def _variant(row: tuple[Any, ...]) -> Variant:
    number, round_, origin, parents, strategy, genes, source_digest, note, created, *rest = row
    measured = None
    if rest[0] is not None:
        is_right, passed, cases, ratio, summary, report_digest, seconds = rest
        measured = Measured(bool(is_right), passed, cases, ratio, summary, "", report_digest, seconds)
    lists: Mapping[str, Any] = json.loads(genes)
    return Variant(number, round_, origin, tuple(json.loads(parents)), strategy, lists, source_digest, note, created, measured)
