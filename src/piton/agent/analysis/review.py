"""After a run: which hints were followed, and did they pay?

A hint counts as followed when the winner's sources show the strategy's signs and the start's did not, and as effective when it was advised, followed, and the
winner is faster than the variant it was advised on. What a text does not show (a strategy without signs) is told by the variant's own strategy only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piton.agent.analysis.strategies import load_strategies
from piton.agent.candidate import Tree


@dataclass(frozen=True)
class Advised:
    """A hint as it was given."""

    strategy: str
    on: int
    """Variant whose profile it came from."""
    ratio: float
    """T_cand / T_HW of that variant."""


@dataclass(frozen=True)
class Reviewed:
    """What became of a hint."""

    strategy: str
    on: int
    is_followed: bool
    is_effective: bool
    gain: float
    """Time of the variant it was advised on over the winner's; 1 where it was not followed."""


def review(advised: Sequence[Advised], start: Tree, winner: Tree, winner_ratio: float, followed: Sequence[str] = ()) -> tuple[Reviewed, ...]:
    """What became of every hint; `followed` are the strategies of the winner and of the variants it descends from."""
    found = []
    for hint in advised:
        strategy = load_strategies()[hint.strategy]
        shows = strategy.is_in(winner) and not strategy.is_in(start) if strategy.signs else hint.strategy in followed
        gain = hint.ratio / winner_ratio if shows else 1.0
        found.append(Reviewed(hint.strategy, hint.on, shows, shows and gain > 1.0, gain))
    return tuple(found)
