"""The evaluation core of a server: what one evaluation after the other shares.

Problem: starting the processes that fork workers, and building an engine, takes far longer than a tiny case.
Approach: targets and the starter of processes are opened once and lent to every job; golden results, builds and baselines are shared through the cache folder.
A starter in which something could not be evaluated is not trusted any more: jobs that have it go on, later ones get a new one.
Limits: what a job leaves in its own folder is the caller's to remove.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from piton.catalog import read_submission
from piton.core.errors import TargetUnavailableError, UsageError
from piton.core.protocols import Runner, Target
from piton.core.report import Report
from piton.core.submission import Submission
from piton.core.verdict import Cause
from piton.evaluate.admit import check_trust
from piton.evaluate.foreign import SuiteRequest, open_suite
from piton.evaluate.journal import NAME as JOURNAL
from piton.evaluate.journal import DamagedJournalError, OtherEvaluationError
from piton.evaluate.pipeline import check_target, evaluate_on, open_target
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import Events, StageProgress
from piton.evaluate.sandbox import make_runner
from piton.server.records import JobRecord
from piton.server.settings import ServeSettings


class StoppedError(Exception):
    """The evaluation was told to stop; what it finished is in its journal."""


@dataclass
class _Lent:
    """A starter of processes and how many jobs have it."""

    runner: Runner
    close: Callable[[], None]
    users: int = 0


class EvaluationCore:
    """Evaluates jobs; safe to call from several threads."""

    def __init__(self, settings: ServeSettings, tell: Callable[[str], None] = lambda _text: None) -> None:
        """Open the targets and probe the isolation; `tell` hears of what takes long. Raises PitonError for what the person at the server has to put right."""
        self._settings = settings
        self._tell = tell
        self._lock = threading.Lock()
        self._targets = {name: self._open(name) for name in settings.targets}
        self._current: _Lent | None = None
        self._is_closed = False
        with self._runner() as runner:
            self.isolation = runner.isolation

    def prepare(self) -> None:
        """Read the suites and build what is the targets' own, so that the first job does not wait for it.

        Raises PitonError when something is missing: a suite or an operator that there isn't is no mistake of the clients'.
        """
        self._check_suites()
        with self._runner() as runner:
            for target in self._targets.values():
                target.toolchain.prepare(runner)

    def evaluate(self, record: JobRecord, folder: Path, events: Events, is_stopped: Callable[[], bool]) -> Report:
        """The report on a job whose files lie in `folder`; a journal that is there is gone on with. Raises StoppedError once `is_stopped` says so.

        Raises PitonError for what the client or the person at the server has to put right.
        """
        request = self.request_of(record, folder)
        try:
            report = self._evaluate(request, events, is_stopped)
        except (OtherEvaluationError, DamagedJournalError):  # of another version of Piton or of the suite, or torn by a power cut
            report = self._evaluate(request.model_copy(update={"is_resumed": False}), events, is_stopped)
        if any(case.outcome.cause is Cause.INTERRUPTED for item in report.operators for case in item.cases):
            raise StoppedError
        return report

    def request_of(self, record: JobRecord, folder: Path) -> EvaluationRequest:
        """What the job asks for, with the server's choice where it says nothing."""
        settings, options = self._settings, record.options
        self._check_offer(record)
        run_dir = folder / "run"
        return EvaluationRequest(
            submission=str(submission_folder(folder, record.submission_digest)),
            run_dir=str(run_dir),
            cache_dir=settings.cache_dir,
            suite=settings.suites_by_name[options.suite] if options.suite else settings.suites[0],
            target=options.target or settings.targets[0],
            operators=options.operators or settings.operators,
            levels=options.levels,
            cases=options.cases,
            max_elements=options.max_elements,
            is_fast=options.is_fast,
            jobs=settings.jobs,
            seed=settings.seed if options.seed is None else options.seed,
            trials=options.trials or settings.trials,
            integrity=settings.integrity,
            precision_profile=options.precision_profile or settings.precision_profile,
            accuracy=options.accuracy or settings.accuracy,
            auto_sync=options.auto_sync,
            engine=settings.engine,
            isolation=settings.isolation,
            is_trusted=settings.is_trusted,
            is_resumed=(run_dir / JOURNAL).is_file(),
            bounds=settings.bounds,
        )

    def _check_offer(self, record: JobRecord) -> None:
        """A job of an earlier start may ask for what this one no longer offers: it failed, and is evaluated anew where it is offered again."""
        target, suite = record.options.target, record.options.suite
        if target and target not in self._targets:
            raise TargetUnavailableError("the server no longer offers the target of this job", expected=", ".join(self._targets), found=target)
        if suite and suite not in self._settings.suites_by_name:
            raise TargetUnavailableError("the server no longer offers the suite of this job", expected=", ".join(self._settings.suites_by_name), found=suite)

    def close(self) -> None:
        """End every process; an evaluation in progress fails."""
        with self._lock:
            self._is_closed = True
            lent, self._current = self._current, None
        if lent is not None:
            lent.close()

    def _evaluate(self, request: EvaluationRequest, events: Events, is_stopped: Callable[[], bool]) -> Report:
        with self._runner() as runner:
            try:
                report = evaluate_on(self._targets[request.target], runner, request, events, is_stopped)
            except Exception:
                self._retire(runner)
                raise
            if any(case.void for item in report.operators for case in item.cases):
                self._retire(runner)
            return report

    def _check_suites(self) -> None:
        settings = self._settings
        operators: set[str] = set()
        for name in settings.suites:
            suite = open_suite(SuiteRequest(suite=name, cache_dir=settings.cache_dir, is_trusted=settings.is_trusted, operators=settings.operators))
            check_trust(suite, is_trusted=settings.is_trusted)
            operators.update(member.operator.name for member in suite.members)
        if unknown := [name for name in settings.operators if name not in operators]:
            raise UsageError("no suite of this server has that operator", found=unknown[0], action="`piton suite show` lists them; correct --op")

    def _open(self, name: str) -> Target:
        settings = self._settings
        target = open_target(EvaluationRequest(submission="", run_dir="", cache_dir=settings.cache_dir, target=name, engine=settings.engine), self._hear)
        check_target(target)
        return target

    def _hear(self, event: object) -> None:
        """Building a target's own parts can take minutes, which are not silent ones."""
        if isinstance(event, StageProgress):
            self._tell(event.message)

    @contextmanager
    def _runner(self) -> Iterator[Runner]:
        lent = self._borrow()
        try:
            yield lent.runner
        finally:
            self._give_back(lent)

    def _borrow(self) -> _Lent:
        with self._lock:
            if self._is_closed:
                raise StoppedError
            if self._current is None:
                runner = make_runner(demanded=self._settings.isolation, engine=self._settings.engine)
                self._current = _Lent(runner, runner.close)
            self._current.users += 1
            return self._current

    def _give_back(self, lent: _Lent) -> None:
        with self._lock:
            lent.users -= 1
            is_last = lent.users == 0 and lent is not self._current
        if is_last:
            lent.close()

    def _retire(self, runner: Runner) -> None:
        """Lend this starter to nobody any more; the last job that has it closes it."""
        with self._lock:
            if self._current is not None and self._current.runner is runner:
                self._current = None


def submission_folder(folder: Path, digest: str) -> Path:
    """Where the immutable copy of a job's submission lies."""
    return folder / "submission" / digest


def keep_submission(source: Path, folder: Path) -> Submission:
    """Copy a submission into the folder of a job. Raises UsageError or FormatError for what is none."""
    return read_submission(source, folder / "submission")
