"""The rule that makes a task fit: halve module-level sizes, the largest first, until the estimated memory and work are within the budget.

1. Candidates are the whole numbers that the module gives to names (`modules.module_sizes`) and that its input functions read.
2. The one with the largest value is halved (rounded down); equal ones in the order of the file. It stays halved when the task still runs, has the same
   arguments and results with the same ranks, and is nearer to the budget by a tenth at least.
3. Otherwise all sizes of that value are halved together: what has to be equal often has two names. If that does not help either, the first is out for good.
4. Nothing is halved below 2.

Taking the largest keeps the proportions of a task: halving the batch alone would end with batch normalisation over two samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from piton.core.errors import EvaluatorError
from piton.core.foreign import ScaledSize, SizeBudget
from piton.numerics.foreign.modules import module_sizes, names_used, plain
from piton.numerics.foreign.probe import Form, Probe

_LEAST = 2
_ENOUGH = 0.9
"""A halving that leaves more than this of the excess is not worth another size: a batch does not make weights smaller."""
Names = tuple[str, ...]
Try = Callable[[dict[str, int]], Probe]
"""Runs the task with other sizes. Raises EvaluatorError when it fails."""


def fits(found: Probe, budget: SizeBudget) -> bool:
    """True when memory and work are within the budget."""
    return found.cost.memory_bytes <= budget.memory_bytes and found.cost.work <= budget.work


@dataclass
class Search:
    """The state of one search for sizes that fit."""

    original: dict[Names, int]
    candidates: list[Names]
    """Sizes that may still be halved, in the order of the file."""
    sizes: dict[Names, int] = field(default_factory=dict)
    """Values that replaced the original ones."""

    def now(self, names: Names) -> int:
        """Present value of a size."""
        return self.sizes.get(names, self.original[names])

    def candidate(self) -> Names | None:
        """The next size to halve, or None."""
        able = [names for names in self.candidates if self.now(names) // 2 >= _LEAST]
        return max(able, key=self.now) if able else None

    def drop(self, names: Names) -> None:
        """Never try this size again."""
        self.candidates = [item for item in self.candidates if item != names]

    def equals(self, names: Names) -> list[Names]:
        """This size and all others that may still be halved and have the same value now."""
        return [item for item in self.candidates if self.now(item) == self.now(names)]

    def overrides(self, changed: dict[Names, int]) -> dict[str, int]:
        """Sizes by name."""
        return {name: value for names, value in {**self.sizes, **changed}.items() for name in names}


def scale(source: str, first: Probe | None, budget: SizeBudget, try_sizes: Try) -> tuple[Probe, tuple[ScaledSize, ...]]:
    """The largest version by the rule that fits. `first` is the task as it is, None when even that could not be run for want of memory.

    Raises EvaluatorError when no size is left to halve.
    """
    search = start(source)
    found = first
    while found is None or not fits(found, budget):
        names = search.candidate()
        if names is None:
            raise EvaluatorError("the task is too large, and has no module-level size left to halve", **_told(found, budget))
        found = _halve(search, names, (found, budget), try_sizes)
    scaled = tuple(ScaledSize(names=names, before=search.original[names], after=value) for names, value in search.sizes.items())
    return found, scaled


def start(source: str) -> Search:
    """Candidates of the module in the order of the file."""
    original = module_sizes(source)
    used = names_used(source, "get_inputs") | names_used(source, "get_init_inputs")
    return Search(original, [names for names in original if used & set(map(plain, names))])


def _halve(search: Search, names: Names, state: tuple[Probe | None, SizeBudget], try_sizes: Try) -> Probe | None:
    before, budget = state
    together = search.equals(names)
    for group in [[names], together] if len(together) > 1 else [[names]]:
        smaller = {item: search.now(item) // 2 for item in group}
        found = _attempt(search.overrides(smaller), try_sizes)
        if before is None and found is None and group == together:  # still too large to run at all
            search.sizes |= smaller
            return None
        if found is not None and (before is None or _helps(found, before, budget)):
            search.sizes |= smaller
            return found
    search.drop(names)
    return before


def _attempt(sizes: dict[str, int], try_sizes: Try) -> Probe | None:
    try:
        return try_sizes(sizes)
    except EvaluatorError:
        return None


def _helps(found: Probe, before: Probe, budget: SizeBudget) -> bool:
    return _excess(found, budget) <= _ENOUGH * _excess(before, budget) and _ranks(found) == _ranks(before)


def _excess(found: Probe, budget: SizeBudget) -> float:
    """Memory or work as a multiple of the budget, whichever is more."""
    return max(found.cost.memory_bytes / budget.memory_bytes, found.cost.work / budget.work)


def _ranks(found: Probe) -> list[Any]:
    return [_rank(value) for value in (*found.arguments.values(), *found.state.values(), *found.outputs)]


def _rank(value: Any) -> Any:
    if isinstance(value, Form):
        return (len(value.shape), value.dtype)
    return [_rank(item) for item in value] if isinstance(value, list) else type(value).__name__


def _told(found: Probe | None, budget: SizeBudget) -> dict[str, str]:
    expected = f"at most {budget.memory_bytes >> 20} MiB and {budget.work:.2g} operations"
    return {
        "expected": expected,
        "found": "it runs out of memory" if found is None else f"{found.cost.memory_bytes >> 20} MiB, {found.cost.work:.2g} operations",
    }
