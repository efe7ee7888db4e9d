"""The fair-reporting record: eleven items that a result has to come with (survey, section 4.6), each with where its value is from."""

from __future__ import annotations

from enum import Enum

from piton.core.operator import Frozen


class FairItem(str, Enum):
    """The eleven items, in the survey's order."""

    DATASET = "benchmark dataset and modifications"
    HARNESS = "evaluation harness version"
    INTEGRITY = "integrity policy and tolerances"
    METRICS = "top-level metrics"
    LEVELS = "benchmark levels"
    BASELINE = "baseline reference timing"
    BUDGET = "generation-time compute budget"
    SAMPLES = "number of samples"
    HARDWARE = "accelerator hardware"
    LIBRARIES = "library versions"
    SELECTION = "kernel selection scheme"


class Source(str, Enum):
    """Who says so."""

    KNOWN = "known"
    """Piton itself: it is in the report."""
    SUBMISSION = "submission"
    """The submission's submission.toml or the set's samples.toml; not checked."""
    MISSING = "missing"
    """Nobody; never made up."""


class FairRow(Frozen):
    """One item of a record."""

    item: FairItem
    value: str
    """What is said; for a missing item what would fill it."""
    source: Source


def filled(rows: tuple[FairRow, ...]) -> int:
    """Items that are not missing."""
    return sum(row.source is not Source.MISSING for row in rows)
