"""What a submission's device code may do to the device process, what the parent makes of it, and how it goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from processes_rig import Make, Programs, rigs

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.execution import CaseCall, TensorArgument
from piton.core.verdict import Cause
from piton.evaluate.sandbox import make_runner
from piton.evaluate.sandbox.probe import Mechanisms
from piton.evaluate.sandbox.runner import SandboxRunner
from piton.targets.vnpu.session import VnpuSession


@pytest.fixture(scope="module")
def bare_runner() -> Iterator[SandboxRunner]:
    """Without any optional mechanism: everything here has to hold on the plainest machine."""
    made = make_runner(Mechanisms())
    yield made
    made.close()


@pytest.fixture
def make(programs: Programs, bare_runner: SandboxRunner, tmp_path: Path) -> Iterator[Make]:
    with rigs(programs, bare_runner, tmp_path) as maker:
        yield maker


@pytest.mark.parametrize(
    ("kernel", "cause", "numbers"),
    [
        ("store_null", Cause.DEVICE_SIGNAL, {"signal": 11, "fault_address": "0x10", "kernel": "store_null"}),
        ("call_abort", Cause.DEVICE_SIGNAL, {"signal": 6, "fault_address": "0x0", "kernel": "call_abort"}),
        ("end_process", Cause.DEVICE_SIGNAL, {}),
    ],
)
def test_a_kernel_that_ends_the_device_costs_that_case_only(make: Make, kernel: str, cause: Cause, numbers: dict[str, object]) -> None:
    rig = make(f"def op(x): return (launch('{kernel}', x), filled(x))[1] if x.numel() == 4096 else filled(x)")
    (found,) = rig.call(4096).outcomes
    assert found.cause is cause
    assert found.numbers == numbers
    assert rig.call(1024).outcomes == ()


def test_recursion_without_end_is_named_as_a_full_stack(make: Make) -> None:
    rig = make("def op(x):\n    if x.numel() == 4096: launch('fill_stack', x)\n    elif x.numel() == 2048: launch('store_null', x)\n    return filled(x)")
    full, stray = (rig.call(size).outcomes[0] for size in (4096, 2048))
    assert (full.cause, stray.cause) == (Cause.DEVICE_SIGNAL, Cause.DEVICE_SIGNAL)
    assert "its stack is full, by calls that never end or by arrays too large for it" in full.message
    assert "stack" not in stray.message
    assert rig.call(1024).outcomes == ()


@pytest.mark.parametrize(
    ("kernel", "cause"),
    [
        ("forge_death", Cause.DEVICE_SIGNAL),
        ("forge_half_death", Cause.PROTOCOL_VIOLATION),
        ("forge_log", Cause.PROTOCOL_VIOLATION),
        ("forge_kind", Cause.PROTOCOL_VIOLATION),
        ("forge_refusal", Cause.PROTOCOL_VIOLATION),
    ],
)
def test_what_device_code_sends_in_the_engines_name_is_a_verdict(make: Make, kernel: str, cause: Cause) -> None:
    rig = make(f"def op(x): return (launch('{kernel}', x), filled(x))[1] if x.numel() == 4096 else filled(x)")
    assert [item.cause for item in rig.call(4096).outcomes] == [cause]
    assert rig.call(1024).outcomes == ()


def test_device_code_that_waits_is_told_from_a_slow_simulation(make: Make) -> None:
    rig = make("def op(x): return (launch('wait_for_ever', x), filled(x))[1] if x.numel() == 4096 else filled(x)")
    assert [item.cause for item in rig.call(4096, deadline_s=0.5).outcomes] == [Cause.DEVICE_BUDGET]
    assert rig.call(1024).outcomes == ()


def test_arguments_are_no_way_around_the_copy_allowance(make: Make) -> None:
    rig = make(
        "def op(x):\n    y = torch.empty_like(x)\n    block = struct.pack('<QQ', y.data_ptr(), y.nbytes).ljust(5000)\n"
        "    _launch(b'large_block', 1, block, len(block), None)\n    return y"
    )
    assert rig.call().outcomes[0].cause is Cause.HOST_COPY


def test_the_budget_is_the_calls_not_each_launchs(make: Make) -> None:
    rig = make("def op(x):\n    for _ in range(3): y = filled(x)\n    return y")
    tensor = TensorArgument("x", (4,), DType.FLOAT32, memoryview(np.zeros(4, np.float32)))
    (found, *_) = rig.session.call(CaseCall("1", (tensor,), ("x",), {}, budget_cycles=3600)).outcomes
    assert found.cause is Cause.DEVICE_BUDGET


def test_a_raw_store_to_global_memory_is_told_from_a_stray_pointer(make: Make) -> None:
    rig = make("def op(x):\n    y = torch.empty_like(x)\n    launch('store_raw', y)\n    return y")
    (found,) = rig.call().outcomes
    assert found.cause is Cause.RAW_GM_STORE
    assert int(str(found.numbers["fault_address"]), 16) >= 0x200000000000


def test_a_failure_of_the_engine_is_never_the_submissions(make: Make) -> None:
    rig = make("def op(x):\n    if x.numel() == 4096: launch('fail_engine', x)\n    return filled(x)")
    with pytest.raises(EvaluatorError, match="an engine that fails"):
        rig.call(4096)
    assert rig.call(1024).outcomes == ()


def test_a_device_library_that_cannot_be_loaded_is_named(make: Make, bare_runner: SandboxRunner) -> None:
    rig = make("def op(x): return filled(x)")
    session = VnpuSession(replace(rig.plan, device_library="/nonexistent/device.so"), bare_runner)
    tensor = TensorArgument("x", (4,), DType.FLOAT32, memoryview(np.zeros(4, np.float32)))
    (found, *_) = session.call(CaseCall("1", (tensor,), ("x",), {})).outcomes
    session.close()
    assert found.cause is Cause.LOAD_FAILED
    assert "/nonexistent/device.so" in found.message


def test_a_chip_table_that_is_not_accepted_is_our_error(make: Make, bare_runner: SandboxRunner) -> None:
    rig = make("def op(x): return filled(x)")
    session = VnpuSession(replace(rig.plan, chip_table=""), bare_runner)
    with pytest.raises(EvaluatorError, match="the chip table is empty"):
        session.call(CaseCall("1", (), (), {}))
    session.close()


def test_a_message_to_the_device_that_makes_no_sense_changes_nothing(make: Make) -> None:
    forged = "def op(x):\n    os.write(4, struct.pack('<II', 3, 10) + b'x' * 10)\n    os.read(4, 4096)\n    return filled(x)"
    assert make(forged).call().outcomes == ()


def test_half_a_message_to_the_device_ends_the_conversation(make: Make) -> None:
    rig = make("def op(x):\n    if x.numel() == 4096: os.write(4, struct.pack('<II', 32, 8)); os.close(4)\n    return filled(x)")
    assert Cause.HOST_EXCEPTION in {item.cause for item in rig.call(4096).outcomes}
    assert rig.call(1024).outcomes == ()


def test_a_timing_run_needs_no_data(make: Make) -> None:
    rig = make("def op(x): return filled(x)")
    call = CaseCall("1", (TensorArgument("x", (1 << 20,), DType.FLOAT32, None),), ("x",), {}, is_timing_only=True)
    execution = rig.session.call(call)
    assert execution.outcomes == ()
    assert execution.time is not None
    assert execution.outputs[0].data is None


def test_an_input_updated_in_place_is_read_back(make: Make) -> None:
    rig = make("def op(x): launch('fill', x)")
    data = np.zeros(16, np.float32)
    rig.session.close()
    operator = rig.plan.operator.model_copy(update={"outputs": ()})
    session = VnpuSession(replace(rig.plan, operator=operator), rig.runner)
    execution = session.call(CaseCall("1", (TensorArgument("x", (16,), DType.FLOAT32, memoryview(data), is_mutable=True),), ("x",), {}))
    assert execution.outcomes == ()
    assert execution.outputs[0].data is not None
    assert bytes(execution.outputs[0].data) == b"\x07" * 64
    session.close()


def test_a_case_changes_neither_the_inputs_of_the_next_nor_what_they_are_made_from(make: Make) -> None:
    rig = make("def op(x):\n    y = torch.empty_like(x); y.copy_(x)\n    launch('fill', x)\n    return y")
    data = np.arange(16, dtype=np.float32)
    for _ in range(2):
        execution = rig.session.call(CaseCall("1", (TensorArgument("x", (16,), DType.FLOAT32, memoryview(data)),), ("x",), {}))
        assert execution.outputs[0].data is not None
        assert bytes(execution.outputs[0].data) == np.arange(16, dtype=np.float32).tobytes()
    assert data.tolist() == list(range(16))


IN_PLACE = {
    "host data": ("x.copy_(torch.ones(16))", [Cause.HOST_COPY]),
    "host data by way of a device tensor": ("y = torch.empty_like(x); y.copy_(torch.ones(16)); x.copy_(y)", [Cause.HOST_COPY]),
    "what a kernel stored": ("x.copy_(filled(x))", []),
}


@pytest.mark.parametrize(("statement", "causes"), IN_PLACE.values(), ids=IN_PLACE)
def test_only_kernels_write_what_is_updated_in_place(make: Make, statement: str, causes: list[Cause]) -> None:
    rig = make(f"def op(x):\n    filled(x)\n    {statement}")
    rig.session.close()
    session = VnpuSession(replace(rig.plan, operator=rig.plan.operator.model_copy(update={"outputs": ()})), rig.runner)
    data = memoryview(np.zeros(16, np.float32))
    execution = session.call(CaseCall("1", (TensorArgument("x", (16,), DType.FLOAT32, data, is_mutable=True),), ("x",), {}))
    session.close()
    assert [item.cause for item in execution.outcomes] == causes


SMALL = 16
"""Elements: few enough for the allowance of a copy."""
ATTRIBUTED = {
    "a copy of the host's": ("filled(x)\n    y = torch.empty_like(x); y.copy_(torch.ones(16))\n    return y", [Cause.NOT_STORED_BY_KERNEL]),
    "a copy of the host's over what a kernel stored": ("y = filled(x); y.copy_(torch.ones(16))\n    return y", [Cause.NOT_STORED_BY_KERNEL]),
    "a kernel's store over a copy of the host's": ("y = torch.empty_like(x); y.copy_(torch.ones(16)); launch('fill', y)\n    return y", []),
    "a device copy of an input": ("filled(x)\n    y = torch.empty_like(x); y.copy_(x)\n    return y", [Cause.NOT_STORED_BY_KERNEL]),
    "a device copy of what a kernel stored": ("y = torch.empty_like(x); y.copy_(filled(x))\n    return y", []),
    "memory that a kernel stored into before it was freed": ("y = filled(x); del y\n    return torch.empty_like(x)", [Cause.UNWRITTEN_OUTPUT]),
    "half stored, half copied": ("y = torch.empty_like(x); y.copy_(torch.ones(16)); launch('fill', y, 32)\n    return y", [Cause.NOT_STORED_BY_KERNEL]),
}


@pytest.mark.parametrize(("body", "causes"), ATTRIBUTED.values(), ids=ATTRIBUTED)
def test_an_output_byte_is_a_kernels_as_long_as_the_last_write_to_it_was(make: Make, body: str, causes: list[Cause]) -> None:
    assert [item.cause for item in make(f"def op(x):\n    {body}").call(SMALL).outcomes] == causes


def test_what_a_kernel_stored_in_the_call_before_is_no_output_of_this_one(make: Make) -> None:
    rig = make("def op(x):\n    if x.numel() == 16: return filled(x)\n    filled(x)\n    return torch.empty_like(x)")
    assert rig.call(SMALL).outcomes == ()
    assert [item.cause for item in rig.call(SMALL + 16).outcomes] == [Cause.UNWRITTEN_OUTPUT]


def test_the_parents_memory_is_closed_to_a_host_of_the_same_user(make: Make) -> None:
    rig = make(f"def op(x): open('/proc/{os.getpid()}/mem', 'rb')")
    (found,) = rig.call().outcomes
    assert found.message.startswith("PermissionError")
