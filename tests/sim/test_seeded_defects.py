"""Is every seeded defect found, with its kind and its lines, and is nothing wrong reported of the kernels it was seeded in?"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from engine_rig import Report, Rig

Floats = npt.NDArray[np.float32]
CPP = Path(__file__).parent / "cpp"
TILE = 512
TILES = 4
CORES = 4
N = TILES * TILE


@dataclass(frozen=True)
class Kernel:
    """A right kernel: what it makes of `x`, and how it is launched."""

    model: Callable[[Floats], Floats]
    blocks: int = 1
    auto_sync: bool = True
    elements: int = N
    findings: tuple[str, ...] = ()
    as_half: bool = False
    """The input goes there as float16."""
    has_products: bool = False
    """Sums of products, in another order than NumPy's."""


def chained(x: Floats) -> Floats:
    y = 2 * x[:TILE] + 1
    first = y[0]
    y[1] = first + 1
    y = y + first
    y[-1] = 7
    return y


def numbered(blocks: int) -> Floats:
    return np.repeat(10 * np.arange(blocks, dtype=np.float32), TILE)


def counted(_: Floats) -> Floats:
    found = np.full(16 * CORES, np.nan, np.float32)
    found[::16] = 1 + np.arange(CORES)
    return found


def sparse(parts: dict[int, Floats]) -> Floats:
    """What the kernel stores; the rest is not looked at."""
    found = np.full(2 * TILE, np.nan, np.float32)
    for at, part in parts.items():
        found[at : at + len(part)] = part
    return found


def side_by_side(x: Floats) -> Floats:
    return np.concatenate([x[:128], x[TILE : TILE + 128]])


def product(x: Floats) -> Floats:
    parts = x[: 512 * TILES].astype(np.float16).astype(np.float32).reshape(TILES, 2, 16, 16)
    return 2 * sum(a @ b.T for a, b in parts).reshape(-1)  # type: ignore[no-any-return]


def halves_of(x: Floats) -> Floats:
    return x.astype(np.float16).astype(np.float32)


def biased(x: Floats) -> Floats:
    raw = x.astype(np.float16)[: TILES * 544].reshape(TILES, 544)
    products = [halves_of(p[:256]).reshape(16, 16) @ halves_of(p[256:512]).reshape(16, 16).T + p[512:].copy().view(np.float32) for p in raw]
    return np.concatenate(products).reshape(-1)


def twice_multiplied(x: Floats) -> Floats:
    a, b = halves_of(x)[:512].reshape(2, 16, 16)
    return np.tile((halves_of(a @ b.T) @ b.T).reshape(-1), 2)


def of_tiles(x: Floats) -> Floats:
    """16 x 16 products; two fractals of 16 x 8 floats make up each side."""
    parts = x[: TILES * TILE].reshape(TILES, 2, 2, 16, 8).transpose(0, 1, 3, 2, 4).reshape(TILES, 2, 16, 16)
    return np.concatenate([(a @ b.T).reshape(-1) for a, b in parts])


AUTO = ("auto_sync_relied_on",)
KERNELS = {
    "flags": Kernel(lambda x: 2 * x),
    "pairs": Kernel(lambda x: x[:TILE] + x[TILE : 2 * TILE]),
    "chain": Kernel(chained, auto_sync=False),
    "reload": Kernel(lambda x: np.concatenate([x[TILE : TILE + 64], x[64:TILE]])),
    "rewrite": Kernel(lambda x: np.concatenate([x[TILE : TILE + 64], x[64:TILE]])),
    "back": Kernel(lambda x: np.tile(x[:TILE], 2)),
    "queues": Kernel(lambda x: 2 * x),
    "ahead": Kernel(lambda x: 2 * x[: 3 * TILE]),
    "through": Kernel(lambda x: x),
    "share": Kernel(lambda _: np.concatenate([numbered(CORES), np.roll(numbered(CORES), -TILE)]), CORES, elements=2 * N),
    "cross": Kernel(lambda _: np.concatenate([numbered(CORES), np.roll(numbered(CORES), -TILE)]), CORES, elements=2 * N),
    "turn": Kernel(lambda _: np.concatenate([numbered(2), np.full(TILE, np.nan), np.zeros(TILE)]), 2),
    "own_tiles": Kernel(lambda _: np.repeat(1 + np.arange(CORES, dtype=np.float32), TILE), CORES),
    "count": Kernel(counted, CORES),
    "fresh": Kernel(lambda x: sparse({0: x[:TILE], TILE: x[:1]})),
    "fetch": Kernel(lambda _: sparse({0: np.float32([5]), TILE: np.float32([5])})),
    "matrix": Kernel(lambda x: x),
    "halves": Kernel(side_by_side),
    "repeats": Kernel(lambda x: np.abs(x[: 255 * 64]), elements=256 * 64),
    "partial": Kernel(lambda x: np.concatenate([np.abs(x[:100]), np.zeros(4)]), findings=AUTO),
    "choose": Kernel(lambda x: np.where(x[:TILE] > 0, x[:TILE], 9)),
    "tail": Kernel(lambda x: x[-8:]),
    "shift": Kernel(lambda x: np.abs(x[:TILE])),
    "pick": Kernel(lambda x: x[:128:2], findings=AUTO),
    "own_id": Kernel(lambda x: x[:TILE] + x[TILE : 2 * TILE]),
    "many": Kernel(lambda x: functools.reduce(np.add, x[:TILE].reshape(8, 64)), findings=AUTO),
    "scratch": Kernel(lambda x: np.floor(x[:TILE].astype(np.float16)), findings=AUTO),
    "single": Kernel(lambda x: 2 * x[:TILE]),
    "spread": Kernel(lambda x: np.repeat(x[:16], 8)),
    "product": Kernel(product, as_half=True, has_products=True),
    "combine": Kernel(lambda x: 2 * x[:TILE]),
    "counter": Kernel(lambda x: np.abs(x[:TILE]) + 1, findings=AUTO),
    "relay": Kernel(lambda _: np.tile(numbered(4), 3), 2, elements=3 * N),
    "biased": Kernel(biased, as_half=True, has_products=True, elements=4 * N),
    "rounds": Kernel(twice_multiplied, as_half=True, has_products=True),
    "columns": Kernel(lambda _: np.full(1, np.nan, np.float32), as_half=True),
    "ringed": Kernel(of_tiles, has_products=True),
    "strided": Kernel(lambda x: x, 2),
    "shares": Kernel(lambda x: x, 2),
    "gathered": Kernel(lambda _: np.concatenate([numbered(CORES), np.roll(numbered(CORES), -TILE)]), CORES, elements=2 * N),
    "halved": Kernel(lambda x: np.where(np.arange(TILE) % 64 < 32, x[:TILE] + 1, 2 * x[:TILE]), findings=AUTO),
    "lines": Kernel(lambda _: np.concatenate([np.full(8, np.nan), np.arange(24)]).astype(np.float32)),
    "meet": Kernel(lambda _: np.concatenate([numbered(4), np.roll(numbered(4), 2 * TILE)]), 2, elements=2 * N),
}


@dataclass(frozen=True)
class Seed:
    """One edit of a right kernel, and what has to be said about it."""

    number: int
    kernel: str
    edit: str
    cause: str
    fix: str
    blocks: int = 0
    is_finding: bool = False
    """Harmless in this very launch."""


SEEDS = [
    Seed(1, "flags", "the load does not wait until the buffer has been read", "missing_sync", "V_MTE2"),
    Seed(2, "flags", "no flag between load and computation", "missing_sync", "MTE2_V"),
    Seed(3, "flags", "the flag for the store is set before the computation", "missing_sync", "V_MTE3"),
    Seed(4, "flags", "the flag before the store has the wrong direction", "missing_sync", "V_MTE3"),
    Seed(5, "flags", "the computation does not wait until the buffer has been stored", "missing_sync", "MTE3_V"),
    Seed(6, "flags", "the wait names another id than the set", "deadlock", "SetFlag"),
    Seed(7, "flags", "the last flag is never waited for", "flag_leak", "WaitFlag"),
    Seed(8, "flags", "event id 8", "bad_parameter", "0 to 7"),
    Seed(9, "pairs", "one id for two loads in flight", "flag_misuse", "another id"),
    Seed(10, "queues", "EnQue left out", "deadlock", "EnQue missing"),
    Seed(11, "queues", "EnQue and DeQue left out", "missing_sync", "EnQue/DeQue"),
    Seed(12, "queues", "FreeTensor before the last use", "missing_sync", "AllocTensor/FreeTensor"),
    Seed(13, "queues", "FreeTensor left out", "deadlock", "FreeTensor missing"),
    Seed(14, "queues", "FreeTensor twice", "queue_misuse", "free already"),
    Seed(15, "queues", "FreeTensor to another queue", "queue_misuse", "belongs to another queue"),
    Seed(16, "queues", "EnQue twice", "queue_misuse", "EnQue twice"),
    Seed(17, "ahead", "four tensors queued at a depth of 3", "queue_misuse", "depth of 3"),
    Seed(18, "ahead", "two buffers for three tensors in use", "deadlock", "every buffer is in use"),
    Seed(19, "through", "a vector instruction between the copies of a TQueBind", "missing_sync", "MTE2_V"),
    Seed(20, "chain", "no barrier between dependent vector instructions, auto-sync off", "missing_sync", "PipeBarrier<PIPE_V>"),
    Seed(21, "chain", "GetValue without V_S, auto-sync off", "missing_sync", "V_S"),
    Seed(22, "chain", "a vector instruction overwrites what GetValue reads without S_V, auto-sync off", "missing_sync", "S_V"),
    Seed(23, "chain", "a store reads what SetValue wrote without S_MTE3, auto-sync off", "missing_sync", "S_MTE3"),
    Seed(24, "reload", "two loads into one buffer without a barrier", "missing_sync", "PipeBarrier<PIPE_MTE2>"),
    Seed(25, "rewrite", "two stores to one place without a barrier", "missing_sync", "PipeBarrier<PIPE_MTE3>"),
    Seed(26, "back", "a load of what was stored without MTE3_MTE2", "missing_sync", "MTE3_MTE2"),
    Seed(27, "share", "SyncAll left out", "missing_sync", "SyncAll"),
    Seed(28, "share", "one core leaves SyncAll out", "deadlock", "every core"),
    Seed(29, "share", "one block more than cores", "deadlock", "have not started", blocks=CORES + 1),
    Seed(30, "cross", "the flag between the cores is set behind V, not behind the store", "missing_sync", "CrossCoreSetFlag"),
    Seed(31, "turn", "IBSet before the store", "missing_sync", "IBSet"),
    Seed(32, "own_tiles", "every core stores 8 elements too many", "missing_sync", "another core"),
    Seed(33, "count", "DataCacheCleanAndInvalid left out", "missing_sync", "DataCacheCleanAndInvalid"),
    Seed(34, "count", "the numbers of all cores in one cache line", "missing_sync", "64"),
    Seed(35, "fresh", "GetValue of what a copy has stored without invalidating the line", "missing_sync", "DataCacheCleanAndInvalid"),
    Seed(36, "fetch", "a copy loads what SetValue left in the cache", "missing_sync", "DataCacheCleanAndInvalid"),
    Seed(37, "matrix", "L1 is copied out before it is loaded", "missing_sync", "MTE2_MTE3"),
    Seed(38, "matrix", "L1 is loaded before it is copied out", "missing_sync", "MTE3_MTE2"),
    Seed(39, "halves", "matrices that overlap in L1, without a barrier", "missing_sync", "PipeBarrier<PIPE_MTE2>"),
    Seed(40, "halves", "a flag that nobody waits for, on a cube core", "flag_leak", "WaitFlag"),
    Seed(41, "repeats", "256 repeats", "bad_parameter", "255"),
    Seed(42, "partial", "lanes that nobody computed are stored", "undefined_data", "Duplicate"),
    Seed(43, "choose", "a tile where Select keeps its scratch", "ub_overflow", "scratch"),
    Seed(44, "tail", "the last tile is loaded in full length", "out_of_bounds", "past the end"),
    Seed(45, "shift", "a destination one repeat behind its source", "bad_overlap", "separate ones"),
    Seed(46, "pick", "offsets that nobody computed", "undefined_data", "Duplicate"),
    Seed(47, "own_id", "an id of FetchEventID kept across an EnQue", "flag_misuse", "another id"),
    Seed(48, "many", "nine tensors queued with eight ids", "flag_misuse", "8 events"),
    Seed(49, "scratch", "scratch memory that overlaps the tensor", "bad_overlap", "a buffer of its own"),
    Seed(50, "single", "FreeTensor before the last use, in a kernel of one tile", "other", "FreeTensor belongs behind the last use", is_finding=True),
    Seed(51, "combine", "SetAtomicNone left out", "other", "SetAtomicNone", is_finding=True),
    Seed(52, "counter", "SetMaskNorm left out", "default_mask_changed", "SetMaskNorm", is_finding=True),
    Seed(53, "cross", "CrossCoreWaitFlag left out", "missing_sync", "waited for before the later"),
    Seed(54, "cross", "a flag between the cores that nobody waits for", "flag_leak", "CrossCoreWaitFlag"),
    Seed(55, "spread", "scratch memory that overlaps the result", "bad_overlap", "a buffer of its own"),
    Seed(56, "product", "LoadData does not wait for the load into L1", "missing_sync", "MTE2_MTE1"),
    Seed(57, "product", "Mmad does not wait for LoadData", "missing_sync", "MTE1_M"),
    Seed(58, "product", "LoadData does not wait until Mmad has read L0", "missing_sync", "M_MTE1"),
    Seed(59, "product", "the load into L1 does not wait for LoadData", "missing_sync", "MTE1_MTE2"),
    Seed(60, "product", "Fixpipe does not wait for Mmad", "missing_sync", "M_FIX"),
    Seed(61, "product", "no barrier between products that add up in L0C", "missing_sync", "PipeBarrier<PIPE_M>"),
    Seed(62, "relay", "the cube core does not wait for its vector cores", "missing_sync", "CrossCoreSetFlag behind its pipe"),
    Seed(63, "relay", "the flag to the cube core is set in mode 1", "deadlock", "in the mode that reaches it"),
    Seed(64, "relay", "the cube core sets its flag twice", "flag_leak", "a CrossCoreWaitFlag for every CrossCoreSetFlag"),
    Seed(65, "relay", "one of two vector cores does not set the flag", "deadlock", "1 of 2 cores have set id 1"),
    Seed(66, "relay", "the cube core's flag vouches for the wrong pipe", "missing_sync", "CrossCoreSetFlag behind its pipe"),
    Seed(67, "meet", "SyncAll of each kind of core instead of all", "missing_sync", "SyncAll between them"),
    Seed(68, "meet", "the cube cores leave SyncAll out", "deadlock", "every core has to call it"),
    Seed(69, "relay", "sixteen sets without a flag back", "other", "a flag back, at least every 15 sets", is_finding=True),
    Seed(70, "biased", "LoadData as convolution does not wait for its matrix", "missing_sync", "MTE2_MTE1"),
    Seed(71, "biased", "Mmad does not wait for the copy into the bias table", "missing_sync", "MTE1_M"),
    Seed(72, "biased", "the bias table is overwritten before Mmad has read it", "missing_sync", "M_MTE1"),
    Seed(73, "biased", "Mmad overwrites L0C before Fixpipe has read it", "missing_sync", "FIX_M"),
    Seed(74, "rounds", "LoadData does not wait for the Fixpipe into L1", "missing_sync", "FIX_MTE1"),
    Seed(75, "rounds", "a load does not wait for the Fixpipe to global memory", "missing_sync", "FIX_MTE2"),
    Seed(76, "columns", "Fixpipe does not wait for its parameters", "missing_sync", "MTE2_FIX"),
    Seed(77, "ringed", "FreeTensor before the last use, on a cube core", "missing_sync", "MTE1_MTE2"),
    Seed(78, "ringed", "FreeTensor left out, on a cube core", "deadlock", "FreeTensor missing"),
    Seed(79, "strided", "GetBlockNum for the number of vector cores, as a step", "equal_value_overlap", "GetBlockNum() * GetTaskRatio()", is_finding=True),
    Seed(80, "shares", "GetBlockNum for the number of vector cores, as a divisor", "out_of_bounds", "GetBlockNum() * GetTaskRatio()"),
    Seed(81, "gathered", "SyncAll in a kernel of KERNEL_TYPE_AIV_ONLY", "other", "KERNEL_TYPE_MIX_AIV_1_0", is_finding=True),
    Seed(82, "gathered", "flags between the cores of a kernel of KERNEL_TYPE_AIV_ONLY", "other", "KERNEL_TYPE_MIX_AIV_1_0", is_finding=True),
    Seed(83, "gathered", "flag id 21 between the cores", "reserved_event_id", "0 to 10", is_finding=True),
    Seed(84, "gathered", "a flag id of SyncAll between the cores", "reserved_event_id", "0 to 10", is_finding=True),
    Seed(85, "halved", "a call by count between SetVectorMask and its use", "default_mask_changed", "behind that call", is_finding=True),
    Seed(86, "halved", "event id 6", "reserved_event_id", "0 to 5", is_finding=True),
    Seed(87, "lines", "the second cache line is not cleaned", "missing_sync", "DataCacheCleanAndInvalid"),
    Seed(88, "meet", "one block more than a kernel with both kinds of core can have", "deadlock", "have not started", blocks=3),
    Seed(89, "turn", "IBSet left out", "deadlock", "the matching set (IBSet"),
]


@functools.cache
def marked() -> dict[str, tuple[str, int]]:
    """File and line of every mark, such as "3 here"."""
    marks: dict[str, tuple[str, int]] = {}
    for path in sorted(CPP.glob("engine_kernels_seeded_*.cpp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for mark in re.findall(r"\[(\d+ \w+)\]", line):
                assert mark not in marks, f"{mark} twice"
                marks[mark] = (path.name, number)
    return marks


def numbers(kernel: Kernel) -> Floats:
    return np.random.default_rng(6).uniform(-4, 4, kernel.elements).astype(np.float32)


def run(rig: Rig, name: str, seed: int, blocks: int = 0) -> tuple[Report, Floats, Floats]:
    """The report, the input, and the output with NaN where nothing was stored."""
    kernel = KERNELS[name]
    rig.reset()
    rig.configure(auto_sync=kernel.auto_sync)
    x = numbers(kernel) if name != "turn" else np.zeros(N, np.float32)
    out = rig.upload(np.full(2 * kernel.elements, np.nan, np.float32), is_mutable=True)
    source = x.astype(np.float16) if kernel.as_half else x
    report = rig.run_kernel(name, rig.upload(source, is_mutable=name == "turn"), out, TILES, seed, blocks=blocks or kernel.blocks)
    return report, x, rig.download(out, 2 * kernel.elements, np.float32)


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig(cores=CORES) as made:
        yield made


@pytest.mark.parametrize("name", KERNELS)
def test_nothing_is_reported_of_a_right_kernel_and_its_output_is_right(rig: Rig, name: str) -> None:
    report, x, got = run(rig, name, 0)
    assert (report.causes(), tuple(report.findings())) == ([], KERNELS[name].findings), report.diagnostics
    expected = np.asarray(KERNELS[name].model(x), np.float32)
    known = ~np.isnan(expected)
    np.testing.assert_allclose(got[: len(expected)][known], expected[known], rtol=1e-6, atol=1e-5 if KERNELS[name].has_products else 0)


def place_of(found: dict[str, Any]) -> tuple[str, int]:
    return Path(found["file"]).name, found["line"]


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"{seed.number} {seed.kernel}: {seed.edit}")
def test_a_seeded_defect_is_found_with_its_lines_and_what_would_fix_it(rig: Rig, seed: Seed) -> None:
    report, _, _ = run(rig, seed.kernel, seed.number, seed.blocks)
    here = marked()[f"{seed.number} here"]
    said = [found for found in report.diagnostics if found["is_finding"] == seed.is_finding and place_of(found) == here]
    assert seed.cause in {found["cause"] for found in said}, report.diagnostics
    found = next(found for found in said if found["cause"] == seed.cause)
    assert seed.fix in found["message"]
    for mark in ("earlier", "other"):
        if f"{seed.number} {mark}" in marked():
            file, line = marked()[f"{seed.number} {mark}"]
            assert found["numbers"]["earlier_line"] == line, found
            assert f"{file}:{line}" in found["message"]


def test_the_table_numbers_its_seeds_and_every_kernel_has_one() -> None:
    assert [seed.number for seed in SEEDS] == list(range(1, len(SEEDS) + 1))
    assert sum(not seed.is_finding for seed in SEEDS) >= 30
    assert {seed.kernel for seed in SEEDS} == set(KERNELS)
    assert {int(mark.split()[0]) for mark in marked()} == {seed.number for seed in SEEDS}


def test_the_page_lists_every_seed() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "hazards.md").read_text()
    for seed in SEEDS:
        kind = f"`{seed.cause}` (finding)" if seed.is_finding else f"`{seed.cause}`"
        assert f"| {seed.number} | `{seed.kernel}` | {seed.edit} | {kind} |" in page
    assert len(re.findall(r"^\| \d+ \|", page, re.MULTILINE)) == len(SEEDS)
    assert f"holds {len(KERNELS)} right kernels" in page
