"""Is each rule of loads exact: into L1, past L2, of addresses that other cores read, of bursts that L2 holds in part? Times in core cycles."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "fidelity"))

import timing_driver
from timing_chips import NO_LAUNCH, with_figures
from timing_driver import MTE2

from piton.core.hardware import Hardware

GM = 0x200000000000
MHZ = 1850
ISSUE, SETUP, LATENCY, DRAIN = 5, 12, round(0.204 * MHZ), 1
BARE = with_figures(**NO_LAUNCH)
FIRST_BYTE = ISSUE + SETUP
"""When a load that is the first instruction of its core moves its first byte."""


def answers(script: str, chip: Hardware = BARE) -> list[dict[str, Any]]:
    found = timing_driver.run(chip, script)
    assert all("error" not in answer for answer in found), found
    return found


def cycles(*lines: str, chip: Hardware = BARE, kind: int = 0) -> int:
    """Of one core that does `lines`."""
    (answer,) = answers("\n".join([f"kind {kind}", "core", *lines, "launch", ""]), chip)
    return int(answer["cycles"])


def moving(nbytes: int, bytes_per_s: float) -> int:
    """Cycles that `nbytes` take at a rate, in the replay's fixed point."""
    rate = round(bytes_per_s / (MHZ * 1e6) * 2**20)
    return -(-(nbytes << 20) // rate)


@pytest.mark.parametrize(("verb", "kind", "plain", "bypass"), [("read", 0, 8, 11), ("readl1", 1, 5, 8)])
def test_each_block_of_a_load_takes_the_pipe_so_long_at_least(verb: str, kind: int, plain: int, bypass: int) -> None:
    for is_bypass, per_block in ((0, plain), (1, bypass)):
        took = cycles(f"{verb} {GM} 100 128 4096 {is_bypass}", kind=kind)
        assert took == FIRST_BYTE + 100 * per_block + LATENCY + DRAIN


@pytest.mark.parametrize(("verb", "kind", "hbm", "l2"), [("read", 0, 100.9e9, 137e9), ("readl1", 1, 135e9, 221e9)])
def test_one_core_loads_at_the_rate_of_its_kind(verb: str, kind: int, hbm: float, l2: float) -> None:
    load = f"{verb} {GM} 1 65536 0 0"
    first = FIRST_BYTE + moving(65536, hbm)
    assert cycles(load, kind=kind) == first + LATENCY + DRAIN
    assert cycles(load, load, kind=kind) == first + SETUP + moving(65536, l2) + LATENCY + DRAIN


# ---- addresses that several cores read
TEN_BYTES = 10 * MHZ * 1e6
"""Ten bytes per cycle."""
LATER = 1000
"""Cycles by which the second core comes later."""


def second_core(first: str, second: str, window: int = 5000) -> int:
    """Cycles of a core that loads `second` after another has loaded `first`: (address, bytes, past L2), from its first byte to its last."""
    chip = with_figures(**NO_LAUNCH, hbm__same_address_cap_bytes_per_s=TEN_BYTES, hbm__same_address_window_us=window / MHZ)
    script = f"kind 0\ncore\nread {first}\ncore\nwork {MTE2} {LATER}\nread {second}\nlaunch\n"
    (answer,) = answers(script, chip)
    return int(answer["cycles"]) - (1 + LATER + SETUP) - LATENCY - DRAIN


ALONE = moving(5120, 100.9e9)


def test_a_load_of_what_another_core_has_just_read_moves_at_the_shared_rate() -> None:
    same = f"{GM} 1 5120 0 1"
    assert second_core(same, same) == 512
    assert second_core(f"{GM + (1 << 20)} 1 5120 0 1", same) == ALONE


@pytest.mark.parametrize(("slack", "expected"), [(0, 512), (-1, ALONE)])
def test_the_window_is_counted_from_first_byte_to_first_byte(slack: int, expected: int) -> None:
    same = f"{GM} 1 5120 0 1"
    apart = 1 + LATER + SETUP - FIRST_BYTE
    assert second_core(same, same, window=apart + slack) == expected


@pytest.mark.parametrize(("offset", "shared"), [(128, 384), (384, 128), (512, 0)])
def test_addresses_are_the_same_within_512_bytes(offset: int, shared: int) -> None:
    """The second load starts `offset` bytes after the first, which reads 128 bytes: what lies in the same 512 bytes is shared."""
    rest = moving(1024 - shared, 100.9e9)
    assert second_core(f"{GM} 1 128 0 1", f"{GM + offset} 1 1024 0 1") == shared // 10 + (shared % 10 > 0) + rest


def test_loads_through_l2_are_not_slowed_down_by_other_readers() -> None:
    assert second_core(f"{GM} 1 5120 0 0", f"{GM} 1 5120 0 0") == moving(5120, 137e9)


def test_a_core_does_not_disturb_itself() -> None:
    load = f"read {GM} 1 5120 0 1"
    chip = with_figures(**NO_LAUNCH, hbm__same_address_cap_bytes_per_s=TEN_BYTES)
    assert cycles(load, load, chip=chip) == FIRST_BYTE + ALONE + SETUP + ALONE + LATENCY + DRAIN


def test_all_that_share_divide_the_shared_rate() -> None:
    chip = with_figures(**NO_LAUNCH, hbm__same_address_cap_bytes_per_s=TEN_BYTES)
    load = f"read {GM} 1 5120 0 1"
    script = "kind 0\ncore\n" + load + f"\ncore\nwork {MTE2} {LATER}\n{load}" * 4 + "\nlaunch\n"
    (answer,) = answers(script, chip)
    assert answer["cycles"] == 1 + LATER + SETUP + 4 * 512 + LATENCY + DRAIN


# ---- bursts
def test_a_burst_that_lacks_a_line_is_fetched_whole() -> None:
    """512 bytes from byte 64 on lie in two bursts of 512; L2 has the first 128 bytes of them."""
    lines = ["kind 0", "core", f"read {GM} 1 128 0 0", f"read {GM + 64} 1 512 0 0", "launch"]
    (answer,) = answers("\n".join([*lines, ""]))
    assert answer["hbm"] == 128 + 1024


def test_a_load_that_l2_has_all_lines_of_needs_no_hbm() -> None:
    lines = ["kind 0", "core", f"read {GM} 1 1024 0 0", f"read {GM + 64} 1 512 0 0", "launch"]
    (answer,) = answers("\n".join([*lines, ""]))
    assert answer["hbm"] == 1024
