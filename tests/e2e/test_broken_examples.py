"""Does each of examples/broken get the verdict, cause, place and numbers that the documentation promises?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "broken"
PAGE = ROOT / "docs" / "broken-examples.md"


@dataclass(frozen=True)
class Promise:
    """One row of the page's table."""

    name: str
    verdict: str
    cause: str
    place: str
    numbers: tuple[str, ...]


def promises() -> list[Promise]:
    """The table of the page."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return [
        Promise(name.strip("`"), verdict.strip("`"), cause.strip("`"), place, tuple(numbers.split(", "))) for name, _, verdict, cause, place, numbers in rows
    ]


def evaluated(name: str, out: Path, *options: str) -> tuple[int, str, dict[str, Any]]:
    """Exit status, printed text and what became of case 2 (or of the build)."""
    command = [sys.executable, "-m", "piton.cli.main", "eval", str(EXAMPLES / name), "--op", "exp", "--case", "2", "--host-deadline", "8", "--out", str(out)]
    command += options
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    report = out / "report.json"
    assert report.is_file(), done.stdout + done.stderr
    (operator,) = json.loads(report.read_text())["operators"]
    (case,) = [case for case in operator["cases"] if case["case"]["id"] == "2"]
    assert not case["void"]
    return done.returncode, done.stdout + done.stderr, case["outcome"]


def expected_line(name: str, place: str) -> int:
    """The line that the report has to name, 0 for none."""
    lines = (EXAMPLES / name / "exp.asc").read_text().splitlines()
    if place == "the SetFlag":
        return next(number for number, line in enumerate(lines, 1) if "V_MTE2>" in line and "SetFlag" in line and number > 35)
    return next(number for number, line in enumerate(lines, 1) if "// DEFECT" in line) if place == "the line" else 0


@pytest.mark.parametrize("promise", promises(), ids=lambda item: item.name)
def test_a_broken_example_gets_what_the_page_says(promise: Promise, tmp_path: Path) -> None:
    status, text, found = evaluated(promise.name, tmp_path / "run")
    assert (found["verdict"], found["cause"]) == (promise.verdict, promise.cause), text
    assert status == 1
    assert set(promise.numbers) <= set(found["numbers"]), found
    line = expected_line(promise.name, promise.place)
    assert (found["place"]["file"], found["place"]["line"]) == (("exp.asc", line) if line else ("", 0)), text
    squeezed = re.sub(r"\s", "", text)
    assert promise.cause in squeezed
    assert not line or f"exp.asc:{line}" in squeezed


def test_the_page_lists_every_example_with_a_verdict_of_its_own() -> None:
    listed = promises()
    assert {item.name for item in listed} == {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    assert len({(item.verdict, item.cause) for item in listed}) == len(listed) == 15


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()))
def test_every_example_marks_its_defect(name: str) -> None:
    text = (EXAMPLES / name / "exp.asc").read_text()
    assert text.count("// DEFECT") == 1
    assert " * Defect: " in text
