"""Work formulas of operators that read images where the data say: grid_sampler_3d and roi_align.

Bytes: every coordinate is read once and every sample written once. Which voxels and pixels are read depends on the data. The value range of a grid says where
its points are drawn, and so how much of a volume they reach, up to chance. Regions are made by the operator's `get_input` in ways that the case doesn't tell,
and as all may lie outside of the image, none of its bytes is certain.
Instructions: the shortest code known for any data, which doesn't look for points that coincide. How `convention` and `silicon` are meant is said in
`elementwise`.
"""

from __future__ import annotations

import math

from piton.anchors.arithmetic import arithmetics
from piton.anchors.formula import Formula
from piton.anchors.operands import flag, input_bytes, number, operand, text
from piton.anchors.point_draws import PointAxis, least_reached
from piton.anchors.slices import BLOCK_BYTES
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_TAPS = 8
"""Voxels around a point, which trilinear interpolation weighs."""
_NEAREST_REACH = 0.5 - 1 / 32
"""The suite's `get_input` moves points that are nearer than 1/32 to the middle between two voxels: they can't be said to reach the one or the other."""
_FRACTION_BITS = {DType.BFLOAT16: 7, DType.FLOAT16: 10, DType.FLOAT32: 23}


def grid_sampler_3d_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: lane instructions in the dtype of x, 23 per sample and 37 per point (bilinear; 43 with reflection), or 1 and 20 (nearest).

    The counts per point are shared by all channels. Edition 910b2 reads all of x; edition 950pr at most 8 voxels per sample (bilinear) or 1 (nearest).
    """
    x, taps = operand(case, "x"), _taps(case)
    seen = x.elements if edition == "910b2" else min(x.elements, taps * _samples(case))
    per_sample, per_point = (23, 37 + 6 * (text(case, "padding_mode") == "reflection")) if taps == _TAPS else (1, 20)
    return Work(
        choice="published count",
        read_bytes=x.dtype.bytes_of(seen) + input_bytes(case, "grid"),
        write_bytes=x.dtype.bytes_of(_samples(case)),
        vector_lanes={x.dtype: float(per_sample * _samples(case) + per_point * _points(case))},
    )


def grid_sampler_3d_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """The grid is read, and what its points reach of x; y is written. Bilinear: 8 weighted taps a sample, 24 instructions a point; nearest: 6 a point.

    Points are taken as drawn evenly over the value range of the grid; memory hands over blocks of 32 bytes, and those that are touched are the larger bound
    for most shapes. What a point beyond the edge reaches by border or reflection is left out.

    A tap is one MulAddDst or Axpy: with channels last, which the copy engine can arrange, the taps of a point are vectors that no Gather has to collect. An
    axis of a bilinear point takes the scaling (FusedMulAdd), Cast down to an integer, Cast back and Sub; the 8 weights 4 products and 8 differences. An axis
    of a nearest point takes the scaling and a rounding Cast; the sample itself is copied.
    """
    dtype = operand(case, "x").dtype
    read = input_bytes(case, "grid") + _reached_bytes(case)
    is_bilinear = _taps(case) == _TAPS
    per_sample, per_point = (_TAPS, 3 * 4 + 12) if is_bilinear else (0, 3 * 2)
    instructions = float(per_sample * _samples(case) + per_point * _points(case))
    conversions = _samples(case) if is_bilinear else 0
    return tuple(
        Work(way.name, read, dtype.bytes_of(_samples(case)), vector_lanes=way.lanes_for(instructions, conversions)) for way in arithmetics(dtype, chip)
    )


def _reached_bytes(case: Case) -> int:
    """Bytes of x [N, C, D, H, W] that its points surely reach: voxels, or blocks of memory along the last axis. All channels are read at the same places."""
    x, classes = operand(case, "x"), _taps(case)
    axes = _point_axes(case)
    if not all(math.isfinite(axis.low) and math.isfinite(axis.high) for axis in axes):
        return 0
    depth, rows, columns = (axis.voxels() for axis in axes)
    points = _points(case) // x.shape[0]
    voxels = least_reached((depth, rows, columns), points, x.shape[0], classes)
    blocks = least_reached((depth, rows, axes[2].blocks(BLOCK_BYTES * 8 // x.dtype.bits)), points, x.shape[0], classes)
    return x.shape[1] * max(x.dtype.bytes_of(voxels), BLOCK_BYTES * blocks)


def _point_axes(case: Case) -> tuple[PointAxis, PointAxis, PointAxis]:
    """Depth, rows and columns. -1 and 1 are the outermost centres, or the outer edges without align_corners."""
    grid, is_aligned = operand(case, "grid"), flag(case, "align_corners")
    largest = max(abs(grid.low), abs(grid.high), 2.0**-14)
    step = 2.0 ** (math.floor(math.log2(largest)) - _FRACTION_BITS[grid.dtype]) if math.isfinite(largest) else 0.0

    def axis(size: int) -> PointAxis:
        span = size - 1 if is_aligned else size
        low, high = ((end + 1) / 2 * span - (0.0 if is_aligned else 0.5) for end in (grid.low, grid.high))
        return PointAxis(size, low, high, 1.0 if _taps(case) == _TAPS else _NEAREST_REACH, step * span / 2)

    depth, rows, columns = (axis(size) for size in operand(case, "x").shape[2:])
    return depth, rows, columns


def _taps(case: Case) -> int:
    return _TAPS if text(case, "interpolation_mode") == "bilinear" else 1


def _points(case: Case) -> int:
    """Points of the grid [N, OD, OH, OW, 3]."""
    return operand(case, "grid").elements // 3


def _samples(case: Case) -> int:
    """Elements of y: every channel of x [N, C, D, H, W] at every point."""
    return _points(case) * operand(case, "x").shape[1]


def roi_align_convention(case: Case, edition: Edition) -> Work:
    """Published anchors, with s x s samples per bin (s = 2 where the case leaves it open): 8 lane instructions per sample and result.

    Edition 910b2 counts in float32, with 4 more per result and 10 per sample for positions, which all channels share; float16 adds a conversion of every
    element of x and y at the rate of float16. It reads all of x. Edition 950pr counts in the dtype of x, has neither positions nor conversions, and reads at
    most 4 pixels per sample.
    """
    x, results, samples = operand(case, "x"), _pooled(case), _samples_per_bin(case)
    seen = x.elements if edition == "910b2" else min(x.elements, 4 * samples * results)
    read = x.dtype.bytes_of(seen) + input_bytes(case, "boxes")
    return Work("published count", read, x.dtype.bytes_of(results), vector_lanes=_roi_align_lanes(case, edition))


def _roi_align_lanes(case: Case, edition: Edition) -> dict[DType, float]:
    """Lane instructions of the published anchors."""
    x, results, samples = operand(case, "x"), _pooled(case), _samples_per_bin(case)
    if edition == "950pr":
        return {x.dtype: float(8 * samples * results)}
    lanes = {DType.FLOAT32: results * (8 * samples + 4 + 10 * samples / x.shape[1])}
    return lanes if x.dtype is DType.FLOAT32 else lanes | {x.dtype: float(x.elements + results)}


def roi_align_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """The boxes are read and y written; one lane instruction per result, the weight of the only pixel that a bin surely needs.

    Bins that are smaller than a pixel, or regions that lie outside of the images, need no more whatever the number of samples: the samples of a cell are a
    weighted sum of its corners, which rows and columns share. Assumption: nothing about where regions lie.
    """
    dtype, results = operand(case, "x").dtype, _pooled(case)
    return tuple(
        Work(way.name, input_bytes(case, "boxes"), dtype.bytes_of(results), vector_lanes=way.lanes_for(float(results), float(results)))
        for way in arithmetics(dtype, chip)
    )


def _pooled(case: Case) -> int:
    """Elements of y: every channel of x in every bin of every region."""
    regions, channels = operand(case, "boxes").shape[0], operand(case, "x").shape[1]
    return regions * channels * int(number(case, "outputHeight")) * int(number(case, "outputWidth"))


def _samples_per_bin(case: Case) -> int:
    """s x s; the published anchors take 2 where the number of samples follows from the size of a region."""
    ratio = int(number(case, "sampling_ratio"))
    return ratio * ratio if ratio > 0 else 4


FORMULAS = {
    "grid_sampler_3d": Formula(frozenset({"interpolation_mode", "padding_mode", "align_corners"}), grid_sampler_3d_convention, grid_sampler_3d_silicon),
    "roi_align": Formula(frozenset({"outputHeight", "outputWidth", "spatial_scale", "sampling_ratio", "aligned"}), roi_align_convention, roi_align_silicon),
}
