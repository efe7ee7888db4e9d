"""Is each rule of the replay exact: refused at t-1, accepted at t? Times in core cycles; launch costs are switched off unless a test is about them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "fidelity"))

import timing_driver
from timing_chips import NO_LAUNCH, with_figures
from timing_driver import ALL, MTE2, MTE3, S, V

from piton.catalog.hardware import load_hardware
from piton.core.hardware import Hardware

GM = 0x200000000000
DRAIN = 1
"""Cycles of the PIPE_ALL that ends every block."""


BARE = with_figures(**NO_LAUNCH)
LATENCY = round(0.204 * 1850)
SETUP = 12
ISSUE = 5


def launch(script: str, chip: Hardware = BARE) -> dict[str, Any]:
    return timing_driver.run(chip, script + "\nlaunch\n")[-1]


def cycles(script: str, chip: Hardware = BARE) -> int:
    answer = launch(script, chip)
    assert "error" not in answer, answer
    return int(answer["cycles"])


def block(*lines: str) -> str:
    return "\n".join(["core", *lines, ""])


# ---- pipes, flags, barriers


def test_work_starts_when_the_scalar_unit_has_issued_it() -> None:
    assert cycles(block(f"work {V} 100")) == 1 + 100 + DRAIN
    assert cycles(block(f"issue {V} 100 8")) == 8 + 100 + DRAIN


def test_a_pipe_starts_its_work_in_order_and_pipes_run_side_by_side() -> None:
    assert cycles(block(f"work {V} 100", f"work {V} 50")) == 1 + 150 + DRAIN
    assert cycles(block(f"work {V} 100", f"work {MTE3} 50")) == 1 + 100 + DRAIN


@pytest.mark.parametrize(("own_work", "stall"), [(98, 3), (100, 1), (101, 0), (102, 0)])
def test_a_flag_is_refused_one_cycle_before_it_is_ready_and_accepted_when_it_is(own_work: int, stall: int) -> None:
    # V: issued at 1, done at 101, flag ready at 102. MTE3: issued at 3, so its own work of 99 cycles would end at 102.
    answer = launch(block(f"work {V} 100", f"set {V} {MTE3} 0", f"issue {MTE3} {own_work - 2} 1", f"wait {V} {MTE3} 0", f"work {MTE3} 10"))
    assert answer["stall"][MTE3] == stall
    assert answer["cycles"] == max(102, 1 + own_work) + 1 + 10 + DRAIN


def test_a_flag_carries_all_earlier_work_of_its_pipe_and_none_of_the_later() -> None:
    before = block(f"work {V} 100", f"work {V} 100", f"set {V} {MTE3} 0", f"wait {V} {MTE3} 0", f"work {MTE3} 500")
    after = block(f"work {V} 100", f"set {V} {MTE3} 0", f"work {V} 100", f"wait {V} {MTE3} 0", f"work {MTE3} 500")
    assert cycles(before) == cycles(after) + 100


def test_the_nth_wait_pairs_with_the_nth_set() -> None:
    produce = [f"work {V} 100", f"set {V} {MTE3} 0"] * 2
    consume = [f"wait {V} {MTE3} 0", f"work {MTE3} 1"] * 2
    script = block(*produce, *consume)
    answer = launch(script)
    # first wait until 102, second until the second work (102 to 202) and its set are through
    assert answer["cycles"] == 203 + 1 + 1 + DRAIN
    assert answer["stall"][MTE3] == (102 - 5) + (203 - 104)


def test_flags_of_different_events_and_pipes_are_apart() -> None:
    answer = launch(block(f"set {V} {MTE3} 0", f"wait {V} {MTE3} 1"))
    assert "deadlock" in answer["error"]
    assert "V_MTE3 id 1" in answer["error"]


def test_a_wait_of_the_scalar_unit_stops_issue_of_everything_later() -> None:
    waiting = block(f"work {V} 100", f"set {V} {S} 0", f"wait {V} {S} 0", f"work {MTE3} 10")
    assert cycles(waiting) == 102 + 1 + 1 + 10 + DRAIN


def test_a_barrier_makes_later_work_of_its_pipe_wait_for_completion() -> None:
    loads = [f"read {GM} 1 32768 0 0", f"read {GM + 65536} 1 32768 0 0"]
    assert cycles(block(loads[0], f"barrier {MTE2}", loads[1])) == pytest.approx(cycles(block(*loads)) + LATENCY, abs=3)


def test_pipe_all_stops_the_scalar_unit_until_every_pipe_is_done() -> None:
    assert cycles(block(f"work {V} 100", f"work {MTE3} 300", f"barrier {ALL}", f"work {V} 50")) == 2 + 300 + 1 + 1 + 50 + DRAIN


@pytest.mark.parametrize(("queued", "issued_at"), [(32, 33), (33, 34), (34, 1003), (35, 2003)])
def test_the_scalar_unit_stalls_when_a_queue_is_full(queued: int, issued_at: int) -> None:
    # The first work leaves the queue at cycle 1, so 33 fit while it runs; the 34th can be issued when the second starts at 1001, the 35th at 2001.
    assert cycles(block(*[f"work {V} 1000"] * queued, f"work {MTE3} 100000")) == issued_at + 100000 + DRAIN


# ---- transfers


def test_a_load_takes_setup_then_its_bytes_then_latency() -> None:
    one_core = 100.9e9 / 1.85e9
    expected = ISSUE + SETUP + 32768 / one_core + LATENCY + DRAIN
    assert cycles(block(f"read {GM} 1 32768 0 0")) == pytest.approx(expected, abs=1)


def test_a_flag_after_a_load_waits_for_its_latency() -> None:
    load = f"read {GM} 1 32768 0 0"
    assert cycles(block(load, f"set {MTE2} {V} 0", f"wait {MTE2} {V} 0", f"work {V} 10")) == cycles(block(load)) + 1 + 1 + 10


def test_many_small_blocks_take_at_least_their_cycles_on_the_pipe() -> None:
    assert cycles(block(f"read {GM} 256 32 480 0", f"barrier {MTE2}")) >= SETUP + 256 * 8 + LATENCY


def test_unaligned_blocks_carry_whole_bursts() -> None:
    aligned = launch(block(f"read {GM} 64 2048 2048 0"))
    unaligned = launch(block(f"read {GM + 64} 64 2048 2048 0"))
    assert (aligned["hbm"], unaligned["hbm"]) == (64 * 2048, 64 * 2560)
    assert unaligned["read"] == aligned["read"] == 64 * 2048


@pytest.mark.parametrize("kind", ["read", "write"])
def test_more_bytes_are_never_faster(kind: str) -> None:
    times = [cycles("".join(block(f"{kind} {GM + core * 1_000_000} 1 {size} 0 0") for core in range(4))) for size in (32, 64, 512, 544, 4096, 4128, 65536)]
    assert times == sorted(times)
    assert times[0] < times[-1]


def test_cores_share_the_memory_rate() -> None:
    size, tiles = 32768, 8

    def loads(cores: int) -> str:
        return "".join(block(*(f"read {GM + (core * tiles + tile) * size} 1 {size} 0 0" for tile in range(tiles))) for core in range(cores))

    two, all_cores = cycles(loads(2)), cycles(loads(48))
    moved = all_cores - LATENCY - DRAIN
    assert 48 * tiles * size / moved == pytest.approx(1.47e12 / 1.85e9, rel=0.02)
    assert two < 0.6 * all_cores


def test_reads_and_writes_together_stay_below_the_common_cap() -> None:
    chip = with_figures(launch__base_us=0, launch__per_block_us=0, launch__minimum_us=0)
    size = 65536

    def pairs(core: int) -> str:
        tiles = [GM + (core * 8 + tile) * size * 2 for tile in range(8)]
        return block(*(line for tile in tiles for line in (f"read {tile} 1 {size} 0 1", f"write {tile + size} 1 {size} 0 1")))

    script = "".join(pairs(core) for core in range(48))
    answer = launch(script, chip)
    assert answer["hbm"] == 48 * 8 * 2 * size
    assert answer["hbm"] / answer["cycles"] <= 1.54e12 / 1.85e9
    assert answer["hbm"] / answer["cycles"] >= 0.9 * 1.54e12 / 1.85e9


# ---- L2


MIB = 1 << 20


def stream(kind: str, first: int, count: int, bypass: int = 0) -> str:
    """`count` MiB by 48 cores, 64 KiB at a time."""
    tiles = [GM + first * MIB + tile * 65536 for tile in range(count * 16)]
    return "".join(block(*(f"{kind} {tile} 1 65536 0 {bypass}" for tile in tiles[core::48])) for core in range(48))


def launches(*scripts: str) -> list[dict[str, Any]]:
    return timing_driver.run(BARE, "".join(f"{script}launch\n" for script in scripts))


def test_an_output_that_fits_l2_costs_no_memory_traffic() -> None:
    (answer,) = launches(stream("write", 0, 64))
    assert (answer["written"], answer["hbm"]) == (64 * MIB, 0)


def test_an_output_larger_than_l2_writes_back_exactly_the_excess() -> None:
    (answer,) = launches(stream("write", 0, 200))
    assert answer["hbm"] == 8 * MIB


def test_dirty_data_of_an_earlier_launch_is_read_from_l2_and_pays_when_it_is_pushed_out() -> None:
    written, hit, pushed = launches(stream("write", 0, 64), stream("read", 0, 64), stream("read", 1000, 192))
    assert (written["hbm"], hit["hbm"]) == (0, 0)
    assert pushed["hbm"] == (192 + 64) * MIB


def test_pushing_dirty_data_out_takes_memory_time() -> None:
    _, onto_clean = launches(stream("read", 0, 192), stream("read", 1000, 192))
    _, onto_dirty = launches(stream("write", 0, 192), stream("read", 1000, 192))
    assert (onto_clean["hbm"], onto_dirty["hbm"]) == (192 * MIB, 2 * 192 * MIB)
    assert onto_dirty["cycles"] >= 2 * 192 * MIB / (1.54e12 / 1.85e9)
    assert onto_clean["cycles"] <= 1.1 * 192 * MIB / (1.47e12 / 1.85e9)


def test_the_page_that_was_used_longest_ago_leaves_first() -> None:
    *_, kept, gone = launches(
        stream("read", 0, 64), stream("read", 100, 100), stream("read", 0, 64), stream("read", 1000, 64), stream("read", 0, 64), stream("read", 100, 32)
    )
    assert (kept["hbm"], gone["hbm"]) == (0, 32 * MIB)


def test_a_read_that_bypasses_l2_leaves_it_as_it_is() -> None:
    _, bypass, again = launches(stream("write", 0, 64), stream("read", 1000, 192, bypass=1), stream("read", 0, 64))
    assert bypass["hbm"] == 192 * MIB
    assert again["hbm"] == 0


def test_cold_means_empty_and_clean() -> None:
    script = f"{stream('write', 0, 64)}launch\ncold\n{stream('read', 0, 64)}launch\n"
    assert timing_driver.run(BARE, script)[-1]["hbm"] == 64 * MIB


def test_l2_hits_are_faster_than_memory() -> None:
    first, second = launches(stream("read", 0, 64), stream("read", 0, 64))
    assert second["cycles"] < 0.5 * first["cycles"]


# ---- scalar unit


def test_a_scalar_access_misses_once_per_line() -> None:
    load = f"load 1 {GM}"
    other_word, other_line = f"load 1 {GM + 60}", f"load 1 {GM + 64}"
    hit = cycles(block(load, other_word)) - cycles(block(load))
    miss = cycles(block(load, other_line)) - cycles(block(load))
    assert (hit, miss) == (11, 11 + round(0.217 * 1850))


# ---- several cores


def test_sync_all_waits_for_the_slowest_core() -> None:
    chip = with_figures(launch__base_us=0, launch__per_block_us=0, launch__minimum_us=0, launch__sync_all_us=1)
    script = block(f"work {V} 100", "sync", f"work {V} 10") + block(f"work {V} 500", "sync", f"work {V} 20")
    assert cycles(script, chip) == 1 + 500 + DRAIN + 1850 + 1 + 20 + DRAIN


def test_sync_all_with_more_blocks_than_cores_is_a_deadlock_with_both_numbers() -> None:
    error = launch(block("sync") * 49)["error"]
    assert "49" in error
    assert "48" in error
    assert "error" not in launch(block("sync") * 48)


def test_sync_all_in_part_of_the_cores_is_a_deadlock() -> None:
    assert "deadlock: block 1 waits for ever for SyncAll" in launch(block(f"work {V} 1") + block("sync"))["error"]


def test_a_cross_core_flag_opens_when_the_last_core_has_set_it() -> None:
    script = block(f"work {V} 100", f"crossset {V} 3", "crosswait 3", f"work {V} 10") + block(f"work {V} 500", f"crossset {V} 3", "crosswait 3", f"work {V} 20")
    assert cycles(script) == 1 + 500 + 1 + 1 + 20 + DRAIN


def test_surplus_blocks_run_in_a_second_wave() -> None:
    one_wave, two_waves = cycles(block(f"work {V} 1000") * 48), cycles(block(f"work {V} 1000") * 49)
    assert two_waves == 2 * one_wave


def test_each_block_starts_later_than_the_one_before() -> None:
    chip = with_figures(launch__base_us=1, launch__per_block_us=0.1, launch__minimum_us=0)
    assert cycles(block(f"work {V} 1000"), chip) == 1850 + 1001 + DRAIN
    assert cycles(block(f"work {V} 1000") * 11, chip) == 1850 + 10 * 185 + 1001 + DRAIN


def test_no_launch_takes_less_than_the_minimum() -> None:
    chip = with_figures(launch__base_us=0, launch__per_block_us=0, launch__minimum_us=2)
    assert cycles(block(f"work {V} 1"), chip) == 3700


def test_an_aic_launch_has_the_cube_cores_only() -> None:
    script = "kind 1\n" + block(f"work {V} 1000") * 25
    assert cycles(script) == 2 * cycles("kind 1\n" + block(f"work {V} 1000") * 24)


def test_equal_launches_take_equal_cycles() -> None:
    script = stream("read", 0, 16) + "launch\n"
    first, second = timing_driver.run(BARE, script + "cold\n" + script)
    assert first == second == timing_driver.run(BARE, script)[0]


def test_the_order_of_the_cores_does_not_matter() -> None:
    short = block(*(f"read {GM + tile * 32768} 1 32768 0 0" for tile in range(4)), f"work {V} 100")
    long = block(*(f"read {GM + MIB + tile * 32768} 1 32768 0 0" for tile in range(9)), f"write {GM + 4 * MIB} 1 4096 0 0")
    assert cycles(short + long) == cycles(long + short)


def test_a_copy_by_the_runtime_reads_and_writes_memory() -> None:
    (answer,) = timing_driver.run(BARE, f"copy {64 * MIB}\n")
    assert answer["cycles"] == pytest.approx(2 * 64 * MIB / (1.54e12 / 1.85e9), rel=0.001)


# ---- where the time goes

WAITS = ("flag_s", "flag_v", "flag_m", "flag_mte1", "flag_mte2", "flag_mte3", "flag_fix", "barrier", "full_queue", "sync_all", "cross_flag", "end", "idle")
OVERHEAD = ("launch", "tail")
LOSSES = ("bandwidth_share", "small_blocks", "latency", "bank_conflict", "cache_miss", "scalar_code")


def waits(answer: dict[str, Any], pipe: int) -> dict[str, int]:
    """Reasons that cost something."""
    return {name: value for name, value in zip((*WAITS, *OVERHEAD), answer["wait"][pipe], strict=True) if value}


def lost(answer: dict[str, Any], pipe: int) -> dict[str, int]:
    return {name: value for name, value in zip(LOSSES, answer["lost"][pipe], strict=True) if value}


TILE = [
    f"read {GM} 1 8192 0 0",
    f"set {MTE2} {V} 0",
    f"wait {MTE2} {V} 0",
    "vector 1 1 0 0 8192 32",
    f"set {V} {MTE3} 0",
    f"wait {V} {MTE3} 0",
    f"write {GM + (1 << 30)} 1 8192 0 0",
]


@pytest.mark.parametrize("blocks", [1, 3, 48, 100])
@pytest.mark.parametrize("ending", [[], [f"barrier {ALL}", f"work {V} 7"], ["setup", f"load 1 {GM}", f"set {V} {S} 3", f"wait {V} {S} 3"]])
def test_work_and_waits_of_every_pipe_fill_the_time_of_all_cores(blocks: int, ending: list[str]) -> None:
    answer = launch("".join(block(*TILE * (1 + number % 3), *ending) for number in range(blocks)), load_hardware("ascend910b1"))
    assert answer["cores"] == min(blocks, 48)
    for pipe, busy in enumerate(answer["busy"]):
        assert busy + sum(answer["wait"][pipe]) == answer["cores"] * answer["cycles"]
        assert answer["stall"][pipe] == sum(answer["wait"][pipe][: WAITS.index("idle")])
        assert sum(answer["lost"][pipe]) <= busy


def test_a_wait_counts_for_the_pipe_that_sets_the_flag() -> None:
    answer = launch(block(*TILE))
    assert set(waits(answer, V)) == {"flag_mte2", "idle"}
    assert set(waits(answer, MTE3)) == {"flag_v", "idle"}
    assert set(waits(answer, MTE2)) == {"idle"}
    assert set(waits(answer, S)) == {"end", "idle"}


def test_a_pipe_that_waits_while_its_own_bytes_are_on_their_way_is_busy() -> None:
    # V is ready 150 cycles after the copy of MTE2 left the pipe, well before it completes.
    answer = launch(block(f"read {GM} 1 32 0 0", f"work {V} 150", f"set {V} {MTE2} 0", f"wait {V} {MTE2} 0"))
    assert waits(answer, MTE2).get("flag_v", 0) == 0
    assert lost(answer, MTE2)["latency"] == LATENCY


def test_the_scalar_unit_says_what_it_waits_for() -> None:
    queue_full = launch(block(*[f"work {V} 100"] * 40))
    assert set(waits(queue_full, S)) == {"full_queue", "end", "idle"}
    barrier = launch(block(f"work {V} 100", f"barrier {ALL}"))
    assert set(waits(barrier, S)) == {"barrier", "idle"}
    flag = launch(block(f"work {V} 100", f"set {V} {S} 0", f"wait {V} {S} 0"))
    assert waits(flag, S)["flag_v"] == 102 - 2
    everyone = launch(block(f"work {V} 100", "sync") + block("sync"))
    assert {name: waits(everyone, S)[name] for name in ("barrier", "sync_all")} == {"barrier": 101 - 1, "sync_all": 102 - 1}


def test_blocks_that_start_late_or_end_early_wait_for_the_launch() -> None:
    chip = with_figures(launch__base_us=1000 / 1850, launch__per_block_us=100 / 1850, launch__minimum_us=0, launch__sync_all_us=0)
    answer = launch(block(f"work {V} 500") + block(f"work {V} 10"), chip)
    assert waits(answer, V)["launch"] == 1000 + 1100
    assert waits(answer, V)["tail"] == 1000 + 502 - (1100 + 12)


def test_a_shared_memory_and_small_blocks_are_told_apart() -> None:
    assert "bandwidth_share" not in lost(launch(block(f"read {GM} 1 65536 0 0")), MTE2)
    shared = launch("".join(block(f"read {GM + number * 65536} 1 65536 0 0") for number in range(48)))
    assert lost(shared, MTE2)["bandwidth_share"] > 48 * 500
    assert lost(launch(block(f"read {GM} 100 32 480 0", f"read {GM} 100 32 480 0")), MTE2)["small_blocks"] > 0


def test_bank_conflicts_are_the_repeats_beyond_one_each() -> None:
    assert "bank_conflict" not in lost(launch(block("vector 1 1 98304 0 8448 32")), V)
    assert lost(launch(block("vector 1 1 98304 0 65536 32")), V)["bank_conflict"] == 32


def test_a_cube_core_s_loss_is_told_against_its_own_rate() -> None:
    chip = with_figures(**NO_LAUNCH, hbm__read_cap_bytes_per_s=135e9)
    shared = launch("kind 1\n" + block(f"readl1 {GM} 1 65536 0 0") + block(f"readl1 {GM + 65536} 1 65536 0 0"), chip)
    assert lost(shared, MTE2)["bandwidth_share"] == pytest.approx(2 * 65536 / 135e9 * 1.85e9, abs=4)


def test_a_miss_of_the_data_cache_is_lost_time_of_the_scalar_unit() -> None:
    assert lost(launch(block(f"load 1 {GM}", f"load 1 {GM + 4}")), S)["cache_miss"] == round(0.217 * 1850)
