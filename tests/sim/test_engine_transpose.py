"""TransDataTo5HD and Transpose against NumPy: widths, halves of blocks, repeats, layouts, scratch memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from engine_rig import F16, F32, I8, NUMPY, SET_ADDRESSES, SIZE, TRANS_5HD, TRANSPOSE, U16, Record, Rig, S, V, record, ub
from vector_run import A, Array, B, C, D, run, same_bits


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def addresses(which: int, places: list[int]) -> Record:
    words = [sum((places[4 * word + at] // 32) << (16 * at) for at in range(4)) for word in range(4)]
    made = record(SET_ADDRESSES, S, p=(0, words[3] & 0xFFFFFFFF, words[3] >> 32, which), scalar=words[2])
    made.mask[0], made.mask[1] = words[0], words[1]
    return made


def trans_5hd(dtype: int, *, repeats: int = 1, source_stride: int = 0, stride: int = 0, halves: int = 0) -> Record:
    made = record(TRANS_5HD, V, p=(repeats, source_stride, stride, halves))
    made.dst, made.src0 = ub(0, dtype), ub(0, dtype)
    return made


def numbers(dtype: Any, n: int) -> Array:
    return np.random.default_rng(5).integers(0, 100, n).astype(dtype)


def dense(base: int) -> list[int]:
    return [base + 32 * block for block in range(16)]


@pytest.mark.parametrize("dtype", [F16, F32])
def test_sixteen_blocks_are_turned(rig: Rig, dtype: int) -> None:
    data = numbers(NUMPY[dtype], 512 // SIZE[dtype])
    steps = [addresses(0, dense(A)), addresses(1, dense(D)), trans_5hd(dtype)]
    got, report = run(rig, {A: data}, np.zeros_like(data), steps)
    assert report.diagnostics == []
    same_bits(got, data.reshape(16, -1).T.reshape(-1).copy())


@pytest.mark.parametrize(("halves", "source", "to"), [(0, 0, 0), (1, 0, 16), (2, 16, 0), (3, 16, 16)])
def test_bytes_go_from_a_half_of_each_block_to_a_half(rig: Rig, halves: int, source: int, to: int) -> None:
    data, before = numbers(np.int8, 512), np.full(512, 77, np.int8)
    got, _ = run(rig, {A: data}, before, [addresses(0, dense(A)), addresses(1, dense(D)), trans_5hd(I8, halves=halves)])
    expected = before.reshape(16, 32).copy()
    expected[:, to : to + 16] = data.reshape(16, 32)[:, source : source + 16].T
    same_bits(got, expected.reshape(-1))


def test_addresses_may_lie_anywhere_and_repeats_step_on(rig: Rig) -> None:
    rows = numbers(np.float16, 16 * 64).reshape(16, 64)
    scattered = {A + 1024 * row: rows[row].copy() for row in range(16)}
    steps = [addresses(0, list(scattered)), addresses(1, dense(D)), trans_5hd(F16, repeats=4, source_stride=1, stride=16)]
    got, _ = run(rig, scattered, np.zeros(16 * 64, np.float16), steps)
    same_bits(got, rows.T.reshape(-1).copy())


def test_a_single_repeat_starts_one_stride_behind_its_addresses(rig: Rig) -> None:
    data = numbers(np.float16, 512)
    got, _ = run(rig, {A: data}, np.zeros(256, np.float16), [addresses(0, dense(A)), addresses(1, dense(D)), trans_5hd(F16, source_stride=16)])
    same_bits(got, data[256:].reshape(16, 16).T.reshape(-1).copy())


def test_source_and_destination_may_be_the_same_blocks(rig: Rig) -> None:
    data = numbers(np.float16, 256)
    got, report = run(rig, {}, data, [addresses(0, dense(D)), addresses(1, dense(D)), trans_5hd(F16)])
    assert report.causes() == []
    same_bits(got, data.reshape(16, 16).T.reshape(-1).copy())


def test_no_repeat_does_nothing_and_the_memory_s_end_is_checked(rig: Rig) -> None:
    before = numbers(np.float16, 16)
    got, _ = run(rig, {A: before}, before, [addresses(0, dense(A)), addresses(1, dense(D)), trans_5hd(F16, repeats=0)])
    same_bits(got, before)
    _, report = run(rig, {A: before}, before, [addresses(0, dense(196608 - 480)), addresses(1, dense(D)), trans_5hd(F16)])
    assert report.causes() == ["out_of_bounds"]


def transpose(dtype: int, kind: int = 0, *, n: int = 0, c: int = 0, hw: int = 0, scratch: int = 0, source: int = A) -> Record:
    made = record(TRANSPOSE, V, p=(n, c | hw << 16, scratch, kind))
    made.dst, made.src0 = ub(D, dtype), ub(source, dtype)
    if kind:
        made.src1 = ub(C)
    return made


def test_a_square_is_turned_even_in_place(rig: Rig) -> None:
    data = numbers(np.uint16, 256)
    expected = data.reshape(16, 16).T.reshape(-1).copy()
    same_bits(run(rig, {A: data}, np.zeros(256, np.uint16), [transpose(U16)])[0], expected)
    same_bits(run(rig, {}, data, [transpose(U16, source=D)])[0], expected)


@pytest.mark.parametrize("dtype", [I8, F16, F32])
@pytest.mark.parametrize(("n", "c", "hw"), [(3, 3, 32), (1, 16, 64), (2, 33, 32)])
def test_channels_move_behind_the_plane_and_back(rig: Rig, dtype: int, n: int, c: int, hw: int) -> None:
    data = numbers(NUMPY[dtype], n * c * hw)
    moved = data.reshape(n, c, hw).transpose(0, 2, 1).reshape(-1).copy()
    got, report = run(rig, {A: data}, np.zeros_like(data), [transpose(dtype, 1, n=n, c=c, hw=hw, scratch=2048)])
    assert report.diagnostics == []
    same_bits(got, moved)
    same_bits(run(rig, {A: moved}, np.zeros_like(data), [transpose(dtype, 2, n=n, c=c, hw=hw, scratch=2048)])[0], data)


def test_an_overlap_is_refused_and_the_scratch_memory_is_lost(rig: Rig) -> None:
    data = numbers(np.float16, 3 * 32)
    _, report = run(rig, {}, data, [transpose(F16, 1, n=1, c=3, hw=32, scratch=512, source=D)])
    assert report.causes() == ["bad_overlap"]
    after = record(0, V)
    after.opcode, after.flags = 73, 1
    after.p[0] = 16
    after.dst, after.src0 = ub(D, F16), ub(C, F16)
    _, report = run(rig, {A: data, C: numbers(np.float16, 256), B: data}, np.zeros(96, np.float16), [transpose(F16, 1, n=1, c=3, hw=32, scratch=512), after])
    assert report.causes() == ["undefined_data"]
