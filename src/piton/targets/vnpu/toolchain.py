"""The toolchain of the virtual NPU: from one operator's sources to a host library, a device library and an importable package.

Each kernel source is compiled twice against our headers (a host pass that packs launches, a device pass that registers kernels), each plugin once against
torch; then a Python module `_C` and `device.so` are linked. What is ours (engine, host library, precompiled torch header) is built once per machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from piton.core.canonical import digest
from piton.core.errors import UsageError
from piton.core.execution import Build
from piton.core.hardware import Hardware
from piton.core.operator import Operator
from piton.core.protocols import Runner
from piton.core.submission import OperatorSources, Submission
from piton.core.verdict import Cause, Outcome, outcome
from piton.targets.vnpu.compiler import APT_LINE, OLDEST, Workshop, find_compiler
from piton.targets.vnpu.own import OwnParts, Paths, python_include, simulator_digest, torch_folder
from piton.targets.vnpu.package import assemble_package, module_name
from piton.targets.vnpu.project_build import ProjectBuild
from piton.targets.vnpu.source_build import SourceBuild
from piton.targets.vnpu.sources import SourceTree, copy_sources
from piton.targets.vnpu.steps import EXPECTED_ON_DEVICE, EXPECTED_ON_HOST, OperatorSteps
from piton.targets.vnpu.store import REST_S, Store

_OF_THE_PROCESSOR = ("cpp", "python")
Progress = Callable[[str], None]
_LOOK_AGAIN_S = REST_S / 6
"""After which own parts are looked for again: the store never removes what was asked for within `REST_S`."""


class VnpuToolchain:
    """Implements core.protocols.Toolchain for the virtual NPU."""

    def __init__(self, hardware: Hardware, cache_dir: str | Path, progress: Progress | None = None, source_root: Path | None = None) -> None:
        """`cache_dir` keeps everything built; `progress` is told what takes long; `source_root` replaces Piton's own C++ sources (tests)."""
        self._hardware = hardware
        self._paths = Paths(source_root or Path(__file__).resolve().parents[2] / "vnpu_cpp")
        self._store = Store(Path(cache_dir).resolve() / "vnpu")
        self._progress = progress or (lambda _text: None)
        self._own: OwnParts | None = None
        self._looked_at = 0.0

    @cached_property
    def identity(self) -> str:
        """The simulator that times a build."""
        return f"engine {simulator_digest(self._paths)[:12]}"

    @property
    def device_program(self) -> str:
        """Path of the executable `vnpu-device`; after `prepare`."""
        return self._ready().device_program

    @property
    def code_program(self) -> str:
        """Path of the executable `piton-code`, which runs device code when the engine has a process of its own; after `prepare`."""
        return self._ready().code_program

    @property
    def host_library(self) -> str:
        """Path of `libpiton_npu.so`; after `prepare`."""
        return self._ready().host_library

    def missing(self) -> tuple[str, ...]:
        """What this machine lacks to build, each with how to get it; empty when ready."""
        return tuple(_missing())

    def prepare(self, runner: Runner) -> None:
        """Build engine, host library and precompiled header, once per machine and version. Raises TargetUnavailableError when that fails.

        A process that evaluates one submission after another does not look at all of it each time.
        """
        if self._own is not None and time.monotonic() < self._looked_at + _LOOK_AGAIN_S:
            return
        parts = OwnParts.locate(self._paths, self._hardware)
        workshop = Workshop(parts.compiler, self._store, runner, self._store.root / "work")
        self._own = parts.made(workshop, self._progress)
        self._store.tidy()
        self._looked_at = time.monotonic()

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
        """Build one operator; a failure of the submission is in `Build.outcome`. Raises UsageError for a submission for another kind of target."""
        started = time.monotonic()
        _refuse_other_track(submission)
        sources = next((item for item in submission.operators if item.operator == operator.name), None)
        if sources is None or not sources.kernels:
            text = f"no sources of operator {operator.name} in the submission (looked for csrc/ops/{operator.name}/op_kernel/*.cpp and single-source files)"
            return Build(operator=operator.name, outcome=outcome(Cause.OPERATOR_MISSING, text))
        job = _OperatorBuild(self._ready(), self._store, runner, Path(build_dir).resolve(), submission, sources)
        return job.run(operator, runner, started)

    def key(self, submission: Submission, operator: Operator, scratch_dir: str) -> str:
        """`Build.key` without a compile; `scratch_dir` takes a copy of the sources. Raises TargetUnavailableError where nothing could be built."""
        sources = next((item for item in submission.operators if item.operator == operator.name), None)
        if sources is None or not sources.kernels:
            return ""
        own = self._own or OwnParts.locate(self._paths, self._hardware)
        tree = copy_sources(submission, sources, Path(scratch_dir).resolve() / operator.name)
        return _result_key(own, OperatorSteps(own, submission.manifest, sources, tree), tree, submission, operator)

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


class _OperatorBuild(SourceBuild):
    """One call of `VnpuToolchain.build`."""

    def __init__(self, own: OwnParts, store: Store, runner: Runner, build_dir: Path, submission: Submission, sources: OperatorSources) -> None:
        super().__init__(own, Workshop(own.compiler, store, runner, build_dir / "work"), copy_sources(submission, sources, build_dir / "src"))
        self._build_dir = build_dir
        self._submission = submission
        self._sources = sources
        self._steps = OperatorSteps(own, submission.manifest, sources, self.tree)

    def run(self, operator: Operator, runner: Runner, started: float) -> Build:
        """Compile, link, assemble."""
        if self._sources.hosts:
            failure, objects = ProjectBuild(self, self._steps, self._submission.manifest, self._sources).compile(operator, runner)
        else:
            failure, objects = self.compile(self._steps)
        failure, artifacts = (failure, {}) if failure else self._make(objects)
        return Build(
            operator=self._sources.operator,
            artifacts=artifacts,
            outcome=failure,
            diagnostics=tuple(self.diagnostics),
            key=_result_key(self.own, self._steps, self.tree, self._submission, operator),
            seconds=time.monotonic() - started,
            is_cached=self.is_cached,
        )

    def _make(self, objects: dict[str, list[str]]) -> tuple[Outcome | None, dict[str, str]]:
        name = module_name(self._submission)
        failure, host = self.link(self._steps.host_link(objects["host"], name), EXPECTED_ON_HOST)
        if failure:
            return failure, {}
        failure, device = self.link(self._steps.device_link(objects["device"]), EXPECTED_ON_DEVICE)
        if failure:
            return failure, {}
        folder = assemble_package(self._submission, Path(host), name, self._build_dir / "package")
        return None, {"host": host, "device": device, "package": str(folder)}


def _result_key(own: OwnParts, steps: OperatorSteps, tree: SourceTree, submission: Submission, operator: Operator) -> str:
    """What decides a result beside hardware and data: sources, headers, compiler, the package's Python files, and the simulator that runs it all.

    Of an operator project also the suite's signature, which its binding is generated for.
    """
    package = f"{submission.manifest.package}/"
    scripts = sorted((item.path, item.sha256) for item in submission.files if item.path.startswith(package))
    generated = [operator.schema_text] if steps.is_project else []
    return digest([steps.key, tree.key, scripts, own.simulator_digest, *generated])


def _refuse_other_track(submission: Submission) -> None:
    """Its headers would only be missed one after the other."""
    track = submission.manifest.track
    if track in _OF_THE_PROCESSOR:
        raise UsageError(
            f"a submission of the track {track} runs on the machine's own processor", found="a virtual NPU", action="add --target cpu (docs/cpu.md)"
        )
