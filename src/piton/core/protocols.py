"""The seams: Target, Toolchain, Device, Session, Runner. Implementations live in `targets` and `evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from signal import SIGKILL
from typing import Literal, Protocol, runtime_checkable

from piton.core.execution import Build, CaseCall, Execution
from piton.core.hardware import Hardware
from piton.core.measurement import Provenance
from piton.core.operator import Operator
from piton.core.program import ProgramCall, ProgramExecution, ProgramSources
from piton.core.submission import Submission

EnginePlace = Literal["in-process", "own-process"]
"""Where the engine of a virtual device is, as seen from device code."""
ENGINE_APART = "engine_own_process"
"""Name of that mechanism among the others in a report."""


class Role(str, Enum):
    """What a sandboxed process is for; each role has its own user where the machine allows it."""

    BUILD = "build"
    HOST = "host"
    DEVICE = "device"
    GOLDEN = "golden"


@dataclass(frozen=True)
class Limits:
    """Bounds on one process (and what it starts)."""

    wall_s: float = 300.0
    cpu_s: int = 600
    memory_bytes: int = 16 << 30
    file_bytes: int = 4 << 30
    processes: int = 64
    output_bytes: int = 1 << 20
    """Bytes kept of each output stream; the rest is dropped."""
    flood_bytes: int = 64 << 20
    """A job that prints more than this on one stream is ended."""
    may_start_processes: bool = True
    """False: threads only; making a further process ends the job with SIGSYS, where the machine can enforce it. A program may still replace itself (execve)."""


@dataclass(frozen=True)
class ProcessJob:
    """One program to run inside the sandbox."""

    role: Role
    argv: tuple[str, ...]
    cwd: str
    readable: tuple[str, ...] = ()
    """Folders and files the process may read beyond the system's own and Piton's."""
    writable: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """Additions to the clean environment."""
    pass_fds: tuple[int, ...] = ()
    """Descriptors kept open, under the same numbers."""
    limits: Limits = Limits()


@dataclass(frozen=True)
class ProcessResult:
    """How a finished process ended."""

    exit_code: int | None
    """None when a signal ended it."""
    signal: int | None
    is_timed_out: bool
    stdout: str
    stderr: str
    seconds: float
    """Wall-clock time from its start to the reading of its end."""
    cpu_s: float = 0.0
    """Processor time, user and system, of the process and of the children it waited for; 0 where unknown."""
    is_flooded: bool = False
    """It was ended because it printed more than `Limits.flood_bytes`."""
    is_bounded: bool = False
    """It was ended because it went over another bound: files, memory of the control group, processor time."""

    @property
    def is_killed(self) -> bool:
        """True when a SIGKILL ended it that none of its bounds explains: its own, or one from outside."""
        return self.signal == SIGKILL and not (self.is_flooded or self.is_bounded or self.is_timed_out)


class RunningProcess(Protocol):
    """A started process; `kill` ends its whole process group."""

    @property
    def pid(self) -> int:
        """Process id as this process sees it."""
        ...

    def poll(self) -> ProcessResult | None:
        """The result if it has ended."""
        ...

    def wait(self, timeout_s: float) -> ProcessResult | None:
        """Wait up to `timeout_s`; None if it still runs."""
        ...

    def kill(self) -> ProcessResult:
        """Kill the process group, reap it, and say how it ended."""
        ...


class Runner(Protocol):
    """The only starter of processes that run untrusted code (evaluate.sandbox)."""

    @property
    def isolation(self) -> tuple[str, ...]:
        """Names of the mechanisms in force, for the report."""
        ...

    def run(self, job: ProcessJob) -> ProcessResult:
        """Run to the end or to `limits.wall_s`."""
        ...

    def start(self, job: ProcessJob) -> RunningProcess:
        """Start a program and return at once."""
        ...

    def fork_worker(
        self, role: Role, entry: str, arguments: Mapping[str, str], fds: Mapping[str, int], limits: Limits, readable: Sequence[str] = ()
    ) -> RunningProcess:
        """Fork the preloaded zygote and call `entry` ("package.module:function") with (`arguments`, `fds`) in the child.

        `fds` maps names to descriptors of this process; the child gets its own numbers for them.
        """
        ...

    def close(self) -> None:
        """End the zygote and everything it started."""
        ...


class Toolchain(Protocol):
    """Turns the sources of one operator into artifacts."""

    @property
    def identity(self) -> str:
        """What turns sources into times beside the hardware file, in a few words that change with it: `engine 3f2a19bc0d4e`. Needs nothing to be built."""
        ...

    def missing(self) -> tuple[str, ...]:
        """What this machine lacks to build, each with how to get it; empty when ready."""
        ...

    def prepare(self, runner: Runner) -> None:
        """Build what is the target's own (engine, headers, torch device), once per machine."""
        ...

    def build(self, submission: Submission, operator: Operator, runner: Runner, build_dir: str) -> Build:
        """Build one operator; a failure of the submission is in `Build.outcome`."""
        ...

    def key(self, submission: Submission, operator: Operator, scratch_dir: str) -> str:
        """`Build.key` of what `build` would make, found without building; empty when the submission has no sources of the operator."""
        ...


class Session(Protocol):
    """The processes that serve one (submission, operator)."""

    def call(self, call: CaseCall) -> Execution:
        """Run one case. Never raises for what the submission did; raises EvaluatorError when we could not evaluate."""
        ...

    def close(self) -> None:
        """End the processes; safe to call twice."""
        ...


class Device(Protocol):
    """Opens sessions on the hardware, real or virtual."""

    def missing(self) -> tuple[str, ...]:
        """What this machine lacks to run, each with how to get it; empty when ready."""
        ...

    def open(self, submission: Submission, operator: Operator, build: Build, runner: Runner) -> Session:
        """Start the processes for one operator of one submission."""
        ...


class Target(Protocol):
    """A Toolchain plus a Device, by name."""

    @property
    def name(self) -> str:
        """Such as `ascend910b2-sim`."""
        ...

    @property
    def hardware(self) -> Hardware:
        """The chip whose anchors apply."""
        ...

    @property
    def provenance(self) -> Provenance:
        """What its times are."""
        ...

    @property
    def toolchain(self) -> Toolchain:
        """Builder of submissions."""
        ...

    @property
    def device(self) -> Device:
        """Opener of sessions."""
        ...


class CanaryCondition(Protocol):
    """What one measurement of a canary found."""

    @property
    def work_us(self) -> float:
        """Time of one call of its kernel."""
        ...


class Canary(Protocol):
    """A small kernel of ours, ready to be measured again and again."""

    def measure(self) -> CanaryCondition:
        """Run it now and check what it computed. Raises EvaluatorError when it does not run, or is wrong: the device is not fit to judge anybody."""
        ...

    def close(self) -> None:
        """End its processes; safe to call twice."""
        ...


@runtime_checkable
class CanaryDevice(Protocol):
    """A device whose times are measured, so that its state has a say in them. Simulated devices are none: their times depend on nothing outside."""

    def canary(self, runner: Runner) -> Canary:
        """A canary; after `prepare`. Raises EvaluatorError when it can't be started."""
        ...


class ProgramDevice(Protocol):
    """Builds and runs whole programs, with a `main()` of their own."""

    def prepare(self, runner: Runner) -> None:
        """Build what is the target's own, once per machine. Raises TargetUnavailableError when that fails."""
        ...

    def build(self, submission: Submission, sources: ProgramSources, runner: Runner, build_dir: str) -> Build:
        """Compile and link; a failure of the program is in `Build.outcome`."""
        ...

    def run(self, submission: Submission, build: Build, call: ProgramCall, runner: Runner) -> ProgramExecution:
        """Run to the end or to the deadline. Raises EvaluatorError when it could not be run."""
        ...


@runtime_checkable
class SeparableTarget(Protocol):
    """A target whose engine can run apart from device code."""

    def with_engine_apart(self) -> Target:
        """The same target with device code in a process of its own."""
        ...


@runtime_checkable
class ProgramTarget(Protocol):
    """A target that can also run whole programs."""

    @property
    def programs(self) -> ProgramDevice:
        """What builds and runs them."""
        ...
