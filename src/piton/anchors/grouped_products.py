"""Work formulas of products of groups of rows, each with a matrix of its own: grouped_matmul and grouped_matmul_swiglu_quant.

Bytes: rows of x that belong to a group are read once; of the weights, biases and scales those of groups that have rows. `group_list` is an attribute here, so
the sizes of the groups are known.
Products: all groups share the chip at the same time, with one tile shape. How `convention` and `silicon` are meant is said in `elementwise`.
"""

from __future__ import annotations

from collections import Counter

from piton.anchors.cube_work import Rest, Stage, handed_to_vector, multiplied_as, product_work
from piton.anchors.formula import Formula
from piton.anchors.operands import flag, has_operand, operand, whole_numbers
from piton.anchors.tiles import Product
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_GATE_AND_QUANTISE = 8
"""Half instructions for each result of SwiGLU: Muls by the row's scale, Exp, Adds, Div, Mul by the other half, Abs, Max, MulCast."""


def grouped_matmul_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: x, weights and biases read, 2 m k n operations. Edition 910b2 reads the matrices of all groups, 950pr those of groups with rows."""
    x, weight = operand(case, "x"), operand(case, "weight")
    (m, k), n = x.shape, _columns(case)
    groups = len(_filled(case)) if edition == "950pr" else weight.shape[0]
    bias = groups * operand(case, "bias").dtype.bytes_of(n) if has_operand(case, "bias") else 0
    read = x.nbytes + groups * weight.dtype.bytes_of(k * n) + bias
    return Work("published count", read, x.dtype.bytes_of(m * n), cube_flops={x.dtype: 2.0 * m * k * n})


def grouped_matmul_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Products of the groups that have rows, with one tile shape for all; biases come in passing through the bias table."""
    x, weight = operand(case, "x"), operand(case, "weight")
    k, n, sizes = x.shape[1], _columns(case), _filled(case)
    bias = len(sizes) * operand(case, "bias").dtype.bytes_of(n) if has_operand(case, "bias") else 0
    read = x.dtype.bytes_of(sum(sizes) * k) + len(sizes) * weight.dtype.bytes_of(k * n) + bias
    rest = Rest(read, x.dtype.bytes_of(sum(sizes) * n))
    ways = multiplied_as(x.dtype, chip)
    return tuple(product_work(name, [Stage("", _products(sizes, (k, n), multiply, x.dtype))], rest, chip) for name, multiply in ways)


def grouped_matmul_swiglu_quant_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: 2 m k n int8 operations and 5 float32 lane instructions for each of the m n products.

    int8 results and a float32 scale per row are written. Edition 910b2 reads matrices and scales of all groups, 950pr those of groups with rows.
    """
    (m, k), (all_groups, _, n) = operand(case, "x").shape, operand(case, "weight").shape
    groups = len(_filled(case)) if edition == "950pr" else all_groups
    read = m * k + groups * (k * n + 4 * n) + 4 * m
    return Work("published count", read, m * n // 2 + 4 * m, {DType.INT8: 2.0 * m * k * n}, {DType.FLOAT32: 5.0 * m * n})


def grouped_matmul_swiglu_quant_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """int8 products, scaled column by column on their way out; then for each result, in half: Muls, Exp, Adds, Div, Mul, Abs, Max, MulCast.

    The row's scale of the half that isn't gated is a factor of the whole row, and so changes y_scale only. Rows behind the last group are written, not read.
    """
    m, (k, n), sizes = operand(case, "x").shape[0], operand(case, "weight").shape[1:], _filled(case)
    rows = sum(sizes)
    read = rows * k + 4 * rows + len(sizes) * (k * n + 4 * n)
    lanes = {DType.FLOAT16: _GATE_AND_QUANTISE * rows * n / 2}
    rest = Rest(read, m * n // 2 + 4 * m, lanes, handed_to_vector(rows * n, chip), writes_from_cube=False)
    return (product_work("", [Stage("", _products(sizes, (k, n), DType.INT8, DType.INT8))], rest, chip),)


def _columns(case: Case) -> int:
    """Columns of the results: weight is [E, K, N], or [E, N, K] with transpose_weight."""
    return operand(case, "weight").shape[1 if flag(case, "transpose_weight") else 2]


def _filled(case: Case) -> tuple[int, ...]:
    """Rows of each group that has any; `group_list` says where groups end."""
    ends = whole_numbers(case, "group_list")
    return tuple(end - start for start, end in zip((0, *ends), ends, strict=False) if end > start)


def _products(sizes: tuple[int, ...], matrix: tuple[int, int], multiply: DType, stored: DType) -> tuple[Product, ...]:
    k, n = matrix
    return tuple(
        Product(rows, k, n, multiply, left_gm_bytes=stored.bytes_of(rows * k), right_gm_bytes=stored.bytes_of(k * n), count=count)
        for rows, count in sorted(Counter(sizes).items())
    )


FORMULAS = {
    "grouped_matmul": Formula(frozenset({"group_list", "split_item", "transpose_weight"}), grouped_matmul_convention, grouped_matmul_silicon),
    "grouped_matmul_swiglu_quant": Formula(frozenset({"group_list"}), grouped_matmul_swiglu_quant_convention, grouped_matmul_swiglu_quant_silicon),
}
