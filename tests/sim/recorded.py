"""What the headers send to the engine: records of a program that is linked with a recorder in the engine's place."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

CPP = Path(__file__).parent / "cpp"
INCLUDE = Path(__file__).parents[2] / "src" / "piton" / "vnpu_cpp" / "include"
FLAGS = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", f"-I{CPP}"]

Record = dict[str, Any]
Scenarios = dict[str, list[Record]]


def scenarios_of(source: str, folder: Path, *flags: str) -> Scenarios:
    """Records of the program `source` of the tests' C++ folder, by scenario."""
    program = folder / "program"
    files = [str(CPP / source), str(CPP / "headers_recorder.cpp")]
    subprocess.run(["g++", *FLAGS, "-DPITON_DEVICE_PASS", *flags, *files, "-o", str(program)], check=True, timeout=300)
    return by_scenario(subprocess.run([str(program)], check=True, timeout=60, capture_output=True, text=True).stdout)


def by_scenario(output: str) -> Scenarios:
    """Records in the lines that the recorder printed."""
    found: Scenarios = {}
    for line in output.splitlines():
        record = json.loads(line)
        found.setdefault(record["scenario"], []).append(record)
    return found
