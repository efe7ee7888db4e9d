"""What one call of an operator on a target is given, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from piton.core.dtype import DType
from piton.core.finding import Finding
from piton.core.measurement import Measurement
from piton.core.operator import AttrValue, Frozen
from piton.core.timeline import LaunchTimeline, TimelineRequest
from piton.core.verdict import Outcome

PIPES = ("s", "v", "m", "mte1", "mte2", "mte3", "fix")
"""Execution pipes of an AI core, by the names reports use."""


Accuracy = Literal["exact", "pessimistic"]
"""Of the instructions whose accuracy on the chip is not published: as exact as floats allow, or off by one unit in the last place."""


@dataclass(frozen=True)
class TensorArgument:
    """One dense, C-contiguous tensor handed to the operator; `data` is None when only its size matters (timing runs)."""

    name: str
    shape: tuple[int, ...]
    dtype: DType
    data: memoryview | None
    """Raw little-endian bytes, `dtype.bytes_of(elements)` long."""
    is_mutable: bool = False
    list_index: int | None = None


POISON, OTHER_POISON = 0xFF, 0x3C
"""Bytes that memory holds before a submission writes it: NaN (-1 for integers), and in a repeated call small finite numbers."""


@dataclass(frozen=True)
class Probe:
    """How a call is run when it is to show what its outputs depend on (docs/integrity.md); a submission sees no difference. Simulated devices only."""

    launches_do_nothing: bool = False
    """Kernels are looked up and not executed."""
    repeats_answers: bool = False
    """Copies to the host, and the device's clock, answer what they answered in the last call without this."""
    poison: int = POISON
    """Byte that memory which the submission allocates is filled with; 0 leaves it empty."""
    in_fresh_processes: bool = False
    """Nothing that an earlier call left in a process of the submission is there."""


USUAL = Probe()
"""How every ordinary call is run."""
NO_PROBE = Probe(poison=0)
"""Of whole programs, whose memory is as empty as it was."""


@dataclass(frozen=True)
class CaseCall:
    """One call: arguments in the order of the schema (omitted optional tensors as None) and how to run it."""

    case_id: str
    tensors: tuple[TensorArgument, ...]
    order: tuple[str, ...]
    """Argument names in schema order, tensors and attributes alike."""
    attributes: dict[str, AttrValue]
    omitted: tuple[str, ...] = ()
    results: tuple[TensorArgument, ...] = ()
    """Forms of the outputs, without data: for targets that hand them over allocated. Of a list output each element, `y[0]` and so on."""
    is_varied: bool = True
    """Measured calls may have other values than the case's own; False where the forms of outputs, or whether there are any, depend on values."""
    budget_cycles: int = 10_000_000_000
    """Simulated cycles after which device code is cut (verdict timed_out, device_budget)."""
    deadline_s: float = 300.0
    """Wall-clock seconds the host code may take before it is killed (verdict timed_out, host_deadline)."""
    is_timing_only: bool = False
    """Skip data and checks and keep the trace; for trusted kernels whose control flow does not depend on data."""
    copy_allowance_bytes: int = 4096
    """Bytes that may cross between host and device inside the call, for metadata (D2)."""
    accuracy: Accuracy = "exact"
    """How good the vector unit's Exp, Ln, Div, Rsqrt and Reciprocal are (docs/accuracy.md); a target that computes nothing ignores it."""
    timeline: TimelineRequest | None = None
    """Record timelines of the launches; nothing else of the call depends on it."""
    probe: Probe = USUAL


@dataclass(frozen=True)
class OutputBuffer:
    """One output as the harness found it in device memory; the facts are the harness's own, not the submission's claims."""

    name: str
    shape: tuple[int, ...]
    dtype_name: str
    """torch's name, such as `float16`; not a DType, since a submission may return anything."""
    strides: tuple[int, ...]
    """In elements."""
    is_on_device: bool
    data: memoryview | None
    """Bytes of the dense tensor; None when there is nothing to compare."""


@dataclass(frozen=True)
class TimedCall:
    """A call that was measured with values of its own; whoever has a golden checks it like any other."""

    inputs: Callable[[], tuple[memoryview, ...]]
    """Raw bytes of its inputs, in the order of the case's tensors."""
    outputs: tuple[OutputBuffer, ...]
    """What it left in its outputs."""
    poison: bytes
    """The byte that they held before."""
    is_own: bool = False
    """It had the case's own values."""


class CorePipes(Frozen):
    """What the pipes of the cube cores of a mixed launch did, summed over these cores; the rest of the launch's figures is that of its vector cores."""

    cores: int
    """Cube cores that took part."""
    busy_cycles: dict[str, int]
    """As in the launch."""
    stall_cycles: dict[str, int]
    """As in the launch."""
    wait_cycles: dict[str, dict[str, int]]
    """As in the launch."""
    lost_cycles: dict[str, dict[str, int]]
    """As in the launch."""


def _less(whole: dict[str, dict[str, int]], part: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """`whole` without `part`, by pipe and reason."""
    return {pipe: {name: value - part.get(pipe, {}).get(name, 0) for name, value in reasons.items()} for pipe, reasons in whole.items()}


class LaunchRecord(Frozen):
    """One kernel launch (or priced device copy) as the replay timed it."""

    kernel: str
    """Name of the kernel, or of the copy."""
    kind: Literal["kernel", "copy"] = "kernel"
    """A kernel of the submission, or a copy on the device."""
    blocks: int
    """Blocks it was launched with."""
    cycles: int
    """Launch overhead included."""
    time_us: float
    """Its time in microseconds."""
    instructions: int
    """Instructions of all blocks."""
    busy_cycles: dict[str, int]
    """Cycles in which each pipe worked, summed over cores."""
    stall_cycles: dict[str, int]
    """Cycles in which each pipe did nothing because a flag, a barrier, a full queue or other cores held it up, summed over cores."""
    gm_read_bytes: int
    """Bytes that its copies asked for from global memory."""
    gm_written_bytes: int
    """And to it."""
    cores: int = 0
    """Cores that took part; 0 in a report from before they were counted."""
    wait_cycles: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Why each pipe did nothing (docs/report-schema.md), summed over cores: of every pipe, busy cycles and these together are `cores` times `cycles`."""
    lost_cycles: dict[str, dict[str, int]] = Field(default_factory=dict)
    """The part of the busy cycles that the pipe's instructions do not need by themselves, by reason, summed over cores."""
    hbm_bytes: int | None = None
    """Traffic of HBM: what L2 did not serve, with whole bursts and what was written back."""
    l2_bytes: int | None = None
    """What L2 served: loads that found their bytes there, in whole bursts, and stores that stayed in it."""
    cube: CorePipes | None = None
    """Of a launch of cube and vector cores together: the part of the cube cores in the figures of the pipes; else null."""

    def pipes_of(self, *, is_cube: bool) -> CorePipes:
        """The figures of one kind of core in a mixed launch."""
        if self.cube is None:
            raise ValueError(f"{self.kernel} runs on one kind of core")
        if is_cube:
            return self.cube
        part = self.cube
        return CorePipes(
            cores=self.cores - part.cores,
            busy_cycles={pipe: cycles - part.busy_cycles.get(pipe, 0) for pipe, cycles in self.busy_cycles.items()},
            stall_cycles={pipe: cycles - part.stall_cycles.get(pipe, 0) for pipe, cycles in self.stall_cycles.items()},
            wait_cycles=_less(self.wait_cycles, part.wait_cycles),
            lost_cycles=_less(self.lost_cycles, part.lost_cycles),
        )

    @property
    def gm_bytes_per_s(self) -> float:
        """Bytes that copies moved from and to global memory, per second of the launch."""
        return (self.gm_read_bytes + self.gm_written_bytes) / self.time_us * 1e6 if self.time_us else 0.0


class CopyLog(Frozen):
    """Copies seen during the call."""

    host_to_device_bytes: int = 0
    """To the device."""
    device_to_host_bytes: int = 0
    """From the device."""
    device_to_device_bytes: int = 0
    """On the device."""
    refused: tuple[str, ...] = ()
    """Copies that were refused, each with its reason."""


@dataclass(frozen=True)
class Execution:
    """Everything one call left behind. A failure is in `outcomes`; `time` is None whenever there is one."""

    outputs: tuple[OutputBuffer, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    launches: tuple[LaunchRecord, ...] = ()
    copies: CopyLog = field(default_factory=CopyLog)
    time: Measurement | None = None
    findings: tuple[Finding, ...] = ()
    simulation_s: float = 0.0
    """Wall-clock seconds that a simulated device worked on the call: what the simulator costs, nothing about the operator."""
    timelines: tuple[LaunchTimeline, ...] = ()
    """Of the first launches that were not cut; empty unless asked for."""
    is_killed: bool = False
    """A process of the call was ended by a SIGKILL that none of its bounds explains: by somebody else, unless this happens again and again."""
    timed: tuple[TimedCall, ...] = ()
    """Of a target that measures real time: calls with other values than the case's, all of which have to be right."""
    plays_golden: bool = False
    """Of the null target: the outputs are those of the golden's same-dtype run, which the evaluator puts in."""


class Diagnostic(Frozen):
    """One message of a compiler or linker, mapped to the user's file."""

    file: str = ""
    """File of the submission."""
    line: int = 0
    """Line in it, 0 when there is none."""
    severity: Literal["error", "warning", "note"] = "error"
    """As the compiler calls it."""
    message: str
    """What it says."""


@dataclass(frozen=True)
class Build:
    """What a toolchain made of one operator of a submission."""

    operator: str
    artifacts: dict[str, str] = field(default_factory=dict)
    """Role (`host`, `device`, `package`) to path; empty when the build failed."""
    outcome: Outcome | None = None
    """The failure, or None."""
    diagnostics: tuple[Diagnostic, ...] = ()
    key: str = ""
    """Content key of what a result depends on beside hardware, options and data: sources, headers, flags, compiler, and what will run the build."""
    seconds: float = 0.0
    is_cached: bool = False
