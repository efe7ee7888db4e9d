"""Does the race detector know exactly which bytes an instruction touches? Where order matters its absence is reported, where it does not nothing is.

What matters is measured, not looked up: an intruder (a copy into a block of memory, a copy out of it, a fill) comes before the call or behind it, with a
barrier of all pipes between; where the two launches end differently, order matters at that block (`cpp/engine_probes.h`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from engine_rig import Report, Rig

Bytes = npt.NDArray[np.uint8]
CPP = Path(__file__).parent / "cpp"
ARENA = 4096
BLOCKS = ARENA // 32
COPY_IN, COPY_OUT, FILL = 1, 2, 3
BEFORE, BEHIND, ORDERED = 4, 8, 16
THIRD = 3072

BY_COPIES = {"load", "load_padded", "store", "store_bytes"}
"""Calls that are copies themselves, so that a vector instruction intrudes."""
WAITED_FOR = ("reduce_", "gather_mask", "column", "bytes_column", "top_k_of", "sum_of_bits")
"""The scalar unit waits for the vector unit, for the result or (GatherMask) the number of elements, so that whatever comes behind is ordered."""
OFFSETS = {"gather", "gather_lanes", "gather_blocks"}


def names(file: str) -> list[str]:
    """The probes that a file of kernels has."""
    text = (CPP / file).read_text().split("kAll[]")[1]
    found = re.findall(r"(ROW|BOTH)\((\w+)\)|\{\"([\w ]+)\"", text)
    return [name for kind, probe, single in found for name in ([probe] if kind == "ROW" else [f"{probe} f16", f"{probe} f32"] if kind else [single])]


INSTRUCTIONS = names("engine_kernels_probes.cpp")
COMPOSED = names("engine_kernels_probes_composed.cpp")
HALVES = {"muls_half", "axpy_half", "cast_up", "cast_bytes", "reduce_min", "block_max", "brcb_apart", "gather_lanes", "transpose", "to_5hd", "nchw"}


def numbers(name: str, low: float, high: float, seed: int) -> Bytes:
    """An arena of numbers of the probe's type; offsets are valid ones."""
    random = np.random.default_rng(seed)
    is_half = name in HALVES or name.endswith("f16")
    arena = random.uniform(low, high, ARENA // (2 if is_half else 4)).astype(np.float16 if is_half else np.float32).view(np.uint8)
    if name in OFFSETS:
        unit = 32 if name == "gather_blocks" else 2 if is_half else 4
        arena[THIRD:] = (unit * random.integers(0, 512 // unit, (ARENA - THIRD) // 4)).astype(np.uint32).view(np.uint8)
    elif name.startswith(("select", "gather_mask")):
        arena[THIRD:] = random.integers(0, 256, ARENA - THIRD, dtype=np.uint8)
    return arena


@cache
def contents(name: str) -> tuple[Bytes, tuple[Bytes, ...]]:
    """What the arena holds, and what intruders bring: larger, smaller and other numbers."""
    low, high = (1.5, 1.9) if name.startswith("acosh") else (0.5, 1.0)
    return numbers(name, low, high, 1), (numbers(name, 3 * high, 4 * high, 2), numbers(name, -0.4, -0.1, 3))


def run(rig: Rig, name: str, block: int, how: int, brought: Bytes) -> tuple[Report, Bytes]:
    """The report, and the arena with what an intruder took."""
    rig.reset()
    arena, _ = contents(name)
    source = rig.upload(np.concatenate([arena, brought]))
    out = rig.upload(np.full(2 * ARENA + 2048, 7, np.uint8), is_mutable=True)
    report = rig.run_kernel(name, source, out, block, how)
    return report, rig.download(out, 2 * ARENA + 2048, np.uint8)


def matters(rig: Rig, name: str, block: int, who: int) -> bool:
    """Whether the two orders end differently."""
    for brought in contents(name)[1]:
        before, behind = (run(rig, name, block, who | moment | ORDERED, brought) for moment in (BEFORE, BEHIND))
        assert [*before[0].causes(), *behind[0].causes()] == []
        if not np.array_equal(before[1], behind[1]):
            return True
    return False


def is_reported(rig: Rig, name: str, block: int, who: int) -> tuple[bool, bool]:
    """Whether the missing order is, with the intruder before the call and behind it; with both lines and what would help."""
    found = []
    for moment in (BEFORE, BEHIND):
        report, _ = run(rig, name, block, who | moment, contents(name)[1][0])
        found.append(report.causes() != [])
        assert set(report.causes()) <= {"missing_sync"}, report.diagnostics
        for one in report.diagnostics:
            assert one["is_finding"] or ("needed: SetFlag/WaitFlag" in one["message"] and one["numbers"]["earlier_line"] > 0), one
    return found[0], found[1]


def intruders(name: str) -> tuple[int, ...]:
    """Who can be out of order with the call: not what runs on its own pipe."""
    return (FILL,) if name in BY_COPIES else (COPY_IN, COPY_OUT)


def check(rig: Rig, name: str, blocks: range) -> None:
    """All of these blocks, and all intruders."""
    wrong = []
    for who in intruders(name):
        for block in blocks:
            expected = matters(rig, name, block, who)
            before, behind = is_reported(rig, name, block, who)
            may_be_silent = expected and name.startswith(WAITED_FOR)
            if before != expected or (behind != expected and not may_be_silent):
                wrong.append((block, who, expected, before, behind))
    assert wrong == [], f"(block, intruder, order matters, reported before, reported behind): {wrong}"


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig(cores=1) as made:
        made.configure(auto_sync=False)
        yield made


@pytest.mark.parametrize("name", INSTRUCTIONS + COMPOSED)
def test_a_call_alone_has_nothing_to_report(rig: Rig, name: str) -> None:
    report, _ = run(rig, name, 0, 0, contents(name)[0])
    assert report.diagnostics == []


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTRUCTIONS + COMPOSED)
def test_order_is_asked_for_at_exactly_the_blocks_where_it_matters(rig: Rig, name: str) -> None:
    check(rig, name, range(BLOCKS))


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_order_is_asked_for_at_some_of_the_blocks_where_it_matters(rig: Rig, name: str) -> None:
    check(rig, name, range(1, BLOCKS, 13))


NOT_USED = {f"{name} f32" for name in ("floor_of", "rint_of", "log_of", "sign_of")}
WITH_SCRATCH = [name for name in COMPOSED if name not in NOT_USED and not name.startswith(("row ", "softmax_front_of", "clamp_of", "sort_of"))]
"""Rows are repeated and these floats computed without scratch memory; SoftmaxGradFront gets it from TPipe; Sort has read its source when it first uses it."""
SCRATCH_SHIFT, SCRATCH_BASE = 8, 32


LARGE = ("sums_so_far", "product_of_axis")
"""These need more than what lies behind the source."""


@pytest.mark.parametrize(("name", "tensor"), [(name, tensor) for name in WITH_SCRATCH for tensor in (0, 1024) if tensor == 0 or not name.startswith(LARGE)])
def test_scratch_memory_over_a_tensor_of_the_call_is_found(rig: Rig, name: str, tensor: int) -> None:
    report, _ = run(rig, name, 0, (tensor + SCRATCH_BASE) << SCRATCH_SHIFT, contents(name)[0])
    assert report.causes() == ["bad_overlap"], report.diagnostics
    assert "separate" in report.diagnostics[0]["message"] or "a buffer of its own" in report.diagnostics[0]["message"]
