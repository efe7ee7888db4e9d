"""The toolchain of the virtual NPU: from one operator's sources to a host library, a device library and an importable package.

Each kernel source is compiled twice against our headers (a host pass that packs launches, a device pass that registers kernels), each plugin once against
torch; then a Python module `_C` and `device.so` are linked. What is ours (engine, host library, precompiled torch header) is built once per machine.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from piton.core.canonical import digest
from piton.core.execution import Build, Diagnostic
from piton.core.hardware import Hardware
from piton.core.operator import Operator
from piton.core.protocols import Runner
from piton.core.submission import OperatorSources, Submission
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.targets.vnpu.compiler import APT_LINE, OLDEST, STEP_LIMITS, Step, StepResult, Workshop, find_compiler
from piton.targets.vnpu.diagnostics import Message, judge_compile, judge_link, parse_compiler
from piton.targets.vnpu.own import OwnParts, Paths, python_include, simulator_digest, torch_folder
from piton.targets.vnpu.package import assemble_package, module_name
from piton.targets.vnpu.sources import SourceTree, copy_sources
from piton.targets.vnpu.steps import EXPECTED_ON_DEVICE, EXPECTED_ON_HOST, OperatorSteps, Unit, unexpected
from piton.targets.vnpu.store import Store

Progress = Callable[[str], None]


class VnpuToolchain:
    """Implements core.protocols.Toolchain for the virtual NPU."""

    def __init__(self, hardware: Hardware, cache_dir: str | Path, progress: Progress | None = None, source_root: Path | None = None) -> None:
        """`cache_dir` keeps everything built; `progress` is told what takes long; `source_root` replaces Piton's own C++ sources (tests)."""
        self._hardware = hardware
        self._paths = Paths(source_root or Path(__file__).resolve().parents[2] / "vnpu_cpp")
        self._store = Store(Path(cache_dir).resolve() / "vnpu")
        self._progress = progress or (lambda _text: None)
        self._own: OwnParts | None = None

    @cached_property
    def identity(self) -> str:
        """The simulator that times a build."""
        return f"engine {simulator_digest(self._paths)[:12]}"

    @property
    def device_program(self) -> str:
        """Path of the executable `vnpu-device`; after `prepare`."""
        return self._ready().device_program

    @property
    def host_library(self) -> str:
        """Path of `libpiton_npu.so`; after `prepare`."""
        return self._ready().host_library

    def missing(self) -> tuple[str, ...]:
        """What this machine lacks to build, each with how to get it; empty when ready."""
        return tuple(_missing())

    def prepare(self, runner: Runner) -> None:
        """Build engine, host library and precompiled header, once per machine and version. Raises TargetUnavailableError when that fails."""
        parts = OwnParts.locate(self._paths, self._hardware)
        workshop = Workshop(parts.compiler, self._store, runner, self._store.root / "work")
        self._own = parts.made(workshop, self._progress)
        self._store.tidy()

    def prepare_programs(self, runner: Runner) -> OwnParts:
        """Build what whole programs need, once per machine and version. Raises TargetUnavailableError when that fails."""
        parts = OwnParts.locate(self._paths, self._hardware)
        workshop = Workshop(parts.compiler, self._store, runner, self._store.root / "work")
        return parts.made_for_programs(workshop, self._progress)

    @property
    def store(self) -> Store:
        """Where results are kept."""
        return self._store

    def build(self, submission: Submission, operator: Operator, runner: Runner, build_dir: str) -> Build:
        """Build one operator; a failure of the submission is in `Build.outcome`."""
        started = time.monotonic()
        sources = next((item for item in submission.operators if item.operator == operator.name), None)
        if sources is None or not sources.kernels:
            text = f"no sources of operator {operator.name} in the submission (looked for csrc/ops/{operator.name}/op_kernel/*.cpp and single-source files)"
            return Build(operator=operator.name, outcome=outcome(Cause.OPERATOR_MISSING, text))
        job = _OperatorBuild(self._ready(), self._store, runner, Path(build_dir).resolve(), submission, sources)
        return job.run(started)

    def key(self, submission: Submission, operator: Operator, scratch_dir: str) -> str:
        """`Build.key` without a compile; `scratch_dir` takes a copy of the sources. Raises TargetUnavailableError where nothing could be built."""
        sources = next((item for item in submission.operators if item.operator == operator.name), None)
        if sources is None or not sources.kernels:
            return ""
        own = OwnParts.locate(self._paths, self._hardware)
        tree = copy_sources(submission, sources, Path(scratch_dir).resolve() / operator.name)
        return _result_key(own, OperatorSteps(own, submission.manifest, sources, tree), tree, submission)

    def _ready(self) -> OwnParts:
        if self._own is None:
            raise RuntimeError("VnpuToolchain.prepare has to be called first")
        return self._own


def _missing() -> list[str]:
    lacks: list[str] = []
    compiler = find_compiler()
    if compiler is None or not compiler.is_recent:
        found = f"found {compiler.version}" if compiler else "found none"
        lacks.append(f"g++ {OLDEST[0]} or newer ({found}): {APT_LINE}")
    if python_include() is None:
        lacks.append(f"Python.h, the headers of this Python: {APT_LINE}")
    if torch_folder() is None:
        lacks.append('torch with its C++ headers: pip install "torch>=2.10"')
    return lacks


class SourceBuild:
    """Compiles and links of one tree of sources, with what the compiler said about them."""

    def __init__(self, own: OwnParts, workshop: Workshop, tree: SourceTree) -> None:
        self._own = own
        self._workshop = workshop
        self._tree = tree
        self.diagnostics: list[Diagnostic] = []
        """What a user wants to read."""
        self.is_cached = True
        """Nothing had to be made."""

    def compile(self, steps: OperatorSteps) -> tuple[Outcome | None, dict[str, list[str]]]:
        """The objects by side, or the failure that counts."""
        objects: dict[str, list[str]] = {"host": [], "device": []}
        units = steps.units()
        failure, paths = self._compile_units(units, objects)
        later = [(unit, path) for unit, path in zip(units, paths, strict=True) if unit.has_device_pass_to_come]
        if failure or not later:
            return failure, objects
        failure, _ = self._compile_units([steps.device_pass(unit, Path(path)) for unit, path in later], objects)
        return failure, objects

    def _compile_units(self, units: list[Unit], objects: dict[str, list[str]]) -> tuple[Outcome | None, list[str]]:
        results = self._workshop.make_all([unit.step for unit in units])
        failures = [self._note_compile(unit, result) for unit, result in zip(units, results, strict=True)]
        for unit, result in zip(units, results, strict=True):
            objects[unit.side].append(result.path)
        return next((failure for failure in failures if failure), None), [result.path for result in results]

    def _note_compile(self, unit: Unit, result: StepResult) -> Outcome | None:
        self.is_cached = self.is_cached and result.is_cached
        messages = parse_compiler(result.output, self._tree.contains)
        shown = [message.diagnostic for message in messages if message.diagnostic.severity == "error" or self._tree.contains(message.diagnostic.file)]
        self.diagnostics += [item for item in shown if item not in self.diagnostics]
        if result.path or result.is_skipped:
            return None
        if result.is_timed_out:
            return _timeout(unit.source)
        judged = judge_compile(messages, self._tree.line, self._own.known_names, result.output)
        return self._host_code(messages, unit.host_names) or judged

    def _host_code(self, messages: list[Message], host_names: frozenset[str]) -> Outcome | None:
        """The outcome when device code uses a function that was left out of the device pass."""
        error = next((message for message in messages if message.diagnostic.severity == "error"), None)
        if error is None or not error.is_own:
            return None
        line = self._tree.line(error.diagnostic.file, error.diagnostic.line)
        word = re.match(r"\w+", line[max(error.column - 1, 0) :])
        if word is None or word[0] not in host_names:
            return None
        text = f"{word[0]} needs torch, which kernels do not have: device code can't use it"
        return outcome(Cause.COMPILE_ERROR, text, place=Place(file=error.diagnostic.file, line=error.diagnostic.line))

    def link(self, step: Step, expected: re.Pattern[str]) -> tuple[Outcome | None, str]:
        """The linked file, or the failure; symbols that match `expected` are provided at run time."""
        result = self._workshop.make(step)
        self.is_cached = self.is_cached and result.is_cached
        if result.is_timed_out:
            return _timeout(step.name), ""
        if not result.path:
            return judge_link(unexpected(result.output, expected), result.output, self._tree.contains), ""
        return None, result.path


class _OperatorBuild(SourceBuild):
    """One call of `VnpuToolchain.build`."""

    def __init__(self, own: OwnParts, store: Store, runner: Runner, build_dir: Path, submission: Submission, sources: OperatorSources) -> None:
        super().__init__(own, Workshop(own.compiler, store, runner, build_dir / "work"), copy_sources(submission, sources, build_dir / "src"))
        self._build_dir = build_dir
        self._submission = submission
        self._sources = sources
        self._steps = OperatorSteps(own, submission.manifest, sources, self._tree)

    def run(self, started: float) -> Build:
        """Compile, link, assemble."""
        failure, artifacts = self._make()
        return Build(
            operator=self._sources.operator,
            artifacts=artifacts,
            outcome=failure,
            diagnostics=tuple(self.diagnostics),
            key=_result_key(self._own, self._steps, self._tree, self._submission),
            seconds=time.monotonic() - started,
            is_cached=self.is_cached,
        )

    def _make(self) -> tuple[Outcome | None, dict[str, str]]:
        failure, objects = self.compile(self._steps)
        if failure:
            return failure, {}
        name = module_name(self._submission)
        failure, host = self.link(self._steps.host_link(objects["host"], name), EXPECTED_ON_HOST)
        if failure:
            return failure, {}
        failure, device = self.link(self._steps.device_link(objects["device"]), EXPECTED_ON_DEVICE)
        if failure:
            return failure, {}
        folder = assemble_package(self._submission, Path(host), name, self._build_dir / "package")
        return None, {"host": host, "device": device, "package": str(folder)}


def _result_key(own: OwnParts, steps: OperatorSteps, tree: SourceTree, submission: Submission) -> str:
    """What decides a result beside hardware and data: sources, headers, compiler, the package's Python files, and the simulator that runs it all."""
    package = f"{submission.manifest.package}/"
    scripts = sorted((item.path, item.sha256) for item in submission.files if item.path.startswith(package))
    return digest([steps.key, tree.key, scripts, own.simulator_digest])


def _timeout(what: str) -> Outcome:
    return outcome(Cause.BUILD_TIMEOUT, f"{what} was not done after {STEP_LIMITS.wall_s:.0f} s", place=Place(file=what), limit_s=STEP_LIMITS.wall_s)
