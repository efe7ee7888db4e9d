"""The two trials of a case (precision standard, rule 8): what each of them draws its inputs from.

A submission that learned the values of one seed, or that answers a second call with what the first one left behind, is right once and not twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from piton.core.canonical import digest
from piton.core.verdict import Outcome
from piton.numerics.inputs import TWO_TRIAL_SHIFT

FIRST, SECOND = 1, 2
_HEX_DIGITS = 13
"""52 bits: every JSON reader keeps such a seed exactly."""


@dataclass(frozen=True)
class Draw:
    """What the inputs of one trial depend on, beyond suite and case."""

    seed: int
    shift: float
    """Added to every floating input."""


def draw_of(seed: int, trial: int) -> Draw:
    """The draw of trial 1 or 2 of an evaluation with `seed`; the second seed is the start of SHA-256 over `["second trial", seed]` in canonical form."""
    if trial == FIRST:
        return Draw(seed, 0.0)
    return Draw(int(digest(["second trial", seed])[:_HEX_DIGITS], 16), TWO_TRIAL_SHIFT)


def in_second_trial(found: Outcome) -> Outcome:
    """The outcome with the word that the second trial found it, for people in the message and for programs as the number `trial`."""
    message = f"second trial (fresh seed, floating inputs shifted by {TWO_TRIAL_SHIFT:g}): {found.message or found.cause.value}"
    return found.model_copy(update={"message": message, "numbers": {**found.numbers, "trial": SECOND}})
