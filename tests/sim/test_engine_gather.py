"""Gather, GatherMask and CreateVecIndex: elements by byte offset, undefined offsets, counting in every dtype; against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import (
    ABS,
    CREATE_VEC_INDEX,
    F16,
    F32,
    FULL,
    GATHER,
    GATHER_BLOCKS,
    GATHER_MASK,
    I16,
    I32,
    MTE2,
    MTE3,
    NUMPY,
    SET_MASK,
    SIZE,
    T_SET,
    U32,
    Operand,
    Record,
    Rig,
    S,
    V,
    barrier,
    count,
    flag,
    gm,
    pad,
    record,
    strided,
    ub,
)
from vector_run import A, B, D, bits_of, run, same_bits


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def offsets(dtype: int, n: int, of: int, seed: int = 1) -> np.ndarray:
    return (np.random.default_rng(seed).integers(0, of, n) * SIZE[dtype]).astype(np.uint32)


@pytest.mark.parametrize("dtype", [F16, I16, F32, I32])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 300])
def test_gather_takes_elements_at_base_and_offset(rig: Rig, n: int, dtype: int) -> None:
    a, where, old = np.arange(400).astype(NUMPY[dtype]), offsets(dtype, 304, 390), np.full(304, 7, NUMPY[dtype])
    step = count(GATHER, (ub(D, dtype), ub(A, dtype), ub(B, U32)), n, scalar=10 * SIZE[dtype])
    got, report = run(rig, {A: a, B: where}, old, [step])
    same_bits(got, np.where(np.arange(304) < n, a[where // SIZE[dtype] + 10], old))
    assert report.diagnostics == []


@pytest.mark.parametrize("dtype", [F16, F32])
def test_offsets_of_masked_lanes_are_passed_over(rig: Rig, dtype: int) -> None:
    lanes, mask = 256 // SIZE[dtype], (0xF0F012345678FF01, 0x11)
    a, where, old = np.arange(400).astype(NUMPY[dtype]), offsets(dtype, 3 * lanes, 390), np.full(4 * lanes, 7, NUMPY[dtype])
    got, _ = run(rig, {A: a, B: where}, old, [strided(GATHER, (ub(D, dtype, rep=10), ub(A, dtype), ub(B, U32)), mask, 3)])
    expected = old.copy()
    for repeat, lane in np.ndindex(3, lanes):
        if mask[lane // 64] >> lane % 64 & 1:
            expected[repeat * 320 // SIZE[dtype] + lane] = a[where[repeat * lanes + lane] // SIZE[dtype]]
    same_bits(got, expected)


def test_an_undefined_offset_is_reported_and_undefined_elements_travel(rig: Rig) -> None:
    a, old = np.arange(56, dtype=np.float32), np.zeros(8, np.float32)
    step = count(GATHER, (ub(D), ub(A), ub(B, U32)), 8)
    _, report = run(rig, {A: a}, old, [step])
    assert "reaches an offset of Gather" in report.first("undefined_data")["message"]
    _, report = run(rig, {A: a, B: np.full(8, 60 * 4, np.uint32)}, old, [step])
    assert "global memory" in report.first("undefined_data")["message"]


def test_only_the_bytes_that_offsets_name_have_to_be_ordered(rig: Rig) -> None:
    source, where = rig.upload(np.arange(64, dtype=np.float32)), rig.upload(np.full(8, 128, np.uint32))
    step = count(GATHER, (ub(D), ub(A), ub(B, U32)), 8)
    for place, causes in ((A, []), (A + 128, ["missing_sync"])):
        loads = [pad(ub(A + 128), gm(source), 32), pad(ub(B), gm(where), 32), *flag(MTE2, V), barrier(MTE2), pad(ub(place), gm(source), 32)]
        report = rig.launch([*loads, step, *flag(V, MTE3)])
        assert report.causes() == causes


def gather_mask(operands: tuple[Operand, ...], repeats: int, *, pattern: int = 0, counter: int = 0) -> Record:
    made = strided(GATHER_MASK, operands, None, repeats, scalar=pattern, mode=int(counter > 0))
    made.p[1] = counter
    return made


@pytest.mark.parametrize("bits", [0b111, FULL])
def test_gather_mask_fills_a_mask_that_the_kernel_has_set(rig: Rig, bits: int) -> None:
    only = record(SET_MASK, V, line=31)
    only.mask[0], only.mask[1] = bits, bits if bits == FULL else 0
    chosen = gather_mask((ub(B, F32), ub(A, F32)), 1, pattern=1)
    chosen.line = 32
    _, report = run(rig, {A: np.arange(64, dtype=np.float32)}, np.zeros(64, np.float32), [only, chosen, strided(ABS, (ub(D), ub(A)), None, 1, line=33)])
    assert report.findings() == ([] if bits == FULL else ["default_mask_changed"])
    if bits != FULL:
        message = report.first("default_mask_changed")["message"]
        assert [message.find(f":{line}") > 0 for line in (33, 32, 31)] == [True] * 3, message


@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_gather_of_blocks_takes_eight_blocks_per_repeat(rig: Rig, repeats: int) -> None:
    a, old = np.arange(512, dtype=np.uint32).reshape(64, 8), np.full((3 * 20, 8), 7, np.uint32)
    where = np.random.default_rng(2).integers(0, 64, 24).astype(np.uint32)
    step = strided(GATHER_BLOCKS, (ub(D, U32, blk=2, rep=20), ub(A, U32), ub(B, U32)), None, repeats)
    got, report = run(rig, {A: a.reshape(-1), B: where * 32}, old.reshape(-1), [step])
    expected = old.copy()
    for block in range(8 * repeats):
        expected[block // 8 * 20 + block % 8 * 2] = a[where[block]]
    same_bits(got, expected.reshape(-1))
    assert report.diagnostics == []


PATTERNS = {1: (2, 0), 2: (2, 1), 3: (4, 0), 4: (4, 1), 5: (4, 2), 6: (4, 3), 7: (1, 0)}


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_fixed_pattern_packs_its_elements_and_counts_them(rig: Rig, pattern: int, dtype: int) -> None:
    lanes, (every, first) = 256 // SIZE[dtype], PATTERNS[pattern]
    a, old = np.arange(4 * lanes).astype(NUMPY[dtype]), np.full(3 * lanes + 5, 7, NUMPY[dtype])
    got, report = run(rig, {A: a}, old, [gather_mask((ub(D, dtype), ub(A, dtype)), 3, pattern=pattern)])
    chosen = a[: 3 * lanes].reshape(3, lanes)[:, first::every].reshape(-1)
    same_bits(got, np.concatenate([chosen, old[chosen.size :]]))
    assert (report.diagnostics, report.answers[4]) == ([], chosen.size)


def test_a_pattern_of_bits_goes_through_each_repeat_at_its_own_stride(rig: Rig) -> None:
    bits = np.random.default_rng(4).integers(0, 2**32, 16, dtype=np.uint32)
    a, old = np.arange(512, dtype=np.uint32), np.full(256, 7, np.uint32)
    step = gather_mask((ub(D, U32), ub(A, U32, blk=2, rep=16), ub(B, U32, rep=1)), 2)
    got, report = run(rig, {A: a, B: bits}, old, [step])
    lane = np.arange(64)
    on = [np.unpackbits(bits[8 * repeat :][:2].view(np.uint8), bitorder="little").astype(bool) for repeat in range(2)]
    chosen = np.concatenate([a[repeat * 128 + lane // 8 * 16 + lane % 8][on[repeat]] for repeat in range(2)])
    same_bits(got, np.concatenate([chosen, old[chosen.size :]]))
    assert report.answers[5] == chosen.size


def test_counter_mode_takes_the_mask_for_each_repeat(rig: Rig) -> None:
    a, old = np.arange(256, dtype=np.uint32), np.full(140, 7, np.uint32)
    bits = np.full(8, 0x99999999, np.uint32)
    got, report = run(rig, {A: a, B: bits}, old, [gather_mask((ub(D, U32), ub(A, U32, rep=4), ub(B, U32, rep=0)), 2, counter=70)])
    lane = np.arange(70)[np.isin(np.arange(70) % 4, [0, 3])]
    chosen = np.concatenate([a[lane], a[32 + lane]])
    same_bits(got, np.concatenate([chosen, old[chosen.size :]]))
    assert (report.diagnostics, report.answers[5]) == ([], chosen.size)


def test_elements_may_be_packed_in_place_and_the_count_is_ordered_for_the_scalar_unit(rig: Rig) -> None:
    rig.configure(auto_sync=False)
    got, report = run(rig, {}, np.arange(256, dtype=np.uint32), [gather_mask((ub(D, U32), ub(D, U32)), 4, pattern=2)])
    assert (report.diagnostics, got[:128].tolist(), report.answers[3]) == ([], list(range(1, 256, 2)), 128)
    assert [entry[2:4] for entry in report.trace[0] if entry[0] == T_SET][1] == [V, S]


def test_undefined_patterns_are_reported_and_undefined_elements_travel(rig: Rig) -> None:
    a, old = np.arange(56, dtype=np.uint32), np.zeros(64, np.uint32)
    _, report = run(rig, {A: np.arange(64, dtype=np.uint32)}, old, [gather_mask((ub(D, U32), ub(A, U32), ub(B, U32)), 1)])
    assert "reaches a pattern of GatherMask" in report.first("undefined_data")["message"]
    _, report = run(rig, {A: a}, old, [gather_mask((ub(D, U32), ub(A, U32)), 1, pattern=7)])
    assert "global memory" in report.first("undefined_data")["message"]


@pytest.mark.parametrize("dtype", [F16, I16, F32, I32])
@pytest.mark.parametrize("n", [0, 1, 65, 200])
def test_create_vec_index_counts_up_from_its_first_value(rig: Rig, n: int, dtype: int) -> None:
    old = np.full(208, 7, NUMPY[dtype])
    got, report = run(rig, {}, old, [count(CREATE_VEC_INDEX, (ub(D, dtype),), n, scalar=bits_of(NUMPY[dtype](5)))])
    same_bits(got, np.where(np.arange(208) < n, (np.arange(208) + 5).astype(NUMPY[dtype]), old))
    assert report.diagnostics == []


def test_create_vec_index_counts_over_masked_lanes_and_strides(rig: Rig) -> None:
    old = np.full(3 * 96, 7, np.int32)
    got, _ = run(rig, {}, old, [strided(CREATE_VEC_INDEX, (ub(D, I32, blk=1, rep=12),), (0xFF0F, 0), 3, scalar=2**32 - 1)])
    expected = old.copy()
    for repeat in range(3):
        for lane in [*range(4), *range(8, 16)]:
            expected[repeat * 96 + lane] = repeat * 64 + lane - 1
    same_bits(got, expected)


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        (count(GATHER, (ub(D), ub(A, limit=252), ub(B, U32)), 64), "out_of_bounds"),
        (count(GATHER, (ub(D), ub(A), ub(B, U32, limit=252)), 64), "out_of_bounds"),
        (count(GATHER, (ub(D), ub(A), ub(B, U32)), 64, scalar=2), "misaligned"),
        (count(GATHER, (ub(D), ub(A), ub(B, U32)), 64, scalar=196608), "out_of_bounds"),
        (count(GATHER, (ub(A + 128), ub(A), ub(B, U32)), 64), "bad_overlap"),
        (strided(GATHER, (ub(D), ub(A), ub(B, U32)), (FULL, 0), 256), "bad_parameter"),
        (strided(GATHER_BLOCKS, (ub(D, U32), ub(A, U32), ub(B, U32)), None, 1), "misaligned"),
        (strided(GATHER_BLOCKS, (ub(D, U32), ub(A, U32), ub(B + 256, U32)), None, 1), "undefined_data"),
        (strided(GATHER_BLOCKS, (ub(A, U32), ub(A, U32), ub(B + 32, U32, limit=16)), None, 1), "out_of_bounds"),
        (gather_mask((ub(D), ub(A, limit=252)), 1, pattern=7), "out_of_bounds"),
        (gather_mask((ub(D, limit=252), ub(A)), 1, pattern=7), "out_of_bounds"),
        (gather_mask((ub(D), ub(A), ub(B, U32, limit=7)), 1), "out_of_bounds"),
        (gather_mask((ub(D), ub(A)), 1, pattern=8), "bad_parameter"),
        (gather_mask((ub(A + 64), ub(A)), 1, pattern=7, counter=128), "bad_overlap"),
        (count(CREATE_VEC_INDEX, (ub(D, 4),), 8), "unsupported_api"),
        (strided(CREATE_VEC_INDEX, (ub(D, I32, blk=0),), (FULL, 0), 1), "bad_parameter"),
    ],
)
def test_impossible_gathers_cut_the_launch(rig: Rig, step: Record, cause: str) -> None:
    _, report = run(rig, {A: np.arange(64, dtype=np.float32), B: np.arange(64, dtype=np.uint32) * 4}, np.zeros(8, np.float32), [step])
    assert report.causes() == [cause]
