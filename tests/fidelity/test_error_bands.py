"""Are the error bands that the hardware file ships those of the references, simulated here and now?"""

import math
import subprocess
import sys
from pathlib import Path

from piton.catalog.hardware import load_hardware

ROOT = Path(__file__).resolve().parents[2]


def printed_bands() -> dict[str, tuple[float, float, float, int]]:
    """What `python benchmarks/fidelity` prints below its tables: kind, low, high, level in %, references."""
    done = subprocess.run([sys.executable, ROOT / "benchmarks" / "fidelity"], capture_output=True, text=True, timeout=280, check=True)
    lines = done.stdout[done.stdout.index("band of simulated / measured") :].splitlines()[1:]
    words = [line.replace("%", " ").replace("(", " ").replace(")", " ").split() for line in lines]
    return {kind: (float(low), float(high), float(level), int(references)) for kind, low, high, level, references in words}


def test_the_bands_are_those_of_the_references_as_they_are_simulated_now() -> None:
    shipped = load_hardware("ascend910b1").fidelity
    found = printed_bands()
    assert {kind: (low, high, references) for kind, (low, high, _, references) in found.items()} == {
        kind: (band.low, band.high, band.references) for kind, band in shipped.items()
    }
    assert {kind: math.floor(level) / 100 for kind, (_, _, level, _) in found.items()} == {kind: band.confidence for kind, band in shipped.items()}
