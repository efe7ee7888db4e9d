"""Is a suite usable here? Each golden runs in float64 and in its own precision, and the second is judged by the first like a submission's output.

Results are kept by content (code that judges, golden, case), so that a check that was stopped goes on, and one that is repeated runs nothing. Golden outputs
are not kept: those of a whole suite are some hundred gigabytes.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pydantic import ValidationError

import piton.evaluate
from piton.core.canonical import digest, digest_bytes, plain
from piton.core.case import Case
from piton.core.errors import EvaluatorError
from piton.core.operator import Frozen, Operator
from piton.core.suite import Suite
from piton.core.verdict import PASSED, Outcome, Verdict
from piton.evaluate.cache import TensorStore, ValueStore
from piton.evaluate.check import Expectation, check_outputs
from piton.evaluate.golden_service import CaseData, GoldenService, GoldenSettings, generator_parts
from piton.evaluate.memory import MemoryGuard, available_bytes, call_bytes
from piton.evaluate.policy import Bounds
from piton.evaluate.schedule import run_in_lanes
from piton.numerics.impostors import as_output

FOLDER = "check"
_SAMPLE_S = 0.2


class CaseCheck(Frozen):
    """What became of one case."""

    operator: str
    case: str
    elements: int
    is_run: bool
    """Both runs came to an end."""
    outcome: Outcome
    """Of the same-dtype run, judged as a submission would be; passed where there was no run to judge."""
    error: str
    """Why there was none."""
    golden_bytes: int
    """Inputs and outputs together."""
    seconds: float
    """Wall-clock, both runs and the comparison, when it was run; a kept result has its old one."""
    remarks: tuple[str, ...]
    is_kept: bool = False
    """True for the result of an earlier check of the same code and data."""

    @property
    def is_usable(self) -> bool:
        """True when both goldens run and agree."""
        return self.is_run and self.outcome.verdict is Verdict.PASSED


class CheckSummary(Frozen):
    """What a check took."""

    wall_s: float
    goldens_run: int
    """Golden runs of either precision."""
    kept: int
    """Cases whose results were there already."""
    saved_s: float
    """Seconds that these took when they were run."""
    most_memory_bytes: int
    """Largest drop of the machine's available memory below that at the start, sampled; what other programs did counts in."""
    is_complete: bool = True
    """False when Ctrl-C cut it short."""


@dataclass(frozen=True)
class CheckSettings:
    """How a suite is checked."""

    cache_dir: Path
    jobs: int = 1
    largest_elements: int | None = None
    """Larger cases are left out."""
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True)
class _Task:
    operator: Operator
    case: Case
    remarks: tuple[str, ...]
    key: str


Told = Callable[[CaseCheck, int, int], None]
"""Hears of each case, the number of finished ones and of all."""


def check_cases(suite: Suite, settings: CheckSettings, told: Told) -> tuple[tuple[CaseCheck, ...], CheckSummary]:
    """Check every case up to the size of the settings, in lanes; results in the order of the suite. Ctrl-C ends it early, and what is finished is kept."""
    started, memory = time.monotonic(), _MemoryWatch()
    store = ValueStore(settings.cache_dir / FOLDER)
    tasks = [task for task in _tasks(suite) if settings.largest_elements is None or task.case.elements <= settings.largest_elements]
    checks = {task.key: found for task in tasks if (found := _kept(store, task)) is not None}
    kept = tuple(checks.values())
    for number, check in enumerate(kept, start=1):
        told(check, number, len(tasks))

    def finished(task: _Task, check: CaseCheck) -> None:
        checks[task.key] = check
        if check.is_run:  # a golden that failed may have lacked memory or time: it is tried again
            store.keep(task.key, plain(check))
        told(check, len(checks), len(tasks))

    with memory:
        is_complete, executed = _run(suite, [task for task in tasks if task.key not in checks], settings, finished)
    summary = CheckSummary(
        wall_s=time.monotonic() - started,
        goldens_run=executed,
        kept=len(kept),
        saved_s=sum(check.seconds for check in kept),
        most_memory_bytes=memory.most_bytes,
        is_complete=is_complete,
    )
    return tuple(checks[task.key] for task in tasks if task.key in checks), summary


def slowest(checks: Sequence[CaseCheck], count: int = 10) -> tuple[CaseCheck, ...]:
    """The cases that took longest, the slowest first."""
    return tuple(sorted(checks, key=lambda check: -check.seconds)[:count])


def _tasks(suite: Suite) -> Iterator[_Task]:
    for member in suite.members:
        operator = member.operator.model_dump(mode="python", exclude={"golden_path"})
        for case in member.cases:
            key = digest([_code_parts(), suite.version, operator, case.digest()])
            yield _Task(member.operator, case, member.remarks, key)


@cache
def _code_parts() -> tuple[str, ...]:
    """Everything that makes and judges numbers, by content."""
    folder = Path(piton.evaluate.__file__).parent
    return (*generator_parts(), *(digest_bytes((folder / name).read_bytes()) for name in ("check.py", "suite_check.py")))


def _kept(store: ValueStore, task: _Task) -> CaseCheck | None:
    found = store.load(task.key)
    try:
        check = CaseCheck.model_validate_json(json.dumps(found)) if found is not None else None
    except ValidationError:
        return None
    return None if check is None else check.model_copy(update={"is_kept": True, "remarks": task.remarks})


def _run(suite: Suite, tasks: Sequence[_Task], settings: CheckSettings, finished: Callable[[_Task, CaseCheck], None]) -> tuple[bool, int]:
    """Run all tasks; False when Ctrl-C cut them short, and the number of golden runs."""
    if not tasks:
        return True, 0
    from piton.evaluate.sandbox import make_runner

    guard = MemoryGuard(int(available_bytes() * settings.bounds.memory_share))
    store = TensorStore(settings.cache_dir / "golden", 0)
    runner = make_runner()
    try:
        with GoldenService(runner, store, GoldenSettings(suite.version, 0, (suite.root,), settings.bounds.golden_deadline_s), guard, settings.jobs) as goldens:
            stop = threading.Event()  # of all lanes: the first one that is interrupted ends the goldens of the others
            _, is_interrupted = run_in_lanes(tasks, settings.jobs, lambda number: _CheckLane(goldens, guard, finished, settings.jobs, stop))
            return not is_interrupted, goldens.executed
    finally:
        runner.close()


class _CheckLane:
    """Implements `schedule.Lane`."""

    def __init__(self, goldens: GoldenService, guard: MemoryGuard, finished: Callable[[_Task, CaseCheck], None], jobs: int, stop: threading.Event) -> None:
        self._goldens, self._guard, self._finished = goldens, guard, finished
        self._threads = max(1, (os.cpu_count() or 1) // jobs)
        self._stop = stop

    def run(self, task: _Task) -> CaseCheck | None:
        """Check one case."""
        check = self._check(task)
        if self._stop.is_set():
            return None
        self._finished(task, check)
        return check

    def interrupt(self) -> None:
        """End the golden runs in progress."""
        self._stop.set()
        self._goldens.close()

    def close(self) -> None:
        """The service is shared; its owner closes it."""

    def _check(self, task: _Task) -> CaseCheck:
        started = time.monotonic()
        outcome, error, size = PASSED, "", 0
        try:
            data = self._goldens.fetch(task.operator, task.case)
            size = sum(item.data.nbytes for item in data.inputs) + sum(item.data.nbytes for item in data.outputs)
            with self._guard.reserve(call_bytes(task.case), f"{task.operator.name}/{task.case.id}"):
                outcome = self._judge(task, data)
        except EvaluatorError as problem:
            error = str(problem)
        return CaseCheck(
            operator=task.operator.name,
            case=task.case.id,
            elements=task.case.elements,
            is_run=not error,
            outcome=outcome,
            error=error,
            golden_bytes=size,
            seconds=time.monotonic() - started,
            remarks=task.remarks,
        )

    def _judge(self, task: _Task, data: CaseData) -> Outcome:
        native = self._goldens.native(task.operator, task.case)
        expected = Expectation(task.operator, task.case, data.inputs, data.outputs, lambda: native, "strict", self._threads)
        _, outcomes = check_outputs([as_output(item) for item in native], expected)
        return next((item for item in outcomes if item.verdict is not Verdict.PASSED), PASSED)


class _MemoryWatch:
    """How far the machine's available memory falls."""

    def __init__(self) -> None:
        self._start = available_bytes()
        self._stop = threading.Event()
        self.most_bytes = 0

    def __enter__(self) -> _MemoryWatch:
        threading.Thread(target=self._sample, name="memory", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()

    def _sample(self) -> None:
        while not self._stop.wait(_SAMPLE_S):
            with contextlib.suppress(OSError):
                self.most_bytes = max(self.most_bytes, self._start - available_bytes())
