"""Where an evaluation runs: versions and machine, for the report and `piton doctor`."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version

import piton
from piton.core.report import Environment
from piton.evaluate.sandbox.levels import reached

_LIBRARIES = ("numpy", "ml-dtypes", "torch-npu", "triton", "triton-ascend")
"""What golden and inputs are made with, and what a target may run on; those that are installed are listed."""


def describe_environment(isolation: tuple[str, ...], jobs: int) -> Environment:
    """This machine and its software, started now."""
    return Environment(
        piton=piton.__version__,
        python=platform.python_version(),
        torch=package_version("torch") or "none",
        compiler=compiler_version() or "none",
        machine=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count() or 1,
        isolation=isolation,
        isolation_level=reached(isolation),
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        jobs=jobs,
        libraries={name: found for name in _LIBRARIES if (found := package_version(name))},
    )


def package_version(name: str) -> str | None:
    """Version of an installed package, without importing it."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def compiler_version() -> str | None:
    """First line of what g++, which builds everything, says about itself, or None without one."""
    path = shutil.which("g++")
    if path is None:
        return None
    said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False)
    return said.stdout.partition("\n")[0].strip() or None
