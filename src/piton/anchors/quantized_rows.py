"""Work formulas of operators that quantise their rows to int8 by the largest magnitude: add_rms_norm_dynamic_quant and dequant_swiglu_quant.

Bytes: every operand that the case has is read once, int8 rows and their float32 scales are written once. That asks for rows that stay on the chip until their
largest magnitude is known.
Instructions: a factor that a whole row has in common changes the scale of the row and not its int8 values, and so it costs nothing per element; what is done
once per row or once per column is left out of `silicon`. On dav-2201 int8 comes from half: the shortest code is in half as early as it can be. How `convention`
and `silicon` are meant is said in `elementwise`.
"""

from __future__ import annotations

from piton.anchors.arithmetic import arithmetics
from piton.anchors.formula import Formula
from piton.anchors.operands import has_operand, input_bytes, operand
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_QUANTISE = 3
"""Half instructions per element: Abs, Max into the largest magnitude, MulCast by 127 / largest to int8."""


def add_rms_norm_dynamic_quant_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 14 float32 lane instructions per element and 8 per row; written are y, xOut and a float32 scale per row."""
    x = operand(case, "x1")
    rows = x.elements // x.shape[-1]
    lanes = {DType.FLOAT32: float(14 * x.elements + 8 * rows)}
    return Work("published count", input_bytes(case), x.nbytes + x.elements + 4 * rows, vector_lanes=lanes)


def add_rms_norm_dynamic_quant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known, per element: Add, MulAddDst of the sum with itself, Mul by gamma, Abs, Max and MulCast to int8 (the root is a factor of the row).

    In the type of x where the chip calculates in it, else: two Cast, Add, Cast of xOut and Cast to half in float32, the rest in half.
    """
    x = operand(case, "x1")
    rows = x.elements // x.shape[-1]
    choices = {way.name: {way.lanes: float((3 + _QUANTISE) * x.elements)} for way in arithmetics(x.dtype, chip) if not way.is_converted}
    choices["float32 sum, half quantisation"] = {DType.FLOAT32: 5.0 * x.elements, DType.FLOAT16: (2.0 + _QUANTISE) * x.elements}
    write = x.nbytes + x.elements + 4 * rows
    return tuple(Work(choice, input_bytes(case), write, vector_lanes=lanes) for choice, lanes in choices.items())


def dequant_swiglu_quant_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors, float32 lane instructions per element of x [M, 2H]: 9 for int32; 8 for the 16-bit types, 8.5 with quant_scale."""
    x = operand(case, "x")
    floating = 8.5 if has_operand(case, "quant_scale") else 8.0
    lanes = {DType.FLOAT32: x.elements * (9.0 if x.dtype is DType.INT32 else floating)}
    return Work("published count", input_bytes(case), _quantised_bytes(case), vector_lanes=lanes)


def dequant_swiglu_quant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known, per element of y, in half: sign of the gate, Exp, Adds, Div, Mul by the other half of x, Abs, Max, MulCast; 1 more for quant_scale.

    int32 is converted to half with the row's scale in passing (CastDeq); the columns' scales are a Mul for the gate, which also turns its sign, and one for
    the other half, which has quant_scale in it. bfloat16 goes through float32 where the chip doesn't calculate in it: two conversions for each element of x.
    """
    x, results = operand(case, "x"), operand(case, "x").elements // 2
    scaled = 9 if x.dtype is DType.INT32 else 8 + has_operand(case, "quant_scale")
    choices = {way.name: {way.lanes: float(scaled * results)} for way in arithmetics(x.dtype, chip) if not way.is_converted and x.dtype.is_floating}
    if not choices:
        per_element = 1 if x.dtype is DType.INT32 else 2
        choices = {"half arithmetic": {DType.FLOAT32: float(per_element * x.elements), DType.FLOAT16: float(scaled * results)}}
    return tuple(Work(choice, input_bytes(case), _quantised_bytes(case), vector_lanes=lanes) for choice, lanes in choices.items())


def _quantised_bytes(case: Case) -> int:
    """y [M, H] int8 and a float32 scale per row, of x [M, 2H]."""
    x = operand(case, "x")
    return x.elements // 2 + 4 * (x.elements // x.shape[-1])


FORMULAS = {
    "add_rms_norm_dynamic_quant": Formula(frozenset({"epsilon"}), add_rms_norm_dynamic_quant_convention, add_rms_norm_dynamic_quant_silicon),
    "dequant_swiglu_quant": Formula(frozenset({"activate_left"}), dequant_swiglu_quant_convention, dequant_swiglu_quant_silicon),
}
