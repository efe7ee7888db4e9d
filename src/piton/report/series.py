"""Cases in figures: what they are called, where their row is, and which colour and shape they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.report import CaseResult

COLOURS = 8
"""Series that the palette tells apart, also for people who do not see all colours: each has a shape of its own."""


@dataclass(frozen=True)
class Located:
    """A case and the anchor of its row in the page."""

    case: CaseResult
    anchor: str

    @property
    def label(self) -> str:
        """`operator/case`."""
        return f"{self.case.operator}/{self.case.case.id}"


@dataclass(frozen=True)
class Series:
    """Numbers series by operator where colours suffice, else by the unit that limits T_HW."""

    names: tuple[str, ...]
    is_by_operator: bool

    def of(self, located: Located) -> int:
        """Number of the series of a case."""
        return self.names.index(self._name(located))

    def used(self, cases: Sequence[Located]) -> tuple[tuple[int, str], ...]:
        """Number and name of the series of these cases."""
        return tuple((number, self.names[number]) for number in sorted({self.of(item) for item in cases}))

    def _name(self, located: Located) -> str:
        return located.case.operator if self.is_by_operator else _unit(located.case)


def series_of(cases: Sequence[Located]) -> Series:
    """The series of a report."""
    operators = list(dict.fromkeys(item.case.operator for item in cases))
    if len(operators) <= COLOURS:
        return Series(tuple(operators), is_by_operator=True)
    return Series(tuple(sorted({_unit(item.case) for item in cases})), is_by_operator=False)


def _unit(case: CaseResult) -> str:
    unit = case.t_hw.limiting_unit if case.t_hw else ""
    return f"limited by {unit}" if unit else "limit not known"
