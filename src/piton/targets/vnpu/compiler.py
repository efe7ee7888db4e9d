"""Runs of g++ through the sandbox, each result kept by content.

A step is one compile or link. Its key is made of what decides its result: inputs, headers, flags, compiler. Its command writes into a working folder, the only
one it may write to; the result is then copied into the store.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from piton.core.canonical import digest, digest_bytes
from piton.core.errors import ProcessLostError, TargetUnavailableError
from piton.core.protocols import Limits, ProcessJob, Role, Runner
from piton.targets.vnpu.store import Store

OLDEST = (10, 0)
"""First g++ with everything the headers need (C++17 with `auto` template parameters, C++20 for torch's headers)."""
APT_LINE = "apt-get install g++ python3-dev"
PLAIN_OUTPUT = ("-fno-diagnostics-show-caret", "-fdiagnostics-color=never", "-fmessage-length=0", "-ftemplate-backtrace-limit=0")
"""One line per message, the same for every version of g++, and all the places that led to a template: the user's own comes last."""
STEP_LIMITS = Limits(wall_s=180.0, cpu_s=240, memory_bytes=6 << 30, file_bytes=2 << 30, processes=64)
"""Bounds of one compile or link; the largest step of ours, the precompiled torch header, takes about 25 s and 1.5 GiB."""
_SAID = ".txt"
"""After the name of a result: the file with what its command printed."""
PARALLEL = 2
"""Compiles at a time; each may take 1.5 GiB."""


@dataclass(frozen=True)
class Compiler:
    """A g++ by path and version."""

    program: str
    version: str
    identity: str = ""
    """What decides a result beside the version: target and the compiler proper by size and date, since a precompiled header is only good for the very same."""

    @property
    def is_recent(self) -> bool:
        """At least `OLDEST`."""
        numbers = [int(number) for number in re.findall(r"\d+", self.version)[:2]]
        return tuple(numbers) >= OLDEST


def find_compiler() -> Compiler | None:
    """The g++ on the path, or None."""
    program = shutil.which("g++")
    if program is None:
        return None
    version = _ask(program, "-dumpfullversion", "-dumpversion")
    return Compiler(program, version or "0", " ".join([version, _ask(program, "-dumpmachine"), _stamp(_ask(program, "-print-prog-name=cc1plus"))]))


def _ask(program: str, *arguments: str) -> str:
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=30, check=False).stdout.strip()


def _stamp(path: str) -> str:
    """Size and date of a program; empty where it is not known by its path."""
    try:
        found = Path(path).stat()
    except OSError:
        return ""
    return f"{found.st_size} {found.st_mtime_ns}"


def tree_digest(*folders: Path) -> str:
    """Digest of every file below `folders`, by relative path and content."""
    files = [(str(path.relative_to(folder)), digest_bytes(path.read_bytes())) for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return digest(files)


@dataclass(frozen=True)
class Step:
    """One command that makes one file."""

    name: str
    """File name of the result, such as `add_kernel.device.o`."""
    arguments: tuple[str, ...]
    """After the program; the result's path is appended as `-o`."""
    key: str
    readable: tuple[str, ...] = ()
    """Folders and files it reads beyond the system's and Piton's own."""
    is_acceptable: Callable[[str], bool] = lambda _output: True
    """Judges the output of a command that succeeded; what it refuses is not kept."""
    is_product: bool = False
    """Its result is used after the build too, by processes that run it: it is held in the store."""


@dataclass(frozen=True)
class StepResult:
    """The made file, or why there is none."""

    path: str
    """Empty when the step failed."""
    output: str = ""
    is_timed_out: bool = False
    is_cached: bool = False
    is_skipped: bool = False
    """Not tried, since another step had failed."""


class Workshop:
    """Runs steps for one build; `folder` is where commands write."""

    def __init__(self, compiler: Compiler, store: Store, runner: Runner, folder: Path) -> None:
        self._compiler = compiler
        self._store = store
        self._runner = runner
        self._folder = folder

    @property
    def kept_in(self) -> Path:
        """Folder of the store."""
        return self._store.root

    def make(self, step: Step) -> StepResult:
        """The result of `step`, from the store or made now."""
        kept = f"steps/{step.key}/{step.name}"
        with self._store.lock(step.key):
            found = self._store.find(kept)
            result = self._run(step, kept) if found is None else StepResult(str(found), self._store.find_text(kept + _SAID), is_cached=True)
            if step.is_product and result.path:
                self._store.hold(Path(result.path))
            return result

    def lacks(self, steps: Sequence[Step]) -> bool:
        """Is the result of one of them still to be made?"""
        return any(self._store.find(f"steps/{step.key}/{step.name}") is None for step in steps)

    def put_beside(self, made: str, source: Path) -> str:
        """Path of a copy of `source` in the folder of a kept result."""
        name = str((Path(made).parent / source.name).relative_to(self._store.root))
        return str(self._store.find(name) or self._store.keep(source, name))

    def make_all(self, steps: Sequence[Step], progress: Callable[[str], None] = lambda _text: None) -> list[StepResult]:
        """Results in the order of `steps`, a few made at a time; after a failure none is begun. `progress` is told of each that was made now."""
        failed = threading.Event()

        def make(step: Step) -> StepResult:
            result = StepResult("", is_skipped=True) if failed.is_set() else self.make(step)
            if not result.path:
                failed.set()
            return result

        pool = ThreadPoolExecutor(PARALLEL)
        try:
            results = []
            for step, result in zip(steps, pool.map(make, steps), strict=True):
                results.append(result)
                if result.path and not result.is_cached:
                    progress(f"built {step.name} ({len(results)} of {len(steps)})")
            return results
        finally:  # on Ctrl-C nobody waits for the compiles in progress: they end with the runner
            pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, step: Step, kept: str) -> StepResult:
        place = self._folder / step.key
        shutil.rmtree(place, ignore_errors=True)  # what a build that was killed left there belongs to another user
        place.mkdir(parents=True, exist_ok=True)
        made = place / step.name
        result = self._runner.run(self._job(step, place, made))
        if result.is_killed:
            raise ProcessLostError("a compiler was ended by a SIGKILL from outside", where=step.name, action="see whether the machine ran out of memory")
        output = result.stdout + result.stderr
        if result.exit_code != 0 or not made.exists() or not step.is_acceptable(output):
            return StepResult("", output, is_timed_out=result.is_timed_out)
        if output.strip():
            self._store.keep_text(output, kept + _SAID)  # before the result itself: warnings of a cached compile are shown too
        path = self._store.keep(made, kept)
        shutil.rmtree(place, ignore_errors=True)
        return StepResult(str(path), output)

    def _job(self, step: Step, place: Path, made: Path) -> ProcessJob:
        return ProcessJob(
            role=Role.BUILD,
            argv=(self._compiler.program, *step.arguments, "-o", str(made)),
            cwd=str(place),
            readable=(*step.readable, str(self._store.root)),
            writable=(str(place),),
            environment={"LC_ALL": "C"},
            limits=STEP_LIMITS,
        )


def required(results: Sequence[StepResult]) -> list[str]:
    """Paths of results of our own sources. Raises TargetUnavailableError with the words of the first that could not be made."""
    failed = next((result for result in results if not result.path and not result.is_skipped), None)
    if failed is not None:
        found = "out of time" if failed.is_timed_out else failed.output.strip()[-2000:]
        raise TargetUnavailableError("the virtual NPU could not be built", found=found, action="`piton doctor` says what is missing")
    return [result.path for result in results]
