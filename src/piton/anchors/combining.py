"""Work formulas of elementwise operators of several tensors: sums with quotients, masks, maxima, divisors, an optimiser's step, rotations.

Bytes: every element of every tensor is read once in its own shape (what is broadcast is read once and repeated on the chip), every result is written once. NaN
has to propagate, and so a factor of 0 makes no read superfluous. Both kinds of counts are explained in `elementwise`, choices of arithmetic in `choices`.
"""

from __future__ import annotations

import math

from piton.anchors.choices import Demand, arithmetic_choices, exact_ways
from piton.anchors.formula import Formula
from piton.anchors.operands import input_bytes, number, operand, operands
from piton.anchors.work import Work
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_GOLDEN_RATIO = (1 + math.sqrt(5)) / 2
"""Euclid's algorithm takes longest for neighbouring Fibonacci numbers, which grow by this factor."""


def foreach_addcdiv_scalar_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 6 float32 lane instructions per element of a list, whatever the dtype.

    No published case is limited by it: the count is not pinned down.
    """
    results = sum(item.elements for item in operands(case, "x1"))
    return Work("published count", input_bytes(case), input_bytes(case, "x1"), vector_lanes={DType.FLOAT32: 6.0 * results})


def foreach_addcdiv_scalar_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Three lists are read, one is written. Shortest known: 2 instructions per element, Div and Axpy (the quotient times the number onto x1)."""
    results = sum(item.elements for item in operands(case, "x1"))
    demand = Demand(input_bytes(case), input_bytes(case, "x1"), instructions=2 * results, conversions=4 * results)
    return arithmetic_choices(case.inputs[0].dtype, chip, demand)


def masked_scale_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 5 float32 lane instructions per element, whatever the dtypes of x and mask.

    No published case is limited by it: the count is not pinned down.
    """
    x = operand(case, "x")
    return Work("published count", input_bytes(case), x.nbytes, vector_lanes={DType.FLOAT32: 5.0 * x.elements})


def masked_scale_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """x and mask are read, each in its own type. Shortest known: Mul, and Muls when scale != 1.

    A mask is converted where the arithmetic is of another type. From bytes to float32 dav-2201 converts twice, by way of half: counted as one.
    """
    x, mask = operand(case, "x"), operand(case, "mask")
    products = 1 + (number(case, "scale") != 1)
    return tuple(
        Work(way.name, x.nbytes + mask.nbytes, x.nbytes, vector_lanes={way.lanes: float(x.elements * (products + _conversions(x, mask, way.lanes)))})
        for way in exact_ways(x.dtype, chip)
    )


def _conversions(x: CaseInput, mask: CaseInput, lanes: DType) -> int:
    """Conversions per element: x on its way in and out, mask on its way in, where their types are others than that of the arithmetic."""
    return 2 * (lanes is not x.dtype) + (lanes is not mask.dtype)


def maximum_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: one lane instruction per element of the result, in float32 for bfloat16 and else in the dtype itself.

    No published case is limited by it: the count is not pinned down.
    """
    dtype = case.inputs[0].dtype
    lanes = DType.FLOAT32 if dtype is DType.BFLOAT16 else dtype
    results = _broadcast_elements(case)
    return Work("published count", input_bytes(case), dtype.bytes_of(results), vector_lanes={lanes: float(results)})


def maximum_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Each side is read once in its own shape, the broadcast shape is written. One Max per element of the result."""
    dtype, results = case.inputs[0].dtype, _broadcast_elements(case)
    sides = sum(item.elements for item in case.inputs)
    return arithmetic_choices(dtype, chip, Demand(input_bytes(case), dtype.bytes_of(results), instructions=results, conversions=sides + results))


def gcd_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: 5 lane instructions per step of Euclid's algorithm and element, with the most steps that numbers of the case's value range can need.

    The most steps for numbers up to m are the logarithm of m to the base of the golden ratio, rounded up. Edition 950pr leaves the vector unit out: reason
    unknown.
    """
    dtype, results = case.inputs[0].dtype, _broadcast_elements(case)
    lanes = {dtype: 5.0 * results * _most_steps(case)} if edition == "910b2" else {}
    return Work("published count", input_bytes(case), dtype.bytes_of(results), vector_lanes=lanes)


def _most_steps(case: Case) -> int:
    """Steps of Euclid's algorithm for the largest magnitude of the value ranges, taken as 1.7 at least: 2 steps."""
    largest = max(abs(end) for item in case.inputs for end in (item.low, item.high))
    return math.ceil(math.log(max(largest, 1.7)) / math.log(_GOLDEN_RATIO))


def gcd_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Each side is read once in its own shape, the broadcast shape is written. One instruction per element of the result: Sub, Min or Max of the two sides.

    Where both sides agree no step of Euclid's algorithm is needed, and how many other elements need depends on the data; so this is far below what a kernel
    takes for numbers that differ.
    """
    dtype, results = case.inputs[0].dtype, _broadcast_elements(case)
    return arithmetic_choices(dtype, chip, Demand(input_bytes(case), dtype.bytes_of(results), instructions=results, conversions=0))


def apply_adam_w_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: four tensors read, three written (var, m and v are updated in place there), 18 float32 lane instructions per element.

    No published case is limited by it: the count is not pinned down.
    """
    var = operand(case, "var")
    return Work("published count", input_bytes(case), 3 * var.nbytes, vector_lanes={DType.FLOAT32: 18.0 * var.elements})


def apply_adam_w_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Four tensors are read and one is written: the operator returns the parameters and leaves the moments. Shortest known: 7 instructions, 8 with decay.

    Constants fold on the host until the step is var * d + K * (m + r grad) / (sqrt(v + s grad^2) + e): Mul, Axpy, Sqrt, Adds for the divisor, Axpy for the
    dividend, Div, Axpy onto var; and Muls by d = 1 - lr * weight_decay where that is not 1.
    """
    var = operand(case, "var")
    decays = number(case, "lr") * number(case, "weight_decay") != 0
    demand = Demand(input_bytes(case), var.nbytes, instructions=(7 + decays) * var.elements, conversions=5 * var.elements)
    return arithmetic_choices(var.dtype, chip, demand)


def apply_rotary_pos_emb_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 4 float32 lane instructions per element of query and key, whatever the dtype.

    No published case is limited by it: the count is not pinned down.
    """
    query = operand(case, "query")
    return Work("published count", input_bytes(case), 2 * query.nbytes, vector_lanes={DType.FLOAT32: 8.0 * query.elements})


def apply_rotary_pos_emb_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """query and key are read and written, cos and sin read once for all heads and for both. Shortest known: 3 instructions per pair of elements.

    A rotation is three shears, each a product added onto one of the pair (MulAddDst): by the tangent of half the angle, the sine, and the tangent again. The
    tangents follow from cos and sin once per position, for all heads: not counted. Bringing interleaved pairs apart is not counted either.
    """
    query = operand(case, "query")
    elements = 2 * query.elements
    demand = Demand(input_bytes(case), 2 * query.nbytes, instructions=3 * (elements / 2), conversions=2 * elements)
    return arithmetic_choices(query.dtype, chip, demand)


def _broadcast_elements(case: Case) -> int:
    """Elements of the broadcast shape of all inputs."""
    rank = max(len(item.shape) for item in case.inputs)
    aligned = [(1,) * (rank - len(item.shape)) + item.shape for item in case.inputs]
    return math.prod(0 if 0 in sizes else max(sizes) for sizes in zip(*aligned, strict=True))


FORMULAS = {
    "apply_adam_w": Formula(frozenset({"lr", "beta1", "beta2", "weight_decay", "epsilon", "step", "maximize"}), apply_adam_w_convention, apply_adam_w_silicon),
    "apply_rotary_pos_emb": Formula(frozenset({"layout", "rotaryMode"}), apply_rotary_pos_emb_convention, apply_rotary_pos_emb_silicon),
    "foreach_addcdiv_scalar": Formula(frozenset({"scalar"}), foreach_addcdiv_scalar_convention, foreach_addcdiv_scalar_silicon),
    "gcd": Formula(frozenset(), gcd_convention, gcd_silicon),
    "masked_scale": Formula(frozenset({"scale"}), masked_scale_convention, masked_scale_silicon),
    "maximum": Formula(frozenset(), maximum_convention, maximum_silicon),
}
