"""The published kernels as launches for the timing driver: same tiling, same flags, our own description (docs/timing-model.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from timing_driver import ADD, CAST, F16, F32, MTE2, MTE3, V

from piton.catalog.hardware import load_hardware

GM_X, GM_Y, GM_Z = 0x200000000000, 0x200010000000, 0x200020000000
"""Device addresses of two inputs and the output, 256 MiB apart."""

ADD_ROWS = ADD_COLUMNS = 8192
BLOCK_CYCLES = int(load_hardware("ascend910b1").simulation["scalar.block_cycles"].value)
LOOP_BLOCKS = 3
"""Basic blocks of a tile's loop: its condition, the length of the tile, the body."""


@dataclass(frozen=True)
class AddCase:
    """One case of the published Add (8192 x 8192 half)."""

    cores: int
    tile: int
    """Elements per tile."""
    is_double: bool = False
    is_bypass: bool = False
    """L2 disabled for the two inputs."""
    is_staggered: bool = False
    """Operands 256 B apart in bank groups."""


ADD_CASES = {
    1: AddCase(cores=1, tile=4096),
    2: AddCase(cores=48, tile=4096),
    3: AddCase(cores=48, tile=16384),
    4: AddCase(cores=48, tile=16384, is_double=True),
    5: AddCase(cores=48, tile=16384, is_double=True, is_bypass=True),
    6: AddCase(cores=48, tile=16256, is_double=True, is_bypass=True, is_staggered=True),
}

ADD_TASK_US = {1: 6909.6, 2: 306.58, 3: 268.5, 4: 264.02, 5: 187.68, 6: 184.52}
"""Published task times on a 910B1."""


def add_script(case: AddCase) -> str:
    """All cores of one launch, rows dealt out evenly (the first cores take one more)."""
    lines: list[str] = []
    base, rest = divmod(ADD_ROWS, case.cores)
    first_row = 0
    for core in range(case.cores):
        rows = base + (core < rest)
        lines.append("core")
        lines.extend(_add_core(case, first_row * ADD_COLUMNS, rows * ADD_COLUMNS))
        first_row += rows
    return "\n".join([*lines, ""])


def _add_core(case: AddCase, first: int, elements: int) -> Iterator[str]:
    buffers = 2 if case.is_double else 1
    free_flags = [f"{pipes} {buffer}" for buffer in range(buffers) for pipes in (f"{V} {MTE2}", f"{MTE3} {V}")]
    if case.is_double:
        yield from (f"set {flag}" for flag in free_flags)
    starts = range(first, first + elements, case.tile)
    for index, start in enumerate(starts):
        waits, sets = case.is_double or index > 0, case.is_double or index < len(starts) - 1
        yield from _add_tile(case, index % buffers, start, min(case.tile, first + elements - start), (waits, sets))
    if case.is_double:
        yield from (f"wait {flag}" for flag in free_flags)


def _add_tile(case: AddCase, buffer: int, start: int, count: int, is_reused: tuple[bool, bool]) -> Iterator[str]:
    """`is_reused`: whether the tile waits for its buffer, and whether it tells that it is done with it."""
    waits, sets = is_reused
    x, y, z = _add_addresses(case, buffer)
    branch = [] if case.is_double else [f"code {BLOCK_CYCLES}"]  # with one buffer the program asks whether this is the first or the last tile
    yield f"code {LOOP_BLOCKS * BLOCK_CYCLES}"
    if waits:
        yield f"wait {V} {MTE2} {buffer}"
    yield from branch
    yield f"read {GM_X + 2 * start} 1 {2 * count} 0 {int(case.is_bypass)}"
    yield f"read {GM_Y + 2 * start} 1 {2 * count} 0 {int(case.is_bypass)}"
    yield from (f"{verb} {MTE2} {V} {buffer}" for verb in ("set", "wait"))
    yield from branch
    if waits:
        yield f"wait {MTE3} {V} {buffer}"
    yield from branch
    yield f"vector {ADD} {F16} {z} {x} {y} {-(-count // 128)}"
    if sets:
        yield from branch
        yield f"set {V} {MTE2} {buffer}"
    yield from branch
    yield from (f"{verb} {V} {MTE3} {buffer}" for verb in ("set", "wait"))
    yield f"write {GM_Z + 2 * start} 1 {2 * count} 0 0"
    if sets:
        yield from branch
        yield f"set {MTE3} {V} {buffer}"


def _add_addresses(case: AddCase, buffer: int) -> tuple[int, int, int]:
    """UB addresses of x, y, z of one buffer: one tile after the other, or x and y 256 B out of step and z in the third bank."""
    tile, bank = 2 * case.tile, 65536
    if not case.is_staggered:
        x = 3 * tile * buffer
        return x, x + tile, x + 2 * tile
    return bank * buffer, bank * buffer + tile, 2 * bank + tile * buffer


@dataclass(frozen=True)
class CopyScenario:
    """One scenario of the published DataCopy example: a matrix of half read tile by tile by 48 vector cores (into UB) or 24 cube cores (Nd2Nz into L1)."""

    published_us: float
    note: str
    is_l1: bool = False
    tile_rows: int = 64
    tile_columns: int = 1024
    rows: int = 12288
    columns: int = 12288
    repeats: int = 1
    slices: int = 1
    """Column ranges, each read `repeats` times before the next."""
    order: str = "own"
    """Rows of a core: "own" ones; or every core all of them past L2, in the "same" order or "staggered" (core c starts with the rows that core c owns)."""
    sample: int = 1
    """One in so many rows is simulated, and the time multiplied."""

    @property
    def cores(self) -> int:
        """One block per core of the kind."""
        return 24 if self.is_l1 else 48


COPY_SCENARIOS = {
    "UB 1": CopyScenario(548.161, "1 x 128 B", tile_rows=1, tile_columns=64, sample=8),
    "UB 2": CopyScenario(220.772, "64 x 128 B", tile_columns=64),
    "UB 3": CopyScenario(202.657, "64 x 2 KB"),
    "UB 4": CopyScenario(259.047, "64 x 2 KB, unaligned rows", columns=12287),
    "UB 5": CopyScenario(816.05, "whole matrix 4 times", repeats=4),
    "UB 6": CopyScenario(354.56, "quarters, 4 times each", repeats=4, slices=4),
    "UB 7": CopyScenario(474.717, "128 x 128 B, all cores, same order", tile_rows=128, tile_columns=64, rows=6144, columns=512, order="same"),
    "UB 8": CopyScenario(307.38, "128 x 128 B, all cores, staggered", tile_rows=128, tile_columns=64, rows=6144, columns=512, order="staggered"),
    "L1 1": CopyScenario(283.508, "64 x 128 B", is_l1=True, tile_columns=64),
    "L1 2": CopyScenario(214.519, "64 x 512 B", is_l1=True, tile_columns=256),
    "L1 3": CopyScenario(422.515, "64 x 512 B, unaligned rows", is_l1=True, tile_columns=256, columns=12287),
    "L1 4": CopyScenario(872.19, "whole matrix 4 times", is_l1=True, repeats=4),
    "L1 5": CopyScenario(397.8, "quarters, 4 times each", is_l1=True, repeats=4, slices=4),
    "L1 6": CopyScenario(240.198, "256 x 128 B, all cores, same order", is_l1=True, tile_rows=256, tile_columns=64, rows=6144, columns=512, order="same"),
    "L1 7": CopyScenario(209.8, "256 x 128 B, all cores, staggered", is_l1=True, tile_rows=256, tile_columns=64, rows=6144, columns=512, order="staggered"),
}
"""All fifteen, with the MTE2 times published for a 910B1; for UB 5 and 6 and L1 4 and 5 only the time of the core is published, which MTE2 fills to 97 %."""


def copy_script(scenario: CopyScenario) -> str:
    """One launch: every core reads its tiles, row of tiles by row of tiles."""
    lines = ["kind 1" if scenario.is_l1 else "kind 0"]
    for core in range(scenario.cores):
        lines.append("core")
        lines.extend(_copy_core(scenario, core))
    return "\n".join([*lines, ""])


def _copy_core(scenario: CopyScenario, core: int) -> Iterator[str]:
    share = scenario.rows // scenario.cores // scenario.sample
    if scenario.order == "own":
        yield from _copy_rows(scenario, core * share, share)
        return
    for step in range(scenario.cores):
        part = (step + core) % scenario.cores if scenario.order == "staggered" else step
        yield from _copy_rows(scenario, part * share, share)


def _copy_rows(scenario: CopyScenario, first_row: int, rows: int) -> Iterator[str]:
    verb, is_bypass = "readl1" if scenario.is_l1 else "read", int(scenario.order != "own")
    width = -(-scenario.columns // scenario.slices)
    pitch = 2 * scenario.columns
    for begin in range(0, scenario.columns, width):
        end = min(begin + width, scenario.columns)
        for _ in range(scenario.repeats):
            for row in range(first_row, first_row + rows, scenario.tile_rows):
                for column in range(begin, end, scenario.tile_columns):
                    block = 2 * (min(column + scenario.tile_columns, end) - column)
                    yield f"{verb} {GM_X + row * pitch + 2 * column} {scenario.tile_rows} {block} {pitch - block} {is_bypass}"


def copy_us(scenario: CopyScenario, answer: dict[str, Any], clock_mhz: float) -> float:
    """The simulated MTE2 time of a core in us: the mean over the cores."""
    return float(answer["busy"][MTE2] / scenario.cores / clock_mhz * scenario.sample)


BANK_SCENARIOS = {
    1: (2390, 0x0, 0x10100, 0x20000, 1, 8),
    2: (4167, 0x0, 0x4000, 0x10000, 1, 8),
    3: (4167, 0x0, 0x10000, 0x14100, 1, 8),
    4: (2389, 0x0, 0x10100, 0x4000, 1, 8),
    5: (3751, 0x0, 0x10100, 0x4020, 1, 8),
    6: (2390, 0x0, 0x10100, 0x10100, 1, 8),
    7: (3584, 0x0, 0x10100, 0x10100, 0, 1),
    8: (2389, 0x0, 0x10100, 0x10100, 0, 8),
}
"""Published 50 MHz ticks of 1000 Adds of 4096 floats; addresses of src0, src1, dst; block and repeat stride of src0."""


def bank_cycles(scenario: int) -> float:
    """Published cycles per Add at 1.85 GHz."""
    return BANK_SCENARIOS[scenario][0] * 37 / 1000


def bank_script(scenario: int) -> str:
    """One Add of 64 repeats; the driver's `cost` prints its cycles."""
    _, src0, src1, dst, blk, rep = BANK_SCENARIOS[scenario]
    return f"strided {ADD} {F32} {dst} {src0} {src1} 64 {blk} {rep} 1 8 1 8\ncost\n"


@dataclass(frozen=True)
class SmallCast:
    """A measured whole kernel of a few microseconds: elements cast from one width to another by so many blocks."""

    published_us: float
    blocks: int
    elements: int
    in_bytes: int
    out_bytes: int


SMALL_CASTS = (
    SmallCast(1.21, 1, 1, 4, 8),
    SmallCast(1.41, 2, 1031, 1, 4),
    SmallCast(1.57, 3, 1031, 8, 4),
    SmallCast(1.72, 4, 4096, 2, 4),
    SmallCast(2.50, 16, 16384, 4, 2),
    SmallCast(3.20, 16, 16384, 2, 4),
    SmallCast(6.44, 46, 129280, 2, 4),
    SmallCast(7.24, 48, 196608, 2, 4),
    SmallCast(7.54, 48, 786432, 2, 4),
    SmallCast(7.28, 48, 1048576, 4, 2),
    SmallCast(11.75, 48, 2097152, 4, 2),
    SmallCast(18.57, 48, 4194304, 4, 2),
)
"""910B1 casts from the whole-kernel tables that msopmodeling ships (medians); how the vendor's kernel tiles them is not published."""


def small_script(cast: SmallCast, tile: int = 8192) -> str:
    """The plainest kernel for it: an even split, one queue in and out with two buffers, tiles of 8192 elements."""
    lines: list[str] = []
    share = -(-cast.elements // cast.blocks)
    for block in range(cast.blocks):
        count = max(0, min(share, cast.elements - block * share))
        lines += ["core", "setup"]
        for index, start in enumerate(range(0, count, tile)):
            lines.extend(_cast_tile(cast, block * share + start, min(tile, count - start), index))
    return "\n".join([*lines, ""])


def _cast_tile(cast: SmallCast, start: int, count: int, index: int) -> Iterator[str]:
    buffer = index % 2
    source, target = 32768 * buffer, 65536 + 32768 * buffer
    if index >= 2:
        yield f"wait {V} {MTE2} {buffer}"
    yield f"read {GM_X + cast.in_bytes * start} 1 {cast.in_bytes * count} 0 0"
    yield from (f"{verb} {MTE2} {V} {buffer}" for verb in ("set", "wait"))
    if index >= 2:
        yield f"wait {MTE3} {V} {buffer}"
    yield f"vector {CAST} {F32} {target} {source} -1 {-(-count // 64)}"
    yield f"set {V} {MTE2} {buffer}"
    yield from (f"{verb} {V} {MTE3} {buffer}" for verb in ("set", "wait"))
    yield f"write {GM_Z + cast.out_bytes * start} 1 {cast.out_bytes * count} 0 0"
    yield f"set {MTE3} {V} {buffer}"
