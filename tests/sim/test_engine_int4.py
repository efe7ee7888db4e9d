"""Cast to and from int4: two elements to a byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from engine_rig import CAST, CEIL, F16, FLOOR, I4, NONE, RINT, TRUNC, Rig, count, strided, ub
from vector_run import A, Array, D, run, same_bits


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def nibbles(values: Array) -> Array:
    """Two elements to a byte, the first in its low half."""
    low, high = values[0::2] & 0xF, values[1::2] & 0xF
    return (low | high << 4).astype(np.uint8)


@pytest.mark.parametrize(("mode", "rounded"), [(NONE, np.rint), (RINT, np.rint), (FLOOR, np.floor), (CEIL, np.ceil), (TRUNC, np.trunc)])
@pytest.mark.parametrize("n", [2, 128, 400])
def test_half_to_int4_packs_two_elements_to_a_byte_and_saturates(rig: Rig, mode: int, rounded: Any, n: int) -> None:
    data = (np.random.default_rng(2).integers(-48, 48, 400) * 0.25).astype(np.float16)
    before = np.full(200, 0xA5, np.uint8)
    got, report = run(rig, {A: data}, before, [count(CAST, (ub(D, I4), ub(A, F16)), n, mode=mode)])
    assert report.diagnostics == []
    expected = np.clip(rounded(data.astype(np.float32)), -8, 7).astype(np.int8)
    same_bits(got, np.concatenate([nibbles(expected[:n]), before[n // 2 :]]))


def test_a_masked_lane_keeps_its_half_of_the_byte(rig: Rig) -> None:
    data = np.arange(256).astype(np.float16) % 8
    before = np.full(192, 0xA5, np.uint8)
    step = strided(CAST, (ub(D, I4, rep=4), ub(A, F16)), (0b1011, 0), 2, mode=RINT)
    got, _ = run(rig, {A: data}, before, [step])
    expected = before.copy()
    for repeat in range(2):
        expected[repeat * 128] = int(data[repeat * 128]) | int(data[repeat * 128 + 1]) << 4
        expected[repeat * 128 + 1] = 0x5 | int(data[repeat * 128 + 3]) << 4
    same_bits(got, expected)


def test_int4_widens_to_half(rig: Rig) -> None:
    values = np.random.default_rng(4).integers(-8, 8, 512).astype(np.int8)
    got, report = run(rig, {A: nibbles(values)}, np.zeros(512, np.float16), [count(CAST, (ub(D, F16), ub(A, I4)), 512, mode=NONE)])
    assert report.diagnostics == []
    same_bits(got, values.astype(np.float16))
