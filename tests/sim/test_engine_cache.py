"""The scalar unit's data cache: what GetValue sees, what SetValue leaves behind, what cleaning writes; per core, in lines of 64 bytes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import (
    CACHE_CLEAN,
    DUPLICATE,
    I32,
    MTE2,
    MTE3,
    Record,
    Rig,
    S,
    V,
    count,
    flag,
    get_value,
    gm,
    load,
    record,
    set_value,
    store,
    sync_all,
    ub,
)


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def clean(address: int, *, whole: bool = False, destination: int = 2, line: int = 0) -> Record:
    made = record(CACHE_CLEAN, S, line=line, p=(int(whole), destination))
    made.src0 = gm(address)
    return made


def fill(value: int) -> list[Record]:
    """32 bytes of `value` at UB 0, ready for a store."""
    return [count(DUPLICATE, (ub(0, I32),), 8, scalar=value), *flag(V, MTE3)]


@pytest.mark.parametrize(("cleaned", "causes"), [(None, ["missing_sync", "missing_sync"]), (0, []), (64, ["missing_sync", "missing_sync"])])
def test_scalar_stores_stay_in_the_cache_until_it_is_cleaned(rig: Rig, cleaned: int | None, causes: list[str]) -> None:
    out, copy = rig.upload(np.zeros(32, np.int32), is_mutable=True), rig.allocate(32)
    cleaning = [] if cleaned is None else [clean(out + cleaned)]
    steps = [*flag(S, MTE2), load(ub(0, I32), gm(out, I32), 32), *flag(MTE2, MTE3), store(gm(copy, I32), ub(0, I32), 32)]
    report = rig.launch([set_value(gm(out), 5), *cleaning, *steps])
    assert report.causes() == causes
    assert rig.download(copy, 1, np.int32)[0] == (5 if cleaned == 0 else 0)


def test_results_left_in_the_cache_never_reach_memory(rig: Rig) -> None:
    out = rig.upload(np.zeros(32, np.int32), is_mutable=True)
    report = rig.launch([set_value(gm(out), 5, line=3)])
    assert (report.first("missing_sync")["line"], report.first("missing_sync")["numbers"]["bytes"]) == (3, 4)
    assert (rig.download(out, 1, np.int32)[0], rig.stored(out)) == (0, "")
    assert rig.launch([set_value(gm(out), 5), clean(out, whole=True)]).diagnostics == []
    assert (rig.download(out, 1, np.int32)[0], rig.stored(out)) == (5, "0-4")


def test_a_cleaned_line_is_written_from_the_address_to_its_end(rig: Rig) -> None:
    out = rig.upload(np.zeros(32, np.int32), is_mutable=True)
    values = [set_value(gm(out + 4 * at), at + 1) for at in range(16)]
    report = rig.launch([*values, clean(out + 32)])
    assert report.first("missing_sync")["numbers"]["bytes"] == 32
    assert rig.download(out, 16, np.int32).tolist() == [0] * 8 + list(range(9, 17))
    assert rig.launch([*values, clean(out + 32), clean(out)]).diagnostics == []
    assert rig.download(out, 16, np.int32).tolist() == list(range(1, 17))


@pytest.mark.parametrize(("between", "causes", "seen"), [(False, ["missing_sync"], 1), (True, [], 9)])
def test_a_value_stays_as_it_was_loaded_after_a_copy_into_memory(rig: Rig, between: bool, causes: list[str], seen: int) -> None:
    out = rig.upload(np.ones(16, np.int32), is_mutable=True)
    cleaning = [clean(out)] if between else []
    steps = [get_value(gm(out)), *flag(S, MTE3), *fill(9), store(gm(out, I32), ub(0, I32), 32), *flag(MTE3, S), *cleaning, get_value(gm(out + 4), line=7)]
    report = rig.launch(steps)
    assert report.causes() == causes
    assert report.answers[len(steps) - 1] == seen
    if causes:
        assert "was loaded before memory changed" in report.first("missing_sync")["message"]


def test_a_value_of_a_line_that_was_not_loaded_before_is_new(rig: Rig) -> None:
    out = rig.upload(np.ones(32, np.int32), is_mutable=True)
    steps = [get_value(gm(out + 64)), *fill(9), store(gm(out, I32), ub(0, I32), 32), *flag(MTE3, S), get_value(gm(out))]
    report = rig.launch(steps)
    assert (report.diagnostics, report.answers[len(steps) - 1]) == ([], 9)


def test_a_change_to_the_same_bytes_does_no_harm(rig: Rig) -> None:
    out = rig.upload(np.full(16, 9, np.int32), is_mutable=True)
    steps = [get_value(gm(out)), *flag(S, MTE3), *fill(9), store(gm(out, I32), ub(0, I32), 32), *flag(MTE3, S), get_value(gm(out))]
    assert rig.launch(steps).diagnostics == []


def test_another_core_s_value_needs_a_clean_on_both_sides(rig: Rig) -> None:
    out = rig.upload(np.ones(16, np.int32), is_mutable=True)
    writer = [sync_all(), set_value(gm(out), 5), clean(out), sync_all()]
    stale = [get_value(gm(out)), sync_all(), sync_all(), get_value(gm(out), line=4)]
    fresh = [get_value(gm(out)), sync_all(), sync_all(), clean(out), get_value(gm(out))]
    report = rig.launch(writer, stale)
    assert (report.first("missing_sync")["line"], report.first("missing_sync")["core"], report.answers[7]) == (4, 1, 1)
    rig.reset()
    out = rig.upload(np.ones(16, np.int32), is_mutable=True)
    report = rig.launch(writer, fresh)
    assert (report.diagnostics, report.answers[8]) == ([], 5)


def test_two_cores_that_share_a_cache_line_clobber_each_other(rig: Rig) -> None:
    out = rig.allocate(128)
    together = rig.launch([set_value(gm(out), 1), clean(out)], [set_value(gm(out + 4), 2), clean(out + 4)])
    apart = rig.launch([set_value(gm(out), 1), clean(out)], [set_value(gm(out + 64), 2), clean(out + 64)])
    assert together.causes() == ["missing_sync"]
    assert apart.causes() == []


def test_a_copy_into_another_core_s_dirty_line_is_undone(rig: Rig) -> None:
    out = rig.upload(np.zeros(16, np.int32), is_mutable=True)
    scalar = [set_value(gm(out), 1, line=1), clean(out)]
    copying = [*fill(9), store(gm(out + 32, I32), ub(0, I32), 32, line=2)]
    assert rig.launch(scalar, copying).causes() == ["missing_sync"]
    assert rig.launch(copying, scalar).causes() == ["missing_sync"]


def test_writing_back_a_line_undoes_a_copy_of_the_same_core_into_it(rig: Rig) -> None:
    out = rig.upload(np.zeros(16, np.int32), is_mutable=True)
    report = rig.launch([set_value(gm(out), 1), *fill(9), store(gm(out + 32, I32), ub(0, I32), 32), *flag(MTE3, S), clean(out, line=5)])
    assert (report.first("missing_sync")["line"], "that change is lost" in report.first("missing_sync")["message"]) == (5, True)
    assert rig.download(out, 16, np.int32).tolist() == [1, *[0] * 15]


def test_a_line_that_is_pushed_out_is_written(rig: Rig) -> None:
    out = rig.upload(np.zeros(16384, np.int32), is_mutable=True)
    report = rig.launch([set_value(gm(out), 5), set_value(gm(out + 32768), 6), clean(out + 32768)])
    assert report.diagnostics == []
    assert rig.download(out, 1, np.int32)[0] == 5


def test_own_values_are_read_back_before_they_reach_memory(rig: Rig) -> None:
    out = rig.allocate(64)
    report = rig.launch([set_value(gm(out + 8), 77), get_value(gm(out + 8)), clean(out)])
    assert (report.diagnostics, report.answers[1]) == ([], 77)


def test_cleaning_for_the_unified_buffer_writes_nothing(rig: Rig) -> None:
    out = rig.upload(np.zeros(16, np.int32), is_mutable=True)
    assert rig.launch([set_value(gm(out), 5), clean(out, destination=1)]).causes() == ["missing_sync"]


def test_a_load_has_to_wait_for_the_cleaning_itself(rig: Rig) -> None:
    out = rig.upload(np.zeros(16, np.int32), is_mutable=True)
    early = [set_value(gm(out), 5), *flag(S, MTE2), clean(out), load(ub(0, I32), gm(out, I32), 32)]
    assert rig.launch(early).causes() == ["missing_sync"]
    late = [set_value(gm(out), 5), clean(out), *flag(S, MTE2), load(ub(0, I32), gm(out, I32), 32)]
    assert rig.launch(late).causes() == []


def test_a_new_launch_starts_with_an_empty_cache(rig: Rig) -> None:
    out = rig.upload(np.zeros(16, np.int32), is_mutable=True)
    rig.launch([get_value(gm(out))])
    rig.launch([*fill(4), store(gm(out, I32), ub(0, I32), 32)])
    report = rig.launch([get_value(gm(out))])
    assert (report.diagnostics, report.answers[0]) == ([], 4)
