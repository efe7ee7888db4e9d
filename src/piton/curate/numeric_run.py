"""Numeric lint of a suite: cases in lanes, results kept by content, so that a lint that was stopped goes on, and one that is repeated runs nothing."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import ValidationError

import piton.curate
from piton.catalog.description import FILE as TEXT
from piton.core.canonical import digest, digest_bytes, plain
from piton.core.case import Case
from piton.core.errors import EvaluatorError
from piton.core.protocols import Limits, Role, Runner
from piton.core.suite import Suite
from piton.curate import checks
from piton.curate.numeric import VALIDATING, CaseNumbers, CaseRuns, failed_case, judge_case
from piton.curate.violation import Problem, Subject, Violation, report
from piton.evaluate.cache import TensorStore, ValueStore
from piton.evaluate.golden_service import GoldenService, GoldenSettings, generator_parts
from piton.evaluate.memory import MemoryGuard, available_bytes, call_bytes
from piton.evaluate.schedule import run_in_lanes
from piton.evaluate.worker.example_worker import MESSAGE_BYTES, ExampleRequest

DEFAULT_ELEMENTS = 4_000_000
"""Cases up to this size are run unless asked for more: half a minute per operator instead of minutes."""
FOLDER = "lint"
_SEEDS = (0, 1)
"""Of the case as it is evaluated by default, and of the stale output."""
_MEMORY_SHARE = 0.7
_DEADLINE_S = 1800.0
_EXAMPLE_S = 120.0
_ENTRY = "piton.evaluate.worker.example_worker:serve"
_CHECKS = {check.name: check for check in checks.NUMERIC}


@dataclass(frozen=True)
class NumericOptions:
    """How much is run, and how."""

    cache_dir: Path
    largest_elements: int | None = DEFAULT_ELEMENTS
    """None runs all."""
    jobs: int = 1
    is_secret: bool = False
    """Hidden cases: neither their data nor what was found of them stays on disk."""


@dataclass(frozen=True)
class NumericTask:
    """One case to run."""

    subject: Subject
    case: Case
    key: str


@dataclass(frozen=True)
class NumericResult:
    """What a numeric lint found."""

    violations: tuple[Violation, ...]
    ran: dict[str, int]
    """Cases looked at, by operator."""
    kept: int
    """Of these, taken from an earlier lint."""
    is_complete: bool


Told = Callable[[str, int, int], None]
"""Hears of each finished case: name, number of finished ones, number of all."""


def check_numbers(suite: Suite, subjects: Sequence[Subject], runner: Runner, options: NumericOptions, told: Told) -> NumericResult:
    """Run and judge the cases of `subjects` up to the size of the options. Ctrl-C ends it early; what is finished is kept."""
    store = None if options.is_secret else ValueStore(options.cache_dir / FOLDER)
    tasks = [_task(suite, subject, case) for subject in subjects for case in subject.cases if _is_wanted(case, options)]
    known = {task.key: found for task in tasks if (found := _load(store, task.key)) is not None}
    left = [task for task in tasks if task.key not in known]
    done = len(known)

    def finished(task: NumericTask, numbers: CaseNumbers) -> None:
        nonlocal done
        known[task.key] = numbers
        if store is not None and numbers.has_run:  # a golden that failed may have lacked memory or time: it is tried again
            store.keep(task.key, plain(numbers))
        done += 1
        told(f"{task.subject.operator.name}/{task.case.id}", done, len(tasks))

    told("", done, len(tasks))
    is_complete = _run(suite, left, runner, options, finished)
    by_operator: dict[str, list[CaseNumbers]] = defaultdict(list)
    for task in tasks:
        if task.key in known:
            by_operator[task.subject.operator.name].append(known[task.key])
    violations = [item for subject in subjects for item in conclude(subject, by_operator[subject.operator.name])]
    if is_complete:
        violations += [item for subject in subjects for item in check_examples(subject, runner)]
    return NumericResult(tuple(violations), {name: len(found) for name, found in by_operator.items()}, len(tasks) - len(left), is_complete)


def conclude(subject: Subject, records: Sequence[CaseNumbers]) -> Iterator[Violation]:
    """Violations that the records of an operator's cases show, case by case and then together."""
    for record in records:
        for item in record.problems:
            yield report(_CHECKS[item.check], subject, item.problem)
        if record.has_run:
            yield from _impostor_violations(subject, record)
    yield from _sibling_violations(subject, {record.case: record for record in records if record.has_run})
    yield from _output_violations(subject, [record for record in records if record.has_run])


def _impostor_violations(subject: Subject, record: CaseNumbers) -> Iterator[Violation]:
    allowed = _allowed(subject, record.case)
    for name in record.accepted:
        if name not in allowed and name not in record.exact:
            action = "change the case; if no data can tell them apart, list it as degenerate with a sibling that does"
            problem = Problem(problem=f"the case accepts the impostor {name}", expected="it is refused", case=record.case, action=action)
            yield report(checks.IMPOSTORS, subject, problem)
    for name in sorted(allowed - set(record.accepted)) if subject.origin == "public" else ():
        problem = Problem(problem=f"listed as degenerate for {name}, but refuses it", case=record.case, action="take the entry out of proto.yaml")
        yield report(checks.DEGENERATE_TRUE, subject, problem)


def _allowed(subject: Subject, case_id: str) -> set[str]:
    """Impostors that the case may accept: as listed for public ones, by its family for drawn ones."""
    if subject.origin == "public":
        return {name for entry in subject.degenerate if entry.case == case_id for name in entry.impostors}
    case = next(item for item in subject.cases if item.id == case_id)
    family, rules = case.note.rpartition(" | ")[2], subject.rules.degenerate if subject.rules else ()
    dtype = case.inputs[0].dtype.value
    return {name for rule in rules if rule.family == family and (not rule.dtypes or dtype in rule.dtypes) for name in rule.impostors}


def _sibling_violations(subject: Subject, records: dict[str, CaseNumbers]) -> Iterator[Violation]:
    for entry in subject.degenerate:
        record = records.get(entry.sibling)
        through = set(entry.impostors) & set(record.accepted) if record else set()
        if through:
            found = f"accepts {', '.join(sorted(through))}"
            yield report(checks.SIBLING_REJECTS, subject, Problem(problem="the sibling accepts an impostor too", found=found, case=entry.case))


def _output_violations(subject: Subject, records: Sequence[CaseNumbers]) -> Iterator[Violation]:
    if not records:
        return
    for spec in subject.operator.outputs:
        refused = {name for record in records for name in record.refused.get(spec.name, ())}
        if not refused & set(VALIDATING):
            problem = Problem(problem=f"nothing validates output {spec.name}", expected=f"a case that refuses {', '.join(VALIDATING)} in it", found="none")
            yield report(checks.OUTPUT_VALIDATED, subject, problem)


def check_examples(subject: Subject, runner: Runner) -> Iterator[Violation]:
    """Run the Python blocks of desc.md of one of Piton's own suites, each in a worker of its own."""
    if subject.description is None or not subject.is_own or subject.origin != "public":
        return
    file = str(subject.folder / TEXT)
    for block in subject.description.blocks:
        if block.language in ("python", "py"):
            goldens = {subject.operator.name: subject.operator.golden_path}
            error, line = _run_example(ExampleRequest(code=block.code, goldens=goldens, file=file, line=block.line), runner, subject.folder)
            if error:
                problem = Problem(problem="an example of desc.md does not run", found=error, where=f"{file}:{line}", action="correct it")
                yield report(checks.DESC_CODE_RUNS, subject, problem)


def _run_example(request: ExampleRequest, runner: Runner, folder: Path) -> tuple[str, int]:
    """Error text and line, or an empty text."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            limits = Limits(wall_s=_EXAMPLE_S, cpu_s=int(_EXAMPLE_S))
            process = runner.fork_worker(Role.GOLDEN, _ENTRY, {}, {"control": theirs.fileno()}, limits, (str(folder),))
        try:
            ours.settimeout(_EXAMPLE_S)
            ours.send(request.model_dump_json().encode())
            reply = json.loads(ours.recv(MESSAGE_BYTES) or b'{"error": "the process died"}')
        except (OSError, ValueError) as error:
            reply = {"error": f"no answer: {error}"}
        finally:
            process.kill()
    return str(reply.get("error", "")), int(reply.get("line", request.line))


def _is_wanted(case: Case, options: NumericOptions) -> bool:
    return options.largest_elements is None or case.elements <= options.largest_elements


def _task(suite: Suite, subject: Subject, case: Case) -> NumericTask:
    operator = subject.operator.model_dump(mode="python", exclude={"golden_path"})
    rules = subject.rules.digest if subject.rules else ""
    return NumericTask(subject, case, digest([_code_parts(), suite.version, operator, case.digest(), rules, _SEEDS]))


@cache
def _code_parts() -> tuple[str, ...]:
    """Everything that judges numbers, by content: a changed check looks at every case again."""
    own = [digest_bytes(path.read_bytes()) for path in sorted(Path(piton.curate.__file__).parent.glob("*.py"))]
    return (*generator_parts(), *own)


def _load(store: ValueStore | None, key: str) -> CaseNumbers | None:
    found = store.load(key) if store is not None else None
    try:
        return CaseNumbers.model_validate_json(json.dumps(found)) if found is not None else None
    except ValidationError:
        return None


def _run(suite: Suite, tasks: list[NumericTask], runner: Runner, options: NumericOptions, finished: Callable[[NumericTask, CaseNumbers], None]) -> bool:
    """Run all tasks; False when Ctrl-C cut them short."""
    if not tasks:
        return True
    guard = MemoryGuard(int(available_bytes() * _MEMORY_SHARE))
    store = TensorStore(options.cache_dir / "golden", 0)  # nothing stays: with every seed and impostor, goldens of a lint would crowd out those of evaluations
    services = [GoldenService(runner, store, GoldenSettings(suite.version, seed, (suite.root,), _DEADLINE_S), guard, workers=1) for seed in _SEEDS]
    stop = threading.Event()  # of all lanes: the first one that is interrupted ends the goldens of the others
    try:
        _, is_interrupted = run_in_lanes(tasks, options.jobs, lambda number: _NumericLane(services, guard, finished, options.jobs, stop))
    finally:
        for service in services:
            service.close()
    return not is_interrupted


class _NumericLane:
    """Implements `schedule.Lane`."""

    def __init__(
        self, services: Sequence[GoldenService], guard: MemoryGuard, finished: Callable[[NumericTask, CaseNumbers], None], jobs: int, stop: threading.Event
    ) -> None:
        self._services, self._guard, self._finished = services, guard, finished
        self._threads = max(1, (os.cpu_count() or 1) // jobs)
        self._stop = stop

    def run(self, task: NumericTask) -> CaseNumbers | None:
        """Look at one case."""
        operator, case = task.subject.operator, task.case
        try:
            numbers = self._judge(task)
        except EvaluatorError as error:
            numbers = failed_case(operator, case, error)
        if self._stop.is_set():
            return None
        self._finished(task, numbers)
        return numbers

    def interrupt(self) -> None:
        """End the golden runs in progress."""
        self._stop.set()
        for service in self._services:
            service.close()

    def close(self) -> None:
        """The services are shared; their owner closes them."""

    def _judge(self, task: NumericTask) -> CaseNumbers:
        operator, case = task.subject.operator, task.case
        data, stale = (service.fetch(operator, case) for service in self._services)
        with self._guard.reserve(call_bytes(case), f"{operator.name}/{case.id}"):
            native = self._services[0].native(operator, case)
            return judge_case(CaseRuns(operator, case, task.subject.rules, data, native, stale, self._threads))
