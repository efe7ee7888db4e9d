"""Softmax of rows that come in parts, its logarithm and its format NZ, as kernels call them, on the engine, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array

APART = 65536
DTYPES = {"f16": (np.float16, np.float16), "f32": (np.float32, np.float32), "mixed": (np.float16, np.float32)}
SHAPES = [(1, 1), (3, 65), (70, 20), (9, 128), (20, 200)]


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


class Parts:
    """Two matrices of one shape; a kernel's results by number."""

    def __init__(self, rig: Rig, kind: str, rows: int, columns: int) -> None:
        self.rig, self.kind, self.rows, self.columns = rig, kind, rows, columns
        self.dtype, self.number = DTYPES[kind]
        data = np.random.default_rng(rows * 131 + columns).uniform(-5, 5, (2, rows, columns)).astype(self.dtype)
        self.one, self.two = data
        self.unit = 32 // data.itemsize
        self.pitch = -(-columns // self.unit) * self.unit

    def run(self, name: str) -> None:
        self.rig.reset()
        self.out = self.rig.allocate(5 * APART)
        data = np.concatenate([self.one, self.two])
        report = self.rig.run_kernel(f"{name} {self.kind}", self.rig.upload(data), self.out, self.rows, self.columns)
        assert report.causes() == []

    def matrix(self) -> Array:
        got = self.rig.download(self.out, self.rows * self.pitch, self.dtype).reshape(self.rows, self.pitch)
        return got[:, : self.columns].astype(np.float64)

    def blocks(self, which: int) -> Array:
        """Result `which`, a block of equal numbers per row."""
        dtype = self.dtype if which == 3 else self.number
        count = 32 // np.dtype(dtype).itemsize
        got = self.rig.download(self.out + which * APART, self.rows * count, dtype).reshape(self.rows, count)
        assert np.array_equal(got, np.repeat(got[:, :1], count, axis=1))
        return got[:, 0].astype(np.float64)

    def dense(self, which: int) -> Array:
        return self.rig.download(self.out + which * APART, self.rows, self.dtype).astype(np.float64)

    def close(self, got: Array, expected: Array) -> None:
        rtol, atol = (2e-5, 1e-6) if self.kind == "f32" else (4e-3, 1e-3)
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)


class Expected:
    """In double: the second part of rows of which the first was seen before."""

    def __init__(self, parts: Parts) -> None:
        one, two = parts.one.astype(np.float64), parts.two.astype(np.float64)
        before = one.max(axis=1)
        self.first = two.max(axis=1)
        self.max = np.maximum(before, self.first)
        self.factor = np.exp(before - self.max)
        self.exponentials = np.exp(two - self.max[:, None])
        self.kept = self.factor * np.exp(one - before[:, None]).sum(axis=1)
        self.sum = self.kept + self.exponentials.sum(axis=1)


@pytest.fixture(params=[(kind, shape) for kind in DTYPES for shape in SHAPES], ids=str)
def parts(rig: Rig, request: pytest.FixtureRequest) -> Parts:
    kind, shape = request.param
    return Parts(rig, kind, *shape)


@pytest.mark.parametrize("name", ["flash_two", "flash_small"])
def test_a_second_part_goes_on_with_the_maxima_and_sums_of_the_first(parts: Parts, name: str) -> None:
    parts.run(name)
    expected = Expected(parts)
    parts.close(parts.matrix(), expected.exponentials)
    parts.close(parts.blocks(1), expected.sum)
    assert np.array_equal(parts.blocks(2), expected.max)
    parts.close(parts.blocks(3), expected.factor)


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_numbers_of_rows_are_dense_where_a_kernel_wants_them_so(rig: Rig, kind: str, rows: int, columns: int) -> None:
    parts = Parts(rig, kind, rows, columns)
    parts.run("flash_dense")
    expected = Expected(parts)
    parts.close(parts.matrix(), expected.exponentials)
    parts.close(parts.dense(1), expected.sum)
    assert np.array_equal(parts.dense(2), expected.max)
    parts.close(parts.dense(3), expected.factor)
    assert np.array_equal(parts.dense(4), expected.first)


def test_the_first_version_divides_by_the_sums_and_tells_the_share_of_the_first_part(parts: Parts) -> None:
    parts.run("flash_one")
    expected = Expected(parts)
    parts.close(parts.matrix(), expected.exponentials / expected.sum[:, None])
    parts.close(parts.blocks(1), expected.sum)
    parts.close(parts.blocks(3), expected.kept / expected.sum)


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_a_logarithm_to_base_10_is_taken_of_the_quotients(rig: Rig, kind: str) -> None:
    parts = Parts(rig, kind, 37, 60)
    parts.run("log_softmax")
    one = parts.one.astype(np.float64)
    exponentials = np.exp(one - one.max(axis=1, keepdims=True))
    parts.close(parts.matrix(), np.log10(exponentials / exponentials.sum(axis=1, keepdims=True)))
    parts.close(parts.blocks(1), exponentials.sum(axis=1))


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize(("rows", "columns"), [(16, 32), (48, 80)])
def test_a_softmax_of_the_format_nz_takes_rows_from_their_fractals(rig: Rig, kind: str, rows: int, columns: int) -> None:
    parts = Parts(rig, kind, rows, columns)
    one = parts.one.astype(np.float64)
    parts.one = parts.one.reshape(rows, columns // 16, 16).transpose(1, 0, 2).reshape(rows, columns)
    parts.run("softmax_nz")
    exponentials = np.exp(one - one.max(axis=1, keepdims=True))
    got = parts.matrix().reshape(columns // 16, rows, 16).transpose(1, 0, 2).reshape(rows, columns)
    parts.close(got, exponentials / exponentials.sum(axis=1, keepdims=True))
    parts.close(parts.blocks(1), exponentials.sum(axis=1))
    assert np.array_equal(parts.blocks(2), one.max(axis=1))


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_the_gradient_of_a_softmax_of_the_format_nz_is_that_of_its_rows(rig: Rig, kind: str) -> None:
    parts = Parts(rig, kind, 32, 48)
    one, two = parts.one.astype(np.float64), parts.two.astype(np.float64)
    parts.one, parts.two = (part.reshape(32, 3, 16).transpose(1, 0, 2).reshape(32, 48) for part in (parts.one, parts.two))
    parts.run("softmax_grad_nz")
    got = parts.matrix().reshape(3, 32, 16).transpose(1, 0, 2).reshape(32, 48)
    np.testing.assert_allclose(got, (one - (one * two).sum(axis=1, keepdims=True)) * two, rtol=4e-3, atol=0.3 if kind == "f16" else 1e-4)


def part_means(x: Array) -> Array:
    """Means of eight parts of each row, by the sums that the page makes: of blocks of 8 in 512 columns, and 64 columns at a time beyond."""
    sums = x[:, :512].reshape(len(x), 64, 8).sum(axis=2) + x[:, 512:].reshape(len(x), -1, 64).sum(axis=1)
    means: Array = sums.reshape(len(x), 8, 8).sum(axis=2) / (x.shape[1] / 8)
    return means


def pasa(x: Array, calls: int, old: tuple[Array, Array, Array] | None) -> tuple[Array, Array, Array, Array]:
    """Exponentials, means, maxima and sums of the page's pseudo code, in double."""
    scalar = 0.9375 / (1 - 0.9375)
    local = part_means(x)
    mean = local.mean(axis=1)
    x = x - np.repeat((mean[:, None] - local) * scalar, x.shape[1] // 8, axis=1)
    all_mean = mean if old is None else (mean + old[0] * (calls - 1)) / calls
    shift = (mean - all_mean) * scalar
    most = x.max(axis=1) + shift
    if old is not None:
        before = (old[0] - all_mean) * scalar + old[1]
        most = np.maximum(most, before)
    exponentials = np.exp(x - (most - shift)[:, None])
    total = exponentials.sum(axis=1) + (0 if old is None else np.exp(before - most) * old[2])
    return exponentials, all_mean, most, total


@pytest.mark.parametrize("name", ["flash_pasa", "flash_pasa_small"])
@pytest.mark.parametrize(("rows", "columns"), [(8, 512), (24, 704)])
def test_the_third_version_shifts_the_parts_of_rows_by_their_means(rig: Rig, name: str, rows: int, columns: int) -> None:
    parts = Parts(rig, "mixed", rows, columns)
    parts.one, parts.two = (part / 4 for part in (parts.one, parts.two))
    parts.run(name)
    first = pasa(parts.one.astype(np.float64), 1, None)
    expected = pasa(parts.two.astype(np.float64), 2, first[1:])
    np.testing.assert_allclose(parts.matrix(), expected[0], rtol=4e-3, atol=1e-3)
    np.testing.assert_allclose(parts.blocks(4), expected[1], atol=1e-5)
    np.testing.assert_allclose(parts.blocks(2), expected[2], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(parts.blocks(1), expected[3], rtol=2e-4)


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("name", ["adjust", "adjust_dense"])
@pytest.mark.parametrize("found", [[], [0, 3]])
def test_rows_with_a_certain_maximum_become_a_certain_number(rig: Rig, kind: str, name: str, found: list[int]) -> None:
    parts = Parts(rig, kind, 5, 32)
    parts.two[:, 0] = 2
    parts.two[found, 0] = 1
    parts.run(name)
    expected = parts.one.astype(np.float64)
    expected[found] = 7
    assert np.array_equal(parts.matrix(), expected)
    assert parts.blocks(1)[0] == (1 if found else 0)
