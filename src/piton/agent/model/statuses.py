"""From what an HTTP API of a model provider answers to a typed error; the same for every client.

Problem: providers and local servers put the same things into different words; SDKs' exception classes change from version to version.
Approach: the status and the body's documented fields (`code`, `type`, `param`) decide; words of the message only where a status alone cannot tell a refused
parameter or an overflow from any other bad request.
Sources: the error pages of the OpenAI and Anthropic APIs; llama.cpp's and vLLM's servers follow the former.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from piton.agent.model.errors import (
    BadRequestError,
    ContextOverflowError,
    ModelError,
    QuotaError,
    RateLimitError,
    RefusedKeyError,
    RefusedParameterError,
    UnavailableError,
    UnknownModelError,
)

_OVERFLOW = re.compile(
    r"context[_ ](?:length|size|window)|maximum context|prompt is too long|exceed(?:s|ed)? the (?:available )?context|too many tokens", re.IGNORECASE
)
_REFUSAL = re.compile(
    r"unsupported|not supported|does not support|unrecognized|unknown|unexpected|not permitted|extra inputs|deprecated|is not available", re.IGNORECASE
)
_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "billing_error"}


def error_of(status: int, body: object, headers: Mapping[str, str], parameters: Mapping[str, str]) -> ModelError:
    """The error that an answer with this status means; `parameters` are the optional ones that were sent, the provider's name to ours."""
    fields = _fields(body)
    said = f"{status}: {fields.get('message') or str(body)[:500]}"
    if status in (401, 403):
        return RefusedKeyError("the provider refuses the key", found=said, action="check the key, and whether it may use this model")
    if status == 404:
        return UnknownModelError("the provider does not know this model or address", found=said, action="check the model's name and --base-url")
    if status == 402 or fields.get("code") in _QUOTA_CODES or fields.get("type") in _QUOTA_CODES:
        return QuotaError("the account's quota is used up", found=said, action="add credit, or use another key")
    if status == 429:
        return RateLimitError("the provider limits the rate of calls", found=said, retry_after_s=_retry_after(headers))
    if status in (408, 409) or status >= 500:
        return UnavailableError("the provider failed", found=said, retry_after_s=_retry_after(headers))
    return _bad_request(status, fields, said, parameters)


def _bad_request(status: int, fields: Mapping[str, str], said: str, parameters: Mapping[str, str]) -> ModelError:
    message = fields.get("message", "")
    if status == 413 or fields.get("code") == "context_length_exceeded" or _OVERFLOW.search(message):
        return ContextOverflowError("the conversation is longer than the model can read", found=said, action="ask with less context, or another model")
    refused = _refused(fields, parameters)
    if refused:
        return RefusedParameterError(refused, said)
    return BadRequestError("the provider does not understand the request", found=said)


def _refused(fields: Mapping[str, str], parameters: Mapping[str, str]) -> str:
    """Our name of the parameter that is refused: the one named by `param`, else the one that a message of refusal quotes."""
    named = fields.get("param", "")
    if named in parameters:
        return parameters[named]
    message = fields.get("message", "")
    if not _REFUSAL.search(message):
        return ""
    return next((ours for theirs, ours in parameters.items() if re.search(rf"(?<![\w]){re.escape(theirs)}(?![\w])", message)), "")


def _fields(body: object) -> dict[str, str]:
    """The error's fields as texts, wherever they lie: `{"error": {...}}`, the fields themselves, or a text."""
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(inner, str):
        return {"message": inner}
    if not isinstance(inner, Mapping):
        return {}
    return {str(name): str(value) for name, value in inner.items() if isinstance(value, str | int | float)}


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of `retry-after-ms` or `retry-after`; None for a date or nonsense."""
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            value = float(headers[name]) * scale
        except (KeyError, ValueError):
            continue
        if 0.0 <= value < 1e6:
            return value
    return None
