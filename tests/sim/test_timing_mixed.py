"""Blocks of a cube core and its vector cores in the replay: when flags reach whom, who shares what, when surplus blocks start."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "fidelity"))

import timing_driver
from timing_chips import NO_LAUNCH, with_figures
from timing_driver import MTE2, MTE3, V

BARE = with_figures(**NO_LAUNCH)
FIX, M = 6, 2
DRAIN = 1
GM = 0x200000000000
SIZE = 65536
MIX_1_1, MIX_1_2 = 2, 3


def launch(*cores: list[str], kind: int = MIX_1_2, chip: Any = BARE) -> dict[str, Any]:
    script = [f"kind {kind}", *(line for core in cores for line in ["core", *core]), "launch", ""]
    answer: dict[str, Any] = timing_driver.run(chip, "\n".join(script))[-1]
    return answer


def test_a_cube_core_goes_on_when_the_slower_of_its_vector_cores_has_set_the_flag() -> None:
    fast, slow = [f"work {V} 10", f"crossset {V} 3 2"], [f"work {V} 500", f"crossset {V} 3 2"]
    answer = launch(["crosswait 3", f"work {M} 100"], fast, slow)
    assert answer["cycles"] == 1 + 500 + 1 + 1 + 100 + DRAIN


def test_a_set_of_the_cube_core_reaches_its_own_vector_cores_alone() -> None:
    waiting = ["crosswait 1", f"work {V} 10"]
    answer = launch([f"work {M} 50", f"crossset {M} 1 2"], waiting, waiting, [f"work {M} 700", f"crossset {M} 1 2"], waiting, waiting)
    assert answer["cycles"] == 1 + 700 + 1 + 1 + 10 + DRAIN
    # vector cores wait for the flags, each for that of its block
    assert answer["wait"][0][10] == 2 * (52 + 702)


@pytest.mark.parametrize(("mode", "latency"), [(0, 800), (2, 400)])
def test_a_flag_takes_time_to_reach_other_cores(mode: int, latency: int) -> None:
    chip = with_figures(**{**NO_LAUNCH, "sync__cross_core_us": 400 / 1850, "launch__sync_all_us": 800 / 1850})
    vectors = [f"work {V} 10", f"crossset {V} 3 {mode}"]
    waiting = [*vectors, "crosswait 3", f"work {V} 100"] if mode == 0 else vectors
    answer = launch(["crosswait 3", f"work {M} 100"] if mode == 2 else [], waiting, waiting, chip=chip)
    assert answer["cycles"] == 1 + 10 + 1 + latency + 1 + 100 + DRAIN


def test_a_flag_that_one_vector_core_never_sets_names_the_core_that_waits() -> None:
    answer = launch(["crosswait 3"], [f"crossset {V} 3 2"], [])
    assert answer["error"].startswith("deadlock: AIC of block 0 waits for ever for")


@pytest.mark.parametrize(("who", "late"), [(2, 900), (0, 300)])
def test_a_sync_all_waits_for_all_cores_or_for_the_vector_cores(who: int, late: int) -> None:
    sync = f"sync {who}"
    cube = [f"work {M} 900", *([sync] if who == 2 else [])]
    answer = launch(cube, [f"work {V} 300", sync, f"work {V} 5000"], [sync])
    assert answer["cycles"] == 1 + late + DRAIN + 1 + 5000 + DRAIN


def test_blocks_beyond_the_groups_of_the_chip_start_when_a_whole_group_has_ended() -> None:
    group: list[list[str]] = [[f"work {M} 100"], [f"work {V} 400"], [f"work {V} 50"]]
    assert launch(*group * 24)["cores"] == 72
    once, twice = launch(*group * 24)["cycles"], launch(*group * 25)["cycles"]
    assert (once, twice) == (1 + 400 + DRAIN, 2 * (1 + 400 + DRAIN))
    pairs = launch(*[[f"work {M} 100"], [f"work {V} 400"]] * 25, kind=MIX_1_1)
    assert pairs["cycles"] == 2 * (1 + 400 + DRAIN)


def test_busy_and_waits_of_every_pipe_add_up_to_the_time_of_all_cores() -> None:
    answer = launch([f"work {M} 100", f"crossset {M} 1 2"], ["crosswait 1", f"read {GM} 1 {SIZE} 0 0"], [f"work {V} 50"])
    for pipe in range(7):
        assert answer["busy"][pipe] + sum(answer["wait"][pipe]) == answer["cores"] * answer["cycles"]


def test_loads_of_both_kinds_of_core_share_the_memory_and_each_keeps_its_own_rate_when_it_is_enough() -> None:
    cube, vector = f"readl1 {GM} 1 {SIZE} 0 0", f"read {GM + (1 << 30)} 1 {SIZE} 0 0"
    alone = launch([cube], [], [])["cycles"], launch([], [vector], [])["cycles"]
    both = launch([cube], [vector], [])["cycles"]
    # two cores are served as two cores of their kinds are: nobody gets slower than the curves for two say
    assert max(alone) <= both <= 1.1 * max(alone)


def test_all_cores_together_get_no_more_than_the_memory_has() -> None:
    tiles = 8
    cubes = [[f"readl1 {GM + (core * tiles + tile) * SIZE} 1 {SIZE} 0 1" for tile in range(tiles)] for core in range(24)]
    vectors = [[f"read {GM + (1 << 34) + (core * tiles + tile) * SIZE} 1 {SIZE} 0 1" for tile in range(tiles)] for core in range(48)]
    cores = [one for block in range(24) for one in (cubes[block], vectors[2 * block], vectors[2 * block + 1])]
    answer = launch(*cores)
    assert answer["hbm"] == 72 * tiles * SIZE
    cap = BARE.simulation["hbm.read_cap_bytes_per_s"].value / 1.85e9
    assert 0.85 * cap <= answer["hbm"] / answer["cycles"] <= cap
    stores = [[f"write {GM + (2 << 34) + core * SIZE} 1 {SIZE} 0 1"] for core in range(48)]
    mixed = launch(*(one for block in range(24) for one in (cubes[block], stores[2 * block], stores[2 * block + 1])))
    assert mixed["hbm"] / mixed["cycles"] <= BARE.simulation["hbm.total_cap_bytes_per_s"].value / 1.85e9


def test_a_mixed_launch_whose_cube_cores_do_nothing_takes_as_long_as_its_vector_cores_alone() -> None:
    vectors = [
        [f"read {GM + core * SIZE} 1 {SIZE} 0 0", f"set {MTE2} {MTE3} 0", f"wait {MTE2} {MTE3} 0", f"write {GM + (1 << 34) + core * SIZE} 1 {SIZE} 0 0"]
        for core in range(8)
    ]
    alone = launch(*vectors, kind=0)
    mixed = launch(*(one for block in range(4) for one in ([], vectors[2 * block], vectors[2 * block + 1])))
    assert (mixed["cycles"], mixed["busy"][MTE2:FIX]) == (alone["cycles"], alone["busy"][MTE2:FIX])
