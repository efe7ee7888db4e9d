"""The null target: a complete fake that needs no compiler and no processes, for tests of everything around a target.

Problem: pipeline, report and command line have to be tested on every path, including failures that are hard to bring about.
Approach: a submission carries `null.yaml`, a script that says for each operator what its build does and for each case what the call computes, how long it takes
and what goes wrong. What is computed is chosen from `COMPUTE` by name: nothing of a submission is executed.
Limits: times are the script's own words; it scores nothing that is real.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from piton.core.canonical import digest
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError, FormatError, ProcessLostError
from piton.core.execution import PIPES, Build, CaseCall, Diagnostic, Execution, LaunchRecord, OutputBuffer, TensorArgument
from piton.core.finding import Finding, FindingKind
from piton.core.hardware import Figure, Hardware, Peaks
from piton.core.measurement import Measurement, Provenance
from piton.core.operator import Frozen, Operator
from piton.core.protocols import Runner
from piton.core.submission import Submission
from piton.core.timeline import Arrow, BlockTimeline, Instruction, LaunchTimeline, Slice
from piton.core.verdict import Cause, Place, outcome
from piton.targets.null_lowbit import TORCH_NAMES, Computed, numpy_type
from piton.targets.null_lowbit_fused import WHOLE_CALLS

SCRIPT = "null.yaml"
NAME = "null"
_CLOCK_HZ = 1_000_000_000
_SOURCE = "the null target"
GOLDEN = "golden"
"""What `compute` says for the outputs of the golden's same-dtype run: golden against golden, the best that anybody can do in these types."""

Array = NDArray[np.float64]
COMPUTE: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "sqrt": np.sqrt,
    "copy": np.copy,
    "zeros": np.zeros_like,
    "double": lambda x: 2.0 * x,
    "wrong_by_little": lambda x: np.exp(x) * 1.02,
}
"""What a call can compute from its first tensor, in float64; results are rounded to that tensor's dtype. More in `null_lowbit_fused.WHOLE_CALLS`."""


class ScriptedCall(Frozen):
    """What the call of one case does."""

    compute: str = "copy"
    time_us: float = Field(default=10.0, gt=0)
    causes: tuple[Cause, ...] = ()
    """Failures found in this call; a call with one has no time, and no outputs unless `keeps_outputs`."""
    keeps_outputs: bool = False
    message: str = ""
    place: Place = Place()
    numbers: dict[str, float | int | str] = Field(default_factory=dict)
    findings: tuple[FindingKind, ...] = ()
    shape: tuple[int, ...] | None = None
    """Claimed shape of the output."""
    dtype_name: str = ""
    """Claimed type of the output."""
    outputs: int = Field(default=1, ge=0, le=4)
    recorded: str = ""
    """Bytes of every output in hexadecimal, whatever the input: values that the submission learned beforehand."""
    is_replayed: bool = False
    """A later call of the session with the same tensor shapes gets the outputs of the first."""
    later: ScriptedCall | None = None
    """What further calls of the same case in one session do instead."""
    wait_s: float = Field(default=0.0, ge=0, le=600)
    """The call takes this long, or until the session is closed."""
    evaluator_error: str = ""
    """We could not evaluate, with this message."""
    lost_tries: int = Field(default=0, ge=0)
    """Of the tries at this case so many first ones lose a process to somebody else."""
    killed_tries: int = Field(default=0, ge=0)
    """In so many first ones, after those, a SIGKILL that nothing explains ends the submission's process."""


class ScriptedOperator(Frozen):
    """What one operator does."""

    build: Cause | None = None
    """Cause of a failed build."""
    build_message: str = ""
    default: ScriptedCall = ScriptedCall()
    cases: dict[str, ScriptedCall] = Field(default_factory=dict)


class Script(Frozen):
    """null.yaml."""

    operators: dict[str, ScriptedOperator] = Field(default_factory=dict)
    default: ScriptedOperator = ScriptedOperator()
    """What every other operator does."""

    def operator(self, name: str) -> ScriptedOperator:
        """The script of one operator."""
        return self.operators.get(name, self.default)

    def call(self, operator: str, case_id: str) -> ScriptedCall:
        """The script of one case."""
        found = self.operator(operator)
        return found.cases.get(case_id, found.default)


def read_script(root: Path) -> Script:
    """The script of the submission in `root`, an empty one when it has none. Raises FormatError for a wrong one."""
    path = root / SCRIPT
    if not path.is_file():
        return Script()
    try:
        return Script.model_validate(yaml.safe_load(path.read_text()) or {})
    except (yaml.YAMLError, ValidationError) as error:
        raise FormatError("the script of the null target is wrong", where=str(path), found=str(error)) from None


class NullToolchain:
    """Builds nothing, or fails as scripted."""

    identity = "a script"

    def missing(self) -> tuple[str, ...]:
        """Nothing is ever missing."""
        return ()

    def prepare(self, runner: Runner) -> None:
        """Nothing to prepare."""

    def build(self, submission: Submission, operator: Operator, runner: Runner, build_dir: str) -> Build:
        """`Build` with the folder of the submission as its package, or the scripted failure."""
        scripted = read_script(Path(submission.root)).operator(operator.name)
        key = self.key(submission, operator, build_dir)
        if scripted.build is None:
            return Build(operator=operator.name, artifacts={"package": submission.root}, key=key)
        failure = outcome(scripted.build, scripted.build_message or "scripted failure", place=Place(file=SCRIPT, line=1))
        return Build(operator=operator.name, outcome=failure, diagnostics=(Diagnostic(file=SCRIPT, line=1, message=failure.message),), key=key)

    def key(self, submission: Submission, operator: Operator, scratch_dir: str) -> str:
        """Names the submission, script included, and the operator."""
        del scratch_dir
        return digest([submission.digest(), operator.name])


class NullSession:
    """Plays the script of one operator."""

    def __init__(self, script: Script, operator: Operator, tries: Counter[tuple[str, str]]) -> None:
        self._script = script
        self._tries = tries
        self._operator = operator
        self._closed = threading.Event()
        self._called: set[str] = set()
        self._kept: dict[tuple[tuple[int, ...], ...], tuple[OutputBuffer, ...]] = {}

    def call(self, call: CaseCall) -> Execution:
        """Do what the script says for this case. Raises EvaluatorError when it says so, or when the session was closed."""
        scripted = self._next(call.case_id)
        if self._closed.wait(scripted.wait_s):
            raise EvaluatorError("the session is closed", where=f"{self._operator.name}/{call.case_id}")
        if scripted.evaluator_error:
            raise EvaluatorError(scripted.evaluator_error, where=f"{self._operator.name}/{call.case_id}")
        self._tries[self._operator.name, call.case_id] += 1
        fate = self._tries[self._operator.name, call.case_id] - scripted.lost_tries
        if fate <= 0:
            raise ProcessLostError("a scripted process was ended", where=f"{self._operator.name}/{call.case_id}")
        if fate <= scripted.killed_tries:
            return Execution(outcomes=(outcome(Cause.HOST_SIGNAL, "ended by SIGKILL", signal=9),), is_killed=True)
        execution = play(scripted, call)
        return self._replay(execution, call) if scripted.is_replayed else execution

    def _next(self, case_id: str) -> ScriptedCall:
        scripted = self._script.call(self._operator.name, case_id)
        is_later = case_id in self._called
        self._called.add(case_id)
        return scripted.later if is_later and scripted.later else scripted

    def _replay(self, execution: Execution, call: CaseCall) -> Execution:
        if not execution.outputs:
            return execution
        shapes = tuple(tensor.shape for tensor in call.tensors)
        return dataclasses.replace(execution, outputs=self._kept.setdefault(shapes, execution.outputs))

    def close(self) -> None:
        """End a call in progress; later calls fail."""
        self._closed.set()


class NullDevice:
    """Opens scripted sessions."""

    def __init__(self) -> None:
        self._tries: Counter[tuple[str, str]] = Counter()
        """Calls of each case so far, whatever session they were in."""

    def missing(self) -> tuple[str, ...]:
        """Nothing is ever missing."""
        return ()

    def open(self, submission: Submission, operator: Operator, build: Build, runner: Runner) -> NullSession:
        """A session that plays the submission's script."""
        return NullSession(read_script(Path(submission.root)), operator, self._tries)


class NullTarget:
    """Implements core.protocols.Target."""

    name = NAME
    provenance = Provenance.SIMULATED

    def __init__(self, hardware: Hardware | None = None) -> None:
        """`hardware` decides the anchors; by default a made-up chip."""
        self.hardware = hardware or null_hardware()
        self.toolchain = NullToolchain()
        self.device = NullDevice()


def play(scripted: ScriptedCall, call: CaseCall) -> Execution:
    """The execution that `scripted` describes."""
    outcomes = tuple(outcome(cause, scripted.message, place=scripted.place, **scripted.numbers) for cause in scripted.causes)
    findings = tuple(Finding(kind=kind, message="scripted", place=scripted.place) for kind in scripted.findings)
    if outcomes and not scripted.keeps_outputs:
        return Execution(outcomes=outcomes, findings=findings)
    plays_golden = scripted.compute == GOLDEN
    return Execution(
        outputs=() if call.is_timing_only or plays_golden else _outputs(scripted, call),
        outcomes=outcomes,
        plays_golden=plays_golden,
        launches=(_launch(scripted.time_us),),
        time=None if outcomes else Measurement(samples=(scripted.time_us,), provenance=Provenance.SIMULATED, method="scripted"),
        findings=findings,
        timelines=(_timeline(scripted.time_us),) if call.timeline else (),
    )


def _outputs(scripted: ScriptedCall, call: CaseCall) -> tuple[OutputBuffer, ...]:
    if scripted.compute in WHOLE_CALLS and not scripted.recorded:
        return tuple(_buffer(scripted, computed) for computed in WHOLE_CALLS[scripted.compute](call))
    source = call.tensors[0]
    data = np.frombuffer(bytes.fromhex(scripted.recorded), dtype=np.uint8) if scripted.recorded else _compute(scripted.compute, source)
    return (_buffer(scripted, Computed(source.shape, source.dtype, data)),) * scripted.outputs


def _buffer(scripted: ScriptedCall, computed: Computed) -> OutputBuffer:
    shape = computed.shape if scripted.shape is None else scripted.shape
    if computed.dtype.bits < 8 and scripted.shape is None:
        shape = (*shape[:-1], computed.dtype.bytes_of(shape[-1]))
    strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    name = scripted.dtype_name or TORCH_NAMES.get(computed.dtype, computed.dtype.value)
    return OutputBuffer("", shape, name, strides, is_on_device=True, data=computed.data.data)


def _compute(name: str, source: TensorArgument) -> NDArray[np.uint8]:
    if name not in COMPUTE:
        raise EvaluatorError(f"the null target computes no {name!r}", expected=", ".join([GOLDEN, *COMPUTE, *WHOLE_CALLS]), where=SCRIPT)
    assert source.data is not None  # only timing runs come without data, and they have no outputs
    if name == "copy":
        return np.frombuffer(source.data, dtype=np.uint8)
    dtype = numpy_type(source.dtype)
    with np.errstate(all="ignore"):
        return COMPUTE[name](np.frombuffer(source.data, dtype=dtype).astype(np.float64)).astype(dtype).reshape(-1).view(np.uint8)


def _launch(time_us: float) -> LaunchRecord:
    cycles = round(time_us * 1e-6 * _CLOCK_HZ)
    busy = {"v": cycles // 2, "mte2": cycles // 4, "mte3": cycles // 4}
    return LaunchRecord(
        kernel="scripted", blocks=1, cycles=cycles, time_us=time_us, instructions=1, busy_cycles=busy, stall_cycles={}, gm_read_bytes=0, gm_written_bytes=0
    )


def _timeline(time_us: float) -> LaunchTimeline:
    """Loads for a quarter of the time, a vector unit that waits for them and then works; one block."""
    cycles = round(time_us * 1e-6 * _CLOCK_HZ)
    loaded = cycles // 4
    plain = Instruction("Copy", SCRIPT, 1, "work", "V", "", False, False, False, 0, 0, 0, (0, 0), 0, 0, 0, ())
    slices = (
        Slice(0, loaded, "mte2", "run", "", 0, None, 0, 0, 0),
        Slice(0, loaded, "v", "wait", "flag_mte2", 1, PIPES.index("mte2"), 0, 0, 0),
        Slice(loaded, cycles, "v", "run", "", 2, None, 0, 0, 0),
    )
    instructions = (plain._replace(name="DataCopy", pipe="MTE2"), plain._replace(name="WaitFlag", kind="wait_flag", flag="MTE2_V 0"), plain)
    track = BlockTimeline(0, 0, cycles, len(instructions), 0, (0, 0), instructions, slices, (Arrow(0, 1, "MTE2_V 0"),), ())
    return LaunchTimeline("scripted", 1, 1, "AIV", 1, cycles, _CLOCK_HZ, (track,), 1, ())


def null_hardware() -> Hardware:
    """A made-up chip with round figures."""
    return Hardware(
        name=NAME,
        arch="none",
        clock_hz=_figure(_CLOCK_HZ),
        cores_aic=1,
        cores_aiv=1,
        memory_bytes={"ub": _figure(1 << 18)},
        convention=_peaks(),
        silicon=_peaks(),
    )


def _peaks() -> Peaks:
    return Peaks(
        hbm_read_bytes_per_s=_figure(1e12),
        hbm_write_bytes_per_s=_figure(1e12),
        l2_write_bytes_per_s=_figure(4e12),
        l2_bytes=_figure(1e8),
        cube_flops={dtype.value: _figure(1.6e15 / dtype.bits) for dtype in DType},
        vector_lanes_per_s={dtype.value: _figure(1.6e14 / max(dtype.bits, 16)) for dtype in DType},
        floor_us=_figure(1.0),
    )


def _figure(value: float) -> Figure:
    return Figure(value=value, source=_SOURCE)
