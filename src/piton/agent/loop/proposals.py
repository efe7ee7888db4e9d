"""What a proposer is asked, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from piton.agent.analysis import Hint, Strategy
from piton.agent.candidate import Tree
from piton.agent.search import Step


@dataclass(frozen=True)
class Shown:
    """A variant as a proposer sees it."""

    id: int
    tree: Tree
    feedback: str
    """What its evaluation said."""
    ratio: float | None
    """T_cand / T_HW; None for one that is not right."""
    genes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposal:
    """One candidate to make."""

    step: Step
    parents: tuple[Shown, ...]
    inspirations: tuple[tuple[str, Shown], ...]
    """Each with its tier."""
    strategy: Strategy | None
    hints: tuple[Hint, ...]
    seed: int
    """Of anything random; another one for every proposal."""


@dataclass(frozen=True)
class Proposed:
    """A candidate."""

    tree: Tree
    prompt: str = ""
    answer: str = ""
    genes: Mapping[str, Any] = field(default_factory=dict)
    edits: Mapping[str, int] = field(default_factory=dict)
    """How many edits came to their place in which way."""


@dataclass(frozen=True)
class Refused:
    """No candidate: what was proposed could not be used."""

    reason: str
    kind: str
    """`edit_failed`, `no_edit`, or the kind of a model's error."""
    prompt: str = ""
    answer: str = ""


class Proposer(Protocol):
    """Something that makes candidates; for any number of threads."""

    @property
    def name(self) -> str:
        """Enters the records: a model's name, or `rules`."""
        ...

    def propose(self, proposal: Proposal) -> Proposed | Refused:
        """A candidate, or why there is none. Raises BudgetStopError, and ModelError for what ends a run (no key, no quota)."""
        ...
