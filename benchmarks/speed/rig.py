"""A virtual NPU, a runner that counts the processor time of what it starts, and sources that no cache has seen."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from piton.catalog.hardware import flat_table, load_hardware
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role, RunningProcess
from piton.evaluate.sandbox import make_runner
from piton.evaluate.sandbox.runner import SandboxRunner
from piton.targets.vnpu.target import VnpuTarget, open_vnpu

ROOT = Path(__file__).resolve().parents[2]
CHIP = "ascend910b2"


class CountingRunner:
    """Implements core.protocols.Runner: another runner, and the processor time of the programs that have ended."""

    def __init__(self, inner: SandboxRunner) -> None:
        self._inner = inner
        self.cpu_s = 0.0

    @property
    def isolation(self) -> tuple[str, ...]:
        return self._inner.isolation

    def close(self) -> None:
        """End what it runs on."""
        self._inner.close()

    def run(self, job: ProcessJob) -> ProcessResult:
        result = self._inner.run(job)
        self.cpu_s += result.cpu_s
        return result

    def start(self, job: ProcessJob) -> RunningProcess:
        return _Counted(self, self._inner.start(job))

    def fork_worker(
        self, role: Role, entry: str, arguments: Mapping[str, str], fds: Mapping[str, int], limits: Limits, readable: Sequence[str] = ()
    ) -> RunningProcess:
        return _Counted(self, self._inner.fork_worker(role, entry, arguments, fds, limits, readable))


class _Counted:
    """Implements core.protocols.RunningProcess: adds the processor time to its runner's once the process has ended."""

    def __init__(self, runner: CountingRunner, inner: RunningProcess) -> None:
        self._runner = runner
        self._inner = inner
        self._is_counted = False

    @property
    def pid(self) -> int:
        return self._inner.pid

    def poll(self) -> ProcessResult | None:
        return self.wait(0.0)

    def wait(self, timeout_s: float) -> ProcessResult | None:
        result = self._inner.wait(timeout_s)
        return None if result is None else self._count(result)

    def kill(self) -> ProcessResult:
        return self._count(self._inner.kill())

    def _count(self, result: ProcessResult) -> ProcessResult:
        self._runner.cpu_s += 0.0 if self._is_counted else result.cpu_s
        self._is_counted = True
        return result


@dataclass(frozen=True)
class Rig:
    """What a benchmark of the virtual NPU needs."""

    target: VnpuTarget
    runner: CountingRunner
    folder: Path
    """Scratch, removed at the end."""

    @staticmethod
    def fresh_runner() -> SandboxRunner:
        """A runner whose processes have not been started yet, as a run of `piton eval` has."""
        return make_runner()

    def fresh(self, name: str) -> Path:
        """A new empty folder."""
        path = self.folder / f"{name}-{uuid.uuid4().hex[:8]}"
        path.mkdir()
        return path


@contextmanager
def open_rig() -> Iterator[Rig]:
    """The default target with Piton's own parts built; says on the terminal when that takes long."""
    hardware = load_hardware(CHIP)
    folder = Path(tempfile.mkdtemp(prefix="piton-bench-"))
    os.chmod(folder, 0o755)
    runner: SandboxRunner = make_runner()
    try:
        target = open_vnpu(f"{CHIP}-sim", hardware, flat_table(hardware), str(cache_folder()), print)
        target.toolchain.prepare(runner)
        yield Rig(target, CountingRunner(runner), folder)
    finally:
        runner.close()
        shutil.rmtree(folder, ignore_errors=True)


def cache_folder() -> Path:
    """The cache that `piton` itself would use."""
    from piton.cli.evaluation import cache_dir

    return cache_dir().absolute()


def touch(folder: Path, pattern: str = "*") -> None:
    """Edit the C++ files of a submission that match, so that nothing built from them is in any cache; their meaning stays."""
    for path in (path for path in folder.rglob(pattern) if path.suffix in (".cpp", ".h")):
        path.write_text(f"{path.read_text('utf-8')}\n// edited: {uuid.uuid4()}\n", "utf-8")


@dataclass(frozen=True)
class Sample:
    """Wall and processor time of one run, seconds."""

    wall_s: float
    cpu_s: float


def timed(work: Callable[[], object], runner: CountingRunner | None = None) -> Sample:
    """Time one call: the wall clock, and the processor time of this process, its children, and the programs of `runner`."""
    before, started = _cpu(runner), time.perf_counter()
    work()
    return Sample(time.perf_counter() - started, _cpu(runner) - before)


def _cpu(runner: CountingRunner | None) -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(item.ru_utime + item.ru_stime for item in usage) + (runner.cpu_s if runner else 0.0)
