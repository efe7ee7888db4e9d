"""Rows of test_cases.csv with the types a data frame would give them: whole columns of whole numbers, of numbers, of truth values, or texts."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from piton.core.errors import EvaluatorError

_TRUTH = {"True": True, "False": False, "TRUE": True, "FALSE": False, "true": True, "false": False}
_MISSING = ("", "nan", "NaN", "None", "null", "NULL", "NA", "N/A")
_MAX_ROWS = 10_000


def read_rows(path: Path) -> list[dict[str, Any]]:
    """All rows, by column. Raises EvaluatorError for a file that is no table."""
    try:
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig")), delimiter=";"))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise EvaluatorError(f"the table of cases can't be read: {error}", where=str(path)) from error
    lines = [line for line in lines if any(cell.strip() for cell in line)]
    if not 2 <= len(lines) <= _MAX_ROWS + 1 or any(len(line) > len(lines[0]) for line in lines):
        raise EvaluatorError("the table of cases has the wrong form", expected="a header and rows, separated by ;", where=str(path))
    names = [name.strip() for name in lines[0]]
    columns = [_typed([line[index].strip() if index < len(line) else "" for line in lines[1:]]) for index in range(len(names))]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _typed(cells: list[str]) -> list[Any]:
    present = [cell for cell in cells if cell not in _MISSING]
    if present and all(cell in _TRUTH for cell in present):
        return [_TRUTH.get(cell, math.nan) for cell in cells]
    has_all = len(present) == len(cells)
    if has_all and _all_read(cells, int):
        return [int(cell) for cell in cells]
    if present and _all_read(present, float):
        return [float(cell) if cell not in _MISSING else math.nan for cell in cells]
    return [cell if cell not in _MISSING else math.nan for cell in cells]


def _all_read(cells: list[str], kind: Callable[[str], object]) -> bool:
    try:
        for cell in cells:
            kind(cell)
    except ValueError:
        return False
    return True
