"""Are the quickstart's row operators right at the edges of their tilings: short and odd rows, rows that just fit or do not, one and many columns, specials?"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPERATORS = ROOT / "src" / "piton" / "suites" / "piton" / "level2"
DTYPES = ("float32", "float16", "bfloat16")
ROWS = ((1, 1), (3, 2), (250, 3), (7, 63), (49, 64), (5, 65), (500, 129), (100, 1023), (3, 2040), (2, 2049))
"""Shapes [rows, columns] with rows that fit into the unified buffer."""
LONG = ((2, 8000), (1, 12000), (3, 12289), (1, 16385), (2, 40001))
"""And around the length from which they do not."""
COLUMNS = (((3, 2), 0), ((5, 1, 7), 1), ((2, 300, 17), 1), ((1, 64, 1025), 1), ((40, 3, 5), -3), ((700, 2), 0), ((2, 3000, 100), -2), ((1, 1, 4099), 0))
"""Softmax along other axes."""

Row = tuple[list[list[int]], str, dict[str, object], list[object]]


def softmax_rows() -> list[Row]:
    shapes = [(shape, -1) for shape in (*ROWS, *LONG)] + list(COLUMNS)
    rows: list[Row] = [([list(shape)], DTYPES[index % 3], {"dim": dim}, [-9, 9]) for index, (shape, dim) in enumerate(shapes)]
    specials: list[Row] = [([[40, 50]], "float16", {"dim": dim}, [low, 3]) for dim in (0, 1) for low in ("-inf", "nan")]
    return [*rows, *specials, ([[2, 30011]], "float32", {"dim": 1}, ["-inf", 3]), ([[2, 30011]], "bfloat16", {"dim": 1}, [-3, "inf"])]


def rms_norm_rows() -> list[Row]:
    ranges = [[-3, 3], [-1, 2]]
    rows: list[Row] = [([list(shape), [shape[1]]], DTYPES[index % 3], {"epsilon": 1e-5}, [*ranges]) for index, shape in enumerate((*ROWS, *LONG))]
    specials: list[Row] = [([[2, size], [size]], "float32", {"epsilon": 1e-3}, [[low, 3], [-1, 1]]) for size in (70, 30011) for low in ("-inf", "nan")]
    return [*rows, *specials]


def write_operator(folder: Path, name: str, title: str, rows: list[Row]) -> None:
    folder.mkdir(parents=True)
    shutil.copy(OPERATORS / name / "golden.py", folder)
    (folder / "proto.yaml").write_text((OPERATORS / name / "proto.yaml").read_text().split("  degenerate:")[0])
    cases = [
        {"operator": title, "case_id": number, "input_shape": shapes, "dtype": [dtype] * len(shapes), "attrs": attrs, "value_range": ranges}
        for number, (shapes, dtype, attrs, ranges) in enumerate(rows, start=1)
    ]
    (folder / "cases.yaml").write_text(json.dumps({"cases": cases}))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("shapes")
    write_operator(folder / "suite/level2/softmax", "softmax", "Softmax", softmax_rows())
    write_operator(folder / "suite/level2/rms_norm", "rms_norm", "RmsNorm", rms_norm_rows())
    command = [sys.executable, "-m", "piton.cli.main", "eval", str(ROOT / "examples/quickstart"), "--suite", str(folder / "suite"), "--trust"]
    done = subprocess.run([*command, "--out", str(folder / "run")], capture_output=True, text=True, timeout=280, check=False)
    assert (folder / "run/report.json").is_file(), done.stdout + done.stderr
    found: dict[str, Any] = json.loads((folder / "run/report.json").read_text())
    return found


@pytest.mark.parametrize(("name", "rows"), [("softmax", softmax_rows()), ("rms_norm", rms_norm_rows())], ids=["softmax", "rms_norm"])
def test_every_shape_passes_without_a_hazard(report: dict[str, Any], name: str, rows: list[Row]) -> None:
    (cases,) = [item["cases"] for item in report["operators"] if item["operator"] == name]
    assert len(cases) == len(rows)
    for case, row in zip(cases, rows, strict=True):
        assert case["outcome"]["verdict"] == "passed", (row, case["outcome"])
        assert {finding["kind"] for finding in case["findings"]} <= {"auto_sync_relied_on", "no_anchor"}
