"""Two versions of a set of baselines side by side: which times moved, by how much."""

from __future__ import annotations

import statistics
from enum import Enum

from piton.core.baseline import BaselineSet, BaselineTime
from piton.core.measurement import Measurement, Provenance
from piton.core.operator import Frozen

SAME = 1e-9
"""Relative difference of simulated times that is none: they are equal on every host, but for the last digit of a decimal number."""


class Change(str, Enum):
    """What became of one case."""

    SAME = "same"
    """Equal; of device times: the intervals of their medians meet."""
    SLOWER = "slower"
    FASTER = "faster"
    SPREAD_UNKNOWN = "spread not known"
    """Device times that differ, one of them of a single sample: may be noise."""
    OTHER_ORIGIN = "other origin"
    """Such as simulated, then device: the times do not compare."""
    REDEFINED = "redefined"
    """The case or its operator is another one: the times do not compare."""
    ADDED = "added"
    REMOVED = "removed"


NO_RATIO = frozenset({Change.REDEFINED, Change.OTHER_ORIGIN})
"""Cases with two times that do not compare."""


class CaseChange(Frozen):
    """One case in two sets."""

    operator: str
    case: str
    change: Change
    before_us: float | None
    after_us: float | None
    before_provenance: Provenance | None
    after_provenance: Provenance | None

    @property
    def ratio(self) -> float | None:
        """After / before; None where the times do not compare."""
        if self.after_us is None or self.before_us is None or self.change in NO_RATIO:
            return None
        return self.after_us / self.before_us


class BaselineDiff(Frozen):
    """All cases of both sets, in the order of the second and then of the first."""

    before: str
    after: str
    cases: tuple[CaseChange, ...]
    differences: tuple[str, ...]
    """What beside the times is not the same, one sentence each."""
    median_ratio: float | None
    """Of the cases that both have, with times of one origin."""

    def count(self, change: Change) -> int:
        """How many cases changed in this way."""
        return sum(item.change is change for item in self.cases)


_WORLD = ("name", "suite", "suite_version", "suite_digest", "hardware", "hardware_digest", "target", "toolchain", "submission", "submission_digest")


def diff_baselines(before: BaselineSet, after: BaselineSet) -> BaselineDiff:
    """What changed from one set to the other."""
    old = {(item.operator, item.case): item for item in before.cases}
    new = {(item.operator, item.case): item for item in after.cases}
    cases = tuple(_case(key, old.get(key), new.get(key)) for key in dict.fromkeys([*new, *old]))
    ratios = [item.ratio for item in cases if item.ratio is not None]
    return BaselineDiff(
        before=before.title,
        after=after.title,
        cases=cases,
        differences=tuple(_differences(before, after)),
        median_ratio=statistics.median(ratios) if ratios else None,
    )


def _case(key: tuple[str, str], old: BaselineTime | None, new: BaselineTime | None) -> CaseChange:
    return CaseChange(
        operator=key[0],
        case=key[1],
        change=_change(old, new),
        before_us=old.time.value if old else None,
        after_us=new.time.value if new else None,
        before_provenance=old.time.provenance if old else None,
        after_provenance=new.time.provenance if new else None,
    )


def _change(old: BaselineTime | None, new: BaselineTime | None) -> Change:
    if old is None or new is None:
        return Change.ADDED if old is None else Change.REMOVED
    if old.identity != new.identity:
        return Change.REDEFINED
    if old.time.provenance is not new.time.provenance:
        return Change.OTHER_ORIGIN
    if _are_equal(old.time, new.time):
        return Change.SAME
    if old.time.provenance is Provenance.DEVICE and (old.time.bounds is None or new.time.bounds is None):
        return Change.SPREAD_UNKNOWN
    return Change.SLOWER if new.time.value > old.time.value else Change.FASTER


def _are_equal(old: Measurement, new: Measurement) -> bool:
    """True when nothing shows that two times of one origin differ."""
    first, other = old.bounds, new.bounds
    if old.provenance is not Provenance.DEVICE or first is None or other is None:
        return abs(new.value - old.value) <= SAME * old.value
    return first.low <= other.high and other.low <= first.high


def _differences(before: BaselineSet, after: BaselineSet) -> list[str]:
    pairs = [(name, str(getattr(before, name)), str(getattr(after, name))) for name in _WORLD]
    return [f"{name.replace('_', ' ')}: {old[:24]}, then {new[:24]}" for name, old, new in pairs if old != new]
