"""A suite of small cases of the operators with two broadcast sides, and of rotary embedding: every order of axes and repetition, odd sizes, extreme values."""

from __future__ import annotations

from pathlib import Path

from row_shapes import Row, write_operator

SHAPES: tuple[tuple[list[int], list[int]], ...] = (
    ([1], [1]),
    ([7], [1]),
    ([1], [1031]),
    ([5, 3], [3]),
    ([3, 1], [1, 5]),
    ([1, 9001], [3, 1]),
    ([257, 1], [1, 129]),
    ([33, 1, 65], [7, 1]),
    ([3, 1, 5, 1, 7], [2, 1, 3, 1]),
    ([2, 1, 2, 1, 2, 1, 2, 3], [1, 3, 1, 3, 1, 3, 1, 3]),
    ([2, 20, 501], [2, 1, 501]),
    ([6, 9001], [9001]),
    ([3, 9001], [3, 1]),
    ([1, 1500], [9, 1]),
    ([313, 17, 3], [313, 1, 3]),
    ([9011], [9011]),
)
"""Both sides; every other case has them exchanged."""
MAXIMUM_RANGES = {
    "float32": [-3, 3],
    "float16": ["-inf", 3],
    "bfloat16": ["nan", 3],
    "int8": [-128, 127],
    "int32": [-(2**31), 2**31 - 1],
    "int64": [-(2**62), 2**62],
}
GCD_RANGES = {"int16": [-32768, 32767], "int32": [-(2**31), 2**31 - 1], "int64": [-5000, 5000]}
ROTARY: tuple[tuple[list[int], bool, int], ...] = (
    ([1, 1, 1, 2], False, 0),
    ([2, 5, 3, 2], True, 1),
    ([3, 7, 5, 6], False, 0),
    ([3, 7, 5, 10], False, 1),
    ([2, 40, 3, 72], True, 0),
    ([2, 3, 40, 72], False, 1),
    ([5, 3, 100, 8], False, 0),
    ([300, 2, 2, 16], False, 0),
    ([1, 3, 2, 2048], True, 0),
    ([2, 2, 5, 2048], False, 1),
    ([1, 2, 19, 1032], False, 0),
    ([2, 300, 2, 16], True, 0),
    ([1, 2, 1, 4096], False, 0),
    ([2, 2, 2, 4090], True, 1),
)
"""Shape of query and key, whether batch entries have angles of their own, layout."""


def _two_sides(ranges: dict[str, list[object]]) -> list[Row]:
    rows: list[Row] = []
    for number, dtype in enumerate(ranges):
        for index, (first, second) in enumerate(SHAPES):
            if index % len(ranges) == number or (index < 4 and number == 0) or dtype in ("int64", "int8"):
                sides = [first, second] if index % 2 else [second, first]
                rows.append((sides, dtype, {}, [ranges[dtype], ranges[dtype]]))
    return rows


def _gcd_rows() -> list[Row]:
    """Also numbers beyond 32 bits, on both sides and on one."""
    long: list[object] = [-(2**63), 2**63 - 1]
    rows: list[Row] = [([[40, 3], [3]], "int64", {}, ranges) for ranges in ([long, long], [long, [-1000, 1000]], [[-7, 7], long])]
    zeros: list[Row] = [([[300], [300]], dtype, {}, [[-1, 1], [0, 0]]) for dtype in GCD_RANGES]
    least: list[Row] = [([[9], [9]], "int16", {}, [[-32768, -32768], [-32768, -32767]]), ([[9], [9]], "int32", {}, [[-(2**31), -(2**31)], [0, 0]])]
    longest: list[Row] = [([[70], [70]], "int64", {}, ranges) for ranges in ([[-(2**63), -(2**63)], [-1, 1]], [long, [0, 0]], [[-(2**63)] * 2, [-(2**63)] * 2])]
    return [*_two_sides({**GCD_RANGES}), *rows, *zeros, *least, *longest]


def _rotary_rows() -> list[Row]:
    rows: list[Row] = []
    for index, (shape, is_own, layout) in enumerate(ROTARY):
        positions = shape[2 if layout else 1]
        angles = [shape[0], positions, shape[3] // 2] if is_own else [positions, shape[3] // 2]
        for turn, mode in enumerate(("half", "interleaved")):
            dtype = ("float32", "float16", "bfloat16")[(index + turn) % 3]
            rows.append(([shape, shape, angles, angles], dtype, {"layout": layout, "rotaryMode": mode}, [[-3, 3], [-1, 2], [-1, 1], [-1, 1]]))
    return rows


ALL_BROADCAST_ROWS = {"maximum": _two_sides(MAXIMUM_RANGES), "gcd": _gcd_rows(), "apply_rotary_pos_emb": _rotary_rows()}
"""Cases by operator, in the order of their ids."""
TITLES = {"maximum": "Maximum", "gcd": "Gcd", "apply_rotary_pos_emb": "ApplyRotaryPosEmb"}


def write_broadcast_suite(folder: Path) -> Path:
    """A suite of the operators with these cases; it counts as foreign, so evaluating it takes --trust."""
    for name, rows in ALL_BROADCAST_ROWS.items():
        write_operator(folder / "level2" / name, name, TITLES[name], rows)
    return folder
