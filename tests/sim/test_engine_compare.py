"""Compare and Select: packed bits, whole repeats, modes, undefined bits, scratch memory; against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import (
    BUFFER_INIT,
    COMPARE,
    DUPLICATE,
    F16,
    F32,
    FULL,
    GET_CMP_MASK,
    I32,
    MTE2,
    MTE3,
    NUMPY,
    SELECT,
    SET_CMP_MASK,
    SET_MASK_MODE,
    SIZE,
    T_BARRIER,
    U8,
    WORK,
    Operand,
    Record,
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
from vector_run import A, Array, B, C, D, bits_of, floats, run, same_bits

LT, GT, EQ, LE, GE, NE = range(6)
RELATIONS = {LT: np.less, GT: np.greater, EQ: np.equal, LE: np.less_equal, GE: np.greater_equal, NE: np.not_equal}
ONE_REPEAT, SCALAR, TENSOR = range(3)


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def packed(bits: Array) -> Array:
    """Element i is bit i % 8 of byte i // 8."""
    return np.packbits(bits.astype(bool), bitorder="little")


def compare(dtype: int, mode: int, n: int) -> Record:
    return count(COMPARE, (ub(D, U8), ub(A, dtype), ub(B, dtype)), n, mode=mode)


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("mode", RELATIONS)
def test_compare_packs_one_bit_per_element(rig: Rig, mode: int, dtype: int) -> None:
    n = 3 * 256 // SIZE[dtype]
    a, b = floats(NUMPY[dtype], n), floats(NUMPY[dtype], n, 2)
    got, report = run(rig, {A: a, B: b}, np.full(n // 8 + 5, 0xAA, np.uint8), [compare(dtype, mode, n)])
    assert report.diagnostics == []
    same_bits(got, np.concatenate([packed(RELATIONS[mode](a, b)), np.full(5, 0xAA, np.uint8)]))


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 127, 128, 200])
def test_a_remainder_of_the_count_is_not_compared(rig: Rig, n: int) -> None:
    a, b = floats(np.float32, 256), floats(np.float32, 256, 2)
    got, _ = run(rig, {A: a, B: b}, np.full(32, 0x55, np.uint8), [compare(F32, LT, n)])
    whole = n // 64 * 8
    same_bits(got, np.concatenate([packed(a < b)[:whole], np.full(32 - whole, 0x55, np.uint8)]))


def test_integers_compare_for_equality_only(rig: Rig) -> None:
    a, b = np.arange(64, dtype=np.int32), np.arange(64, dtype=np.int32) // 2 * 2
    got, _ = run(rig, {A: a, B: b}, np.zeros(8, np.uint8), [compare(I32, EQ, 64)])
    same_bits(got, packed(a == b))
    _, report = run(rig, {A: a, B: b}, np.zeros(8, np.uint8), [compare(I32, LT, 64)])
    assert "EQ only" in report.first("unsupported_api")["message"]


@pytest.mark.parametrize("dtype", [F16, F32])
def test_strides_choose_sources_and_results_follow_each_other_whatever_mask_and_destination_stride(rig: Rig, dtype: int) -> None:
    lanes, per_block = 256 // SIZE[dtype], 32 // SIZE[dtype]
    a, b = floats(NUMPY[dtype], 3 * 20 * per_block), floats(NUMPY[dtype], 2048, 2)
    operands = (ub(D, U8, rep=8), ub(A, dtype, blk=2, rep=20), ub(B, dtype, blk=0, rep=1))
    got, _ = run(rig, {A: a, B: b}, np.zeros(3 * lanes // 8, np.uint8), [strided(COMPARE, operands, (3, 0), 3, mode=LE)])
    lane = np.arange(lanes)
    rows = [a[r * 20 * per_block + lane // per_block * 2 * per_block + lane % per_block] <= b[r * per_block + lane % per_block] for r in range(3)]
    same_bits(got, packed(np.concatenate(rows)))


@pytest.mark.parametrize("scalar", [0.25, np.nan])
def test_compare_with_a_scalar(rig: Rig, scalar: float) -> None:
    a = floats(np.float16, 256)
    step = count(COMPARE, (ub(D, U8), ub(A, F16)), 256, mode=GE, scalar=bits_of(np.float16(scalar)))
    got, _ = run(rig, {A: a}, np.zeros(32, np.uint8), [step])
    same_bits(got, packed(a >= np.float16(scalar)))


def test_more_than_255_repeats_of_a_count_are_all_compared(rig: Rig) -> None:
    a = floats(np.float32, 260 * 64)
    step = count(COMPARE, (ub(D, U8), ub(A)), a.size, mode=GT, scalar=0)
    got, _ = run(rig, {A: a}, np.zeros(a.size // 8, np.uint8), [step])
    same_bits(got, packed(a > 0))


def moved(opcode: int, operand: Operand) -> Record:
    made = record(opcode, V)
    setattr(made, "dst" if opcode == GET_CMP_MASK else "src0", operand)
    return made


@pytest.mark.parametrize("dtype", [F16, F32])
def test_the_compare_register_holds_the_bits_of_one_repeat(rig: Rig, dtype: int) -> None:
    lanes = 256 // SIZE[dtype]
    a, b, bits = floats(NUMPY[dtype], lanes), floats(NUMPY[dtype], lanes, 2), np.arange(16, dtype=np.uint8)
    compared = strided(COMPARE, (Operand(), ub(A, dtype), ub(B, dtype)), (FULL, FULL), 1, mode=GT)
    steps = [compared, moved(GET_CMP_MASK, ub(D, U8)), moved(SET_CMP_MASK, ub(C, U8)), moved(GET_CMP_MASK, ub(D + 16, U8))]
    got, report = run(rig, {A: a, B: b, C: bits}, np.full(32, 9, np.uint8), steps)
    same_bits(got, np.concatenate([packed(a > b), np.zeros(16 - lanes // 8, np.uint8), bits]))
    assert report.causes() == []


def test_undefined_bits_stay_undefined_through_the_register(rig: Rig) -> None:
    compared = strided(COMPARE, (Operand(), ub(A), ub(B)), (FULL, FULL), 1, mode=GT)
    _, report = run(rig, {A: floats(np.float32, 64), B: floats(np.float32, 56)}, np.zeros(16, np.uint8), [compared, moved(GET_CMP_MASK, ub(D, U8))])
    assert report.first("undefined_data")["numbers"]["address"] == D + 7
    assert run(rig, {}, np.zeros(16, np.uint8), [moved(GET_CMP_MASK, ub(D + 8, U8))])[1].causes() == ["misaligned"]


def select_operands(mode: int, dtype: int, **strides: int) -> tuple[tuple[Operand, ...], int]:
    """Operands and scalar of a Select from A and B by the bits at C."""
    dst, src0, src1 = ub(D, dtype), ub(A, dtype, **strides), ub(B, dtype, **strides)
    if mode == SCALAR:
        return (dst, src0, ub(C, U8, blk=1, rep=1)), bits_of(NUMPY[dtype](0.5))
    return (dst, src0, src1), C | 0xFFFFFFFF << 32


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("mode", [ONE_REPEAT, SCALAR, TENSOR])
@pytest.mark.parametrize("n", [0, 1, 63, 65, 128, 300])
def test_a_bit_of_1_takes_the_first_source(rig: Rig, n: int, mode: int, dtype: int) -> None:
    a, b = floats(NUMPY[dtype], 512), floats(NUMPY[dtype], 512, 2)
    bits = np.random.default_rng(5).integers(0, 256, 64, dtype=np.uint8)
    old = np.full(512, 7, NUMPY[dtype])
    operands, scalar = select_operands(mode, dtype)
    got, report = run(rig, {A: a, B: b, C: bits}, old, [count(SELECT, operands, n, scalar=scalar, mode=mode)])
    assert report.causes() == []
    lanes, element = 256 // SIZE[dtype], np.arange(512)
    chosen = np.unpackbits(bits, bitorder="little")[element % lanes if mode == ONE_REPEAT else element].astype(bool)
    other = np.full(512, 0.5, NUMPY[dtype]) if mode == SCALAR else b
    same_bits(got, np.where(element < n, np.where(chosen, a, other), old))


@pytest.mark.parametrize("mode", [ONE_REPEAT, SCALAR, TENSOR])
def test_masked_lanes_of_select_use_up_their_bits_and_keep_the_destination(rig: Rig, mode: int) -> None:
    a, b, bits = floats(np.float32, 256), floats(np.float32, 256, 2), np.arange(32, dtype=np.uint8) * 37
    old, mask = np.full(192, 7, np.float32), 0x0F0F00FF00FFFF01
    operands, scalar = select_operands(mode, F32)
    got, _ = run(rig, {A: a, B: b, C: bits.astype(np.uint8)}, old, [strided(SELECT, operands, (mask, 0), 3, scalar=scalar, mode=mode)])
    element = np.arange(192)
    chosen = np.unpackbits(bits, bitorder="little")[element % 64 if mode == ONE_REPEAT else element].astype(bool)
    active = np.array([mask >> lane & 1 for lane in range(64)], bool)[element % 64]
    same_bits(got, np.where(active, np.where(chosen, a[:192], np.float32(0.5) if mode == SCALAR else b[:192]), old))


def test_select_obeys_counter_mode(rig: Rig) -> None:
    a, b, bits, old = floats(np.float32, 256), floats(np.float32, 256, 2), np.full(32, 0x0F, np.uint8), np.zeros(128, np.float32)
    operands, scalar = select_operands(TENSOR, F32)
    steps = [record(SET_MASK_MODE, V, p=(1,)), strided(SELECT, operands, (70, 0), 1, scalar=scalar, mode=TENSOR), record(SET_MASK_MODE, V)]
    got, _ = run(rig, {A: a, B: b, C: bits}, old, steps)
    element = np.arange(128)
    same_bits(got, np.where(element < 70, np.where(element % 8 < 4, a[:128], b[:128]), old))


def test_an_undefined_selection_bit_is_reported_and_an_undefined_value_travels(rig: Rig) -> None:
    a = floats(np.float32, 64)
    operands, scalar = select_operands(TENSOR, F32)
    step = count(SELECT, operands, 64, scalar=scalar, mode=TENSOR)
    _, report = run(rig, {A: a, B: a}, np.zeros(64, np.float32), [step])
    assert "reaches a selection" in report.first("undefined_data")["message"]
    _, report = run(rig, {A: a, C: np.full(8, 0xFF, np.uint8)}, np.zeros(64, np.float32), [step])
    assert report.causes() == []
    _, report = run(rig, {A: a, C: np.full(8, 0x7F, np.uint8)}, np.zeros(64, np.float32), [step])
    assert "global memory" in report.first("undefined_data")["message"]


def test_a_compare_of_undefined_data_gives_undefined_bytes_of_bits(rig: Rig) -> None:
    a = floats(np.float32, 56)
    _, report = run(rig, {A: a}, np.zeros(8, np.uint8), [count(COMPARE, (ub(D, U8), ub(A)), 64, mode=GT)])
    assert report.first("undefined_data")["numbers"]["address"] == D + 7


@pytest.mark.parametrize(
    ("mode", "buffer_end", "filled", "causes"),
    [
        (ONE_REPEAT, 196608, 188416, []),
        (TENSOR, 188416, 188416, []),
        (TENSOR, 188448, 188416, ["ub_overflow"]),
        (SCALAR, 196608, 188416 + 124, ["ub_overflow"]),
        (SCALAR, 196608, 188416 + 128, []),
        (SCALAR, 196608, 0, []),
    ],
)
def test_data_in_the_scratch_of_select_is_reported_and_an_empty_buffer_is_a_finding(
    rig: Rig, mode: int, buffer_end: int, filled: int, causes: list[str]
) -> None:
    init = record(BUFFER_INIT, 0)
    init.dst = Operand(0, buffer_end, 1, 8, 2, 0)
    operands, scalar = select_operands(mode, F32)
    a = floats(np.float32, 64)
    step = count(SELECT, operands, 64, scalar=scalar, mode=mode)
    kept = {filled // 32 * 32: np.zeros(8, np.float32)} if filled else {}
    _, report = run(rig, {A: a, B: a, C: np.zeros(8, np.uint8), **kept}, a, [init, step])
    assert report.causes() == causes
    assert ("other" in report.findings()) == (not causes and mode != ONE_REPEAT and buffer_end > 188416)


def test_select_by_scratch_costs_a_fill_and_two_barriers(rig: Rig) -> None:
    a = floats(np.float32, 64)
    operands, scalar = select_operands(TENSOR, F32)
    step = count(SELECT, operands, 64, scalar=scalar, mode=TENSOR)
    _, report = run(rig, {A: a, B: a, C: np.zeros(8, np.uint8)}, a, [step])
    entries = [(entry[0], entry[6]) for entry in report.trace[0] if entry[1] == V and entry[0] in (WORK, T_BARRIER)]
    assert [kind for kind, _ in entries] == [WORK, T_BARRIER, T_BARRIER, WORK]
    assert [opcode for kind, opcode in entries if kind == WORK] == [DUPLICATE, SELECT]


def test_a_store_of_bits_without_a_flag_is_a_race_on_the_exact_bytes(rig: Rig) -> None:
    a = floats(np.float32, 128)
    source, out = rig.upload(a), rig.allocate(64)
    step = count(COMPARE, (ub(D, U8), ub(A)), 128, mode=GT)
    for offset, races in ((0, ["missing_sync"]), (32, [])):
        moves = [pad(ub(A), gm(source), 512), pad(ub(D + 32), gm(source), 32), *flag(MTE2, V), *flag(MTE2, MTE3)]
        report = rig.launch([*moves, step, pad(gm(out), ub(D + offset), 16)])
        assert report.causes() == races


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        (count(COMPARE, (ub(D + 16, U8), ub(A), ub(B)), 64), "misaligned"),
        (count(COMPARE, (ub(D, U8, limit=15), ub(A), ub(B)), 128), "out_of_bounds"),
        (count(COMPARE, (ub(D, U8), ub(A, limit=255), ub(B)), 64), "out_of_bounds"),
        (strided(COMPARE, (ub(D, U8), ub(A), ub(B)), (FULL, 0), 256), "bad_parameter"),
        (count(COMPARE, (ub(A + 256, U8), ub(A), ub(B)), 128), "bad_overlap"),
        (count(SELECT, (ub(D), ub(A), ub(B)), 128, scalar=C | 15 << 32, mode=TENSOR), "out_of_bounds"),
        (count(SELECT, (ub(D, I32), ub(A, I32), ub(B, I32)), 64, scalar=C, mode=TENSOR), "unsupported_api"),
        (strided(SELECT, (ub(D, blk=0), ub(A), ub(B)), (FULL, 0), 1, scalar=C | 64 << 32, mode=TENSOR), "bad_parameter"),
    ],
)
def test_impossible_comparisons_cut_the_launch(rig: Rig, step: Record, cause: str) -> None:
    a = floats(np.float32, 256)
    _, report = run(rig, {A: a, B: a, C: np.zeros(64, np.uint8)}, a, [step])
    assert report.causes() == [cause]
    assert report.is_cut
