"""Suites of small cases for operators on elements and on lists: lengths around blocks, tiles and cores, halves of every width, long lists, special values."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SUITE = Path(__file__).resolve().parents[2] / "src" / "piton" / "suites" / "piton"
DTYPES = ("float32", "float16", "bfloat16")
MASKS = ("int8", "uint8", *DTYPES)
LENGTHS = (1, 63, 4097)
"""Elements: one, less than a vector instruction, more than one tile of a core."""
GATES = (
    ([2], -1),
    ([9, 2], -1),
    ([70, 6], 1),
    ([3, 10], -1),
    ([4, 7], 0),
    ([5, 4, 1, 3], 1),
    ([300, 34], -1),
    ([31, 130], -1),
    ([101, 422], -1),
    ([7, 8198], -1),
    ([2, 16390], 1),
    ([2, 30011], 0),
    ([3, 2, 5, 2049], -3),
    ([1, 98304], -1),
    ([96, 1024], -1),
    ([16, 512], -1),
)
"""Shapes and axes of swi_glu."""
LISTS = (((1,),), ((3, 5), (1,), (64,), (65,), (2, 2048)), ((40000,), (7,), (129, 130)), tuple((i * i + 1,) for i in range(40)))
"""Shapes of the tensors of a list; the last one is longer than one launch takes."""
ORDERS = (2.0, 0.0, 1.0, "inf", "-inf", 0.5, 3.0, -10.0, 8.2)
STEPS = {"lr": 0.1, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6}


@dataclass(frozen=True)
class Row:
    """One case, in the words of a cases file."""

    shapes: list[Any]
    dtypes: list[Any]
    ranges: list[Any]
    attrs: dict[str, object] = field(default_factory=dict)


def swi_glu_rows() -> list[Row]:
    rows = [Row([shape], [DTYPES[index % 3]], [[-9, 9]], {"dim": dim}) for index, (shape, dim) in enumerate(GATES)]
    narrow = [Row([[50, columns]], [dtype], [[-9, 9]]) for dtype in DTYPES for columns in (2, 422)]
    specials = [Row([[40, 50]], [dtype], [[low, 3]], {"dim": dim}) for dtype in DTYPES for dim, low in ((0, "-inf"), (1, "nan"))]
    return [*rows, *narrow, *specials]


def masked_scale_rows() -> list[Row]:
    pairs = [(dtype, mask) for dtype in DTYPES for mask in MASKS]
    ranges = {"int8": [-128, 127], "uint8": [0, 255]}
    rows = [Row([[LENGTHS[index % 3]]] * 2, [dtype, mask], [[-3, 3], ranges.get(mask, [-2, 2])], {"scale": -1.5}) for index, (dtype, mask) in enumerate(pairs)]
    return [*rows, Row([[5, 77]] * 2, ["float16", "uint8"], [["-inf", 3], [0, 1]], {"scale": 2.0})]


def apply_adam_w_rows() -> list[Row]:
    ranges = [[-1, 1], [-1, 1], [-0.5, 0.5], [0, 0.2]]
    rows = [
        Row([[length]] * 4, [dtype] * 4, ranges, {**STEPS, "weight_decay": decay, "step": 1 + length, "maximize": decay > 0})
        for length in LENGTHS
        for dtype, decay in zip(DTYPES, (0.0, 0.5, 0.1), strict=True)
    ]
    specials = [Row([[6, 50]] * 4, [dtype] * 4, [["-inf", 3], *ranges[1:]], {**STEPS, "weight_decay": decay}) for dtype in DTYPES for decay in (0.0, 0.1)]
    return [*rows, *specials]


def listed(shapes: tuple[tuple[int, ...], ...], value: Any) -> list[Any]:
    return [value for _ in shapes]


def foreach_addcdiv_scalar_rows() -> list[Row]:
    ranges = ([-2, 2], [-3, 3], [0.5, 2])
    return [
        Row([[list(shape) for shape in shapes]] * 3, [listed(shapes, dtype)] * 3, [listed(shapes, item) for item in ranges], {"scalar": -0.7})
        for shapes in LISTS
        for dtype in DTYPES
    ]


def foreach_norm_rows() -> list[Row]:
    """Every order of two lists, and of special values."""
    rows = []
    for index, order in enumerate(ORDERS):
        for shapes in (LISTS[index % 4], LISTS[(index + 1) % 4]):
            dtype = DTYPES[len(rows) % 3]
            rows.append(Row([[list(shape) for shape in shapes]], [listed(shapes, dtype)], [listed(shapes, [0.5, 3.0])], {"scalar": order}))
        low = ("nan", "-inf")[index % 2]
        rows.append(Row([[[30, 17], [500]]], [[DTYPES[index % 3]] * 2], [[[low, 3]] * 2], {"scalar": order}))
    return rows


def map_rows(**attrs: object) -> list[Row]:
    """y = f(x): lengths, and every kind of special value."""
    rows = [Row([[length]], [dtype], [[-9, 9]], attrs) for length in (*LENGTHS, 70_001) for dtype in DTYPES]
    specials = [Row([[3, 67]], [dtype], [[*ends]], attrs) for dtype in DTYPES for ends in (("-inf", 3), (-3, "inf"), ("nan", 3), (-60000, 60000), (0, 0))]
    return [*rows, *specials]


MAP_ROWS = {
    "exp": map_rows(base=-1.0, scale=0.5, shift=-0.25) + map_rows(base=2.0, scale=1.0, shift=0.0)[:3],
    "gelu": map_rows(approximate="none") + map_rows(approximate="tanh"),
    "mish": map_rows(),
    "sigmoid": map_rows(),
}
"""Cases of the operators that are one formula of one tensor."""

ALL_ROWS = {
    "swi_glu": swi_glu_rows(),
    "masked_scale": masked_scale_rows(),
    "apply_adam_w": apply_adam_w_rows(),
    "foreach_addcdiv_scalar": foreach_addcdiv_scalar_rows(),
    "foreach_norm": foreach_norm_rows(),
}
"""Cases by operator, in the order of their ids."""


def write_element_suite(folder: Path, cases_of: dict[str, list[Row]] = ALL_ROWS) -> Path:
    """A suite of these operators with these cases; it counts as foreign, so evaluating it takes --trust."""
    for name, rows in cases_of.items():
        (source,) = SUITE.glob(f"level*/{name}")
        target = folder / source.parent.name / name
        target.mkdir(parents=True)
        shutil.copy(source / "golden.py", target)
        proto = (source / "proto.yaml").read_text().split("  degenerate:")[0]
        (target / "proto.yaml").write_text(proto)
        title = proto.split("name: ")[1].split()[0]
        cases = [
            {"operator": title, "case_id": number, "input_shape": row.shapes, "dtype": row.dtypes, "attrs": row.attrs, "value_range": row.ranges}
            for number, row in enumerate(rows, start=1)
        ]
        (target / "cases.yaml").write_text(json.dumps({"cases": cases}))
    return folder
