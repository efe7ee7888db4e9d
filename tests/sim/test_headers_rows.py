"""SoftMax and reductions along an axis as kernels call them, on the engine, against NumPy."""

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


def values(rows: int, columns: int, dtype: type) -> Array:
    data = np.random.default_rng(rows * 4099 + columns).uniform(-6, 6, (rows, columns)).astype(dtype)
    data[0, 0] = 60  # a row of which one element is all
    return data


def softmax(data: Array) -> tuple[Array, Array, Array]:
    """In double: quotients, sums and maxima of the rows."""
    wide = data.astype(np.float64)
    most = wide.max(axis=1, keepdims=True)
    exponentials = np.exp(wide - most)
    total = exponentials.sum(axis=1, keepdims=True)
    return exponentials / total, total, most


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 65), (300, 20), (9, 128), (2, 2100)])
def test_rows_are_divided_by_the_sums_of_their_exponentials(rig: Rig, kind: str, rows: int, columns: int) -> None:
    data = values(rows, columns, DTYPES[kind])
    rig.reset()
    at = (data.nbytes + 31) // 32 * 32
    out = rig.allocate(at + 64 * rows)
    report = rig.run_kernel(f"softmax {kind}", rig.upload(data), out, rows, columns)
    assert report.causes() == []
    expected, total, most = softmax(data)
    got = rig.download(out, data.size, data.dtype).reshape(data.shape)
    np.testing.assert_allclose(got, expected, rtol=2e-3 if kind == "f16" else 1e-5, atol=1e-7 if kind == "f16" else 0)
    told = rig.download(out + at, 16 * rows, np.float32).reshape(2, rows, 8)
    np.testing.assert_allclose(told[0], np.repeat(total, 8, axis=1), rtol=3e-6)
    assert np.array_equal(told[1], np.repeat(most, 8, axis=1).astype(np.float32))


@pytest.mark.parametrize("kind", DTYPES)
def test_a_softmax_takes_the_tilings_shape_and_the_memory_that_is_left(rig: Rig, kind: str) -> None:
    data = values(12, 48, DTYPES[kind])
    rig.reset()
    out = rig.allocate(data.nbytes)
    assert rig.run_kernel(f"plain_softmax {kind}", rig.upload(data), out, 12, 48).causes() == []
    got = rig.download(out, data.size, data.dtype).reshape(data.shape)
    np.testing.assert_allclose(got, softmax(data)[0], rtol=2e-3 if kind == "f16" else 1e-5, atol=1e-7)


def test_rows_of_a_softmax_that_are_no_whole_blocks_are_refused(rig: Rig) -> None:
    data = values(4, 10, np.float32)
    rig.reset()
    assert rig.run_kernel("plain_softmax f32", rig.upload(data), rig.allocate(data.nbytes), 4, 10).causes() == ["bad_parameter"]


@pytest.mark.parametrize("name", ["sum", "max", "min"])
@pytest.mark.parametrize("axis", ["AR", "RA"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 8), (70, 33), (5, 200), (3, 2050)])
def test_one_of_two_axes_is_reduced(rig: Rig, name: str, axis: str, rows: int, columns: int) -> None:
    data = np.random.default_rng(5).uniform(-4, 4, (rows, columns)).astype(np.float32)
    expected = getattr(data.astype(np.float64), name)(axis=1 if axis == "AR" else 0)
    rig.reset()
    out = rig.allocate(expected.size * 4)
    assert rig.run_kernel(f"{name} {axis}", rig.upload(data), out, rows, columns).causes() == []
    got = rig.download(out, expected.size, np.float32)
    np.testing.assert_allclose(got, expected, rtol=1e-5 if name == "sum" else 0, atol=1e-4 if name == "sum" else 0)
