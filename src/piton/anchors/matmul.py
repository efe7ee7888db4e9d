"""Work formulas of matrix products with quantised operands: quant_matmul and weight_quant_batch_matmul.

Bytes: each matrix and each scale is read once and each result written once; what is read again from L2 because of the tiles is counted by `tiles`.
Instructions: what the accumulators' way out does in passing (conversion to half, a factor for each column) and what the bias table adds costs nothing; the
rest is done by the vector cores in half. How `convention` and `silicon` are meant is said in `elementwise`.
"""

from __future__ import annotations

import math

from piton.anchors.cube_work import Rest, Stage, handed_to_cube, handed_to_vector, product_work, read_by_cube_bytes
from piton.anchors.formula import Formula
from piton.anchors.operands import has_operand, input_bytes, operand
from piton.anchors.tiles import Product
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_DEQUANTISES_TO = {"dav-2201": (DType.FLOAT16,)}
"""Types that int32 accumulators are scaled to on their way out, where not every 16-bit type is among them."""
_PIECES = 2
"""Pieces of 8 bits that a 16-bit activation is cut into for products with int8 weights."""


def quant_matmul_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: every operand read, a 16-bit result written, 2 b m n k int8 operations; scales and biases take no instructions."""
    product = _quant_product(case)
    return Work("published count", input_bytes(case), 2 * product.count * product.m * product.n, cube_flops={DType.INT8: product.flops})


def quant_matmul_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """int8 products with tiles searched for; scales of columns and an int32 bias come in passing, the rest takes vector instructions on every result.

    pertoken_scale and a floating bias are one fused multiply-add together; offset is an Add for itself before pertoken_scale, without it joins the bias; a
    bfloat16 result, where the accumulators can't be scaled to it on their way out, is at least one Cast.
    """
    product = _quant_product(case)
    results = product.count * product.m * product.n
    instructions = _epilogue(case, chip)
    rest = Rest(
        read_bytes=input_bytes(case),
        write_bytes=2 * results,
        vector_lanes={DType.FLOAT16: float(instructions * results)} if instructions else {},
        path=handed_to_vector(results if instructions else 0, chip),
        writes_from_cube=not instructions,
    )
    return (product_work("scaled by vector cores" if instructions else "scaled on the way out", [Stage("", (product,))], rest, chip),)


def _quant_product(case: Case) -> Product:
    """x1 [..., M, K] x x2 [..., K, N]; a batch axis that only one of them has multiplies rows or repeats a matrix."""
    x1, x2 = operand(case, "x1"), operand(case, "x2")
    (m, k), n = x1.shape[-2:], x2.shape[-1]
    left, right = math.prod(x1.shape[:-2]), math.prod(x2.shape[:-2])
    if right == 1:
        return Product(left * m, k, n, DType.INT8, left_gm_bytes=left * m * k, right_gm_bytes=k * n)
    count = max(left, right)
    return Product(m, k, n, DType.INT8, left_gm_bytes=left * m * k / count, right_gm_bytes=right * k * n / count, count=count)


def _epilogue(case: Case, chip: Hardware) -> int:
    """Vector instructions for each result."""
    has_offset, has_row_scale = has_operand(case, "offset"), has_operand(case, "pertoken_scale")
    has_bias = has_operand(case, "bias") and operand(case, "bias").dtype.is_floating
    if has_offset or has_row_scale or has_bias:
        return 2 if has_offset and has_row_scale else 1
    dtype = DType(str(case.attributes["output_dtype"] or "float16"))
    return 0 if dtype in _DEQUANTISES_TO.get(chip.arch, (dtype,)) else 1


def weight_quant_batch_matmul_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: every operand read, a 16-bit result written, 2 m k n operations in the type of x, 3 half lane instructions for each weight."""
    x, weight = operand(case, "x"), operand(case, "weight")
    (m, k), n = x.shape, weight.shape[1]
    return Work("published count", input_bytes(case), 2 * m * n, {x.dtype: 2.0 * m * k * n}, {DType.FLOAT16: 3.0 * k * n})


def weight_quant_batch_matmul_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Two ways: every weight converted to half by the vector cores (one Cast), or x cut into two int8 pieces, whose products with the weights are added.

    Scales of columns are applied on the way out, and offsets as one more row of the product (the sum of x times the offset). Of x in pieces every element takes
    Abs and Max (the scale of its row), MulCast, Sub and Cast, and every result one Axpy of the two sums.
    """
    return _converted_weights(case, chip), _cut_activations(case, chip)


def _converted_weights(case: Case, chip: Hardware) -> Work:
    x, weight = operand(case, "x"), operand(case, "weight")
    (m, k), n = x.shape, weight.shape[1]
    product = Product(m, k, n, x.dtype, left_gm_bytes=x.nbytes, right_gm_bytes=read_by_cube_bytes(k * n, chip))
    rest = Rest(input_bytes(case), 2 * m * n, {DType.FLOAT16: float(k * n)}, handed_to_cube(k * n, chip))
    return product_work("weights converted", [Stage("", (product,))], rest, chip)


def _cut_activations(case: Case, chip: Hardware) -> Work:
    x, weight = operand(case, "x"), operand(case, "weight")
    (m, k), n = x.shape, weight.shape[1]
    product = Product(_PIECES * m, k, n, DType.INT8, left_gm_bytes=read_by_cube_bytes(m * k, chip), right_gm_bytes=weight.nbytes)
    lanes = {DType.FLOAT16: 5.0 * m * k + m * n}
    path = handed_to_cube(m * k, chip) + handed_to_vector(_PIECES * m * n, chip)
    return product_work("x in two int8 pieces", [Stage("", (product,))], Rest(input_bytes(case), 2 * m * n, lanes, path, writes_from_cube=False), chip)


FORMULAS = {
    "quant_matmul": Formula(frozenset({"output_dtype"}), quant_matmul_convention, quant_matmul_silicon),
    "weight_quant_batch_matmul": Formula(frozenset(), weight_quant_batch_matmul_convention, weight_quant_batch_matmul_silicon),
}
