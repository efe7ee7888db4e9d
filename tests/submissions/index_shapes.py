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


SEGMENTS: tuple[tuple[Shape, int], ...] = (
    ((1, 1), 1),
    ((7,), 9),
    ((5000,), 1),
    ((9001,), 3),
    ((20000,), 1600),
    ((4100,), 5000),
    ((3, 70000), 2),
    ((50, 7, 3), 100),
    ((2, 3), 40000),
    ((900, 33), 11),
    ((5000, 3), 2),
    ((6000, 150), 700),
    ((4200, 1100), 33),
    ((33000, 2, 3), 9000),
    ((300, 1792), 1),
)
"""data, num_segments."""
SEGMENT_TYPES = (("float16", "int64"), ("int64", "int32"), ("float32", "int32"), ("int32", "int64"), ("bfloat16", "int32"), ("int64", "int64"))


def segment_rows() -> list[Row]:
    rows: list[Row] = []
    for number, (data, segments) in enumerate(SEGMENTS):
        for turn in (0, 1):
            types = SEGMENT_TYPES[(number + turn) % len(SEGMENT_TYPES)]
            most = 2 if types[0] == "float16" else 2.0**62 if types[0] == "int64" else 90
            rows.append(([list(data), [data[0]]], types, {"num_segments": segments}, [[-most, most], [0, segments - 1]]))
    return rows


SCATTER: tuple[tuple[Shape, Shape, Shape, int], ...] = (
    ((1,), (1,), (3,), 0),
    ((90,), (33,), (33,), -1),
    ((70, 5), (70, 4), (70, 5), 1),
    ((6, 5, 173), (6, 5, 173), (6, 5, 173), 1),
    ((9, 700), (4, 700), (4, 700), 0),
    ((7, 3, 33), (5, 2, 30), (6, 2, 31), 1),
    ((30, 24, 70), (16, 6, 70), (16, 6, 70), 1),
    ((3000, 7), (50, 7), (50, 7), 0),
    ((50001,), (3000,), (3000,), 0),
    ((5, 2700), (5, 2500), (5, 2500), 1),
    ((40, 300), (40, 299), (40, 299), 1),
    ((300, 40), (150, 40), (150, 40), 0),
    ((3, 4, 5, 6), (2, 4, 3, 1), (2, 4, 3, 2), 1),
    ((12, 64), (30, 64), (30, 64), 0),
)
"""data, indices, updates, dim."""
SCATTER_TYPES = (("float16", "int64"), ("int64", "int32"), ("float32", "int32"), ("int32", "int64"), ("bfloat16", "int32"), ("int64", "int64"))
REDUCTIONS = (None, "add", "multiply", "amin", "amax")


def scatter_rows() -> list[Row]:
    rows: list[Row] = []
    for number, (data, indices, updates, dim) in enumerate(SCATTER):
        for turn in (0, 1, 2):
            values, index = SCATTER_TYPES[(number + 2 * turn) % len(SCATTER_TYPES)]
            reduce = REDUCTIONS[(number + turn) % len(REDUCTIONS)]
            if reduce is None and indices[dim] > data[dim]:
                reduce = "amax"
            limits = [[-9, 9], [0, data[dim] - 1], [-2, 2]]
            rows.append(([list(data), list(indices), list(updates)], (values, index, values), {"dim": dim, "reduce": reduce}, limits))
    return rows


ALL_INDEX_ROWS = {"gather": gather_rows(), "scatter": scatter_rows(), "unsorted_segment_sum": segment_rows()}
"""Cases by operator, in the order of their ids."""
TITLES = {"gather": "Gather", "scatter": "Scatter", "unsorted_segment_sum": "UnsortedSegmentSum"}


def write_index_suite(folder: Path) -> Path:
    """A suite of these operators with these cases; it counts as foreign, so evaluating it takes --trust."""
    for name, rows in ALL_INDEX_ROWS.items():
        write_operator(folder / "level2" / name, name, TITLES[name], rows)
    return folder
