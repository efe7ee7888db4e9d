"""Journal: one line per finished case of a run (`line_file` says how), so that killing a run loses at most the cases in flight (D7)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pydantic import TypeAdapter

from piton.core.errors import UsageError
from piton.core.report import CaseResult
from piton.evaluate.kept import Kept
from piton.evaluate.line_file import DamagedLineError as DamagedJournalError
from piton.evaluate.line_file import Kind, Record, open_locked

__all__ = ["NAME", "DamagedJournalError", "Journal", "OtherEvaluationError", "check_unused"]

NAME = "journal.jsonl"
_FORM, _IDENTITY = "piton_journal", "evaluation"
_VERSION = 2
_RESULT: TypeAdapter[CaseResult] = TypeAdapter(CaseResult)


class OtherEvaluationError(UsageError):
    """A journal that was to be gone on with is that of another evaluation."""


class Journal(Kept[CaseResult]):
    """The journal of one run folder.

    The first line names the evaluation (`identity`); every further line is one case with the `key` of everything that decided it.
    """

    def __init__(self, path: Path, identity: str, *, is_resumed: bool) -> None:
        """Open `path`; with `is_resumed` keep what it holds. Raises UsageError for a journal of another evaluation or one in use, DamagedJournalError."""
        super().__init__(path, Kind({_FORM: _VERSION, _IDENTITY: identity}, _same_as(identity)), "result", _RESULT, is_kept=is_resumed)

    def find(self, key: str) -> CaseResult | None:
        """The finished result whose key is `key`; a void is none, so that it is tried again."""
        found = super().find(key)
        return None if found is None or found.void else found

    def append(self, key: str, result: CaseResult) -> None:
        """Add one finished case; see `LineFile.append` for when it is safe from what."""
        self.keep(key, result)


def _same_as(identity: str) -> Callable[[Path, Record], None]:
    def check(path: Path, found: Record) -> None:
        if found.get(_FORM) != _VERSION:
            raise DamagedJournalError("this is not a Piton journal, or one of another form", where=f"{path}:1", action="start again without --resume")
        if found.get(_IDENTITY) != identity:
            raise OtherEvaluationError(
                "the journal belongs to another evaluation",
                where=str(path),
                expected="the same submission, suite, target, seed and options",
                action="use the same options, or start again without --resume",
            )

    return check


def check_unused(path: Path) -> None:
    """Raise UsageError when a run is writing to the journal at `path`; its folder may not be cleared then."""
    if path.exists():
        open_locked(path).close()
