"""What a check of a delivery says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(str, Enum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_MADE = "not made"
    """Something it needs is not on this machine; the detail says what."""


@dataclass(frozen=True)
class Check:
    """One line of the record."""

    name: str
    status: Status
    detail: str
