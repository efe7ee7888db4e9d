"""The order in which cases are called, where it is not to be that of the suite (integrity mode full)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Protocol, TypeVar

from piton.core.canonical import digest
from piton.core.case import Case
from piton.core.integrity import IntegrityMode
from piton.core.operator import Operator


class HasCase(Protocol):
    """What is ordered."""

    @property
    def operator(self) -> Operator:
        """Whose case it is."""
        ...

    @property
    def case(self) -> Case:
        """The case."""
        ...


Task = TypeVar("Task", bound=HasCase)


def ordered(tasks: Sequence[Task], mode: IntegrityMode, seed: int) -> list[Task]:
    """The tasks as they are run: in mode `full` those of each operator in an order drawn from seed and cases, the same on every machine."""
    if mode != "full":
        return list(tasks)
    return [task for _, group in groupby(tasks, lambda task: task.operator.name) for task in sorted(group, key=lambda task: digest([seed, task.case.digest()]))]
