"""Small cases at the edges of the tilings of arg_max and cummin: rows in groups and in parts, strips, outer indices side by side, special values."""

from __future__ import annotations

from pathlib import Path

from row_shapes import Row, write_operator

Shape = tuple[int, ...]

SHAPES: tuple[tuple[Shape, int], ...] = (
    ((1,), 0),
    ((7,), -1),
    ((5000,), 0),
    ((70001,), 0),
    ((3, 2), -1),
    ((250, 3), 1),
    ((49, 64), 1),
    ((5, 65), 1),
    ((100, 1023), 1),
    ((2, 8193), 1),
    ((9, 12289), 1),
    ((60, 5000), 1),
    ((700, 2), 0),
    ((5, 1, 7), 1),
    ((40, 3, 5), -3),
    ((2, 300, 17), 1),
    ((1, 64, 1025), 1),
    ((1, 1, 4099), 0),
    ((64, 9, 130), 1),
    ((2, 1500, 100), -2),
)
SPECIALS: tuple[tuple[Shape, int], ...] = (((40, 50), 1), ((40, 50), 0), ((2, 30011), 1))
WIDE: tuple[list[object], ...] = ([-9.2e18, 9.2e18], [4294967290, 4294967300], [-4294967300, -4294967290])
"""Ranges of int64 whose numbers differ in the upper half, in the lower half, in both."""
FLOATS = ("float32", "bfloat16")


def axis_rows(types: tuple[str, ...], attributes: dict[str, object]) -> list[Row]:
    rows: list[Row] = [
        ([list(shape)], types[number % len(types)], {"dim": dim, **attributes}, [-9, 9] if number % 2 else [-3000, 100])
        for number, (shape, dim) in enumerate(SHAPES)
    ]
    for shape, dim in SPECIALS:
        rows += [([list(shape)], dtype, {"dim": dim, **attributes}, [low, 3]) for dtype in FLOATS for low in ("-inf", "nan")]
        rows += [([list(shape)], "int64", {"dim": dim, **attributes}, values) for values in WIDE if "int64" in types]
    return rows


ALL_AXIS_ROWS = {
    "arg_max": axis_rows(("int64", "float16", "int32", "float32", "bfloat16"), {"keepdim": False}),
    "cummin": axis_rows(("float16", "int32", "bfloat16", "float32"), {}),
}
"""Cases by operator, in the order of their ids."""


def write_axis_suite(folder: Path) -> Path:
    """A suite of both operators with these cases; it counts as foreign, so evaluating it takes --trust."""
    write_operator(folder / "level2" / "arg_max", "arg_max", "ArgMax", ALL_AXIS_ROWS["arg_max"])
    write_operator(folder / "level2" / "cummin", "cummin", "Cummin", ALL_AXIS_ROWS["cummin"])
    return folder
