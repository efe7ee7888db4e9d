"""`piton run`: a whole program on a target, in a private copy of its folder."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import piton
from piton.catalog.program import Program, Stamp, bring, make_work_dir, read_program, written
from piton.core.errors import UsageError
from piton.core.execution import Accuracy, Build
from piton.core.finding import Finding, FindingKind
from piton.core.program import ProgramCall, ProgramExecution, ProgramReport, ProgramSources
from piton.core.protocols import EnginePlace, ProgramDevice, ProgramTarget, Runner, Target
from piton.core.verdict import PASSED
from piton.evaluate.engine_place import isolation_of, with_engine
from piton.evaluate.pipeline import check_target, named_target
from piton.evaluate.progress import Events, StageFinished, StageProgress, StageStarted, ignore, one_at_a_time

_DEFINE = re.compile(r"[A-Za-z_]\w*(?:=[^\x00-\x1f\x7f]*)?")
SHOWN_FILES = 10_000
"""Files of a program that a report names."""


@dataclass(frozen=True)
class ProgramRequest:
    """One run: which program, on what, how."""

    program: str
    """The file with `main()`."""
    cache_dir: str
    folder: str = ""
    """What belongs to the program; empty for the folder it lies in."""
    sources: tuple[str, ...] = ()
    """Further files to compile and link with it."""
    defines: tuple[str, ...] = ()
    """Macros as `NAME` or `NAME=VALUE`."""
    arguments: tuple[str, ...] = ()
    target: str = "ascend910b2-sim"
    is_auto_sync: bool = True
    is_timing_only: bool = False
    """Time launches without computing data."""
    accuracy: Accuracy = "exact"
    """How good the simulated Exp, Ln, Div, Rsqrt and Reciprocal are (docs/accuracy.md)."""
    engine: EnginePlace = "in-process"
    """Where device code runs: beside the engine, or in a process of its own."""
    out: str = ""
    """Folder that files it wrote are brought to; empty: they are listed and dropped."""
    deadline_s: float = 300.0


def run_program(request: ProgramRequest, events: Events = ignore) -> ProgramReport:
    """Build and run the program. Raises PitonError for what the caller has to put right, and when it could not be run through no fault of the program."""
    from piton.evaluate.sandbox import make_runner

    _check_defines(request.defines)
    _check_accuracy(request)
    events = one_at_a_time(events)
    target = named_target(request.target, request.cache_dir, lambda text: events(StageProgress(stage="target", message=text)))
    device = _programs_of(with_engine(target, request.engine))
    runner = make_runner()
    try:
        with tempfile.TemporaryDirectory(prefix="piton-run-") as scratch:
            os.chmod(scratch, 0o711)  # the program's user has to reach its working directory
            return _ProgramRun(request, device, runner, events, Path(scratch), target).run()
    finally:
        runner.close()


def _check_defines(defines: tuple[str, ...]) -> None:
    wrong = next((item for item in defines if not _DEFINE.fullmatch(item)), None)
    if wrong is not None:
        raise UsageError("not a macro", expected="NAME or NAME=VALUE", found=wrong, action="check -D")


def _check_accuracy(request: ProgramRequest) -> None:
    if request.is_timing_only and request.accuracy != "exact":
        text = f"--timing-only computes nothing that --accuracy {request.accuracy} could make worse"
        raise UsageError(text, expected="one of them", action="leave one out; time does not depend on the accuracy mode")


def _programs_of(target: Target) -> ProgramDevice:
    check_target(target)
    if not isinstance(target, ProgramTarget):
        raise UsageError(f"target {target.name} runs no whole programs", action="choose another one with --target, such as ascend910b2-sim")
    return target.programs


@dataclass(frozen=True)
class _ProgramRun:
    """One call of `run_program`."""

    request: ProgramRequest
    device: ProgramDevice
    runner: Runner
    events: Events
    scratch: Path
    target: Target

    def run(self) -> ProgramReport:
        """Read, prepare, build, run, bring."""
        program = self._read()
        self._stage("target", self.request.target, lambda: self.device.prepare(self.runner))
        build = self._build(program)
        if build.outcome is not None:
            return self._report(build)
        return self._run(program, build)

    def _read(self) -> Program:
        request = self.request
        folder = Path(request.folder) if request.folder else None
        return read_program(Path(request.program), folder, request.sources, self.scratch / "sources")

    def _stage(self, stage: Literal["target", "build"], subject: str, work: Callable[[], object]) -> None:
        self.events(StageStarted(stage=stage, subject=subject))
        work()
        self.events(StageFinished(stage=stage, subject=subject))

    def _build(self, program: Program) -> Build:
        sources = ProgramSources((program.main, *program.others), self.request.defines)
        self.events(StageStarted(stage="build", subject=program.main))
        build = self.device.build(program.submission, sources, self.runner, str(self.scratch / "build"))
        self.events(StageFinished(stage="build", subject=program.main, message=build.outcome.message if build.outcome else "", is_cached=build.is_cached))
        return build

    def _run(self, program: Program, build: Build) -> ProgramReport:
        request, work = self.request, self.scratch / "work"
        work.mkdir()
        before = make_work_dir(Path(request.folder) if request.folder else Path(request.program).parent, work)
        call = ProgramCall(
            request.arguments,
            str(work),
            deadline_s=request.deadline_s,
            is_auto_sync=request.is_auto_sync,
            is_timing_only=request.is_timing_only,
            accuracy=request.accuracy,
        )
        started = time.monotonic()
        execution = self.device.run(program.submission, build, call, self.runner)
        wall_s = time.monotonic() - started
        return self._report(build, execution, self._bring(before, work)).model_copy(update={"wall_s": wall_s})

    def _bring(self, before: dict[str, Stamp], work: Path) -> tuple[list[str], list[Finding]]:
        """Files that it wrote, and a finding when some stayed behind."""
        names = written(before, work)
        left_out = bring(work, names, Path(self.request.out)) if self.request.out else []
        if not left_out:
            return names[:SHOWN_FILES], []
        message = f"{len(left_out)} of {len(names)} files that the program wrote were too large or too many to bring, the first is {left_out[0]}"
        return names[:SHOWN_FILES], [Finding(kind=FindingKind.OTHER, message=message)]

    def _report(self, build: Build, execution: ProgramExecution | None = None, brought: tuple[list[str], list[Finding]] = ([], [])) -> ProgramReport:
        found = execution or ProgramExecution(exit_code=None, stdout="", stderr="", outcomes=(build.outcome,) if build.outcome else ())
        files, notes = brought
        return ProgramReport(
            piton=piton.__version__,
            program=self.request.program,
            arguments=self.request.arguments,
            target=self.target.name,
            hardware=self.target.hardware.name,
            hardware_digest=self.target.hardware.digest(),
            is_auto_sync=self.request.is_auto_sync,
            is_timing_only=self.request.is_timing_only,
            accuracy=self.request.accuracy,
            isolation=isolation_of(self.runner, self.request.engine),
            outcome=found.outcomes[0] if found.outcomes else PASSED,
            outcomes=found.outcomes,
            diagnostics=build.diagnostics,
            exit_code=found.exit_code,
            stdout=found.stdout,
            stderr=found.stderr,
            printed=found.printed,
            launches=found.launches,
            launch_count=found.launch_count,
            total_us=found.total_us,
            copies=found.copies,
            chip=self.target.hardware.figures("silicon"),
            findings=(*found.findings, *notes),
            files=tuple(files),
            out=self.request.out,
        )
