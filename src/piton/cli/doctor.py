"""`piton doctor`: what this machine has, what is needed, and how to get it."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.text import Text

from piton.cli.evaluation import bounds, cache_dir
from piton.cli.printing import open_console
from piton.core.errors import EvaluatorError
from piton.evaluate.environment import compiler_version, package_version
from piton.evaluate.memory import available_bytes
from piton.report.fit import Column, Listing
from piton.targets.vnpu.store import CAP_BYTES, Store

APT_LINE = "apt-get install python3-venv python3-dev g++ make"
_LEAST_DISK_BYTES = 3 << 30
"""Builds, the precompiled torch header (0.5 GB) and the golden cache of one demo run."""
_LEAST_MEMORY_BYTES = 6 << 30
"""The largest case of the suite in float64, with its inputs and outputs."""
_READY, _LACKING = 0, 3


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    found: str
    needed: str
    is_ok: bool
    is_required: bool = True
    how: str = ""
    """How to get it."""


def run_doctor(*, as_json: bool) -> int:
    """Print all checks; 0 when everything required is there, 3 otherwise."""
    checks = [look() for look in CHECKS]
    if as_json:
        sys.stdout.write(json.dumps([asdict(check) for check in checks], indent=1) + "\n")
    else:
        open_console().print(_table(checks))
    return _READY if all(check.is_ok or not check.is_required for check in checks) else _LACKING


def check_python() -> Check:
    """The interpreter this runs on."""
    return Check(
        "python", platform.python_version(), "3.10 or newer", sys.version_info >= (3, 10), how="install a newer Python, then: make demo PYTHON=python3.12"
    )


def check_venv() -> Check:
    """The modules that make a virtual environment."""
    is_ok = all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip"))
    return Check("venv", "present" if is_ok else "missing", "modules venv and ensurepip", is_ok, is_required=sys.prefix == sys.base_prefix, how=APT_LINE)


def check_headers() -> Check:
    """Python.h, for the torch bindings of a submission."""
    path = Path(sysconfig.get_paths()["include"]) / "Python.h"
    return Check("python headers", str(path) if path.is_file() else "missing", "Python.h", path.is_file(), how=APT_LINE)


def check_compiler() -> Check:
    """The C++ compiler."""
    found = compiler_version() or "missing"
    match = re.search(r"\b(\d+)\.\d+", found)
    return Check("c++ compiler", found, "g++ 10 or newer (C++20)", match is not None and int(match[1]) >= 10, how=APT_LINE)


def check_make() -> Check:
    """make, for the two commands of the README."""
    path = shutil.which("make")
    return Check("make", path or "missing", "any", path is not None, is_required=False, how=APT_LINE)


def check_torch() -> Check:
    """torch, for goldens and the npu device of the host process."""
    found = package_version("torch")
    parts = [int(part) for part in re.findall(r"\d+", found or "")[:2]]
    return Check("torch", found or "missing", "2.10 or newer", parts >= [2, 10], how="pip install 'torch>=2.10'; a CPU build is enough")


def check_disk() -> Check:
    """Room in the cache folder."""
    folder = next(path for path in (cache_dir().absolute(), *cache_dir().absolute().parents) if path.exists())
    free = shutil.disk_usage(folder).free
    how = f"free some space in {folder}, or set PITON_CACHE_DIR to a larger disk"
    return Check("disk", f"{free >> 30} GiB free in {folder}", f"{_LEAST_DISK_BYTES >> 30} GiB", free >= _LEAST_DISK_BYTES, how=how)


def check_cache() -> Check:
    """What earlier runs left in the cache folder, of how much."""
    folder = cache_dir().absolute()
    built, goldens = Store(folder / "vnpu").size_bytes(), _bytes_below(folder / "golden")
    found = f"builds {_gib(built)} (cap {_gib(CAP_BYTES)}), goldens {_gib(goldens)} (cap {_gib(bounds().golden_cache_bytes)}) in {folder}"
    return Check("cache", found, "any", is_ok=True, is_required=False, how="may be deleted when nothing runs; what was used longest ago goes by itself")


def _bytes_below(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*") if path.is_file())


def _gib(count: int) -> str:
    return f"{count / (1 << 30):.1f} GiB"


def check_memory() -> Check:
    """Memory for the largest case; a smaller machine skips cases and says so."""
    free = available_bytes()
    how = "cases that do not fit are skipped and listed as void"
    return Check("memory", f"{free / (1 << 30):.1f} GiB available", f"{_LEAST_MEMORY_BYTES >> 30} GiB", free >= _LEAST_MEMORY_BYTES, is_required=False, how=how)


def check_cores() -> Check:
    """Processor cores."""
    cores = os.cpu_count() or 1
    return Check("cores", str(cores), "2", cores >= 2, is_required=False, how="one core works, at half the speed")


def check_cpu() -> Check:
    """What the target `cpu` needs beside a compiler."""
    from piton.targets.cpu.host import processor
    from piton.targets.cpu.target import open_cpu

    lacks = open_cpu(str(cache_dir())).device.missing()
    found = "; ".join(lacks) or f"ready: {processor().model}"
    return Check("target cpu", found, "Linux 5.1", not lacks, is_required=False, how="only kernels for the processor need it (docs/cpu.md)")


def check_isolation() -> Check:
    """What keeps untrusted code apart on this machine."""
    from piton.evaluate.sandbox import make_runner
    from piton.evaluate.sandbox.levels import HIGHEST, HIGHEST_IN_PROCESS, reached

    try:
        runner = make_runner()
    except EvaluatorError as error:
        return Check("isolation", str(error), "a process can be started", is_ok=False)
    try:
        how = "; ".join(f"{name}: {why}" for name, why in runner.complaints.items())
        level = reached(runner.isolation)
        found = f"level {level} of {HIGHEST_IN_PROCESS} ({HIGHEST} with --engine own-process): {', '.join(runner.isolation)}"
        needed = f"level {HIGHEST_IN_PROCESS} for strangers' code"
        return Check("isolation", found, needed, is_ok=level >= HIGHEST_IN_PROCESS, is_required=False, how=how)
    finally:
        runner.close()


CHECKS: tuple[Callable[[], Check], ...] = (
    check_python,
    check_venv,
    check_headers,
    check_compiler,
    check_make,
    check_torch,
    check_disk,
    check_cache,
    check_memory,
    check_cores,
    check_cpu,
    check_isolation,
)


def _table(checks: list[Check]) -> Listing:
    rows = []
    for check in checks:
        mark = (
            Text("ok", style="green")
            if check.is_ok
            else Text("missing" if check.is_required else "less than wished", style="red" if check.is_required else "yellow")
        )
        rows.append((check.name, check.found, check.needed, mark, check.how if not check.is_ok or check.name in ("isolation", "cache") else ""))
    columns = (Column("check", wraps=False), Column("found", most=60), Column("needed"), Column("", wraps=False), Column("how to get it"))
    return Listing(columns, rows, "piton doctor")
