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


def _through_time(rig: Rig, variant: int) -> bool:
    cycles = [rig.run_kernel("forgets its trace", 0, rig.allocate(1024), 200, used).cycles for used in (0, variant)]
    return cycles[1] < cycles[0] // 2


def _through_budget(rig: Rig, variant: int) -> bool:
    rig.configure(budget=1000)
    return not rig.run_kernel("raises its budget", 0, rig.allocate(1 << 14), 4000, variant).is_cut


def _through_report(rig: Rig, variant: int) -> bool:
    return rig.run_kernel("silences its reports", 0, rig.allocate(64), 0, variant).causes() == []


def _through_attribution(rig: Rig, variant: int) -> bool:
    out = rig.allocate(64)
    rig.run_kernel("claims a store", 0, out, 16, variant)
    return rig.stored(out) != ""


def _through_value(rig: Rig, variant: int) -> bool:
    out = rig.allocate(32)
    rig.run_kernel("rewrites memory" if variant else "claims a store", 0, out, 0)
    return bool(rig.download(out, 1, np.float32)[0] == 9)


ON_THE_ENGINE = {
    "throw away the trace by which its launch is priced": _through_time,
    "raise its budget of cycles": _through_budget,
    "take back what was reported about it": _through_report,
    "claim that it stored what it did not": _through_attribution,
    "write its output past the engine": _through_value,
}
"""What device code may try on the engine, by its row in docs/processes.md; each says whether it got through."""


@pytest.mark.parametrize("name", ON_THE_ENGINE)
def test_only_beside_the_engine_does_device_code_reach_it(name: str) -> None:
    for kind, is_open in ((Rig, True), (ApartRig, False)):
        with kind() as rig:
            assert not ON_THE_ENGINE[name](rig, 0), "the honest kernel"
            assert ON_THE_ENGINE[name](rig, 1) == is_open


@pytest.mark.parametrize("name", ON_THE_ENGINE)
def test_the_page_says_what_device_code_reaches(name: str) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "processes.md").read_text()
    assert f"| {name} | open | refused |" in page


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
