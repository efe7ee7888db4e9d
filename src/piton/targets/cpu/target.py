"""CpuTarget: the machine's own processor as a Target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from piton.core.execution import Build
from piton.core.hardware import Hardware
from piton.core.measurement import Provenance
from piton.core.operator import Operator
from piton.core.protocols import Runner
from piton.core.submission import Submission
from piton.targets.cpu.arena import can_seal
from piton.targets.cpu.canary import Canary, launch_program
from piton.targets.cpu.host import NAME, host_hardware
from piton.targets.cpu.session import CpuSession, launch_python
from piton.targets.cpu.toolchain import PROGRAM, SOURCE, CpuToolchain


@dataclass(frozen=True)
class CpuDevice:
    """Implements core.protocols.Device."""

    toolchain: CpuToolchain

    def missing(self) -> tuple[str, ...]:
        """What this machine lacks to run."""
        lacks = [] if Path("/proc/self/task").is_dir() else ["Linux with /proc mounted: what a kernel's process does is read there"]
        return (*lacks, *(() if can_seal() else ("Linux 5.1 or later: inputs can't be closed against writing on this one",)))

    def canary(self, runner: Runner) -> Canary:
        """A running canary; after `prepare`. Raises EvaluatorError when it can't be started."""
        return Canary(self.toolchain.canary, runner)

    def open(self, submission: Submission, operator: Operator, build: Build, runner: Runner) -> CpuSession:
        """A session for one operator; its processes start with the first case."""
        del submission
        launch = launch_program(build.artifacts[PROGRAM]) if PROGRAM in build.artifacts else launch_python(build.artifacts[SOURCE], operator)
        return CpuSession(operator, launch, runner, partial(self.canary, runner))


@dataclass(frozen=True)
class CpuTarget:
    """Implements core.protocols.Target: real time on this machine."""

    hardware: Hardware
    toolchain: CpuToolchain
    device: CpuDevice
    name: str = NAME
    provenance: Provenance = Provenance.DEVICE


def open_cpu(cache_dir: str, progress: Callable[[str], None] | None = None) -> CpuTarget:
    """The target; what it builds is kept below `cache_dir`."""
    toolchain = CpuToolchain(cache_dir, progress)
    return CpuTarget(host_hardware(), toolchain, CpuDevice(toolchain))
