"""Gather and CreateVecIndex: elements by byte offset, undefined offsets, counting in every dtype; against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import (
    CREATE_VEC_INDEX,
    F16,
    F32,
    FULL,
    GATHER,
    I16,
    I32,
    MTE2,
    MTE3,
    NUMPY,
    SIZE,
    U32,
    Record,
    Rig,
    V,
    barrier,
    count,
    flag,
    gm,
    pad,
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
        (count(CREATE_VEC_INDEX, (ub(D, 4),), 8), "unsupported_api"),
        (strided(CREATE_VEC_INDEX, (ub(D, I32, blk=0),), (FULL, 0), 1), "bad_parameter"),
    ],
)
def test_impossible_gathers_cut_the_launch(rig: Rig, step: Record, cause: str) -> None:
    _, report = run(rig, {A: np.arange(64, dtype=np.float32), B: np.arange(64, dtype=np.uint32) * 4}, np.zeros(8, np.float32), [step])
    assert report.causes() == [cause]
