"""DeepNorm, GroupNorm, BatchNorm and Welford's steps as kernels call them, on the engine, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array

APART = 65536
DTYPES = {"f16": np.float16, "f32": np.float32}
KINDS = sorted(DTYPES)


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def rows_of(rows: int, columns: int, kind: str) -> Array:
    return np.random.default_rng(rows * 53 + columns).uniform(-3, 3, (rows, columns)).astype(DTYPES[kind])


def run(rig: Rig, name: str, data: Array, shape: tuple[int, int]) -> int:
    """Address of the results."""
    rig.reset()
    out = rig.allocate(3 * APART)
    assert rig.run_kernel(name, rig.upload(data), out, *shape).causes() == []
    return out


def take(rig: Rig, address: int, count: int, kind: str) -> Array:
    return rig.download(address, count, DTYPES[kind]).astype(np.float64)


def close(got: Array, expected: Array, kind: str) -> None:
    rtol, atol = (4e-3, 1.5e-2) if kind == "f16" else (3e-5, 3e-5)
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "columns"), [(1, 8), (7, 65), (20, 200)])
def test_a_deep_norm_is_the_layer_norm_of_a_weighted_sum(rig: Rig, kind: str, rows: int, columns: int) -> None:
    data = rows_of(2 * rows + 2, columns, kind)
    out = run(rig, f"deep_norm {kind}", data, (rows, columns))
    wide = data.astype(np.float64)
    total = 0.75 * wide[:rows] + wide[rows + 2 :]
    mean, variance = total.mean(axis=1), total.var(axis=1)
    close(
        take(rig, out, rows * columns, kind).reshape(rows, columns),
        (total - mean[:, None]) / np.sqrt(variance + 0.5)[:, None] * wide[rows] + wide[rows + 1],
        kind,
    )
    behind = out + (rows * columns * data.itemsize + 63) // 64 * 64
    numbers = take(rig, behind, 2 * rows, kind).reshape(2, rows)
    close(numbers[0], mean, kind)
    close(numbers[1], variance, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("memory", ["", "_small"])
@pytest.mark.parametrize(("rows", "columns"), [(8, 16), (24, 48)])
def test_groups_of_channels_are_normalised_and_scaled_channel_by_channel(rig: Rig, kind: str, memory: str, rows: int, columns: int) -> None:
    data = rows_of(rows + 2, columns, kind)
    out = run(rig, f"group_norm{memory} {kind}", data, (rows, columns))
    wide = data.astype(np.float64)
    channels = rows // 2
    groups = wide[:rows].reshape(4, -1)
    mean, variance = groups.mean(axis=1), groups.var(axis=1)
    normal = ((groups - mean[:, None]) / np.sqrt(variance + 0.5)[:, None]).reshape(2, channels, columns)
    gamma, beta = wide[rows, :channels], wide[rows + 1, :channels]
    close(take(rig, out, rows * columns, kind).reshape(2, channels, columns), normal * gamma[:, None] + beta[:, None], kind)
    close(take(rig, out + APART, 4, kind), mean, kind)
    close(take(rig, out + 2 * APART, 4, kind), variance, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "columns"), [(1, 16), (7, 32), (18, 400)])
def test_elements_are_normalised_over_the_batch(rig: Rig, kind: str, rows: int, columns: int) -> None:
    data = rows_of(rows + 2, columns, kind)
    out = run(rig, f"batch_norm {kind}", data, (rows, columns))
    wide = data.astype(np.float64)
    batch = wide[:rows]
    mean, variance = batch.mean(axis=0), batch.var(axis=0)
    gamma, beta = wide[rows, :rows, None], wide[rows + 1, :rows, None]
    close(take(rig, out, rows * columns, kind).reshape(rows, columns), (batch - mean) / np.sqrt(variance + 0.5) * gamma + beta, kind)
    close(take(rig, out + APART, columns, kind), mean, kind)
    close(take(rig, out + 2 * APART, columns, kind), variance, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["welford_update", "welford_update_inplace"])
@pytest.mark.parametrize("columns", [8, 77, 200])
def test_running_means_and_squares_take_a_part_more(rig: Rig, kind: str, name: str, columns: int) -> None:
    data = rows_of(3, columns, kind)
    out = run(rig, f"{name} {kind}", data, (3, columns))
    x, mean, squares = data.astype(np.float64)
    new_mean = mean + (x - mean) * 0.25
    new_squares = squares + (x - mean) * (x - new_mean)
    rest = (mean[-3:], squares[-3:]) if name.endswith("inplace") else (-1, -1)
    new_mean[-3:], new_squares[-3:] = rest
    close(take(rig, out, columns, "f32"), new_mean, "f32")
    close(take(rig, out + APART, columns, "f32"), new_squares, "f32")


@pytest.mark.parametrize("name", ["plain", "tail", "counts"])
@pytest.mark.parametrize("columns", [8, 64, 328])
def test_running_means_become_one_mean_and_one_variance(rig: Rig, name: str, columns: int) -> None:
    data = rows_of(3, columns, "f32")
    data[1] = np.abs(data[1])
    data[2] = np.arange(columns) % 5 + 1
    out = run(rig, f"welford_finalize {name}", data, (3, columns))
    mean, squares, counts = data.astype(np.float64)
    if name == "plain":
        counts = np.full(columns, 4.0)
    if name == "tail":
        counts = np.full(columns, 5.0)
        counts[-3:] = 2
    share = 1 / (4 * columns) if name != "tail" else 1 / counts.sum()
    all_mean = mean.mean() if name == "plain" else (mean * counts).sum() * share
    variance = (squares.sum() + (counts * (mean - all_mean) ** 2).sum()) * share
    got = take(rig, out, 16, "f32")
    close(got[[0, 8]], np.array([all_mean, variance]), "f32")
    assert not got[1:8].any()
    assert not got[9:].any()
