"""Errors of ours and of the user; a failure of a submission is never one of these (it is a Verdict)."""

from __future__ import annotations

from piton.core.fault import Fault


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

    fault = Fault.OTHER


class ProcessLostError(EvaluatorError):
    """A process was ended from outside, or did not come up."""

    fault = Fault.PROCESS_LOST


class MemoryTooSmallError(EvaluatorError):
    """The case needs more memory than there is."""

    fault = Fault.NO_MEMORY


class GoldenError(EvaluatorError):
    """The golden gave nothing to compare with."""

    fault = Fault.GOLDEN_FAILED


class GoldenDeadlineError(EvaluatorError):
    """The golden did not end in time."""

    fault = Fault.GOLDEN_DEADLINE


class StorageError(TargetUnavailableError):
    """A file that keeps what was done can't be written (exit status 3): the disk is full, or broken."""

    def __init__(self, path: object, error: OSError, *, is_kept: bool, action: str) -> None:
        self.path = path
        self.error = error
        self.is_kept = is_kept
        """The record in hand is in the file nonetheless."""
        kept = "everything that was finished is in it" if is_kept else "all but the last result is in it, whole"
        super().__init__(f"no more can be written; {kept}", found=error.strerror or str(error), where=str(path), action=action)

    def with_action(self, action: str) -> StorageError:
        """The same, with something else to do about it."""
        return StorageError(self.path, self.error, is_kept=self.is_kept, action=action)
