"""Does the race detector know exactly which bytes instructions of a cube core touch, in L1 and around the cube unit? As `test_footprints.py` asks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from engine_rig import Report, Rig
from test_footprints import BEFORE, BEHIND, COPY_IN, COPY_OUT, ORDERED, names

Bytes = npt.NDArray[np.uint8]
ARENA = 8192
ROW_AT = 6144
OTHER = 3
RESULTS = 4096
OUT = RESULTS + ARENA + 8192

INTRUDERS = {
    "load_matrix": (COPY_IN,),
    "load_turned": (COPY_IN,),
    "load_with_transpose": (COPY_IN,),
    "load_image": (COPY_IN,),
    "copy_bias": (COPY_IN,),
    "mmad_left": (OTHER,),
    "mmad_right": (OTHER,),
    "mmad_bias": (OTHER,),
    "fix_rows": (OTHER,),
    "fix_to_l1": (COPY_IN, COPY_OUT),
    "matrix_to_l1": (COPY_OUT,),
    "store_from_l1": (COPY_IN,),
}
"""Who can be out of order with a call: copies into and out of L1, or what fills the memories around the cube unit."""
OTHERS = {"mmad_left": 8, "mmad_right": 8, "mmad_bias": 8, "fix_rows": 4}
"""Blocks that the others may fill."""


def contents(low: float, high: float, seed: int) -> Bytes:
    """Halves, and floats where the bias comes from."""
    random = np.random.default_rng(seed)
    arena = random.uniform(low, high, ARENA // 2).astype(np.float16).view(np.uint8)
    arena[ROW_AT:] = random.uniform(low, high, (ARENA - ROW_AT) // 4).astype(np.float32).view(np.uint8)
    return arena


def run(rig: Rig, name: str, block: int, how: int) -> tuple[Report, Bytes]:
    """The report, and results with L1 and what an intruder took."""
    rig.reset()
    source = rig.upload(np.concatenate([contents(0.5, 1, 1), contents(2, 3, 2)]))
    out = rig.upload(np.zeros(OUT, np.uint8), is_mutable=True)
    return rig.run_kernel(name, source, out, block, how), rig.download(out, OUT, np.uint8)


def check(rig: Rig, name: str, step: int = 1) -> int:
    """All blocks (or every `step`-th of L1); how many of them order matters for."""
    wrong, needed = [], 0
    for who in INTRUDERS[name]:
        for block in range(OTHERS[name]) if who == OTHER else range(0, ARENA // 32, step):
            ordered = [run(rig, name, block, who | moment | ORDERED) for moment in (BEFORE, BEHIND)]
            assert [cause for report, _ in ordered for cause in report.causes()] == [], ordered[0][0].diagnostics
            matters = not np.array_equal(ordered[0][1], ordered[1][1])
            found = [run(rig, name, block, who | moment)[0] for moment in (BEFORE, BEHIND)]
            assert {cause for report in found for cause in report.causes()} <= {"missing_sync"}
            if [report.causes() != [] for report in found] != [matters, matters]:
                wrong.append((block, who, matters, [report.causes() for report in found]))
            needed += matters
    assert wrong == [], f"(block, intruder, order matters, reported before and behind): {wrong}"
    return needed


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig(cores=2) as made:
        yield made


def test_every_call_has_its_intruders() -> None:
    assert set(INTRUDERS) == set(names("engine_kernels_probes_cube.cpp"))


@pytest.mark.parametrize("name", INTRUDERS)
def test_a_call_alone_has_nothing_to_report(rig: Rig, name: str) -> None:
    report, _ = run(rig, name, 0, 0)
    assert report.diagnostics == []


@pytest.mark.parametrize("name", INTRUDERS)
def test_order_is_asked_for_at_exactly_the_blocks_where_it_matters(rig: Rig, name: str) -> None:
    assert check(rig, name, 3) > 0
