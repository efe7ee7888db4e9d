"""Models of every provider that litellm knows (extra `litellm`); keys come from the environment variables that it documents, or from the endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from piton.agent.model.errors import MissingLibraryError
from piton.agent.model.http_client import Endpoint, HttpModel
from piton.agent.model.openai_client import read_completion
from piton.agent.model.protocol import Answer, Request
from piton.agent.model.refused import RefusedParameters


class LiteLlmModel(HttpModel):
    """One model, by the name that litellm gives it, such as `bedrock/...`."""

    names: ClassVar[Mapping[str, str]] = {"temperature": "temperature", "top_p": "top_p", "seed": "seed", "stop": "stop", "effort": "reasoning_effort"}

    def __init__(self, endpoint: Endpoint, refused: RefusedParameters) -> None:
        """Raises MissingLibraryError without the litellm package."""
        super().__init__(endpoint, refused)
        try:
            import litellm
        except ImportError as error:
            raise MissingLibraryError("the litellm package is not installed", action='pip install "piton[litellm]"') from error
        self._completion = litellm.completion

    def _answer(self, request: Request, parameters: Mapping[str, object], dropped: tuple[str, ...]) -> Answer:
        endpoint = self._endpoint
        reached = {"api_key": endpoint.key or None, "base_url": endpoint.base_url or None, "timeout": endpoint.timeout_s, "num_retries": 0}
        messages = [{"role": item.speaker.value, "content": item.text} for item in request.messages]
        try:
            completion = self._completion(model=endpoint.model, messages=messages, max_tokens=request.sampling.max_output_tokens, **reached, **parameters)
        except Exception as error:  # litellm's classes carry the provider's status
            raise self._failed(error, parameters) from error
        return read_completion(completion, self.name, dropped)
