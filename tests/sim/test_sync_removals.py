"""Is every flag, barrier and queue call of a right kernel missed when it is left out, unless an independent model says that nothing needs it?

The pieces are taken out of the records on their way to the engine (`removals.py`), so that a build serves thousands of defects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import order_model
import pytest
import removals
import test_footprints as footprints
import test_seeded_defects as seeds
from engine_rig import Report, Rig

AUTO = {name for name, kernel in seeds.KERNELS.items() if "auto_sync_relied_on" in kernel.findings or name == "counter"}
WITHOUT_ORDER = {"lines"}
WITHOUT_MEETING = {"own_tiles", "count", "turn", "strided", "shares"}
"""Kernels of several cores that have no SyncAll and no flag between cores."""
CORES = {name for name, kernel in seeds.KERNELS.items() if kernel.blocks > 1}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig(cores=seeds.CORES) as made:
        yield made


def seeded_run(rig: Rig, name: str) -> Callable[[], Report]:
    """A launch of the right kernel, without the compiler's help where it does not lean on it."""

    def run() -> Report:
        kernel = seeds.KERNELS[name]
        rig.reset()
        rig.configure(auto_sync=name in AUTO)
        x = seeds.numbers(kernel) if name != "turn" else np.zeros(seeds.N, np.float32)
        out = rig.upload(np.full(2 * kernel.elements, np.nan, np.float32), is_mutable=True)
        source = rig.upload(x.astype(np.float16) if kernel.as_half else x, is_mutable=name == "turn")
        return rig.run_kernel(name, source, out, seeds.TILES, 0, blocks=kernel.blocks)

    return run


def outcome(report: Report, left: list[removals.Logged], known: set[str]) -> str:
    """`found`, `not needed`, or what the model misses and the engine does not."""
    if report.causes():
        return "found"
    new = [pair for pair in order_model.unordered(left) if pair not in known]
    return f"silent, though nothing orders {new[0]}" if new else "not needed"


def outcomes(run: Callable[[], Report]) -> dict[str, str]:
    """What becomes of a kernel without each of its pieces."""
    right, log = removals.logged(run)
    assert right.causes() == [], right.diagnostics
    known = set(order_model.unordered(log))
    return {piece.name: outcome(report, left, known) for piece, report, left in removals.results_of(run)}


@pytest.mark.parametrize("name", [name for name in seeds.KERNELS if name not in AUTO | CORES | WITHOUT_ORDER])
def test_every_piece_of_order_on_a_core_is_missed_or_not_needed(rig: Rig, name: str) -> None:
    found = outcomes(seeded_run(rig, name))
    assert found != {}
    assert {piece: what for piece, what in found.items() if what not in ("found", "not needed")} == {}


@pytest.mark.parametrize("name", sorted(CORES - WITHOUT_MEETING))
def test_every_meeting_of_cores_is_missed(rig: Rig, name: str) -> None:
    found = outcomes(seeded_run(rig, name))
    meetings = {piece: what for piece, what in found.items() if piece.startswith(("SyncAll", "CrossCore"))}
    assert set(meetings.values()) == {"found"}, found


def test_most_pieces_of_the_seeded_kernels_are_needed(rig: Rig) -> None:
    counts = Counter(what for name in seeds.KERNELS if name not in AUTO | CORES for what in outcomes(seeded_run(rig, name)).values())
    assert counts["found"] > 1.5 * counts["not needed"]


@pytest.mark.parametrize("name", footprints.COMPOSED)
def test_every_step_of_a_call_of_several_instructions_waits_for_what_it_needs(rig: Rig, name: str) -> None:
    rig.configure(auto_sync=False)
    found = outcomes(lambda: footprints.run(rig, name, 0, 0, footprints.contents(name)[0])[0])
    assert {piece: what for piece, what in found.items() if what not in ("found", "not needed")} == {}
