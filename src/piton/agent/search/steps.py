"""What a controller asks for next: from which variants, how, and why.

A controller is asked with everything the run holds, and remembers nothing: its answer depends on the variants and the seed only. So a resumed run goes on as an
undisturbed one, and what is told to it is what the store holds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from piton.agent.runs import Variant
from piton.agent.search.tiers import Tier


class Action(str, Enum):
    """How the next candidate comes about."""

    FRESH = "fresh"
    """From the start alone, without looking at others."""
    REPAIR = "repair"
    """Mend what the evaluation of the parent found wrong."""
    IMPROVE = "improve"
    """Make the parent, which is right, faster."""
    CROSS = "cross"
    """Join what two right parents do well."""


@dataclass(frozen=True)
class Inspiration:
    """Another variant that is shown beside the parent."""

    variant: int
    tier: Tier


@dataclass(frozen=True)
class Step:
    """One candidate to propose."""

    action: Action
    parents: tuple[int, ...]
    """Variants that it descends from; the first is the one that is changed."""
    inspirations: tuple[Inspiration, ...] = ()
    island: int = 0
    reason: str = ""
    """One sentence for the run's page."""


@dataclass(frozen=True)
class Finished:
    """Nothing more to propose, with the reason."""

    reason: str


@dataclass(frozen=True)
class Asked:
    """Everything a controller decides from."""

    variants: tuple[Variant, ...]
    """All of the run, measured or waiting, in their order; the first ones are the start."""
    seed: int

    @property
    def right(self) -> tuple[Variant, ...]:
        """Variants that pass and have a time, the fastest first; the older one first where they are equal."""
        found = [item for item in self.variants if is_right(item)]
        return tuple(sorted(found, key=lambda item: (ratio_of(item), item.id)))

    def dice(self) -> random.Random:
        """Random numbers of this decision: the same whenever it is taken."""
        return random.Random(f"{self.seed}/{len(self.variants)}")

    def children(self, variant: int) -> tuple[Variant, ...]:
        """Variants whose first parent it is."""
        return tuple(item for item in self.variants if item.parents[:1] == (variant,))


class Controller(Protocol):
    """A control loop."""

    def ask(self, asked: Asked) -> Step | Finished:
        """The next step. Called with the start measured at least; several steps may be under way (variants that wait)."""
        ...


def is_right(variant: Variant) -> bool:
    """Does it pass, and has it a time?"""
    return variant.measured is not None and variant.measured.is_right and variant.measured.ratio is not None


def ratio_of(variant: Variant) -> float:
    """T_cand / T_HW, the less the better; infinite for a variant that is not right."""
    measured = variant.measured
    return measured.ratio if measured is not None and measured.is_right and measured.ratio is not None else float("inf")


def share_passed(variant: Variant) -> float:
    """Passed cases of all; 0 for a variant that waits."""
    measured = variant.measured
    return measured.passed / measured.cases if measured is not None and measured.cases else 0.0


def score_of(variant: Variant) -> float:
    """A reward between 0 and 1: T_HW / T_cand of a right variant; a wrong one gets at most a tenth, by what it passes."""
    if is_right(variant):
        return min(1.0 / ratio_of(variant), 1.0)
    return 0.1 * share_passed(variant) if variant.measured is not None else 0.0


def best(variants: Sequence[Variant]) -> Variant | None:
    """The fastest right one."""
    return min((item for item in variants if is_right(item)), key=lambda item: (ratio_of(item), item.id), default=None)
