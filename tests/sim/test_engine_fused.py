"""Two-step instructions (AddRelu, FusedMulAdd, MulAddDst, AddReluCast, MulCast and their kin) against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import (
    ADD_RELU,
    ADD_RELU_CAST,
    F16,
    F32,
    FUSED_MUL_ADD,
    I8,
    I16,
    MUL_ADD_DST,
    MUL_ADD_RELU,
    MUL_CAST,
    NUMPY,
    SIZE,
    SUB_RELU,
    SUB_RELU_CAST,
    U8,
    Rig,
    count,
    strided,
    ub,
)
from vector_run import A, Array, B, D, floats, run, same_bits


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def data(dtype: int, n: int, seed: int) -> Array:
    if dtype == I16:
        return np.random.default_rng(seed).integers(-32768, 32768, n).astype(np.int16)
    return floats(NUMPY[dtype], n, seed)


def relu(values: Array) -> Array:
    """NaN stays; -0 becomes +0."""
    return np.where(np.isnan(values), values, np.where(values > 0, values, np.zeros_like(values)))


def model(opcode: int, a: Array, b: Array, d: Array) -> Array:
    """Halves are computed in float and rounded once; int16 wraps around."""
    wide = [values.astype(np.float32) if values.dtype.kind == "f" else values.astype(np.int64) for values in (a, b, d)]
    x, y, z = wide
    with np.errstate(all="ignore"):
        if opcode in (ADD_RELU, SUB_RELU):
            result = x + y if opcode == ADD_RELU else x - y
            result = result if a.dtype.kind == "f" else result.astype(np.int16)
            return relu(result).astype(d.dtype)
        result = x * y + z if opcode == MUL_ADD_DST else x * z + y
        return (relu(result) if opcode == MUL_ADD_RELU else result).astype(d.dtype)


@pytest.mark.parametrize("dtype", [F16, F32, I16])
@pytest.mark.parametrize("opcode", [ADD_RELU, SUB_RELU])
@pytest.mark.parametrize("n", [1, 127, 500])
def test_a_sum_is_cut_at_zero(rig: Rig, opcode: int, dtype: int, n: int) -> None:
    a, b, d = (data(dtype, 512, seed) for seed in (1, 2, 3))
    got, report = run(rig, {A: a, B: b}, d, [count(opcode, (ub(D, dtype), ub(A, dtype), ub(B, dtype)), n)])
    assert report.diagnostics == []
    same_bits(got, np.concatenate([model(opcode, a, b, d)[:n], d[n:]]))


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("opcode", [FUSED_MUL_ADD, MUL_ADD_RELU, MUL_ADD_DST])
def test_the_destination_is_an_operand_too(rig: Rig, opcode: int, dtype: int) -> None:
    a, b, d = (data(dtype, 700, seed) for seed in (1, 2, 3))
    got, report = run(rig, {A: a, B: b}, d, [count(opcode, (ub(D, dtype), ub(A, dtype), ub(B, dtype)), 700)])
    assert report.diagnostics == []
    same_bits(got, model(opcode, a, b, d))


def test_halves_are_multiplied_exactly_into_a_float_destination(rig: Rig) -> None:
    a, b, d = data(F16, 320, 1), data(F16, 320, 2), data(F32, 320, 3)
    got, _ = run(rig, {A: a, B: b}, d, [count(MUL_ADD_DST, (ub(D), ub(A, F16), ub(B, F16)), 320)])
    same_bits(got, model(MUL_ADD_DST, a, b, d))


@pytest.mark.parametrize("dtype", [F16, F32])
def test_mask_and_strides_choose_the_elements(rig: Rig, dtype: int) -> None:
    lanes, per_block = 256 // SIZE[dtype], 32 // SIZE[dtype]
    a, b, d = (data(dtype, 4096, seed) for seed in (1, 2, 3))
    mask = (0x8001_0000_F0F0_0005, 0x11)
    operands = (ub(D, dtype, blk=2, rep=17), ub(A, dtype, rep=9), ub(B, dtype, blk=0, rep=1))
    got, report = run(rig, {A: a, B: b}, d, [strided(MUL_ADD_DST, operands, mask, 3)])
    assert report.diagnostics == []
    expected = d.copy()
    for repeat in range(3):
        for lane in range(lanes):
            if mask[lane // 64] >> (lane % 64) & 1:
                block, inside = divmod(lane, per_block)
                to = (repeat * 17 + block * 2) * per_block + inside
                x, y = (repeat * 9 + block) * per_block + inside, repeat * per_block + inside
                expected[to] = model(MUL_ADD_DST, a[x : x + 1], b[y : y + 1], d[to : to + 1])[0]
    same_bits(got, expected)


def cast_model(opcode: int, a: Array, b: Array, to: int) -> Array:
    """The intermediate in the sources' type, then to nearest even, saturating; a NaN becomes 0 in an integer."""
    with np.errstate(all="ignore"):
        if a.dtype == np.int16:
            total = (a.astype(np.int32) + (b if opcode == ADD_RELU_CAST else -b.astype(np.int32))).astype(np.int16)
            return np.clip(total, 0, 127).astype(np.int8)
        x, y = a.astype(np.float32), b.astype(np.float32)
        result = x * y if opcode == MUL_CAST else x + y if opcode == ADD_RELU_CAST else x - y
        result = result if opcode == MUL_CAST else relu(result)
        if to == F16:
            return result.astype(np.float16)
        rounded = np.rint(result.astype(np.float16).astype(np.float32))
        low, high = (0, 255) if to == U8 else (-128, 127)
        return np.where(np.isnan(rounded), 0, np.clip(rounded, low, high)).astype(NUMPY[to])


@pytest.mark.parametrize(
    ("opcode", "source", "to"),
    [
        *((opcode, source, to) for opcode in (ADD_RELU_CAST, SUB_RELU_CAST) for source, to in ((F16, I8), (I16, I8), (F32, F16))),
        (MUL_CAST, F16, I8),
        (MUL_CAST, F16, U8),
    ],
)
def test_a_cast_follows(rig: Rig, opcode: int, source: int, to: int) -> None:
    a, b = data(source, 384, 1), data(source, 384, 2)
    if source == I16:
        a, b = a // 200, b // 200
    d = np.full(400, 7, NUMPY[to])
    got, report = run(rig, {A: a, B: b}, d, [count(opcode, (ub(D, to), ub(A, source), ub(B, source)), 384)])
    assert report.diagnostics == []
    same_bits(got, np.concatenate([cast_model(opcode, a, b, to), d[384:]]))


def test_what_the_chip_lacks_is_refused(rig: Rig) -> None:
    _, report = run(rig, {A: data(I16, 64, 1), B: data(I16, 64, 1)}, np.zeros(64, np.int16), [count(FUSED_MUL_ADD, (ub(D, I16), ub(A, I16), ub(B, I16)), 64)])
    assert report.causes() == ["unsupported_api"]
    _, report = run(rig, {A: data(F32, 64, 1), B: data(F32, 64, 1)}, np.zeros(64, np.int8), [count(ADD_RELU_CAST, (ub(D, I8), ub(A), ub(B)), 64)])
    assert report.causes() == ["unsupported_api"]


def test_an_undefined_destination_makes_the_result_undefined(rig: Rig) -> None:
    a = data(F32, 64, 1)
    free = 160000
    steps = [count(MUL_ADD_DST, (ub(free), ub(A), ub(A)), 64), count(ADD_RELU, (ub(D), ub(free), ub(A)), 64)]
    _, report = run(rig, {A: a}, np.zeros(64, np.float32), steps)
    assert report.causes() == ["undefined_data"]
