"""Do queues work on buffers that a pool of the kernel's own hands out, and do cores wait at a GroupBarrier for those that arrive?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).resolve().parents[1] / "submissions" / "programs" / "own_pool.asc"


def report_of(folder: Path, *options: str) -> dict[str, Any]:
    """Of a run of the program alone in its folder."""
    folder.mkdir()
    (folder / PROGRAM.name).write_text(PROGRAM.read_text())
    command = [sys.executable, "-m", "piton.cli.main", "run", "--json", str(folder / PROGRAM.name), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False, env={**os.environ, "COLUMNS": "200"})
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_buffers_lie_where_the_kernel_puts_them_and_cores_go_on_when_the_others_have_arrived(tmp_path: Path) -> None:
    report = report_of(tmp_path / "program", "-D", "GAP=2")
    assert report["outcome"]["verdict"] == "passed", report["outcomes"]
    sums = [1000 * core + 1 + 1000 * (core % 3) + 1 for core in range(3, 8)]
    assert report["stdout"].split("\n")[:-1] == [f"{first} {first + 63}" for first in sums]
    assert report["printed"] == "room 1536 buffers 4 apart 256\n"  # two buffers of one queue and one of another, each with a gap of its own length


def test_a_buffer_beyond_the_pool_is_told(tmp_path: Path) -> None:
    report = report_of(tmp_path / "program", "-D", "GAP=20")
    assert report["outcome"]["cause"] == "bad_parameter", report["outcomes"]
    assert "InitBufHandle" in report["outcome"]["message"]
