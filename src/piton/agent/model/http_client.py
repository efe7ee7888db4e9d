"""What the clients on the vendors' SDKs share: parameters under the provider's names, what was refused left out, errors by status.

The SDKs' own retries are off: every call is one line in the ledger, and `retry.py` decides what is tried again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from piton.agent.model.errors import MalformedAnswerError, ModelError, RefusedParameterError, TimedOutError, UnavailableError
from piton.agent.model.protocol import Answer, Request
from piton.agent.model.refused import RefusedParameters
from piton.agent.model.statuses import error_of

LENGTH = "max_output_tokens"


@dataclass(frozen=True)
class Endpoint:
    """Where a model is and how it is reached."""

    provider: str
    model: str
    key: str = field(default="", repr=False)
    base_url: str = ""
    """Empty for the provider's own address."""
    timeout_s: float = 600.0

    @property
    def name(self) -> str:
        """For records; never the key."""
        return f"{self.provider}:{self.model}" + (f"@{self.base_url}" if self.base_url else "")


class HttpModel(ABC):
    """A Model behind an HTTP API; subclasses make one call."""

    names: ClassVar[Mapping[str, str]]
    """The provider's name of each parameter of ours; one that is missing does not exist there."""

    def __init__(self, endpoint: Endpoint, refused: RefusedParameters) -> None:
        self._endpoint = endpoint
        self._refused = refused

    @property
    def name(self) -> str:
        """Provider and model, and the address if it is not the provider's own."""
        return self._endpoint.name

    def ask(self, request: Request) -> Answer:
        """One answer; a parameter that the model refuses is dropped, remembered, and the call made again without it."""
        while True:
            parameters, dropped = self._parameters(request)
            try:
                return self._answer(request, parameters, tuple(sorted(dropped)))
            except RefusedParameterError as error:
                if error.parameter in self._refused.of(self.name):
                    raise
                self._refused.add(self.name, error.parameter)

    @abstractmethod
    def _answer(self, request: Request, parameters: Mapping[str, object], dropped: tuple[str, ...]) -> Answer:
        """One call with these parameters, by the provider's names."""

    def _parameters(self, request: Request) -> tuple[dict[str, object], set[str]]:
        """What is sent by the provider's names, and what is left out by ours."""
        refused = self._refused.of(self.name)
        asked = request.sampling.optional()
        dropped = {name for name in asked if name in refused or name not in self.names}
        return {self.names[name]: value for name, value in asked.items() if name not in dropped}, dropped

    def _failed(self, error: Exception, sent: Mapping[str, object]) -> ModelError:
        """The typed error of what the SDK raised, by what it carries: SDKs share these attributes and not their classes."""
        status, body = getattr(error, "status_code", None), getattr(error, "body", None)
        if isinstance(status, int):
            headers = {str(name).lower(): str(value) for name, value in getattr(getattr(error, "response", None), "headers", {}).items()}
            ours = {theirs: name for name, theirs in self._all_names().items() if theirs in sent}
            return error_of(status, body if body is not None else str(error), headers, ours)
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if "APITimeoutError" in kinds or isinstance(error, TimeoutError):
            return TimedOutError(f"{self.name} did not answer within {self._endpoint.timeout_s:g} s", found=str(error))
        if "APIConnectionError" in kinds or isinstance(error, OSError):
            return UnavailableError(f"{self.name} cannot be reached", found=_chain(error))
        return MalformedAnswerError(f"{self.name} sent something that is no answer", found=f"{type(error).__name__}: {error}"[:500])

    def _all_names(self) -> Mapping[str, str]:
        return self.names


def _chain(error: BaseException) -> str:
    """An error with what it came from: SDKs say `Connection error.` and keep the reason behind it."""
    found: list[str] = []
    current: BaseException | None = error
    while current is not None and len(found) < 4:
        found.append(str(current) or type(current).__name__)
        current = current.__cause__ or current.__context__
    return ": ".join(dict.fromkeys(found))
