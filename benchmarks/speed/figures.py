"""Figures: what a benchmark measured, how, against which bound, with processor time beside wall time."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One measured quantity. Bounds are meant for a quiet machine with 2 cores."""

    name: str
    unit: str
    samples: tuple[float, ...]
    """All of them, in the order of measurement."""
    method: str
    """How, in one sentence."""
    bound: float | None = None
    """What the project promises; None for a figure that only informs."""
    is_rate: bool = False
    """A rate has a lower bound, a time an upper one."""
    cpu_s: tuple[float, ...] = field(default=())
    """Processor time, user and system, of each sample in seconds; empty where it says nothing."""

    @property
    def value(self) -> float:
        """The best sample: other programs of the machine only ever make a sample worse."""
        return max(self.samples) if self.is_rate else min(self.samples)

    @property
    def median(self) -> float:
        """The sample in the middle."""
        return statistics.median(self.samples)

    @property
    def is_met(self) -> bool | None:
        """Does the best sample keep the bound? None without one."""
        if self.bound is None:
            return None
        return self.value >= self.bound if self.is_rate else self.value <= self.bound

    def as_json(self) -> dict[str, object]:
        """All fields, and what follows from them."""
        return {**asdict(self), "value": self.value, "median": self.median, "is_met": self.is_met, "provenance": "measured"}


def describe_machine() -> dict[str, object]:
    """What the figures were measured on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_average_1_min": round(os.getloadavg()[0], 2),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def render(figures: Sequence[Figure]) -> str:
    """The figures as a table: best and median sample, the bound, processor time of the best sample, the method."""
    lines = [f"{'':42} {'best':>9} {'median':>9} {'unit':<12} {'bound':>10}  {'':8} {'cpu s':>6}  how measured"]
    return "\n".join([*lines, *map(_line, figures)])


def _line(figure: Figure) -> str:
    sign = ">=" if figure.is_rate else "<="
    bound = "" if figure.bound is None else f"{sign} {figure.bound:g}"
    verdict = {None: "", True: "met", False: "NOT MET"}[figure.is_met]
    cpu = f"{figure.cpu_s[figure.samples.index(figure.value)]:6.2f}" if figure.cpu_s else " " * 6
    return f"{figure.name:42} {figure.value:9.3g} {figure.median:9.3g} {figure.unit:<12} {bound:>10}  {verdict:8} {cpu}  {figure.method}"
