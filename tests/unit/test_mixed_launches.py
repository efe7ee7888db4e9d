"""Launches of cube and vector cores together, as tables and the bottleneck show them."""

from __future__ import annotations

import pytest

from piton.core.execution import CorePipes, LaunchRecord
from piton.core.timeline import LaunchTimeline
from piton.report.bottleneck import _busier
from piton.report.program import _parts

CUBE = CorePipes(
    cores=2, busy_cycles={"m": 180, "mte2": 100}, stall_cycles={"m": 20}, wait_cycles={"mte2": {"flag_mte1": 7}}, lost_cycles={"mte2": {"latency": 3}}
)
MIXED = LaunchRecord(
    kernel="k",
    blocks=4,
    cycles=100,
    time_us=1.0,
    instructions=9,
    busy_cycles={"m": 180, "mte2": 180, "v": 40},
    stall_cycles={"m": 20, "v": 8},
    gm_read_bytes=0,
    gm_written_bytes=0,
    cores=6,
    wait_cycles={"mte2": {"flag_mte1": 10, "idle": 5}},
    lost_cycles={"mte2": {"latency": 4}},
    cube=CUBE,
)


def test_the_part_of_the_vector_cores_is_what_the_cube_cores_leave() -> None:
    vector = MIXED.pipes_of(is_cube=False)
    assert (vector.cores, vector.busy_cycles, vector.stall_cycles) == (4, {"m": 0, "mte2": 80, "v": 40}, {"m": 0, "v": 8})
    assert (vector.wait_cycles, vector.lost_cycles) == ({"mte2": {"flag_mte1": 3, "idle": 5}}, {"mte2": {"latency": 1}})
    assert MIXED.pipes_of(is_cube=True) is CUBE


def test_a_launch_of_one_kind_has_no_parts() -> None:
    plain = MIXED.model_copy(update={"cube": None})
    with pytest.raises(ValueError, match="one kind of core"):
        plain.pipes_of(is_cube=True)
    assert list(_parts(plain)) == [("k", plain)]


def test_a_table_shows_each_kind_of_core_by_itself() -> None:
    (first, cube), (second, vector) = _parts(MIXED)
    assert (first, second) == ("k, AIC", "k, AIV")
    assert (cube.blocks, cube.busy_cycles["m"]) == (4, 180)
    assert (vector.blocks, vector.busy_cycles["mte2"]) == (8, 80)


def test_a_pipe_counts_for_the_kind_of_core_that_keeps_it_busier() -> None:
    assert (_busier(MIXED, "mte2").cores, _busier(MIXED, "mte2").busy_cycles["mte2"]) == (2, 100)
    assert _busier(MIXED, "v").cores == 4


@pytest.mark.parametrize(
    ("kind", "core", "name"),
    [("AIV", 3, "block 3 (AIV)"), ("MIX 1:2", 3, "block 1 (AIC)"), ("MIX 1:2", 5, "block 1 (AIV 1)"), ("MIX 1:1", 3, "block 1 (AIV)")],
)
def test_a_core_of_a_timeline_is_named_by_its_block_and_kind(kind: str, core: int, name: str) -> None:
    timeline = LaunchTimeline("k", 1, 1, kind, 2, 100, 1, (), 1, ())
    assert timeline.core_name(core) == name
