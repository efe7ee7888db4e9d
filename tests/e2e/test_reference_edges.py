"""Are the reference kernels right at the edges of their tilings, and without the compiler's auto-sync? Suites of small odd shapes, by kind of operator."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "submissions"))

from axis_shapes import ALL_AXIS_ROWS, write_axis_suite
from broadcast_shapes import ALL_BROADCAST_ROWS, write_broadcast_suite
from element_cases import ALL_ROWS, MAP_ROWS, write_element_suite
from image_shapes import ALL_IMAGE_ROWS, write_image_suite
from index_shapes import ALL_INDEX_ROWS, write_index_suite

pytestmark = pytest.mark.slow
REFERENCE = Path(__file__).resolve().parents[2] / "kernels" / "reference"
GROUPS: dict[str, tuple[Mapping[str, Sequence[Any]], Callable[[Path], Path]]] = {
    "axes": (ALL_AXIS_ROWS, write_axis_suite),
    "broadcast": (ALL_BROADCAST_ROWS, write_broadcast_suite),
    "elements": (ALL_ROWS, write_element_suite),
    "formulas": (MAP_ROWS, partial(write_element_suite, cases_of=MAP_ROWS)),
    "images": (ALL_IMAGE_ROWS, write_image_suite),
    "indices": (ALL_INDEX_ROWS, write_index_suite),
}
OPEN_ORDER = "adds floats atomically"
"""Of the finding `other`: a sum whose order the hardware chooses, as the operators' pages say."""


@pytest.fixture(scope="module")
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp(request.param)
    suite = GROUPS[request.param][1](folder / "suite")
    command = [sys.executable, "-m", "piton.cli.main", "eval", str(REFERENCE), "--suite", str(suite), "--trust", "--no-auto-sync"]
    done = subprocess.run([*command, "--out", str(folder / "run")], capture_output=True, text=True, timeout=600, check=False)
    assert (folder / "run/report.json").is_file(), done.stdout + done.stderr
    found: dict[str, Any] = json.loads((folder / "run/report.json").read_text())
    return found


@pytest.mark.parametrize(("report", "group", "name"), [(group, group, name) for group, (rows, _) in GROUPS.items() for name in rows], indirect=["report"])
def test_every_shape_passes_without_a_hazard(report: dict[str, Any], group: str, name: str) -> None:
    rows = GROUPS[group][0][name]
    (cases,) = [item["cases"] for item in report["operators"] if item["operator"] == name]
    assert len(cases) == len(rows)
    for case, row in zip(cases, rows, strict=True):
        assert case["outcome"]["verdict"] == "passed", (row, case["outcome"])
        assert {finding["kind"] for finding in case["findings"]} <= {"no_anchor", "relaxed_pass", "other"}
        assert all(OPEN_ORDER in finding["message"] for finding in case["findings"] if finding["kind"] == "other"), case["findings"]
