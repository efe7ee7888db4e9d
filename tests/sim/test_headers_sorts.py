"""Whole sorts, TopK and quantisation as kernels call them, on the engine, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array

DTYPES = {"f16": np.float16, "f32": np.float32}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def run(rig: Rig, name: str, data: bytes, nbytes: int, a: int = 0, b: int = 0) -> bytes:
    """The bytes that the kernel leaves, after nothing was wrong."""
    rig.reset()
    out = rig.allocate(nbytes)
    report = rig.run_kernel(name, rig.upload(np.frombuffer(data, np.uint8)), out, a, b)
    assert report.causes() == []
    return rig.download(out, nbytes, np.uint8).tobytes()


def scores(n: int, dtype: type) -> Array:
    """With ties, which keep their order."""
    return (np.random.default_rng(n).integers(-200, 200, n) * 0.5).astype(dtype)


def order(data: Array) -> Array:
    return np.argsort(-data.astype(np.float64), kind="stable")


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("n", [32, 64, 128, 160, 544, 2080])
def test_a_full_sort_is_stable_and_descending(rig: Rig, kind: str, n: int) -> None:
    data = scores(n, DTYPES[kind])
    got = run(rig, f"sort {kind}", data.tobytes(), n * (data.itemsize + 4), n, 1)
    assert np.array_equal(np.frombuffer(got, data.dtype, n), data[order(data)])
    assert np.array_equal(np.frombuffer(got, np.uint32, n, n * data.itemsize), order(data))


@pytest.mark.parametrize("kind", DTYPES)
def test_a_sort_that_is_not_full_sorts_each_32(rig: Rig, kind: str) -> None:
    data = scores(128, DTYPES[kind])
    got = run(rig, f"sort {kind}", data.tobytes(), 128 * (data.itemsize + 4), 128, 0)
    expected = np.concatenate([32 * i + order(data[32 * i : 32 * i + 32]) for i in range(4)])
    assert np.array_equal(np.frombuffer(got, np.uint32, 128, 128 * data.itemsize), expected)


def test_a_merge_that_stops_tells_how_many_it_took(rig: Rig) -> None:
    data = np.concatenate([np.arange(32) + 100, np.arange(64) * 3.0]).astype(np.float32)
    got = run(rig, "merge f32", data.tobytes(), 800)
    second = np.sort(data[32:])[::-1]
    above = int((second > 100).sum())
    assert np.frombuffer(got, np.uint32, 2, 768).tolist() == [32, above]
    merged = np.frombuffer(got, np.float32, 2 * (32 + above))[::2]
    assert np.array_equal(merged, np.sort(np.concatenate([data[:32], second[:above]]))[::-1])


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("is_small", [False, True])
@pytest.mark.parametrize("form", ["largest", "smallest", "indices", "finished"])
@pytest.mark.parametrize(("k", "rows"), [(1, 1), (5, 7), (16, 3)])
def test_the_first_of_each_row_are_taken(rig: Rig, kind: str, is_small: bool, form: str, k: int, rows: int) -> None:
    inner, n, dtype = (32, 30, DTYPES[kind]) if is_small else (64, 60, DTYPES[kind])
    sign = -1 if form == "smallest" else 1
    data = (sign * scores(rows * inner, dtype)).reshape(rows, inner)
    data[:, n:] = -sign * 30000.0
    given = np.tile(1000 + np.arange(inner, dtype=np.int32), (rows if is_small else 1, 1))
    finish = (np.arange(rows) % 2).astype(np.uint8)
    item = data.itemsize
    pitch, told = (k, k) if is_small else (-(-k * item // 32) * 32 // item, -(-k // 8) * 8)
    mode = ["largest", "smallest", "indices", "finished"].index(form)
    payload = data.tobytes() + given.tobytes() + finish.tobytes()
    got = run(rig, f"top_k{'_small' * is_small} {kind}", payload, rows * (pitch * item + told * 4), k + 256 * mode, rows)
    best = np.array([order(sign * row)[:k] for row in data])
    index = np.frombuffer(got, np.int32, rows * told, rows * pitch * item).reshape(rows, told)[:, :k]
    assert np.array_equal(np.frombuffer(got, dtype, rows * pitch).reshape(rows, pitch)[:, :k], np.take_along_axis(data, best, 1))
    expected = best + 1000 * (form == "indices")
    if form == "finished" and not is_small:
        expected[finish == 1] = n
    assert np.array_equal(index, expected)


def bfloat(data: Array) -> Array:
    """Floats that a bfloat16 has, as bits."""
    return (data.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def rounded_bfloat(data: Array) -> Array:
    bits = data.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


@pytest.mark.parametrize(
    "types", ["dequant f32 f32", "dequant f32 bf16", "dequant bf16 f32", "dequant f16 u64", "dequant_by_one f32 f32", "dequant_by_one bf16 bf16"]
)
@pytest.mark.parametrize(("rows", "columns"), [(1, 8), (5, 24), (3, 96)])
def test_rows_are_dequantised(rig: Rig, types: str, rows: int, columns: int) -> None:
    kernel, to, by = types.split()
    rng = np.random.default_rng(6)
    data = rng.integers(-3000, 3000, (rows, columns)).astype(np.int32)
    scales = (rng.integers(1, 64, columns) / 256).astype(np.float32)
    packed = {"f32": scales, "bf16": bfloat(scales), "u64": scales.view(np.uint32) | np.uint64(0xABCD << 32)}[by]
    item = 4 if to == "f32" else 2
    pitch, counted = -(-columns * item // 32) * 32 // item, columns - 3
    got = np.frombuffer(run(rig, types, data.tobytes() + packed.tobytes(), rows * pitch * item, rows, columns), f"u{item}").reshape(rows, pitch)
    product = data[:, :counted].astype(np.float32) * (scales[:1] if kernel == "dequant_by_one" else scales[:counted])
    expected = {"f32": product.view(np.uint32), "bf16": rounded_bfloat(product), "f16": product.astype(np.float16).view(np.uint16)}[to]
    assert np.array_equal(got[:, :counted], expected)
    assert not got[:, counted:columns].any()


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("form", [0, 1, 2])
def test_values_are_quantised_in_half_by_numbers_or_channels(rig: Rig, kind: str, form: int) -> None:
    rng = np.random.default_rng(7)
    columns, n = 96, 96 * 9
    data, scales, offsets = (rng.uniform(*ends, size).astype(DTYPES[kind]) for ends, size in [((-60, 60), n), ((0.5, 2), columns), ((-4, 4), columns)])
    got = run(rig, f"quant{form} {kind}", data.tobytes() + scales.tobytes() + offsets.tobytes(), n, n, columns)
    halves = [part.astype(np.float16) for part in (data.reshape(9, columns), scales, offsets)]
    scale, offset = (np.float16(2) if form == 0 else halves[1]), (halves[2] if form == 2 else np.float16(1))
    expected = np.clip(np.rint((halves[0] * scale + offset).astype(np.float64)), -128, 127).astype(np.int8)
    assert np.array_equal(np.frombuffer(got, np.int8), expected.ravel())
