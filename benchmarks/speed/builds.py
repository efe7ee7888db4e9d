"""How long does a build take? The example's gelu: cold, unchanged, and after the edits that a working day is made of."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from figures import Figure
from rig import ROOT, Rig, Sample, timed, touch

from piton.catalog import load_suite, read_submission
from piton.core.operator import Operator

ROUNDS = 3
EXAMPLE = ROOT / "kernels" / "reference"


def measure(rig: Rig) -> list[Figure]:
    """Builds of one operator with host and device compiles side by side; the precompiled torch header is there already."""
    member = load_suite("piton").member("gelu")
    assert member is not None
    folder = rig.fresh("sources") / "reference"
    shutil.copytree(EXAMPLE, folder)
    edits: dict[str, Callable[[], None]] = {
        "gelu build, cold": lambda: touch(folder),
        "gelu rebuild, plugin edited": lambda: touch(folder, "gelu_plugin.cpp"),
        "gelu rebuild, kernel edited": lambda: touch(folder, "gelu_kernel.cpp"),
        "gelu build, cached": lambda: None,
    }
    bounds = {"gelu build, cold": 5.0, "gelu build, cached": 0.2}
    figures = []
    for name, edit in edits.items():
        samples = [_after(edit, rig, folder, member.operator) for _ in range(ROUNDS)]
        method = f"compile and link through the sandbox, precompiled torch header warm, {ROUNDS} builds"
        walls, cpus = tuple(item.wall_s for item in samples), tuple(item.cpu_s for item in samples)
        figures.append(Figure(name, "s", walls, method, bounds.get(name), cpu_s=cpus))
    return figures


def _after(edit: Callable[[], None], rig: Rig, folder: Path, operator: Operator) -> Sample:
    edit()
    place = rig.fresh("build")
    submission = read_submission(folder, place / "submission")

    def build() -> None:
        made = rig.target.toolchain.build(submission, operator, rig.runner, str(place / "build"))
        if made.outcome is not None:
            raise RuntimeError(f"the example does not build: {made.outcome.message}")

    return timed(build, rig.runner)
