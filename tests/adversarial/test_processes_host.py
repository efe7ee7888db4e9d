"""What a submission's host code may try, and the outcome it must get. Each attempt costs one case: the next one works again."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes_rig import Make, Programs, rigs

from piton.core.execution import POISON, Execution
from piton.core.verdict import Cause, Verdict, decide
from piton.evaluate.sandbox import make_runner
from piton.evaluate.sandbox.runner import SandboxRunner


@pytest.fixture(scope="module")
def runner() -> Iterator[SandboxRunner]:
    made = make_runner()
    yield made
    made.close()


@pytest.fixture
def make(programs: Programs, runner: SandboxRunner, tmp_path: Path) -> Iterator[Make]:
    with rigs(programs, runner, tmp_path) as maker:
        yield maker


def causes(execution: Execution) -> set[Cause]:
    return {item.cause for item in execution.outcomes}


def first_case_only(statement: str) -> str:
    """A submission that does `statement` in its first process and computes honestly in later ones."""
    return f"""
def op(x):
    if x.numel() == 4096:
        {statement}
    return filled(x)
"""


def test_an_honest_kernel_is_timed_and_its_bytes_are_read_from_device_memory(make: Make) -> None:
    execution = make("def op(x): return filled(x)").call()
    assert execution.outcomes == ()
    assert execution.time is not None
    assert execution.time.samples == (1.0,)
    assert execution.time.unit == "us"
    assert [launch.kernel for launch in execution.launches] == ["fill"]
    data = execution.outputs[0].data
    assert data is not None
    assert bytes(data) == b"\x07" * 16384


@pytest.mark.parametrize(
    ("statement", "cause"),
    [
        ("ctypes.c_int.from_address(x.data_ptr()).value", Cause.HOST_DEVICE_ACCESS),
        ("ctypes.memset(x.data_ptr() + 64, 0, 4)", Cause.HOST_DEVICE_ACCESS),
        ("ctypes.c_int.from_address(16).value", Cause.HOST_SIGNAL),
        ("os.abort()", Cause.HOST_SIGNAL),
        ("os._exit(0)", Cause.HOST_EXIT),
        ("raise SystemExit(0)", Cause.HOST_EXIT),
        ("os.write(3, b'{}')", Cause.ILLEGAL_REPLY),
        ("os.write(3, struct.pack('<I', 1 << 31) + b'x' * 64)", Cause.ILLEGAL_REPLY),
        ('m = b\'{"id":1,"outputs":[],"verdict":"passed"}\'; os.write(3, struct.pack(\'<I\', len(m)) + m); time.sleep(5)', Cause.ILLEGAL_REPLY),
        ("m = b'{\"id\":9,\"outputs\":[]}'; os.write(3, struct.pack('<I', len(m)) + m); time.sleep(5)", Cause.ILLEGAL_REPLY),
        ("os.close(3); time.sleep(60)", Cause.ILLEGAL_REPLY),
        ("raise ValueError('no')", Cause.HOST_EXCEPTION),
    ],
)
def test_a_host_process_that_breaks_costs_that_case_only(make: Make, statement: str, cause: Cause) -> None:
    rig = make(first_case_only(statement))
    execution = rig.call(4096)
    assert decide(list(execution.outcomes)).cause is cause
    assert execution.time is None
    assert rig.call(1024).outcomes == ()


FORGE = """
import json, sys
def reply(x, times=1, **lies):
    frame = sys._getframe()
    while "channel" not in frame.f_locals: frame = frame.f_back
    y = filled(x)
    claim = {"type_name": "t", "is_plain": True, "device": "npu", "dtype": "float32", "shape": [4096], "strides": [1], "address": y.data_ptr(), **lies}
    body = json.dumps({"id": frame.f_locals["request"]["id"], "outputs": [claim]}).encode()
    frame.f_locals["channel"].sendall((struct.pack("<I", len(body)) + body) * times)
    time.sleep(60)
"""


@pytest.mark.parametrize(
    ("lies", "cause"),
    [
        ("address=-1", Cause.ILLEGAL_REPLY),
        ("address=1 << 64", Cause.ILLEGAL_REPLY),
        ("address=(1 << 64) - 1", Cause.PROTOCOL_VIOLATION),
        ("shape=[10**4000], strides=[1]", Cause.ILLEGAL_REPLY),
        ("strides=[1 << 63]", Cause.ILLEGAL_REPLY),
        ("shape=[0, -5], strides=[1, 1]", Cause.ILLEGAL_REPLY),
        ("dtype='complex128'", Cause.PROTOCOL_VIOLATION),
        ("device='npu', is_plain=2", Cause.ILLEGAL_REPLY),
        ("times=2", Cause.ILLEGAL_REPLY),
    ],
)
def test_a_forged_reply_is_a_verdict_and_costs_that_case_only(make: Make, lies: str, cause: Cause) -> None:
    rig = make(FORGE + first_case_only(f"reply(x, {lies})"))
    assert [item.cause for item in rig.call(4096).outcomes] == [cause]
    assert rig.call(1024).outcomes == ()


def test_a_reply_to_a_request_that_is_still_to_come_is_not_heard(make: Make) -> None:
    early = "import threading\ndef later():\n    time.sleep(0.2)\n    os.write(3, struct.pack('<I', 9) + b'{\"id\": 2}')\n"
    rig = make(early + "def op(x):\n    if x.numel() == 4096: threading.Thread(target=later).start()\n    return filled(x)")
    assert rig.call(4096).outcomes == ()
    time.sleep(0.6)
    assert rig.call(1024).outcomes == ()


def test_a_message_that_json_cannot_carry_is_still_an_exception(make: Make) -> None:
    assert causes(make("def op(x): raise ValueError(chr(0xd800) + 'x')").call()) == {Cause.HOST_EXCEPTION}


def test_a_touched_device_pointer_is_named_with_its_address(make: Make) -> None:
    (found,) = make("def op(x): ctypes.c_int.from_address(x.data_ptr() + 4).value").call().outcomes
    assert int(str(found.numbers["fault_address"]), 16) % 512 == 4
    assert found.numbers["signal"] == 11


def test_an_endless_loop_ends_at_the_deadline(make: Make) -> None:
    rig = make(first_case_only("\n        while True: pass"))
    (found,) = rig.call(4096, deadline_s=1.0).outcomes
    assert found.verdict is Verdict.TIMED_OUT
    assert found.cause is Cause.HOST_DEADLINE
    assert (found.place.file, found.place.instruction) == ("sub/__init__.py", "op")
    assert f"; it was at sub/__init__.py:{found.place.line}" in found.message
    assert rig.call(1024).outcomes == ()


def test_a_call_that_waits_is_placed_at_the_deadline_too(make: Make) -> None:
    (found,) = make("def patient():\n    time.sleep(100)\ndef op(x): return patient()").call(deadline_s=1.0).outcomes
    assert (found.cause, found.place.instruction) == (Cause.HOST_DEADLINE, "patient")
    assert f"calls, innermost first: sub/__init__.py:{found.place.line}, sub/__init__.py:{found.place.line + 1}" in found.message


def test_a_call_in_time_is_not_disturbed_by_its_deadline(make: Make) -> None:
    rig = make("def op(x):\n    time.sleep(0.3)\n    return filled(x)")
    assert rig.call(deadline_s=1.0).outcomes == ()
    time.sleep(0.9)  # the clock of the first call would ring now
    assert rig.call(deadline_s=5.0).outcomes == ()


def test_an_exit_is_placed_where_the_submission_left(make: Make) -> None:
    (found,) = make("import sys\ndef leave(): sys.exit(3)\ndef op(x): leave()").call().outcomes
    assert (found.cause, found.numbers, found.place.file, found.place.instruction) == (Cause.HOST_EXIT, {"exit_code": 3}, "sub/__init__.py", "leave")


def test_an_exit_in_host_code_is_placed_in_its_source(make: Make) -> None:
    (found,) = make("def op(x): ctypes.CDLL(None).exit(4)").call().outcomes
    assert (found.cause, found.numbers) == (Cause.HOST_EXIT, {"exit_code": 4})


def test_an_exception_is_placed_in_the_submission(make: Make) -> None:
    (found,) = make("def helper(x):\n    raise ValueError('too long')\ndef op(x): return helper(x)").call().outcomes
    assert found.message == "ValueError: too long"
    assert (found.place.file, found.place.instruction) == ("sub/__init__.py", "helper")


@pytest.mark.parametrize(
    ("expression", "cause", "words"),
    [
        ("torch.exp(x)", Cause.FRAMEWORK_COMPUTE, "aten::exp"),
        ("x + x", Cause.FRAMEWORK_COMPUTE, "aten::add"),
        ("x.view(64, 64) @ x.view(64, 64)", Cause.FRAMEWORK_COMPUTE, "aten::mm"),
        ("torch.zeros_like(x)", Cause.FRAMEWORK_COMPUTE, "aten::zero_"),
        ("x.view(64, 64).permute(1, 0).contiguous()", Cause.STRIDED_COPY, "strided"),
        ("x[:1].expand(4096).contiguous()", Cause.STRIDED_COPY, "strided"),
        ("x.half()", Cause.CASTING_COPY, "Float to Half"),
        ("x.cpu().exp().to('npu')", Cause.HOST_COPY, "16384 bytes to the host"),
        ("torch.ones(4096).npu()", Cause.HOST_COPY, "16384 bytes to the device"),
    ],
)
def test_compute_that_no_kernel_does_is_refused_by_name(make: Make, expression: str, cause: Cause, words: str) -> None:
    outcomes = make(f"def op(x): return {expression}").call().outcomes
    assert [item.cause for item in outcomes] == [cause]
    assert outcomes[0].verdict is Verdict.REJECTED
    assert words in outcomes[0].message


def test_a_refused_operation_counts_even_when_the_submission_swallows_it(make: Make) -> None:
    execution = make("def op(x):\n    try:\n        torch.exp(x)\n    except Exception:\n        pass\n    return filled(x)").call()
    assert causes(execution) == {Cause.FRAMEWORK_COMPUTE}


def test_many_small_copies_add_up_to_the_allowance(make: Make) -> None:
    execution = make("def op(x):\n    for i in range(6): x[i * 256 : (i + 1) * 256].cpu()\n    return filled(x)").call()
    assert causes(execution) == {Cause.HOST_COPY}
    assert execution.copies.device_to_host_bytes == 4096


def test_metadata_may_be_copied(make: Make) -> None:
    execution = make("def op(x):\n    assert x[5].item() == 5.0\n    torch.tensor([1, 2, 3]).npu()\n    return filled(x)").call()
    assert execution.outcomes == ()
    assert (execution.copies.device_to_host_bytes, execution.copies.host_to_device_bytes) == (4, 24)


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("return x", Cause.ALIASES_INPUT),
        ("return x[1024:]", Cause.ALIASES_INPUT),
        ("return filled(x).cpu() if x.numel() < 9 else torch.empty(4096)", Cause.WRONG_DEVICE),
        ("return filled(x).view(64, 64).t()", Cause.NOT_CONTIGUOUS),
        ("return torch.empty_like(x)", Cause.UNWRITTEN_OUTPUT),
        ("y = torch.empty_like(x); launch('fill', y, y.nbytes - 1); return y", Cause.UNWRITTEN_OUTPUT),
        ("return x.clone()", Cause.NOT_STORED_BY_KERNEL),
        ("filled(x); return x.clone()", Cause.NOT_STORED_BY_KERNEL),
        ("y = filled(x); y[:8].copy_(torch.ones(8)); return y", Cause.NOT_STORED_BY_KERNEL),
        ("return 'tensor'", Cause.NOT_A_TENSOR),
        ("return filled(x).as_subclass(type('T', (torch.Tensor,), {}))", Cause.NOT_A_TENSOR),
        ("y = filled(x); y.cpu = lambda: 1; return y", Cause.NOT_A_TENSOR),
        ("return filled(x), filled(x)", Cause.OUTPUT_COUNT),
        ("return None", Cause.OUTPUT_COUNT),
        ("launch('fill', x); return filled(x)", Cause.INPUT_MODIFIED),
        ("x.copy_(filled(x)); return filled(x)", Cause.INPUT_MODIFIED),
        ("launch('nothing', x); return filled(x)", Cause.PROTOCOL_VIOLATION),
        ("return torch.empty(1 << 40, device='npu')", Cause.DEVICE_MEMORY),
    ],
)
def test_an_output_that_is_not_a_kernels_own_is_found(make: Make, body: str, cause: Cause) -> None:
    execution = make(f"def op(x): {body}").call()
    assert cause in causes(execution)
    assert execution.time is None


def test_a_copy_of_what_a_kernel_stored_is_attributed_and_priced(make: Make) -> None:
    execution = make("def op(x): return filled(x).clone()").call()
    assert execution.outcomes == ()
    assert execution.time is not None
    assert execution.time.samples[0] == pytest.approx((1800 + 16384) / 1800)
    assert [finding.kind.value for finding in execution.findings] == ["copy_priced"]


def test_an_output_kept_from_an_earlier_case_is_not_accepted(make: Make) -> None:
    rig = make("kept = []\ndef op(x):\n    kept or kept.append(filled(x))\n    return kept[0]")
    assert rig.call(4096).outcomes == ()
    assert Cause.PROTOCOL_VIOLATION in causes(rig.call(1024))


def test_dropping_a_tensor_of_an_earlier_case_frees_nothing_of_this_one(make: Make) -> None:
    rig = make("kept = []\ndef op(x):\n    y = filled(x)\n    kept.clear()\n    kept.append(y)\n    return y")
    assert [rig.call(4096).outcomes for _ in range(3)] == [(), (), ()]


def test_an_output_of_a_call_without_a_kernel_says_so_first(make: Make) -> None:
    execution = make("def op(x): return torch.empty_like(x)").call()
    found = decide(list(execution.outcomes))
    assert found.cause is Cause.UNWRITTEN_OUTPUT
    assert found.message.startswith("no kernel was launched in this call: y is not written completely")


@pytest.mark.parametrize("words", ["struct.pack('<iQBI16Q', 6, 1, 0, 0xffffffff, *[0xffffffffffffffff] * 16)", "b'x' * 145", "b'x' * 3"])
def test_forged_last_words_change_no_verdict(make: Make, words: str) -> None:
    find_pipe = "[n for n in map(int, os.listdir('/proc/self/fd')) if n > 4 and os.path.exists(f'/proc/self/fd/{n}') and stat.S_ISFIFO(os.fstat(n).st_mode)]"
    execution = make(f"import stat\ndef op(x):\n    for n in {find_pipe}: os.write(n, {words})\n    os.abort()").call()
    found = decide(list(execution.outcomes))
    assert (found.cause, found.place.file, found.numbers) == (Cause.HOST_SIGNAL, "", {"signal": 6})


def test_a_launch_after_the_return_is_refused(make: Make) -> None:
    late = "import threading\ndef op(x):\n    y = torch.empty_like(x)\n    threading.Timer(0.05, launch, ('fill', y)).start()\n    return y"
    execution = make(late).call()
    assert causes(execution) == {Cause.NO_KERNEL_LAUNCHED, Cause.UNWRITTEN_OUTPUT}
    time.sleep(0.5)
    data = execution.outputs[0].data
    assert data is not None
    assert set(bytes(data)) == {POISON}, "a kernel wrote into an output after the call had ended"


@pytest.mark.parametrize("attempt", ["subprocess.Popen(['sleep', '1000'], start_new_session=True)", "os.fork()", "os.system('sleep 1000')"])
def test_a_process_cannot_be_started(make: Make, attempt: str) -> None:
    rig = make(f"import subprocess\ndef op(x):\n    {attempt}\n    return filled(x)")
    (found,) = rig.call().outcomes
    assert (found.cause, found.numbers) == (Cause.PROCESS_STARTED, {"signal": 31})


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_printing_without_end_costs_the_case(make: Make, stream: str) -> None:
    rig = make(f"import sys\ndef op(x):\n    for _ in range(1 << 14): sys.{stream}.write('x' * 65536)\n    return filled(x)")
    (found,) = rig.call().outcomes
    assert (found.cause, found.numbers) == (Cause.OUTPUT_FLOOD, {"allowed_bytes": 64 << 20})


def test_the_environment_holds_nothing_of_ours(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PITON_SECRET_SEED", "42")
    look = """
def op(x):
    try:
        first = open("/proc/self/environ").read()
    except PermissionError:
        first = ""
    raise ValueError(first + repr(dict(os.environ)))
"""
    (found,) = make(look).call().outcomes
    assert "TMPDIR" in found.message
    assert "SECRET" not in found.message


def test_device_memory_cannot_be_opened_through_proc(make: Make) -> None:
    look = """
def op(x):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                name = os.readlink(f"/proc/{pid}/fd/{fd}")
                if "piton-device" in name:
                    found.append((pid, fd))
        except OSError:
            pass
    raise ValueError(f"found {found} {os.path.exists('/proc/' + str(os.getpid()))}")
"""
    (found,) = make(look).call().outcomes
    assert found.message == "ValueError: found [] True"


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("def other(x): return x", Cause.OPERATOR_MISSING),
        ("def op(x, y): return x", Cause.OPERATOR_MISSING),
        ("def op(): return x", Cause.OPERATOR_MISSING),
        ("import nothing_of_that_name", Cause.LOAD_FAILED),
        ("os._exit(3)", Cause.HOST_EXIT),
    ],
)
def test_a_package_without_the_operator_is_no_operator(make: Make, source: str, cause: Cause) -> None:
    assert causes(make(source).call()) == {cause}


def test_attributes_follow_in_schema_order(make: Make) -> None:
    execution = make("def op(x, alpha):\n    assert alpha == 0.5\n    return filled(x)", has_scale=True).call(scale=0.5)
    assert execution.outcomes == ()


def test_a_registered_operator_goes_before_a_function(make: Make) -> None:
    registered = """
library = torch.library.Library("sub", "DEF")
library.define("op(Tensor x, *, float scale=1.0) -> Tensor")
library.impl("op", lambda x, scale=1.0: filled(x) if scale == 0.5 else x, "PrivateUse1")
def op(x, scale): raise ValueError("the function was called")
"""
    assert make(registered, has_scale=True).call(scale=0.5).outcomes == ()


def test_a_registered_schema_with_other_arguments_is_told_apart(make: Make) -> None:
    registered = 'library = torch.library.Library("sub", "DEF")\nlibrary.define("op(Tensor x, Tensor y) -> Tensor")'
    (found,) = make(registered).call().outcomes
    assert found.cause is Cause.OPERATOR_MISSING
    assert "takes 2 arguments" in found.message


def test_the_parent_holds_no_process_after_the_session(make: Make) -> None:
    text = f"submission {os.urandom(8).hex()}"  # a process in a namespace of its own does not know its number here; its name tells it
    rig = make(f"import threading\ndef op(x): ctypes.CDLL(None).prctl(15, {text[-15:].encode()!r}); raise ValueError('named')")
    rig.call()
    rig.session.close()
    rig.session.close()
    assert [path for path in Path("/proc").glob("[0-9]*/comm") if path.exists() and path.read_text().strip() == text[-15:]] == []
