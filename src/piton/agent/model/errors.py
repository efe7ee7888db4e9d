"""Why a model gave no answer, by type: what can be tried again, what a person has to put right, what ends a run."""

from __future__ import annotations

from typing import ClassVar

from piton.core.errors import PitonError


class ModelError(PitonError):
    """A call that has no answer. `kind` is its name in the ledger; exit status 3 unless it is a mistake of the user (2)."""

    exit_status = 3
    kind: ClassVar[str] = "model_error"
    is_passing: ClassVar[bool] = False
    """True when the same call may succeed a little later."""


class NoKeyError(ModelError):
    """No key was given for a provider that needs one."""

    exit_status = 2
    kind = "no_key"


class RefusedKeyError(ModelError):
    """The provider does not accept the key, or not for this model (401, 403)."""

    exit_status = 2
    kind = "refused_key"


class UnknownModelError(ModelError):
    """The provider has no such model, or the address is not that of one (404)."""

    exit_status = 2
    kind = "unknown_model"


class BadRequestError(ModelError):
    """The provider does not understand the request (400, 422)."""

    kind = "bad_request"


class RefusedParameterError(BadRequestError):
    """The model does not take one of the optional parameters; it is dropped and remembered."""

    kind = "refused_parameter"

    def __init__(self, parameter: str, said: str) -> None:
        self.parameter = parameter
        """By our name, as in Sampling.optional, or `max_output_tokens`."""
        super().__init__(f"the model does not take the parameter {parameter}", found=said, action="it is left out of further calls")


class ContextOverflowError(BadRequestError):
    """The conversation is longer than the model can read."""

    kind = "context_overflow"


class QuotaError(ModelError):
    """The account has no money or quota left (402, insufficient_quota)."""

    kind = "quota"


class PassingError(ModelError):
    """Something that passes; `retry_after_s` is what the provider asks to wait, None when it does not say."""

    is_passing = True

    def __init__(self, problem: str, *, found: str = "", retry_after_s: float | None = None) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(problem, found=found, action="wait, or ask for fewer calls at a time")


class RateLimitError(PassingError):
    """Too many calls or tokens in a short time (429)."""

    kind = "rate_limit"


class UnavailableError(PassingError):
    """The provider could not be reached, or failed (connection, 5xx)."""

    kind = "unavailable"


class TimedOutError(PassingError):
    """No answer came in the time allowed."""

    kind = "timed_out"


class MalformedAnswerError(PassingError):
    """What came back is not an answer of the documented form."""

    kind = "malformed_answer"


class MissingLibraryError(ModelError):
    """The client's library is not installed."""

    kind = "missing_library"


class NotRecordedError(ModelError):
    """A cassette that is replayed has no answer to this request."""

    kind = "not_recorded"


class ScriptEndedError(ModelError):
    """A scripted model was asked more often than its script says."""

    kind = "script_ended"
