"""Vector instructions: bits equal to NumPy models, elements chosen by counts, masks and strides."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from engine_rig import (
    ABS,
    ADD,
    ADDS,
    AND,
    AXPY,
    COPY,
    DIV,
    DUPLICATE,
    EXP,
    F16,
    F32,
    FULL,
    I16,
    I32,
    LEAKY_RELU,
    LN,
    MAX,
    MAXS,
    MIN,
    MINS,
    MTE2,
    MTE3,
    MUL,
    MULS,
    NOT,
    NUMPY,
    OR,
    RECIPROCAL,
    RELU,
    RSQRT,
    SET_MASK,
    SET_MASK_MODE,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    SIZE,
    SQRT,
    SUB,
    U16,
    U32,
    Record,
    Report,
    Rig,
    V,
    count,
    flag,
    gm,
    pad,
    record,
    strided,
    ub,
)

Array = npt.NDArray[Any]
A, B, D = 0, 65536, 131072
UNKNOWN = 180


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def run(rig: Rig, a: Array, b: Array, dst: Array, middle: list[Record]) -> tuple[Array, Report]:
    """`middle` on V over a at A, b at B and dst at D; returns what D holds then."""
    rig.reset()
    out = rig.allocate(dst.nbytes)
    moves = [pad(ub(at), gm(rig.upload(data)), data.nbytes) for at, data in ((A, a), (B, b), (D, dst)) if data.nbytes]
    program = [*moves, *flag(MTE2, V), *middle, *flag(V, MTE3), pad(gm(out), ub(D), dst.nbytes)]
    report = rig.launch(program)
    return rig.download(out, dst.size, dst.dtype), report


def values(dtype: int, n: int, seed: int = 1) -> Array:
    """Ordinary values with every special one among them."""
    rng = np.random.default_rng(seed)
    if dtype not in (F16, F32):
        info = np.iinfo(NUMPY[dtype])
        data = rng.integers(info.min, info.max, n, endpoint=True, dtype=NUMPY[dtype])
        data[:3] = [info.min, info.max, 0]
        return data
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 65504.0, 6e-8, -6e-8, 6.1e-5, 1e-3]
    special += [1e-45, -1e-45, 3.4e38, -3.4e38, 1.1754942e-38] if dtype == F32 else []
    with np.errstate(over="ignore"):
        data = (rng.standard_normal(n) * np.exp2(rng.integers(-14, 14, n))).astype(NUMPY[dtype])
    data[: len(special)] = special[:n]
    return data


def same_bits(got: Array, expected: Array) -> None:
    """Equal bits; any NaN for a NaN."""
    unsigned = f"u{got.itemsize}"
    both_nan = np.isnan(got) & np.isnan(expected) if got.dtype.kind == "f" else np.zeros(got.shape, bool)
    wrong = np.flatnonzero((got.view(unsigned) != expected.view(unsigned)) & ~both_nan)
    assert wrong.size == 0, f"element {wrong[0]}: got {got[wrong[0]]!r}, expected {expected[wrong[0]]!r}"


def maximum(a: Array, b: Array) -> Array:
    """NaN if either is, +0 above -0."""
    both_zero = (a == 0) & (b == 0)
    return np.where(both_zero, a + b, np.maximum(a, b)).astype(a.dtype)


def minimum(a: Array, b: Array) -> Array:
    """NaN if either is, -0 below +0."""
    return -maximum(-a, -b) if a.dtype.kind == "f" else np.minimum(a, b)


def once(function: Any) -> Any:
    """Computed in float32 and rounded once, which is what half arithmetic is."""

    def rounded(*operands: Array) -> Array:
        with np.errstate(all="ignore"):
            return function(*(one.astype(np.float32) for one in operands)).astype(operands[0].dtype)

    return rounded


FLOAT_BINARY = {ADD: np.add, SUB: np.subtract, MUL: np.multiply, DIV: np.divide, MAX: maximum, MIN: minimum}


@pytest.mark.parametrize("dtype", [F32, F16])
@pytest.mark.parametrize("opcode", FLOAT_BINARY)
def test_float_arithmetic_has_the_bits_of_numpy(rig: Rig, opcode: int, dtype: int) -> None:
    a, b = values(dtype, 1031), np.roll(values(dtype, 1031, 2), 5)
    got, report = run(rig, a, b, np.zeros_like(a), [count(opcode, (ub(D, dtype), ub(A, dtype), ub(B, dtype)), a.size)])
    assert report.diagnostics == []
    same_bits(got, once(FLOAT_BINARY[opcode])(a, b))


@pytest.mark.parametrize("dtype", [F32, F16])
@pytest.mark.parametrize(
    ("opcode", "model"),
    [(SQRT, np.sqrt), (RECIPROCAL, lambda a: np.float32(1) / a), (ABS, np.abs), (RELU, lambda a: np.where(np.isnan(a), a, np.where(a > 0, a, np.float32(0))))],
)
def test_exact_unary_functions_have_the_bits_of_numpy(rig: Rig, opcode: int, model: Any, dtype: int) -> None:
    a = values(dtype, 517)
    got, report = run(rig, a, a[:0], np.zeros_like(a), [count(opcode, (ub(D, dtype), ub(A, dtype)), a.size)])
    assert report.diagnostics == []
    same_bits(got, once(model)(a))


@pytest.mark.parametrize("dtype", [F32, F16])
@pytest.mark.parametrize(("opcode", "model"), [(EXP, np.exp), (LN, np.log), (RSQRT, lambda a: 1 / np.sqrt(a))])
def test_elementary_functions_are_rounded_right_within_one_ulp(rig: Rig, opcode: int, model: Any, dtype: int) -> None:
    rng = np.random.default_rng(7)
    a = np.concatenate([values(dtype, 64), rng.uniform(-104, 90, 6000).astype(NUMPY[dtype]), rng.uniform(0, 2, 2000).astype(NUMPY[dtype])])
    got, _ = run(rig, a, a[:0], np.zeros_like(a), [count(opcode, (ub(D, dtype), ub(A, dtype)), a.size)])
    with np.errstate(all="ignore"):
        expected = model(a.astype(np.float64)).astype(np.float32).astype(a.dtype)
    same_special = np.isfinite(expected)
    np.testing.assert_array_equal(got[~same_special], expected[~same_special])
    signed = f"i{a.itemsize}"
    distance = np.abs(got[same_special].view(signed).astype(np.int64) - expected[same_special].view(signed).astype(np.int64))
    assert distance.max() <= 1
    assert (distance > 0).mean() < 1e-3


def test_elementary_functions_give_these_bits_on_every_host(rig: Rig) -> None:
    a = np.linspace(-100, 88, 8192).astype(np.float32)
    digest = hashlib.sha256()
    for opcode in (EXP, LN, RSQRT):
        got, _ = run(rig, np.abs(a) if opcode != EXP else a, a[:0], np.zeros_like(a), [count(opcode, (ub(D), ub(A)), a.size)])
        digest.update(got.tobytes())
    assert digest.hexdigest()[:16] == "08bb3f6338ea5b84"


SCALAR_MODELS = {ADDS: np.add, MULS: np.multiply, MAXS: maximum, MINS: minimum, LEAKY_RELU: lambda a, b: np.where(a > 0, a, a * b)}


@pytest.mark.parametrize("dtype", [F32, F16])
@pytest.mark.parametrize("opcode", SCALAR_MODELS)
def test_scalar_operand_is_read_in_the_dtype_of_the_tensor(rig: Rig, opcode: int, dtype: int) -> None:
    a, scalar = values(dtype, 129), np.full(129, 0.3, NUMPY[dtype])
    bits = int(scalar.view(f"u{SIZE[dtype]}")[0])
    got, _ = run(rig, a, a[:0], np.zeros_like(a), [count(opcode, (ub(D, dtype), ub(A, dtype)), a.size, scalar=bits)])
    same_bits(got, once(SCALAR_MODELS[opcode])(a, scalar))


def test_axpy_rounds_the_product_before_the_sum(rig: Rig) -> None:
    a, d = values(F32, 100), values(F32, 100, 3)
    with np.errstate(all="ignore"):
        expected = d + a * np.float32(0.7)
    got, report = run(rig, a, a[:0], d, [count(AXPY, (ub(D), ub(A)), a.size, scalar=int(np.float32(0.7).view(np.uint32)))])
    same_bits(got, expected)
    assert report.diagnostics == []


@pytest.mark.parametrize("n", [1, 64, 515])
def test_axpy_adds_half_into_float(rig: Rig, n: int) -> None:
    a, d = values(F16, n), values(F32, n, 3)
    with np.errstate(all="ignore"):
        expected = d + a.astype(np.float32) * np.float32(np.float16(0.7))
    got, report = run(rig, a, a[:0], d, [count(AXPY, (ub(D), ub(A, F16)), n, scalar=int(np.float16(0.7).view(np.uint16)))])
    same_bits(got, expected)
    assert report.diagnostics == []


@pytest.mark.parametrize(("dtype", "shift"), [(I16, 0), (I16, 5), (I16, 16), (I32, 32), (I32, 1)])
def test_a_rounding_shift_adds_the_last_bit_shifted_out(rig: Rig, dtype: int, shift: int) -> None:
    a = values(dtype, 40)
    wide = a.astype(np.int64)
    expected = (wide >> shift) + (wide >> (shift - 1) & 1 if shift else 0)
    got, _ = run(rig, a, a[:0], np.zeros_like(a), [count(SHIFT_RIGHT, (ub(D, dtype), ub(A, dtype)), a.size, scalar=shift, mode=1)])
    same_bits(got, expected.astype(a.dtype))


def test_copy_takes_the_counter_for_each_repeat(rig: Rig) -> None:
    a, old = np.arange(1024, dtype=np.int32), np.full(64, -1, np.int32)
    mode = [record(SET_MASK_MODE, V, p=(1,)), strided(COPY, (ub(D, I32, rep=3), ub(A, I32, blk=8, rep=64)), (20, 0), 2), record(SET_MASK_MODE, V)]
    got, report = run(rig, a, a[:0], old, mode)
    element = np.arange(20)
    expected = old.copy()
    for repeat in range(2):
        expected[repeat * 24 : repeat * 24 + 20] = a[repeat * 512 + element // 8 * 64 + element % 8]
    same_bits(got, expected)
    assert report.causes() == []


@pytest.mark.parametrize("dtype", [I16, I32])
@pytest.mark.parametrize(("opcode", "model"), [(ADD, np.add), (SUB, np.subtract), (MUL, np.multiply), (MAX, np.maximum), (MIN, np.minimum)])
def test_integer_arithmetic_wraps_around(rig: Rig, opcode: int, model: Any, dtype: int) -> None:
    a, b = values(dtype, 77), np.roll(values(dtype, 77, 2), 1)
    got, _ = run(rig, a, b, np.zeros_like(a), [count(opcode, (ub(D, dtype), ub(A, dtype), ub(B, dtype)), a.size)])
    same_bits(got, model(a, b))


@pytest.mark.parametrize("dtype", [I16, U16])
def test_logic_works_on_bits(rig: Rig, dtype: int) -> None:
    a, b = values(dtype, 40), np.roll(values(dtype, 40), 1)
    for opcode, expected in ((AND, a & b), (OR, a | b)):
        same_bits(run(rig, a, b, np.zeros_like(a), [count(opcode, (ub(D, dtype), ub(A, dtype), ub(B, dtype)), a.size)])[0], expected)
    same_bits(run(rig, a, b, np.zeros_like(a), [count(NOT, (ub(D, dtype), ub(A, dtype)), a.size)])[0], ~a)


@pytest.mark.parametrize(("dtype", "shift"), [(I16, 3), (U16, 3), (I32, 31), (U32, 31), (U16, 16), (I16, 20)])
def test_shifts_keep_the_sign_and_saturate_at_the_width(rig: Rig, dtype: int, shift: int) -> None:
    a = values(dtype, 40)
    width = SIZE[dtype] * 8
    left = (a.astype(np.int64) << shift).astype(a.dtype) if shift < width else np.zeros_like(a)
    right = a.astype(np.int64) >> min(shift, 40)
    same_bits(run(rig, a, a[:0], np.zeros_like(a), [count(SHIFT_LEFT, (ub(D, dtype), ub(A, dtype)), a.size, scalar=shift)])[0], left)
    same_bits(run(rig, a, a[:0], np.zeros_like(a), [count(SHIFT_RIGHT, (ub(D, dtype), ub(A, dtype)), a.size, scalar=shift)])[0], right.astype(a.dtype))


@pytest.mark.parametrize("dtype", [F16, F32, I16, U16, I32, U32])
def test_duplicate_and_copy_move_bits(rig: Rig, dtype: int) -> None:
    a = values(dtype, 50)
    bits = int(a.view(f"u{SIZE[dtype]}")[4])
    same_bits(run(rig, a, a[:0], np.zeros_like(a), [count(DUPLICATE, (ub(D, dtype),), a.size, scalar=bits)])[0], np.full_like(a, a[4]))
    same_bits(run(rig, a, a[:0], np.zeros_like(a), [count(COPY, (ub(D, dtype), ub(A, dtype)), a.size)])[0], a)


@pytest.mark.parametrize("n", [1, 7, 8, 63, 64, 65, 1000])
def test_count_form_touches_exactly_the_count(rig: Rig, n: int) -> None:
    a = values(F32, 1024)
    old = np.full(1024, 5, np.float32)
    got, _ = run(rig, a, a, old, [count(ADD, (ub(D), ub(A), ub(B)), n)])
    with np.errstate(all="ignore"):
        same_bits(got, np.where(np.arange(1024) < n, a + a, old))


@pytest.mark.parametrize(("dtype", "lanes"), [(F32, 64), (F16, 128)])
def test_masked_lanes_keep_their_old_bytes_in_every_repeat(rig: Rig, dtype: int, lanes: int) -> None:
    rng = np.random.default_rng(3)
    low, high = (int(word) for word in rng.integers(0, 1 << 63, 2))
    a, b = values(dtype, lanes * 3), values(dtype, lanes * 3, 9)
    old = np.full(lanes * 3, 2, NUMPY[dtype])
    got, _ = run(rig, a, b, old, [strided(MUL, (ub(D, dtype), ub(A, dtype), ub(B, dtype)), (low, high), 3)])
    active = np.tile([(low if lane < 64 else high) >> (lane % 64) & 1 for lane in range(lanes)], 3).astype(bool)
    same_bits(got, np.where(active, once(np.multiply)(a, b), old))


def test_strides_select_blocks_and_repeats(rig: Rig) -> None:
    a, b = np.arange(1024, dtype=np.float32), np.arange(1024, dtype=np.float32) * 1000
    operands = (ub(D, rep=8), ub(A, blk=2, rep=20), ub(B, blk=0, rep=1))
    got, _ = run(rig, a, b, np.zeros(192, np.float32), [strided(ADD, operands, (FULL, FULL), 3)])
    block, lane = np.arange(64) // 8, np.arange(64) % 8
    expected = [a[rep * 160 + block * 16 + lane] + b[rep * 8 + lane] for rep in range(3)]
    same_bits(got, np.concatenate(expected))


def test_destination_blocks_between_the_stride_stay_untouched(rig: Rig) -> None:
    a, old = np.arange(64, dtype=np.float32), np.full(128, -1, np.float32)
    got, _ = run(rig, a, a[:0], old, [strided(ADDS, (ub(D, blk=2), ub(A)), (FULL, FULL), 1, scalar=0)])
    expected = old.reshape(8, 2, 8).copy()
    expected[:, 0] = a.reshape(8, 8)
    same_bits(got, expected.reshape(-1))


def test_accumulating_into_one_repeat_is_allowed(rig: Rig) -> None:
    a, start = np.arange(256, dtype=np.float32), np.ones(64, np.float32)
    got, report = run(rig, a, a[:0], start, [strided(ADD, (ub(D, rep=0), ub(A), ub(D, rep=0)), (FULL, FULL), 4)])
    assert report.causes() == []
    same_bits(got, 1 + a.reshape(4, 64).sum(0))


@pytest.mark.parametrize(("start", "causes", "findings"), [(0, [], ["equal_value_overlap"]), (32, ["bad_overlap"], [])])
def test_a_row_copied_over_rows_that_begin_with_it_is_right_and_a_finding(rig: Rig, start: int, causes: list[str], findings: list[str]) -> None:
    a = values(F32, 64)
    got, report = run(rig, a[:0], a[:0], np.concatenate([a, a, a]), [strided(COPY, (ub(D + start), ub(D, rep=0)), (FULL, FULL), 3)])
    assert (report.causes(), report.findings()) == (causes, findings)
    if not causes:
        same_bits(got, np.tile(a, 3))


def test_counter_mode_takes_the_mask_as_element_count_and_ignores_repeats(rig: Rig) -> None:
    a, old = values(F32, 200), np.zeros(200, np.float32)
    mode = [record(SET_MASK_MODE, V, p=(1,)), strided(ABS, (ub(D), ub(A)), (130, 0), 1), record(SET_MASK_MODE, V, p=(0,))]
    got, _ = run(rig, a, a[:0], old, mode)
    same_bits(got, np.where(np.arange(200) < 130, np.abs(a), old))


def test_count_form_leaves_normal_mode_and_a_full_mask_behind(rig: Rig) -> None:
    a = values(F32, 64)
    only_two = record(SET_MASK, V)
    only_two.mask[0], only_two.mask[1] = 3, 0
    steps = [record(SET_MASK_MODE, V, p=(1,)), only_two, count(ABS, (ub(D + 4096), ub(A)), 8), strided(ABS, (ub(D), ub(A)), None, 1)]
    got, _ = run(rig, a, a[:0], np.zeros_like(a), steps)
    same_bits(got, np.abs(a))


def test_mask_register_serves_forms_that_keep_it(rig: Rig) -> None:
    a = values(F32, 64)
    only_two = record(SET_MASK, V)
    only_two.mask[0], only_two.mask[1] = 0b101, 0
    got, _ = run(rig, a, a[:0], np.zeros_like(a), [only_two, strided(ABS, (ub(D), ub(A)), None, 1)])
    same_bits(got, np.where(np.isin(np.arange(64), [0, 2]), np.abs(a), np.float32(0)))


def test_a_count_of_zero_does_nothing(rig: Rig) -> None:
    a, old = values(F32, 64), np.ones(64, np.float32)
    got, report = run(rig, a, a, old, [count(ADD, (ub(D), ub(A), ub(B)), 0), strided(ADD, (ub(D), ub(A), ub(B)), (FULL, FULL), 0)])
    assert report.causes() == []
    same_bits(got, old)


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        (strided(ABS, (ub(D), ub(A)), (FULL, FULL), 256), "bad_parameter"),
        (strided(ABS, (ub(D, blk=0), ub(A)), (FULL, FULL), 1), "bad_parameter"),
        (count(ABS, (ub(D + 16), ub(A)), 8), "misaligned"),
        (count(ABS, (ub(D), ub(A + 4)), 8), "misaligned"),
        (count(ABS, (ub(D, limit=28), ub(A)), 8), "out_of_bounds"),
        (count(ABS, (ub(196608 - 32), ub(A)), 9), "out_of_bounds"),
        (count(ABS, (ub(A + 32), ub(A)), 64), "bad_overlap"),
        (strided(ADD, (ub(A + 256), ub(A), ub(B)), (FULL, FULL), 2), "bad_overlap"),
        (count(ADD, (ub(D, 2), ub(A, 2), ub(B, 2)), 64), "unsupported_api"),
        (count(DIV, (ub(D, I32), ub(A, I32), ub(B, I32)), 64), "unsupported_api"),
        (count(UNKNOWN, (ub(D), ub(A)), 64), "unsupported_api"),
    ],
)
def test_impossible_instructions_cut_the_launch(rig: Rig, step: Record, cause: str) -> None:
    a = values(F32, 1024)
    _, report = run(rig, a, a, a, [step])
    assert report.causes() == [cause]
    assert report.is_cut


def test_the_last_byte_of_tensor_and_memory_may_be_touched(rig: Rig) -> None:
    a = values(F32, 1024)
    _, report = run(rig, a, a, a, [count(ABS, (ub(D, limit=32), ub(A)), 8), count(ABS, (ub(196608 - 32, limit=32), ub(A)), 8)])
    assert report.causes() == []


def test_an_unsupported_instruction_is_named(rig: Rig) -> None:
    a = values(F32, 64)
    _, report = run(rig, a, a, a, [record(UNKNOWN, V, line=7)])
    assert f"opcode {UNKNOWN} is not supported" in report.first("unsupported_api")["message"]
    assert report.first("unsupported_api")["line"] == 7
