"""Does a kernel in a process of its own lead to exactly the report and the bytes that it leads to beside the engine?"""

from __future__ import annotations

import signal
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from apart_rig import ApartRig
from engine_rig import Rig
from test_engine_matmul_mixed import ALL, BY_BLOCK, FROM_LOCAL, product
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


@pytest.mark.parametrize("way", [ALL, BY_BLOCK, FROM_LOCAL])
def test_matmul_objects_of_a_kernel_that_turns_out_to_be_mixed_work_in_a_process_of_its_own(way: int) -> None:
    with ApartRig() as rig:
        for _ in range(3):  # launches that began anew leave nothing behind
            report, got, expected = product(rig, way, blocks=3)
            assert report.diagnostics == []
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("kind", "found"), [(Rig, 9), (ApartRig, 1)])
def test_device_code_rewrites_its_output_behind_the_engines_back_only_beside_it(kind: type[Rig], found: int) -> None:
    with kind() as rig:
        out = rig.allocate(32)
        rig.run_kernel("rewrites memory", 0, out, 0)
        assert rig.download(out, 1, np.float32)[0] == found


@pytest.mark.skipif(not Path("/proc/sys/kernel/seccomp").is_dir(), reason="this kernel has no filters of system calls")
def test_a_system_call_that_no_kernel_needs_ends_the_process() -> None:
    with ApartRig() as rig:
        report = rig.run_kernel("makes a socket", 0, 0, 0)
        assert (report.is_cut, report.diagnostics, rig.exit_code) == (True, [], -signal.SIGSYS)
        assert not rig.run_kernel("flags", rig.allocate(1 << 16), rig.allocate(1 << 16), 4).is_cut


FORGED = {
    "a kind that does not exist": "a message of kind 4711",
    "the record of another block": "not the one that runs",
    "more slots than the ring has": "positions in the ring that cannot be",
    "a text without end": "a text that is too long",
    "a page beside device memory": "a page outside global memory",
    "scalar work told too early": "before it was due",
    "a text that never came": "shorter than it says",
    "a text of nothing": "a text of no bytes",
    "messages without end": "more messages that cost nothing",
}


@pytest.mark.parametrize(("variant", "said"), list(enumerate(FORGED.values())), ids=FORGED)
def test_what_is_forged_in_the_ring_is_a_verdict(variant: int, said: str) -> None:
    with ApartRig() as rig:
        rig.configure(budget=10**5)
        report = rig.run_kernel("forges the ring", 0, 0, 0, variant)
        assert report.is_cut
        assert report.causes() == ["protocol_violation"]
        assert said in report.diagnostics[0]["message"]


def test_an_address_in_a_forged_record_is_never_followed() -> None:
    with ApartRig() as rig:
        (found,) = rig.run_kernel("forges the ring", 0, 0, 0, len(FORGED)).diagnostics
        assert found["file"] == ""
        assert "InitBuffer at :0" in found["message"]


@pytest.mark.slow
def test_a_process_that_says_nothing_is_a_verdict_and_no_hang() -> None:
    with ApartRig() as rig:
        assert rig.run_kernel("is silent", 0, 0, 0).causes() == ["device_budget"]
