"""Registers of a core: the scale of Cast, saturation, what maxima leave behind, Select by the compare register."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import (
    ADD,
    CAST,
    F16,
    F32,
    GET_CTRL,
    GET_REDUCE_BEST,
    I32,
    MTE2,
    NUMPY,
    RINT,
    SELECT,
    SET_CMP_MASK,
    SET_CTRL,
    SET_DEQ_SCALE,
    SET_MASK,
    SIZE,
    U8,
    WHOLE_REDUCE_MAX,
    WHOLE_REDUCE_MIN,
    Record,
    Rig,
    S,
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

REGISTER = 0x10


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def scale(value: float) -> Record:
    return record(SET_DEQ_SCALE, S, scalar=bits_of(np.float16(value)))


@pytest.mark.parametrize("factor", [1.0, 0.37, -2.0, 6e-5])
def test_a_cast_from_int32_to_half_multiplies_by_the_scale_and_rounds_once(rig: Rig, factor: float) -> None:
    data = np.random.default_rng(3).integers(-(2**31), 2**31, 300).astype(np.int32) >> np.arange(300, dtype=np.int32) % 31
    got, report = run(rig, {A: data}, np.zeros(300, np.float16), [scale(factor), count(CAST, (ub(D, F16), ub(A, I32)), 300, mode=RINT)])
    assert report.diagnostics == []
    with np.errstate(over="ignore"):
        same_bits(got, (data.astype(np.float64) * np.float64(np.float16(factor))).astype(np.float16))


def test_a_cast_without_a_scale_is_undefined(rig: Rig) -> None:
    data = np.arange(64, dtype=np.int32)
    _, report = run(rig, {A: data}, np.zeros(64, np.float16), [count(CAST, (ub(D, F16), ub(A, I32)), 64, mode=RINT)])
    assert report.causes() == ["undefined_data"]
    assert "SetDeqScale" in report.first("undefined_data")["message"]


def test_halves_saturate_when_bit_48_of_ctrl_is_cleared(rig: Rig) -> None:
    a = np.array([65504, -65504, np.inf, -np.inf, np.nan, 1], np.float16)
    b = np.array([65504, -65504, 1, 1, 1, 1], np.float16)
    total = count(ADD, (ub(D, F16), ub(A, F16), ub(B, F16)), 6)
    kept, _ = run(rig, {A: a, B: b}, np.zeros(6, np.float16), [total])
    same_bits(kept, np.array([np.inf, -np.inf, np.inf, -np.inf, np.nan, 2], np.float16))
    cut, _ = run(rig, {A: a, B: b}, np.zeros(6, np.float16), [record(SET_CTRL, S, scalar=0), total])
    same_bits(cut, np.array([65504, -65504, 65504, -65504, 0, 2], np.float16))
    assert rig.launch([record(GET_CTRL, S)]).answers[0] == 1 << 48


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize(("opcode", "best"), [(WHOLE_REDUCE_MAX, np.argmax), (WHOLE_REDUCE_MIN, np.argmin)])
def test_value_and_index_over_all_repeats_stay_in_a_register(rig: Rig, opcode: int, best: object, dtype: int) -> None:
    lanes = 256 // SIZE[dtype]
    data = np.random.default_rng(8).permutation(5 * lanes).astype(NUMPY[dtype])
    step = strided(opcode, (ub(D, dtype, rep=1), ub(A, dtype)), ((1 << 64) - 1, (1 << 64) - 1), 5)
    rig.reset()
    program = [pad(ub(A), gm(rig.upload(data)), data.nbytes), *flag(MTE2, V), step, record(GET_REDUCE_BEST, S, p=(0,)), record(GET_REDUCE_BEST, S, p=(1,))]
    answers = rig.launch(program).answers[-2:]
    assert callable(best)
    index = int(best(data))
    assert [int(answer) for answer in answers] == [bits_of(data[index : index + 1]), index]


def by_register(mode: int, src1: object = None, *, dtype: int = F32, repeats: int = 2) -> Record:
    operands = (ub(D, dtype), ub(A, dtype)) if src1 is None else (ub(D, dtype), ub(A, dtype), src1)
    return strided(SELECT, operands, None, repeats, mode=mode | REGISTER)  # type: ignore[arg-type]


def put(place: int) -> Record:
    made = record(SET_CMP_MASK, V)
    made.src0 = ub(place, U8)
    return made


def all_lanes() -> Record:
    made = record(SET_MASK, V)
    made.mask[0] = made.mask[1] = (1 << 64) - 1
    return made


def bits(selection: Array, n: int) -> Array:
    return np.resize(np.unpackbits(selection, bitorder="little"), n).astype(bool)


@pytest.mark.parametrize("dtype", [F16, F32])
def test_select_takes_the_bits_from_the_register(rig: Rig, dtype: int) -> None:
    lanes = 256 // SIZE[dtype]
    a, b, selection = floats(NUMPY[dtype], 2 * lanes), floats(NUMPY[dtype], 2 * lanes, 2), np.random.default_rng(1).integers(0, 256, 16).astype(np.uint8)
    got, report = run(rig, {A: a, B: b, C: selection}, np.zeros(2 * lanes, NUMPY[dtype]), [put(C), all_lanes(), by_register(0, ub(B, dtype), dtype=dtype)])
    assert report.causes() == []
    same_bits(got, np.where(bits(selection[: lanes // 8], 2 * lanes), a, b))


def test_select_takes_the_other_value_from_the_register(rig: Rig) -> None:
    a, value, selection = floats(np.float32, 128), np.full(4, 2.5, np.float32), np.random.default_rng(1).integers(0, 256, 16).astype(np.uint8)
    steps = [put(B), all_lanes(), by_register(1, ub(C, U8))]
    got, report = run(rig, {A: a, B: value, C: selection}, np.zeros(128, np.float32), steps)
    assert report.causes() == []
    same_bits(got, np.where(bits(selection, 128), a, np.float32(2.5)))


def test_select_takes_the_address_of_the_bits_from_the_register(rig: Rig) -> None:
    a, b, selection = floats(np.float32, 128), floats(np.float32, 128, 2), np.random.default_rng(1).integers(0, 256, 16).astype(np.uint8)
    pointer = np.array([C, 0, 0, 0], np.uint32)
    steps = [put(C + 1024), all_lanes(), by_register(2, ub(B))]
    got, report = run(rig, {A: a, B: b, C: selection, C + 1024: pointer}, np.zeros(128, np.float32), steps)
    assert report.causes() == []
    same_bits(got, np.where(bits(selection, 128), a, b))


def test_select_by_a_register_that_nobody_set_is_reported(rig: Rig) -> None:
    a = floats(np.float32, 128)
    _, report = run(rig, {A: a, B: a}, np.zeros(128, np.float32), [all_lanes(), by_register(0, ub(B))])
    assert report.causes() == ["undefined_data"]
