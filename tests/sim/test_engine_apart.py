"""Does a kernel in a process of its own lead to exactly the report and the bytes that it leads to beside the engine?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from apart_rig import ApartRig
from engine_rig import Rig
from test_seeded_defects import CORES, KERNELS, SEEDS, Seed, run


def outcome(kind: type[Rig], name: str, seed: int, blocks: int = 0) -> tuple[dict[str, Any], bytes]:
    """The report with its trace, and the output. One rig at a time: both map device memory to the same addresses."""
    with kind(cores=CORES) as rig:
        report, _, got = run(rig, name, seed, blocks)
        return asdict(report), got.tobytes()


@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_does_the_same_in_a_process_of_its_own(name: str) -> None:
    assert outcome(ApartRig, name, 0) == outcome(Rig, name, 0)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"{seed.number} {seed.kernel}: {seed.edit}")
def test_a_seeded_defect_leads_to_the_same_report_in_a_process_of_its_own(seed: Seed) -> None:
    beside = outcome(Rig, seed.kernel, seed.number, seed.blocks)
    assert outcome(ApartRig, seed.kernel, seed.number, seed.blocks) == beside
    assert beside[0]["diagnostics"]
