"""Selections by bytes, running sums, products, means and truths along an axis and the framework's copies, on the engine, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array

FLOATS = {"f16": np.float16, "f32": np.float32}
MASKS = {"bool": np.bool_, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "u32": np.uint32, "i32": np.int32}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def run(rig: Rig, name: str, data: Array, results: int, a: int, b: int = 0) -> Array:
    """What a kernel leaves that nothing is wrong with; `results` elements of the data's type."""
    rig.reset()
    out = rig.allocate(results * data.itemsize)
    report = rig.run_kernel(name, rig.upload(data), out, a, b)
    assert report.causes() == []
    return rig.download(out, results, data.dtype)


@pytest.mark.parametrize(("rows", "columns"), [(1, 16), (3, 48), (2, 400)])
@pytest.mark.parametrize("kind", ["f16 bool", "f16 i16", "f16 u32", "f32 u8", "f32 u16", "f32 i32"])
def test_elements_are_chosen_by_numbers_that_are_zero_or_not(rig: Rig, kind: str, rows: int, columns: int) -> None:
    number, mask_kind = kind.split()
    rng = np.random.default_rng(rows)
    data = rng.uniform(-3, 3, (rows, columns)).astype(FLOATS[number])
    data[0, :3] = np.inf, np.nan, 0
    wide = (columns + 63) // 32 * 32
    mask = (rng.integers(0, 2, (rows, wide)) * rng.integers(1, 120, (rows, wide))).astype(MASKS[mask_kind])
    if mask_kind in ("u16", "u32", "i16", "i32"):
        mask[0, :2] = np.array([-1, -32768]).astype(MASKS[mask_kind])
    rig.reset()
    packed = np.frombuffer(data.tobytes() + mask.tobytes(), np.uint8)
    out = rig.allocate(data.nbytes)
    report = rig.run_kernel(f"select_bytes {kind}", rig.upload(packed), out, rows, columns)
    assert report.causes() == []
    is_zero = mask[:, :columns] == 0
    wanted = is_zero if mask_kind in ("bool", "u16", "i32") else ~is_zero
    np.testing.assert_array_equal(rig.download(out, data.size, data.dtype).reshape(data.shape), np.where(wanted, data, data.dtype.type(-7.5)))


def sequential(data: Array, axis: int) -> Array:
    """Sums in float, one after another, rounded once."""
    return np.add.accumulate(data.astype(np.float32), axis=axis, dtype=np.float32).astype(data.dtype)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(("rows", "columns"), [(1, 16), (5, 24), (33, 48), (17, 136)])
@pytest.mark.parametrize("way", ["along", "down"])
def test_sums_run_along_an_axis_in_the_documented_order(rig: Rig, way: str, kind: str, rows: int, columns: int) -> None:
    columns += 0 if kind == "f32" else columns % 16
    data = np.random.default_rng(columns).uniform(-2, 2, (rows, columns)).astype(FLOATS[kind])
    lines = rows if way == "along" else columns
    got = run(rig, f"cumsum {way} {kind}", data, data.size + lines, rows, columns)
    expected = sequential(data, 1 if way == "along" else 0)
    np.testing.assert_array_equal(got[: data.size].reshape(data.shape), expected)
    np.testing.assert_array_equal(got[data.size :], expected[:, -1] if way == "along" else expected[-1])


def by_halves(data: Array) -> Array:
    """Sklansky along the first axis, in float."""
    sums = data.astype(np.float32)
    half = 1
    while half < len(sums):
        for begin in range(half, len(sums), 2 * half):
            sums[begin : begin + half] += sums[begin - 1]
        half *= 2
    return sums.astype(data.dtype)


@pytest.mark.parametrize(("way", "kind"), [("along", "f32"), ("down", "f32"), ("down", "f16")])
def test_sums_by_halves_are_added_as_the_adder_does(rig: Rig, way: str, kind: str) -> None:
    data = np.random.default_rng(3).uniform(-2, 2, (19, 48)).astype(FLOATS[kind])
    got = run(rig, f"cumsum {way} halves {kind}", data, data.size, *data.shape).reshape(data.shape)
    np.testing.assert_array_equal(got, by_halves(data) if way == "down" else by_halves(data.T.copy()).T)


SHAPES = [(1, 1), (3, 8), (17, 65), (40, 20), (2, 300), (3, 2100)]


def both_forms(rig: Rig, name: str, data: Array, expected: Array) -> tuple[Array, Array]:
    """Results with and without a buffer, and what either has to be."""
    got = run(rig, name, data, 2 * expected.size, *data.shape).reshape(2, expected.size)
    return got, np.tile(expected, (2, 1))


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_products_and_means_go_along_either_axis(rig: Rig, rows: int, columns: int) -> None:
    data = np.random.default_rng(rows).uniform(0.9, 1.1, (rows, columns)).astype(np.float32)
    data[:, 0] *= -1
    wide = data.astype(np.float64)
    for axis, name in ((1, "AR"), (0, "RA")):
        np.testing.assert_allclose(*both_forms(rig, f"prod {name} f32", data, wide.prod(axis)), rtol=3e-5)
        np.testing.assert_allclose(*both_forms(rig, f"mean {name} f32", data, wide.mean(axis)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 32), (17, 65), (70, 33)])
@pytest.mark.parametrize("kind", ["u8", "f32"])
def test_all_and_any_go_along_either_axis(rig: Rig, kind: str, rows: int, columns: int) -> None:
    rng = np.random.default_rng(columns)
    mixed = rng.random((rows, columns)) < rng.choice([0.02, 0.5, 0.98], (rows, 1))
    mixed[rows // 2] = rows % 2 == 0
    data = mixed.astype(np.uint8 if kind == "u8" else np.float32)
    for axis, name in ((1, "ar"), (0, "ra")):
        np.testing.assert_array_equal(*both_forms(rig, f"all_{name} {kind}", data, mixed.all(axis)))
        np.testing.assert_array_equal(*both_forms(rig, f"any_{name} {kind}", data, mixed.any(axis)))


@pytest.mark.parametrize(("n", "most"), [(16, 100), (272, 100), (1040, 20000), (1040, -20000)])
def test_a_sum_of_xors_saturates(rig: Rig, n: int, most: int) -> None:
    rng = np.random.default_rng(n)
    data = (rng.integers(0, abs(most), 2 * n) * np.sign(most)).astype(np.int16)
    if most == -20000:
        data[n:] = 0
    expected = np.clip((data[:n] ^ data[n:]).astype(np.int64).sum(), -32768, 32767)
    assert [run(rig, "xor_sum", data, 1, n, form)[0] for form in (0, 1)] == [expected] * 2


@pytest.mark.parametrize("kind", ["f16", "f32", "i16", "i32"])
def test_arange_counts_up(rig: Rig, kind: str) -> None:
    dtype = {**FLOATS, "i16": np.int16, "i32": np.int32}[kind]
    np.testing.assert_array_equal(run(rig, f"arange {kind}", np.zeros(16, dtype), 200, 200), (3 + 2 * np.arange(200)).astype(dtype))


def test_the_frameworks_copies_take_pointers(rig: Rig) -> None:
    n = 37
    data = np.random.default_rng(5).integers(0, 2**32, 2 * n, dtype=np.uint64).astype(np.uint32)
    got = run(rig, "framework_copies", data, 2 * n + 24, n)
    np.testing.assert_array_equal(got, np.concatenate([data, data[:16], np.full(8, 77, np.uint32)]))


def words(rig: Rig, blocks: int, kind: int, kernel: str = "words") -> tuple[Array, list[str]]:
    rig.reset()
    flags = rig.upload(np.zeros(32 * blocks, np.int32), is_mutable=True)
    out = rig.upload(np.zeros(8, np.int32), is_mutable=True)
    report = rig.run_kernel(kernel, flags, out, kind, blocks=blocks)
    return rig.download(out, 8, np.int32), report.causes()


WORDS = pytest.mark.parametrize("kernel", ["words", "words through the cache", "words in the middle of lines"])


@WORDS
def test_blocks_wait_for_words_that_others_store_past_their_caches_or_clean_out_of_them(rig: Rig, kernel: str) -> None:
    got, causes = words(rig, 6, 0, kernel)
    expected = 0
    for turn in range(6):
        expected = (expected + turn) * 3
    assert causes == []
    np.testing.assert_array_equal(got, np.full(8, expected))


@WORDS
def test_without_the_words_the_blocks_race(rig: Rig, kernel: str) -> None:
    assert set(words(rig, 3, 1, kernel)[1]) == {"missing_sync"}


@pytest.mark.parametrize("kernel", ["words", "words through the cache"])
def test_words_that_wait_for_each_other_are_a_deadlock(rig: Rig, kernel: str) -> None:
    assert words(rig, 3, 2, kernel)[1] == ["deadlock"]


def test_a_core_that_counts_its_tries_gives_up(rig: Rig) -> None:
    rig.reset()
    out = rig.allocate(16)
    report = rig.run_kernel("gives_up", rig.upload(np.zeros(2, np.int64)), out, 50, blocks=2)
    assert report.causes() == []
    np.testing.assert_array_equal(rig.download(out, 2, np.int64), [50, 50])


@pytest.mark.parametrize(("is_clean", "causes", "value"), [(0, ["missing_sync"], 5), (1, [], 6)])
def test_a_store_past_the_cache_under_a_line_that_is_written_back_later_is_reported(rig: Rig, is_clean: int, causes: list[str], value: int) -> None:
    rig.reset()
    out = rig.allocate(64)
    report = rig.run_kernel("dirty_line", rig.upload(np.zeros(1, np.int32)), out, is_clean)
    assert report.causes() == causes
    assert rig.download(out, 1, np.int32)[0] == value
