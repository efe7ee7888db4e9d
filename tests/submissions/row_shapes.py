"""Suites of small cases at the edges of a row operator's tiling: short and odd rows, rows that just fit or do not, one and many columns, special values."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPERATORS = ROOT / "src" / "piton" / "suites" / "piton" / "level2"
DTYPES = ("float32", "float16", "bfloat16")
ROWS = ((1, 1), (3, 2), (250, 3), (7, 63), (49, 64), (5, 65), (500, 129), (100, 1023), (3, 2040), (2, 2049))
"""Shapes [rows, columns] with rows that fit into the unified buffer."""
LONG = ((2, 8000), (1, 12000), (3, 12289), (1, 16385), (2, 40001))
"""And around the length from which they do not."""
FEW = ((1, 90001), (2, 170003), (1, 400000))
"""So few and so long that several cores take a row."""
SHORT = ((2, 16), (33, 8), (96, 15), (4000, 16), (7001, 9), (64, 1), (95, 16), (1000, 2), (3001, 7))
"""Rows of which rms_norm handles four at once, in whole groups and not, in one tile and several."""
COLUMNS = (((3, 2), 0), ((5, 1, 7), 1), ((2, 300, 17), 1), ((1, 64, 1025), 1), ((40, 3, 5), -3), ((700, 2), 0), ((2, 3000, 100), -2), ((1, 1, 4099), 0))
"""Softmax along other axes."""

Row = tuple[list[list[int]], str | tuple[str, ...], dict[str, object], list[object]]
"""Shapes, dtype (of all inputs, or of each), attributes, value ranges."""


def softmax_rows() -> list[Row]:
    shapes = [(shape, -1) for shape in (*ROWS, *LONG, *FEW)] + list(COLUMNS)
    rows: list[Row] = [([list(shape)], DTYPES[index % 3], {"dim": dim}, [-9, 9]) for index, (shape, dim) in enumerate(shapes)]
    specials: list[Row] = [([[40, 50]], "float16", {"dim": dim}, [low, 3]) for dim in (0, 1) for low in ("-inf", "nan")]
    long: list[Row] = [
        ([[2, size]], dtype, {"dim": 1}, [*ends]) for size in (30011, 95003) for dtype, ends in (("float32", ("-inf", 3)), ("bfloat16", (-3, "inf")))
    ]
    return [*rows, *specials, *long]


def rms_norm_rows() -> list[Row]:
    ranges = [[-3, 3], [-1, 2]]
    rows: list[Row] = [([list(shape), [shape[1]]], DTYPES[index % 3], {"epsilon": 1e-5}, [*ranges]) for index, shape in enumerate((*ROWS, *LONG, *FEW, *SHORT))]
    specials: list[Row] = [
        ([[2, size], [size]], "float32", {"epsilon": 1e-3}, [[low, 3], [-1, 1]]) for size in (9, 70, 30011, 95003) for low in ("-inf", "nan")
    ]
    return [*rows, *specials]


def write_operator(folder: Path, name: str, title: str, rows: list[Row]) -> None:
    folder.mkdir(parents=True)
    shutil.copy(OPERATORS / name / "golden.py", folder)
    (folder / "proto.yaml").write_text((OPERATORS / name / "proto.yaml").read_text().split("  degenerate:")[0])
    cases = [
        {
            "operator": title,
            "case_id": number,
            "input_shape": shapes,
            "dtype": [dtype] * len(shapes) if isinstance(dtype, str) else list(dtype),
            "attrs": attrs,
            "value_range": ranges,
        }
        for number, (shapes, dtype, attrs, ranges) in enumerate(rows, start=1)
    ]
    (folder / "cases.yaml").write_text(json.dumps({"cases": cases}))


ALL_ROWS = {"softmax": softmax_rows(), "rms_norm": rms_norm_rows()}
"""Cases by operator, in the order of their ids."""


def write_row_suite(folder: Path) -> Path:
    """A suite of both operators with these cases; it counts as foreign, so evaluating it takes --trust."""
    write_operator(folder / "level2" / "softmax", "softmax", "Softmax", ALL_ROWS["softmax"])
    write_operator(folder / "level2" / "rms_norm", "rms_norm", "RmsNorm", ALL_ROWS["rms_norm"])
    return folder
