"""Is a timeline written as a trace that viewers read, complete, and the same every time?"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from trace_rules import check_trace, complete, cycles_by_row

from piton.core.execution import PIPES
from piton.core.timeline import WAIT_REASONS, Arrow, BlockTimeline, Instruction, LaunchTimeline, Operand, Slice, TrafficBin, UbUse
from piton.report.chrome_trace import wait_name, write_trace

MTE2, V = PIPES.index("mte2"), PIPES.index("v")
LOAD = Instruction(
    name="DataCopyPad",
    file="csrc/k.cpp",
    line=7,
    kind="load",
    pipe="MTE2",
    flag="",
    is_auto_sync=False,
    is_queue=False,
    bypasses_l2=True,
    cycles=12,
    repeats=0,
    elements=0,
    mask=(0, 0),
    blocks=4,
    block_bytes=64,
    gm_gap=32,
    operands=(Operand("dst", "UB", "float16", 0x40, 256), Operand("src0", "GM", "float16", 0x2000, 256)),
)
WAIT = LOAD._replace(name="WaitFlag", kind="wait_flag", pipe="V", flag="MTE2_V 3", blocks=0, operands=())
ADD = LOAD._replace(name="Add", kind="work", pipe="V", is_auto_sync=True, repeats=2, mask=(0xFF, 1), blocks=0, operands=())


def slice_of(begin: int, end: int, pipe: str, kind: Any, reason: str = "", instruction: int | None = 0, cause: int | None = None) -> Slice:
    return Slice(begin, end, pipe, kind, reason, instruction, cause, 5, 64, 192)


TRACK = BlockTimeline(
    block=0,
    begin=10,
    end=200,
    total=9,
    left_out=6,
    gap=(40, 50),
    instructions=(LOAD, WAIT, ADD),
    slices=(
        slice_of(10, 19, "s", "issue", instruction=0),
        slice_of(19, 40, "mte2", "run"),
        slice_of(40, 61, "mte2", "loss", "latency"),
        slice_of(20, 61, "v", "wait", "flag_mte2", 1, MTE2),
        slice_of(61, 100, "v", "run", instruction=2),
        slice_of(100, 103, "v", "loss", "bank_conflict", 2),
        slice_of(104, 200, "s", "wait", "end", None, V),
    ),
    arrows=(Arrow(1, 3, "MTE2_V 3"),),
    ub=(UbUse(10, 4096, 0), UbUse(20, 4096, 256)),
)
TIMELINE = LaunchTimeline(
    kernel='k<"\n>',
    number=1,
    launches=2,
    core_kind="AIV",
    blocks=3,
    cycles=230,
    clock_hz=1_800_000_000,
    tracks=(TRACK, replace(TRACK, block=2, left_out=0)),
    bin_cycles=100,
    traffic=(TrafficBin(900, 0, 500, 0, 100, 500, 1500), TrafficBin(1000, 0, 0, 0, 0, 0, 0), TrafficBin(1000, 200, 0, 0, 0, 0, 1000)),
)


def text_of(timeline: LaunchTimeline) -> str:
    file = io.StringIO()
    write_trace(timeline, {"operator": "exp"}, file)
    return file.getvalue()


def trace_of(timeline: LaunchTimeline = TIMELINE) -> dict[str, Any]:
    trace: dict[str, Any] = json.loads(text_of(timeline))
    return trace


def named(name: str) -> dict[str, Any]:
    return next(event for event in trace_of()["traceEvents"] if event["name"] == name)


@pytest.mark.parametrize("clock_hz", [1_800_000_000, 1_850_000_000, 999_999_937])
def test_a_trace_keeps_the_rules_of_its_format_at_any_clock(clock_hz: int) -> None:
    check_trace(trace_of(replace(TIMELINE, clock_hz=clock_hz)))


@pytest.mark.parametrize("clock_hz", [1_800_000_000, 1_850_000_000])
def test_neighbours_of_one_cycle_do_not_overlap_anywhere(clock_hz: int) -> None:
    slices = tuple(slice_of(cycle, cycle + 1, "v", "run") for cycle in range(5000))
    track = replace(TRACK, begin=0, end=5000, left_out=0, slices=slices, arrows=())
    check_trace(trace_of(replace(TIMELINE, cycles=5000, clock_hz=clock_hz, tracks=(track,))))


def test_equal_timelines_give_equal_bytes_of_plain_ascii() -> None:
    assert text_of(TIMELINE) == text_of(TIMELINE)
    assert text_of(TIMELINE).isascii()


def test_cycles_of_a_row_are_those_of_its_slices() -> None:
    rows = cycles_by_row(trace_of())
    assert rows["V"] == {"wait": 82, "flag_mte2": 82, "instruction": 78, "loss": 6, "bank_conflict": 6}
    assert rows["MTE2"] == {"instruction": 42, "loss": 42, "latency": 42}


def test_an_instruction_says_where_it_stands_and_what_it_moves() -> None:
    args = named("DataCopyPad")["args"]
    assert args["source"] == "csrc/k.cpp:7"
    assert (args["dst"], args["src0"]) == ("UB 0x40, 256 bytes float16", "GM 0x2000, 256 bytes float16")
    assert (args["moves"], args["l2"]) == ("4 x 64 bytes, 32 apart in GM", "bypassed")
    assert (args["cycles"], args["begin_cycle"], args["queued_cycles"], args["l2_bytes"], args["hbm_bytes"]) == (21, 19, 5, 64, 192)
    assert (named("Add")["args"]["mask"], named("Add")["args"]["repeats"], named("Add")["args"]["auto_sync"]) == ("0x1 0xff", 2, True)


def test_a_wait_says_what_for_and_points_back_to_it() -> None:
    wait = named("WaitFlag: wait for MTE2")
    assert (wait["cat"], wait["args"]["flag"], wait["args"]["cycles"]) == ("wait", "MTE2_V 3", 41)
    start, end = (event for event in trace_of()["traceEvents"] if event["ph"] in "sf" and event["id"] == 1)
    copy = named("DataCopyPad")
    assert (start["tid"], end["tid"], end["bp"]) == (copy["tid"], wait["tid"], "e")
    assert copy["ts"] <= start["ts"] <= copy["ts"] + copy["dur"]


@pytest.mark.parametrize("reason", WAIT_REASONS[: WAIT_REASONS.index("idle")])
def test_every_reason_of_a_wait_has_its_words(reason: str) -> None:
    words = wait_name(slice_of(0, 1, "s", "wait", reason, 1, MTE2), WAIT)
    assert "MTE2" in words or {"sync_all": "block 4", "cross_flag": "other cores"}[reason] in words


def test_what_is_left_out_is_said_in_the_trace() -> None:
    trace = trace_of()
    note = "2 of 3 blocks are recorded; 6 of the 18 instructions of the recorded blocks are left out (--trace-cores chooses blocks)"
    assert trace["otherData"]["left_out"] == note
    assert [event["name"] for event in trace["traceEvents"] if event["ph"] == "i"] == [note]
    (row,) = [row for row in complete(trace["traceEvents"]).values() if row[0]["cat"] == "note"]
    assert (row[0]["name"], row[0]["args"]["begin_cycle"], row[0]["args"]["cycles"]) == ("6 of 9 instructions are left out here", 40, 10)


def test_a_complete_recording_has_no_note() -> None:
    trace = trace_of(replace(TIMELINE, blocks=1, tracks=(replace(TRACK, left_out=0),)))
    assert trace["otherData"]["left_out"] == ""
    assert not [event for event in trace["traceEvents"] if event["ph"] == "i"]


def test_counters_show_rates_hits_and_the_unified_buffer() -> None:
    counters = [(event["name"], event["ts"], event["args"]) for event in trace_of()["traceEvents"] if event["ph"] == "C"]
    assert [item for item in counters if item[0] == "HBM, GB/s"] == [
        ("HBM, GB/s", 0.0002, {"read": 18.0, "written": 0.0}),
        ("HBM, GB/s", 0.1112, {"read": 60.0, "written": 12.0}),
        ("HBM, GB/s", 0.1272, {"read": 0.0, "written": 0.0}),
    ]
    assert [args for name, _, args in counters if "another core" in name] == [{"read": 1.8}, {"read": 0.0}]
    assert [args for name, _, args in counters if name == "L2 hits of loads, %"] == [{"hits": 33.3}, {"hits": 0.0}]
    assert [args for name, _, args in counters if name == "UB bytes"][:2] == [{"given out": 4096, "in use": 0}, {"given out": 4096, "in use": 256}]
