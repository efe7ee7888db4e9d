"""What calls cost. Prices are the user's to say (`config.py`): Piton ships none, since they change, and a guess is no number.

An unknown price is a state of its own, not 0: sums that hold one are lower bounds, and a budget in money refuses such a model.
"""

from __future__ import annotations

from dataclasses import dataclass

from piton.agent.model.protocol import Usage

_PER = 1e6


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input_usd: float
    output_usd: float
    cached_usd: float | None = None
    """Of input from the provider's cache; the input's price when None."""

    def of(self, usage: Usage) -> float:
        """Dollars of one call."""
        cached = self.input_usd if self.cached_usd is None else self.cached_usd
        fresh = max(usage.input_tokens - usage.cached_tokens, 0)
        return (fresh * self.input_usd + usage.cached_tokens * cached + usage.output_tokens * self.output_usd) / _PER


FREE = Price(0.0, 0.0)
"""Of a model that runs on one's own machine, a script or a cassette."""


@dataclass(frozen=True)
class Money:
    """A sum of prices: dollars that are known, and how many calls had no known price."""

    usd: float = 0.0
    unknown_calls: int = 0

    def __str__(self) -> str:
        """As a person reads it."""
        known = f"${self.usd:.4f}"
        return known if not self.unknown_calls else f"at least {known} ({self.unknown_calls} calls of unknown price)"
