"""How far a simulated time can be trusted: which measured references a call resembles, and the error that was found there (docs/fidelity.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from piton.core.execution import LaunchRecord
from piton.core.interval import ErrorBand
from piton.core.measurement import Measurement, Provenance

Regime = Literal["short", "memory", "vector"]
"""Kinds of calls that there are measured references for."""
PAIR = "pair"
"""Name of the band for the errors of two implementations of one operation, divided by each other."""
SHORT_US = 20.0
"""Calls below this are `short`: launch and latencies decide, as in the measured casts, of which the longest took 18.6 us."""
_UNMEASURED_PIPES = ("m", "mte1", "fix")
"""Pipes of the cube unit: no reference has work for them."""
_UNMEASURED_WAITS = ("sync_all", "cross_flag")
"""Waits for other cores: what they cost is assumed."""


def regime(launches: Sequence[LaunchRecord], time_us: float) -> Regime | None:
    """The kind of references that a call resembles, or None when nothing like it was measured.

    Nothing was measured of cube work, of cores that wait for one another, and of kernels that the scalar unit keeps longest.
    """
    busy = _busy_cycles(launches)
    if not any(busy.values()) or any(busy.get(pipe) for pipe in _UNMEASURED_PIPES) or _waits_for_cores(launches):
        return None
    longest = max(busy, key=lambda pipe: busy[pipe])
    if longest not in ("v", "mte2", "mte3"):
        return None
    if time_us < SHORT_US:
        return "short"
    return "vector" if longest == "v" else "memory"


def with_error(time: Measurement, launches: Sequence[LaunchRecord], bands: Mapping[str, ErrorBand]) -> Measurement:
    """A simulated time with the interval of its kind; the same measurement where nothing is known, and for what was not simulated."""
    band = band_of(time, launches, bands)
    return time if band is None else time.model_copy(update={"interval": band.around(time.value)})


def band_of(time: Measurement, launches: Sequence[LaunchRecord], bands: Mapping[str, ErrorBand]) -> ErrorBand | None:
    """The error band that holds for a simulated time, None where nobody knows one."""
    found = regime(launches, time.value) if time.provenance is Provenance.SIMULATED and time.unit == "us" else None
    return bands.get(found) if found else None


def _busy_cycles(launches: Sequence[LaunchRecord]) -> dict[str, int]:
    busy: dict[str, int] = {}
    for launch in launches:
        for pipe, cycles in launch.busy_cycles.items():
            busy[pipe] = busy.get(pipe, 0) + cycles
    return busy


def _waits_for_cores(launches: Sequence[LaunchRecord]) -> bool:
    return any(reasons.get(reason) for launch in launches for reasons in launch.wait_cycles.values() for reason in _UNMEASURED_WAITS)
