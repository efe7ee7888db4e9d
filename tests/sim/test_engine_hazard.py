"""Happens-before: every edge that is needed, with it silence, without it a report; nothing on correct code."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import (
    ABS,
    ADD,
    ADDS,
    ALL,
    DUPLICATE,
    F_QUEUE,
    FULL,
    MTE2,
    MTE3,
    T_BARRIER,
    T_SET,
    T_WAIT,
    Record,
    Report,
    Rig,
    S,
    V,
    barrier,
    count,
    flag,
    get_value,
    gm,
    load,
    pad,
    set_flag,
    set_value,
    store,
    strided,
    sync_all,
    ub,
    wait_flag,
)

N = 1024
BYTES = 4 * N


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


class Scene:
    """Two inputs, one output and the steps of a tile."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.x = rig.upload(np.arange(8 * N, dtype=np.float32))
        self.out = rig.upload(np.zeros(8 * N, np.float32), is_mutable=True)

    def load(self, at: int = 0, tile: int = 0, line: int = 1) -> Record:
        return load(ub(at), gm(self.x + tile * BYTES), BYTES, line=line)

    def compute(self, to: int = 4096, source: int = 0, line: int = 2) -> Record:
        return count(ABS, (ub(to), ub(source)), N, line=line)

    def store(self, at: int = 4096, tile: int = 0, line: int = 3) -> Record:
        return store(gm(self.out + tile * BYTES), ub(at), BYTES, line=line)

    def run(self, *steps: Record | list[Record]) -> Report:
        return self.rig.launch([one for step in steps for one in (step if isinstance(step, list) else [step])])


@pytest.fixture
def scene(rig: Rig) -> Scene:
    return Scene(rig)


def assert_race(report: Report, earlier_line: int, later_line: int, fix: str) -> None:
    found = report.first("missing_sync")
    assert report.causes() == ["missing_sync"]
    assert found["line"] == later_line
    assert found["numbers"]["earlier_line"] == earlier_line
    assert fix in found["message"]
    assert not report.is_cut


def test_load_compute_store_with_flags_is_silent(scene: Scene) -> None:
    assert scene.run(scene.load(), flag(MTE2, V), scene.compute(), flag(V, MTE3), scene.store()).diagnostics == []


def test_compute_has_to_wait_for_the_load(scene: Scene) -> None:
    assert_race(scene.run(scene.load(), scene.compute(), flag(V, MTE3), scene.store()), 1, 2, "MTE2_V")


def test_store_has_to_wait_for_the_compute(scene: Scene) -> None:
    report = scene.run(scene.load(), flag(MTE2, V), scene.compute(), scene.store())
    assert_race(report, 2, 3, "SetFlag/WaitFlag<HardEvent::V_MTE3>")
    message = report.first("missing_sync")["message"]
    assert message.startswith("DataCopy at kernel.cpp:3 (MTE3) reads UB bytes 4096..8192 that Abs at kernel.cpp:2 (V) wrote")
    assert "EnQue/DeQue" in message


def test_next_load_has_to_wait_for_the_compute_that_reads_the_buffer(scene: Scene) -> None:
    tile = [scene.load(), *flag(MTE2, V), scene.compute()]
    assert_race(scene.run(tile, scene.load(line=7)), 2, 7, "V_MTE2")
    assert scene.run(tile, flag(V, MTE2), scene.load(line=7)).causes() == []


def test_next_compute_has_to_wait_for_the_store_that_reads_the_buffer(scene: Scene) -> None:
    tile = [scene.load(), *flag(MTE2, V), scene.compute(), *flag(V, MTE3), scene.store()]
    assert_race(scene.run(tile, scene.compute(line=8)), 3, 8, "MTE3_V")
    assert scene.run(tile, flag(MTE3, V), scene.compute(line=8)).causes() == []


def test_a_copy_through_without_compute_needs_mte2_to_mte3(scene: Scene) -> None:
    assert_race(scene.run(scene.load(), scene.store(0)), 1, 3, "MTE2_MTE3")
    assert scene.run(scene.load(), flag(MTE2, MTE3), scene.store(0)).causes() == []


def test_two_loads_into_one_buffer_need_a_barrier_before_it_is_read(scene: Scene) -> None:
    read = [*flag(MTE2, V), scene.compute()]
    report = scene.run(scene.load(), scene.load(line=5), read)
    assert_race(report, 1, 5, "PipeBarrier<PIPE_MTE2>")
    assert "while Abs at kernel.cpp:2 reads them" in report.first("missing_sync")["message"]
    assert scene.run(scene.load(), barrier(MTE2), scene.load(line=5), read).causes() == []
    assert scene.run(scene.load(), scene.load(at=8192, line=5), read).causes() == []


def test_two_loads_into_one_buffer_that_nobody_reads_are_a_finding(scene: Scene) -> None:
    report = scene.run(scene.load(), scene.load(line=5), scene.load(line=6))
    assert (report.causes(), report.findings()) == ([], ["other"])
    assert (report.first("other")["line"], report.first("other")["numbers"]) == (6, {"begin": 0, "end": 4096})


def test_writes_of_two_pipes_to_one_buffer_are_reported_at_once(scene: Scene) -> None:
    fill = count(DUPLICATE, (ub(0),), N, line=4)
    assert_race(scene.run(fill, scene.load(line=5)), 4, 5, "V_MTE2")


@pytest.mark.parametrize(("source", "causes"), [(4064, ["missing_sync"]), (4096, [])])
def test_only_the_bytes_that_both_loads_wrote_matter(scene: Scene, source: int, causes: list[str]) -> None:
    """Two loads of 4096 bytes at 0; what is read begins in their last block of 32 bytes, or behind it."""
    steps = [scene.load(at=4096, tile=1), scene.load(), scene.load(line=5), *flag(MTE2, V)]
    assert scene.run(steps, count(ABS, (ub(16384), ub(source)), 64, line=2)).causes() == causes


def test_a_write_in_order_makes_a_buffer_sound_again(scene: Scene) -> None:
    twice = [scene.load(), scene.load(line=5)]
    read = [*flag(MTE2, V), scene.compute()]
    assert scene.run(twice, barrier(MTE2), scene.load(line=6), read).causes() == []
    low, high = (load(ub(at), gm(scene.x), BYTES // 2, line=6) for at in (0, BYTES // 2))
    assert scene.run(twice, barrier(MTE2), low, read).first("missing_sync")["numbers"]["begin"] == BYTES // 2
    read_high = [*flag(MTE2, V), count(ABS, (ub(8192), ub(BYTES // 2)), N // 2, line=2)]
    assert scene.run(twice, barrier(MTE2), high, read_high).causes() == []
    assert scene.run(twice, barrier(MTE2), low, read_high).causes() == ["missing_sync"]


def test_a_flag_carries_all_earlier_work_of_its_pipe_and_nothing_later(scene: Scene) -> None:
    early = [scene.load(0), scene.load(4096, 1), *flag(MTE2, V), count(ADD, (ub(8192), ub(0), ub(4096)), N, line=2)]
    assert scene.run(early).causes() == []
    late = [scene.load(0), set_flag(MTE2, V), scene.load(4096, 1, line=6), wait_flag(MTE2, V), count(ADD, (ub(8192), ub(0), ub(4096)), N, line=2)]
    assert_race(scene.run(late), 6, 2, "MTE2_V")


def test_edges_are_transitive_over_pipes(scene: Scene) -> None:
    chain = [scene.load(), *flag(MTE2, V), scene.compute(), *flag(V, MTE3), scene.store(0, line=9)]
    assert scene.run(chain).causes() == []


def test_pipe_barrier_all_orders_everything(scene: Scene) -> None:
    assert scene.run(scene.load(), barrier(ALL), scene.compute(), barrier(ALL), scene.store(), barrier(ALL), scene.load(4096)).causes() == []


def test_one_byte_of_overlap_is_enough_and_neighbours_are_free(scene: Scene) -> None:
    padded = pad(ub(0), gm(scene.x), 100, line=4)  # occupies 128 bytes on chip
    assert_race(scene.run(padded, count(ABS, (ub(4096), ub(96)), 8, line=5)), 4, 5, "MTE2_V")
    assert scene.run(padded, count(DUPLICATE, (ub(128),), 8)).causes() == []


def test_footprints_follow_masks_and_strides(scene: Scene) -> None:
    every_second = strided(ABS, (ub(4096), ub(0, blk=2)), (FULL, FULL), 1, line=5)
    into_the_gap = load(ub(32), gm(scene.x), 32, line=6)
    onto_a_block = load(ub(64), gm(scene.x), 32, line=6)
    base = [scene.load(), *flag(MTE2, V), every_second]
    assert scene.run(base, barrier(MTE2), into_the_gap).causes() == []
    assert_race(scene.run(base, barrier(MTE2), onto_a_block), 5, 6, "V_MTE2")
    low_half = strided(ABS, (ub(4096), ub(0)), (0xFF, 0), 1, line=5)
    assert scene.run(scene.load(), flag(MTE2, V), low_half, barrier(MTE2), into_the_gap).causes() == []


def double_buffered(scene: Scene, tiles: int, *, frees: bool = True) -> list[Record]:
    """What two queues of two buffers issue."""
    q = {"flags": F_QUEUE}
    steps: list[Record] = []
    for tile in range(tiles):
        side = tile % 2
        x, y = side * 8192, 16384 + side * 8192
        if tile >= 2 and frees:
            steps.append(wait_flag(V, MTE2, side, **q))
        steps += [scene.load(x, tile), set_flag(MTE2, V, side, **q), wait_flag(MTE2, V, side, **q)]
        if tile >= 2 and frees:
            steps.append(wait_flag(MTE3, V, side, **q))
        steps.append(scene.compute(y, x))
        if frees:
            steps.append(set_flag(V, MTE2, side, **q))
        steps += [set_flag(V, MTE3, side, **q), wait_flag(V, MTE3, side, **q), scene.store(y, tile)]
        if frees:
            steps.append(set_flag(MTE3, V, side, **q))
    if frees:
        steps += [wait_flag(a, b, side, **q) for a, b in ((V, MTE2), (MTE3, V)) for side in range(min(tiles, 2))]
    return steps


def test_double_buffered_queues_are_silent(scene: Scene) -> None:
    assert scene.run(double_buffered(scene, 8)).diagnostics == []


def test_buffers_used_again_before_they_are_freed_are_reported(scene: Scene) -> None:
    report = scene.run(double_buffered(scene, 4, frees=False))
    assert set(report.causes()) == {"missing_sync"}
    assert {found["numbers"]["later_pipe"] for found in report.diagnostics if not found["is_finding"]} == {MTE2, V}


# ---- the compiler's auto-sync ----
def dependent_vector_work(scene: Scene) -> list[Record]:
    return [scene.load(), *flag(MTE2, V), scene.compute(line=2), count(ADDS, (ub(4096), ub(4096)), N, line=4), *flag(V, MTE3), scene.store()]


def test_dependent_vector_work_relies_on_auto_sync_and_is_charged_a_barrier(scene: Scene) -> None:
    report = scene.run(dependent_vector_work(scene))
    assert report.causes() == []
    assert report.findings() == ["auto_sync_relied_on"]
    assert report.first("auto_sync_relied_on")["numbers"]["count"] == 1
    inserted = [entry for entry in report.trace[0] if entry[5] & 1]
    assert [(entry[0], entry[1]) for entry in inserted] == [(T_BARRIER, V)]


def test_the_same_work_is_a_hazard_without_auto_sync(scene: Scene) -> None:
    scene.rig.configure(auto_sync=False)
    assert_race(scene.run(dependent_vector_work(scene)), 2, 4, "PipeBarrier<PIPE_V>")


def test_a_written_barrier_needs_no_auto_sync(scene: Scene) -> None:
    steps = dependent_vector_work(scene)
    report = scene.run(steps[:4], barrier(V), steps[4:])
    assert report.diagnostics == []
    assert sum(entry[0] == T_BARRIER for entry in report.trace[0]) == 1


def test_independent_vector_work_gets_no_barrier(scene: Scene) -> None:
    report = scene.run(scene.load(), flag(MTE2, V), scene.compute(4096), scene.compute(8192))
    assert report.diagnostics == []
    assert T_BARRIER not in report.kinds()


def test_one_inserted_barrier_serves_all_earlier_vector_work(scene: Scene) -> None:
    steps = [count(DUPLICATE, (ub(0),), N), count(DUPLICATE, (ub(4096),), N), count(ADD, (ub(8192), ub(0), ub(4096)), N)]
    assert scene.run(steps).first("auto_sync_relied_on")["numbers"]["count"] == 1


@pytest.mark.parametrize(
    ("steps", "edge"),
    [
        ([count(DUPLICATE, (ub(0),), 8, line=1), get_value(ub(0), line=2)], (V, S)),
        ([count(DUPLICATE, (ub(64),), 8), set_value(ub(0), 1, line=1), count(ADDS, (ub(64), ub(0)), 1, line=2)], (S, V)),
    ],
)
def test_scalar_dependences_get_a_flag_or_are_hazards(scene: Scene, steps: list[Record], edge: tuple[int, int]) -> None:
    report = scene.run(steps)
    assert report.causes() == []
    inserted = [(entry[0], entry[2], entry[3]) for entry in report.trace[0] if entry[5] & 1 and entry[0] != T_BARRIER]
    assert inserted == [(T_SET, *edge), (T_WAIT, *edge)]
    scene.rig.configure(auto_sync=False)
    assert scene.run(steps).causes() == ["missing_sync"]


def test_dma_dependences_of_the_scalar_unit_get_flags_too(scene: Scene) -> None:
    steps = [scene.load(), get_value(ub(0)), set_value(ub(0), 3), scene.store(0)]
    report = scene.run(steps, flag(MTE2, MTE3)[:0])
    edges = [(entry[2], entry[3]) for entry in report.trace[0] if entry[0] == T_SET]
    assert edges == [(MTE2, S), (S, MTE3)]
    assert report.causes() == []


def test_auto_sync_never_orders_vector_and_dma(scene: Scene) -> None:
    assert scene.run(scene.load(), scene.compute()).causes() == ["missing_sync"]


def test_timing_only_runs_place_the_same_auto_sync(scene: Scene) -> None:
    full = scene.run(dependent_vector_work(scene))
    scene.rig.configure(timing_only=True)
    bare = scene.run(dependent_vector_work(scene))
    assert bare.trace == full.trace
    assert bare.findings() == ["auto_sync_relied_on"]


# ---- flags ----
def test_set_twice_before_a_wait_is_misuse(scene: Scene) -> None:
    report = scene.run(set_flag(V, MTE3, 1, line=4), set_flag(V, MTE3, 1, line=5), wait_flag(V, MTE3, 1), wait_flag(V, MTE3, 1))
    assert report.causes() == ["flag_misuse"]
    assert report.first("flag_misuse")["line"] == 5
    assert scene.run(set_flag(V, MTE3, 1), set_flag(V, MTE3, 2), wait_flag(V, MTE3, 1), wait_flag(V, MTE3, 2)).causes() == []


def test_a_wait_without_a_set_waits_for_ever(scene: Scene) -> None:
    report = scene.run(set_flag(MTE2, V, 0), wait_flag(V, MTE2, 0, line=6))
    assert report.causes() == ["deadlock"]
    assert report.first("deadlock")["line"] == 6
    assert report.is_cut


def test_a_flag_left_set_is_a_leak_that_names_the_set(scene: Scene) -> None:
    report = scene.run(scene.load(), set_flag(MTE2, V, 3, line=11))
    assert report.causes() == ["flag_leak"]
    assert report.first("flag_leak")["line"] == 11


@pytest.mark.parametrize(
    ("event", "findings", "causes"), [(5, [], []), (6, ["reserved_event_id"], []), (7, ["reserved_event_id"], []), (8, [], ["bad_parameter"])]
)
def test_event_ids_of_the_framework_are_noted_and_others_refused(scene: Scene, event: int, findings: list[str], causes: list[str]) -> None:
    report = scene.run(set_flag(V, MTE3, event, line=1), wait_flag(V, MTE3, event, line=1))
    assert (sorted(set(report.findings())), report.causes()) == (findings, causes)


def test_the_framework_may_use_its_own_ids(scene: Scene) -> None:
    assert scene.run(set_flag(V, MTE3, 7, flags=F_QUEUE), wait_flag(V, MTE3, 7, flags=F_QUEUE)).diagnostics == []


# ---- global memory ----
def stored_tile(scene: Scene) -> list[Record]:
    return [count(DUPLICATE, (ub(0),), N, scalar=0x40000000), *flag(V, MTE3), scene.store(0, line=3)]


def test_reading_back_what_was_stored_needs_mte3_to_mte2(scene: Scene) -> None:
    again = load(ub(8192), gm(scene.out), BYTES, line=6)
    assert_race(scene.run(stored_tile(scene), again), 3, 6, "MTE3_MTE2")
    assert scene.run(stored_tile(scene), flag(MTE3, MTE2), again).causes() == []


def test_storing_twice_to_one_place_needs_a_barrier_or_equal_values(scene: Scene) -> None:
    other = [count(DUPLICATE, (ub(4096),), N, scalar=0x3F800000), *flag(V, MTE3), scene.store(4096, line=8)]
    assert_race(scene.run(stored_tile(scene), other), 3, 8, "PipeBarrier<PIPE_MTE3>")
    assert scene.run(stored_tile(scene), other[:-1], barrier(MTE3), other[-1]).causes() == []
    same = scene.run(stored_tile(scene), scene.store(0, line=9))
    assert (same.causes(), same.findings()) == ([], ["equal_value_overlap"])


def two_cores(scene: Scene, value: int, *, between: list[Record]) -> Report:
    first = [*stored_tile(scene), *between]
    second = [*between, count(DUPLICATE, (ub(0),), N, scalar=value), *flag(V, MTE3), scene.store(0, line=5)]
    return scene.rig.launch(first, second)


def test_cores_that_store_to_one_place_need_sync_all_or_equal_values(scene: Scene) -> None:
    assert two_cores(scene, 0x3F800000, between=[]).causes() == ["missing_sync"]
    assert "needed: SyncAll" in two_cores(scene, 0x3F800000, between=[]).first("missing_sync")["message"]
    assert two_cores(scene, 0x3F800000, between=[sync_all()]).causes() == []
    assert two_cores(scene, 0x40000000, between=[]).findings() == ["equal_value_overlap"]


@pytest.mark.parametrize("order", ["writer first", "reader first"])
def test_a_core_that_reads_what_another_writes_needs_sync_all(scene: Scene, order: str) -> None:
    reader = [load(ub(0), gm(scene.out), 32, line=9)]
    programs = [stored_tile(scene), reader] if order == "writer first" else [reader, stored_tile(scene)]
    assert scene.rig.launch(*programs).causes() == ["missing_sync"]
    after = [[*stored_tile(scene), sync_all()], [sync_all(), *reader]]
    assert scene.rig.launch(*after).causes() == []


def test_cores_with_tiles_of_their_own_are_silent(scene: Scene) -> None:
    programs = [[load(ub(0), gm(scene.x + core * BYTES), BYTES), *flag(MTE2, MTE3), scene.store(0, core)] for core in range(8)]
    assert scene.rig.launch(*programs).diagnostics == []


def test_all_cores_may_read_the_same_bytes(scene: Scene) -> None:
    programs = [[load(ub(0), gm(scene.x), BYTES), *flag(MTE2, MTE3), scene.store(0, core)] for core in range(4)]
    assert scene.rig.launch(*programs).diagnostics == []


# ---- reports ----
def test_repeated_reports_are_merged_and_counted(scene: Scene) -> None:
    steps = [
        step
        for tile in range(5)
        for step in (
            scene.load(0, tile, line=1),
            *flag(MTE2, V),
            *flag(V, MTE2),
            scene.compute(4096, 0, line=2),
            scene.store(4096, tile, line=3),
            *flag(MTE3, V),
        )
    ]
    report = scene.run(steps)
    races = [found for found in report.diagnostics if found["line"] == 3]
    assert len(races) == 1
    assert races[0]["occurrences"] == 5


def test_distinct_reports_are_capped_and_violations_outlast_findings(scene: Scene) -> None:
    scene.rig.configure(max_diagnostics=3)
    notes = [step for line in range(6) for step in (set_flag(V, MTE3, 7, line=line + 20), wait_flag(V, MTE3, 7, line=line + 40))]
    report = scene.run(notes, scene.load(), scene.compute())
    assert len(report.diagnostics) == 3
    assert report.causes() == ["missing_sync"]
