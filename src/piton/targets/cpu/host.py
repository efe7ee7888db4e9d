"""This machine's processor as the `Hardware` of the target: which model, how many cores, how fast. It has no peaks, so nothing says what it allows at best."""

from __future__ import annotations

import os
import platform
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from piton.core.dtype import DType
from piton.core.hardware import Figure, Hardware, Peaks

NAME = "cpu"
_NOT_USED = "not known and not used: no limits are computed for a processor"
_FREQUENCIES = Path("/sys/devices/system/cpu/cpu0/cpufreq")
_ABSENT = tuple(dtype for dtype in DType if dtype.is_low_bit or dtype in (DType.INT4, DType.HIFLOAT32))
"""Element types that kernels of this target have no form for."""


@dataclass(frozen=True)
class Processor:
    """What the kernel says of it."""

    model: str
    clock_hz: float
    """Nominal; 1 where nothing is known."""
    cores: int
    cache_bytes: int
    """Of the last level; 0 where unknown."""


@cache
def processor() -> Processor:
    """This machine's."""
    text = Path("/proc/cpuinfo").read_text(errors="replace") if Path("/proc/cpuinfo").exists() else ""
    model = _first(r"model name\s*:\s*(.+)", text) or _first(r"Hardware\s*:\s*(.+)", text) or platform.processor() or platform.machine()
    return Processor(f"{model.strip()} ({platform.machine()})", nominal_hz(text, _FREQUENCIES), os.cpu_count() or 1, _last_level_cache())


def host_hardware() -> Hardware:
    """The hardware record of this machine."""
    found = processor()
    nothing = Figure(value=1.0, source=_NOT_USED)
    peaks = Peaks(
        hbm_read_bytes_per_s=nothing,
        hbm_write_bytes_per_s=nothing,
        l2_write_bytes_per_s=nothing,
        l2_bytes=Figure(value=float(found.cache_bytes), source="last-level cache, /sys/devices/system/cpu"),
        cube_flops={},
        vector_lanes_per_s={},
        floor_us=nothing,
    )
    return Hardware(
        name=NAME,
        arch=found.model,
        clock_hz=Figure(value=found.clock_hz, source="/sys/devices/system/cpu or /proc/cpuinfo, to the next 100 MHz"),
        cores_aic=0,
        cores_aiv=found.cores,
        memory_bytes={},
        convention=peaks,
        silicon=peaks,
        absent_types=_ABSENT,
    )


def nominal_hz(cpuinfo: str, frequencies: Path) -> float:
    """The clock that stays, to the next 100 MHz: a machine must not become another one because its present clock wanders.

    Where the kernel governs the clock, cpuinfo has the present one and the folder `frequencies` the base or highest one in kHz; elsewhere (virtual machines)
    cpuinfo has the nominal one, give or take what calibration at boot makes of it.
    """
    for name in ("base_frequency", "cpuinfo_max_freq"):
        with suppress(OSError, ValueError):
            return max(1.0, round(int((frequencies / name).read_text()) / 1e5) * 1e8)
    return max(1.0, round(float(_first(r"cpu MHz\s*:\s*([\d.]+)", cpuinfo) or 0.0) / 1e2) * 1e8)


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else ""


def _last_level_cache() -> int:
    sizes = [0]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        number = _first(r"(\d+)K", path.read_text())
        sizes.append(int(number or 0) << 10)
    return max(sizes)
