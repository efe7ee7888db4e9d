"""Work formulas of convolutions that are matrix products at their core: conv_2d and conv_3d_backprop_filter.

Products: one multiply-add for each result, input channel and tap; `silicon` leaves out taps that lie in the padding, where they meet zeros. Transformed
convolutions that multiply less (Winograd, Fourier, Strassen) are not considered, neither by the published anchors nor here.
Bytes: pixels and taps that take part are read once: the cube's load unit unfolds windows on the way from L1, not in global memory.
How `convention` and `silicon` are meant is said in `elementwise`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from piton.anchors.cube_work import Rest, Stage, multiplied_as, product_work
from piton.anchors.formula import Formula
from piton.anchors.operands import input_bytes, number, operand, whole_numbers
from piton.anchors.tiles import Product
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.hardware import Edition, Hardware


@dataclass(frozen=True)
class Axis:
    """What one axis of a convolution does: windows of `taps` taps over `size` positions."""

    size: int
    taps: int
    stride: int
    before: int
    after: int
    dilation: int

    @property
    def results(self) -> int:
        """Positions of the window."""
        return (self.size + self.before + self.after - self.dilation * (self.taps - 1) - 1) // self.stride + 1

    def seen(self) -> tuple[frozenset[int], int, int]:
        """Positions of the input that a tap falls on, taps that fall on any, and pairs of result and tap that do; the others lie in the padding."""
        places = [[result * self.stride + tap * self.dilation - self.before for result in range(self.results)] for tap in range(self.taps)]
        inside = [[place for place in row if 0 <= place < self.size] for row in places]
        return frozenset(place for row in inside for place in row), sum(bool(row) for row in inside), sum(map(len, inside))


@dataclass(frozen=True)
class Windows:
    """What all axes together do."""

    results: int
    pixels: int
    """Positions of the input, in one channel, that take part."""
    taps: int
    """Taps that take part."""
    pairs: int
    """Pairs of result and tap that do not lie in the padding."""

    @property
    def share(self) -> float:
        """Part of the pairs of results and taps that take part which isn't padding."""
        return self.pairs / (self.results * self.taps) if self.results * self.taps else 0.0


def windows(axes: tuple[Axis, ...]) -> Windows:
    """Axes are independent: counts multiply."""
    seen = [axis.seen() for axis in axes]
    return Windows(
        math.prod(axis.results for axis in axes),
        math.prod(len(places) for places, _taps, _pairs in seen),
        math.prod(taps for _places, taps, _pairs in seen),
        math.prod(pairs for _places, _taps, pairs in seen),
    )


def conv_2d_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: x, filter and bias read, y written, 2 operations for each result, input channel and tap, those in the padding included."""
    x, kernel = operand(case, "x"), operand(case, "filter")
    results = math.prod(axis.results for axis in _axes_2d(case))
    flops = 2.0 * x.shape[0] * kernel.shape[0] * results * math.prod(kernel.shape[1:])
    return Work("published count", input_bytes(case), x.dtype.bytes_of(x.shape[0] * kernel.shape[0] * results), cube_flops={x.dtype: flops})


def conv_2d_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """A product of windows and filters, with either as the rows; taps in the padding are left out, pixels that no window sees aren't read."""
    x, kernel = operand(case, "x"), operand(case, "filter")
    (images, channels), filters, seen = x.shape[:2], kernel.shape[0], windows(_axes_2d(case))
    pixel_bytes, filter_bytes = (x.dtype.bytes_of(count * channels) for count in (images * seen.pixels, filters * seen.taps))
    rest = Rest(pixel_bytes + filter_bytes + operand(case, "bias").nbytes, x.dtype.bytes_of(images * filters * seen.results))
    product = Product(images * seen.results, channels * seen.taps, filters, x.dtype, pixel_bytes, filter_bytes, share=seen.share)
    return _either_way(product, ("windows", "filters"), rest, chip)


def _axes_2d(case: Case) -> tuple[Axis, ...]:
    """Rows and columns; pads are top, bottom, left, right."""
    x, kernel, pads = operand(case, "x"), operand(case, "filter"), whole_numbers(case, "pads")
    steps, gaps = whole_numbers(case, "strides"), whole_numbers(case, "dilations")
    return tuple(Axis(x.shape[2 + a], kernel.shape[2 + a], steps[a], pads[2 * a], pads[2 * a + 1], gaps[a]) for a in (0, 1))


def conv_3d_backprop_filter_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: x and grad read, the filter's gradient written, 2 operations for each element of grad, channel of the group and tap."""
    x, grad, shape = operand(case, "x"), operand(case, "grad"), whole_numbers(case, "filter_size")
    flops = 2.0 * grad.elements * math.prod(shape[1:])
    return Work("published count", input_bytes(case), x.dtype.bytes_of(math.prod(shape)), cube_flops={x.dtype: flops})


def conv_3d_backprop_filter_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """For each group a product of grad and windows over all output positions, with either as the rows; pairs in the padding are left out."""
    x, grad, shape = operand(case, "x"), operand(case, "grad"), whole_numbers(case, "filter_size")
    groups, steps, pads, gaps = int(number(case, "groups")), *(whole_numbers(case, name) for name in ("strides", "pads", "dilations"))
    seen = windows(tuple(Axis(x.shape[2 + a], shape[2 + a], steps[a], pads[2 * a], pads[2 * a + 1], gaps[a]) for a in range(3)))
    x_bytes = x.dtype.bytes_of(x.shape[0] * x.shape[1] * seen.pixels)
    rest = Rest(x_bytes + grad.nbytes, x.dtype.bytes_of(math.prod(shape)))
    places = grad.elements // shape[0]
    product = Product(shape[0] // groups, places, shape[1] * seen.taps, x.dtype, grad.nbytes / groups, x_bytes / groups, count=groups, share=seen.share)
    return _either_way(product, ("grad", "windows"), rest, chip)


def _either_way(product: Product, names: tuple[str, str], rest: Rest, chip: Hardware) -> tuple[Work, ...]:
    """Works of a product and of the same with its operands exchanged; operands are in the type that `product` multiplies."""
    swapped = replace(product, m=product.n, n=product.m, left_gm_bytes=product.right_gm_bytes, right_gm_bytes=product.left_gm_bytes)
    found: list[Work] = []
    for kind, multiply in multiplied_as(product.multiply, chip):
        for name, way in zip(names, (product, swapped), strict=True):
            label = ", ".join(part for part in (kind, f"{name} as rows") if part)
            found.append(product_work(label, [Stage("", (replace(way, multiply=multiply),))], rest, chip))
    return tuple(found)


FORMULAS = {
    "conv_2d": Formula(frozenset({"strides", "pads", "dilations"}), conv_2d_convention, conv_2d_silicon),
    "conv_3d_backprop_filter": Formula(
        frozenset({"strides", "pads", "dilations", "groups", "filter_size"}), conv_3d_backprop_filter_convention, conv_3d_backprop_filter_silicon
    ),
}
