"""Do functions of rows give the same without a buffer as with one, and of the format NZ as of rows? One form of each is compared with NumPy elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array

APART, REGION, NUMBERS = 65536, 16384, 8192
DTYPES = {"f16": np.float16, "f32": np.float32}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def matrices(rows: int, columns: int, kind: str) -> Array:
    return np.random.default_rng(rows + columns).uniform(0.25, 2, (4, rows, columns)).astype(DTYPES[kind])


def left(rig: Rig, name: str, data: Array, calls: int) -> list[Array]:
    """Bytes that each call leaves: a matrix, and tensors of numbers behind it."""
    rig.reset()
    out = rig.allocate(calls * APART)
    assert rig.run_kernel(name, rig.upload(data), out, *data.shape[1:]).causes() == []
    return [rig.download(out + call * APART, REGION, np.uint8) for call in range(calls)]


@pytest.mark.parametrize(
    ("name", "shape", "pairs"),
    [
        ("norms f16", (16, 48), 7),
        ("norms f32", (16, 48), 7),
        ("gradients f16", (16, 48), 4),
        ("gradients f32", (16, 48), 4),
        ("welford", (16, 48), 3),
        ("softmaxes f16", (16, 48), 4),
        ("softmaxes f32", (16, 48), 4),
        ("softmaxes mixed", (16, 48), 4),
        ("pasa", (8, 512), 1),
    ],
)
def test_a_call_without_a_buffer_leaves_what_it_leaves_with_one(rig: Rig, name: str, shape: tuple[int, int], pairs: int) -> None:
    data = matrices(*shape, "f32" if name.endswith(("f32", "welford")) else "f16")
    found = left(rig, name, data, 2 * pairs)
    untouched = np.full(REGION // data.itemsize, 0.5, data.dtype).view(np.uint8)
    for one, other in zip(found[::2], found[1::2], strict=True):
        assert not np.array_equal(one, untouched)
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("rows", "columns"), [(16, 48), (32, 32)])
def test_matrices_in_fractals_give_what_their_rows_give(rig: Rig, kind: str, rows: int, columns: int) -> None:
    data = matrices(rows, columns, kind)
    in_fractals = data.reshape(4, rows, columns // 16, 16).transpose(0, 2, 1, 3).reshape(data.shape)
    by_rows, nz = (left(rig, f"fractals {form} {kind}", given, 5) for form, given in (("rows", data), ("nz", in_fractals)))
    size = data[0].nbytes
    for one, other in zip(by_rows, nz, strict=True):
        matrix = one[:size].view(data.dtype).reshape(rows, columns // 16, 16).transpose(1, 0, 2)
        np.testing.assert_array_equal(other[:size].view(data.dtype), matrix.reshape(-1))
        np.testing.assert_array_equal(one[NUMBERS:], other[NUMBERS:])
