"""How long does a user wait before Piton does anything? `piton --help`, and `import piton` in a Python that has started already."""

from __future__ import annotations

import os
import subprocess
import sys

from figures import Figure
from rig import ROOT, timed

ROUNDS = 7
_HELP = ("-m", "piton.cli.main", "--help")
_IMPORT = ("-c", "import time; start = time.perf_counter(); import piton; print(time.perf_counter() - start)")


def measure() -> list[Figure]:
    """Help in a fresh process, start of Python included; the import alone, in fresh processes."""
    helps = [timed(lambda: _python(*_HELP)) for _ in range(ROUNDS)]
    imports = tuple(1000 * float(_python(*_IMPORT)) for _ in range(ROUNDS))
    walls, cpus = tuple(item.wall_s for item in helps), tuple(item.cpu_s for item in helps)
    return [
        Figure("piton --help", "s", walls, f"fresh process, {ROUNDS} runs", bound=0.5, cpu_s=cpus),
        Figure("import piton", "ms", imports, f"inside a fresh process, {ROUNDS} runs", bound=200.0),
    ]


def _python(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run([sys.executable, *arguments], env=environment, check=True, capture_output=True, text=True).stdout
