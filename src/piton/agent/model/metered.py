"""A Model whose every call is held to the budget and written into the ledger."""

from __future__ import annotations

import time
from collections.abc import Callable

from piton.agent.model.budget import Budget, Reservation, Spending
from piton.agent.model.errors import ModelError
from piton.agent.model.ledger import ANSWERED, STOPPED, Ledger, Row
from piton.agent.model.prices import Price
from piton.agent.model.protocol import Answer, Model, Request, Usage
from piton.core.errors import UsageError

_BYTES_PER_TOKEN = 2.5
"""Fewer than any tokeniser needs for code and prose, so that a reservation is not too small."""
_OVERHEAD_TOKENS = 16
"""Per message, for what providers put around it."""


class MeteredModel:
    """Reserves the most that a call may take, asks, settles what it took, and keeps a row of it."""

    def __init__(self, inner: Model, budget: Budget, ledger: Ledger, price: Price | None, clock: Callable[[], float] = time.time) -> None:
        """`price` None is an unknown one. Raises UsageError for that with a budget in money."""
        if price is None and budget.limits.usd is not None:
            raise UsageError(
                f"a budget in money needs the price of {inner.name}",
                expected="dollars per million tokens of input and output",
                found="none",
                action="give --price-input and --price-output, or put them into the configuration, or limit tokens instead",
            )
        self._inner = inner
        self._budget = budget
        self._ledger = ledger
        self._price = price
        self._clock = clock

    @property
    def name(self) -> str:
        """The inner model's."""
        return self._inner.name

    def ask(self, request: Request) -> Answer:
        """The inner model's answer. Raises BudgetStopError before a call that a limit does not allow, ModelError as the inner model does."""
        with self._budget.reserve(self._most(request)) as reservation:
            started, clock = self._clock(), time.perf_counter()
            number = self._ledger.add(self._row(request, STOPPED, started, 0.0))
            try:
                answer = self._inner.ask(request)
            except ModelError as error:
                reservation.settle(Spending(calls=1))
                self._ledger.add(self._row(request, error.kind, started, time.perf_counter() - clock, error=error.problem), number)
                raise
            except BaseException as error:  # stopped by the user: the provider may count it
                self._ledger.add(self._row(request, STOPPED, started, time.perf_counter() - clock, error=type(error).__name__), number)
                raise
            self._settle(reservation, answer)
            self._ledger.add(self._row(request, ANSWERED, started, time.perf_counter() - clock, answer=answer), number)
            return answer

    def _settle(self, reservation: Reservation, answer: Answer) -> None:
        """What it took; where the provider does not count, what was reserved for it."""
        if answer.usage is None:
            reservation.settle(reservation.amount)
            return
        usd = self._price.of(answer.usage) if self._price else 0.0
        reservation.settle(Spending(usd=usd, tokens=answer.usage.input_tokens + answer.usage.output_tokens, calls=1))

    def _most(self, request: Request) -> Spending:
        asked = sum(int(len(item.text.encode()) / _BYTES_PER_TOKEN) + _OVERHEAD_TOKENS for item in request.messages)
        usage = Usage(asked, request.sampling.max_output_tokens)
        return Spending(usd=self._price.of(usage) if self._price else 0.0, tokens=asked + usage.output_tokens, calls=1)

    def _row(self, request: Request, outcome: str, started: float, seconds: float, answer: Answer | None = None, error: str = "") -> Row:
        usage = answer.usage if answer else None
        return Row(
            purpose=request.purpose,
            model=self.name,
            request=request.digest(),
            outcome=outcome,
            started=started,
            seconds=seconds,
            input_tokens=usage.input_tokens if usage else None,
            output_tokens=usage.output_tokens if usage else None,
            cached_tokens=usage.cached_tokens if usage else None,
            usd=self._price.of(usage) if usage and self._price else None,
            dropped=",".join(answer.dropped) if answer else "",
            error=error,
        )
