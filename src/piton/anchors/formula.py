"""What a work formula is: one per operator, in the module of the operator's family, listed in that module's `FORMULAS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.hardware import Edition, Hardware

Convention = Callable[[Case, Edition], Work]
"""The counts behind the published anchors, of one edition: the published benchmark counts some operators in another way on the 950PR."""
Silicon = Callable[[Case, Hardware], tuple[Work, ...]]
"""The implementation choices a chip has, each with the least work that it needs under the chip's capacities. Empty only where it lacks a type of the case."""


@dataclass(frozen=True)
class Formula:
    """The two counts of one operator."""

    attributes: frozenset[str]
    """Names of the operator's attributes; an operator of another suite may share the name and not the meaning."""
    convention: Convention | None
    """None where no anchors are published."""
    silicon: Silicon
