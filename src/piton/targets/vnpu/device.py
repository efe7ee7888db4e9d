"""VnpuDevice: opens sessions on the virtual NPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from piton.core.errors import EvaluatorError
from piton.core.execution import Build
from piton.core.hardware import Hardware
from piton.core.operator import Operator
from piton.core.protocols import Limits, Runner
from piton.core.submission import Submission
from piton.targets.vnpu.session import SessionPlan, VnpuSession

DEVICE_MEMORY_BYTES = 60 << 30
"""What a submission can allocate of the 64 GiB of HBM that a 910B has; the rest of the arena is guard space."""

PROCESS_LIMITS = Limits(cpu_s=6 * 3600, memory_bytes=16 << 30, processes=256, may_start_processes=False)
"""Of each process of a session, which serves many cases; single cases are bounded by their deadline and budget."""


class Programs(Protocol):
    """Where the target's own programs lie, once they are built."""

    @property
    def device_program(self) -> str:
        """Path of `vnpu-device`."""
        ...

    @property
    def code_program(self) -> str:
        """Path of `piton-code`."""
        ...

    @property
    def host_library(self) -> str:
        """Path of libpiton_npu.so."""
        ...


@dataclass(frozen=True)
class VnpuDevice:
    """Implements core.protocols.Device."""

    hardware: Hardware
    chip_table: str
    """`name value` per line, for the engine."""
    programs: Programs
    is_engine_apart: bool = False
    """Device code runs in a process of its own."""

    def missing(self) -> tuple[str, ...]:
        """What this machine lacks to run; a virtual device needs nothing but Linux."""
        return ()

    def open(self, submission: Submission, operator: Operator, build: Build, runner: Runner) -> VnpuSession:
        """Prepare the processes for one operator of one submission; they start with the first case."""
        if build.outcome is not None:
            raise EvaluatorError(f"{operator.name} was not built and cannot be run")
        plan = SessionPlan(
            operator=operator,
            package_folder=build.artifacts["package"],
            package=submission.manifest.package,
            device_library=build.artifacts["device"],
            device_executable=self.programs.device_program,
            host_library=self.programs.host_library,
            platform=platform_figures(self.hardware),
            chip_table=self.chip_table,
            clock_hz=self.hardware.clock_hz.value,
            device_memory_bytes=DEVICE_MEMORY_BYTES,
            auto_sync=submission.manifest.auto_sync,
            submission_root=submission.root,
            limits=PROCESS_LIMITS,
            host_module=build.artifacts["host"],
            code_executable=self.programs.code_program if self.is_engine_apart else "",
        )
        return VnpuSession(plan, runner)


def platform_figures(hardware: Hardware) -> tuple[int, ...]:
    """What host code may ask for, in the order of enum piton_platform (vnpu/host_abi.h)."""
    capacities = [int(hardware.memory_bytes[name].value) if name in hardware.memory_bytes else 0 for name in ("ub", "l1", "l0a", "l0b", "l0c", "bt")]
    l2_bytes, clock_hz = int(hardware.silicon.l2_bytes.value), int(hardware.clock_hz.value)
    return (hardware.cores_aiv, hardware.cores_aic, *capacities, l2_bytes, DEVICE_MEMORY_BYTES, clock_hz)
