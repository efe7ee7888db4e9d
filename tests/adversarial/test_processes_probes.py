"""Does a call show what its outputs depend on: memory nobody wrote, values the host was told, kernels, inputs that stay as they are?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from processes_rig import Make, Programs, Rig, rigs

from piton.core.dtype import DType
from piton.core.execution import POISON, USUAL, CaseCall, Execution, Probe, TensorArgument
from piton.core.finding import FindingKind
from piton.core.verdict import Cause
from piton.evaluate.sandbox import make_runner
from piton.evaluate.sandbox.runner import SandboxRunner
from piton.targets.vnpu.inputs import changed_inputs, first_difference


@pytest.fixture(scope="module")
def runner() -> Iterator[SandboxRunner]:
    made = make_runner()
    yield made
    made.close()


@pytest.fixture
def rig(programs: Programs, runner: SandboxRunner, tmp_path: Path) -> Iterator[Make]:
    with rigs(programs, runner, tmp_path) as make:
        yield make


def called(rig: Rig, values: float, probe: Probe = USUAL) -> Execution:
    data = memoryview(np.full(64, values, np.float32))
    return rig.session.call(CaseCall("1", (TensorArgument("x", (64,), DType.FLOAT32, data),), ("x",), {}, probe=probe))


def data_of(execution: Execution) -> bytes:
    (output,) = execution.outputs
    assert output.data is not None
    return bytes(output.data)


OBEDIENT = """
calls = 0
def op(x):
    global calls
    calls += 1
    y = torch.empty_like(x)
    launch("fill", y, int(x[:ASKED].cpu()[0]))
    return y
"""
"""Fills as many bytes as the host was told; all 256 of them pass."""


def causes(execution: Execution) -> set[Cause]:
    return {item.cause for item in execution.outcomes}


def test_a_repeated_call_tells_the_host_what_it_was_told_before(rig: Make) -> None:
    made = rig(OBEDIENT.replace("ASKED", "1"))
    assert causes(called(made, 256)) == set()
    assert causes(called(made, 128, Probe(repeats_answers=True))) == set(), "128 lies on the device, and the host must not learn it"
    assert causes(called(made, 64, Probe(repeats_answers=True))) == set(), "as often as it is repeated"
    assert causes(called(made, 128)) == {Cause.UNWRITTEN_OUTPUT}, "an ordinary call tells the truth again"


@pytest.mark.parametrize("more", ["x[:calls].cpu()", "calls == 2 and (x[:1].cpu(), x[:1].cpu())"], ids=["other bytes", "more often"])
def test_a_host_that_asks_for_something_else_than_before_is_told_nothing(more: str, rig: Make) -> None:
    """Otherwise counting its calls would be a way to learn in the repeated one what lies on the device."""
    made = rig(OBEDIENT.replace("    y = ", f"    {more}\n    y = ").replace("ASKED", "1"))
    assert causes(called(made, 256)) == set()
    assert Cause.HOST_COPY in causes(called(made, 128, Probe(repeats_answers=True)))


def test_disabled_kernels_write_nothing_and_leave_the_poison(rig: Make) -> None:
    made = rig("op = filled")
    execution = called(made, 1.0, Probe(launches_do_nothing=True))
    assert [item.cause for item in execution.outcomes] == [Cause.UNWRITTEN_OUTPUT]
    assert set(data_of(execution)) == {POISON}
    assert [launch.cycles for launch in execution.launches] == [0], "the launch is seen, and takes no time"
    assert called(made, 1.0).outcomes == ()


@pytest.mark.parametrize("poison", [POISON, 0x3C, 0])
def test_new_memory_of_the_host_holds_the_pattern_and_counts_as_unwritten(poison: int, rig: Make) -> None:
    execution = called(rig("op = torch.empty_like"), 1.0, replace(USUAL, poison=poison))
    assert set(data_of(execution)) == {poison}
    assert Cause.UNWRITTEN_OUTPUT in {item.cause for item in execution.outcomes}


def test_memory_beyond_the_bound_of_the_pattern_stays_empty(rig: Make) -> None:
    source = "def op(x):\n    big = torch.empty((80 << 20) + 256, dtype=torch.uint8, device='npu')\n    return big[-256:].view(torch.float32)"
    assert set(data_of(called(rig(source), 1.0))) == {0}


def test_static_variables_of_device_code_begin_anew_with_every_launch_and_a_change_is_told_per_launch(rig: Make) -> None:
    made = rig("def op(x):\n    y = torch.empty_like(x)\n    for _ in range(3): launch('fill_by_count', y)\n    return y")
    for _ in range(2):
        execution = called(made, 1.0)
        assert (set(data_of(execution)), execution.outcomes) == ({1}, ())
        assert [(item.kind, "1 bytes" in item.message) for item in execution.findings] == [(FindingKind.STATIC_STATE, True)] * 3


def test_device_code_without_static_variables_is_told_nothing_of(rig: Make) -> None:
    assert called(rig("op = filled"), 1.0).findings == ()


def test_fresh_processes_keep_nothing_of_an_earlier_call(rig: Make) -> None:
    source = "calls = 0\ndef op(x):\n    global calls\n    calls += 1\n    return filled(x) if calls == 2 else torch.empty_like(x)"
    made = rig(source)
    assert called(made, 1.0).outcomes != ()
    made = rig(source.replace("calls == 2", "calls < 3"))
    assert (called(made, 1.0).outcomes, called(made, 1.0).outcomes) == ((), ())
    assert called(made, 1.0, Probe(in_fresh_processes=True)).outcomes == ()
    assert called(made, 1.0).outcomes == (), "the second call of the fresh process"
    assert called(made, 1.0).outcomes != (), "the third"


@pytest.mark.parametrize("index", [0, (1 << 20) - 1, 1 << 20, (1 << 20) + 6])
def test_the_first_changed_byte_of_an_input_is_found_wherever_it_is(index: int) -> None:
    expected = np.arange((1 << 20) + 7, dtype=np.uint8)
    found = expected.copy()
    found[index] ^= 1
    assert first_difference(memoryview(expected), memoryview(found)) == index
    assert first_difference(memoryview(expected), memoryview(expected)) is None


@pytest.mark.parametrize(("is_mutable", "causes"), [(False, [Cause.INPUT_MODIFIED]), (True, [])])
def test_an_input_that_lies_there_changed_is_a_wrong_value_unless_it_may_be(is_mutable: bool, causes: list[Cause]) -> None:
    tensor = TensorArgument("x", (4,), DType.FLOAT32, memoryview(np.ones(4, np.float32)), is_mutable)
    lying = np.zeros(4, np.float32).tobytes()
    found = changed_inputs([(tensor, 0x1000)], lambda address, nbytes: memoryview(lying)[:nbytes])
    assert [item.cause for item in found] == causes
