"""Budgets: reserve before, settle after, so that calls that run side by side cannot overspend together.

Five things are limited: money, tokens, calls, wall time and device seconds. A reservation is the most that something may take; settling replaces it with what
it took.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, fields

from piton.core.errors import PitonError, UsageError


@dataclass(frozen=True)
class Spending:
    """Amounts of what is limited."""

    usd: float = 0.0
    tokens: int = 0
    """Input and output together."""
    calls: int = 0
    device_s: float = 0.0
    """Seconds of the device, or of the simulated one's wall time, that evaluations took."""

    def __add__(self, other: Spending) -> Spending:
        return Spending(*(getattr(self, item.name) + getattr(other, item.name) for item in fields(self)))

    def __sub__(self, other: Spending) -> Spending:
        return Spending(*(getattr(self, item.name) - getattr(other, item.name) for item in fields(self)))


@dataclass(frozen=True)
class Limits:
    """The most of each; None is without limit."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    device_s: float | None = None
    wall_s: float | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not None and not value > 0:
                raise UsageError(f"the budget {item.name} is not above 0", expected="a number above 0, or none", found=str(value))


class BudgetStopError(PitonError):
    """A budget does not allow what was asked for; an orderly end, nothing is lost."""

    exit_status = 0

    def __init__(self, what: str, limit: float, spent: float, asked: float) -> None:
        self.what = what
        self.limit = limit
        words = f"{limit:g} allowed, {spent:g} spent or reserved, {asked:g} more asked for"
        super().__init__(f"the budget of {what} is used up", found=words, action="resume with a larger budget")


class Reservation:
    """What a call or an evaluation may take; settle it once."""

    def __init__(self, amount: Spending) -> None:
        self.amount = amount
        self.actual: Spending | None = None

    def settle(self, actual: Spending) -> None:
        """Say what it took; it may be more than was reserved, which the next reservation meets."""
        self.actual = actual


class Budget:
    """Limits and what has been spent and reserved so far; for any number of threads."""

    def __init__(self, limits: Limits, spent: Spending = Spending(), elapsed_s: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        """`spent` and `elapsed_s` are of the parts of a run before it was resumed."""
        self.limits = limits
        self._spent = spent
        self._reserved = Spending()
        self._clock = clock
        self._started = clock() - elapsed_s
        self._lock = threading.Lock()

    @property
    def spent(self) -> Spending:
        """What was settled."""
        with self._lock:
            return self._spent

    @property
    def elapsed_s(self) -> float:
        """Wall time since the start, of all parts of the run."""
        return self._clock() - self._started

    @contextmanager
    def reserve(self, amount: Spending) -> Iterator[Reservation]:
        """Reserve `amount` inside; what is not settled at the end counts as taken whole. Raises BudgetStopError when a limit does not allow it."""
        reservation = Reservation(amount)
        with self._lock:
            self._check(amount, {item.name for item in fields(Spending) if getattr(amount, item.name)})
            self._reserved += amount
        try:
            yield reservation
        finally:
            with self._lock:
                self._reserved -= amount
                self._spent += amount if reservation.actual is None else reservation.actual

    def check(self) -> None:
        """Raise BudgetStopError when wall time is up, or nothing of another limit is left."""
        with self._lock:
            self._check(Spending(), set(_WORDS))

    def _check(self, amount: Spending, kinds: AbstractSet[str]) -> None:
        """Of these kinds; the last candidate that calls allowed is measured although no call is left."""
        if self.limits.wall_s is not None and self.elapsed_s >= self.limits.wall_s:
            raise BudgetStopError("wall time (s)", self.limits.wall_s, round(self.elapsed_s, 3), 0.0)
        committed = self._spent + self._reserved
        for name in (name for name in _WORDS if name in kinds):
            limit, spent, asked = (getattr(holder, name) for holder in (self.limits, committed, amount))
            if limit is not None and (spent + asked > limit or (spent >= limit and asked == 0)):
                raise BudgetStopError(_WORDS[name], limit, spent, asked)


_WORDS = {"usd": "money (US dollars)", "tokens": "tokens", "calls": "model calls", "device_s": "device time (s)"}
