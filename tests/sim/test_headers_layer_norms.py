"""LayerNorm and its kin as kernels call them, on the engine, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array

DTYPES = {"f16": np.float16, "f32": np.float32}
SHAPES = [(1, 1), (3, 65), (70, 20), (9, 128), (17, 200)]


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


class Case:
    """A matrix of `rows` rows, with gamma and beta as two rows behind it."""

    def __init__(self, rig: Rig, kind: str, rows: int, columns: int) -> None:
        self.rig, self.kind, self.dtype, self.rows = rig, kind, DTYPES[kind], rows
        rng = np.random.default_rng(rows * 997 + columns)
        self.data = rng.uniform(-4, 4, (rows + 2, columns)).astype(self.dtype)
        self.x, self.gamma, self.beta = self.wide[:rows], self.wide[rows], self.wide[rows + 1]

    @property
    def wide(self) -> Array:
        return self.data.astype(np.float64)

    def run(self, name: str, numbers: type) -> tuple[Array, Array, Array]:
        """Rows, and the two numbers of each, as doubles."""
        rows, columns = self.x.shape
        size = rows * columns * self.data.itemsize
        behind = (size + 63) // 64 * 64
        self.rig.reset()
        out = self.rig.allocate(behind + 8 * rows)
        report = self.rig.run_kernel(f"{name} {self.kind}", self.rig.upload(self.data), out, rows, columns)
        assert report.causes() == []
        y = self.rig.download(out, rows * columns, self.dtype).reshape(rows, columns)
        ends = self.rig.download(out + behind, 2 * rows, numbers).reshape(2, rows)
        return y.astype(np.float64), ends[0].astype(np.float64), ends[1].astype(np.float64)

    def close(self, got: Array, expected: Array) -> None:
        rtol, atol = (4e-3, 1e-2) if self.kind == "f16" else (2e-5, 2e-5)
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)

    def layer_norm(self, epsilon: float) -> tuple[Array, Array, Array]:
        """Normalised rows, means and variances."""
        mean, variance = self.x.mean(axis=1), self.x.var(axis=1)
        return (self.x - mean[:, None]) / np.sqrt(variance + epsilon)[:, None], mean, variance


@pytest.fixture(params=[(kind, shape) for kind in DTYPES for shape in SHAPES], ids=str)
def case(rig: Rig, request: pytest.FixtureRequest) -> Case:
    kind, shape = request.param
    return Case(rig, kind, *shape)


@pytest.mark.parametrize("memory", ["", "_small"])
def test_rows_are_normalised_with_their_means_and_variances(case: Case, memory: str) -> None:
    epsilon = float(case.dtype(0.01))
    y, mean, variance = case.run(f"layer_norm{memory}", case.dtype)
    expected = case.layer_norm(epsilon)
    case.close(y, expected[0] * case.gamma + case.beta)
    case.close(mean, expected[1])
    case.close(variance, expected[2])


def test_rows_are_normalised_with_the_reciprocals_of_their_deviations(case: Case) -> None:
    y, mean, rstd = case.run("layer_norm_rstd", np.float32)
    expected = case.layer_norm(0.01)
    case.close(y, expected[0] * case.gamma + case.beta)
    np.testing.assert_allclose(mean, expected[1], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(rstd, 1 / np.sqrt(expected[2] + 0.01), rtol=1e-5)


def test_rows_are_normalised_without_gamma_and_beta_where_a_kernel_wants_none(case: Case) -> None:
    case.close(case.run("layer_norm_plain", np.float32)[0], case.layer_norm(0.01)[0])


def test_rows_are_normalised_by_given_means_and_variances(case: Case) -> None:
    y, _, rstd = case.run("normalize", np.float32)
    case.close(y, (case.x - 0.5) / 1.5 * case.gamma + case.beta)
    np.testing.assert_allclose(rstd, 1 / 1.5, rtol=1e-6)


@pytest.mark.parametrize("memory", ["", "_small"])
def test_gradients_of_a_layer_norm_flow_to_its_input_and_to_gamma_and_beta(case: Case, memory: str) -> None:
    rows, columns = case.x.shape
    unit = 32 // case.data.itemsize
    pitch = -(-columns // unit) * unit
    dy = np.random.default_rng(1).uniform(-2, 2, (rows, columns)).astype(case.dtype)
    data = np.concatenate([case.data[: rows + 1], dy])
    case.rig.reset()
    out = case.rig.allocate(4 * 65536)
    assert case.rig.run_kernel(f"layer_norm_grad{memory} {case.kind}", case.rig.upload(data), out, rows, columns).causes() == []

    def got(which: int, count: int) -> Array:
        return case.rig.download(out + which * 65536, count * pitch, case.dtype).reshape(count, pitch)[:, :columns].astype(np.float64)

    # Mean 0.25, variance 1.75, epsilon 0.25: the documented formulas with the roots worked out.
    wide, r = dy.astype(np.float64), 1 / np.sqrt(2.0)
    scaled, centred = wide * case.gamma, case.x - 0.25
    variance = (-0.5 * scaled * centred * r**3).sum(axis=1, keepdims=True)
    mean = (-scaled * r).sum(axis=1, keepdims=True) + variance / columns * (-2 * centred).sum(axis=1, keepdims=True)
    for_gamma = (centred * r).astype(case.dtype).astype(np.float64)
    rtol, atol = (1e-2, 0.05) if case.kind == "f16" else (1e-4, 1e-4)
    np.testing.assert_allclose(got(0, rows), scaled * r + variance * 2 / columns * centred + mean / columns, rtol=rtol, atol=atol)
    np.testing.assert_allclose(got(1, rows), for_gamma, rtol=rtol, atol=atol)
    np.testing.assert_allclose(got(2, 1)[0], (wide * for_gamma).sum(axis=0), rtol=rtol, atol=atol)
    np.testing.assert_allclose(got(3, 1)[0], wide.sum(axis=0), rtol=rtol, atol=atol)


def test_temporary_memory_that_is_too_small_for_a_layer_norm_is_reported(rig: Rig) -> None:
    case = Case(rig, "f32", 9, 128)
    out = rig.allocate(case.data.nbytes)
    assert rig.run_kernel("layer_norm_tiny f32", rig.upload(case.data), out, 9, 128).causes() == ["ub_overflow"]


def test_temporary_memory_of_a_layer_norm_that_is_what_it_reads_is_reported(rig: Rig) -> None:
    case = Case(rig, "f32", 64, 64)
    out = rig.allocate(case.data.nbytes)
    assert rig.run_kernel("layer_norm_overlap f32", rig.upload(case.data), out, 64, 64).causes()[0] == "bad_overlap"
