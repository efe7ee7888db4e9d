"""How fast does the simulator multiply matrices? A product of float16 on cube cores, with the engine beside device code and apart from it."""

from __future__ import annotations

from pathlib import Path

from figures import Figure
from rig import CHIP, Rig, cache_folder

from piton.core.protocols import EnginePlace
from piton.core.verdict import Verdict
from piton.evaluate.program import ProgramRequest, run_program

PROGRAM = Path(__file__).resolve().parent / "programs" / "product.asc"
SIZE = 512
"""Rows, columns and depth, as the program has them: small, so that a launch fits between two turns of other programs."""
ROUNDS = 59
"""Launches that count, as the program has them; the one before pays for what is done once."""
LOWEST_RATE = 20.0
"""GFLOP/s of one core that the project promises with the engine beside device code."""
SLOWEST_SHARE = 1 / 3
"""Of that rate: what the own process has to reach."""


def measure(_: Rig) -> list[Figure]:
    """Rates in both places, and their ratio."""
    rates = {place: _rates(place) for place in ("in-process", "own-process")}
    method = f"float16 {SIZE}^3 by Mmad, sums float32; 2 n^3 by the wall time of one launch from the host, one thread; {ROUNDS} calls"
    made = [_rate(place, found, method) for place, found in rates.items()]
    share = max(rates["own-process"]) / max(rates["in-process"])
    return [*made, Figure("Mmad: own process by in process", "ratio", (share,), "of the best rates above", SLOWEST_SHARE, is_rate=True)]


def _rate(place: str, found: tuple[float, ...], method: str) -> Figure:
    bound = LOWEST_RATE if place == "in-process" else LOWEST_RATE * SLOWEST_SHARE
    return Figure(f"Mmad fp16 {SIZE}^3, engine {place.replace('-', ' ')}", "GFLOP/s", found, method, bound, is_rate=True)


def _rates(place: EnginePlace) -> tuple[float, ...]:
    report = run_program(ProgramRequest(program=str(PROGRAM), cache_dir=str(cache_folder()), target=f"{CHIP}-sim", engine=place))
    if report.outcome.verdict is not Verdict.PASSED:
        raise RuntimeError(f"the product failed: {report.outcome.message}")
    return tuple(2 * SIZE**3 / 1e6 / float(line) for line in report.stdout.split()[1:])
