"""Work formulas of operators that move elements and compute nothing, or nearly so: gather, scatter, strided_slice, transpose.

Bytes: `silicon` counts the elements that the result holds, each once, and all indices, or where it is more, the blocks of 32 bytes that they lie in: memory
hands over no less. Copies rearrange by themselves: no vector instruction is compulsory.
"""

from __future__ import annotations

import math

from piton.anchors.choices import Demand, arithmetic_choices
from piton.anchors.draws import Draws, contiguous_elements
from piton.anchors.formula import Formula
from piton.anchors.operands import input_bytes, number, operand, whole_numbers
from piton.anchors.slices import BLOCK_BYTES, SliceEntries, handed_over_bytes, positions
from piton.anchors.work import Work
from piton.core.case import Case, CaseInput
from piton.core.hardware import Edition, Hardware

_MOVED = "copies"
_OVERWRITES = (None, "update")
"""Values of `reduce` under which an update replaces an element instead of being combined with it."""


def gather_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: index read, as many elements written; of the source all of it (910b2), or at most as many elements as are picked (950pr)."""
    x, index = operand(case, "x"), operand(case, "index")
    picked = x.elements if edition == "910b2" else min(x.elements, index.elements)
    return Work("published count", x.dtype.bytes_of(picked) + index.nbytes, x.dtype.bytes_of(index.elements))


def gather_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """Indices are read whole, what they pick is read once however often it is picked, and written as often.

    Indices are drawn evenly from their value range, which fixes how many different elements they pick, up to chance. Memory hands over blocks of 32 bytes, and
    the blocks that are touched are the larger bound for most shapes.
    """
    x, index = operand(case, "x"), operand(case, "index")
    axis = int(number(case, "dim")) % len(x.shape)
    draws = Draws(index.elements // index.shape[axis], index.shape[axis], _places(index, x.shape[axis]))
    row = contiguous_elements(x.shape[axis + 1 :], index.shape[axis + 1 :])
    in_blocks = BLOCK_BYTES * draws.least_blocks(row, BLOCK_BYTES * 8 // x.dtype.bits, is_last=axis == len(x.shape) - 1)
    picked = max(x.dtype.bytes_of(draws.least_distinct()), in_blocks)
    return (Work(_MOVED, index.nbytes + picked, x.dtype.bytes_of(index.elements)),)


def _places(index: CaseInput, length: int) -> int:
    """How many positions of an axis the value range of index names."""
    low, high = max(0, math.ceil(index.low)), min(length - 1, math.floor(index.high))
    return max(1, high - low + 1)


def scatter_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: data, indices and updates read whole, data written once; no arithmetic, under a reduction neither."""
    return Work("published count", input_bytes(case), operand(case, "data").nbytes)


def scatter_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Indices are read whole, with one update for each; of data what is not overwritten, or all of it under a reduction. y is written once.

    Without a reduction no index occurs twice on a line, so that each takes an element of data away. Products take one Mul per update; stores can do sums,
    minima and maxima by themselves (atomic addition and the like).
    """
    data, indices = operand(case, "data"), operand(case, "indices")
    reduction = case.attributes["reduce"]
    kept, used = data.elements, indices.elements
    if reduction in _OVERWRITES:
        used = indices.elements // indices.shape[int(number(case, "dim"))] * _overwritten(case)
        kept -= used
    read = indices.nbytes + data.dtype.bytes_of(kept + used)
    if reduction != "multiply":
        return (Work(_MOVED, read, data.nbytes),)
    return arithmetic_choices(data.dtype, chip, Demand(read, data.nbytes, instructions=used, conversions=2 * used))


def _overwritten(case: Case) -> int:
    """Elements of one line of data that are replaced, at most."""
    axis = int(number(case, "dim"))
    return min(operand(case, "indices").shape[axis], operand(case, "data").shape[axis])


def transpose_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: every byte read once and written once; no arithmetic."""
    x = operand(case, "x")
    return Work("published count", x.nbytes, x.nbytes)


def transpose_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """Every element is read once and written once, in whatever order. Copies of single elements could do it, if slowly: no vector instruction is compulsory."""
    x = operand(case, "x")
    return (Work(_MOVED, x.nbytes, x.nbytes),)


def strided_slice_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: the elements of the slice are read and written; what lies between them is not counted."""
    x = operand(case, "x")
    taken = x.dtype.bytes_of(_elements(_positions(case)))
    return Work("published count", taken, taken)


def strided_slice_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """The elements of the slice are written, and read in blocks of 32 bytes, the least that memory hands over: what a step passes over in one comes along.

    See `handed_over_bytes`.
    """
    x, taken = operand(case, "x"), _positions(case)
    return (Work(_MOVED, handed_over_bytes(x.shape, taken, x.dtype.bytes_of(1)), x.dtype.bytes_of(_elements(taken))),)


def _positions(case: Case) -> tuple[range, ...]:
    begin, end, strides = (whole_numbers(case, name) for name in ("begin", "end", "strides"))
    masks = {name: _mask(case, f"{name}_mask") for name in ("begin", "end", "ellipsis", "shrink_axis", "new_axis")}
    return positions(operand(case, "x").shape, SliceEntries(begin, end, strides, masks))


def _mask(case: Case, name: str) -> int:
    """A mask's bits: none for one that has no value, since checkouts declare no defaults and leave them to the golden, whose are 0."""
    return 0 if case.attributes.get(name) is None else int(number(case, name))


def _elements(taken: tuple[range, ...]) -> int:
    return math.prod(len(kept) for kept in taken)


_MASKS = {"begin_mask", "end_mask", "ellipsis_mask", "shrink_axis_mask", "new_axis_mask"}

FORMULAS = {
    "gather": Formula(frozenset({"dim"}), gather_convention, gather_silicon),
    "scatter": Formula(frozenset({"dim", "reduce"}), scatter_convention, scatter_silicon),
    "strided_slice": Formula(frozenset({"begin", "end", "strides"} | _MASKS), strided_slice_convention, strided_slice_silicon),
    "transpose": Formula(frozenset({"perm"}), transpose_convention, transpose_silicon),
}
