"""Work formulas of operators that convert to and from floating formats of 8 and 4 bits: suite cann-lowbit without its matrix products.

Bytes: every element and scale is read once and written once; of 4-bit elements two share a byte.
Instructions for each element: a conversion between a format of 8 or 4 bits and a wide type is one instruction in that wide type (the conversion saturates, and
so a clamp costs nothing); scales are factors, whose reciprocals are taken once for each scale. What is done once for each scale is left out. Where float32 is
not asked for, calculations may stay in the 16-bit type: that is a bound, some of it takes float32 on the chip.
Only a chip that has these formats has choices. No anchors are published for these operators. How `silicon` is meant is said in `elementwise`.
"""

from __future__ import annotations

import math

from piton.anchors.choices import Demand, arithmetic_choices
from piton.anchors.formula import Formula
from piton.anchors.operands import flag, has_operand, input_bytes, number, operand, text
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Hardware

MX_BLOCK = 32
"""Elements that share a scale in an MX format."""
_FLOAT32_BYTES = 4
_TO_BLOCKS = 4
"""Instructions of a quantisation whose scales come from the data: And (or Abs), Max, Mul by the reciprocal scale, Cast."""
_GATE = 5
"""Instructions of SwiGLU for each result: Muls, Exp, Adds, Div, Mul."""


def fp8_dequant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Two instructions for each element, in the type of y: Cast and Mul by the scale."""
    return _dequantised(case, chip)


def mx_dequant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Two instructions for each element, in the type of y: Cast and Mul by the block's scale."""
    return _dequantised(case, chip)


def _dequantised(case: Case, chip: Hardware) -> tuple[Work, ...]:
    x, target = operand(case, "x"), DType(text(case, "dst_type"))
    return _choice(case, chip, target.bytes_of(x.elements), {target: 2.0 * x.elements})


def fp8_quant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Two instructions for each element, in the type of x: Mul by the reciprocal scale and Cast."""
    x = operand(case, "x")
    return _choice(case, chip, x.elements, {x.dtype: 2.0 * x.elements})


def dynamic_fp8_quant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Four instructions for each element, in the type of x: Abs, Max, Mul by the row's reciprocal scale, Cast; with smooth_scales a Mul by them before."""
    x = operand(case, "x")
    scales = _FLOAT32_BYTES * (x.elements // x.shape[-1])
    return _choice(case, chip, x.elements + scales, {x.dtype: float((_TO_BLOCKS + has_operand(case, "smooth_scales")) * x.elements)})


def mx_quant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Four instructions for each element, in the type of x: And for the exponent, Max, Mul by the reciprocal scale, Cast."""
    x = operand(case, "x")
    scales = x.elements // x.shape[-1] * math.ceil(x.shape[-1] / MX_BLOCK)
    return _choice(case, chip, _target(case).bytes_of(x.elements) + scales, {x.dtype: float(_TO_BLOCKS * x.elements)})


def dynamic_mx_quant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Four instructions for each element, in the type of x, as mx_quant; scales are written in pairs along the axis."""
    x, axis = operand(case, "x"), int(number(case, "axis"))
    length = x.shape[axis]
    scales = x.elements // length * _paired(math.ceil(length / int(number(case, "blocksize"))))
    return _choice(case, chip, _target(case).bytes_of(x.elements) + scales, {x.dtype: float(_TO_BLOCKS * x.elements)})


def swi_glu_mx_quant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Nine instructions for each result, in the type of x: Muls, Exp, Adds, Div and Mul of SwiGLU, then And, Max, Mul and Cast as mx_quant."""
    x = operand(case, "x")
    rows, length = x.elements // x.shape[-1], x.shape[-1] // 2
    scales = rows * _paired(math.ceil(length / MX_BLOCK))
    return _choice(case, chip, rows * length + scales, {x.dtype: float((_GATE + _TO_BLOCKS) * rows * length)})


def add_rms_norm_fp8_quant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Seven instructions for each element, in the type of x1: Add, MulAddDst into the sum of squares, Mul by gamma, Abs, Max, Mul by a factor of the row, Cast.

    The root is a factor of the row, which the quantisation takes out again.
    """
    x = operand(case, "x1")
    scales = _FLOAT32_BYTES * (x.elements // x.shape[-1])
    return _choice(case, chip, x.elements + x.nbytes + scales, {x.dtype: 7.0 * x.elements})


def quantization_network_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Soft, for each element: Muls and Exp, then for each step Adds to the one power, Div by it, Add; or all steps as one quotient of polynomials.

    exp(-t (b x - s)) = exp(-t b x) exp(t s), so that one Exp does for all steps. As one quotient every step takes an instruction in the dividend and one in the
    divisor (Adds, FusedMulAdd), and there are Div and Muls for all; high powers of large numbers overflow, but x may be known to be small. Hard: Muls, then
    Compare and Select for each halving of the steps.
    """
    x, steps = operand(case, "x"), operand(case, "thresholds").elements
    instructions = 1 + 2 * math.ceil(math.log2(steps + 1)) if flag(case, "is_hard") else min(2 + 3 * steps, 4 + 2 * steps)
    return arithmetic_choices(x.dtype, chip, Demand(input_bytes(case), x.nbytes, instructions * x.elements, 2 * x.elements))


def quantization_network_grad_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """For each element: Muls and Exp, three instructions that make grad_x and sum up grad_alpha and grad_beta, and six for each step.

    These six are a multiply-add of the one power, Div by it, its difference to its square, and three multiply-adds into slope, level and grad_thresholds.
    """
    x, steps = operand(case, "x"), operand(case, "thresholds").elements
    written = x.nbytes + _FLOAT32_BYTES * (steps + 2)
    return arithmetic_choices(x.dtype, chip, Demand(input_bytes(case), written, (5 + 6 * steps) * x.elements, 3 * x.elements))


def _target(case: Case) -> DType:
    return DType(text(case, "dst_type"))


def _paired(scales: int) -> int:
    """Bytes of scales that are laid out in pairs, an odd last one with a partner."""
    return 2 * math.ceil(scales / 2)


def _choice(case: Case, chip: Hardware, write_bytes: int, lanes: dict[DType, float]) -> tuple[Work, ...]:
    """The one choice, or none on a chip that lacks a type of the case."""
    if lacks_types(case, chip):
        return ()
    (dtype,) = lanes
    return (Work(f"{dtype.value} arithmetic", input_bytes(case), write_bytes, vector_lanes=lanes),)


def lacks_types(case: Case, chip: Hardware) -> bool:
    """True when the chip lacks an element type of an operand or of the result that `dst_type` names."""
    named = case.attributes.get("dst_type")
    wanted = {item.dtype for item in case.inputs} | ({DType(str(named))} if named else set())
    return bool(wanted & set(chip.absent_types))


FORMULAS = {
    "add_rms_norm_fp8_quant": Formula(frozenset({"epsilon", "dst_type"}), None, add_rms_norm_fp8_quant_silicon),
    "dynamic_fp8_quant": Formula(frozenset({"dst_type"}), None, dynamic_fp8_quant_silicon),
    "dynamic_mx_quant": Formula(frozenset({"axis", "round_mode", "dst_type", "blocksize", "scale_alg"}), None, dynamic_mx_quant_silicon),
    "fp8_dequant": Formula(frozenset({"dst_type"}), None, fp8_dequant_silicon),
    "fp8_quant": Formula(frozenset({"dst_type"}), None, fp8_quant_silicon),
    "mx_dequant": Formula(frozenset({"dst_type"}), None, mx_dequant_silicon),
    "mx_quant": Formula(frozenset({"dst_type"}), None, mx_quant_silicon),
    "quantization_network": Formula(frozenset({"alpha", "beta", "temperature", "is_hard"}), None, quantization_network_silicon),
    "quantization_network_grad": Formula(frozenset({"alpha", "beta", "temperature"}), None, quantization_network_grad_silicon),
    "swi_glu_mx_quant": Formula(frozenset({"activate_left", "dst_type", "scale_alg"}), None, swi_glu_mx_quant_silicon),
}
