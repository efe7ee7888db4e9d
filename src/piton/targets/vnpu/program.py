"""Whole programs on the virtual NPU: a host executable and a device library from one folder of sources."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from piton.core.execution import Build
from piton.core.hardware import Hardware
from piton.core.program import ProgramCall, ProgramExecution, ProgramSources
from piton.core.protocols import Runner
from piton.core.submission import OperatorSources, Submission
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.targets.vnpu.compiler import Workshop
from piton.targets.vnpu.own import OwnParts
from piton.targets.vnpu.program_session import ProgramPlan, run_program
from piton.targets.vnpu.source_build import SourceBuild
from piton.targets.vnpu.sources import SourceTree, copy_sources
from piton.targets.vnpu.steps import EXPECTED_ON_DEVICE, NOTHING, OperatorSteps
from piton.targets.vnpu.toolchain import VnpuToolchain

NAME = "program"
_DEVICE_CODE = re.compile(r"__global__|__aicore__|PITON_LAUNCH\(|kernel_operator\.h")
"""In a rewritten source: it is compiled for the device too."""
_NO_MAIN = "there is no main(): `piton run` takes a whole program; `piton eval` takes an operator"
_TORCH = "this file includes torch, which `piton run` does not offer: evaluate an operator with `piton eval`, or take torch out of the program"


@dataclass(frozen=True)
class VnpuPrograms:
    """Implements core.protocols.ProgramDevice."""

    hardware: Hardware
    chip_table: str
    toolchain: VnpuToolchain
    is_engine_apart: bool = False
    """Device code runs in a process of its own."""

    def prepare(self, runner: Runner) -> None:
        """Build the engine and what programs are linked with. Raises TargetUnavailableError when that fails."""
        self.toolchain.prepare_programs(runner)

    def build(self, submission: Submission, sources: ProgramSources, runner: Runner, build_dir: str) -> Build:
        """Compile and link; a failure of the program is in `Build.outcome`."""
        started = time.monotonic()
        own = self.toolchain.prepare_programs(runner)
        return _ProgramBuild(own, self.toolchain, runner, Path(build_dir).resolve()).run(submission, sources, started)

    def run(self, submission: Submission, build: Build, call: ProgramCall, runner: Runner) -> ProgramExecution:
        """Run a built program; see run_program."""
        plan = ProgramPlan(
            program=build.artifacts["host"],
            device_library=build.artifacts["device"],
            device_executable=build.artifacts["engine"],
            hardware=self.hardware,
            chip_table=self.chip_table,
            root=submission.root,
            code_executable=build.artifacts["code"] if self.is_engine_apart else "",
        )
        return run_program(plan, call, runner)


class _ProgramBuild:
    """One call of `VnpuPrograms.build`."""

    def __init__(self, own: OwnParts, toolchain: VnpuToolchain, runner: Runner, build_dir: Path) -> None:
        self._own = own
        self._workshop = Workshop(own.compiler, toolchain.store, runner, build_dir / "work")
        self._folder = build_dir / "src"

    def run(self, submission: Submission, sources: ProgramSources, started: float) -> Build:
        """Compile every source, link the program and its device library."""
        everything = OperatorSources(operator=NAME, kernels=sources.files, plugins=())
        tree = copy_sources(submission, everything, self._folder)
        torch = next((name for name in sources.files if tree.mentions_torch(name)), None)
        if torch is not None:
            return Build(operator=NAME, outcome=outcome(Cause.COMPILE_ERROR, _TORCH, place=Place(file=torch)), seconds=time.monotonic() - started)
        job = SourceBuild(self._own, self._workshop, tree)
        steps = OperatorSteps(self._own, submission.manifest, _split(sources, tree), tree, sources.defines)
        failure, artifacts = _make(job, steps)
        if failure is None:
            artifacts["engine"], artifacts["code"] = self._own.device_program, self._own.code_program
        return Build(
            operator=NAME,
            artifacts=artifacts,
            outcome=failure,
            diagnostics=tuple(job.diagnostics),
            seconds=time.monotonic() - started,
            is_cached=job.is_cached,
        )


def _split(sources: ProgramSources, tree: SourceTree) -> OperatorSources:
    """Files with device code are compiled twice, the others for the host only."""
    device = tuple(name for name in sources.files if _DEVICE_CODE.search(Path(tree.path(name)).read_text("utf-8", errors="replace")))
    return OperatorSources(operator=NAME, kernels=device, plugins=tuple(name for name in sources.files if name not in device))


def _make(job: SourceBuild, steps: OperatorSteps) -> tuple[Outcome | None, dict[str, str]]:
    failure, objects = job.compile(steps)
    if failure:
        return failure, {}
    failure, host = job.link(steps.program_link(objects["host"]), NOTHING)
    if failure:
        return _without_main(failure), {}
    failure, device = job.link(steps.device_link(objects["device"]), EXPECTED_ON_DEVICE)
    return failure, {} if failure else {"host": host, "device": device}


def _without_main(failure: Outcome) -> Outcome:
    is_main = failure.cause is Cause.LINK_ERROR and failure.numbers.get("symbol") == "main"
    return outcome(Cause.LINK_ERROR, _NO_MAIN, place=Place()) if is_main else failure
