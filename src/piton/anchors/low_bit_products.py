"""Work formulas of matrix products of operands in floating formats of 8 and 4 bits: fp8_quant_matmul and mx_quant_matmul of suite cann-lowbit.

Products: the cube takes both operands as they are; where one has 8 and the other 4 bits, the latter is converted by the vector cores first. Factors of columns
and biases come in passing, a factor for each row takes one Mul for each result. Only a chip that has these formats has choices. No anchors are published. How
`silicon` is meant is said in `elementwise`.
"""

from __future__ import annotations

import math

from piton.anchors.cube_work import Rest, Stage, handed_to_vector, product_work
from piton.anchors.formula import Formula
from piton.anchors.low_bit import lacks_types
from piton.anchors.operands import has_operand, input_bytes, operand, text
from piton.anchors.tiles import Product
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Hardware


def fp8_quant_matmul_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """A product with tiles searched for; scale and bias in passing, pertoken_scale one Mul for each result on the vector cores."""
    if lacks_types(case, chip):
        return ()
    x1, x2 = operand(case, "x1"), operand(case, "x2")
    count = math.prod(x2.shape[:-2])
    k, n = x2.shape[-2:]
    rows = x1.elements // k
    product = Product(rows // count, k, n, x1.dtype, x1.nbytes / count, x2.nbytes / count, count)
    target, is_scaled = DType(text(case, "output_dtype")), has_operand(case, "pertoken_scale")
    rest = Rest(
        read_bytes=input_bytes(case),
        write_bytes=target.bytes_of(rows * n),
        vector_lanes={target: float(rows * n)} if is_scaled else {},
        path=handed_to_vector(rows * n if is_scaled else 0, chip),
        writes_from_cube=not is_scaled,
    )
    return (product_work("scaled by vector cores" if is_scaled else "scaled on the way out", [Stage("", (product,))], rest, chip),)


def mx_quant_matmul_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """A product of blocks with their scales, tiles searched for; a 4-bit operand beside an 8-bit one is converted first, one Cast for each element."""
    if lacks_types(case, chip):
        return ()
    x1, x2 = operand(case, "x1"), operand(case, "x2")
    n, k = x2.shape
    rows = x1.elements // k
    multiply = max((x1.dtype, x2.dtype), key=lambda dtype: dtype.bits)
    converted = sum(item.elements for item in (x1, x2) if item.dtype.bits < multiply.bits)
    target = DType(text(case, "output_dtype"))
    lanes = {DType.BFLOAT16: float(converted)} if converted else {}
    product = Product(rows, k, n, multiply, float(x1.nbytes), float(x2.nbytes))
    name = "4-bit operand converted" if converted else ""
    return (product_work(name, [Stage("", (product,))], Rest(input_bytes(case), target.bytes_of(rows * n), lanes), chip),)


FORMULAS = {
    "fp8_quant_matmul": Formula(frozenset({"output_dtype"}), None, fp8_quant_matmul_silicon),
    "mx_quant_matmul": Formula(frozenset({"output_dtype"}), None, mx_quant_matmul_silicon),
}
