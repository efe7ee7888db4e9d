"""Reductions: the documented order of sums, ties and NaN of extremes, indices, strides, work buffers, hidden synchronisation; against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from engine_rig import (
    ABS,
    BLOCK_REDUCE_MAX,
    BLOCK_REDUCE_MIN,
    BLOCK_REDUCE_SUM,
    BRCB,
    F16,
    F32,
    FULL,
    GET_REDUCE_SUM,
    I32,
    MTE2,
    MTE3,
    NUMPY,
    PAIR_REDUCE_SUM,
    REDUCE_MAX,
    REDUCE_MIN,
    REDUCE_SUM,
    SET_MASK,
    SET_MASK_MODE,
    SIZE,
    T_BARRIER,
    T_SET,
    U16,
    WHOLE_REDUCE_MAX,
    WHOLE_REDUCE_MIN,
    WHOLE_REDUCE_SUM,
    Record,
    Report,
    Rig,
    S,
    V,
    count,
    flag,
    get_value,
    gm,
    pad,
    record,
    strided,
    ub,
)
from vector_run import A, Array, C, D, floats, run, same_bits

VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX = range(4)
WORK = C


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def tree(values: Array, active: Array) -> Array:
    """Sum of the active ones of a power of two: neighbours, then pairs of pairs; rounded to the dtype at every level."""
    with np.errstate(all="ignore"):
        while values.size > 1:
            a, b = values[0::2], values[1::2]
            in_a, in_b = active[0::2], active[1::2]
            total = (a.astype(np.float32) + b.astype(np.float32)).astype(values.dtype)
            values, active = np.where(in_a & in_b, total, np.where(in_a, a, b)), in_a | in_b
    return values[0]


def one_after_another(parts: list[Any], dtype: Any) -> Any:
    total = parts[0]
    with np.errstate(all="ignore"):
        for part in parts[1:]:
            total = (np.float32(total) + np.float32(part)).astype(dtype)
    return total


def best(values: Array, active: Array, is_max: bool) -> tuple[Any, int]:
    """Value and index: the first NaN, else the first extreme."""
    lanes = np.flatnonzero(active)
    nans = lanes[np.isnan(values[lanes])]
    if nans.size:
        return values[nans[0]], int(nans[0])
    picked = lanes[np.argmax(values[lanes]) if is_max else np.argmin(values[lanes])]
    return values[picked], int(picked)


def finite(dtype: int, n: int, seed: int = 1) -> Array:
    """Values whose sum depends on the order."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(n) * np.exp2(rng.integers(-6, 6, n))).astype(NUMPY[dtype])


def lanes_of(mask: tuple[int, int], dtype: int) -> Array:
    return np.array([mask[lane // 64] >> lane % 64 & 1 for lane in range(256 // SIZE[dtype])], bool)


MASKS = [(FULL, FULL), (0x00FF0F0F12345678, 0x8000000000000001), (1 << 63, 0), (0, 0)]


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("mask", MASKS)
def test_whole_reduce_sum_adds_neighbours_first(rig: Rig, mask: tuple[int, int], dtype: int) -> None:
    lanes, active = 256 // SIZE[dtype], lanes_of(mask, dtype)
    a, old = finite(dtype, 5 * lanes), np.full(16, 3, NUMPY[dtype])
    step = strided(WHOLE_REDUCE_SUM, (ub(D, dtype, rep=2), ub(A, dtype, rep=16)), mask, 3, mode=ONLY_VALUE)
    got, report = run(rig, {A: a}, old, [step])
    expected = old.copy()
    if active.any():
        expected[[0, 2, 4]] = [tree(a[r * 2 * lanes :][:lanes], active) for r in range(3)]
    same_bits(got, expected)
    assert report.diagnostics == []


def test_partial_sums_of_halves_overflow_where_the_order_says(rig: Rig) -> None:
    a = np.zeros(128, np.float16)
    a[:4] = [60000, 60000, -30000, 100]
    got, _ = run(rig, {A: a}, np.zeros(16, np.float16), [strided(WHOLE_REDUCE_SUM, (ub(D, F16, rep=1), ub(A, F16)), (FULL, FULL), 1, mode=ONLY_VALUE)])
    assert np.isinf(got[0])


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("mask", MASKS[:3])
@pytest.mark.parametrize("order", [VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX])
@pytest.mark.parametrize("opcode", [WHOLE_REDUCE_MAX, WHOLE_REDUCE_MIN])
def test_whole_reduce_extremes_give_value_and_smallest_index_in_the_order_asked_for(
    rig: Rig, opcode: int, order: int, mask: tuple[int, int], dtype: int
) -> None:
    lanes, active = 256 // SIZE[dtype], lanes_of(mask, dtype)
    a = floats(NUMPY[dtype], 4 * lanes)
    a[np.isnan(a)] = 0.25
    a[3 * lanes + 63] = np.nan
    step = strided(opcode, (ub(D, dtype, rep=1), ub(A, dtype)), mask, 4, mode=order)
    got, report = run(rig, {A: a}, np.zeros(16, NUMPY[dtype]), [step])
    found = [best(a[r * lanes :][:lanes], active, opcode == WHOLE_REDUCE_MAX) for r in range(4)]
    values = np.array([value for value, _ in found], NUMPY[dtype])
    indices = np.array([index for _, index in found], f"u{SIZE[dtype]}").view(NUMPY[dtype])
    if order == ONLY_INDEX:
        assert got.view(np.uint32)[:4].tolist() == [index for _, index in found]
    elif order == ONLY_VALUE:
        same_bits(got[:4], values)
    else:
        pairs = (values, indices) if order == VALUE_INDEX else (indices, values)
        same_bits(got[:8], np.stack(pairs, 1).reshape(-1))
    assert report.diagnostics == []


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("opcode", [BLOCK_REDUCE_SUM, BLOCK_REDUCE_MAX, BLOCK_REDUCE_MIN])
@pytest.mark.parametrize("mask", [MASKS[0], (0x00FF0000FF000F01, 0x10)])
def test_block_reduce_skips_blocks_without_an_active_lane(rig: Rig, mask: tuple[int, int], opcode: int, dtype: int) -> None:
    lanes, per_block, active = 256 // SIZE[dtype], 32 // SIZE[dtype], lanes_of(mask, dtype)
    a, old = finite(dtype, 2 * 2 * lanes + lanes), np.full(40, 9, NUMPY[dtype])
    step = strided(opcode, (ub(D, dtype, rep=2), ub(A, dtype, blk=2, rep=16)), mask, 2)
    got, _ = run(rig, {A: a}, old, [step])
    expected = old.copy()
    for r, block in np.ndindex(2, 8):
        part, on = a[r * 2 * lanes + block * 2 * per_block :][:per_block], active[block * per_block :][:per_block]
        if on.any():
            expected[r * 16 + block] = tree(part, on) if opcode == BLOCK_REDUCE_SUM else best(part, on, opcode == BLOCK_REDUCE_MAX)[0]
    same_bits(got, expected)


@pytest.mark.parametrize("dtype", [F16, F32])
def test_pair_reduce_skips_pairs_without_an_active_lane(rig: Rig, dtype: int) -> None:
    lanes, mask = 256 // SIZE[dtype], (0xF0F0_1234_5678_9AB0, 3)
    a, old, active = finite(dtype, 2 * lanes), np.full(lanes, 9, NUMPY[dtype]), lanes_of(mask, dtype)
    got, _ = run(rig, {A: a}, old, [strided(PAIR_REDUCE_SUM, (ub(D, dtype, rep=1), ub(A, dtype)), mask, 2)])
    expected = [tree(a[2 * i :][:2], active[2 * i % lanes :][:2]) if active[2 * i % lanes :][:2].any() else 9 for i in range(lanes)]
    same_bits(got, np.array(expected, NUMPY[dtype]))


def test_reductions_obey_counter_mode(rig: Rig) -> None:
    a = finite(F32, 128)
    steps = [record(SET_MASK_MODE, V, p=(1,)), strided(WHOLE_REDUCE_SUM, (ub(D, rep=1), ub(A)), (100, 0), 1, mode=ONLY_VALUE), record(SET_MASK_MODE, V)]
    got, _ = run(rig, {A: a}, np.zeros(8, np.float32), steps)
    same_bits(got[:2], np.array([tree(a[:64], np.ones(64, bool)), tree(a[64:], np.arange(64) < 36)]))


def reduce_all(opcode: int, dtype: int, n: int, *, index: int = 0, work: int = WORK, limit: int = 0xFFFFFFFF) -> Record:
    return count(opcode, (ub(D, dtype), ub(A, dtype), ub(work, dtype, limit=limit)), n, mode=index)


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 127, 128, 129, 1000, 8320])
def test_reduce_sum_by_count_adds_repeats_one_after_another(rig: Rig, n: int, dtype: int) -> None:
    lanes = 256 // SIZE[dtype]
    a, old = finite(dtype, max(n, 1)), np.full(16, 3, NUMPY[dtype])
    got, report = run(rig, {A: a}, old, [reduce_all(REDUCE_SUM, dtype, n)])
    padded = np.concatenate([a, np.zeros(lanes, a.dtype)])
    parts = [tree(padded[at : at + lanes], np.arange(at, at + lanes) < n) for at in range(0, n, lanes)]
    expected = old.copy()
    if parts:
        expected[0] = one_after_another(parts, NUMPY[dtype])
    same_bits(got, expected)
    assert report.diagnostics == []


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("repeats", [0, 1, 2, 65, 129, 300])
def test_reduce_sum_by_repeats_is_a_tree_on_both_levels(rig: Rig, repeats: int, dtype: int) -> None:
    lanes, mask = 256 // SIZE[dtype], (0x7FFFFFFFFFFFFFF0, 0xFF)
    stride = 4
    a, active = finite(dtype, (repeats + 2) * lanes // 2), lanes_of(mask, dtype)
    step = strided(REDUCE_SUM, (ub(D, dtype), ub(A, dtype, rep=stride), ub(WORK, dtype)), mask, repeats)
    got, report = run(rig, {A: a}, np.zeros(16, NUMPY[dtype]), [step])
    level = np.array([tree(a[r * lanes // 2 :][:lanes], active) for r in range(repeats)], NUMPY[dtype])
    while level.size > 1:
        padded = np.concatenate([level, np.zeros(lanes, level.dtype)])
        level = np.array([tree(padded[at : at + lanes], np.arange(at, at + lanes) < level.size) for at in range(0, level.size, lanes)], level.dtype)
    same_bits(got[:1], level if repeats else np.zeros(1, NUMPY[dtype]))
    assert report.diagnostics == []


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("opcode", [REDUCE_MAX, REDUCE_MIN])
@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 128, 129, 200, 1000, 8320, 9001])
def test_reduce_extremes_by_count(rig: Rig, n: int, opcode: int, index: int, dtype: int) -> None:
    a, old = finite(dtype, max(n, 1), n), np.full(16, 3, NUMPY[dtype])
    a[np.random.default_rng(n).integers(0, a.size, 3)] = 9000 if opcode == REDUCE_MAX else -9000
    got, report = run(rig, {A: a}, old, [reduce_all(opcode, dtype, n, index=index)])
    expected = old.copy()
    if n:
        value, at = best(a, np.ones(n, bool), opcode == REDUCE_MAX)
        expected[0] = value
        if index:
            expected.view(f"u{SIZE[dtype]}")[1] = at
    written = 1 + index if n else 0
    same_bits(got[:written], expected[:written])
    assert report.diagnostics == []


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("repeats", [1, 4, 65, 130, 300])
def test_reduce_max_by_repeats_counts_its_index_from_the_tensor_s_start(rig: Rig, repeats: int, index: int, dtype: int) -> None:
    lanes, mask = 256 // SIZE[dtype], (0x7FFFFFFFFFFFFFF0, 0xFF)
    a = np.round(finite(dtype, repeats * lanes) * 4).astype(NUMPY[dtype])
    active = np.tile(lanes_of(mask, dtype), repeats)
    step = strided(REDUCE_MAX, (ub(D, dtype), ub(A, dtype), ub(WORK, dtype)), mask, repeats, mode=index)
    got, report = run(rig, {A: a}, np.zeros(16, NUMPY[dtype]), [step])
    value, at = best(a, active, True)
    same_bits(got[:1], np.array([value]))
    assert not index or got.view(f"u{SIZE[dtype]}")[1] == at
    assert report.diagnostics == []


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("n", [64, 640, 8320])
def test_source_or_destination_may_be_the_work_buffer(rig: Rig, n: int, index: int) -> None:
    a = finite(F32, n)
    for work in (A, D):
        got, report = run(rig, {A: a}, np.zeros(1024, np.float32), [reduce_all(REDUCE_MAX, F32, n, index=index, work=work)])
        assert report.causes() == []
        assert got[0] == a.max()
        assert not index or got.view(np.uint32)[1] == a.argmax()


@pytest.mark.parametrize(("index", "needed"), [(0, 1040), (1, 1128)])
def test_the_work_buffer_is_used_as_far_as_documented(rig: Rig, index: int, needed: int) -> None:
    """130 repeats of float: pairs of 130 results; with an index also 16 elements of the second level and the last pair, at elements 264 and 280."""
    a = finite(F32, 8320)
    for limit, causes in ((needed, []), (needed - 4, ["out_of_bounds"])):
        step = strided(REDUCE_MAX, (ub(D), ub(A), ub(WORK, limit=limit)), (FULL, FULL), 130, mode=index)
        _, report = run(rig, {A: a}, np.zeros(8, np.float32), [step])
        assert report.causes() == causes


def test_a_result_is_ordered_before_every_reader_without_a_flag(rig: Rig) -> None:
    a = finite(F32, 300)
    source, out = rig.upload(a), rig.allocate(4)
    rig.configure(auto_sync=False)
    for opcode, index in ((REDUCE_SUM, 0), (REDUCE_MAX, 0), (REDUCE_MAX, 1)):
        middle = [reduce_all(opcode, F32, 300, index=index), get_value(ub(D)), pad(gm(out), ub(D), 4)]
        report = rig.launch([pad(ub(A), gm(source), 1200), *flag(MTE2, V), *middle])
        assert report.diagnostics == []


def test_one_repeat_with_its_index_stays_with_the_vector_unit(rig: Rig) -> None:
    source, out = rig.upload(finite(F32, 64)), rig.allocate(8)
    report = rig.launch([pad(ub(A), gm(source), 256), *flag(MTE2, V), reduce_all(REDUCE_MAX, F32, 64, index=1), pad(gm(out), ub(D), 8)])
    assert report.causes() == ["missing_sync"]


def test_the_last_sum_by_count_stays_in_a_register(rig: Rig) -> None:
    a = finite(F32, 300)
    got, report = run(rig, {A: a}, np.zeros(8, np.float32), [reduce_all(REDUCE_SUM, F32, 300), reduce_all(REDUCE_MAX, F32, 64), record(GET_REDUCE_SUM, S)])
    assert report.answers[6] == sum_bits(a)
    assert got[0] == a[:64].max()


def sum_bits(a: Array) -> int:
    parts = [tree(np.resize(a[at:], 64), np.arange(at, at + 64) < a.size) for at in range(0, a.size, 64)]
    return int(np.float32(one_after_another(parts, np.float32)).view(np.uint32))


def shape(report: Report) -> list[tuple[int, int, int]]:
    return [(entry[0], entry[2], entry[3]) for entry in report.trace[0] if entry[0] in (T_SET, T_BARRIER)]


def test_the_hidden_synchronisation_costs_time(rig: Rig) -> None:
    a = finite(F32, 300)
    _, report = run(rig, {A: a}, np.zeros(8, np.float32), [reduce_all(REDUCE_SUM, F32, 300)])
    assert shape(report) == [(T_SET, MTE2, V), (T_SET, V, S), (T_SET, S, V), (T_SET, S, MTE3), (T_SET, V, MTE3)]
    _, report = run(rig, {A: a}, np.zeros(8, np.float32), [strided(REDUCE_MAX, (ub(D), ub(A), ub(WORK)), (FULL, FULL), 4)])
    assert shape(report)[1:5] == [(T_BARRIER, V, V), (T_SET, V, S), (T_SET, S, V), (T_SET, S, MTE3)]


def test_a_reduction_of_undefined_data_is_undefined_and_not_reported_before_it_is_used(rig: Rig) -> None:
    a = finite(F32, 56)
    for opcode in (REDUCE_SUM, REDUCE_MAX):
        _, report = run(rig, {A: a}, np.zeros(8, np.float32), [reduce_all(opcode, F32, 64), count(ABS, (ub(D + 1024), ub(D)), 1)])
        assert [found["instruction"] for found in report.diagnostics] == ["DataCopyPad"]


@pytest.mark.parametrize("dtype", [F16, U16, F32, I32])
@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_brcb_spreads_eight_elements_over_eight_blocks(rig: Rig, repeats: int, dtype: int) -> None:
    per_block = 32 // SIZE[dtype]
    a, old = np.arange(1, 25).astype(NUMPY[dtype]), np.full(3 * 20 * per_block, 77, NUMPY[dtype])
    got, report = run(rig, {A: a}, old, [strided(BRCB, (ub(D, dtype, blk=2, rep=20), ub(A, dtype)), (0, 0), repeats)])
    expected = old.reshape(-1, per_block).copy()
    for r, block in np.ndindex(repeats, 8):
        expected[r * 20 + block * 2] = a[r * 8 + block]
    same_bits(got, expected.reshape(-1))
    assert report.diagnostics == []


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        (strided(WHOLE_REDUCE_SUM, (ub(D + 2, rep=1), ub(A)), (FULL, 0), 1, mode=ONLY_VALUE), "misaligned"),
        (strided(WHOLE_REDUCE_MAX, (ub(D + 4, rep=1), ub(A)), (FULL, 0), 1), "misaligned"),
        (strided(BLOCK_REDUCE_SUM, (ub(D + 16, rep=1), ub(A)), (FULL, 0), 1), "misaligned"),
        (strided(PAIR_REDUCE_SUM, (ub(D + 16, rep=1), ub(A)), (FULL, 0), 1), "misaligned"),
        (strided(WHOLE_REDUCE_SUM, (ub(D, rep=1, limit=8), ub(A)), (FULL, 0), 3, mode=ONLY_VALUE), "out_of_bounds"),
        (strided(WHOLE_REDUCE_SUM, (ub(D, rep=1), ub(A)), (FULL, 0), 256, mode=ONLY_VALUE), "bad_parameter"),
        (strided(WHOLE_REDUCE_SUM, (ub(A + 256, rep=1), ub(A)), (FULL, 0), 2, mode=ONLY_VALUE), "bad_overlap"),
        (count(REDUCE_SUM, (ub(D, I32), ub(A, I32), ub(WORK, I32)), 64), "unsupported_api"),
        (count(REDUCE_SUM, (ub(D), ub(A, limit=96), ub(WORK)), 25), "out_of_bounds"),
        (count(REDUCE_MAX, (ub(D, limit=4), ub(A), ub(WORK)), 64, mode=1), "out_of_bounds"),
        (strided(BRCB, (ub(A), ub(A)), (0, 0), 3), "bad_overlap"),
        (strided(BRCB, (ub(D, blk=0), ub(A)), (0, 0), 1), "bad_parameter"),
    ],
)
def test_impossible_reductions_cut_the_launch(rig: Rig, step: Record, cause: str) -> None:
    a = finite(F32, 1024)
    _, report = run(rig, {A: a}, np.zeros(64, np.float32), [step])
    assert report.causes() == [cause]


def test_aligned_results_of_less_than_a_block_are_allowed(rig: Rig) -> None:
    a = finite(F32, 64)
    steps = [strided(WHOLE_REDUCE_SUM, (ub(D + 4, rep=1), ub(A)), (FULL, 0), 1, mode=ONLY_VALUE)]
    steps.append(strided(WHOLE_REDUCE_MAX, (ub(D + 8, rep=1), ub(A)), (FULL, 0), 1))
    got, report = run(rig, {A: a}, np.zeros(8, np.float32), steps)
    assert report.causes() == []
    assert got[2] == a.max()


@pytest.mark.parametrize(("n", "bits"), [(10, 0b111), (100, 0b111), (100, FULL)])
def test_a_reduction_by_count_fills_a_mask_that_the_kernel_has_set(rig: Rig, n: int, bits: int) -> None:
    only = record(SET_MASK, V, line=31)
    only.mask[0], only.mask[1] = bits, bits if bits == FULL else 0
    reduction = reduce_all(REDUCE_MAX, F32, n)
    reduction.line = 32
    _, report = run(rig, {A: finite(F32, 128)}, np.zeros(64, np.float32), [only, reduction, strided(ABS, (ub(D), ub(A)), None, 1, line=33)])
    assert report.findings() == ([] if bits == FULL else ["default_mask_changed"])


def test_a_count_form_leaves_a_full_mask_and_a_kept_mask_form_uses_the_register(rig: Rig) -> None:
    a = finite(F32, 64)
    only = record(SET_MASK, V)
    only.mask[0] = 0b111
    kept = strided(REDUCE_SUM, (ub(D), ub(A), ub(WORK)), None, 1)
    got, _ = run(rig, {A: a}, np.zeros(8, np.float32), [only, kept])
    same_bits(got[:1], np.array([tree(a, np.arange(64) < 3)]))
    after = strided(WHOLE_REDUCE_SUM, (ub(D, rep=1), ub(A)), None, 1, mode=ONLY_VALUE)
    got, _ = run(rig, {A: a}, np.zeros(8, np.float32), [only, reduce_all(REDUCE_MAX, F32, 10), after])
    same_bits(got[:1], np.array([tree(a, np.ones(64, bool))]))
