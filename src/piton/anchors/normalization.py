"""Work formulas of operators that bring lines of a tensor to a common scale: softmax, rms_norm, group_norm, dynamic_quant.

Bytes: every element of x is read once and every result written once, parameters are read once. That asks for lines that stay on the chip between the statistic
and the results, in the cores' own memories or in L2; `silicon` reads twice what the chip can't hold of a longer line.
Instructions per element: see each formula. What is done once per line (a root, a division) is left out of `silicon` and counted where the published anchors
count it. Both kinds of counts are explained in `elementwise`, the choices of arithmetic in `choices`.
"""

from __future__ import annotations

import math

from piton.anchors.choices import Demand, arithmetic_choices, has_bfloat16
from piton.anchors.formula import Formula
from piton.anchors.on_chip import read_again_bytes
from piton.anchors.operands import input_bytes, number, operand
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware


def softmax_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 7 float32 lane instructions per element, 9 for the 16-bit types."""
    return _published(case, 9 if _is_16_bit(case) else 7)


def softmax_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known: Exp, Add into the running sum, Mul by the sum's reciprocal: 3 instructions.

    That form overflows for large x; the one that doesn't finds the maximum and subtracts it, two instructions more (one on dav-3510, which has an exponential
    of a difference), and x may be known to be small.
    """
    return _streaming(case, chip, case.inputs[0].shape[int(number(case, "dim"))], 3)


def rms_norm_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 3 float32 lane instructions per element, 5 for the 16-bit types, and 4 per row."""
    return _published(case, (5 if _is_16_bit(case) else 3) + 4 / case.inputs[0].shape[-1])


def rms_norm_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known: MulAddDst of x with itself into the running sum, Mul by the row's factor, Mul by gamma: 3 instructions."""
    return _streaming(case, chip, case.inputs[0].shape[-1], 3)


def group_norm_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 7 float32 lane instructions per element, 9 for the 16-bit types; gamma and beta read once."""
    return _published(case, 9 if _is_16_bit(case) else 7)


def group_norm_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """x, gamma and beta are read, y is written. Shortest known: 3 instructions per element.

    Add into the running sum, MulAddDst of x with itself into the sum of squares, and FusedMulAdd with a factor and a summand of the channel, which hold mean,
    root, gamma and beta. (It loses digits where the mean is large; keeping them takes a subtraction more.)
    """
    x = case.inputs[0]
    line = x.elements // (x.shape[0] * int(number(case, "num_groups")))
    return _streaming(case, chip, line, 3)


def dynamic_quant_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 9 float32 lane instructions per element and 4 per row; int8 results and a float32 scale per row written."""
    x = operand(case, "x")
    written = x.elements + 4 * _rows(case)
    return Work("published count", x.nbytes, written, vector_lanes={DType.FLOAT32: 9.0 * x.elements + 4.0 * _rows(case)})


def dynamic_quant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """x is read, a byte per element and a float32 scale per row are written. Shortest known: 3 instructions per element, Abs, Max, and MulCast to int8.

    dav-2201 has no Abs and Max for bfloat16, but on magnitudes they agree with those of 16-bit integers (And, Max); then two conversions to half, by way of
    float32, for MulCast.
    """
    x = operand(case, "x")
    again = read_again_bytes(chip, x.dtype.bytes_of(x.shape[-1]), _rows(case))
    demand = Demand(x.nbytes + again, x.elements + 4 * _rows(case), instructions=3 * x.elements, conversions=2 * x.elements)
    if x.dtype is DType.BFLOAT16 and not has_bfloat16(chip):
        lanes = {DType.INT16: 2.0 * x.elements, DType.FLOAT32: 2.0 * x.elements, DType.FLOAT16: 1.0 * x.elements}
        return (Work("magnitudes as integers, quotients in half", demand.read_bytes, demand.write_bytes, vector_lanes=lanes),)
    return arithmetic_choices(x.dtype, chip, demand)


def _rows(case: Case) -> int:
    """Lines along the last axis of x."""
    return math.prod(operand(case, "x").shape[:-1])


def _is_16_bit(case: Case) -> bool:
    return case.inputs[0].dtype.bits == 16


def _published(case: Case, per_element: float) -> Work:
    """Read every input once, write y (as large as x) once, `per_element` float32 lane instructions."""
    x = case.inputs[0]
    return Work("published count", input_bytes(case), x.nbytes, vector_lanes={DType.FLOAT32: x.elements * per_element})


def _streaming(case: Case, chip: Hardware, line: int, per_element: int) -> tuple[Work, ...]:
    """As `_published`, with the arithmetic that the chip has, and what it can't hold of a line of `line` elements read again."""
    x = case.inputs[0]
    again = read_again_bytes(chip, x.dtype.bytes_of(line), x.elements // line)
    demand = Demand(input_bytes(case) + again, x.nbytes, instructions=per_element * x.elements, conversions=2 * x.elements)
    return arithmetic_choices(x.dtype, chip, demand)


FORMULAS = {
    "dynamic_quant": Formula(frozenset(), dynamic_quant_convention, dynamic_quant_silicon),
    "group_norm": Formula(frozenset({"num_groups", "epsilon"}), group_norm_convention, group_norm_silicon),
    "rms_norm": Formula(frozenset({"epsilon"}), rms_norm_convention, rms_norm_silicon),
    "softmax": Formula(frozenset({"dim"}), softmax_convention, softmax_silicon),
}
