"""Trying again what may pass: rate limits, failures of the provider, answers out of form. Nothing else is tried again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from piton.agent.model.errors import ModelError, PassingError
from piton.agent.model.protocol import Answer, Model, Request


@dataclass(frozen=True)
class Patience:
    """How long a passing error is waited for."""

    attempts: int = 5
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0
    """Of a wait of our own, and the most that a provider may ask for: a longer one ends the tries at once."""


class RetryingModel:
    """A Model that asks another one again, after longer and longer waits, or the wait that the provider asks for."""

    def __init__(self, inner: Model, patience: Patience, sleep: Callable[[float], None] = time.sleep) -> None:
        self._inner = inner
        self._patience = patience
        self._sleep = sleep
        self._own_wait = wait_exponential_jitter(initial=patience.first_wait_s, max=patience.longest_wait_s, jitter=patience.first_wait_s)

    @property
    def name(self) -> str:
        """The inner model's."""
        return self._inner.name

    def ask(self, request: Request) -> Answer:
        """The first answer; the last error when there is none. A budget that is used up while trying ends it with its own error."""
        tries = Retrying(
            retry=retry_if_exception(self._is_worth_it),
            wait=self._wait,
            stop=stop_after_attempt(self._patience.attempts),
            sleep=self._sleep,
            reraise=True,
        )
        return tries(self._inner.ask, request)

    def _is_worth_it(self, error: BaseException) -> bool:
        asked = error.retry_after_s if isinstance(error, PassingError) else None
        return isinstance(error, ModelError) and error.is_passing and (asked or 0.0) <= self._patience.longest_wait_s

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after_s if isinstance(error, PassingError) else None
        return self._own_wait(state) if asked is None else asked
