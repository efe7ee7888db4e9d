"""Models with Anthropic's messages interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from piton.agent.model.errors import MalformedAnswerError, MissingLibraryError
from piton.agent.model.http_client import Endpoint, HttpModel
from piton.agent.model.protocol import Answer, Finish, Request, Speaker, Usage, usage_of
from piton.agent.model.refused import RefusedParameters

_FINISHES = {
    "end_turn": Finish.DONE,
    "stop_sequence": Finish.DONE,
    "max_tokens": Finish.CUT,
    "model_context_window_exceeded": Finish.CUT,
    "refusal": Finish.FILTERED,
}


class AnthropicModel(HttpModel):
    """One model of Anthropic, or of a server with its interface."""

    names: ClassVar[Mapping[str, str]] = {"temperature": "temperature", "top_p": "top_p", "stop": "stop_sequences"}
    """There is no seed; effort is left to the model."""

    def __init__(self, endpoint: Endpoint, refused: RefusedParameters) -> None:
        """Raises MissingLibraryError without the anthropic package."""
        super().__init__(endpoint, refused)
        try:
            import anthropic
        except ImportError as error:
            raise MissingLibraryError("the anthropic package is not installed", action='pip install "piton[models]"') from error
        self._client = anthropic.Anthropic(api_key=endpoint.key, base_url=endpoint.base_url or None, timeout=endpoint.timeout_s, max_retries=0)

    def _answer(self, request: Request, parameters: Mapping[str, object], dropped: tuple[str, ...]) -> Answer:
        system = "\n\n".join(item.text for item in request.messages if item.speaker is Speaker.SYSTEM)
        messages: list[Any] = [{"role": item.speaker.value, "content": item.text} for item in request.messages if item.speaker is not Speaker.SYSTEM]
        sent = {**parameters, **({"system": system} if system else {})}
        try:
            length = request.sampling.max_output_tokens
            answer = self._client.messages.create(model=self._endpoint.model, messages=messages, max_tokens=length, extra_body=sent)
        except Exception as error:  # the SDK's classes differ by version; what they carry decides
            raise self._failed(error, parameters) from error
        return _read(answer, self.name, dropped)


def _read(answer: Any, name: str, dropped: tuple[str, ...]) -> Answer:
    """The answer's text blocks together. Raises MalformedAnswerError for one without any."""
    blocks = getattr(answer, "content", None)
    finish = _FINISHES.get(str(getattr(answer, "stop_reason", "end_turn")), Finish.DONE)
    texts = [block.text for block in blocks if isinstance(getattr(block, "text", None), str)] if isinstance(blocks, list) else []
    if not texts and finish is Finish.DONE:
        raise MalformedAnswerError(f"{name} sent a message without a text", found=str(answer)[:500])
    return Answer(
        text="".join(texts), finish=finish, usage=_usage(getattr(answer, "usage", None)), model=str(getattr(answer, "model", "") or ""), dropped=dropped
    )


def _usage(usage: Any) -> Usage | None:
    fresh, answered = getattr(usage, "input_tokens", None), getattr(usage, "output_tokens", None)
    if not isinstance(fresh, int) or not isinstance(answered, int):
        return None
    read, written = (getattr(usage, name, 0) or 0 for name in ("cache_read_input_tokens", "cache_creation_input_tokens"))
    return usage_of(fresh + read + written, answered, read) if isinstance(read, int) and isinstance(written, int) else None
