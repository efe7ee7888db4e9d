"""Matmul objects of vector cores: asked by both or by one, into global memory or the unified buffer, at once or later: right, and nothing is reported."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cube_steps import narrowed
from engine_rig import F16, MTE3, TASK_TYPE, VNPU, Report, Rig, S, flag, gm, record, set_value, store, ub
from test_engine_matmul import SMALL, Values, whole

ALL, ALL_LATER, BY_BLOCK, INTO_LOCAL, AHEAD, FROM_LOCAL = range(6)
M, N, K = 128, 96, 96
KERNELS = {ALL: "mixed matmul", ALL_LATER: "mixed matmul", BY_BLOCK: "mixed matmul", INTO_LOCAL: "mixed matmul into ub", AHEAD: "mixed matmul into ub"}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def product(
    rig: Rig, way: int, only: int = -1, *, kernel: str = "", blocks: int = 1, rows: int = M // 2, columns: tuple[int, int] = (N, 48)
) -> tuple[Report, Values, Values]:
    """Its report, C [2 * blocks * rows, n] and what C has to be if all vector cores ask; `columns`: n and those of a base block."""
    m, (n, base) = 2 * blocks * rows, columns
    a, b, bias = whole(m, K), whole(K, n), np.arange(n)
    case = replace(SMALL, shape=(m, n, K), cut=(min(rows, 32), base, 32), bias=1, tiling={"singleCoreM": rows})
    addresses = [rig.upload(narrowed(a, F16)), rig.upload(narrowed(b, F16)), rig.upload(bias.astype(np.float32)), rig.allocate(m * n * 4)]
    numbers = np.array([way, only], np.int32)
    source = rig.upload(np.concatenate([np.array(case.fields(), np.int32), np.array(addresses, np.uint64).view(np.int32), numbers]))
    out = rig.upload(np.zeros(m * n, np.float32), is_mutable=True)
    report = rig.run_kernel(kernel or KERNELS.get(way, "mixed matmul from ub"), source, out, 0, blocks=blocks)
    return report, rig.download(out, m * n, np.float32).reshape(m, n), a @ b + bias


@pytest.mark.parametrize("only", [-1, 0, 1])
@pytest.mark.parametrize("way", [ALL, ALL_LATER, BY_BLOCK, INTO_LOCAL, AHEAD, FROM_LOCAL])
def test_both_vector_cores_get_their_rows(rig: Rig, way: int, only: int) -> None:
    report, got, expected = product(rig, way, only)
    assert report.diagnostics == []
    if only >= 0:
        expected[(1 - only) * M // 2 : (2 - only) * M // 2] = 0
    np.testing.assert_array_equal(got, expected)


def test_negative_results_become_0_where_the_configuration_says_relu(rig: Rig) -> None:
    report, got, expected = product(rig, ALL, kernel="mixed matmul with relu")
    assert report.diagnostics == []
    assert (expected < 0).any()
    np.testing.assert_array_equal(got, np.maximum(expected, 0))


def test_more_blocks_than_the_chip_has_cube_cores_do_not_share_messages(rig: Rig) -> None:
    report, got, expected = product(rig, ALL, blocks=70, rows=16, columns=(16, 16))
    assert report.causes() == []
    np.testing.assert_array_equal(got, expected)


def test_vector_cores_without_a_part_of_the_systems_workspace_are_refused(rig: Rig) -> None:
    report, _, _ = product(rig, INTO_LOCAL, blocks=26, rows=16, columns=(16, 16))
    assert "room for 51 vector cores" in report.first("device_exception")["message"]


def test_rows_in_the_unified_buffer_that_are_no_blocks_of_32_bytes_are_refused(rig: Rig) -> None:
    report, _, _ = product(rig, INTO_LOCAL, columns=(92, 48))
    assert "rows of 176 bytes, 176 bytes apart: both have to be multiples of 32" in report.first("device_exception")["message"]


@pytest.mark.parametrize("is_of_vectors_only", [True, False])
@pytest.mark.parametrize("used", [0, 6])
def test_all_vector_cores_of_a_mixed_kernel_meet_by_flags_in_memory(rig: Rig, used: int, is_of_vectors_only: bool) -> None:
    flags, out = rig.upload(np.zeros(6 * 8, np.int32), is_mutable=True), rig.upload(np.zeros(12 * 8, np.int32), is_mutable=True)
    report = rig.run_kernel("mixed meeting by flags in memory", flags, out, used, int(not is_of_vectors_only), blocks=3)
    assert report.causes() == []
    assert rig.download(out, 96, np.int32).reshape(12, 8)[:, 0].tolist() == [1, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 1]


@pytest.mark.parametrize("is_by_flags_of_pairs", [False, True])
def test_vector_cores_of_a_mixed_kernel_take_turns_and_cube_cores_pass_by(rig: Rig, is_by_flags_of_pairs: bool) -> None:
    flags, out = rig.upload(np.zeros(12 * 8, np.int32), is_mutable=True), rig.upload(np.zeros(6 * 8, np.int32), is_mutable=True)
    report = rig.run_kernel("mixed turns", flags, out, 0, int(is_by_flags_of_pairs), blocks=3)
    assert report.causes() == [], report.diagnostics
    assert rig.download(out, 48, np.int32).reshape(6, 8)[:, 0].tolist() == [1, 3, 6, 10, 15, 21]


@pytest.mark.parametrize("guess", [0, 1])
def test_a_kernel_that_has_stored_can_not_begin_anew_with_other_cores(rig: Rig, guess: int) -> None:
    out = rig.allocate(32)
    stored = [*(set_value(ub(4 * at), 1) for at in range(8)), *flag(S, MTE3), store(gm(out), ub(0), 32)]
    late = record(TASK_TYPE, S, p=(3, guess))
    message = rig.launch([*stored, late]).first("bad_parameter")["message"]
    assert "after it has stored to global memory" in message
    assert "say KERNEL_TASK_TYPE_DEFAULT before the first store or print" in message


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("CubeFormat::ND, half, false, LayoutMode::NORMAL", "A and B have the same LayoutMode"),
        ("CubeFormat::NZ, half, false, LayoutMode::BSNGD", "with LayoutMode::BSNGD and SBNGD matrices are CubeFormat::ND"),
        ("CubeFormat::VECTOR, half", "B is ND or NZ on the virtual NPU"),
        ("CubeFormat::ND, float", "by the same type"),
    ],
)
def test_what_a_matrix_can_not_be_here_is_refused_when_the_kernel_is_compiled(tmp_path: Path, rest: str, said: str) -> None:
    source = tmp_path / "refused_matrix.cpp"
    source.write_text(f"""#include "kernel_operator.h"
#include "lib/matmul_intf.h"
using namespace AscendC;
using A = MatmulType<TPosition::GM, CubeFormat::ND, half>;
using B = MatmulType<TPosition::GM, {rest}>;
Matmul<A, B, MatmulType<TPosition::GM, CubeFormat::ND, float>> object;
""")
    compiler = ["g++", "-std=c++17", "-fsyntax-only", f"-I{VNPU / 'include'}", str(source)]
    assert said in subprocess.run(compiler, capture_output=True, text=True, check=False, timeout=60).stderr
