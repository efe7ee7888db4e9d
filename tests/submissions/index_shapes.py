"""Small cases at the edges of the tilings of gather, scatter and unsorted_segment_sum: planes in groups and in parts, strips, single elements, short axes."""

from __future__ import annotations

import math
from pathlib import Path

from row_shapes import Row, write_operator

Shape = tuple[int, ...]

GATHER: tuple[tuple[Shape, Shape, int], ...] = (
    ((1,), (1,), 0),
    ((5,), (77,), -1),
    ((300, 3), (300, 5), 1),
    ((40, 6, 5), (40, 9, 5), 1),
    ((40, 6, 5), (33, 2, 3), 1),
    ((7, 4, 9, 3), (5, 6, 8, 2), 1),
    ((9, 3000), (4, 3000), 0),
    ((130, 3001), (70, 2999), 0),
    ((3, 5, 2, 1030), (2, 7, 2, 1029), 1),
    ((30000,), (700,), 0),
    ((2, 60001), (2, 900), 1),
    ((20000, 40), (30, 40), 0),
    ((3, 9000, 7), (2, 20, 5), 1),
    ((200, 2, 3, 2, 2), (100, 2, 1, 2, 2), 2),
)
"""x, index, dim."""
GATHER_TYPES = (("float16", "int64"), ("int8", "int8"), ("int64", "int32"), ("float32", "int8"), ("bfloat16", "int32"), ("int64", "int64"), ("int8", "int64"))


def gather_rows() -> list[Row]:
    rows: list[Row] = []
    for number, (x, index, dim) in enumerate(GATHER):
        for turn in (0, 3):
            types = GATHER_TYPES[(number + turn) % len(GATHER_TYPES)]
            most = min(x[dim] - 1, 127 if types[1] == "int8" else math.inf)
            rows.append(([list(x), list(index)], types, {"dim": dim}, [[-90, 90], [0, most]]))
    return rows


ALL_INDEX_ROWS = {"gather": gather_rows()}
"""Cases by operator, in the order of their ids."""
TITLES = {"gather": "Gather", "scatter": "Scatter", "unsorted_segment_sum": "UnsortedSegmentSum"}


def write_index_suite(folder: Path) -> Path:
    """A suite of these operators with these cases; it counts as foreign, so evaluating it takes --trust."""
    for name, rows in ALL_INDEX_ROWS.items():
        write_operator(folder / "level2" / name, name, TITLES[name], rows)
    return folder
