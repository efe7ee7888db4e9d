"""Functions of rows as kernels call them, on the engine, against NumPy: sums and means, RmsNorm, the SoftMax family, maxima of halves along an axis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array

DTYPES = {"f16": np.float16, "f32": np.float32}
SHAPES = [(1, 1), (3, 65), (70, 20), (9, 128)]


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


class Rows:
    """Two matrices of one shape, and what a kernel makes of them."""

    def __init__(self, rig: Rig, kind: str, rows: int, columns: int) -> None:
        self.rig, self.kind, self.dtype = rig, kind, DTYPES[kind]
        rng = np.random.default_rng(rows + 31 * columns)
        self.one = rng.uniform(-3, 3, (rows, columns)).astype(self.dtype)
        self.two = rng.uniform(0.5, 2, (rows, columns)).astype(self.dtype)
        self.unit = 32 // self.one.itemsize
        self.pitch = -(-columns // self.unit) * self.unit
        self.tolerance = {"rtol": 3e-3, "atol": 4e-3} if kind == "f16" else {"rtol": 2e-5, "atol": 2e-6}

    def run(self, name: str, count: int) -> Array:
        """`count` elements of the result, as doubles."""
        self.rig.reset()
        out = self.rig.allocate(count * self.one.itemsize)
        data = np.concatenate([self.one, self.two])
        report = self.rig.run_kernel(f"{name} {self.kind}", self.rig.upload(data), out, *self.one.shape)
        assert report.causes() == []
        return self.rig.download(out, count, self.dtype).astype(np.float64)

    def matrix(self, name: str) -> Array:
        """A result of the shape of the data."""
        rows, columns = self.one.shape
        return self.run(name, rows * self.pitch).reshape(rows, self.pitch)[:, :columns]

    def close(self, got: Array, expected: Array) -> None:
        np.testing.assert_allclose(got, expected, **self.tolerance)


@pytest.fixture(params=[(kind, shape) for kind in DTYPES for shape in SHAPES], ids=str)
def rows(rig: Rig, request: pytest.FixtureRequest) -> Rows:
    kind, shape = request.param
    return Rows(rig, kind, *shape)


def doubles(rows: Rows) -> tuple[Array, Array]:
    return rows.one.astype(np.float64), rows.two.astype(np.float64)


def test_rows_are_summed(rows: Rows) -> None:
    rows.close(rows.run("row_sum", len(rows.one)), doubles(rows)[0].sum(axis=1))


def test_rows_are_averaged(rows: Rows) -> None:
    rows.close(rows.run("row_mean", len(rows.one)), doubles(rows)[0].mean(axis=1))


def test_rows_are_divided_by_their_root_mean_square(rows: Rows) -> None:
    one, two = doubles(rows)
    rows.close(rows.matrix("rms_norm"), one / np.sqrt((one**2).mean(axis=1, keepdims=True) + 0.5) * two[:1])


def test_the_gradient_of_a_softmax_is_taken_row_by_row(rows: Rows) -> None:
    one, two = doubles(rows)
    got, expected = rows.matrix("softmax_grad"), (one - (one * two).sum(axis=1, keepdims=True)) * two
    np.testing.assert_allclose(got, expected, rtol=3e-3 if rows.kind == "f16" else 2e-5, atol=0.1 if rows.kind == "f16" else 1e-4)


def test_the_front_of_the_gradient_fills_a_block_for_each_row(rows: Rows) -> None:
    one, two = doubles(rows)
    got = rows.run("softmax_front", len(one) * rows.unit).reshape(len(one), rows.unit)
    np.testing.assert_allclose(got, np.repeat((one * two).sum(axis=1, keepdims=True), rows.unit, axis=1), rtol=3e-3, atol=2e-2)


def test_a_softmax_tells_sums_and_maxima_in_its_own_type(rows: Rows) -> None:
    one, n = doubles(rows)[0], len(rows.one)
    got = rows.run("softmax_numbers", n * (rows.pitch + 2 * rows.unit))
    sums, maxima = got[n * rows.pitch :].reshape(2, n, rows.unit)
    most = one.max(axis=1, keepdims=True)
    exponentials = np.exp(one - most)
    total = exponentials.sum(axis=1, keepdims=True)
    rows.close(got[: n * rows.pitch].reshape(n, rows.pitch)[:, : one.shape[1]], exponentials / total)
    rows.close(sums, np.repeat(total, rows.unit, axis=1))
    assert np.array_equal(maxima, np.repeat(most, rows.unit, axis=1))


@pytest.mark.parametrize("kind", DTYPES)
def test_a_simple_softmax_takes_the_sums_and_maxima_it_is_given(rig: Rig, kind: str) -> None:
    rows = Rows(rig, kind, 5, 64)
    n, unit = 5, rows.unit
    numbers = np.ones(rows.two.size)
    numbers[: n * unit] = np.repeat(np.arange(2, 7), unit)
    numbers[n * unit : 2 * n * unit] = np.repeat(np.arange(5) * 0.5, unit)
    rows.two = numbers.reshape(rows.two.shape).astype(rows.dtype)
    expected = np.exp(rows.one.astype(np.float64) - np.arange(5)[:, None] * 0.5) / np.arange(2, 7)[:, None]
    rows.close(rows.matrix("softmax_again"), expected)


def test_maxima_of_rows_are_exact(rows: Rows) -> None:
    assert np.array_equal(rows.run("axis_max", len(rows.one)), doubles(rows)[0].max(axis=1))


def test_minima_of_columns_are_exact(rows: Rows) -> None:
    assert np.array_equal(rows.run("axis_min_of_columns", rows.one.shape[1]), doubles(rows)[0].min(axis=0))


def test_memory_of_a_softmax_that_is_what_it_reads_is_reported(rig: Rig) -> None:
    rows = Rows(rig, "f32", 64, 64)
    out = rig.allocate(rows.one.nbytes)
    assert rig.run_kernel("softmax_overlap f32", rig.upload(np.concatenate([rows.one, rows.two])), out, 64, 64).causes()[0] == "bad_overlap"
