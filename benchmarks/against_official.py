"""How long do the official benchmark's public cases take in its own CPU run, and in `piton eval`? Side by side, in one run, on this machine.

usage: python benchmarks/against_official.py CHECKOUT [--op NAME ...] [--each] [--jobs N] [--json FILE]

CHECKOUT is one of CANN Bench. Its side is its own command, `python -m kernel_eval.cli eval --device cpu --no-perf`, with its goldens as the candidate:
inputs, goldens in float64 and in the output's type, comparison; nothing runs on a device and nothing is timed. Our side is `piton eval` of the kernels in
kernels/reference on the same cases: inputs, goldens, execution on the virtual NPU with hazards and simulated time, comparison of every element. Builds
stand apart: they are made first, from sources that no cache has seen. `cold` has no golden in its cache, `warm` has all of them, under a cap that they fit
under; start-up is in both.

Both sides evaluate all operators in one command, on a copy of the checkout that has these operators' tasks alone; the ratio is that of these commands. With
`--each` there is a command per operator on either side as well, in a row of its own that the ratio does not count.

The checkout is somebody else's: it is copied to a scratch folder, and its code runs in Piton's sandbox there. All that is printed was measured. Exit status 0
when all cases pass on both sides and Piton was at least 5 times (cold) and 15 times (warm) as fast over all operators.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import piton
from piton.catalog import load_suite, read_submission
from piton.cli.evaluation import GOLDEN_CACHE_GIB, cache_dir
from piton.core.protocols import Limits, ProcessJob, Role
from piton.evaluate.pipeline import named_target
from piton.evaluate.sandbox import make_runner
from piton.evaluate.sandbox.runner import SandboxRunner

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "kernels" / "reference"
OPERATORS = ("gelu", "exp", "softmax", "rms_norm")
TARGET = "ascend910b2-sim"
COLD, WARM = 5.0, 15.0
"""How many times as fast as the official run Piton has to be."""
LIMIT_S = 3600.0

CANDIDATE = '''"""The goldens of the benchmark as a candidate."""

import importlib.util
import pathlib


def _load(path):
    spec = importlib.util.spec_from_file_location(f"golden_of_{path.parent.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, path.parent.name)


for _path in pathlib.Path(__file__).parent.glob("tasks/level*/*/golden.py"):
    if _path.parent.name in {names!r}:
        globals()[_path.parent.name] = _load(_path)
'''


@dataclass(frozen=True)
class Run:
    """One command on the cases of one operator."""

    wall_s: float
    cases: int
    passed: int


ALL = "all at once"


@dataclass(frozen=True)
class Row:
    """One command on either side: of all operators, or of one."""

    operators: str
    build_s: float
    official: Run
    cold: Run
    warm: Run
    isolation_level: int

    @property
    def is_right(self) -> bool:
        """All cases passed, and both sides had the same number."""
        runs = (self.official, self.cold, self.warm)
        return all(run.passed == run.cases == self.official.cases > 0 for run in runs)


def main() -> int:
    """Run both sides; the exit status."""
    options = _options()
    with _scratch() as folder:
        copy = _copy(options.checkout, folder, options.op)
        cache = _own_cache(folder)
        builds = _builds(folder, cache, copy, options.op)
        rows = [_row(ALL, options.op, Places(folder, cache, copy), sum(builds.values()), options.jobs)]
        for name in options.op if options.each else ():
            shutil.rmtree(cache / "golden")
            rows.append(_row(name, (name,), Places(folder, cache, copy), builds[name], options.jobs))
    return _tell(rows, options)


@dataclass(frozen=True)
class Places:
    """Folders of this run."""

    scratch: Path
    cache: Path
    copy: Path


def _row(title: str, names: Sequence[str], places: Places, build_s: float, jobs: int) -> Row:
    print(f"{title}: official run ...", file=sys.stderr, flush=True)
    official = _official(places.copy, names)
    print(f"{title}: piton eval, cold and warm ...", file=sys.stderr, flush=True)
    (cold, level), (warm, _) = (_piton(places, names, jobs) for _ in range(2))
    return Row(title, build_s, official, cold, warm, level)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="a checkout of CANN Bench")
    parser.add_argument("--op", action="append", choices=OPERATORS, help="only this operator; may be repeated")
    parser.add_argument("--each", action="store_true", help="a command for each operator as well")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="lanes of piton eval (default: one per core)")
    parser.add_argument("--json", type=Path, help="write all figures there")
    options = parser.parse_args()
    options.op = tuple(options.op or OPERATORS)
    if not (options.checkout / "src" / "kernel_eval" / "cli.py").is_file():
        parser.error(f"{options.checkout} is no checkout of CANN Bench: it has no src/kernel_eval/cli.py; give the folder that has src and tasks")
    return options


@contextmanager
def _scratch() -> Iterator[Path]:
    """Beside the cache, so that what is built need not be copied."""
    cache_dir().mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="against-official-", dir=cache_dir().absolute()))
    os.chmod(folder, 0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(checkout: Path, folder: Path, names: Sequence[str]) -> Path:
    """What the official run needs, with the tasks of these operators alone and their goldens as a candidate; its user has to write there."""
    copy = folder / "official"
    shutil.copytree(checkout / "src", copy / "src")
    for task in sorted(checkout.glob("tasks/level*/*")):
        if task.name in names:
            shutil.copytree(task, copy / task.relative_to(checkout))
    (copy / "cann_bench.py").write_text(CANDIDATE.replace("{names!r}", repr(tuple(names))), "utf-8")
    return copy


def _own_cache(folder: Path) -> Path:
    """A cache of this run alone, with what was ever built linked into it: no golden is there, and none of the user's goes."""
    built, own = cache_dir().absolute() / "vnpu" / "steps", folder / "cache"
    if built.is_dir():
        shutil.copytree(built, own / "vnpu" / "steps", copy_function=_link)
    own.mkdir(exist_ok=True)
    return own


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # removed meanwhile, or another user's
        shutil.copyfile(source, target)


def _builds(folder: Path, cache: Path, copy: Path, names: Sequence[str]) -> dict[str, float]:
    """Seconds of each operator's build from sources that no cache has seen; what the runs need is built besides."""
    target = named_target(TARGET, str(cache), lambda text: print(text, file=sys.stderr))
    members = {member.operator.name: member.operator for member in load_suite(copy / "tasks").members}
    runner = make_runner()
    found = {}
    try:
        target.toolchain.prepare(runner)
        for name in names:
            edited = _edited(folder)
            fresh, plain = (read_submission(path, folder / f"read-{uuid.uuid4().hex[:8]}") for path in (edited, KERNELS))
            found[name] = _seconds(lambda name=name, fresh=fresh: target.toolchain.build(fresh, members[name], runner, str(folder / "builds" / name)))
            target.toolchain.build(plain, members[name], runner, str(folder / "builds" / f"{name}-plain"))
    finally:
        runner.close()
    return found


def _edited(folder: Path) -> Path:
    copy = folder / f"edited-{uuid.uuid4().hex[:8]}"
    shutil.copytree(KERNELS, copy)
    for path in (path for path in copy.rglob("*") if path.suffix in (".cpp", ".h")):
        path.write_text(f"{path.read_text('utf-8')}\n// edited: {uuid.uuid4()}\n", "utf-8")
    return copy


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _official(copy: Path, names: Sequence[str]) -> Run:
    """The official command for one operator or for all there are, in the sandbox, with as many threads as there are cores."""
    reports = copy / f"reports-{uuid.uuid4().hex[:8]}"
    reports.mkdir()
    os.chmod(reports, 0o777)
    title = "".join(part.capitalize() for part in names[0].split("_"))
    chosen = ("--operator", title) if len(names) == 1 else ()
    argv = (sys.executable, "-m", "kernel_eval.cli", "eval", "--device", "cpu", *chosen, "--no-perf", "--skip-install")
    # its own kernels-only rule and its clock's guard are about devices: its goldens are torch code, and there is no torch_npu here
    argv += ("--torch-op-guard-mode", "off", "--reports-dir", str(reports))
    environment = {"PYTHONPATH": f"{copy / 'src'}:{copy}", "ALLOW_TIMING_TAMPERING": "1", "OMP_NUM_THREADS": str(os.cpu_count() or 1)}
    limits = Limits(wall_s=LIMIT_S, cpu_s=int(LIMIT_S) * 8, memory_bytes=64 << 30, file_bytes=1 << 30)
    job = ProcessJob(Role.GOLDEN, argv, cwd=str(copy), readable=(str(copy),), writable=(str(reports),), environment=environment, limits=limits)
    runner: SandboxRunner = make_runner()
    try:
        started = time.perf_counter()
        result = runner.run(job)
        wall_s = time.perf_counter() - started
    finally:
        runner.close()
    found = sorted(reports.glob("*.json"))
    if not found:
        raise SystemExit(f"the official run of {', '.join(names)} left no report (exit {result.exit_code}): {(result.stdout + result.stderr).strip()[-1000:]}")
    report = json.loads(found[-1].read_text("utf-8"))
    return Run(wall_s, int(report["total_cases"]), int(report["passed_cases"]))


def _piton(places: Places, names: Sequence[str], jobs: int) -> tuple[Run, int]:
    """`piton eval` of our kernels of these operators, a process of its own; and the level of isolation that it reached."""
    out = places.scratch / f"run-{uuid.uuid4().hex[:8]}"
    argv = [sys.executable, "-m", "piton.cli.start", "eval", str(KERNELS), "--suite", str(places.copy / "tasks"), "--trust", "--jobs", str(jobs)]
    argv += ["--out", str(out), *(part for name in names for part in ("--op", name))]
    environment = {**os.environ, "PITON_CACHE_DIR": str(places.cache), GOLDEN_CACHE_GIB: "32", "PYTHONPATH": str(Path(piton.__file__).parents[1])}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    started = time.perf_counter()
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - started
    if not (out / "report.json").is_file():
        raise SystemExit(f"piton eval of {', '.join(names)} left no report (exit {done.returncode}): {(done.stdout + done.stderr).strip()[-1000:]}")
    report = json.loads((out / "report.json").read_text("utf-8"))
    cases = [case for item in report["operators"] for case in item["cases"]]
    passed = sum(case["outcome"]["verdict"] == "passed" and not case["void"] for case in cases)
    return Run(wall_s, len(cases), passed), int(report["environment"].get("isolation_level", 0))


def _tell(rows: Sequence[Row], options: argparse.Namespace) -> int:
    print(f"measured on {_machine()}; level of isolation {min(row.isolation_level for row in rows)}; seconds of wall time, start-up of each command included")
    print(f"in one command: {', '.join(options.op)}")
    print("operators    cases passed   official    cold        warm        build apart")
    for row in rows:
        passed = f"{row.official.passed}/{row.cold.passed}/{row.warm.passed} of {row.official.cases}"
        print(f"{row.operators:11}  {passed:13} {_times(row.official.wall_s, row.cold.wall_s, row.warm.wall_s)}  {row.build_s:6.1f}")
    whole, is_right = rows[0], all(row.is_right for row in rows)
    is_fast = whole.official.wall_s >= COLD * whole.cold.wall_s and whole.official.wall_s >= WARM * whole.warm.wall_s
    print(f"all cases pass on both sides: {_word(is_right)}; all at once at least {COLD:g} times as fast cold and {WARM:g} times warm: {_word(is_fast)}")
    if options.json:
        found: dict[str, Any] = {"machine": _machine(), "jobs": options.jobs, "provenance": "measured", "unit": "s", "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps({**found, "is_right": is_right, "is_fast": is_fast}, indent=1) + "\n", "utf-8")
    return 0 if is_right and is_fast else 1


def _word(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _times(official: float, cold: float, warm: float) -> str:
    return f"{official:7.1f}  {cold:7.1f} {official / cold:4.1f}x {warm:7.1f} {official / warm:4.1f}x"


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{model}, {os.cpu_count()} cores"


if __name__ == "__main__":
    sys.exit(main())
