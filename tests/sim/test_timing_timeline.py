"""Does a recorded timeline agree with the launch's own sums, cycle by cycle, and does recording change nothing?"""

from __future__ import annotations

import random
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "fidelity"))

import timing_driver
from timing_driver import ALL, MTE2, MTE3, S, V

from piton.core.timeline import LOSS_REASONS, WAIT_REASONS

GM = 0x200000000000
RUN, ISSUE, LOSS, WAIT = range(4)
CHIP = "ascend910b1"
EVERYTHING = 1_000_000


class Piece(NamedTuple):
    """A slice as the driver prints it."""

    begin: int
    end: int
    line: int
    pipe: int
    kind: int
    reason: int
    cause: int


def recorded(script: str, limit: int = EVERYTHING) -> tuple[dict[str, Any], dict[str, Any]]:
    """(launch, timeline)."""
    launch, timeline = timing_driver.run(CHIP, f"record {limit}\n{script}\nlaunch\n")
    for block in timeline["blocks"]:
        block["slices"] = [Piece(*item) for item in block["slices"]]
    return launch, timeline


def block(*lines: str) -> str:
    return "\n".join(["core", *lines, ""])


def program(seed: int) -> list[str]:
    """A program with everything in it whose flags pair up."""
    choose = random.Random(seed)
    lines = ["setup"]
    for number in range(40):
        event, at = number % 4, GM + choose.randrange(1 << 20) * 32
        lines += choose.choice(
            [
                [f"read {at} 1 {32 * choose.randrange(1, 400)} 0 0"],
                [f"read {at} {choose.randrange(2, 60)} 32 {32 * choose.randrange(1, 9)} {number % 2}"],
                [f"write {at} 1 {32 * choose.randrange(1, 400)} 0 {number % 2}"],
                [f"vector 1 1 {choose.choice([0, 256, 65536])} 0 8192 {choose.randrange(1, 99)}"],
                [f"set {MTE2} {V} {event}", f"work {MTE2} 5", f"wait {MTE2} {V} {event}"],
                [f"set {V} {MTE3} {event}", f"wait {V} {MTE3} {event}"],
                [f"set {V} {MTE2} {event}", f"wait {V} {MTE2} {event}"],
                [f"set {MTE2} {S} {event}", f"wait {MTE2} {S} {event}"],
                [f"set {S} {V} {event}", f"wait {S} {V} {event}"],
                [f"load 1 {at}", f"store 2 {number}"],
                [f"barrier {choose.choice([V, MTE2, MTE3, ALL])}"],
                [f"work {V} 3"] * 50,
            ]
        )
    return lines


def launch_of(seed: int, blocks: int) -> str:
    common = [*program(seed), "sync"] if blocks <= 48 else []
    return "".join(block(*common, *program(seed + number % 3)) for number in range(blocks))


LAUNCHES = [(1, 1), (2, 5), (3, 48), (4, 60)]


@pytest.mark.parametrize(("seed", "blocks"), LAUNCHES)
def test_slices_add_up_to_the_sums_of_the_launch(seed: int, blocks: int) -> None:
    launch, timeline = recorded(launch_of(seed, blocks))
    spent: Counter[tuple[int, int, int]] = Counter()
    for piece in (piece for item in timeline["blocks"] for piece in item["slices"]):
        spent[piece.pipe, piece.kind, piece.reason] += piece.end - piece.begin
    for pipe, busy in enumerate(launch["busy"]):
        assert sum(cycles for (of, kind, _), cycles in spent.items() if of == pipe and kind != WAIT) == busy
        assert [spent[pipe, LOSS, reason] for reason in range(len(LOSS_REASONS))] == launch["lost"][pipe]
        known = WAIT_REASONS.index("idle")
        assert [spent[pipe, WAIT, reason] for reason in range(known)] == launch["wait"][pipe][:known]


@pytest.mark.parametrize(("seed", "blocks"), LAUNCHES)
@pytest.mark.parametrize("limit", [EVERYTHING, 640])
def test_slices_of_a_pipe_never_overlap_and_lie_inside_their_block(seed: int, blocks: int, limit: int) -> None:
    for item in recorded(launch_of(seed, blocks), limit)[1]["blocks"]:
        for pipe in range(7):
            pieces = sorted(piece for piece in item["slices"] if piece.pipe == pipe)
            assert all(one.end <= other.begin for one, other in pairwise(pieces))
            assert all(item["begin"] <= piece.begin <= piece.end <= item["end"] for piece in pieces)


@pytest.mark.parametrize(("seed", "blocks"), LAUNCHES)
def test_recording_changes_no_cycle(seed: int, blocks: int) -> None:
    script = launch_of(seed, blocks)
    assert recorded(script)[0] == timing_driver.run(CHIP, script + "\nlaunch\n")[0]
    assert recorded(script, 640)[0] == recorded(script)[0]


def test_arrows_lead_from_work_before_a_set_to_the_wait_for_it() -> None:
    (item,) = recorded(block(f"work {V} 100", f"set {V} {MTE3} 0", f"wait {V} {MTE3} 0", f"work {MTE3} 10"))[1]["blocks"]
    ((start, landing),) = item["arrows"]
    assert item["slices"][start][2:5] == (1, V, RUN)
    assert item["slices"][landing][2:5] == (3, MTE3, WAIT)
    assert item["slices"][landing].cause == V


def test_arrows_without_a_wait_lead_to_the_instruction_after_it() -> None:
    (item,) = recorded(block(f"work {V} 1", f"set {V} {MTE3} 0", f"work {MTE3} 500", f"wait {V} {MTE3} 0", f"work {MTE3} 10"))[1]["blocks"]
    ((start, landing),) = item["arrows"]
    assert item["slices"][start][2:5] == (1, V, RUN)
    assert item["slices"][landing][2:5] == (5, MTE3, RUN)


@pytest.mark.parametrize(("seed", "blocks"), LAUNCHES)
def test_arrows_never_point_back_in_time(seed: int, blocks: int) -> None:
    _, timeline = recorded(launch_of(seed, blocks))
    assert sum(len(item["arrows"]) for item in timeline["blocks"]) > 10
    for item in timeline["blocks"]:
        assert all(item["slices"][start].end <= item["slices"][landing].end for start, landing in item["arrows"])


def test_of_a_long_block_the_first_and_the_last_instructions_are_kept() -> None:
    (item,) = recorded(block(*[f"work {V} {number}" for number in range(1, 101)]), limit=10)[1]["blocks"]
    runs = {piece.line: piece for piece in item["slices"] if piece.kind == RUN}
    assert sorted(runs) == [1, 2, 3, 4, 5, 96, 97, 98, 99, 100]
    assert {line: piece.end - piece.begin for line, piece in runs.items()} == {line: line for line in runs}
    assert item["left_out"] == 90
    issued = {piece.line: piece for piece in item["slices"] if piece.kind == ISSUE}
    assert issued[5].end <= item["gap"][0] < item["gap"][1] <= issued[96].begin


def test_of_a_launch_with_many_blocks_the_outer_ones_are_recorded() -> None:
    _, timeline = recorded("".join(block(f"work {V} 9") for _ in range(100)))
    assert [item["block"] for item in timeline["blocks"]] == [*range(32), *range(68, 100)]


def test_a_wait_in_sync_all_names_the_block_that_came_last() -> None:
    _, timeline = recorded(block("sync") + block(f"work {V} 9000", "sync") + block("sync"))
    waits = [piece for piece in timeline["blocks"][0]["slices"] if piece.kind == WAIT and WAIT_REASONS[piece.reason] == "sync_all"]
    assert [piece.cause for piece in waits] == [1]


@pytest.mark.parametrize("size", [1 << 12, 1 << 20])
def test_the_traffic_is_what_the_launch_moved(size: int) -> None:
    launch, timeline = recorded("".join(block(*[f"read {GM + (number * 8 + part) * size} 1 {size} 0 1" for part in range(8)]) for number in range(4)))
    read = [item[0] for item in timeline["traffic"]]
    assert launch["hbm"] == 32 * size
    assert sum(read) == pytest.approx(launch["hbm"], abs=32 * 64)  # a transfer ends with a whole cycle
    assert len(read) <= 1024
    assert (len(read) - 1) * timeline["bin"] < launch["cycles"]
