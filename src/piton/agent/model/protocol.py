"""What a model is to the rest of the agents: something that answers a conversation with text, or says in a typed way why not."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from piton.core.canonical import digest

_HALF = re.compile(r"[\ud800-\udfff]")


class Speaker(str, Enum):
    """Who said a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    speaker: Speaker
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", _sendable(self.text))


@dataclass(frozen=True)
class Sampling:
    """How an answer is drawn; None leaves a value to the model. A model may refuse any of these but the length (`refused.py`)."""

    max_output_tokens: int = 16_384
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    effort: str | None = None
    """Of reasoning models: low, medium, high, or what the model knows."""

    def optional(self) -> dict[str, object]:
        """What is asked for beside the length, by our names."""
        values: dict[str, object] = {"temperature": self.temperature, "top_p": self.top_p, "seed": self.seed, "effort": self.effort, "stop": list(self.stop)}
        return {name: value for name, value in values.items() if value is not None and value != []}


@dataclass(frozen=True)
class Request:
    """One question: the conversation so far, and how to answer."""

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    purpose: str = ""
    """What it is for, such as `propose` or `review`; for the ledger, no part of the question."""

    def digest(self) -> str:
        """Identity of everything the model sees."""
        sampling = self.sampling
        return digest([[(item.speaker.value, item.text) for item in self.messages], sampling.max_output_tokens, sorted(sampling.optional().items())])


class Finish(str, Enum):
    """Why an answer ended."""

    DONE = "done"
    CUT = "cut"
    """It reached the length that was allowed."""
    FILTERED = "filtered"


@dataclass(frozen=True)
class Usage:
    """Tokens of one call, as the provider counts them."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    """Of the input, those that came from the provider's cache."""


_MOST_TOKENS = 1 << 40


def usage_of(asked: object, answered: object, cached: object) -> Usage | None:
    """What a provider counted; None when it says nothing, or a number that no call takes and that would upset budgets."""
    if not isinstance(asked, int) or not isinstance(answered, int) or not (0 <= asked <= _MOST_TOKENS and 0 <= answered <= _MOST_TOKENS):
        return None
    return Usage(asked, answered, min(max(cached, 0), asked) if isinstance(cached, int) else 0)


@dataclass(frozen=True)
class Answer:
    """What came back."""

    text: str
    finish: Finish = Finish.DONE
    usage: Usage | None = None
    """None when the provider does not say."""
    model: str = ""
    """The model as the provider names it."""
    dropped: tuple[str, ...] = field(default=())
    """Parameters that were asked for and left out because the model refuses them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", _sendable(self.text))


def _sendable(text: str) -> str:
    """Halves of a surrogate pair as U+FFFD: sources in Latin-1 and cut emojis hold them, and neither JSON in UTF-8 nor a file takes them."""
    return _HALF.sub("\ufffd", text)


class Model(Protocol):
    """Something that answers. Raises ModelError (errors.py)."""

    @property
    def name(self) -> str:
        """Provider and model, such as `openai:gpt-x`; enters records."""
        ...

    def ask(self, request: Request) -> Answer:
        """The answer to one request."""
        ...
