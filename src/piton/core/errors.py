"""Errors of ours and of the user; a failure of a submission is never one of these (it is a Verdict)."""

from __future__ import annotations


class PitonError(Exception):
    """One clear message: what was expected, what was found, where, what to do.

    Every field is a plain sentence fragment; `str(error)` joins those that are set.
    """

    exit_status = 2

    def __init__(self, problem: str, *, expected: str = "", found: str = "", where: str = "", action: str = "") -> None:
        self.problem = problem
        self.expected = expected
        self.found = found
        self.where = where
        self.action = action
        super().__init__(self._message())

    def _message(self) -> str:
        parts = [
            f"{self.where}: {self.problem}" if self.where else self.problem,
            f"  expected: {self.expected}" if self.expected else "",
            f"  found:    {self.found}" if self.found else "",
            f"  to do:    {self.action}" if self.action else "",
        ]
        return "\n".join(part for part in parts if part)


class UsageError(PitonError):
    """The command line, a file or an option is wrong (exit status 2)."""


class FormatError(PitonError):
    """A file does not have the form its format asks for (exit status 2)."""


class TargetUnavailableError(PitonError):
    """The target cannot run here: a compiler, a device or a library is missing (exit status 3)."""

    exit_status = 3


class EvaluatorError(PitonError):
    """We could not evaluate; becomes a Void, never a verdict on the submission."""
