"""Gamma functions, padding, dropout, dequantised integers and interpolation, on the engine, against NumPy in double."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from engine_rig import AIC, MTE2, Rig, S, flag, get_value, gm, l1, load
from vector_run import Array

FLOATS: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "bf16": ml_dtypes.bfloat16}
DTYPES: dict[str, Any] = {**FLOATS, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def run(rig: Rig, name: str, parts: list[Array], results: int, dtype: Any, numbers: tuple[int, int]) -> Array:
    """What a kernel leaves that nothing is wrong with; the parts of its input lie whole blocks of 32 bytes apart."""
    rig.reset()
    packed = b"".join(part.tobytes() + bytes(-part.nbytes % 32) for part in parts)
    out = rig.allocate(results * np.dtype(dtype).itemsize)
    report = rig.run_kernel(name, rig.upload(np.frombuffer(packed, np.uint8)), out, *numbers)
    assert report.causes() == []
    return rig.download(out, results, dtype)


def digamma(x: float) -> float:
    """By the recurrence from far above, in double."""
    if x <= 0 and x == math.floor(x):
        return math.nan if x else -math.inf
    total = 0.0
    while x < 30:
        total, x = total - 1 / x, x + 1
    return total + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


@pytest.mark.parametrize("form", [0, 1])
@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize(("name", "model"), [("lgamma", math.lgamma), ("digamma", digamma)])
def test_gamma_functions_give_their_values_on_both_sides_of_zero(rig: Rig, name: str, model: Any, kind: str, form: int) -> None:
    rng = np.random.default_rng(7)
    data = np.concatenate([rng.uniform(-6, 12, 500), rng.uniform(0.01, 3, 100), rng.uniform(12, 2000, 40)]).astype(FLOATS[kind])
    data = data[np.abs(data - np.rint(data)) > 0.02][:544]
    expected = np.array([model(float(x)) for x in data])
    got = run(rig, f"{name} {kind}", [data], data.size, data.dtype, (data.size, form)).astype(np.float64)
    rtol, atol = (5e-6, 5e-6) if kind == "f32" else (1e-3, 5e-5)
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol * (40 if name == "digamma" else 1))


def test_gamma_functions_keep_infinities(rig: Rig) -> None:
    data = np.zeros(16, np.float32)
    data[1] = np.inf
    data[2:] = 1e30
    got = run(rig, "lgamma f32", [data], 16, np.float32, (16, 0))
    np.testing.assert_array_equal(got[:2], [np.inf, np.inf])
    np.testing.assert_allclose(got[2:], 1e30 * (math.log(1e30) - 1), rtol=1e-5)
    got = run(rig, "digamma f32", [data], 16, np.float32, (16, 0))
    np.testing.assert_array_equal(got[:2], [-np.inf, np.inf])


@pytest.mark.parametrize(("rows", "columns", "left", "right"), [(5, 15, 0, 1), (3, 9, 2, 4), (300, 19, 3, 2), (4, 33, 1, 0), (7, 48, 0, 5)])
@pytest.mark.parametrize("kind", ["f16", "f32", "i16", "u32"])
def test_rows_are_padded_to_whole_blocks(rig: Rig, kind: str, rows: int, columns: int, left: int, right: int) -> None:
    per_block = 32 // np.dtype(DTYPES[kind]).itemsize
    pitch = -(-columns // per_block) * per_block
    if pitch == columns:
        left = 0
    elif left + columns + right > pitch:
        left, right = 0, pitch - columns
    data = np.random.default_rng(rows).integers(0, 2000, (rows, columns)).astype(DTYPES[kind])
    got = run(rig, f"pad {kind}", [data], 2 * rows * pitch, data.dtype, (rows, columns | left << 16 | right << 24)).reshape(2, rows, pitch)
    if pitch == columns:
        expected = data.copy()
        expected[:, columns - right :] = 77
    else:
        expected = np.pad(data, ((0, 0), (left, right)), constant_values=77)
    for one in got:  # with a buffer and without
        np.testing.assert_array_equal(one[:, : expected.shape[1]], expected)


@pytest.mark.parametrize(("rows", "blocks", "right"), [(5, 1, 1), (260, 2, 3), (16, 3, 7)])
@pytest.mark.parametrize("kind", ["f16", "f32", "u16", "i32"])
def test_columns_at_the_right_are_taken_away(rig: Rig, kind: str, rows: int, blocks: int, right: int) -> None:
    columns = blocks * 32 // np.dtype(DTYPES[kind]).itemsize
    data = np.random.default_rng(rows).integers(0, 2000, (rows, columns)).astype(DTYPES[kind])
    got = run(rig, f"unpad {kind}", [data], 2 * rows * (columns - right), data.dtype, (rows, columns | right << 24))
    for one in got.reshape(2, rows, -1):
        np.testing.assert_array_equal(one, data[:, : columns - right])


def bits_of(keeps: Array, columns: int) -> Array:
    """Rows of bits, the first in the lowest of a byte, in `columns` bytes."""
    packed = np.packbits(keeps, axis=1, bitorder="little")
    return np.pad(packed, ((0, 0), (0, columns - packed.shape[1])), constant_values=0xA5)


DROPOUTS = [
    ("0 f16", 3, 64, 64, False),
    ("0 f32", 2, 64, 96, False),
    ("0 f32", 4, 256, 32, True),
    ("0 f16", 3, 48, 32, True),
    ("1 f16", 3, 48, 64, False),
    ("2 f32", 3, 24, 24, False),
    ("3 f32", 4, 64, 8, True),
    ("4 f16", 3, 400, 64, True),
]


@pytest.mark.parametrize(("kind", "rows", "columns", "masks", "is_bits"), DROPOUTS)
def test_what_a_mask_drops_is_zero_and_the_rest_is_divided(rig: Rig, kind: str, rows: int, columns: int, masks: int, is_bits: bool) -> None:
    rng = np.random.default_rng(columns)
    data = rng.uniform(-3, 3, (rows, columns)).astype(FLOATS[kind.split()[1]])
    data[0, 0] = np.inf
    keeps = rng.random((rows, columns)) < 0.7
    mask = bits_of(keeps, masks) if is_bits else np.pad(keeps.astype(np.uint8), ((0, 0), (0, masks - columns)), constant_values=1)
    got = run(rig, f"dropout {kind}", [data, mask], 2 * data.size, data.dtype, (rows, columns | masks << 16)).reshape(2, *data.shape)
    for one in got:
        np.testing.assert_array_equal(one, np.where(keeps, data * data.dtype.type(np.float32(1) / np.float32(0.75)), 0))


def pack_int4(data: Array) -> Array:
    """Two of a byte, the first in its low half."""
    halves = data.reshape(-1, 2).astype(np.int16) & 15
    return (halves[:, 0] | halves[:, 1] << 4).astype(np.uint8)


@pytest.mark.parametrize(("source", "kind"), [("i8", "f16"), ("i8", "bf16"), ("i4", "f16"), ("i4", "bf16"), ("turned i8", "f16"), ("turned i8", "bf16")])
def test_integers_get_their_offsets_and_scales(rig: Rig, source: str, kind: str) -> None:
    rng = np.random.default_rng(11)
    is_turned, most = source.startswith("turned"), 8 if "i4" in source else 128
    k, other, height = (64, 6, 6) if is_turned else (6, 128, 3)
    rows, columns = (other, k) if is_turned else (k, other)
    data = rng.integers(-most, most, (rows, columns)).astype(np.int8)
    offset, scale = (rng.uniform(low, 3, (height, 1 if is_turned else columns)).astype(FLOATS[kind]) for low in (-3, 0.1))
    packed = pack_int4(data) if "i4" in source else data
    got = run(rig, f"antiquant {source} {kind}", [packed, offset, scale], 6 * data.size, FLOATS[kind], (k, height | other << 8)).reshape(6, rows, columns)

    def wide(numbers: Array) -> Array:
        return np.repeat(numbers, rows // height, axis=0).astype(np.float32)

    def step(values: Array) -> Array:
        return values.astype(np.float16).astype(np.float32) if kind == "f16" else values

    whole = data.astype(np.float32)
    by_channel, by_number = step(step(whole + wide(offset)) * wide(scale)), step(step(whole + 3) * 2)
    results = [by_channel, by_channel, step(whole * wide(scale)), by_number, by_number, step(whole * 2)]
    for one, expected in zip(got, results, strict=True):
        np.testing.assert_array_equal(one.astype(np.float32), expected.astype(FLOATS[kind]).astype(np.float32))


@pytest.mark.parametrize("form", ["lanes", "bits"])
@pytest.mark.parametrize("weights", ["repeat", "block"])
@pytest.mark.parametrize(("horizontal", "vertical"), [(2, 2), (1, 3), (5, 1)])
def test_gathered_blocks_are_weighted_and_added_up(rig: Rig, weights: str, form: str, horizontal: int, vertical: int) -> None:
    rng = np.random.default_rng(horizontal)
    repeats = horizontal * vertical
    source = rng.uniform(-2, 2, 512).astype(np.float16)
    blocks = rng.integers(0, 32, (vertical, horizontal, 8))
    count = repeats * (8 if weights == "block" else 1)
    factors = np.zeros(-(-count // 16) * 16, np.float16)
    factors[:count] = rng.uniform(-2, 2, count)
    got = run(
        rig, f"bilinear {weights} {form}", [source, (blocks * 32).astype(np.uint32), factors], 384 * vertical, np.float16, (horizontal, vertical)
    ).reshape(vertical, 384)
    by = factors[:count].reshape(vertical, horizontal, -1, 1)
    products = (source.reshape(32, 16)[blocks] * by).astype(np.float16)
    total = products[:, 0]
    for next_one in range(1, horizontal):
        total = (total + products[:, next_one]).astype(np.float16)
    lanes = np.arange(128)
    active = lanes < 100 if form == "lanes" else np.where(lanes < 64, lanes % 2 == 0, lanes < 80)
    expected = np.full((vertical, 384), -1, np.float16)
    places = lanes // 16 * 32 + lanes % 16  # every other block
    expected[:, places[active]] = total.reshape(vertical, 128)[:, active]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("rows", "columns", "matrices"), [(4, 32, 2), (19, 16, 3), (1, 48, 1)])
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_columns_of_sixteen_become_rows_in_global_memory(rig: Rig, kind: str, rows: int, columns: int, matrices: int) -> None:
    step, pitch = -(-rows * columns // 256) * 256, matrices * (columns + 8) + 3
    data = np.random.default_rng(rows).uniform(-9, 9, (matrices, step)).astype(FLOATS[kind])
    got = run(rig, f"nz2nd {kind}", [data], rows * pitch, data.dtype, (rows, columns | matrices << 16)).reshape(rows, pitch)
    for at, matrix in enumerate(data):
        expected = matrix[: rows * columns].reshape(columns // 16, rows, 16).transpose(1, 0, 2).reshape(rows, columns)
        np.testing.assert_array_equal(got[:, at * (columns + 8) :][:, :columns], expected)


@pytest.mark.parametrize(("is_dump", "causes"), [(1, []), (0, ["unsupported_api"])])
def test_a_dump_reads_memories_that_no_scalar_unit_can(rig: Rig, is_dump: int, causes: list[str]) -> None:
    rig.reset()
    data = np.arange(100, 116, dtype=np.int32)
    read = get_value(l1(32))
    read.p[1] = is_dump
    report = rig.launch([load(l1(0), gm(rig.upload(data)), 64), *flag(MTE2, S), read], core_kind=AIC)
    assert report.causes() == causes
    assert report.answers[-1] == (data[8] if is_dump else 0)


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_whole_tensors_are_quantised_by_channel_and_constants_stand_for_counts(rig: Rig, kind: str) -> None:
    rng = np.random.default_rng(2)
    data, scale, offset = (rng.uniform(-30, 30, (rows, 64)).astype(FLOATS[kind]) for rows in (4, 1, 1))
    got = run(rig, f"quant {kind}", [data, scale / 10, offset], 4 * data.size, np.int8, (4, 0)).reshape(4, 4, 64)
    scaled = data.astype(np.float16) * (scale / 10).astype(np.float16)
    with_offset, with_two = (np.clip(np.rint(scaled + np.float16(by)), -128, 127) for by in (offset.astype(np.float16), 2))
    for one, expected in zip(got, (with_offset, with_offset, with_two, with_offset), strict=True):
        np.testing.assert_array_equal(one, expected)
