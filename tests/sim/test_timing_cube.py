"""Is each rule of the cube unit's costs exact: Mmad by width, loads on MTE1, Fixpipe out of L0C and through what all stores share? Times in core cycles."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "fidelity"))

import timing_driver
from timing_chips import NO_LAUNCH, with_figures
from timing_driver import F16, F32

from piton.core.hardware import Hardware

M, FIX = 2, 6
BF16, I8 = 2, 4
L0A, L0B, BT = 4, 5, 7
GM = 0x200000000000
MHZ = 1850
ISSUE, SETUP, LATENCY, DRAIN = 5, 12, round(0.109 * MHZ), 1
BARE = with_figures(**NO_LAUNCH)


def answers(script: str, chip: Hardware = BARE) -> list[dict[str, Any]]:
    found = timing_driver.run(chip, script)
    assert all("error" not in answer for answer in found), found
    return found


def cost(line: str) -> int:
    return int(answers(f"{line}\ncost\n")[0]["cycles"])


def launch(*cores: list[str], chip: Hardware = BARE) -> dict[str, Any]:
    (answer,) = answers("\n".join(["kind 1", *(line for core in cores for line in ["core", *core]), "launch", ""]), chip)
    return answer


def moving(nbytes: int, bytes_per_s: float) -> int:
    """Cycles that `nbytes` take at a rate, in the replay's fixed point."""
    rate = round(bytes_per_s / (MHZ * 1e6) * 2**20)
    return -(-(nbytes << 20) // rate)


@pytest.mark.parametrize(("dtype", "each"), [(I8, 1), (F16, 1), (BF16, 1), (F32, 2)])
@pytest.mark.parametrize("pairs", [1, 512])
def test_a_product_takes_a_fixed_part_and_so_many_cycles_per_pair_of_fractals(dtype: int, each: int, pairs: int) -> None:
    assert cost(f"mmad {dtype} {pairs}") == 10 + pairs * each


@pytest.mark.parametrize(("space", "rate"), [(L0A, 441e9), (L0B, 220.5e9), (BT, 220.5e9)])
def test_a_load_takes_set_up_and_its_bytes_at_the_rate_of_its_memory(space: int, rate: float) -> None:
    assert cost(f"loaddata {space} 8192") == 17 + moving(8192, rate)


def test_nothing_to_do_costs_the_issue_only() -> None:
    assert [cost(f"mmad {F16} 0"), cost(f"loaddata {L0A} 0"), cost(f"fixpipe {GM} 0 16 64 {F32}")] == [0, 0, 0]


@pytest.mark.parametrize(("dtype", "width"), [(F32, 4), (F16, 2), (I8, 1)])
def test_results_leave_l0c_at_one_rate_whatever_they_become(dtype: int, width: int) -> None:
    took = launch([f"fixpipe {GM} 128 256 8192 {dtype}"])
    assert took["cycles"] == ISSUE + SETUP + moving(128 * 256 * 4, 70e9) + LATENCY + DRAIN
    assert took["written"] == 128 * 256 * width
    assert took["busy"][FIX] == SETUP + moving(128 * 256 * 4, 70e9) + LATENCY


def test_a_faster_way_out_of_l0c_is_held_up_by_the_stores_own_rate() -> None:
    fast = with_figures(**NO_LAUNCH, fix__l0c_rate_bytes_per_s=700e9)
    assert launch([f"fixpipe {GM} 128 256 1024 {F32}"], chip=fast)["cycles"] == ISSUE + SETUP + moving(128 * 256 * 4, 188.46e9) + LATENCY + DRAIN


def test_cores_share_what_l2_takes() -> None:
    narrow = with_figures(**NO_LAUNCH, fix__l0c_rate_bytes_per_s=700e9, l2__write_cap_bytes_per_s=50e9)
    both = launch(*([f"fixpipe {GM + core * 2**20} 128 256 1024 {F32}"] for core in range(2)), chip=narrow)
    assert both["cycles"] == pytest.approx(ISSUE + SETUP + moving(2 * 128 * 256 * 4, 50e9) + LATENCY + DRAIN, abs=2)


def test_the_next_product_starts_before_the_results_are_out() -> None:
    after = launch([f"mmad {F16} 100", "set 2 6 0", "wait 2 6 0", f"fixpipe {GM} 16 16 64 {F32}", f"mmad {F16} 5000"])
    assert after["cycles"] == pytest.approx(2 * ISSUE + 110 + 5010, abs=12)
    assert after["busy"][M] == 110 + 5010


@pytest.mark.parametrize(("shape", "published"), [((128, 256, 64), 4217), ((128, 128, 64), 2172)])
def test_eight_products_are_near_the_published_cycles(shape: tuple[int, int, int], published: int) -> None:
    m, n, k = shape
    pairs = (m // 16) * (n // 16) * (k // 16)
    assert 8 * cost(f"mmad {F16} {pairs}") == pytest.approx(published, rel=0.025)
