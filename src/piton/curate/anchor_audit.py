"""Published anchors against derived ones: which agree, which are stale, and which a chip can't reach.

Problem: a published T_HW is a number without its derivation. It goes stale when a case changes, and nobody sees it. Approach: T_HW is computed anew from
the case by the convention's formula; where the two differ, `anchor_origin` looks for the definition that gives the published value. Beside that each value
is held against the chip's documented peaks (silicon), and each baseline against both. Limits: formulas and rates of the convention were fitted to such
values, so agreement shows that a case belongs to its number, not that the number is right.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from piton.anchors import Block, Candidate, bottleneck, candidates, fastest
from piton.anchors.limit import FLOOR
from piton.catalog.published import PublishedCase
from piton.core.case import Case
from piton.core.errors import FormatError
from piton.core.hardware import Hardware
from piton.core.operator import Frozen
from piton.curate.anchor_origin import Origins, find_origins, is_equal
from piton.evaluate.arguments import filled_case

TIE = 0.01
"""Units within this of the longest: which one limits is a coin toss."""
NEAR = 2.0
"""A baseline below this multiple of T_HW: a score moves by much for little time."""
CAP_RATIO, CAP_US = 10.0, 10.0
"""Published baselines are at most max(10 T_HW, 10 us), and equal that where none was measured."""
_BELOW, _ABOVE = 0.005, 0.05
"""A value is below another when it is so by more than rounding, and above when a kernel could come between them."""


class AnchorState(str, Enum):
    """What became of a published T_HW."""

    EQUAL = "equal"
    STALE = "stale"
    """It belongs to another definition of the case, which was found."""
    UNEXPLAINED = "unexplained"
    NO_FORMULA = "no_formula"
    """Nothing to compare with: the operator has no formula, or its formula can't read the case; then a reason says so."""
    NOT_PUBLISHED = "not_published"


class AnchorMark(str, Enum):
    """What else is to be known about a published T_HW or baseline."""

    FLOORED = "floored"
    """T_HW is the floor, whatever the case is."""
    TIED = "tied"
    """Two units take the same time within 1 %: the limiting one is a coin toss."""
    T_HW_BELOW_SILICON = "t_hw_below_silicon"
    """Below what the chip's documented peaks allow: no kernel reaches it."""
    T_HW_ABOVE_SILICON = "t_hw_above_silicon"
    """Above what the shortest known code needs at the documented peaks: a kernel may be faster, and then the anchor was no bound."""
    BASELINE_CAPPED = "baseline_capped"
    """T_baseline is max(10 T_HW, 10 us): derived from T_HW, or measured and cut off there."""
    BASELINE_NEAR = "baseline_near"
    """T_baseline is below twice T_HW."""
    BASELINE_NOT_ABOVE = "baseline_not_above"
    """T_baseline is not above T_HW."""
    BASELINE_BELOW_SILICON = "baseline_below_silicon"
    """A run of that time would need more than the chip's documented peaks."""


IMPOSSIBLE = (AnchorMark.T_HW_BELOW_SILICON, AnchorMark.BASELINE_NOT_ABOVE, AnchorMark.BASELINE_BELOW_SILICON)
"""Marks of numbers that can't be true of the chip."""


class AuditRow(Frozen):
    """One case on one platform. Times in microseconds; None where not known."""

    operator: str
    case: str
    platform: str
    state: AnchorState
    marks: tuple[AnchorMark, ...]
    reasons: tuple[str, ...]
    """Sentences, first those about the state."""
    published_t_hw_us: float | None
    published_baseline_us: float | None
    derived_t_hw_us: float | None
    """By the convention, from the case as it is now."""
    silicon_t_hw_us: float | None
    factor: float | None
    """Published over derived T_HW."""
    limiting_unit: str
    """Of the derived T_HW, the floor included; empty without one."""
    label: str
    """Vector, Cube or MTE, the floor left aside: what shares are counted by."""


class PlatformAudit(Frozen):
    """All cases on one platform."""

    platform: str
    hardware: str
    cases: int
    states: dict[str, int]
    marks: dict[str, int]
    labels: dict[str, int]
    """Cases by what limits them, the floor left aside."""
    rows: tuple[AuditRow, ...]

    @property
    def equal(self) -> int:
        """Cases whose published T_HW is the derived one."""
        return self.states.get(AnchorState.EQUAL.value, 0)


def audit_platform(cases: Sequence[PublishedCase], platform: str, hardware: Hardware) -> PlatformAudit:
    """Every case against `hardware`, whose convention is that of the platform."""
    others: dict[str, list[Case]] = {}
    for item in cases:
        others.setdefault(item.operator.name, []).append(filled_case(item.operator, item.case))
    rows = tuple(_Audit(item, platform, hardware, others).row() for item in cases)
    return PlatformAudit(
        platform=platform,
        hardware=hardware.name,
        cases=len(rows),
        states=dict(Counter(row.state.value for row in rows)),
        marks=dict(Counter(mark.value for row in rows for mark in row.marks)),
        labels=dict(Counter(row.label for row in rows if row.label)),
        rows=rows,
    )


_Marked = tuple[AnchorMark, str]
"""A mark and the sentence about it; empty where the mark says all."""


@dataclass(frozen=True)
class _Audit:
    """One case under audit."""

    item: PublishedCase
    platform: str
    hardware: Hardware
    others: Mapping[str, Sequence[Case]]

    def row(self) -> AuditRow:
        operator, case = self.item.operator, filled_case(self.item.operator, self.item.case)
        derived, why_not = self._limit(case, "convention")
        silicon, _ = self._limit(case, "silicon")
        quoted = self.item.quoted.get(self.platform)
        t_hw = quoted.t_hw.value_us if quoted and quoted.t_hw else None
        baseline = quoted.t_baseline.value_us if quoted and quoted.t_baseline else None
        state, reasons = self._state(case, t_hw, derived)
        marks = [*self._marks_of_t_hw(t_hw, derived, silicon), *_marks_of_baseline(baseline, t_hw, silicon)]
        return AuditRow(
            operator=operator.name,
            case=case.id,
            platform=self.platform,
            state=state,
            marks=tuple(mark for mark, _ in marks),
            reasons=(*reasons, *why_not, *(text for _, text in marks if text)),
            published_t_hw_us=t_hw,
            published_baseline_us=baseline,
            derived_t_hw_us=derived.time_us if derived else None,
            silicon_t_hw_us=silicon.time_us if silicon else None,
            factor=t_hw / derived.time_us if t_hw and derived else None,
            limiting_unit=derived.limiting_unit if derived else "",
            label=bottleneck(_longest(derived)[0]) if derived else "",
        )

    def _limit(self, case: Case, block: Block) -> tuple[Candidate | None, tuple[str, ...]]:
        """T_HW of the case, or why there is none: one odd row does not cost the others."""
        try:
            return fastest(candidates(self.item.operator, case, self.hardware, block)), ()
        except FormatError as error:
            return None, (error.problem,)

    def _state(self, case: Case, t_hw: float | None, derived: Candidate | None) -> tuple[AnchorState, tuple[str, ...]]:
        if t_hw is None:
            return AnchorState.NOT_PUBLISHED, ()
        if derived is None:
            return AnchorState.NO_FORMULA, ()
        if is_equal(t_hw, derived.time_us):
            return AnchorState.EQUAL, ()
        origins = Origins(self.item.operator, case, self.hardware, tuple(self.others[case.operator]))
        found = find_origins(origins, t_hw, derived)
        return (AnchorState.STALE if found else AnchorState.UNEXPLAINED), (_factor(t_hw, derived), *found)

    def _marks_of_t_hw(self, t_hw: float | None, derived: Candidate | None, silicon: Candidate | None) -> list[_Marked]:
        marks: list[_Marked] = []
        floor = self.hardware.convention.floor_us.value
        if t_hw is not None and math.isclose(t_hw, floor, abs_tol=5e-4):
            marks.append((AnchorMark.FLOORED, ""))
        if derived:
            first, second, *_ = _longest(derived)
            if derived.unit_times_us[first] >= floor and derived.unit_times_us[second] >= (1 - TIE) * derived.unit_times_us[first]:
                marks.append((AnchorMark.TIED, f"{first} and {second} take the same time: which one limits is a coin toss"))
        if silicon and t_hw is not None and t_hw < (1 - _BELOW) * silicon.time_us:
            marks.append((AnchorMark.T_HW_BELOW_SILICON, f"T_HW asks {_above(silicon, t_hw)}"))
        if silicon and t_hw is not None and t_hw > (1 + _ABOVE) * max(silicon.time_us, floor):
            marks.append((AnchorMark.T_HW_ABOVE_SILICON, f"T_HW is {t_hw / silicon.time_us:.3g} times what the shortest known code needs"))
        return marks


def _factor(t_hw: float, derived: Candidate) -> str:
    """How far the published value is off, and which amount of work it would stand for."""
    ratio = t_hw / derived.time_us
    text = f"{ratio:.3g} times the derived {derived.time_us:.4g} us ({derived.limiting_unit})"
    work = derived.work
    has, unit = {
        "mte2": (float(work.read_bytes), "bytes read"),
        "mte3": (float(work.write_bytes), "bytes written"),
        "vector": (sum(work.vector_lanes.values()), "lane instructions"),
        "cube": (sum(work.cube_flops.values()), "operations of the cube"),
    }.get(derived.limiting_unit, (0.0, ""))
    return f"{text}: that of about {ratio * has:.4g} {unit}, the case has {has:.4g}" if has else text


def _longest(found: Candidate) -> list[str]:
    """Units from the longest time to the shortest, the floor left aside."""
    units = {unit: time for unit, time in found.unit_times_us.items() if unit != FLOOR}
    return sorted(units, key=lambda unit: -units[unit])


def _marks_of_baseline(baseline: float | None, t_hw: float | None, silicon: Candidate | None) -> list[_Marked]:
    if baseline is None:
        return []
    marks: list[_Marked] = []
    if t_hw is not None:
        if is_equal(baseline, max(CAP_RATIO * t_hw, CAP_US)):
            marks.append((AnchorMark.BASELINE_CAPPED, ""))
        if baseline <= t_hw:
            marks.append((AnchorMark.BASELINE_NOT_ABOVE, f"T_baseline {baseline:.4g} us is not above T_HW {t_hw:.4g} us"))
        elif baseline < NEAR * t_hw:
            marks.append((AnchorMark.BASELINE_NEAR, ""))
    if silicon and baseline < (1 - _BELOW) * silicon.time_us:
        marks.append((AnchorMark.BASELINE_BELOW_SILICON, f"T_baseline asks {_above(silicon, baseline)}"))
    return marks


def _above(silicon: Candidate, time_us: float) -> str:
    """What a run in that time would need of the unit that limits."""
    needed = silicon.time_us / time_us
    if silicon.limiting_unit == FLOOR:
        return "less than the shortest kernel takes"
    return f"{needed:.3g} times the documented peak of {silicon.limiting_unit}"
