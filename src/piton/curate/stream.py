"""Keyed streams of choices: the same key and label give the same choices on every machine; without the key nothing can be said about them.

HMAC-SHA-256 in counter mode over (label, counter), 64 bits at a time. A label names one decision site (operator, slot, attempt), so that a change in how one
case is drawn leaves the others alone.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

_WORD = 1 << 64


class Stream:
    """Choices of one label under one key."""

    def __init__(self, key: bytes, *label: str | int) -> None:
        self._key = key
        self._label = "\x1f".join(map(str, label)).encode()
        self._counter = 0
        self._words: list[int] = []

    def word(self) -> int:
        """64 uniform bits."""
        if not self._words:
            block = hmac.new(self._key, self._label + b"\x1e" + self._counter.to_bytes(8, "big"), hashlib.sha256).digest()
            self._counter += 1
            self._words = [int.from_bytes(block[start : start + 8], "big") for start in range(0, 32, 8)]
        return self._words.pop()

    def below(self, bound: int) -> int:
        """Uniform in [0, bound), without bias. Raises ValueError for a bound below 1."""
        if bound < 1:
            raise ValueError(f"nothing below {bound}")
        limit = _WORD - _WORD % bound
        while (drawn := self.word()) >= limit:
            pass
        return drawn % bound

    def between(self, low: int, high: int) -> int:
        """Uniform whole number, both ends included."""
        return low + self.below(high - low + 1)

    def uniform(self, low: float, high: float) -> float:
        """Uniform in [low, high)."""
        return low + (high - low) * (self.word() >> 11) * 2.0**-53

    def log_uniform(self, low: float, high: float) -> float:
        """Uniform in the logarithm; both ends above 0."""
        return math.exp(self.uniform(math.log(low), math.log(high)))

    def choice(self, items: Sequence[Item]) -> Item:
        """One of `items`."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """All of `items` in a random order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in items]
