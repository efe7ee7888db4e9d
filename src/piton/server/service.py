"""The service behind the API: takes submissions in, runs them in threads of its own, answers about them, and ends without losing one.

Every job has a folder `jobs/<id>` while it waits or runs (its submission, and its run folder with the journal of cases) and a file `results/<id>.json` after.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

import piton
from piton.core.canonical import digest
from piton.core.errors import FormatError, PitonError, UsageError
from piton.report.json_file import read_report, write_report
from piton.server.archive import unpack_submission
from piton.server.board import JobBoard
from piton.server.core import EvaluationCore, StoppedError, keep_submission
from piton.server.records import JobLog, JobRecord, JobState
from piton.server.refusal import RefusedError
from piton.server.reward import Reward, Rule, reward_of
from piton.server.running import Running
from piton.server.settings import JobOptions, ServeSettings, check_options

_ID_DIGITS = 32
"""128 bits of the digest."""
_INCOMING = "incoming-"
_UPLOAD = "upload"
_PARTS = ("problem", "expected", "found", "where", "action")
_POLL_S = 0.05
_FULL_DISK_S = 5.0
"""Pause before the end of a job is written again to a disk that was full."""


class EvaluationService:
    """One server without its network; safe to call from several threads."""

    def __init__(self, settings: ServeSettings, tell: Callable[[str], None] = lambda text: None) -> None:
        """Take up the state folder and start working. `tell` hears what the person at the server should know.

        Raises PitonError when the folder is in use or damaged, and when the target or its isolation can't be had.
        """
        self.settings = settings
        self.started = time.time()
        self.requests: Counter[str] = Counter()
        """Answers by status of HTTP, for the metrics."""
        self.seconds = 0.0
        """Wall-clock seconds that ended jobs ran, in all."""
        self._tell = tell
        self._root = Path(settings.state_dir)
        for folder, mode in ((self._root, 0o711), (self._root / "jobs", 0o711), (self._root / "results", 0o700)):
            folder.mkdir(parents=True, exist_ok=True, mode=mode)  # the compiler's user passes through to the job's own files
        self._log = JobLog(self._root)
        try:
            self.core = EvaluationCore(settings, tell)
            self.board = JobBoard(self._log, settings.limits, settings.workers, self._forget)
        except BaseException:
            self._log.close()
            raise
        self._running: dict[str, Running] = {}
        self._is_put_off = False
        self._tidy()
        self._threads = [threading.Thread(target=self._work, name=f"evaluator-{number}", daemon=True) for number in range(settings.workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, packed: IO[bytes], options: JobOptions, client: str) -> tuple[JobRecord, bool]:
        """Add a job for a packed submission, and say whether it is new. Raises UsageError for one that can't be one, RefusedError when there is no room."""
        with self._incoming() as staging:
            unpack_submission(packed, staging / _UPLOAD, self.settings.upload)
            return self._add(staging, staging / _UPLOAD, options, client)

    def submit_path(self, path: str, options: JobOptions, client: str) -> tuple[JobRecord, bool]:
        """The same for a submission that lies on the server, inside a folder that it allows."""
        real = Path(os.path.realpath(path.partition("\0")[0]))
        if "\0" in path or not any(real.is_relative_to(os.path.realpath(allowed)) for allowed in self.settings.paths):
            expected = "a path below a folder of --path" if self.settings.paths else "an upload: this server allows no paths"
            raise RefusedError(403, "that path is not allowed", expected=expected, found=ascii(path)[:200], action="send the submission itself")
        with self._incoming() as staging:
            return self._add(staging, real, options, client)

    def cancel(self, job_id: str, client: str) -> JobRecord:
        """Stop a job: one that waits at once, one that runs soon; one that has ended stays as it is."""
        record = self.board.find(job_id, client)
        if not self.board.withdraw(job_id) and (running := self._running.get(job_id)) is not None:
            running.cancel()
        return self.board.find(record.id, client)

    def report_bytes(self, job_id: str, client: str) -> bytes:
        """The report of a job as JSON. Raises RefusedError (409) for one that has none."""
        self._check_done(job_id, client)
        try:
            return self._result(job_id).read_bytes()
        except FileNotFoundError:  # forgotten since
            raise _gone() from None

    def reward(self, job_id: str, client: str, rule: Rule) -> Reward:
        """The reward of a job that is done. Raises RefusedError (409) for one that has no report."""
        self._check_done(job_id, client)
        try:
            return reward_of(read_report(self._result(job_id)), rule)
        except (OSError, UsageError):  # forgotten since
            raise _gone() from None

    def _check_done(self, job_id: str, client: str) -> None:
        record = self.board.find(job_id, client)
        if record.state is not JobState.DONE:
            action = "submit it again" if record.has_ended else "ask again when it is done"
            raise RefusedError(409, "the job has no report", expected="state done", found=f"{record.state.value} {record.problem}".strip(), action=action)

    def stop(self, grace_s: float, is_urgent: Callable[[], bool] = lambda: False) -> None:
        """Take no more jobs, give running ones `grace_s` to end (or until `is_urgent`), and stop the rest: they go on at the next start. Call once."""
        self.board.close()
        deadline = time.monotonic() + grace_s
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < deadline and not is_urgent():
            time.sleep(_POLL_S)
        self._is_put_off = True  # before the look: a thread that has just taken a job sees the one or is seen
        for running in list(self._running.values()):
            running.put_off()
        for thread in self._threads:
            thread.join()
        self.core.close()
        self._log.close()

    def _add(self, staging: Path, source: Path, options: JobOptions, client: str) -> tuple[JobRecord, bool]:
        check_options(options, self.settings)
        try:
            submission = keep_submission(source, staging)
        except PitonError as error:
            raise _without(source, error) from None
        shutil.rmtree(staging / _UPLOAD, ignore_errors=True)
        record = JobRecord(id="", client=client, submission_digest=submission.digest(), options=options)
        record = record.model_copy(update={"id": self._identity(record)[:_ID_DIGITS]})
        return self.board.add(record, lambda: os.rename(staging, self._folder(record.id)))

    def _identity(self, record: JobRecord) -> str:
        """Who asks, for what, and what decides the result: a server that was started with another seed has another answer."""
        request, options = self.core.request_of(record, self._root), record.options.model_dump(mode="json")
        decided = [request.target, request.suite, request.operators, request.identity()]
        return digest([piton.__version__, record.client, record.submission_digest, options, decided])

    @contextmanager
    def _incoming(self) -> Iterator[Path]:
        """A folder for what comes in; gone afterwards, unless it was given another name."""
        staging = Path(tempfile.mkdtemp(prefix=_INCOMING, dir=self._root / "jobs"))
        try:
            staging.chmod(0o711)  # like the root: the compiler's user passes through
            (staging / _UPLOAD).mkdir()
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _work(self) -> None:
        """One thread: job after job until the board is closed."""
        while (record := self._next()) is not None:
            running = self._running[record.id]
            if self._is_put_off:
                running.put_off()
            try:
                self._run(record, running)
            except Exception as error:  # noqa: BLE001 - a mistake of ours costs one job and is told; the thread must go on
                self._end(record, running, JobState.FAILED, f"internal error of Piton, please report it: {type(error).__name__}: {error}")
            finally:
                if self._running.get(record.id) is running:  # it may have come again and be run by another thread
                    del self._running[record.id]

    def _next(self) -> JobRecord | None:
        """The next job; a full disk, on which its beginning can't be noted, is waited for: a thread that ended would never come back."""
        taken: list[JobRecord | None] = []
        self._surely(lambda: taken.append(self.board.take(self._begin)))
        return taken[0] if taken else None

    def _begin(self, record: JobRecord) -> None:
        self._running[record.id] = Running(self.settings.limits.job_deadline_s, partial(self.board.progress, record.id))

    def _run(self, record: JobRecord, running: Running) -> None:
        folder = self._folder(record.id)
        try:
            report = self.core.evaluate(record, folder, running.hear, running.is_stopped)
            write_report(report, self._result(record.id))
        except StoppedError:
            self._stopped(record, running)
        except (UsageError, FormatError) as error:
            self._end(record, running, JobState.REFUSED, str(_without(folder, error)))
        except (PitonError, OSError) as error:
            self._end(record, running, JobState.FAILED, str(error))
        else:
            self._end(record, running, JobState.DONE)

    def _stopped(self, record: JobRecord, running: Running) -> None:
        if running.why == "put_off" or not running.why:  # no word: the core was closed under it
            self._surely(lambda: self.board.put_back(record.id))
        elif running.why == "too_long":
            self._end(record, running, JobState.FAILED, f"the job took more than {self.settings.limits.job_deadline_s:.0f} s")
        else:
            self._end(record, running, JobState.CANCELLED)

    def _end(self, record: JobRecord, running: Running, state: JobState, problem: str = "") -> None:
        """Write down the end of a job. The files of one without a report go first: once it has ended it may come again, with files of its own."""
        if state is JobState.DONE:
            size = self._result(record.id).stat().st_size
            if not self._surely(lambda: self.board.end(record.id, state, report_bytes=size, seconds=running.seconds)):
                return  # its files stay: the next start goes on with them
        if state is JobState.FAILED:
            self._tell(f"job {record.id} of {record.client} failed: {problem}")
        shutil.rmtree(self._folder(record.id), ignore_errors=True)
        if state is not JobState.DONE:
            self._surely(lambda: self.board.end(record.id, state, problem=problem, seconds=running.seconds))
        self.seconds += running.seconds

    def _surely(self, write: Callable[[], None]) -> bool:
        """Do what writes to the log, again and again while the disk is full: the job waits for it. False when the server stops meanwhile.

        In the log the job is running then, and the next start takes it up.
        """
        while not self._has_done(write):
            if not self.board.is_open:
                return False
            time.sleep(_FULL_DISK_S)
        return True

    def _has_done(self, write: Callable[[], None]) -> bool:
        try:
            write()
        except OSError as error:
            self._tell(f"the log of jobs can't be written, trying again: {error.strerror or error}")
            return False
        return True

    def _folder(self, job_id: str) -> Path:
        return self._root / "jobs" / job_id

    def _result(self, job_id: str) -> Path:
        return self._root / "results" / f"{job_id}.json"

    def _forget(self, job_id: str) -> None:
        """Remove every file of a job."""
        shutil.rmtree(self._folder(job_id), ignore_errors=True)
        self._result(job_id).unlink(missing_ok=True)

    def _tidy(self) -> None:
        """Remove what a killed server left: uploads half received, files of jobs that have ended, results of jobs that have not."""
        for folder in (self._root / "jobs").iterdir():
            if folder.name not in self.board.live():
                shutil.rmtree(folder, ignore_errors=True)
        for file in (self._root / "results").iterdir():
            if file.name.removesuffix(".json") not in self.board.done():
                file.unlink(missing_ok=True)


def _gone() -> RefusedError:
    return RefusedError(404, "the report is not kept any more", action="submit it again")


def _without(folder: Path, error: PitonError) -> UsageError:
    """The error without the server's own folders: they are not the client's business."""
    parts = {name: getattr(error, name).replace(f"{folder}/", "").replace(str(folder), "the submission") for name in _PARTS}
    return UsageError(parts.pop("problem"), **parts)
