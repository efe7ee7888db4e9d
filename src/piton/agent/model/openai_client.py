"""Models with OpenAI's chat completions interface: OpenAI itself, and local servers that speak it (vLLM, llama.cpp, Ollama, LM Studio)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from piton.agent.model.errors import MalformedAnswerError, MissingLibraryError, RefusedParameterError
from piton.agent.model.http_client import LENGTH, Endpoint, HttpModel
from piton.agent.model.protocol import Answer, Finish, Request, Usage, usage_of
from piton.agent.model.refused import RefusedParameters

_LENGTH, _OLD_LENGTH = "max_completion_tokens", "max_tokens"
_FINISHES = {"stop": Finish.DONE, "length": Finish.CUT, "content_filter": Finish.FILTERED}
NO_KEY = "none"
"""What is sent to a server of one's own that asks for no key: the SDK wants some text."""


class OpenAiModel(HttpModel):
    """One model of one such server."""

    names: ClassVar[Mapping[str, str]] = {"temperature": "temperature", "top_p": "top_p", "seed": "seed", "stop": "stop", "effort": "reasoning_effort"}

    def __init__(self, endpoint: Endpoint, refused: RefusedParameters) -> None:
        """Raises MissingLibraryError without the openai package."""
        super().__init__(endpoint, refused)
        try:
            import openai
        except ImportError as error:
            raise MissingLibraryError("the openai package is not installed", action='pip install "piton[models]"') from error
        self._client = openai.OpenAI(api_key=endpoint.key or NO_KEY, base_url=endpoint.base_url or None, timeout=endpoint.timeout_s, max_retries=0)

    def _answer(self, request: Request, parameters: Mapping[str, object], dropped: tuple[str, ...]) -> Answer:
        messages = [{"role": item.speaker.value, "content": item.text} for item in request.messages]
        sent = {**parameters, self._length_name(): request.sampling.max_output_tokens}
        try:
            completion = self._client.chat.completions.create(model=self._endpoint.model, messages=messages, extra_body=sent)  # type: ignore[arg-type]
        except Exception as error:  # the SDK's classes differ by version; what they carry decides
            failure = self._failed(error, sent)
            if isinstance(failure, RefusedParameterError) and failure.parameter == LENGTH and self._length_name() == _OLD_LENGTH:
                raise MalformedAnswerError(f"{self.name} takes neither {_LENGTH} nor {_OLD_LENGTH}", found=failure.found) from error
            raise failure from error
        return read_completion(completion, self.name, dropped)

    def _length_name(self) -> str:
        """Servers that do not know the new name of the length are asked by the old one."""
        return _OLD_LENGTH if LENGTH in self._refused.of(self.name) else _LENGTH

    def _all_names(self) -> Mapping[str, str]:
        return {**self.names, LENGTH: self._length_name()}


def read_completion(completion: Any, name: str, dropped: tuple[str, ...]) -> Answer:
    """The answer in a completion. Raises MalformedAnswerError for one without a text."""
    choices = getattr(completion, "choices", None)
    text = getattr(getattr(choices[0], "message", None), "content", None) if choices else None
    finish = _FINISHES.get(str(getattr(choices[0], "finish_reason", "stop")), Finish.DONE) if choices else Finish.DONE
    if not isinstance(text, str):
        if finish is Finish.DONE:
            raise MalformedAnswerError(f"{name} sent a completion without a text", found=str(completion)[:500])
        text = ""
    return Answer(
        text=text, finish=finish, usage=_usage(getattr(completion, "usage", None)), model=str(getattr(completion, "model", "") or ""), dropped=dropped
    )


def _usage(usage: Any) -> Usage | None:
    cached = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", 0)
    return usage_of(getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None), cached)
