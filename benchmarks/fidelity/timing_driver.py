"""Builds the timing driver (tests/sim/cpp/timing_driver.cpp) and runs scripts of launches through it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from piton.catalog.hardware import flat_table, load_hardware
from piton.core.hardware import Hardware

ROOT = Path(__file__).resolve().parents[2]
_CPP = ROOT / "src/piton/vnpu_cpp"
_DRIVER = ROOT / "tests/sim/cpp/timing_driver.cpp"
_FLAGS = ("-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off")

S, V, MTE2, MTE3, ALL = 0, 1, 4, 5, 7
ADD, EXP, CAST = 1, 64, 72
COMPARE, SELECT = 96, 97
WHOLE_REDUCE_SUM, BLOCK_REDUCE_SUM, BRCB, GATHER = 131, 134, 137, 138
F16, F32 = 1, 3


def build() -> Path:
    """The driver's executable, compiled once per content of its sources and kept in the temporary folder; RuntimeError with the compiler's words."""
    target, problem = _compiled()
    if problem:
        raise RuntimeError(f"the timing driver does not compile:\n{problem}")
    return target


@lru_cache
def _compiled() -> tuple[Path, str]:
    """The executable and what g++ complained of; kept, so that a hundred tests do not compile a broken source a hundred times."""
    sources = [_DRIVER, _CPP / "engine/timeline.cpp", *sorted((_CPP / "engine/timing").glob("*.cpp"))]
    seen = [
        *sources,
        _CPP / "engine/cross_parties.h",
        _CPP / "engine/groups.h",
        _CPP / "engine/trace.h",
        _CPP / "engine/timing.h",
        _CPP / "engine/timeline.h",
        *sorted((_CPP / "engine/timing").glob("*.h")),
        *sorted((_CPP / "include/vnpu").glob("*.h")),
    ]
    key = hashlib.sha256(b"".join(path.read_bytes() for path in seen) + repr(_FLAGS).encode()).hexdigest()[:16]
    target = Path(tempfile.gettempdir()) / f"piton-timing-driver-{os.getuid()}-{key}"
    if target.exists():
        return target, ""
    partial = target.with_suffix(f".{os.getpid()}")
    command = ["g++", *_FLAGS, f"-I{_CPP / 'include'}", f"-I{_CPP / 'engine'}", *map(str, sources), "-o", str(partial)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return target, done.stderr
    partial.replace(target)
    return target, ""


def run(hardware: str | Hardware, script: str) -> list[dict[str, Any]]:
    """What the driver prints for `script` on a chip: one mapping per command that has an answer."""
    chip = load_hardware(hardware) if isinstance(hardware, str) else hardware
    with tempfile.NamedTemporaryFile("w", suffix=".chip") as table:
        table.write(flat_table(chip))
        table.flush()
        done = subprocess.run([str(build()), table.name], input=script, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]
