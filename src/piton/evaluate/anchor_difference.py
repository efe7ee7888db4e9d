"""Why T_HW of the two profiles differs: other rates, or other counts of the same work.

Each factor is found by one step between them: the convention's work at the silicon's rates. `by_rates` leads from convention to that, `by_counts` from
that to silicon; their product is the whole ratio.
"""

from __future__ import annotations

import math

from piton.anchors import Candidate
from piton.anchors.limit import FLOOR, priced
from piton.core.errors import FormatError
from piton.core.hardware import Hardware
from piton.core.operator import Frozen

_SAME = 0.005
"""Factors this near to 1 are called the same: published anchors are rounded to two decimals."""


class UnitDifference(Frozen):
    """One unit, or all (`T_HW`), in both profiles."""

    unit: str
    convention_us: float
    silicon_us: float
    by_rates: float | None
    """Factor that other rates make; None where the work is 0 on one side, or the silicon block has no such rate."""
    by_counts: float | None


class BlockDifference(Frozen):
    """Silicon against convention for one case."""

    units: tuple[UnitDifference, ...]
    """Those that have work in one of the two."""
    t_hw: UnitDifference
    why: str
    """One sentence."""


def compare_blocks(convention: Candidate | None, silicon: Candidate | None, hardware: Hardware) -> BlockDifference | None:
    """The two profiles of one case; `convention` and `silicon` are the choices that made T_HW. None where one is not known."""
    if convention is None or silicon is None:
        return None
    step = _step(convention, hardware)
    between = step.unit_times_us if step else {}
    names = [name for name in silicon.unit_times_us if name != FLOOR]
    units = [_difference(name, convention.unit_times_us.get(name, 0.0), between.get(name), silicon.unit_times_us[name]) for name in names]
    total = _difference("T_HW", convention.time_us, step.time_us if step else None, silicon.time_us)
    return BlockDifference(
        units=tuple(unit for unit in units if unit.convention_us or unit.silicon_us), t_hw=total, why=_why(convention, silicon, total, hardware)
    )


def _step(convention: Candidate, hardware: Hardware) -> Candidate | None:
    """The convention's work at the silicon's rates, or None where these lack one."""
    try:
        return priced(convention.work, hardware.silicon, shares_hbm=True)
    except FormatError:
        return None


def _difference(unit: str, convention_us: float, step_us: float | None, silicon_us: float) -> UnitDifference:
    by_rates = step_us / convention_us if step_us and convention_us else None
    by_counts = silicon_us / step_us if step_us and silicon_us else None
    return UnitDifference(unit=unit, convention_us=convention_us, silicon_us=silicon_us, by_rates=by_rates, by_counts=by_counts)


def _why(convention: Candidate, silicon: Candidate, total: UnitDifference, hardware: Hardware) -> str:
    ratio = total.silicon_us / total.convention_us
    bound = f"{silicon.limiting_unit} in both"
    if convention.limiting_unit != silicon.limiting_unit:
        bound = f"{convention.limiting_unit} in convention, {silicon.limiting_unit} in silicon"
    if convention.limiting_unit == silicon.limiting_unit == FLOOR:
        return "Both are the floor: no case is said to need less."
    if _is_one(ratio):
        return f"Both come out the same, bound by {bound}."
    return f"Silicon is {ratio:.3g} times convention (bound by {bound}): {_causes(total)}{_rates(convention, silicon, hardware)}."


def _causes(total: UnitDifference) -> str:
    if total.by_rates is None or total.by_counts is None:
        return "they do not count in the same dtypes"
    parts = [f"{factor:.3g} times by {name}" for factor, name in ((total.by_rates, "the rates"), (total.by_counts, "what is counted")) if not _is_one(factor)]
    return " and ".join(parts)


def _rates(convention: Candidate, silicon: Candidate, hardware: Hardware) -> str:
    """The rate behind a bound by reads, in figures: the difference people ask about."""
    if convention.limiting_unit != "mte2" or silicon.limiting_unit != "mte2":
        return ""
    agreed, real = (block.hbm_read_bytes_per_s.value for block in (hardware.convention, hardware.silicon))
    return "" if _is_one(real / agreed) else f"; HBM reads at {agreed / 1e12:.3g} TB/s by convention, {real / 1e12:.3g} TB/s in silicon"


def _is_one(factor: float) -> bool:
    return math.isclose(factor, 1.0, rel_tol=_SAME)
