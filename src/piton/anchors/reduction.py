"""Work formulas of operators that put many elements into few, or into running results: norms, indices of maxima, losses, running minima, sums by segment.

Bytes: every element that the result depends on is read once. Instructions per element are those of getting it into a running result; bringing the lanes' and
cores' partial results together is not counted. Both kinds of counts are explained in `elementwise`, the choices of arithmetic in `choices`.
"""

from __future__ import annotations

import math

from piton.anchors.choices import Demand, arithmetic_choices, exact_ways
from piton.anchors.formula import Formula
from piton.anchors.operands import input_bytes, number, operand, operands, text
from piton.anchors.slices import BLOCK_BYTES
from piton.anchors.work import Work
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_CHEAP_ORDERS = (0, 1, 2, -1, math.inf, -math.inf)
"""Orders of a norm that the published count takes for simple."""
_LOGARITHMS = 5
"""Instructions of a power of any order: Abs, Ln, Muls, Exp, and Add into the running sum."""
_MOST_IGNORED = 0.3
"""Largest share of ignored positions in the data of the suite's cross_entropy_loss (its golden draws a share for every seed)."""
_MOST_NANS = 2 * 1024
"""NaN in a tensor whose range has them: up to 1024 at its head and at its tail (rules of the data sets)."""
_INDEX_BYTES = 8
"""Indices are int64."""


def foreach_norm_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 3 float32 lane instructions per element for orders 0, 1, 2, -1 and the infinite ones, 7 for others, one more in 16-bit types.

    4 bytes are written per tensor, whatever the dtype.
    """
    x = operands(case, "x")
    per_element = (3 if number(case, "scalar") in _CHEAP_ORDERS else 7) + (x[0].dtype.bits == 16)
    return Work("published count", input_bytes(case), 4 * len(x), vector_lanes={DType.FLOAT32: float(per_element * _elements(x))})


def foreach_norm_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """All tensors are read, one element each is written. Shortest known code by order: 1 instruction for 0 and 2, 2 for 1 and the infinite ones, at most 5.

    See `_power_instructions`. Roots of the sums are done once per tensor and not counted.
    """
    x = operands(case, "x")
    demand = Demand(input_bytes(case), x[0].dtype.bytes_of(len(x)), _power_instructions(number(case, "scalar")) * _elements(x), conversions=_elements(x))
    return arithmetic_choices(x[0].dtype, chip, demand)


def _power_instructions(order: float) -> int:
    """Fewest instructions known that add abs(x)^order to a running sum.

    0           Compare with 0; counting the bits of its mask is a sixteenth of the work or less
    infinite    Abs and Max or Min
    whole       ceil(log2 order) products, the last of them added to the sum (MulAddDst), and Abs for an odd one; for order 1 Abs and Add
    k/2, k/4    one or two Sqrt after the Abs, and Add or MulAddDst
    negative    a Reciprocal more
    others      by way of logarithms: 5
    """
    if order == 0:
        return 1
    if math.isinf(order):
        return 2
    size = abs(order)
    if size == int(size):
        by_products = max(1, math.ceil(math.log2(size))) + int(size) % 2
    else:
        by_products = 3 if 2 * size == int(2 * size) else 4 if 4 * size == int(4 * size) else _LOGARITHMS
    return min(_LOGARITHMS, by_products + (order < 0))


def _elements(tensors: tuple[CaseInput, ...]) -> int:
    return sum(item.elements for item in tensors)


def arg_max_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 2 lane instructions per element, in float32 for bfloat16 and else in the dtype itself; writing the indices is free.

    No published case is limited by it: the count is not pinned down.
    """
    x = operand(case, "input")
    lanes = DType.FLOAT32 if x.dtype is DType.BFLOAT16 else x.dtype
    return Work("published count", x.nbytes, 0, vector_lanes={lanes: 2.0 * x.elements})


def arg_max_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Every element is read, an int64 index per line written. Shortest known: one Max per element into the largest values of blocks.

    Only the block that wins is searched for the place. A NaN ends the search of its line, nothing exceeds it. An axis of length 1 needs neither data nor
    arithmetic: all indices are 0.
    """
    x = operand(case, "input")
    length = x.shape[int(number(case, "dim"))]
    indices = x.elements // length
    if length == 1:
        return (Work("zeros", 0, _INDEX_BYTES * indices),)
    ended = min(indices, _MOST_NANS) if math.isnan(x.low) or math.isnan(x.high) else 0
    seen = x.elements - ended * (length - 1)
    return arithmetic_choices(x.dtype, chip, Demand(x.dtype.bytes_of(seen), _INDEX_BYTES * indices, instructions=seen, conversions=seen))


def cross_entropy_loss_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 5 float32 lane instructions per score and 6 per position, one more per score with axes behind the classes, one more in 16-bit types.

    The losses that are written are not counted.
    """
    x = operand(case, "input")
    per_score = 5 + (len(x.shape) > 2) + (x.dtype.bits == 16) + 6 / x.shape[1]
    return Work("published count", input_bytes(case), 0, vector_lanes={DType.FLOAT32: x.elements * per_score})


def cross_entropy_loss_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Targets are read whole, and the scores of all positions that count. Shortest known: Exp, Add per score; for probabilities 2 more.

    Scores may be known to be small, and then no largest one has to be found and subtracted. With classes as targets the scores of ignored positions decide
    nothing: they need no arithmetic, and no reading where whole blocks belong to them. Probabilities weight the scores (MulAddDst) and are added up themselves.
    """
    scores, target = operand(case, "input"), operand(case, "target")
    classes = scores.shape[1]
    positions = scores.elements // classes
    computed = read = positions
    if not target.dtype.is_floating:
        together = min(BLOCK_BYTES * 8 // scores.dtype.bits, math.prod(scores.shape[2:]))
        computed, read = _least_counted(positions, 1), _least_counted(positions, together)
    demand = Demand(
        read_bytes=target.nbytes + scores.dtype.bytes_of(classes * read),
        write_bytes=scores.dtype.bytes_of(positions if text(case, "reduction") == "none" else 1),
        instructions=(2 + 2 * target.dtype.is_floating) * classes * computed,
        conversions=(1 + target.dtype.is_floating) * classes * computed,
    )
    return arithmetic_choices(scores.dtype, chip, demand)


def _least_counted(positions: int, together: int) -> int:
    """Positions that count, at least, when those that lie `together` in a block only fall away when all of them are ignored.

    Ignoring is one draw per position, of a chance of 30 % at most; 2 sqrt(n) more by chance is 4 standard deviations.
    """
    return max(0, math.floor(positions * (1 - _MOST_IGNORED**together) - 2 * math.sqrt(positions)))


def cummin_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: ceil(log2 N) lane instructions per element for lines of N, in float32 for bfloat16 and else in the dtype itself.

    That is a scan in doubling steps. The indices that are written are not counted.
    """
    x = operand(case, "input")
    lanes = DType.FLOAT32 if x.dtype is DType.BFLOAT16 else x.dtype
    steps = math.ceil(math.log2(x.shape[int(number(case, "dim"))]))
    return Work("published count", x.nbytes, x.nbytes, vector_lanes={lanes: float(steps * x.elements)})


def cummin_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Every element is read; a value and an int64 index are written for each. Shortest known: line after line side by side in the lanes, 4 instructions.

    Min with the running minimum and Compare with it in the arithmetic of the values, Select of the place (32-bit lanes), and the place's conversion to int64.
    An axis of length 1 needs none of them.
    """
    x = operand(case, "input")
    moved = (x.nbytes, x.nbytes + _INDEX_BYTES * x.elements)
    if x.shape[int(number(case, "dim"))] == 1:
        return (Work("copy", *moved),)
    return tuple(Work(way.name, *moved, vector_lanes=_scan_lanes(x, way.lanes)) for way in exact_ways(x.dtype, chip))


def _scan_lanes(x: CaseInput, lanes: DType) -> dict[DType, float]:
    """Lane instructions of a running minimum with its places: see `cummin_silicon`. Values convert on their way in and out where their type is another."""
    per_value = 2 + 2 * (lanes is not x.dtype)
    places = {DType.INT32: 1.0 * x.elements, DType.INT64: 1.0 * x.elements}
    return {**places, lanes: places.get(lanes, 0.0) + per_value * x.elements}


def unsorted_segment_sum_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: one lane instruction per element of data in its own dtype; every segment written once.

    No published case is limited by it: the count is not pinned down.
    """
    data = operand(case, "data")
    return Work("published count", input_bytes(case), data.dtype.bytes_of(_segment_elements(case)), vector_lanes={data.dtype: float(data.elements)})


def unsorted_segment_sum_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """data and segment_ids are read. Either one Add per element that is not the first of its segment, and every segment written once; or no Add at all.

    Stores can add to global memory (atomic addition), which no vector instruction takes part in: every row is then stored, and zeros where a segment has none.
    At most as many rows as there are segments are the first of one. 64-bit integers have no atomic addition.
    """
    data = operand(case, "data")
    row, rows, segments = data.elements // data.shape[0], data.shape[0], int(number(case, "num_segments"))
    written = data.dtype.bytes_of(segments * row)
    added = row * max(0, rows - segments)
    demand = Demand(input_bytes(case), written, instructions=added, conversions=added)
    stored = Work("atomic additions of the stores", input_bytes(case), data.dtype.bytes_of(max(rows, segments) * row))
    sums = arithmetic_choices(data.dtype, chip, demand)
    return sums if data.dtype.bits == 64 else (*sums, stored)


def _segment_elements(case: Case) -> int:
    """Elements of the result: one row per segment, of the axes of data that segment_ids has not."""
    behind = operand(case, "data").shape[len(operand(case, "segment_ids").shape) :]
    return int(number(case, "num_segments")) * math.prod(behind)


FORMULAS = {
    "arg_max": Formula(frozenset({"dim", "keepdim"}), arg_max_convention, arg_max_silicon),
    "cross_entropy_loss": Formula(frozenset({"reduction", "ignore_index"}), cross_entropy_loss_convention, cross_entropy_loss_silicon),
    "cummin": Formula(frozenset({"dim"}), cummin_convention, cummin_silicon),
    "foreach_norm": Formula(frozenset({"scalar"}), foreach_norm_convention, foreach_norm_silicon),
    "unsorted_segment_sum": Formula(frozenset({"num_segments"}), unsorted_segment_sum_convention, unsorted_segment_sum_silicon),
}
