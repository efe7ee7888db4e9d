"""Records around the cube unit, as the headers make them, and programs of them: two matrices in, their product out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from engine_rig import BF16, F16, F32, FIX, GM, I8, I32, MTE1, MTE2, SIZE, M, Operand, Record, Rig, flag, gm, l1, nd2nz, record

L0A, L0B, L0C, BT = 4, 5, 6, 7
MMAD, LOAD_DATA, LOAD_DATA_TRANSPOSE, FIXPIPE = 160, 195, 196, 197
ZERO, BIAS, K_ALIGN = 0x10, 0x20, 0x40
ROWS, RELU, SPLIT = 0x10, 0x20, 0x40
NO_QUANT, TO_F16, TO_BF16, DEQ_F16, TO_B8, REQ_B8 = 0, 1, 2, 3, 5, 7
FRACTAL, UNIT = 512, 32
UNBOUNDED = 0xFFFFFFFF


def up(value: int, unit: int) -> int:
    """`value` in units, rounded up."""
    return -(-value // unit)


def local(space: int, addr: int, dtype: int, limit: int = UNBOUNDED) -> Operand:
    """An operand in one of the cube's memories."""
    return Operand(addr, limit, 1, 8, space, dtype)


def load_data(to: Operand, source: Operand, repeats: int, step: int, gap: int = 0, *, fractal_gap: int | None = None, line: int = 0) -> Record:
    """LoadData, with a `fractal_gap` (in fractals) the transposing one; `step` and `gap` in fractals as in the calls' 2-byte form."""
    transposed = 0 if fractal_gap is None else (fractal_gap + 1) * FRACTAL
    made = record(LOAD_DATA if fractal_gap is None else LOAD_DATA_TRANSPOSE, MTE1, line=line, p=(repeats, step * FRACTAL, (gap + 1) * FRACTAL, transposed))
    made.dst, made.src0 = to, source
    return made


def mmad(shape: tuple[int, int, int], dtype: int, *, mode: int = ZERO, at: tuple[int, int, int] = (0, 0, 0), bias: int = 0, line: int = 0) -> Record:
    """Mmad of (m, n, k); `at` bytes in L0C, L0A, L0B."""
    made = record(MMAD, M, line=line, p=(*shape, mode))
    made.dst = local(L0C, at[0], I32 if dtype == I8 else F32)
    made.src0, made.src1 = local(L0A, at[1], dtype), local(L0B, at[2], dtype)
    made.mask[0], made.mask[1] = bias, UNBOUNDED
    return made


def fixpipe(
    to: Operand,
    shape: tuple[int, int],
    step: int,
    *,
    mode: int = ROWS,
    quant: int = NO_QUANT,
    source: int = F32,
    at: int = 0,
    strip: int = 0,
    scalar: int = 0,
    matrices: tuple[int, int, int] = (1, 0, 0),
    line: int = 0,
) -> Record:
    """Fixpipe of (m, n); `step` bytes in global memory, `strip` bytes in L0C (0: dense), `matrices` number and bytes between them in L0C and global memory."""
    rows = up(shape[0], 16) * 16
    made = record(FIXPIPE, FIX, line=line, p=(*shape, strip or rows * 64, step), scalar=scalar)
    made.dst, made.src0 = to, local(L0C, at, source)
    made.mask[0] = matrices[0] | matrices[1] << 32
    made.mask[1] = matrices[2] | (mode | quant << 8) << 32
    return made


def to_l1(source: Operand, shape: tuple[int, int], at: int, size: int) -> tuple[Record, int]:
    """Nd2Nz of a matrix with rows of `size`-byte elements, padded to whole fractals of 16 rows; the bytes it takes in L1."""
    rows, columns = shape
    units = up(columns * size, UNIT)
    column = up(rows, 16) * FRACTAL
    return nd2nz(l1(at, source.dtype), source, (1, rows, columns * size), columns * size, (column, UNIT)), units * column


def left(at: int, shape: tuple[int, int], dtype: int) -> list[Record]:
    """m x k of L1 (columns of fractals) to L0A (rows of fractals)."""
    m1, k1 = up(shape[0], 16), up(shape[1] * SIZE[dtype], UNIT)
    return [load_data(local(L0A, row * k1 * FRACTAL, dtype), l1(at + row * FRACTAL, dtype), k1, m1) for row in range(m1)]


def right(at: int, shape: tuple[int, int], dtype: int) -> list[Record]:
    """k x n of 2-byte elements to L0B: every fractal transposed."""
    k1, n1 = up(shape[0], 16), up(shape[1], 16)
    return [load_data(local(L0B, deep * n1 * FRACTAL, dtype), l1(at + deep * FRACTAL, dtype), n1, k1, fractal_gap=0) for deep in range(k1)]


def right_transposed(at: int, shape: tuple[int, int], dtype: int) -> list[Record]:
    """n x k to L0B: fractals are in order and stay as they are."""
    n1, k1 = up(shape[0], 16), up(shape[1] * SIZE[dtype], UNIT)
    return [load_data(local(L0B, 0, dtype), l1(at, dtype), n1 * k1, 1)]


def operands(rig: Rig, a: npt.NDArray[Any], b: npt.NDArray[Any], dtype: int, *, is_transposed: bool) -> list[Record]:
    """Both matrices into L0A and L0B, with the flags between the pipes; b is n x k when transposed."""
    size = SIZE[dtype]
    shape_a, shape_b = (a.shape[0], a.shape[1]), (b.shape[0], b.shape[1])
    first, behind = to_l1(gm(rig.upload(a), dtype), shape_a, 0, size)
    second, _ = to_l1(gm(rig.upload(b), dtype), shape_b, behind, size)
    loads = [*left(0, shape_a, dtype), *(right_transposed if is_transposed else right)(behind, shape_b, dtype)]
    return [first, second, *flag(MTE2, MTE1), *loads, *flag(MTE1, M)]


def narrowed(values: npt.NDArray[Any], dtype: int) -> npt.NDArray[Any]:
    """Whole numbers as elements of a dtype (bfloat16 as its bits)."""
    if dtype == BF16:
        return np.asarray(values.astype(np.float32).view(np.uint32) >> 16, np.uint16)
    return np.asarray(values.astype({F16: np.float16, F32: np.float32, I8: np.int8}[dtype]))


def is_global(operand: Operand) -> bool:
    """Whether an operand lies in global memory."""
    return bool(operand.space == GM)
