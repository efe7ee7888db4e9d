"""Copies and scalar accesses: bytes, filler, bounds to the last byte, attribution, undefined data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import (
    ADD,
    ADDS,
    DUPLICATE,
    F16,
    I32,
    MTE2,
    MTE3,
    SET_PAD_VALUE,
    U8,
    Record,
    Rig,
    S,
    V,
    count,
    flag,
    get_value,
    gm,
    load,
    pad,
    record,
    set_value,
    store,
    ub,
)

IS_PAD = 1 << 16


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def through(rig: Rig, source: np.ndarray, steps: list[Record], nbytes: int, *, at: int = 0) -> np.ndarray:
    """`steps` bring data into the UB; returns the `nbytes` at `at`, stored by a fresh kernel."""
    out = rig.allocate(nbytes)
    report = rig.launch([*steps, *flag(MTE2, MTE3), pad(gm(out, U8), ub(at, U8), nbytes)])
    assert report.causes() in ([], ["undefined_data"]), report
    return rig.download(out, nbytes, np.uint8)


def test_gaps_run_from_the_end_of_a_block_to_the_start_of_the_next(rig: Rig) -> None:
    data = np.arange(256, dtype=np.uint8)
    steps = [load(ub(0, U8), gm(rig.upload(data), U8), 32, blocks=3, gaps=(64, 32))]
    got = through(rig, data, steps, 160)
    for block in range(3):
        np.testing.assert_array_equal(got[block * 64 : block * 64 + 32], data[block * 96 : block * 96 + 32])


def test_padded_blocks_start_on_32_byte_borders_and_repeat_their_first_element(rig: Rig) -> None:
    data = np.arange(1, 27, dtype=np.float16)
    steps = [pad(ub(0, F16), gm(rig.upload(data), F16), 10, blocks=3, gaps=(6, 32))]
    got = through(rig, data, steps, 32 * 5).view(np.float16)
    for block in range(3):
        start = 8 * block
        np.testing.assert_array_equal(got[block * 32 : block * 32 + 5], data[start : start + 5])
        assert (got[block * 32 + 5 : block * 32 + 16] == data[start]).all()


def test_padding_value_fills_both_sides(rig: Rig) -> None:
    data = np.arange(1, 6, dtype=np.float32)
    value = int(np.float32(-3).view(np.uint32))
    steps = [pad(ub(0), gm(rig.upload(data)), 20, sides=2 | 1 << 8 | IS_PAD, value=value)]
    got = through(rig, data, steps, 32).view(np.float32)
    np.testing.assert_array_equal(got, [-3, -3, 1, 2, 3, 4, 5, -3])


def test_unspecified_filler_is_undefined_unless_a_pad_value_was_set(rig: Rig) -> None:
    data = np.arange(1, 6, dtype=np.float32)
    source, out = gm(rig.upload(data)), rig.allocate(32)
    sides = [pad(ub(0), source, 20, sides=1), *flag(MTE2, MTE3), pad(gm(out), ub(0), 32)]
    assert rig.launch(sides).causes() == ["undefined_data"]
    assert rig.launch([record(SET_PAD_VALUE, S, scalar=int(np.float32(9).view(np.uint32))), *sides]).causes() == []
    np.testing.assert_array_equal(rig.download(out, 8, np.float32), [9, 1, 2, 3, 4, 5, 9, 9])


@pytest.mark.parametrize("nbytes", [1, 31, 32, 33, 4096])
def test_stores_write_exactly_their_bytes_and_are_attributed(rig: Rig, nbytes: int) -> None:
    data = np.arange(4128, dtype=np.uint32).astype(np.uint8)
    out = rig.upload(np.full(4200, 7, np.uint8), is_mutable=True)
    rig.launch([pad(ub(0, U8), gm(rig.upload(data), U8), 4096), *flag(MTE2, MTE3), pad(gm(out + 3, U8), ub(0, U8), nbytes)])
    got = rig.download(out, 4200, np.uint8)
    np.testing.assert_array_equal(got[3 : 3 + nbytes], data[:nbytes])
    assert (got[:3] == 7).all()
    assert (got[3 + nbytes :] == 7).all()
    assert rig.stored(out) == f"3-{3 + nbytes}"


@pytest.mark.parametrize(("offset", "is_refused"), [(0, False), (32, True)])
def test_the_byte_after_an_allocation_is_out_of_bounds(rig: Rig, offset: int, is_refused: bool) -> None:
    source, out = rig.upload(np.zeros(1024, np.float32)), rig.allocate(4096)
    reading = rig.launch([load(ub(0), gm(source + offset), 4096, line=3)])
    writing = rig.launch([count(DUPLICATE, (ub(0),), 1024), *flag(V, MTE3), store(gm(out + offset), ub(0), 4096, line=4)])
    for report, line in ((reading, 3), (writing, 4)):
        assert report.is_cut == is_refused
        if is_refused:
            found = report.first("out_of_bounds")
            assert found["numbers"]["bytes_past_end"] == offset
            assert found["line"] == line
            assert "32 bytes past the end of the allocation" in found["message"]


def test_one_byte_past_the_end_is_enough(rig: Rig) -> None:
    source = rig.upload(np.zeros(100, np.uint8))
    assert rig.launch([pad(ub(0, U8), gm(source, U8), 100)]).causes() == []
    assert rig.launch([pad(ub(0, U8), gm(source, U8), 101)]).first("out_of_bounds")["numbers"]["bytes_past_end"] == 1
    assert rig.launch([pad(ub(0, U8), gm(source - 1, U8), 4)]).causes() == ["out_of_bounds"]


@pytest.mark.parametrize(
    ("nbytes", "blocks", "gaps", "cause"),
    [(48, 1, (0, 0), "bad_parameter"), (32, 4096, (0, 0), "bad_parameter"), (32, 2, (16, 0), "bad_parameter"), (32, 2, (0, 65536 * 32), "bad_parameter")],
)
def test_parameters_of_plain_copies_are_checked(rig: Rig, nbytes: int, blocks: int, gaps: tuple[int, int], cause: str) -> None:
    source = gm(rig.upload(np.zeros(4096, np.float32)))
    assert rig.launch([load(ub(0), source, nbytes, blocks=blocks, gaps=gaps)]).causes() == [cause]


def test_alignment_of_copies_is_checked(rig: Rig) -> None:
    source = rig.upload(np.zeros(1024, np.float32))
    assert rig.launch([load(ub(8), gm(source), 32)]).causes() == ["misaligned"]
    assert rig.launch([load(ub(0), gm(source + 2), 32)]).causes() == ["misaligned"]
    assert rig.launch([pad(ub(0), gm(source + 2), 32)]).causes() == []


def test_a_store_into_an_input_is_refused_and_changes_nothing(rig: Rig) -> None:
    source = rig.upload(np.ones(8, np.float32))
    report = rig.launch([count(DUPLICATE, (ub(0),), 8), *flag(V, MTE3), store(gm(source), ub(0), 32, line=9)])
    assert report.causes() == ["input_modified"]
    assert report.first("input_modified")["line"] == 9
    assert (rig.download(source, 8, np.float32) == 1).all()


def test_copies_inside_the_unified_buffer_run_on_v(rig: Rig) -> None:
    data, out = np.arange(64, dtype=np.float32), rig.allocate(256)
    move = load(ub(4096), ub(0), 256)
    move.pipe = V
    report = rig.launch([load(ub(0), gm(rig.upload(data)), 256), *flag(MTE2, V), move, *flag(V, MTE3), store(gm(out), ub(4096), 256)])
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 64, np.float32), data)


def test_bytes_never_written_are_reported_where_they_reach_memory(rig: Rig) -> None:
    out = rig.allocate(4096)
    rounded_up = [count(DUPLICATE, (ub(0),), 10), count(ADDS, (ub(4096), ub(0)), 16)]
    fine = rig.launch([*rounded_up, *flag(V, MTE3), pad(gm(out), ub(4096), 40)])
    assert fine.causes() == []
    bad = rig.launch([*rounded_up, *flag(V, MTE3), pad(gm(out), ub(4096), 44, line=5)])
    assert bad.causes() == ["undefined_data"]
    assert bad.first("undefined_data")["numbers"]["address"] == 4096 + 40
    assert not bad.is_cut


def test_undefinedness_comes_from_either_operand(rig: Rig) -> None:
    out = rig.allocate(64)
    for a, b in ((0, 512), (512, 0)):
        steps = [count(DUPLICATE, (ub(0),), 8), count(ADD, (ub(1024), ub(a), ub(b)), 8)]
        assert rig.launch([*steps, *flag(V, MTE3), store(gm(out), ub(1024), 32)]).causes() == ["undefined_data"]


def test_memory_nobody_wrote_is_undefined_when_loaded(rig: Rig) -> None:
    empty, out = rig.allocate(64), rig.allocate(64)
    report = rig.launch([load(ub(0), gm(empty), 64), *flag(MTE2, MTE3), store(gm(out), ub(0), 64)])
    assert report.causes() == ["undefined_data"]
    half = rig.upload(np.ones(8, np.float32), is_mutable=True)
    assert rig.launch([load(ub(0), gm(half), 32), *flag(MTE2, MTE3), store(gm(out), ub(0), 32)]).causes() == []


def test_scalar_loads_of_undefined_bytes_are_reported(rig: Rig) -> None:
    assert rig.launch([get_value(ub(64))]).causes() == ["undefined_data"]
    assert rig.launch([count(DUPLICATE, (ub(64),), 1), get_value(ub(64))]).causes() == []
    assert rig.launch([get_value(gm(rig.allocate(64)))]).causes() == ["undefined_data"]


def test_get_value_and_set_value_see_the_unified_buffer(rig: Rig) -> None:
    out = rig.allocate(32)
    steps = [
        count(DUPLICATE, (ub(0, I32),), 8, scalar=5),
        set_value(ub(4, I32), 77),
        get_value(ub(4, I32)),
        get_value(ub(8, I32)),
        store(gm(out, I32), ub(0, I32), 32),
    ]
    report = rig.launch([*steps[:4], *flag(V, MTE3), steps[4]])
    assert report.answers[2:4] == [77, 5]
    np.testing.assert_array_equal(rig.download(out, 8, np.int32), [5, 77, 5, 5, 5, 5, 5, 5])


def test_scalar_access_past_a_tensor_is_out_of_bounds(rig: Rig) -> None:
    assert rig.launch([set_value(ub(0, limit=4), 1)]).causes() == []
    assert rig.launch([set_value(ub(4, limit=0), 1)]).causes() == ["out_of_bounds"]


@pytest.mark.parametrize(("nbytes", "causes"), [(40, []), (41, ["out_of_bounds"])])
def test_one_byte_past_the_end_of_a_tensor_is_refused(rig: Rig, nbytes: int, causes: list[str]) -> None:
    out = rig.allocate(64)
    report = rig.launch([count(DUPLICATE, (ub(0),), 16), *flag(V, MTE3), pad(gm(out, U8), ub(0, U8, limit=40), nbytes)])
    assert report.causes() == causes
