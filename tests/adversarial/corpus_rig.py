"""Evaluates submissions of the corpus, all with one target and one starter of processes, and says where the report is not what the corpus expects."""

from __future__ import annotations

import itertools
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from corpus_form import HERE, Entry, Expected

from piton.cli.evaluation import cache_dir
from piton.core.protocols import ENGINE_APART
from piton.core.report import CaseResult, Report
from piton.core.verdict import LEFT_OUT, Cause
from piton.evaluate.pipeline import evaluate_on, open_target
from piton.evaluate.policy import Bounds, EvaluationRequest, HiddenRequest
from piton.evaluate.progress import ignore
from piton.evaluate.sandbox import make_runner
from piton.evaluate.sandbox.levels import reached
from piton.evaluate.sandbox.probe import Mechanisms

sys.path.append(str(Path(__file__).resolve().parents[1] / "submissions"))

from variants import SUITE_OPERATOR, Case, write_suite

CASES = (
    Case("first", (2053,), "float32"),
    Case("again", (2053,), "float32"),
    Case("matrix", (31, 67), "float32"),
    Case("small", (96,), "float32"),
    Case("last", (2053,), "float32"),
)
"""Three of one shape, one of another, one whose output is below the allowance for copies."""
_HIDDEN_ELEMENTS = 1 << 22
Change = Callable[[Path], None]
"""Changes the files of a submission that was put together, such as the renaming of all it can name."""


class CorpusRig:
    """Evaluates submissions below `folder`, with the strongest isolation of this machine or with exactly the given mechanisms."""

    def __init__(self, folder: Path, mechanisms: Mechanisms | None = None) -> None:
        self._folder = folder
        self._suite = write_suite(folder / "suite", CASES)
        shutil.copy(SUITE_OPERATOR / "rules.yaml", self._suite / "level1" / "exp")
        self._key = folder / "hidden.key"
        self._key.write_text("0123456789abcdef" * 4 + "\n")
        self._key.chmod(0o600)
        self._runner = make_runner(mechanisms)
        self._numbers = itertools.count(1)
        self._honest: Report | None = None
        self._lock = threading.Lock()

    def level(self, entry: Entry) -> int:
        """The level of isolation that a submission is evaluated at."""
        apart = (ENGINE_APART,) if entry.evaluated.engine == "own-process" else ()
        return reached((*self._runner.isolation, *apart))

    def close(self) -> None:
        """End the starter of processes."""
        self._runner.close()

    def evaluate(self, entry: Entry, change: Change | None = None) -> Report:
        """The report on one submission, changed by `change`."""
        place = self._folder / f"evaluation{next(self._numbers)}"
        submission = put_together(entry, place / "submission")
        if change is not None:
            change(submission)
        request = self._request(entry, submission, place)
        return evaluate_on(open_target(request, ignore), self._runner, request)

    def complaints(self, entry: Entry, report: Report) -> list[str]:
        """Where the report is not what the corpus expects."""
        cases = [case for operator in report.operators for case in operator.cases if case.outcome.cause not in LEFT_OUT]
        found = [line for case in cases for line in _of_case(entry, case)]
        kinds = {finding.kind.value for case in cases for finding in case.findings}
        found += [f"no finding {kind}; there are: {', '.join(sorted(kinds)) or 'none'}" for kind in entry.expected.findings if kind not in kinds]
        if entry.expected.time == "honest":
            found += [line for case in cases if case.time is not None for line in self._of_time(case)]
        for case in cases:
            if case.time is not None and case.time.value < entry.expected.least_us:
                found.append(f"{case.case.id}: {case.time.value} us, it waits for {entry.expected.least_us} us")
        return found if cases else ["no case was evaluated"]

    def _request(self, entry: Entry, submission: Path, place: Path) -> EvaluationRequest:
        how = entry.evaluated
        return EvaluationRequest(
            submission=str(submission),
            suite=str(self._suite),
            target=entry.target,
            run_dir=str(place / "run"),
            cache_dir=str(cache_dir()),
            cases=how.cases,
            seed=how.seed,
            trials=how.trials,
            integrity=how.integrity,
            engine=how.engine,
            hidden=HiddenRequest(key_file=str(self._key), count=6, detail="all") if how.is_hidden else None,
            is_trusted=True,
            max_elements=_HIDDEN_ELEMENTS if how.is_hidden else None,
            bounds=Bounds(host_deadline_s=how.deadline_s),
        )

    def _of_time(self, case: CaseResult) -> list[str]:
        with self._lock:
            self._honest = self._honest or self.evaluate(Entry(name="plain", title="honest", expected=Expected(cases={})))
        (operator,) = self._honest.operators
        same = next(item for item in operator.cases if item.case.id == case.case.id)
        assert same.time is not None, same.outcome
        assert case.time is not None
        equal = same.time.samples == case.time.samples
        return [] if equal else [f"{case.case.id}: {case.time.samples} us, the honest submission takes {same.time.samples} us"]


def put_together(entry: Entry, folder: Path) -> Path:
    """The files of a submission in `folder`, upon those of its target's base."""
    ignored = shutil.ignore_patterns("entry.yaml", "__pycache__")
    shutil.copytree(HERE / ("base_cpu" if entry.target == "cpu" else "base"), folder, ignore=ignored)
    shutil.copytree(entry.folder, folder, ignore=ignored, dirs_exist_ok=True)
    return folder


def _of_case(entry: Entry, case: CaseResult) -> list[str]:
    allowed, found = entry.expected.causes(case.case.id), case.outcome
    if case.void:
        return [f"{case.case.id}: could not be evaluated: {case.void}"]
    if found.cause.value not in allowed:
        return [f"{case.case.id}: expected {' or '.join(allowed) or 'no such case'}, found {found.cause.value}: {found.message}"]
    return [f"{case.case.id}: a time for what did not pass"] if case.time is not None and found.cause is not Cause.NONE else []
