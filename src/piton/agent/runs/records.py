"""What a run keeps, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from piton.agent.candidate import Tree


class State(str, Enum):
    """Where a run stands."""

    RUNNING = "running"
    """Also of one that was killed: it goes on when it is resumed."""
    STOPPED = "stopped"
    """By its user, or by a budget; it can be gone on with."""
    FINISHED = "finished"


@dataclass(frozen=True)
class Head:
    """What a run is about; never changes."""

    kind: str
    """`generate` or `evolve`."""
    operator: str
    suite: str
    target: str
    seed: int
    options: Mapping[str, Any]
    """Everything that was asked for, as JSON values."""
    created: float
    """Seconds since 1970."""
    piton: str
    """Version that began it."""


@dataclass(frozen=True)
class NewVariant:
    """A candidate as it was proposed."""

    tree: Tree
    round: int
    origin: str
    """Who proposed it: `start`, `model`, `rules`, `cross`."""
    parents: tuple[int, ...] = ()
    strategy: str = ""
    """Identifier of the strategy that it follows."""
    genes: Mapping[str, Any] = field(default_factory=dict)
    prompt: str = ""
    answer: str = ""
    note: str = ""


@dataclass(frozen=True)
class Measured:
    """What the evaluation said of a variant; nothing in it is a model's word."""

    is_right: bool
    """Every case that was asked for passed."""
    passed: int
    cases: int
    ratio: float | None
    """Geometric mean of T_cand / T_HW over the cases that passed; None without any time."""
    summary: str
    """One line for people: the verdicts, or what failed."""
    report: str
    """report.json."""
    report_digest: str
    seconds: float
    """Wall time of the evaluation."""


@dataclass(frozen=True)
class Variant:
    """A candidate of the run."""

    id: int
    round: int
    origin: str
    parents: tuple[int, ...]
    strategy: str
    genes: Mapping[str, Any]
    source_digest: str
    note: str
    created: float
    measured: Measured | None
    """None while it waits for its evaluation; `report` is left empty here (`RunStore.report`)."""


@dataclass(frozen=True)
class Event:
    """Something that happened besides: a duplicate that was refused, edits that did not apply, a hint, a stop."""

    id: int
    time: float
    kind: str
    data: Mapping[str, Any]
