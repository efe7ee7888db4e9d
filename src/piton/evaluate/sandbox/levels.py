"""Levels of isolation: a ladder of named mechanisms, so that whoever runs strangers' code can demand a minimum.

A level is reached when its mechanisms and those of every level below are in force. docs/processes.md shows which attack each level stops; that table is
written from the attacks of tests/adversarial.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from piton.core.errors import UsageError
from piton.core.protocols import ENGINE_APART
from piton.evaluate.sandbox.probe import ALWAYS


@dataclass(frozen=True)
class Level:
    """One step."""

    number: int
    title: str
    mechanisms: tuple[str, ...]
    """Names that join those of the levels below."""


LEVELS = (
    Level(0, "processes of their own", ALWAYS),
    Level(1, "filters", ("no_new_processes", "system_call_filter", "landlock")),
    Level(2, "a view", ("mount_namespace", "read_only_view", "net_namespace", "ipc_namespace", "uts_namespace", "pid_namespace")),
    Level(3, "users and bounds of their own", ("separate_users", "control_group")),
    Level(4, "the engine apart", (ENGINE_APART,)),
)
HIGHEST = LEVELS[-1].number
HIGHEST_IN_PROCESS = 3
"""The highest level at which device code shares a process with the engine."""


def reached(isolation: Iterable[str]) -> int:
    """The level of a set of mechanisms."""
    held = set(isolation)
    number = -1
    for level in LEVELS:
        if not held.issuperset(level.mechanisms):
            break
        number = level.number
    return max(number, 0)


def missing(number: int, isolation: Iterable[str]) -> tuple[str, ...]:
    """Mechanisms that `number` needs and that are not in force."""
    held = set(isolation)
    return tuple(name for level in LEVELS[: number + 1] for name in level.mechanisms if name not in held)


def check_number(number: int) -> int:
    """The same number. Raises UsageError when there is no such level."""
    if not 0 <= number <= HIGHEST:
        raise UsageError("no such level of isolation", expected=f"0 to {HIGHEST}", found=str(number), action="correct --isolation")
    return number


def demand(number: int, isolation: Iterable[str], reasons: Mapping[str, str]) -> None:
    """Raise UsageError when level `number` is not reached: what was demanded, what there is, what lacks and why."""
    isolation = tuple(isolation)
    lacks = missing(check_number(number), isolation)
    if not lacks:
        return
    told = "; ".join(f"{name}: {reasons.get(name, 'not chosen')}" for name in lacks)
    raise UsageError(
        f"isolation level {number} is not reached",
        expected=f"level {number} ({LEVELS[number].title})",
        found=f"level {reached(isolation)}; lacking {told}",
        action="run it on a machine that has them (`piton doctor` lists what this one has), or demand less with --isolation",
    )
