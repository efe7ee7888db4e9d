"""Is every known way to cheat a parent's clock refused by what the outputs show, and does it cost that case only?"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from cpu_rig import OPERATOR, SUBMISSIONS, X, case, submission_of, values, wrong_calls

from piton.core.errors import EvaluatorError, ProcessLostError
from piton.core.execution import Build, Execution
from piton.core.measurement import Provenance
from piton.core.protocols import Runner
from piton.core.submission import Submission
from piton.core.verdict import Cause
from piton.evaluate.sandbox import make_runner
from piton.evaluate.sandbox.probe import Mechanisms
from piton.targets.cpu.arena import layout_of
from piton.targets.cpu.bench import Bench
from piton.targets.cpu.canary import Canary, launch_program
from piton.targets.cpu.session import CpuSession, case_words
from piton.targets.cpu.target import CpuTarget, open_cpu
from piton.targets.cpu.toolchain import PROGRAM


@dataclass
class World:
    """A built kernel and one session with it."""

    target: CpuTarget
    runner: Runner
    submission: Submission
    build: Build
    session: CpuSession

    def run(self, mode: int, deadline_s: float = 60.0) -> Execution:
        """One case in that mode."""
        return self.session.call(case(mode, deadline_s))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[World]:
    root = tmp_path_factory.mktemp("cpu")
    assert pytestconfig.cache is not None
    target = open_cpu(str(pytestconfig.cache.mkdir("piton-cpu")))
    runner = make_runner()
    try:
        target.toolchain.prepare(runner)
        text = (SUBMISSIONS / "cpu_attacks.cpp").read_text()
        submission = submission_of(root / "sources", root / "store", "double_plus.cpp", text)
        build = target.toolchain.build(submission, OPERATOR, runner, str(root / "build"))
        assert build.outcome is None, build.outcome
        session = target.device.open(submission, OPERATOR, build, runner)
        yield World(target, runner, submission, build, session)
        session.close()
    finally:
        runner.close()


def causes(execution: Execution) -> set[Cause]:
    return {found.cause for found in execution.outcomes}


def test_an_honest_kernel_is_right_in_every_call_and_has_a_measured_time(world: World) -> None:
    execution = world.run(0)
    assert not execution.outcomes
    assert np.allclose(values(execution.outputs[0]), 2.0 * X + 1.0)
    assert wrong_calls(execution) == 0
    assert execution.time is not None
    assert execution.time.provenance is Provenance.DEVICE
    assert execution.time.value > 0
    assert execution.time.bounds is not None
    assert execution.time.bounds.low <= execution.time.value <= execution.time.bounds.high


def test_every_timed_call_has_values_of_its_own(world: World) -> None:
    execution = world.run(0)
    given = [call.inputs()[0].tobytes() for call in execution.timed]
    assert len(given) > 20
    assert len({*given, X.tobytes()}) == len(given) + 1
    assert len({call.poison for call in execution.timed}) == 2


def test_work_after_the_reply_never_reaches_the_outputs(world: World) -> None:
    execution = world.run(1)
    assert causes(execution) == {Cause.UNWRITTEN_OUTPUT}
    assert wrong_calls(execution) == len(execution.timed) + 1


def test_a_store_to_an_input_ends_the_process(world: World) -> None:
    assert causes(world.run(2)) == {Cause.HOST_SIGNAL}


def test_the_memory_of_inputs_cant_be_made_writable(world: World) -> None:
    execution = world.run(16)
    assert not execution.outcomes
    assert wrong_calls(execution) == 0


def test_an_exception_is_told_in_its_own_words(world: World) -> None:
    execution = world.run(3)
    assert causes(execution) == {Cause.HOST_EXCEPTION}
    assert "no such shape" in execution.outcomes[0].message


def test_a_deadlock_ends_at_the_deadline(world: World) -> None:
    assert causes(world.run(4, deadline_s=1.0)) == {Cause.HOST_DEADLINE}


@pytest.mark.parametrize(("mode", "what"), [(5, "by address"), (6, "of the first call")])
def test_remembered_outputs_are_wrong_in_timed_calls(world: World, mode: int, what: str) -> None:
    execution = world.run(mode)
    assert not execution.outcomes, what
    assert wrong_calls(execution) > len(execution.timed) // 3, what


def test_a_thread_that_stays_is_counted(world: World) -> None:
    world.run(14)  # a fresh process
    execution = world.run(7)
    assert not execution.outcomes
    assert any("left 1 thread behind" in finding.message for finding in execution.findings)


@pytest.mark.parametrize("mode", [8, 9])
def test_a_reply_of_the_kernels_own_is_seen(world: World, mode: int) -> None:
    execution = world.run(mode)
    assert causes(execution) == {Cause.ILLEGAL_REPLY} or wrong_calls(execution) > 0


def test_calls_that_do_nothing_are_wrong(world: World) -> None:
    execution = world.run(10)
    assert wrong_calls(execution) >= len(execution.timed) // 2 - 1


def test_a_process_of_its_own_ends_the_kernel(world: World) -> None:
    if "no_new_processes" not in world.runner.isolation:
        pytest.skip("this machine can't refuse processes")
    assert causes(world.run(11)) == {Cause.PROCESS_STARTED}


def test_leaving_by_exit_is_no_reply(world: World) -> None:
    assert causes(world.run(12)) == {Cause.HOST_EXIT}


def test_half_an_output_is_unwritten_and_the_first_missing_byte_is_named(world: World) -> None:
    execution = world.run(13)
    assert causes(execution) == {Cause.UNWRITTEN_OUTPUT}
    assert execution.outcomes[0].numbers["first_byte"] == X.size // 2 * 4


def test_after_every_failure_the_next_case_is_served(world: World) -> None:
    for mode in (14, 3, 12):
        assert world.run(mode).outcomes
        assert not world.run(0).outcomes


def test_a_process_that_was_ended_from_outside_is_told_apart_from_one_that_ended_itself(world: World) -> None:
    assert not world.run(12).is_killed
    assert not world.run(0).is_killed
    bench = world.session._bench
    assert bench is not None
    assert bench.process is not None
    os.kill(bench.process.pid, signal.SIGKILL)
    assert world.run(0).is_killed
    assert not world.run(0).outcomes
    canary = world.target.device.canary(world.runner)
    os.kill(canary._process.pid, signal.SIGKILL)
    with pytest.raises(ProcessLostError, match="canary"):
        canary.measure()
    canary.close()


def test_further_cores_are_refused_or_seen(world: World) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine has one core")
    with_filter = world.run(15)
    assert not any("more than the one core" in finding.message for finding in with_filter.findings) or "system_call_filter" not in world.runner.isolation
    bare = make_runner(Mechanisms())
    try:
        session = world.target.device.open(world.submission, OPERATOR, world.build, bare)
        execution = session.call(case(15))
        session.close()
    finally:
        bare.close()
    assert not execution.outcomes
    assert any("more than the one core" in finding.message for finding in execution.findings)


def test_what_lacks_for_building_is_named_with_how_to_get_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert world.target.toolchain.missing() == ()
    monkeypatch.setenv("PATH", "/nowhere")
    assert "apt-get install g++" in " ".join(world.target.toolchain.missing())


def test_between_batches_the_process_stands_still_whatever_its_threads_want(world: World) -> None:
    canary = world.target.device.canary(world.runner)
    bench = Bench(launch_program(world.build.artifacts[PROGRAM]), world.runner, canary)
    try:
        call = case(17)
        run = bench.run(call, case_words(OPERATOR, call, layout_of(call.tensors, call.results)))
        assert not run.outcomes
        assert bench.process is not None
        clock = (~bench.process.pid << 3) | 2  # of the processor time of that process
        before = time.clock_gettime_ns(clock)
        time.sleep(0.3)
        assert time.clock_gettime_ns(clock) == before
    finally:
        bench.close()
        canary.close()


def test_a_canary_that_does_not_start_leaves_no_memory_behind(world: World) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(EvaluatorError, match="no program"):
            Canary("/nowhere/canary", world.runner)
    assert len(os.listdir("/proc/self/fd")) == before
