"""Atomic stores: sums and extremes in every dtype, no race among themselves, races with the others; against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest
from engine_rig import (
    BF16,
    F16,
    F32,
    I8,
    I16,
    I32,
    MTE2,
    MTE3,
    SET_ATOMIC,
    SIZE,
    U16,
    Record,
    Report,
    Rig,
    S,
    V,
    barrier,
    flag,
    gm,
    load,
    pad,
    record,
    store,
    sync_all,
    ub,
)
from vector_run import floats

NONE, ADD, MAX, MIN, TYPE_ONLY = range(5)
TYPES = {F16: np.float16, BF16: ml_dtypes.bfloat16, F32: np.float32, I8: np.int8, I16: np.int16, I32: np.int32}
MODELS = {ADD: np.add, MAX: np.maximum, MIN: np.minimum}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def atomic(mode: int, dtype: int = 0) -> Record:
    made = record(SET_ATOMIC, S, p=(mode,))
    made.dst.dtype = dtype
    return made


def numbers(dtype: int, n: int, seed: int) -> np.ndarray:
    if dtype in (I8, I16, I32):
        info = np.iinfo(TYPES[dtype])
        return np.random.default_rng(seed).integers(info.min, info.max, n, endpoint=True, dtype=TYPES[dtype])
    data = floats(np.float32, n, seed)
    return np.where(data == 0, 0.0, data).astype(TYPES[dtype])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("mode", MODELS)
def test_atomic_stores_combine_with_what_is_there(rig: Rig, mode: int, dtype: int) -> None:
    a, there = numbers(dtype, 100, 1), numbers(dtype, 100, 2)
    source, out = rig.upload(a.view(np.uint8)), rig.upload(there.view(np.uint8), is_mutable=True)
    steps = [pad(ub(0), gm(source), a.nbytes), *flag(MTE2, MTE3), atomic(mode, dtype), pad(gm(out, U16), ub(0, U16), 70 * SIZE[dtype]), atomic(NONE)]
    report = rig.launch(steps)
    with np.errstate(all="ignore"):
        expected = np.where(np.arange(100) < 70, MODELS[mode](there.astype(np.float32), a.astype(np.float32)), there.astype(np.float32))
        expected = MODELS[mode](there, a) if dtype in (I8, I16, I32) else expected.astype(TYPES[dtype])
        expected[70:] = there[70:]
    got = rig.download(out, a.nbytes, np.uint8).view(TYPES[dtype])
    np.testing.assert_array_equal(got.astype(np.float64), expected.astype(np.float64))
    assert report.causes() == []
    assert rig.stored(out) == f"0-{70 * SIZE[dtype]}"


def test_adding_to_what_the_host_copied_there_does_not_make_it_the_kernels(rig: Rig) -> None:
    source, out = rig.upload(np.ones(16, np.float32)), rig.allocate(64)
    rig.copy_in(out, np.ones(16, np.float32))
    steps = [load(ub(0), gm(source), 64), *flag(MTE2, MTE3), atomic(ADD, F32), pad(gm(out), ub(0), 64), atomic(NONE)]
    assert rig.launch(steps).causes() == []
    assert (rig.download(out, 1, np.float32)[0], rig.stored(out)) == (2, "")


def test_adding_to_what_a_kernel_stored_keeps_it_the_kernels(rig: Rig) -> None:
    source, out = rig.upload(np.ones(16, np.float32)), rig.allocate(64)
    steps = [load(ub(0), gm(source), 64), *flag(MTE2, MTE3), pad(gm(out), ub(0), 32), barrier(MTE3), atomic(ADD, F32), pad(gm(out), ub(0), 32), atomic(NONE)]
    assert rig.launch(steps).causes() == []
    assert (rig.download(out, 1, np.float32)[0], rig.stored(out)) == (2, "0-32")


def test_none_ends_it_and_a_type_alone_keeps_the_kind(rig: Rig) -> None:
    source, out = rig.upload(np.full(8, 3, np.int32)), rig.upload(np.full(24, 10, np.int32), is_mutable=True)
    begin = [load(ub(0), gm(source), 32), *flag(MTE2, MTE3), atomic(ADD, F32), atomic(TYPE_ONLY, I32)]
    steps = [store(gm(out, I32), ub(0, I32), 32), atomic(NONE), store(gm(out + 32, I32), ub(0, I32), 32), atomic(TYPE_ONLY, I32)]
    rig.launch([*begin, *steps, store(gm(out + 64, I32), ub(0, I32), 32)])
    assert rig.download(out, 24, np.int32).reshape(3, 8)[:, 0].tolist() == [13, 3, 3]


def adding(rig: Rig, source: int, *steps: Record, dtype: int = I32) -> list[Record]:
    return [load(ub(0), gm(source), 32), *flag(MTE2, MTE3), atomic(ADD, dtype), *steps, atomic(NONE)]


def test_cores_add_to_one_address_without_a_race(rig: Rig) -> None:
    source, out = rig.upload(np.full(8, 3, np.int32)), rig.upload(np.zeros(8, np.int32), is_mutable=True)
    twice = [store(gm(out, I32), ub(0, I32), 32)] * 2
    report = rig.launch(*[adding(rig, source, *twice)] * 4)
    assert report.diagnostics == []
    assert rig.download(out, 8, np.int32).tolist() == [24] * 8


def test_the_order_of_float_sums_by_several_cores_is_noted(rig: Rig) -> None:
    source, out = rig.upload(np.full(8, 3, np.float32)), rig.upload(np.zeros(8, np.float32), is_mutable=True)
    program = adding(rig, source, store(gm(out), ub(0), 32), dtype=F32)
    assert rig.launch(program, program).findings() == ["other"]
    assert rig.launch(program).diagnostics == []


def raced(rig: Rig, other: list[Record], out: int, source: int) -> Report:
    return rig.launch(adding(rig, source, store(gm(out, I32), ub(0, I32), 32)), other)


def test_atomic_stores_race_with_plain_ones_and_with_reads(rig: Rig) -> None:
    source, out = rig.upload(np.full(8, 3, np.int32)), rig.upload(np.zeros(16, np.int32), is_mutable=True)
    plain = [load(ub(0), gm(source), 32), *flag(MTE2, MTE3), store(gm(out, I32), ub(0, I32), 32)]
    reading = [load(ub(0), gm(out), 32)]
    for other in (plain, reading):
        assert raced(rig, other, out, source).causes() == ["missing_sync"]
        assert rig.launch(other, adding(rig, source, store(gm(out, I32), ub(0, I32), 32))).causes() == ["missing_sync"]
    assert raced(rig, [load(ub(0), gm(out + 32), 32)], out, source).causes() == []


def test_a_sync_all_separates_atomic_stores_from_reads(rig: Rig) -> None:
    source, out = rig.upload(np.full(8, 3, np.int32)), rig.upload(np.zeros(8, np.int32), is_mutable=True)
    program = adding(rig, source, store(gm(out, I32), ub(0, I32), 32), sync_all(), load(ub(64), gm(out), 32))
    assert rig.launch(program, program).diagnostics == []


def test_within_a_core_atomic_stores_need_no_barrier_but_reads_need_a_flag(rig: Rig) -> None:
    source, out = rig.upload(np.full(8, 3, np.int32)), rig.upload(np.zeros(8, np.int32), is_mutable=True)
    report = rig.launch(adding(rig, source, *[store(gm(out, I32), ub(0, I32), 32, line=at) for at in (1, 2)], load(ub(64), gm(out), 32, line=3)))
    assert [(found["cause"], found["line"]) for found in report.diagnostics] == [("missing_sync", 3)]
    plain_after = adding(rig, source, store(gm(out, I32), ub(0, I32), 32, line=1), atomic(NONE), store(gm(out, I32), ub(0, I32), 32, line=2))
    assert [found["line"] for found in rig.launch(plain_after).diagnostics] == [2]


def test_adding_to_memory_that_nobody_wrote_is_reported(rig: Rig) -> None:
    source, out = rig.upload(np.full(8, 3, np.int32)), rig.allocate(32)
    report = rig.launch(adding(rig, source, store(gm(out, I32), ub(0, I32), 32)))
    assert "nobody has written" in report.first("undefined_data")["message"]


def test_atomic_stores_are_of_whole_elements(rig: Rig) -> None:
    source, out = rig.upload(np.full(8, 3, np.int32)), rig.upload(np.zeros(8, np.int32), is_mutable=True)
    for target, nbytes in ((out + 2, 8), (out, 6)):
        assert rig.launch(adding(rig, source, pad(gm(target, U16), ub(0, U16), nbytes))).causes() == ["misaligned"]


@pytest.mark.parametrize(("mode", "dtype"), [(ADD, U16), (ADD, 0), (5, F32)])
def test_other_atomic_stores_do_not_exist(rig: Rig, mode: int, dtype: int) -> None:
    assert rig.launch([atomic(mode, dtype)]).causes() == ["unsupported_api"]


def test_atomic_stores_left_on_are_a_finding_at_the_call_that_chose_them(rig: Rig) -> None:
    chosen = atomic(ADD, F32)
    chosen.line = 5
    report = rig.launch([chosen])
    assert (report.causes(), report.findings()) == ([], ["other"])
    assert report.first("other")["line"] == 5
    assert "SetAtomicNone" in report.first("other")["message"]


def test_loads_are_not_atomic(rig: Rig) -> None:
    source = rig.upload(np.full(8, 3, np.float32))
    report = rig.launch([load(ub(0), gm(source), 32), atomic(ADD, F32), load(ub(64), gm(source), 32), *flag(MTE2, V), atomic(NONE)])
    assert report.diagnostics == []
