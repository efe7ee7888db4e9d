"""A word that was typed, as one of the words that there are."""

from __future__ import annotations

from typing import TypeVar

from piton.core.errors import UsageError

Word = TypeVar("Word", bound=str)


def named(word: str, known: tuple[Word, ...], problem: str, action: str) -> Word:
    """The known word that was typed. Raises UsageError; `problem` names what there is none of, such as `there is no accuracy mode`."""
    found = next((item for item in known if item == word), None)
    if found is None:
        raise UsageError(f"{problem} {word!r}", expected=" or ".join(known), action=action)
    return found
