"""Opening a suite of any format: four artifacts are read, tasks of other benchmarks are described once in a sandbox and kept by content."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path

import piton.catalog.adapters
import piton.core.foreign
import piton.numerics.foreign
from piton.catalog.adapters import Found, find_suite, write_user_suite
from piton.catalog.adapters.artifacts import copy_task, read_member, task_key, write_facts
from piton.core.canonical import digest_bytes
from piton.core.errors import EvaluatorError, FormatError, UsageError
from piton.core.foreign import ForeignTask, SizeBudget, SuiteFormat, TaskFacts
from piton.core.protocols import Limits, Role, Runner
from piton.core.suite import Suite, SuiteOperator
from piton.evaluate.cache import memory_file
from piton.evaluate.suite_memory import load_unchanged
from piton.evaluate.worker.describe_worker import DescribeReply, DescribeRequest

_ENTRY = "piton.evaluate.worker.describe_worker:serve"
_FOLDER = "foreign"
_CPU_S = 300
"""Processor time that describing a task may take: what a busy machine does beside it does not decide whether a task loads."""
_DEADLINE_S = 1200.0
"""Wall-clock time, for a task that waits for something."""
_MAX_REPLY_BYTES = 64 << 20

Progress = Callable[[str], None]


@dataclass(frozen=True)
class SuiteRequest:
    """Which suite, in which form, and how much of it."""

    suite: str
    cache_dir: str
    format: str = ""
    """Empty: recognised."""
    budget: SizeBudget = field(default_factory=SizeBudget)
    is_trusted: bool = False
    operators: tuple[str, ...] = ()
    """Of a foreign suite describe only these; empty for all."""
    levels: tuple[int, ...] = ()


def open_suite(request: SuiteRequest, progress: Progress | None = None) -> Suite:
    """The suite. Tasks of another benchmark are described first, which runs their code in a sandbox and so asks for trust.

    Raises UsageError for a folder that is no suite or is not trusted, FormatError for a file of another form. A task that can't become an operator is
    in `Suite.left_out` with the reason.
    """
    found = find_suite(request.suite, request.format)
    if found is None:
        return load_unchanged(request.suite)
    if found.format is SuiteFormat.USER:
        return write_user_suite(Path(found.root), Path(request.cache_dir) / _FOLDER)
    if not request.is_trusted:
        problem = f"{found.name} is a suite of {found.format.value}: its tasks are code, and running that is the only way to learn their signatures"
        raise UsageError(problem, where=found.root, action="read them, then add --trust to run them (they run in a sandbox of their own)")
    return _describe_suite(found, request, progress or _silent)


def _silent(text: str) -> None:
    del text


def _describe_suite(found: Found, request: SuiteRequest, progress: Progress) -> Suite:
    wanted = [task for task in found.tasks if _is_wanted(task, request)]
    if not wanted:
        _refuse_nothing(found, request)
    root = Path(request.cache_dir).absolute() / _FOLDER
    root.mkdir(parents=True, exist_ok=True)
    left_out = {task.name: "" for task in found.tasks if task not in wanted}
    members: list[SuiteOperator] = []
    with _Describer(root, request.budget, progress) as describer:
        for number, task in enumerate(wanted, 1):
            made = describer.try_member(task, f"{number} of {len(wanted)}")
            if isinstance(made, SuiteOperator):
                members.append(made)
            else:
                left_out[task.name] = made
    if not members:
        name, reason = next((name, text) for name, text in left_out.items() if text)
        raise UsageError(f"no task of {found.name} can become an operator", found=f"{len(wanted)} tasks; the first, {name}: {reason}", where=found.root)
    return Suite(name=found.name, version=found.version, root=str(root), is_foreign=True, members=tuple(members), left_out=left_out)


def _is_wanted(task: ForeignTask, request: SuiteRequest) -> bool:
    return (not request.operators or task.name in request.operators) and (not request.levels or task.level in request.levels)


def _refuse_nothing(found: Found, request: SuiteRequest) -> None:
    names = ", ".join(task.name for task in found.tasks[:8])
    asked = ", ".join((*request.operators, *(f"level {level}" for level in request.levels)))
    raise UsageError(
        f"suite {found.name} has no operator {asked}", expected=f"one of its {len(found.tasks)}: {names} ...", action="see `piton suite list PATH`"
    )


class _Describer:
    """Describes tasks, or finds what was learned of them before; its sandbox starts with the first one that is new."""

    def __init__(self, root: Path, budget: SizeBudget, progress: Progress) -> None:
        self._root = root
        self._budget = budget
        self._progress = progress
        self._runner: Runner | None = None

    def __enter__(self) -> _Describer:
        return self

    def __exit__(self, *_: object) -> None:
        if self._runner is not None:
            self._runner.close()

    def try_member(self, task: ForeignTask, count: str) -> SuiteOperator | str:
        """The task as an operator, or why it can't become one."""
        try:
            return self.member(task, count)
        except (EvaluatorError, FormatError) as error:
            return str(error)

    def member(self, task: ForeignTask, count: str) -> SuiteOperator:
        """The task as an operator. Raises EvaluatorError when it can't become one."""
        folder = self._root / task_key(task, self._budget, _tools())
        known = read_member(task, folder)
        if known is not None:
            return known
        self._progress(f"describing {task.name} ({count})")
        with _new_folder(self._root) as place:
            facts = self._ask(task, copy_task(task, place))
            write_facts(task, facts, place)
            _publish(place, folder)
        made = read_member(task, folder)
        if made is None:
            raise EvaluatorError("what was learned of a task can't be read back", where=str(folder), action="delete that folder")
        return made

    def _ask(self, task: ForeignTask, folder: Path) -> TaskFacts:
        request = DescribeRequest(task=task, folder=str(folder), budget=self._budget)
        with memory_file() as descriptor:
            process = self._start().fork_worker(
                Role.GOLDEN, _ENTRY, {"request": request.model_dump_json()}, {"reply": descriptor}, _limits(self._budget), (str(folder.parent),)
            )
            ended = process.wait(_DEADLINE_S)
            if ended is None:
                process.kill()
                raise _too_long(task, f"more than {_DEADLINE_S:.0f} s")
            if ended.signal is not None and ended.cpu_s >= _CPU_S - 1:
                raise _too_long(task, f"more than {_CPU_S} s of processor time")
            data = os.pread(descriptor, _MAX_REPLY_BYTES, 0)
        return _parse(data, task, ended.stderr)

    def _start(self) -> Runner:
        from piton.evaluate.sandbox import make_runner

        if self._runner is None:
            self._runner = make_runner()
        return self._runner


def _too_long(task: ForeignTask, found: str) -> EvaluatorError:
    return EvaluatorError("describing the task did not end in time", where=task.name, found=found)


def _parse(data: bytes, task: ForeignTask, errors: str) -> TaskFacts:
    if not data:
        found = "\n".join(errors.strip().splitlines()[-3:]) or "no message"
        raise EvaluatorError("the process that describes the task died", where=task.name, found=found)
    try:
        reply = DescribeReply.model_validate_json(data)
    except ValueError as error:
        raise EvaluatorError("the process that describes the task answered nonsense", where=task.name, found=str(error).splitlines()[0]) from None
    if reply.facts is None:
        raise EvaluatorError(reply.error or "no facts and no reason")
    if reply.facts.operator.name != task.name or any(case.operator != task.name for case in reply.facts.cases) or not reply.facts.cases:
        raise EvaluatorError("the process that describes the task answered for another one", where=task.name)
    return reply.facts


def _limits(budget: SizeBudget) -> Limits:
    return Limits(wall_s=_DEADLINE_S, cpu_s=_CPU_S, memory_bytes=budget.memory_bytes + (1 << 30), file_bytes=1 << 30)


@contextmanager
def _new_folder(root: Path) -> Iterator[Path]:
    """A folder beside the kept ones that is gone afterwards, unless it was published."""
    place = Path(tempfile.mkdtemp(dir=root, prefix="new-"))
    place.chmod(0o755)  # workers are another user
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _publish(place: Path, folder: Path) -> None:
    if folder.exists():  # damaged, or another process was first: read_member tells
        shutil.rmtree(folder, ignore_errors=True)
    try:
        place.rename(folder)
    except OSError:  # another process put an equal one there meanwhile
        if not folder.is_dir():
            raise


@cache
def _tools() -> tuple[str, ...]:
    """What decides how a task is read: our own code by content, and torch."""
    folders = [Path(str(module.__file__)).parent for module in (piton.numerics.foreign, piton.catalog.adapters)]
    files: Sequence[Path] = [*(path for folder in folders for path in sorted(folder.glob("*.py"))), Path(str(piton.core.foreign.__file__))]
    return (*(digest_bytes(path.read_bytes()) for path in files), version("torch"))
