"""The simulated side of a calibration: the mapping's programs, built once, run on a chip whose constants change.

Problem: a fit tries a hundred chips, and building and running costs seconds each.
Approach: a program is built once, since a build does not depend on the chip; equal runs (program, arguments, macros) are done once for all the launches that
are asked of them; every result is kept in a file beside the result (one line each), so that a stopped calibration goes on where it was.
Limits: a program whose launches depend on the clock would be timed as it was at first.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from piton.catalog.calibration_map import KernelEntry, MatchedKernel
from piton.catalog.hardware import flat_table
from piton.catalog.program import Program, make_work_dir, read_program
from piton.catalog.submission import list_files
from piton.core.canonical import digest, digest_bytes
from piton.core.errors import UsageError
from piton.core.execution import Build, LaunchRecord
from piton.core.hardware import Hardware
from piton.core.program import ProgramCall, ProgramSources
from piton.core.protocols import ProgramDevice, ProgramTarget, Runner
from piton.evaluate.kept import Kept
from piton.evaluate.line_file import DamagedLineError, Kind, Record
from piton.targets.registry import resolve_simulated

Progress = Callable[[str], None]
Job = tuple[str, tuple[str, ...], tuple[str, ...], bool, bool]
"""Program, arguments, macros, auto-sync, timing only: one run."""
JOURNAL_SUFFIX = ".calibration.jsonl"
"""Of the file that keeps results."""
_LISTED = 1000
"""Launches that a run lists one by one (ProgramReport.launches)."""
_HEAD: Record = {"piton_calibration": 1}
_ANEW = "remove this file and give the same command again"
_LAUNCHES: TypeAdapter[tuple[tuple[str, float], ...]] = TypeAdapter(tuple[tuple[str, float], ...])


def job_of(entry: KernelEntry) -> Job:
    """The run that an entry's launch is part of."""
    return entry.program, entry.arguments, entry.defines, entry.auto_sync, entry.timing_only


@dataclass(frozen=True)
class _Built:
    program: Program
    build: Build
    folder_digest: str
    """Of everything beside the program: it may read data files."""


@dataclass(frozen=True)
class Places:
    """Files of a calibration."""

    folder: Path
    """Of the mapping file; programs are relative to it."""
    cache_dir: str
    journal: Path
    """Keeps results."""
    own: tuple[Path, ...] = ()
    """The calibration's own input and output, which are no part of a program even when they lie in its folder."""


class ProgramSimulator:
    """Simulated times of the mapping's launches on any chip."""

    def __init__(self, places: Places, runner: Runner, progress: Progress) -> None:
        self._folder = places.folder
        self._cache_dir = places.cache_dir
        self._own = places.own
        self._runner = runner
        self._progress = progress
        self._journal = Journal(places.journal)
        self._scratch = tempfile.TemporaryDirectory(prefix="piton-calibrate-")
        os.chmod(self._scratch.name, 0o711)  # the programs' user has to reach their working directories
        self._built: dict[Job, _Built] = {}

    def close(self) -> None:
        """Remove what was built and copied, and close what was kept."""
        self._scratch.cleanup()
        self._journal.close()

    def times(self, hardware: Hardware, kernels: Sequence[MatchedKernel]) -> list[float]:
        """Simulated us of each kernel. Raises UsageError for a program that can't be built, fails, or lacks the launch."""
        launches = {job: self._launches(hardware, job) for job in dict.fromkeys(job_of(kernel.entry) for kernel in kernels)}
        return [_chosen(kernel.entry, launches[job_of(kernel.entry)]) for kernel in kernels]

    def _launches(self, hardware: Hardware, job: Job) -> list[tuple[str, float]]:
        built = self._build(hardware, job)
        key = digest(
            [
                flat_table(hardware),
                built.build.artifacts["device"],
                built.build.artifacts["engine"],
                list(job[1]),
                job[3:],
                built.folder_digest,
            ]
        )
        kept = self._journal.get(key)
        if kept is None:
            kept = [(record.kernel, record.time_us) for record in self._run(hardware, job, built)]
            self._journal.put(key, kept)
        return kept

    def _device(self, hardware: Hardware) -> ProgramDevice:
        target = resolve_simulated(hardware, flat_table(hardware), self._cache_dir, self._progress)
        assert isinstance(target, ProgramTarget)
        return target.programs

    def _build(self, hardware: Hardware, job: Job) -> _Built:
        alike = (job[0], (), job[2], True, False)
        if alike not in self._built:
            self._progress(f"building {job[0]}")
            place = Path(self._scratch.name) / f"program{len(self._built)}"
            program = read_program(self._folder / job[0], None, (), place / "sources")
            device = self._device(hardware)
            device.prepare(self._runner)
            build = device.build(program.submission, ProgramSources((program.main,), job[2]), self._runner, str(place / "build"))
            if build.outcome is not None:
                raise UsageError(f"{job[0]} could not be built", found=build.outcome.message, action="make it run with `piton run` first")
            self._built[alike] = _Built(program, build, tree_digest((self._folder / job[0]).parent, self._own))
        return self._built[alike]

    def _run(self, hardware: Hardware, job: Job, built: _Built) -> Sequence[LaunchRecord]:
        with tempfile.TemporaryDirectory(dir=self._scratch.name) as folder:
            work = Path(folder) / "work"
            os.chmod(folder, 0o711)
            make_work_dir((self._folder / job[0]).parent, work)
            call = ProgramCall(job[1], str(work), is_auto_sync=job[3], is_timing_only=job[4])
            execution = self._device(hardware).run(built.program.submission, built.build, call, self._runner)
        if execution.outcomes:
            text = f"{execution.outcomes[0].cause.value}: {execution.outcomes[0].message}"
            raise UsageError(f"{job[0]} failed", found=text, action="make it run with `piton run` first")
        if execution.launch_count > _LISTED:
            raise UsageError(f"{job[0]} launches too often", expected=f"at most {_LISTED} launches", found=str(execution.launch_count), action="split it")
        return [record for record in execution.launches if record.kind == "kernel"]


def _chosen(entry: KernelEntry, launches: Sequence[tuple[str, float]]) -> float:
    found = [time for name, time in launches if entry.launch in ("", name)]
    if not found or entry.index > len(found):
        text = f"{len(found)} launches" + (f" of {entry.launch}" if entry.launch else "")
        known = ", ".join(sorted({name for name, _ in launches}))
        raise UsageError(f"{entry.program} lacks the launch that the mapping names", expected=f"launch {entry.index}", found=f"{text}; it launches {known}")
    return found[entry.index - 1]


class Journal(Kept[tuple[tuple[str, float], ...]]):
    """Launches (kernel, simulated us) of runs, by the key of everything that decides them."""

    def __init__(self, path: Path) -> None:
        """Open `path`, an existing file or a new one. Raises UsageError when another calibration uses it, DamagedLineError."""
        super().__init__(path, Kind(_HEAD, _check_head, anew=_ANEW, again="give the same command again"), "launches", _LAUNCHES)

    def get(self, key: str) -> list[tuple[str, float]] | None:
        """What was kept."""
        found = self.find(key)
        return None if found is None else list(found)

    def put(self, key: str, launches: list[tuple[str, float]]) -> None:
        """Keep it, on disk too."""
        self.keep(key, tuple(launches))


def _check_head(path: Path, found: Record) -> None:
    if found != _HEAD:
        raise DamagedLineError("this file holds no simulations of a calibration", where=f"{path}:1", action=_ANEW)


def tree_digest(folder: Path, own: Sequence[Path] = ()) -> str:
    """Identity of every file of a program's folder, as its run copies them; journals and `own` aside, which a calibration changes itself."""
    left_out = {path.resolve() for path in own}
    root = folder.resolve()
    names = [name for name in list_files(root) if not name.endswith(JOURNAL_SUFFIX) and root / name not in left_out]
    return digest([[name, digest_bytes((root / name).read_bytes())] for name in names])


@contextmanager
def simulating(places: Places, progress: Progress) -> Iterator[ProgramSimulator]:
    """A simulator with a runner of its own, both gone afterwards."""
    from piton.evaluate.sandbox import make_runner

    runner = make_runner()
    simulator = ProgramSimulator(places, runner, progress)
    try:
        yield simulator
    finally:
        simulator.close()
        runner.close()
