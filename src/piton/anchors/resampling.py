"""Work formulas of operators that bring images to another size: resize_bilinear and adaptive_avg_pool_3d.

Bytes: every element that has a weight in some result is read once, every result written once.
Instructions: both operators act on one axis after the other, and the order of the axes is a choice. How `convention` and `silicon` are meant is said in
`elementwise`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from piton.anchors.arithmetic import Arithmetic, arithmetics, cube_depth
from piton.anchors.cube_work import multiplied_as
from piton.anchors.formula import Formula
from piton.anchors.operands import flag, operand, whole_numbers
from piton.anchors.slices import BLOCK_BYTES
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware


def resize_bilinear_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: 11 lane instructions per element of y and one more for the 16-bit types.

    Edition 910b2 counts in float32 and reads all of x; edition 950pr counts in the dtype of x and reads at most 4 pixels per element of y. One published value,
    the only one of float16 with align_corners that the vector unit limits (case 4, 910b2), has one more instruction per element of x; the reason is unknown.
    """
    x = operand(case, "x")
    results = math.prod(x.shape[:2]) * math.prod(_resized(case))
    seen = x.elements if edition == "910b2" else min(x.elements, 4 * results)
    lanes = {DType.FLOAT32 if edition == "910b2" else x.dtype: float(results * (12 if x.dtype.bits == 16 else 11))}
    return Work("published count", x.dtype.bytes_of(seen), x.dtype.bytes_of(results), vector_lanes=lanes)


def resize_bilinear_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Rows and columns of x that have a weight are read, y is written; one instruction per axis for a result between two pixels, or products on the cube.

    Memory hands over blocks of 32 bytes: of a row, those that have a column with a weight, wherever it begins.
    One instruction is what halves take (an addition, the factor going into the last pass) and what a running sum takes when x grows; other shares need two.
    What falls on a pixel is copied. Products with the matrices of shares run on the cube: a result takes a contraction of at least 32 bytes per axis; what
    goes through the buffers of the cube is left out.
    """
    x, (rows, columns) = operand(case, "x"), _axes(case)
    planes = math.prod(x.shape[:2])
    read, write = planes * rows.read * _row_bytes(columns, x.dtype), x.dtype.bytes_of(planes * rows.new * columns.new)
    by_rows = rows.between * columns.read + rows.new * columns.between
    by_columns = rows.read * columns.between + rows.between * columns.new
    instructions = planes * min(by_rows, by_columns)
    conversions = planes * (rows.read * columns.read + rows.new * columns.new) if instructions else 0
    on_vector = tuple(Work(way.name, read, write, vector_lanes=way.lanes_for(instructions, conversions)) for way in arithmetics(x.dtype, chip))
    flops = float(instructions * 2 * cube_depth(x.dtype))
    return (*on_vector, *(Work(_on_cube(name), read, write, cube_flops={as_type: flops}) for name, as_type in multiplied_as(x.dtype, chip)))


def _on_cube(multiplied: str) -> str:
    return f"{multiplied or 'products'} with share matrices"


@dataclass(frozen=True)
class _Axis:
    """How an axis of x is resized."""

    new: int
    """Results along the axis."""
    between: int
    """Those that lie between two pixels; the others are copies of one."""
    seen: frozenset[int]
    """Pixels that some result gives a weight."""

    @property
    def read(self) -> int:
        """How many these are."""
        return len(self.seen)


def _row_bytes(columns: _Axis, dtype: DType) -> int:
    """Bytes of a row that memory hands over at least: its pixels, or the blocks that have them, of which a neighbouring row may need one too."""
    length = BLOCK_BYTES * 8 // dtype.bits
    blocks = min(len({(start + place) // length for place in columns.seen}) for start in range(length))
    return max(dtype.bytes_of(columns.read), BLOCK_BYTES * (blocks - 1))


def _resized(case: Case) -> tuple[int, int]:
    """Rows and columns of y: `output_size`, or the floor of those of x times `scale_factor`."""
    old, size, factors = operand(case, "x").shape[2:], whole_numbers(case, "output_size"), _factors(case)
    return (size[0], size[1]) if size else (math.floor(old[0] * factors[0]), math.floor(old[1] * factors[1]))


def _factors(case: Case) -> tuple[float, float]:
    """`scale_factor`, or zeros where the case gives `output_size`."""
    given = case.attributes["scale_factor"]
    factors = [float(item) for item in given if isinstance(item, (int, float))] if isinstance(given, tuple) else [0.0, 0.0]
    return factors[0], factors[1]


def _axes(case: Case) -> tuple[_Axis, _Axis]:
    old, new, factors = operand(case, "x").shape[2:], _resized(case), _factors(case)
    rows, columns = (_axis(old[a], _positions(old[a], new[a], flag(case, "align_corners"), factors[a])) for a in (0, 1))
    return rows, columns


def _positions(old: int, new: int, is_aligned: bool, factor: float) -> list[float]:
    """Where the new pixels lie among the old ones; `factor` is 0 where the size was given. The operator's definition."""
    if is_aligned:
        return [place * (old - 1) / max(new - 1, 1) for place in range(new)]
    if factor:
        return [max((2 * place + 1 - factor) / (2 * factor), 0.0) for place in range(new)]
    return [max(((2 * place + 1) * old - new) / (2 * new), 0.0) for place in range(new)]


def _axis(old: int, positions: Sequence[float]) -> _Axis:
    """The upper neighbour has a weight only where a result lies between two pixels, and the last pixel has none."""
    between = [position for position in positions if position != int(position) and position < old - 1]
    seen = {min(int(position), old - 1) for position in positions} | {int(position) + 1 for position in between}
    return _Axis(len(positions), len(between), frozenset(seen))


def adaptive_avg_pool_3d_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: one lane instruction per element of x or y, whichever has more, and one per element of y.

    Edition 910b2 counts in float32, edition 950pr in the dtype of x.
    """
    x, results = operand(case, "x"), _means(case)
    lanes = {DType.FLOAT32 if edition == "910b2" else x.dtype: float(max(x.elements, results) + results)}
    return Work("published count", x.nbytes, x.dtype.bytes_of(results), vector_lanes=lanes)


def adaptive_avg_pool_3d_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Windows cover all of x, and so all of it is read; sums axis by axis, in the cheapest order, and one Muls per element of y.

    A window of n elements takes n - 1 additions. Where every window is one element, y is a copy of x and takes no instruction.
    """
    x = operand(case, "x")
    planes = math.prod(x.shape[:2])
    windows = [_window_lengths(old, new) for old, new in zip(x.shape[2:], whole_numbers(case, "output_size"), strict=True)]
    additions = min(_additions(x.shape[2:], windows, order) for order in permutations(range(3)))
    results = _means(case)
    instructions = planes * additions + (results if additions else 0)
    conversions = x.elements + results if additions else 0
    return tuple(_pool_work(case, way, instructions, conversions) for way in arithmetics(x.dtype, chip))


def _pool_work(case: Case, way: Arithmetic, instructions: int, conversions: int) -> Work:
    x = operand(case, "x")
    return Work(way.name, x.nbytes, x.dtype.bytes_of(_means(case)), vector_lanes=way.lanes_for(instructions, conversions))


def _means(case: Case) -> int:
    """Elements of y."""
    return math.prod(operand(case, "x").shape[:2]) * math.prod(whole_numbers(case, "output_size"))


def _window_lengths(old: int, new: int) -> list[int]:
    """Elements of each window of an axis: from floor(i old / new) up to ceil((i + 1) old / new)."""
    return [-(-(place + 1) * old // new) - place * old // new for place in range(new)]


def _additions(shape: Sequence[int], windows: Sequence[Sequence[int]], order: Sequence[int]) -> int:
    """Additions per plane when the axes are summed in this order: lines shrink (or grow) from axis to axis."""
    sizes, total = list(shape), 0
    for axis in order:
        lines = math.prod(size for other, size in enumerate(sizes) if other != axis)
        total += lines * sum(length - 1 for length in windows[axis])
        sizes[axis] = len(windows[axis])
    return total


FORMULAS = {
    "adaptive_avg_pool_3d": Formula(frozenset({"output_size"}), adaptive_avg_pool_3d_convention, adaptive_avg_pool_3d_silicon),
    "resize_bilinear": Formula(frozenset({"output_size", "align_corners", "scale_factor"}), resize_bilinear_convention, resize_bilinear_silicon),
}
