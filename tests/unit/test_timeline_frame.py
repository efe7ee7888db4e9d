"""Is a timeline from the device process read right, and is every forged one refused?"""

from __future__ import annotations

import random
import struct

import pytest

from piton.core.timeline import Arrow, LaunchTimeline, Operand, Slice, TrafficBin, UbUse
from piton.targets.vnpu.timeline_frame import MalformedTimelineError, RecordedLaunch, read_timeline

KNOWN = RecordedLaunch("k", 1, 2, 48, 1_800_000_000, "/some/submission")
NONE = 0xFFFFFFFF


def text(value: str) -> bytes:
    return struct.pack("<I", len(value)) + value.encode()


def many(*items: bytes) -> bytes:
    return struct.pack("<I", len(items)) + b"".join(items)


LOAD = struct.pack("<7BHH6IQQBBQQBBQQBBQQ", 1, 4, 0, 0, 0, 2, 0, 0, 1, 42, 12, 3, 64, 32, 0, 0, 0, 2, 1, 512, 192, 1, 1, 0x2000, 192, 0, 0, 0, 0)
SET = struct.pack("<7BHH6IQQBBQQBBQQBBQQ", 3, 4, 4, 1, 6, 1, 8, 2, 1, 43, 0, 0, 0, 0, 0, 0, 0, *[0] * 12)
RUN = struct.pack("<QQIBBBIQQQ", 10, 90, 0, 4, 0, 0, NONE, 7, 64, 128)
LOSS = struct.pack("<QQIBBBIQQQ", 90, 95, 0, 4, 2, 2, NONE, 0, 0, 0)
END = struct.pack("<QQIBBBIQQQ", 50, 100, NONE, 0, 3, 11, 4, 0, 0, 0)


def block(*, slices: tuple[bytes, ...] = (RUN, LOSS, END), arrow: tuple[int, ...] = (0, 1, 4, 1, 6), times: tuple[int, int] = (5, 100)) -> bytes:
    head = struct.pack("<I6Q", 3, *times, 20, 30, 12, 10)
    return head + many(LOAD, SET) + many(*slices) + many(struct.pack("<IIBBB", *arrow)) + many(struct.pack("<QII", 6, 4096, 512))


def frame(*blocks: bytes, core_kind: int = 1) -> bytes:
    names = many(text("DataCopyPad"), text("/some/submission/csrc/k.cpp"), text("SetFlag\n"))
    return struct.pack("<BQQ", core_kind, 100, 64) + names + many(struct.pack("<7Q", 1, 2, 3, 4, 5, 6, 7)) + many(*blocks)


def test_a_frame_is_read_field_by_field() -> None:
    timeline = read_timeline(frame(block()), KNOWN)
    assert (timeline.kernel, timeline.number, timeline.launches, timeline.blocks, timeline.cycles) == ("k", 1, 2, 48, 100)
    assert (timeline.core_kind, read_timeline(frame(core_kind=0), KNOWN).core_kind) == ("AIC", "AIV")
    assert (timeline.bin_cycles, timeline.traffic) == (64, (TrafficBin(1, 2, 3, 4, 5, 6, 7),))
    (track,) = timeline.tracks
    assert (track.block, track.begin, track.end, track.gap, track.total, track.left_out) == (3, 5, 100, (20, 30), 12, 10)
    load, flag = track.instructions
    assert (load.name, load.file, load.line, load.kind, load.pipe, load.bypasses_l2) == ("DataCopyPad", "csrc/k.cpp", 42, "load", "MTE2", True)
    assert (load.blocks, load.block_bytes, load.gm_gap, load.cycles, load.repeats) == (3, 64, 32, 12, 0)
    assert load.operands == (Operand("dst", "UB", "float16", 512, 192), Operand("src0", "GM", "float16", 0x2000, 192))
    assert (flag.name, flag.flag, flag.is_auto_sync, flag.is_queue) == ("SetFlag", "MTE2_V 6", True, True)
    assert track.slices == (
        Slice(10, 90, "mte2", "run", "", 0, None, 7, 64, 128),
        Slice(90, 95, "mte2", "loss", "latency", 0, None, 0, 0, 0),
        Slice(50, 100, "s", "wait", "end", None, 4, 0, 0, 0),
    )
    assert (track.arrows, track.ub) == ((Arrow(0, 1, "MTE2_V 6"),), (UbUse(6, 4096, 512),))


@pytest.mark.parametrize(
    "forged",
    [
        frame(block())[:-1],
        frame(block()) + b"\0",
        frame(block(arrow=(0, 3, 4, 1, 6))),
        frame(block(arrow=(0, 1, 9, 1, 6))),
        frame(block(times=(5, 101))),
        frame(block(slices=(RUN, LOSS, struct.pack("<QQIBBBIQQQ", 10, 9, 0, 4, 0, 0, NONE, 0, 0, 0)))),
        frame(block(slices=(RUN, LOSS, struct.pack("<QQIBBBIQQQ", 10, 101, 0, 4, 0, 0, NONE, 0, 0, 0)))),
        frame(block(slices=(RUN, LOSS, struct.pack("<QQIBBBIQQQ", 10, 20, 2, 4, 0, 0, NONE, 0, 0, 0)))),
        frame(block(slices=(RUN, LOSS, struct.pack("<QQIBBBIQQQ", 10, 20, 0, 7, 0, 0, NONE, 0, 0, 0)))),
        frame(block(slices=(RUN, LOSS, struct.pack("<QQIBBBIQQQ", 10, 20, 0, 4, 3, 15, NONE, 0, 0, 0)))),
        frame(block(), core_kind=4),
        struct.pack("<BQQI", 0, 100, 64, NONE),
        b"",
    ],
)
def test_a_frame_that_no_engine_sends_is_refused(forged: bytes) -> None:
    with pytest.raises(MalformedTimelineError):
        read_timeline(forged, KNOWN)


def test_a_damaged_frame_is_read_or_refused_and_nothing_else() -> None:
    whole, choose = frame(block(), block()), random.Random(1)
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(choose.randrange(1, 4)):
            damaged[choose.randrange(len(damaged))] = choose.randrange(256)
        try:
            assert isinstance(read_timeline(bytes(damaged), KNOWN), LaunchTimeline)
        except MalformedTimelineError:
            pass
