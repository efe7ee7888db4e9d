"""Work formulas of operators that slide a window over images channel by channel: dilation_2d and depthwise_conv_2d.

Bytes: rows and columns of x that lie under some window are read once, taps of the filter that come to lie on the image once, every result is written once.
Instructions: only taps that lie on the image count; what pads it needs no arithmetic. How `convention` and `silicon` are meant is said in `elementwise`.
"""

from __future__ import annotations

from dataclasses import dataclass

from piton.anchors.arithmetic import Arithmetic, arithmetics, cube_depth
from piton.anchors.cube_work import multiplied_as
from piton.anchors.formula import Formula
from piton.anchors.operands import flag, input_bytes, operand, text, whole_numbers
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware


@dataclass(frozen=True)
class _Slide:
    """How windows slide along one axis of an image."""

    results: int
    pairs: int
    """Results and taps that meet on the image."""
    read: int
    """Places of the image that lie under some tap."""
    taps: int
    """Taps that come to lie on the image."""


@dataclass(frozen=True)
class _Plane:
    """Both axes of a window operator, for all images and channels at once."""

    rows: _Slide
    columns: _Slide
    planes: int
    """Images times channels."""
    channels: int

    @property
    def results(self) -> int:
        """Elements of y."""
        return self.planes * self.rows.results * self.columns.results

    @property
    def pairs(self) -> int:
        """Elements of y times their taps on the image."""
        return self.planes * self.rows.pairs * self.columns.pairs

    @property
    def read(self) -> int:
        """Elements of x that lie under some window."""
        return self.planes * self.rows.read * self.columns.read

    @property
    def taps(self) -> int:
        """Elements of the filter that come to lie on an image."""
        return self.channels * self.rows.taps * self.columns.taps


def dilation_2d_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 2 KH KW - 1 lane instructions per element of y in the dtype of x: an Add per tap, a Max per tap but the first."""
    x, plane = operand(case, "x"), _dilation_plane(case)
    lanes = {x.dtype: float(plane.results * (2 * _kernel_taps(case) - 1))}
    return Work("published count", input_bytes(case), x.dtype.bytes_of(plane.results), vector_lanes=lanes)


def _kernel_taps(case: Case) -> int:
    """KH KW: the filter has them for every channel."""
    shape = operand(case, "filter").shape
    return shape[0] * shape[1] if text(case, "data_format") == "NHWC" else shape[1] * shape[2]


def dilation_2d_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known: an Add for every tap on the image, and a Max for each but the first of a result.

    Sums rounded to half and then compared are the rounded largest sum, and so half arithmetic loses nothing.
    """
    plane = _dilation_plane(case)
    instructions = float(max(2 * plane.pairs - plane.results, 0))
    return tuple(_plane_work(case, plane, way, instructions) for way in arithmetics(operand(case, "x").dtype, chip))


def _plane_work(case: Case, plane: _Plane, way: Arithmetic, instructions: float) -> Work:
    """Work on the vector unit; converted operands are x and y."""
    dtype = operand(case, "x").dtype
    read = dtype.bytes_of(plane.read) + dtype.bytes_of(plane.taps) + input_bytes(case, "bias")
    return Work(way.name, read, dtype.bytes_of(plane.results), vector_lanes=way.lanes_for(instructions, plane.read + plane.results))


def _dilation_plane(case: Case) -> _Plane:
    shape, filter_shape = operand(case, "x").shape, operand(case, "filter").shape
    is_last = text(case, "data_format") == "NHWC"
    size, taps = (shape[1:3], filter_shape[:2]) if is_last else (shape[2:], filter_shape[1:])
    channels = shape[3] if is_last else shape[1]
    rows, columns = (_dilation_slide(case, a, size[a], taps[a]) for a in (0, 1))
    return _Plane(rows, columns, shape[0] * channels, channels)


def _dilation_slide(case: Case, axis: int, size: int, taps: int) -> _Slide:
    """Axis 0 are rows, 1 columns. SAME pads what the strides need, less of it before; VALID by `pads`, and with ceil_mode its last window may reach out."""
    stride, rate = (whole_numbers(case, name)[1 + axis] for name in ("strides", "rates"))
    reach = (taps - 1) * rate + 1
    if text(case, "padding_mode") == "SAME":
        results = -(-size // stride)
        return _slide(size, results, taps, (stride, rate, max((results - 1) * stride + reach - size, 0) // 2))
    before, after = whole_numbers(case, "pads")[2 * axis : 2 * axis + 2]
    free = size + before + after - reach
    results = (-(-free // stride) if flag(case, "ceil_mode") else free // stride) + 1
    return _slide(size, results, taps, (stride, rate, before))


def _slide(size: int, results: int, taps: int, steps: tuple[int, int, int]) -> _Slide:
    """`steps` is stride, distance of the taps, padding before the axis."""
    stride, rate, before = steps
    met = [(place, tap) for place in range(results) for tap in range(taps) if 0 <= place * stride + tap * rate - before < size]
    seen = {place * stride + tap * rate for place, tap in met}
    return _Slide(results, len(met), len(seen), len({tap for _, tap in met}))


def depthwise_conv_2d_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: 2 KH KW + 1 lane instructions per element of y: a product and a sum per tap, and the bias.

    In the dtype of x, but for bfloat16 in float32 on edition 910b2.
    """
    x, plane = operand(case, "x"), _depthwise_plane(case)
    rows, columns = whole_numbers(case, "kernelSize")
    lanes = DType.FLOAT32 if x.dtype is DType.BFLOAT16 and edition == "910b2" else x.dtype
    work = float(plane.results * (2 * rows * columns + 1))
    return Work("published count", input_bytes(case), x.dtype.bytes_of(plane.results), vector_lanes={lanes: work})


def depthwise_conv_2d_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known: one multiply-add for every tap on the image (the first one with the bias as summand), or matrix products on the cube.

    On the cube a row of y is the sum of products of rows of x with banded matrices that hold the taps: the contraction is at least as long as the taps of a
    result, and at least 32 bytes. The cube adds the bias and rounds in passing; the matrices and what goes through the buffers of the cube are left out.
    """
    dtype, plane = operand(case, "x").dtype, _depthwise_plane(case)
    on_vector = tuple(_plane_work(case, plane, way, float(plane.pairs)) for way in arithmetics(dtype, chip))
    flops = float(2 * max(plane.pairs, cube_depth(dtype) * plane.results))
    read, write = on_vector[0].read_bytes, on_vector[0].write_bytes
    return (*on_vector, *(Work(_on_cube(name), read, write, cube_flops={as_type: flops}) for name, as_type in multiplied_as(dtype, chip)))


def _on_cube(multiplied: str) -> str:
    return f"{multiplied or 'products'} with banded matrices"


def _depthwise_plane(case: Case) -> _Plane:
    """y has floor((size + 2 padding - dilation (taps - 1) - 1) / stride) + 1 rows and columns."""
    shape = operand(case, "x").shape
    rows, columns = (_depthwise_slide(case, axis, shape[2 + axis]) for axis in (0, 1))
    return _Plane(rows, columns, shape[0] * shape[1], shape[1])


def _depthwise_slide(case: Case, axis: int, size: int) -> _Slide:
    taps, stride, padding, rate = (whole_numbers(case, name)[axis] for name in ("kernelSize", "stride", "padding", "dilation"))
    results = (size + 2 * padding - rate * (taps - 1) - 1) // stride + 1
    return _slide(size, results, taps, (stride, rate, padding))


FORMULAS = {
    "depthwise_conv_2d": Formula(frozenset({"kernelSize", "stride", "padding", "dilation", "groups"}), depthwise_conv_2d_convention, depthwise_conv_2d_silicon),
    "dilation_2d": Formula(frozenset({"strides", "rates", "padding_mode", "pads", "ceil_mode", "data_format"}), dilation_2d_convention, dilation_2d_silicon),
}
