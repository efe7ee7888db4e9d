"""AddDeqRelu and CastDequant, instruction by instruction: forms, the register, what is refused; against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import ADD_DEQ_RELU, CAST_DEQUANT, F16, FULL, I8, I16, I32, SET_DEQ_SCALE, U8, Record, Rig, S, count, record, strided, ub
from vector_run import A, Array, B, D, run, same_bits


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def word(scale: float, offset: int, is_signed: bool) -> int:
    """The register's documented bits."""
    return int(np.float32(scale).view(np.uint32)) | (offset & 0x1FF) << 37 | int(is_signed) << 46


def set_scale(bits: int) -> Record:
    return record(SET_DEQ_SCALE, S, scalar=bits)


def half_scale(value: float) -> Record:
    return set_scale(int(np.float16(value).view(np.uint16)))


def whole_numbers(n: int, seed: int, most: int) -> Array:
    return np.random.default_rng(seed).integers(-most, most, n).astype(np.int32)


def relu_of_sum(a: Array, b: Array, scale: float) -> Array:
    total = (a.astype(np.int64) + b + 2**31) % 2**32 - 2**31
    with np.errstate(over="ignore"):
        return np.maximum((total * np.float64(np.float16(scale))).astype(np.float16), np.float16(0))


@pytest.mark.parametrize("n", [1, 64, 500])
@pytest.mark.parametrize(("scale", "most"), [(0.1, 1000), (0.5, 2**30), (2.0, 2**31 - 1)])
def test_a_sum_is_scaled_and_cut_at_zero(rig: Rig, n: int, scale: float, most: int) -> None:
    a, b, d = whole_numbers(512, 1, most), whole_numbers(512, 2, most), np.full(512, 7, np.float16)
    steps = [half_scale(scale), count(ADD_DEQ_RELU, (ub(D, F16), ub(A, I32), ub(B, I32)), n)]
    got, report = run(rig, {A: a, B: b}, d, steps)
    assert report.diagnostics == []
    same_bits(got, np.concatenate([relu_of_sum(a, b, scale)[:n], d[n:]]))


def test_the_mask_of_a_scaled_sum_counts_its_wide_lanes(rig: Rig) -> None:
    a, b, d = whole_numbers(512, 1, 900), whole_numbers(512, 2, 900), np.full(512, 7, np.float16)
    lanes = 0x8000_0000_0000_0F05
    operands = (ub(D, F16, rep=4), ub(A, I32), ub(B, I32, blk=0, rep=1))
    got, report = run(rig, {A: a, B: b}, d, [half_scale(0.5), strided(ADD_DEQ_RELU, operands, (lanes, 0), 3)])
    assert report.diagnostics == []
    expected = d.copy()
    for repeat in range(3):
        for lane in (lane for lane in range(64) if lanes >> lane & 1):
            x, y, to = repeat * 64 + lane, repeat * 8 + lane % 8, repeat * 64 + lane
            expected[to] = relu_of_sum(a[x : x + 1], b[y : y + 1], 0.5)[0]
    same_bits(got, expected)


def test_a_scaled_sum_is_three_instructions_one_after_another(rig: Rig) -> None:
    a = whole_numbers(64, 1, 9)
    _, report = run(rig, {A: a, B: a}, np.zeros(64, np.float16), [half_scale(1), count(ADD_DEQ_RELU, (ub(D, F16), ub(A, I32), ub(B, I32)), 64)])
    _, one = run(rig, {A: a, B: a}, np.zeros(64, np.float16), [half_scale(1)])
    assert len(report.trace[0]) - len(one.trace[0]) == 5  # with two barriers between


def test_a_scaled_sum_without_a_scale_is_undefined(rig: Rig) -> None:
    a = whole_numbers(64, 1, 9)
    _, report = run(rig, {A: a, B: a}, np.zeros(64, np.float16), [count(ADD_DEQ_RELU, (ub(D, F16), ub(A, I32), ub(B, I32)), 64)])
    assert report.causes() == ["undefined_data"]


def quantised(values: Array, scale: float, offset: int, is_signed: bool) -> Array:
    low, high = (-128, 127) if is_signed else (0, 255)
    return np.clip(np.rint(values * np.float64(scale) + offset), low, high).astype(np.int8 if is_signed else np.uint8)


@pytest.mark.parametrize("is_signed", [True, False])
@pytest.mark.parametrize("is_upper", [True, False])
def test_strides_move_whole_blocks_of_which_half_is_written(rig: Rig, is_signed: bool, is_upper: bool) -> None:
    source = np.random.default_rng(1).integers(-600, 600, 4096).astype(np.int16)
    dst = np.full(16384, 9, np.int8 if is_signed else np.uint8)
    mask = (0xF00F_8001_0000_0005, FULL)
    operands = (ub(D, I8 if is_signed else U8, blk=2, rep=17), ub(A, I16, rep=9))
    steps = [set_scale(word(0.25, -255, is_signed)), strided(CAST_DEQUANT, operands, mask, 3, mode=2 if is_upper else 0)]
    got, report = run(rig, {A: source}, dst, steps)
    assert report.diagnostics == []
    expected = dst.copy()
    for repeat in range(3):
        for lane in (lane for lane in range(128) if mask[lane // 64] >> (lane % 64) & 1):
            block, inside = divmod(lane, 16)
            to = (repeat * 17 + block * 2) * 32 + 16 * is_upper + inside
            value = source[(repeat * 9 + block) * 16 + inside]
            expected[to] = quantised(np.array([value]), 0.25, -255, is_signed)[0]
    same_bits(got, expected)


def test_the_scale_has_ten_bits_of_mantissa(rig: Rig) -> None:
    source = np.full(16, 100, np.int16)
    got, _ = run(rig, {A: source}, np.zeros(32, np.int8), [set_scale(word(1 + 2**-11, 0, True)), count(CAST_DEQUANT, (ub(D, I8), ub(A, I16)), 16)])
    same_bits(got, np.concatenate([np.full(16, 100), np.zeros(16)]).astype(np.int8))
    got, _ = run(rig, {A: source}, np.zeros(32, np.int8), [set_scale(word(1 + 2**-7, 0, True)), count(CAST_DEQUANT, (ub(D, I8), ub(A, I16)), 16)])
    assert got[0] == 101


@pytest.mark.parametrize(
    ("bits", "mode", "cause"),
    [(word(1, 0, False), 0, "bad_parameter"), (None, 0, "undefined_data"), (0x3FFF, 1, "bad_parameter"), (100000 // 32, 1, "undefined_data")],
)
def test_parameters_that_can_not_be_meant_are_refused(rig: Rig, bits: int | None, mode: int, cause: str) -> None:
    steps = [count(CAST_DEQUANT, (ub(D, I8), ub(A, I16)), 16, mode=mode)]
    if bits is not None:
        steps.insert(0, set_scale(bits))
    _, report = run(rig, {A: np.zeros(16, np.int16)}, np.zeros(32, np.int8), steps)
    assert cause in report.causes()


def test_nothing_is_done_for_no_elements(rig: Rig) -> None:
    dst = np.full(64, 5, np.int8)
    steps = [set_scale(word(1, 0, True)), count(CAST_DEQUANT, (ub(D, I8), ub(A, I16)), 0), strided(CAST_DEQUANT, (ub(D, I8), ub(A, I16)), (FULL, FULL), 0)]
    got, report = run(rig, {A: np.zeros(16, np.int16)}, dst, steps)
    assert report.diagnostics == []
    same_bits(got, dst)
