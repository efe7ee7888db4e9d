"""Further calls of Matmul objects on vector cores: batches, results in both memories, all of C in local memory, IBSHARE, scales, parts of k; against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from cube_steps import narrowed
from engine_rig import F16, F32, I8, SIZE, Report, Rig
from test_engine_matmul import RESULTS, fractals, whole
from test_engine_matmul_forms import tiling

BATCH, BATCH_LOCAL, N_BATCH, BOTH, ALL_LOCAL, EVERYTHING, PARTS, STRIPS, BATCH_LATER, LATER = range(10)
NO_WORKSPACE = 9
M, N, K = 32, 48, 64
CUT = (16, 48, 32)
Values = npt.NDArray[Any]
GENERATOR = np.random.default_rng(31)


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


@dataclass
class Call:
    """Both vector cores do the same with their parts; `steps` are the elements of A, B and C from one's part to the other's."""

    kernel: str
    way: int
    a: Values
    b: Values
    out: Values
    steps: tuple[int, int, int] = (0, 0, 0)
    counts: tuple[int, int, int] = (0, 0, 0)
    scales: Values | None = None
    dtype: int = F16
    option: int = 0
    fields: list[int] = field(default_factory=lambda: tiling((M, N, K), CUT))

    def run(self, rig: Rig) -> tuple[Report, Values, Values]:
        """Report, C and what the kernel put into its workspace."""
        workspace = rig.upload(np.zeros_like(self.out), is_mutable=True)
        addresses = [
            *(rig.upload(narrowed(values, self.dtype)) for values in (self.a, self.b)),
            0 if self.scales is None else rig.upload(self.scales),
            workspace,
        ]
        numbers = [self.way, *self.counts, *self.steps]
        parts = [np.array(self.fields, np.int32), np.array(addresses, np.uint64).view(np.int32), np.array(numbers, np.int32)]
        source, out = rig.upload(np.concatenate(parts)), rig.upload(self.out, is_mutable=True)
        report = rig.run_kernel(f"asked{self.kernel}", source, out, self.option, 0)
        size, dtype = self.out.size, self.out.dtype.type
        return report, *(rig.download(at, size, dtype).reshape(self.out.shape) for at in (out, workspace))


@pytest.mark.parametrize(("way", "loops"), [(BATCH, 1), (BATCH_LOCAL, 1), (N_BATCH, 2), (BATCH_LATER, 1)])
def test_a_batch_is_asked_for_at_once(rig: Rig, way: int, loops: int) -> None:
    count = 2 * loops
    a, b = whole(2 * count * M, K).reshape(2 * count, M, K), whole(2 * count * K, N).reshape(2 * count, K, N)
    steps = (count * M * K, count * K * N, count * M * N)
    report, got, _ = Call(" batch", way, a, b, np.zeros((2 * count, M, N), np.float32), steps, (2, 2, loops)).run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, a @ b)


def test_batches_in_fractals_take_whole_ones(rig: Rig) -> None:
    m, n, count = 24, 48, 2
    a, b = whole(2 * count * m, K).reshape(2 * count, m, K), whole(2 * count * K, n).reshape(2 * count, K, n)
    call = Call(" batch strips", N_BATCH, a, b, np.zeros((2 * count, 48 * 32), np.float32), (count * m * K, count * K * n, count * 48 * 32), (1, 1, count))
    call.fields = tiling((m, n, K), CUT)
    report, got, _ = call.run(rig)
    assert report.diagnostics == []
    strips = got.reshape(2 * count, 3, 32, 16).transpose(0, 2, 1, 3).reshape(2 * count, 32, 48)
    np.testing.assert_array_equal(strips[:, :m], a @ b)


def own_rows(kernel: str, way: int, result: int = F32, columns: int = N, *, dtype: int = F16) -> tuple[Call, Values]:
    """Each vector core has its M rows of C."""
    a, b = whole(2 * M, K), whole(K, columns)
    call = Call(kernel, way, a, b, np.zeros((2 * M, columns), RESULTS[result]), (M * K, 0, M * columns), dtype=dtype)
    call.fields = tiling((M, columns, K), CUT if SIZE[dtype] == 2 else (16, 64, 64))
    return call, a @ b


def test_a_block_goes_to_global_and_local_memory(rig: Rig) -> None:
    call, expected = own_rows("", BOTH)
    report, got, copied = call.run(rig)
    assert report.diagnostics == []
    blocks = expected.reshape(2, 2, 16, N)
    np.testing.assert_array_equal(copied, expected)
    np.testing.assert_array_equal(got.reshape(2, 2, 16, N)[:, 0], blocks[:, 1])  # every block went to the same place


def test_a_block_is_fetched_into_local_memory_later(rig: Rig) -> None:
    call, expected = own_rows("", LATER)
    call.fields = tiling((M, N, K), (M, N, 32))
    report, got, _ = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("way", [N_BATCH, LATER])
def test_results_for_later_need_a_workspace(rig: Rig, way: int) -> None:
    call, _ = own_rows(" batch" if way == N_BATCH else "", way)
    call.option, call.counts = NO_WORKSPACE, (1, 1, 1)
    assert "call SetWorkspace first" in call.run(rig)[0].first("device_exception")["message"]


def test_all_of_c_goes_to_local_memory(rig: Rig) -> None:
    call, expected = own_rows("", ALL_LOCAL)
    report, got, _ = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, expected)


def test_rows_in_local_memory_are_filled_up_to_32_bytes(rig: Rig) -> None:
    call, expected = own_rows(" aligned", ALL_LOCAL, F16, 40 + 4)
    report, got, _ = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, expected)


def test_c_in_local_memory_may_be_in_fractals(rig: Rig) -> None:
    call, expected = own_rows(" strips", STRIPS, F16)
    report, got, _ = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got.reshape(2, -1), [fractals(half.astype(np.float16), 16).ravel() for half in expected.reshape(2, M, N)])


def test_scales_go_with_the_message(rig: Rig) -> None:
    call, expected = own_rows(" scaled", EVERYTHING, F16, 64, dtype=I8)
    factors = 2.0 ** -GENERATOR.integers(1, 5, 64)
    call.scales = factors.astype(np.float32).view(np.uint32).astype(np.uint64)
    report, got, _ = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, expected * factors)


def test_a_product_that_both_cores_share_is_computed_once(rig: Rig) -> None:
    a, b = whole(M, K), whole(K, N)
    report, got, _ = Call(" shared", EVERYTHING, a, b, np.zeros((M, N), np.float32), option=1).run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, a @ b)  # added once to the zeros


def test_a_shared_product_for_local_memory_is_refused(rig: Rig) -> None:
    report, _, _ = Call(" shared", ALL_LOCAL, whole(M, K), whole(K, N), np.zeros((M, N), np.float32)).run(rig)
    assert "IBSHARE of A and B is not supported" in report.first("device_exception")["message"]


def test_parts_of_k_are_fetched_one_by_one(rig: Rig) -> None:
    call, _ = own_rows(" partial", PARTS)
    call.out = np.zeros((2, 2, 2, 16, N), np.float32)  # core, rows, part
    call.steps = (M * K, 0, 2 * M * N)
    report, got, _ = call.run(rig)
    assert report.diagnostics == []
    a, b = call.a.reshape(2, 2, 16, 2, 32), call.b.reshape(2, 32, N)
    np.testing.assert_array_equal(got, np.einsum("crmpk,pkn->crpmn", a, b))


def test_c_that_does_not_fit_on_its_way_to_local_memory_is_refused(rig: Rig) -> None:
    call, _ = own_rows("", ALL_LOCAL)
    call.a, call.b, call.out = whole(2 * 256, K), whole(K, 192), np.zeros((2 * 256, 192), np.float32)
    call.fields, call.steps = tiling((256, 192, K), (16, 48, 32)), (256 * K, 0, 256 * 192)
    assert "take it in smaller parts" in call.run(rig)[0].first("device_exception")["message"]
