"""`piton run` as its users call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """What it printed and returned."""
    command = [sys.executable, "-m", "piton.cli.main", "run", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False, env={**os.environ, "COLUMNS": "200"})


def report_of(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """Exit status and report."""
    done = run("--json", *arguments)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def report_alone(program: Path, folder: Path, *options: str) -> dict[str, Any]:
    """Report of a run of the program alone in a new folder."""
    folder.mkdir()
    (folder / program.name).write_text(program.read_text())
    return report_of(folder / program.name, *options)[1]
