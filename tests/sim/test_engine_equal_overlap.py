"""Is an overlap that can't change values a finding, and one that can a violation? Are blocks that Brcb fills from behind its tensor without value?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import BRCB, COPY, GATHER, U32, Record, Report, Rig, V, barrier, count, flag, gm, load, record, set_flag, store, strided, ub, wait_flag

BYTES = 2048


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig(cores=1) as made:
        yield made


def around(rig: Rig, data: np.ndarray, middle: list[Record], stored: int = BYTES) -> tuple[Report, np.ndarray]:  # type: ignore[type-arg]
    """Load `data` to byte 0, the instructions, store the first bytes."""
    out = rig.upload(np.zeros(BYTES // 4, np.float32), is_mutable=True)
    source = rig.upload(data)
    program = [load(ub(0), gm(source), data.nbytes), *flag(4, V), *middle, set_flag(V, 5), wait_flag(V, 5), store(gm(out), ub(0), stored)]
    return rig.launch(program), rig.download(out, BYTES // 4, np.float32)


def gather_in_place(offsets: np.ndarray) -> tuple[list[Record], np.ndarray]:  # type: ignore[type-arg]
    """Of 64 floats at byte 0, by offsets at byte 1024."""
    data = np.zeros(BYTES // 4, np.float32)
    data[:64] = np.arange(64) + 1
    data.view(np.uint32)[256:320] = offsets
    return [count(GATHER, (ub(0), ub(0), ub(1024, U32)), 64, line=7)], data


def test_heads_of_blocks_spread_over_their_own_blocks_are_a_finding(rig: Rig) -> None:
    offsets = np.repeat(32 * np.arange(8), 8)
    middle, data = gather_in_place(offsets)
    report, got = around(rig, data, middle)
    assert (report.causes(), report.findings()) == ([], ["equal_value_overlap"])
    assert "its page forbids" in report.diagnostics[0]["message"]
    np.testing.assert_array_equal(got[:64], np.repeat(data[:64:8], 8))


def test_lanes_that_read_what_other_lanes_overwrite_are_a_violation(rig: Rig) -> None:
    middle, data = gather_in_place(4 * np.roll(np.arange(64), 1))
    report, _ = around(rig, data, middle)
    assert report.causes() == ["bad_overlap"]


def rows_over_themselves(first: int) -> list[Record]:
    """One block copied onto eight rows, of which the first starts at byte `first`."""
    return [strided(COPY, (ub(first, rep=1), ub(0, rep=0)), (0xFF, 0), 8, line=9)]


def test_a_row_repeated_from_its_own_place_on_is_a_finding(rig: Rig) -> None:
    data = np.arange(BYTES // 4, dtype=np.float32)
    report, got = around(rig, data, rows_over_themselves(0))
    assert (report.causes(), report.findings()) == ([], ["equal_value_overlap"])
    np.testing.assert_array_equal(got[:64], np.tile(data[:8], 8))


def test_a_row_that_is_overwritten_by_another_is_a_violation(rig: Rig) -> None:
    data = np.arange(BYTES // 4, dtype=np.float32)
    middle = [strided(COPY, (ub(0, rep=1), ub(32, rep=1)), (0xFF, 0), 8), barrier(V), strided(COPY, (ub(32, rep=1), ub(0, rep=1)), (0xFF, 0), 8, line=9)]
    report, _ = around(rig, data, middle)
    assert report.causes() == ["bad_overlap"]


def spread(repeats: int, limit: int) -> Record:
    """Brcb of the tensor of `limit` bytes at byte 0, to byte 512."""
    made = record(BRCB, V, line=5, p=(repeats,))
    made.dst, made.src0 = ub(512), ub(0, limit=limit)
    return made


def test_brcb_past_its_tensor_fills_blocks_without_value_which_may_stay_unused(rig: Rig) -> None:
    data = np.arange(BYTES // 4, dtype=np.float32)
    report, got = around(rig, data, [spread(2, 36)], 512 + 9 * 32)
    assert (report.causes(), report.findings()) == ([], ["other"])
    np.testing.assert_array_equal(got[128 : 128 + 72], np.repeat(data[:9], 8))


def test_blocks_that_brcb_filled_from_behind_its_tensor_are_undefined_data(rig: Rig) -> None:
    report, _ = around(rig, np.arange(BYTES // 4, dtype=np.float32), [spread(2, 36)], 512 + 10 * 32)
    assert report.causes() == ["undefined_data"]


def test_brcb_past_the_end_of_the_memory_is_a_violation(rig: Rig) -> None:
    made = spread(255, 36)
    made.src0 = ub(196608 - 64, limit=36)
    assert "out_of_bounds" in around(rig, np.zeros(BYTES // 4, np.float32), [made])[0].causes()
