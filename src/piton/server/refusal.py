"""Refusals of a request: one status of HTTP each, and the one clear error that every user of Piton gets."""

from __future__ import annotations

from piton.core.errors import PitonError, UsageError


class RefusedError(UsageError):
    """The request is not served; `status` is that of HTTP, and `retry_after_s` says when to try again (0: not at all)."""

    def __init__(self, status: int, problem: str, *, expected: str = "", found: str = "", action: str = "", retry_after_s: int = 0) -> None:
        super().__init__(problem, expected=expected, found=found, action=action)
        self.status = status
        self.retry_after_s = retry_after_s


def status_of(error: PitonError) -> int:
    """The status of HTTP for an error: a mistake of the client's unless it says otherwise."""
    return error.status if isinstance(error, RefusedError) else 400


def as_json(error: PitonError) -> dict[str, str]:
    """The parts of the error, and all of it as one text."""
    parts = {name: getattr(error, name) for name in ("problem", "expected", "found", "where", "action")}
    return {**parts, "message": str(error)}
