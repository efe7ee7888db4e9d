"""Builds run beside the cases of what is built; a stop ends the compiler; what fails to build has no result, what we could not build is raised."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from piton.core.case import Case
from piton.core.errors import EvaluatorError
from piton.core.execution import Build
from piton.core.operator import Operator
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role, Runner, RunningProcess, Target
from piton.core.report import CaseResult
from piton.core.submission import Manifest, OperatorSources, Submission
from piton.core.verdict import Cause, Outcome, outcome
from piton.evaluate.build import Workplace
from piton.evaluate.build_ahead import BuildsAhead, BuiltFirst, PlannedTask, StoppableRunner
from piton.evaluate.execute import CaseTask
from piton.evaluate.progress import ignore
from piton.evaluate.schedule import run_in_lanes

NAMES = ("first", "second", "third")
JOB = ProcessJob(Role.BUILD, ("compiler",), cwd="/")


class Process:
    """A program that runs until it is killed."""

    pid = 1

    def __init__(self) -> None:
        self.is_killed = threading.Event()

    def poll(self) -> ProcessResult | None:
        return self.wait(0.0)

    def wait(self, timeout_s: float) -> ProcessResult | None:
        return _killed() if self.is_killed.wait(min(timeout_s, 20.0)) else None

    def kill(self) -> ProcessResult:
        self.is_killed.set()
        return _killed()


def _killed() -> ProcessResult:
    return ProcessResult(exit_code=None, signal=9, is_timed_out=False, stdout="", stderr="", seconds=0.0, cpu_s=0.0)


class Starter:
    """A Runner whose programs never end by themselves."""

    isolation = ("nothing",)

    def __init__(self) -> None:
        self.started: list[Process] = []
        self.has_started = threading.Event()

    def start(self, job: ProcessJob) -> RunningProcess:
        del job
        self.started.append(Process())
        self.has_started.set()
        return self.started[-1]

    def run(self, job: ProcessJob) -> ProcessResult:
        raise AssertionError("programs of a build have to be stoppable")

    def fork_worker(
        self, role: Role, entry: str, arguments: Mapping[str, str], fds: Mapping[str, int], limits: Limits, readable: Sequence[str] = ()
    ) -> RunningProcess:
        raise AssertionError("no worker is needed for a build")

    def close(self) -> None:
        pass


Make = Callable[[str, Runner], Outcome | None]


class Tools:
    """A toolchain whose builds do what the test says."""

    def __init__(self, make: Make) -> None:
        self._make = make

    def build(self, submission: Submission, operator: Operator, runner: Runner, build_dir: str) -> Build:
        return Build(operator.name, outcome=self._make(operator.name, runner), key=f"key of {operator.name}")

    def key(self, submission: Submission, operator: Operator, scratch_dir: str) -> str:
        return f"key of {operator.name}"


class Caller:
    """A lane that notes what it is given."""

    def __init__(self) -> None:
        self.called: list[str] = []

    def run(self, task: CaseTask) -> CaseResult | None:
        self.called.append(task.operator.name)
        return cast(CaseResult, f"{task.operator.name} {task.build.key}")

    def interrupt(self) -> None:
        pass

    def close(self) -> None:
        pass


def operator(name: str) -> Operator:
    return Operator(name=name, title=name, level=1, category="c", schema_text=f"{name}(Tensor x) -> Tensor y", inputs=(), outputs=())


def builds(tmp_path: Path, make: Make, runner: Starter | None = None, finished: Callable[[Build], None] = lambda build: None) -> BuildsAhead:
    target = cast(Target, SimpleNamespace(toolchain=Tools(make)))
    sources = tuple(OperatorSources(operator=name, kernels=(f"{name}.cpp",), plugins=()) for name in NAMES)
    submission = Submission(root=str(tmp_path), manifest=Manifest(package="p"), files=(), operators=sources)
    return BuildsAhead(Workplace(target, cast(Runner, runner or Starter()), tmp_path, ignore), submission, {}, finished)


def tasks_of(ahead: BuildsAhead, names: Sequence[str] = NAMES) -> list[PlannedTask]:
    ahead.start([operator(name) for name in names])
    found = [(name, ahead.pending(operator(name))) for name in names]
    return [PlannedTask(operator(name), Case(operator=name, id="1", inputs=()), pending[1], name) for name, pending in found if pending]


def run(ahead: BuildsAhead, tasks: list[PlannedTask], lane: Caller, is_stopped: Callable[[], bool] = lambda: False) -> tuple[list[CaseResult | None], bool]:
    return run_in_lanes(tasks, 1, lambda number: BuiltFirst(lane, ahead.stop), is_stopped)


def test_a_case_runs_while_the_next_operator_is_in_the_compiler(tmp_path: Path) -> None:
    called = threading.Event()

    class First(Caller):
        def run(self, task: CaseTask) -> CaseResult | None:
            called.set()
            return super().run(task)

    def make(name: str, runner: Runner) -> Outcome | None:
        assert name == "first" or called.wait(20)
        return None

    lane = First()
    with builds(tmp_path, make) as ahead:
        results, _ = run(ahead, tasks_of(ahead), lane)
        assert results == [f"{name} key of {name}" for name in NAMES]
        assert [build.outcome for build in ahead.all().values()] == [None] * 3


def test_cases_of_an_operator_that_fails_to_build_have_no_result_and_cost_no_other(tmp_path: Path) -> None:
    failure = outcome(Cause.COMPILE_ERROR, "no")
    heard: list[str] = []
    with builds(tmp_path, lambda name, runner: failure if name == "second" else None, finished=lambda build: heard.append(build.operator)) as ahead:
        tasks = tasks_of(ahead)
        results, _ = run(ahead, tasks, Caller())
        assert results == ["first key of first", None, "third key of third"]
        assert ahead.all()["second"].outcome == failure
        assert [task.is_unbuildable for task in tasks] == [False, True, False]
        assert heard == list(NAMES)


def test_what_kept_a_build_from_being_made_is_raised_to_the_caller(tmp_path: Path) -> None:
    def make(name: str, runner: Runner) -> Outcome | None:
        if name == "second":
            raise EvaluatorError("the disk is gone")
        return None

    lane = Caller()
    with builds(tmp_path, make) as ahead, pytest.raises(EvaluatorError, match="the disk is gone"):
        run(ahead, tasks_of(ahead), lane)
    assert lane.called == ["first"]


def test_a_stop_ends_the_compiler_and_names_what_was_not_built(tmp_path: Path) -> None:
    starter = Starter()

    def make(name: str, runner: Runner) -> Outcome | None:
        if name == "second":
            runner.run(JOB)
        return None

    with builds(tmp_path, make, starter) as ahead:
        results, is_interrupted = run(ahead, tasks_of(ahead), Caller(), starter.has_started.is_set)
        assert (results[1:], is_interrupted) == ([None, None], True)
        built = ahead.all()  # what is reported of a run that was stopped in the middle of a compilation
    assert starter.started[0].is_killed.is_set()
    assert [built[name].outcome for name in NAMES] == [None, *[outcome(Cause.INTERRUPTED, "the run was stopped before this operator was built")] * 2]


def test_a_build_that_a_stop_prevented_is_interrupted_not_failed(tmp_path: Path) -> None:
    gate = threading.Event()

    def make(name: str, runner: Runner) -> Outcome | None:
        assert gate.wait(20)
        return None

    with builds(tmp_path, make) as ahead:
        ahead.start([operator("first"), operator("second")])
        ahead.stop()
        gate.set()
        assert ahead.all()["second"].outcome == outcome(Cause.INTERRUPTED, "the run was stopped before this operator was built")


def test_nothing_is_planned_for_an_operator_that_is_refused_unseen(tmp_path: Path) -> None:
    with builds(tmp_path, lambda name, runner: None) as ahead:
        assert [task.operator.name for task in tasks_of(ahead, ("first", "unknown"))] == ["first"]
        assert ahead.all()["unknown"].outcome is not None


def test_a_stopped_runner_starts_nothing_and_believes_no_end_of_its_own_making() -> None:
    starter = Starter()
    runner = StoppableRunner(cast(Runner, starter))
    threading.Thread(target=lambda: (starter.has_started.wait(20), runner.stop()), daemon=True).start()
    with pytest.raises(EvaluatorError, match="stopped"):
        runner.run(JOB)
    assert starter.started[0].is_killed.is_set()
    with pytest.raises(EvaluatorError, match="stopped"):
        runner.start(JOB)
    assert len(starter.started) == 1
