"""Matmul objects of vector cores: asked by both or by one, into global memory or the unified buffer, at once or later: right, and nothing is reported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from cube_steps import narrowed
from engine_rig import F16, Rig
from test_engine_matmul import SMALL, whole

ALL, ALL_LATER, BY_BLOCK, INTO_LOCAL, AHEAD, FROM_LOCAL = range(6)
M, N, K = 128, 96, 96
KERNELS = {ALL: "mixed matmul", ALL_LATER: "mixed matmul", BY_BLOCK: "mixed matmul", INTO_LOCAL: "mixed matmul into ub", AHEAD: "mixed matmul into ub"}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


@pytest.mark.parametrize("only", [-1, 0, 1])
@pytest.mark.parametrize("way", [ALL, ALL_LATER, BY_BLOCK, INTO_LOCAL, AHEAD, FROM_LOCAL])
def test_both_vector_cores_get_their_rows(rig: Rig, way: int, only: int) -> None:
    a, b, bias = whole(M, K), whole(K, N), np.arange(N)
    case = replace(SMALL, shape=(M, N, K), cut=(32, 48, 32), bias=1, tiling={"singleCoreM": M // 2})
    addresses = [rig.upload(narrowed(a, F16)), rig.upload(narrowed(b, F16)), rig.upload(bias.astype(np.float32)), rig.allocate(M * N * 4)]
    numbers = np.array([way, only], np.int32)
    source = rig.upload(np.concatenate([np.array(case.fields(), np.int32), np.array(addresses, np.uint64).view(np.int32), numbers]))
    out = rig.upload(np.zeros(M * N, np.float32), is_mutable=True)
    report = rig.run_kernel(KERNELS.get(way, "mixed matmul from ub"), source, out, 0)
    assert report.diagnostics == []
    expected = a @ b + bias
    if only >= 0:
        expected[(1 - only) * M // 2 : (2 - only) * M // 2] = 0
    np.testing.assert_array_equal(rig.download(out, M * N, np.float32).reshape(M, N), expected)
