"""The board of jobs: who may add one, which one is next, what is kept. It holds no more than its limits say, and every change is in the log first."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable

from piton.server.records import IN_VAIN, JobLog, JobRecord, JobState, now
from piton.server.refusal import RefusedError
from piton.server.settings import QueueLimits

_LONGEST_RETRY_S = 60
_LINES_PER_JOB = 8
"""A job leaves three lines as a rule; the log is written anew when it has so many times the lines that it needs."""
_FIRST_GUESS_S = 2.0
"""Seconds that a job is taken for before one has ended."""


class JobBoard:
    """All jobs of a server; safe to call from several threads."""

    def __init__(self, log: JobLog, limits: QueueLimits, workers: int, forget: Callable[[str], None]) -> None:
        """Take up what the log holds: what was running when the last server ended waits again. `forget` removes the files of a job that is not kept."""
        self._log = log
        self._limits = limits
        self._workers = workers
        self._forget = forget
        self._changed = threading.Condition()
        self._is_open = True
        self._jobs = {record.id: self._again(record) for record in log.records}
        self._next = 1 + max((record.number for record in log.records), default=0)
        self._mean_s = _FIRST_GUESS_S
        self._ended: Counter[JobState] = Counter()
        self._trim()
        log.replace(self._jobs.values())

    def check_room(self, client: str) -> None:
        """Raise RefusedError (503 when stopping, 429 when full) for a client that may not add a job now; asked before its upload is read."""
        with self._changed:
            self._check_room(client)

    def add(self, record: JobRecord, place: Callable[[], None]) -> tuple[JobRecord, bool]:
        """Put a job into the queue, durably, and say whether it is new. One that is there already is answered as it is, unless it ended in vain.

        `place` puts the files of a new one where they belong. Raises RefusedError as `check_room` does.
        """
        with self._changed:
            known = self._jobs.get(record.id)
            if known is not None and known.state not in IN_VAIN:
                return known, False
            self._check_room(record.client)
            place()
            added = record.model_copy(update={"number": self._next, "submitted": now()})
            self._put(added, is_durable=True)
            self._next += 1
            self._changed.notify()
            return added, True

    def take(self, begin: Callable[[JobRecord], None] = lambda record: None) -> JobRecord | None:
        """Wait for a job to run and mark it as running; None once the board is closed. Raises OSError when the log can't be written: then it still waits.

        `begin` is called before anybody can see that it runs: whoever cancels a running job has to find what runs it.
        """
        with self._changed:
            while self._is_open:
                ready = self._first()
                if ready is not None:
                    taken = self._put(ready.model_copy(update={"state": JobState.RUNNING, "started": now(), "starts": ready.starts + 1}))
                    begin(taken)
                    return taken
                self._changed.wait()
            return None

    def progress(self, job_id: str, cases: int, finished: int) -> None:
        """Note how far a running job is; not in the log, since its own journal has it."""
        with self._changed:
            self._jobs[job_id] = self._jobs[job_id].model_copy(update={"cases": cases, "finished_cases": finished})

    def end(self, job_id: str, state: JobState, *, problem: str = "", report_bytes: int = 0, seconds: float | None = None) -> None:
        """Note the end of a job, durably, and let go of what is above the limits."""
        with self._changed:
            self._put(self._jobs[job_id].model_copy(update={"state": state, "ended": now(), "problem": problem, "report_bytes": report_bytes}), is_durable=True)
            self._ended[state] += 1
            if seconds is not None:
                self._mean_s += 0.2 * (seconds - self._mean_s)
            self._trim()
            if self._log.lines > _LINES_PER_JOB * (len(self._jobs) + self._limits.queued):
                with contextlib.suppress(OSError):  # the old log says the same; the next end tries again
                    self._log.replace(self._jobs.values())
            self._changed.notify_all()

    def withdraw(self, job_id: str) -> bool:
        """Cancel a job that waits; False for one that does not."""
        with self._changed:
            record = self._jobs.get(job_id)  # none: it has ended and been forgotten since it was looked up
            if record is None or record.state is not JobState.QUEUED:
                return False
            self._forget(job_id)  # first: once it has ended it may come again
            self.end(job_id, JobState.CANCELLED)
            return True

    def put_back(self, job_id: str) -> None:
        """A running job that the stop of the server cut short waits for the next start; that it was begun does not count against it."""
        with self._changed:
            record = self._jobs[job_id]
            self._put(record.model_copy(update={"state": JobState.QUEUED, "starts": record.starts - 1}), is_durable=True)

    def find(self, job_id: str, client: str) -> JobRecord:
        """The job of that id, if it is that client's. Raises RefusedError (404) otherwise: others' jobs are none."""
        with self._changed:
            record = self._jobs.get(job_id)
        if record is None or record.client != client:
            raise RefusedError(404, "there is no such job", found=job_id[:64], action="submit it again: results are kept for a limited number of jobs")
        return record

    def position(self, record: JobRecord) -> int:
        """How many jobs are before this one in the queue; 0 for one that does not wait."""
        with self._changed:
            is_waiting = record.state is JobState.QUEUED
            return sum(other.state is JobState.QUEUED and other.number < record.number for other in self._jobs.values()) if is_waiting else 0

    def of_client(self, client: str) -> list[JobRecord]:
        """The jobs of a client, oldest first."""
        with self._changed:
            return sorted((record for record in self._jobs.values() if record.client == client), key=lambda record: record.number)

    def close(self) -> None:
        """No more jobs are taken in or given out."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()

    @property
    def is_open(self) -> bool:
        """False once the server is stopping."""
        return self._is_open

    def live(self) -> set[str]:
        """Ids of the jobs that wait or run."""
        with self._changed:
            return {record.id for record in self._jobs.values() if not record.has_ended}

    def done(self) -> set[str]:
        """Ids of the jobs that have a report."""
        with self._changed:
            return {record.id for record in self._jobs.values() if record.state is JobState.DONE}

    def counts(self) -> dict[JobState, int]:
        """Jobs on the board by state."""
        with self._changed:
            found = Counter(record.state for record in self._jobs.values())
        return {state: found[state] for state in JobState}

    def ended(self) -> dict[JobState, int]:
        """Jobs that ended since this server began, those that are not kept included."""
        with self._changed:
            return dict(self._ended)

    def _again(self, record: JobRecord) -> JobRecord:
        if record.state is not JobState.RUNNING:
            return record
        if record.starts >= self._limits.starts:
            problem = f"the server ended {record.starts} times while it ran this job"
            return record.model_copy(update={"state": JobState.FAILED, "ended": now(), "problem": problem})
        return record.model_copy(update={"state": JobState.QUEUED})

    def _put(self, record: JobRecord, *, is_durable: bool = False) -> JobRecord:
        self._log.write(record, is_durable=is_durable)
        self._jobs[record.id] = record
        return record

    def _first(self) -> JobRecord | None:
        """The oldest waiting job of a client that has not as many running as it may: one client's flood does not hold up the others' jobs."""
        running = Counter(record.client for record in self._jobs.values() if record.state is JobState.RUNNING)
        waiting = (record for record in self._jobs.values() if record.state is JobState.QUEUED)
        ready = [record for record in waiting if running[record.client] < self._limits.running_per_client]
        return min(ready, key=lambda record: (running[record.client], record.number), default=None)

    def _check_room(self, client: str) -> None:
        if not self._is_open:
            raise RefusedError(503, "the server is stopping", action="submit again when it is back", retry_after_s=_LONGEST_RETRY_S)
        queued = [record for record in self._jobs.values() if record.state is JobState.QUEUED]
        own = sum(record.client == client for record in queued)
        if len(queued) >= self._limits.queued:
            self._refuse("the queue is full", self._limits.queued, len(queued))
        if own >= self._limits.queued_per_client:
            self._refuse("this client has too many jobs in the queue", self._limits.queued_per_client, own)

    def _refuse(self, problem: str, most: int, found: int) -> None:
        wait_s = min(max(1, round(self._mean_s / self._workers)), _LONGEST_RETRY_S)  # until the next place is free
        action = f"try again in {wait_s} s"
        raise RefusedError(429, problem, expected=f"fewer than {most}", found=str(found), action=action, retry_after_s=wait_s)

    def _trim(self) -> None:
        """Forget the oldest ended jobs above the limits."""
        ended = sorted((record for record in self._jobs.values() if record.has_ended), key=lambda record: (record.ended, record.number), reverse=True)
        for record in _above(ended, self._limits):
            del self._jobs[record.id]
            self._forget(record.id)


def _above(newest_first: Iterable[JobRecord], limits: QueueLimits) -> list[JobRecord]:
    """What is too much, after the newest ones that fit."""
    dropped, kept_bytes = [], 0
    for count, record in enumerate(newest_first):
        kept_bytes += record.report_bytes
        if count >= limits.kept_jobs or (count > 0 and kept_bytes > limits.kept_bytes):
            dropped.append(record)
    return dropped
