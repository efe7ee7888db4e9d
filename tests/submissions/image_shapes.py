"""Small cases at the edges of resize_bilinear and grid_sampler_3d: single pixels, odd planes, rows in parts; volumes whole, in slabs and fetched."""

from __future__ import annotations

from pathlib import Path

from row_shapes import DTYPES, Row, write_operator

SIZES: tuple[tuple[list[int], list[int], bool], ...] = (
    ([1, 1, 1, 1], [1, 1], True),
    ([1, 1, 1, 1], [5, 7], False),
    ([1, 3, 1, 9], [4, 1], True),
    ([2, 1, 7, 1], [1, 33], False),
    ([1, 17, 13, 31], [13, 31], False),
    ([1, 1, 40, 50], [300, 17], True),
    ([3, 11, 9, 100], [5, 230], False),
    ([1, 2, 5, 3001], [3, 1999], True),
    ([1, 1, 3, 8192], [2, 130], False),
    ([1, 1, 2, 60], [3, 4096], False),
    ([5, 7, 64, 16], [16, 64], True),
    ([1, 40, 6, 16], [4, 256], False),
)
"""Shapes of x, output_size and align_corners."""
FACTORS = ([0.7, 1.3], [1 / 3, 16.0], [0.0625, 2.9375], [3.1415926, 0.5])


def resize_rows() -> list[Row]:
    rows: list[Row] = [
        ([x], DTYPES[index % 3], {"output_size": size, "align_corners": is_aligned}, [-9, 9]) for index, (x, size, is_aligned) in enumerate(SIZES)
    ]
    rows += [([[2, 3, 37, 41]], DTYPES[index % 3], {"scale_factor": factors}, [-3, 3]) for index, factors in enumerate(FACTORS)]
    specials: list[Row] = [([[1, 4, 9, 40]], dtype, {"output_size": [17, 23]}, [low, 3]) for dtype in ("float32", "float16") for low in ("-inf", "nan")]
    return [*rows, *specials]


VOLUMES = (
    ([1, 1, 1, 1, 1], [1, 1, 1, 1, 3]),
    ([2, 3, 1, 5, 16], [2, 1, 3, 7, 3]),
    ([1, 9, 4, 1, 3], [1, 2, 5, 60, 3]),
    ([3, 2, 6, 7, 1], [3, 1, 1, 515, 3]),
    ([1, 4, 3, 12, 700], [1, 2, 8, 70, 3]),
    ([1, 8, 40, 20, 100], [1, 4, 16, 32, 3]),
    ([1, 1, 30, 40, 500], [1, 2, 5, 31, 3]),
)
"""Shapes of x and grid: such that fit, in slabs (the last but one), and too large for the few points."""
MODES = [(mode, padding) for mode in ("bilinear", "nearest") for padding in ("zeros", "border", "reflection")]


def grid_rows() -> list[Row]:
    rows: list[Row] = []
    for index, (mode, padding) in enumerate(MODES * 2):
        x, grid = VOLUMES[index % len(VOLUMES)]
        attributes: dict[str, object] = {"interpolation_mode": mode, "padding_mode": padding, "align_corners": index % 4 < 2}
        rows.append(([x, grid], ("float32", "float16")[index // 2 % 2], attributes, [[-3, 3], [-1.5, 1.4]]))
    bilinear: dict[str, object] = {"interpolation_mode": "bilinear", "padding_mode": "border", "align_corners": True}
    specials: list[Row] = [([x, grid], "float32", bilinear, [[low, 3], [-1.1, 1.1]]) for x, grid in (VOLUMES[1], VOLUMES[6]) for low in ("-inf", "nan")]
    tall: list[Row] = [([[1, 2, 1, 4400, 2], [1, 1, 1, 40, 3]], "float32", bilinear, [[-3, 3], [-1.1, 1.1]])]  # more rows than a copy has blocks
    return [*rows, *specials, *tall, ([[1, 8, 40, 20, 100], [1, 4, 16, 32, 3]], "float16", bilinear, [["-inf", 3], [-1.1, 1.1]])]


ALL_IMAGE_ROWS = {"resize_bilinear": resize_rows(), "grid_sampler_3d": grid_rows()}
"""Cases by operator, in the order of their ids."""


def write_image_suite(folder: Path) -> Path:
    """A suite of both operators with these cases; it counts as foreign, so evaluating it takes --trust."""
    write_operator(folder / "level2" / "resize_bilinear", "resize_bilinear", "ResizeBilinear", ALL_IMAGE_ROWS["resize_bilinear"])
    write_operator(folder / "level2" / "grid_sampler_3d", "grid_sampler_3d", "GridSampler3D", ALL_IMAGE_ROWS["grid_sampler_3d"])
    return folder
