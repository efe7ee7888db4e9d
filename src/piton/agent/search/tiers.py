"""Good, medium and poor among the variants that are right: the fastest 30 %, the next 40 %, the slowest 30 %.

Source: the evolution mode of CAKE (facts about its published predecessor); at least one each as soon as there are three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TypeVar

GOOD_SHARE, POOR_SHARE = 0.3, 0.3
Key = TypeVar("Key")


class Tier(str, Enum):
    """Where a variant stands among the right ones."""

    GOOD = "good"
    MEDIUM = "medium"
    POOR = "poor"


def tiers_of(fastest_first: Sequence[Key]) -> Mapping[Key, Tier]:
    """The tier of each, given in the order of their speed. One alone is good; of two the slower one is medium."""
    count = len(fastest_first)
    good = max(round(GOOD_SHARE * count), 1)
    poor = max(round(POOR_SHARE * count), 1) if count >= 3 else 0
    return {key: Tier.GOOD if place < good else Tier.POOR if place >= count - poor else Tier.MEDIUM for place, key in enumerate(fastest_first)}
