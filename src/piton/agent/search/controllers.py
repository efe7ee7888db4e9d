"""The control loops of the survey, all on the same ask: direct, structured feedback, search (evolution or a tree), adaptive.

Sources: the taxonomy of the survey of kernel generation (control loops 1 to 4); tiers and inspirations as in CAKE's evolution mode; UCB1 of Auer, Cesa-Bianchi
and Fischer (2002) for the tree and for the choice of the next tool.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from piton.agent.runs import Variant
from piton.agent.search.steps import Action, Asked, Controller, Finished, Inspiration, Step, best, is_right, ratio_of, score_of, share_passed
from piton.agent.search.tiers import Tier, tiers_of
from piton.core.errors import UsageError

__all__ = ["CONTROLLERS", "Adaptive", "Controller", "Direct", "Evolution", "Feedback", "TreeSearch", "controller_of"]
_REPAIRS = 3
"""Tries to mend one variant, as in CAKE's failure budget."""


@dataclass(frozen=True)
class Direct:
    """Best of N: every candidate from the start, without looking at what became of the others."""

    def ask(self, asked: Asked) -> Step | Finished:
        """Another one from the start; the budget ends it."""
        start = asked.variants[0]
        action = Action.IMPROVE if is_right(start) else Action.FRESH
        return Step(action, (start.id,), reason="one more of N, each from the start")


@dataclass(frozen=True)
class Feedback:
    """One line of descent: what the evaluation says of the newest candidate goes into the next; back to the best after repairs that came to nothing."""

    repairs: int = _REPAIRS

    def ask(self, asked: Asked) -> Step | Finished:
        """Repair the newest, or go on from it when it is the best, else from the best."""
        newest, fastest = _newest(asked), best(asked.variants)
        if newest is None:
            return Step(Action.FRESH, (asked.variants[0].id,), reason="nothing is measured yet")
        if not is_right(newest) and _tries(asked, newest) < self.repairs:
            return Step(Action.REPAIR, (newest.id,), reason=f"variant {newest.id} passes {share_passed(newest):.0%} of its cases")
        if fastest is not None:
            return Step(Action.IMPROVE, (fastest.id,), reason=f"variant {fastest.id} is the best so far")
        return Step(Action.FRESH, (asked.variants[0].id,), reason=f"{self.repairs} repairs came to nothing")


@dataclass(frozen=True)
class Evolution:
    """Islands of right variants; parents from the good, inspirations of every tier, now and then a cross, and the best of one island moves to the next."""

    islands: int = 2
    migration: int = 8
    """Every so many variants of an island the best of the one before it may be a parent too."""
    cross_share: float = 0.2

    def ask(self, asked: Asked) -> Step | Finished:
        """Take the islands in turn; repair what is nearly right while an island has nothing that is."""
        dice = asked.dice()
        island = len(asked.variants) % self.islands
        people = self._people(asked, island)
        right = [item for item in asked.right if item.id in people]
        if not right:
            return self._without_right(asked, people, island)
        tiers = tiers_of([item.id for item in right])
        good = [number for number, tier in tiers.items() if tier is Tier.GOOD]
        parent = dice.choice(good)
        others = [Inspiration(dice.choice(found), tier) for tier in Tier if (found := [key for key, value in tiers.items() if value is tier and key != parent])]
        if len(right) > 1 and dice.random() < self.cross_share:
            mate = dice.choice([item.id for item in right if item.id != parent])
            return Step(Action.CROSS, (parent, mate), tuple(others), island, f"cross of variants {parent} and {mate} on island {island}")
        return Step(Action.IMPROVE, (parent,), tuple(others), island, f"variant {parent} is good on island {island}")

    def island_of(self, variant: Variant, place: int) -> int:
        """The island of the variant at this place of the run: steps go round."""
        del variant
        return place % self.islands

    def _people(self, asked: Asked, island: int) -> set[int]:
        """The start, the island's own, and after each `migration` of these the best of the island before it."""
        start = {item.id for item in asked.variants if item.origin == "start"}
        own = [item for place, item in enumerate(asked.variants) if item.id not in start and self.island_of(item, place) == island]
        if self.islands < 2 or len(own) < self.migration:
            return start | {item.id for item in own}
        before = (island - 1) % self.islands
        visitors = [item for place, item in enumerate(asked.variants) if item.id not in start and self.island_of(item, place) == before]
        guest = best(visitors[: len(own) // self.migration * self.migration])
        return start | {item.id for item in own} | ({guest.id} if guest else set())

    def _without_right(self, asked: Asked, people: set[int], island: int) -> Step:
        wrong = [item for item in asked.variants if item.id in people and item.measured is not None and _tries(asked, item) < _REPAIRS]
        nearest = max(wrong, key=lambda item: (share_passed(item), -item.id), default=None)
        if nearest is None:
            return Step(Action.FRESH, (asked.variants[0].id,), island=island, reason=f"nothing on island {island} to go on from")
        return Step(Action.REPAIR, (nearest.id,), island=island, reason=f"nothing on island {island} is right; variant {nearest.id} is nearest")


@dataclass(frozen=True)
class TreeSearch:
    """A tree of variants: descend by UCB1 from the start, widen a node before its children are gone into."""

    exploration: float = 0.2
    """Weight of what is little known; rewards are relative to the best so far, since near a slow start all of them are small."""
    width: int = 3
    """Children that a node gets before the search descends."""

    def ask(self, asked: Asked) -> Step | Finished:
        """A child for the node that UCB1 leads to."""
        node = asked.variants[0]
        while (children := [item for item in asked.children(node.id) if self._is_promising(asked, item)]) and len(asked.children(node.id)) >= self.width:
            total = self._visits(asked, node)
            node = max(children, key=lambda child: (self._bound(asked, child, total), -child.id))
        action = Action.IMPROVE if is_right(node) else Action.REPAIR if node.measured is not None and node.parents else Action.FRESH
        return Step(action, (node.id,), reason=f"UCB1 leads to variant {node.id}")

    def _is_promising(self, asked: Asked, item: Variant) -> bool:
        """Waiting ones are not gone into, nor those that repairs did not mend."""
        return item.measured is not None and (is_right(item) or _tries(asked, item) < self.width)

    def _bound(self, asked: Asked, node: Variant, total: int) -> float:
        highest = max((score_of(item) for item in asked.variants), default=0.0) or 1.0
        return self._value(asked, node) / highest + self.exploration * math.sqrt(math.log(max(total, 2)) / self._visits(asked, node))

    def _value(self, asked: Asked, node: Variant) -> float:
        """The best reward of the subtree: a search for the fastest, not for the fastest on average."""
        return max([score_of(node), *(self._value(asked, child) for child in asked.children(node.id))])

    def _visits(self, asked: Asked, node: Variant) -> int:
        return 1 + sum(self._visits(asked, child) for child in asked.children(node.id))


@dataclass(frozen=True)
class Adaptive:
    """Chooses the next tool from the state: repair while something is nearly right, else the tool that has paid most so far (UCB1 on its gains)."""

    exploration: float = 0.5
    tools: tuple[str, ...] = ("improve best", "improve good", "cross", "fresh")

    def ask(self, asked: Asked) -> Step | Finished:
        """The next step, with the tool's name and record as its reason."""
        newest = _newest(asked)
        if newest is not None and not is_right(newest) and share_passed(newest) >= 0.5 and _tries(asked, newest) < _REPAIRS:
            return Step(Action.REPAIR, (newest.id,), reason=f"repair: variant {newest.id} passes {share_passed(newest):.0%} of its cases")
        right = asked.right
        if not right:
            return Feedback().ask(asked)
        usable = [tool for tool in self.tools if tool != "cross" or len(right) > 1]
        tool = max(usable, key=lambda name: (self._bound(asked, name), -usable.index(name)))
        return self._step(asked, tool, right)

    def _step(self, asked: Asked, tool: str, right: tuple[Variant, ...]) -> Step:
        dice, tiers = asked.dice(), tiers_of([item.id for item in right])
        good = [number for number, tier in tiers.items() if tier is Tier.GOOD]
        shown = tuple(Inspiration(key, tiers[key]) for key in list(tiers)[:3])
        if tool == "fresh":
            return Step(Action.IMPROVE, (asked.variants[0].id,), reason="fresh: from the start again")
        if tool == "cross":
            first, second = right[0].id, dice.choice([item.id for item in right[1:]])
            return Step(Action.CROSS, (first, second), shown, reason=f"cross: variants {first} and {second}")
        parent = right[0].id if tool == "improve best" else dice.choice(good)
        return Step(Action.IMPROVE, (parent,), tuple(item for item in shown if item.variant != parent), reason=f"{tool}: variant {parent}")

    def _bound(self, asked: Asked, tool: str) -> float:
        gains = [self._gain(asked, item) for item in asked.variants if item.note.startswith(f"{tool}:") and item.measured is not None]
        used = sum(item.note.startswith(f"{tool}:") for item in asked.variants)
        total = sum(any(item.note.startswith(f"{name}:") for name in self.tools) for item in asked.variants)
        return float("inf") if not used else sum(gains) / used + self.exploration * math.sqrt(math.log(max(total, 2)) / used)

    @staticmethod
    def _gain(asked: Asked, item: Variant) -> float:
        """By how much it was faster than everything before it, as a share; 0 for one that was not."""
        before = best([other for other in asked.variants if other.id < item.id])
        return max(1.0 - ratio_of(item) / ratio_of(before), 0.0) if before is not None and is_right(item) else 0.0


def _newest(asked: Asked) -> Variant | None:
    """The newest measured variant."""
    return next((item for item in reversed(asked.variants) if item.measured is not None), None)


def _tries(asked: Asked, variant: Variant) -> int:
    """Repairs of this variant and of those it came from in an unbroken line of wrong ones, its own descendants counted."""
    by_id = {item.id: item for item in asked.variants}
    chain = 0
    current = variant
    while current.parents and (parent := by_id.get(current.parents[0])) is not None and parent.measured is not None and not is_right(parent):
        chain += 1
        current = parent
    return chain + len(asked.children(variant.id))


CONTROLLERS: Mapping[str, Callable[[], Controller]] = {"direct": Direct, "feedback": Feedback, "evolution": Evolution, "tree": TreeSearch, "adaptive": Adaptive}
"""By the names of `--controller`."""


def controller_of(name: str) -> Controller:
    """The controller of that name. Raises UsageError."""
    if name not in CONTROLLERS:
        raise UsageError(f"there is no controller {name!r}", expected=f"one of {', '.join(CONTROLLERS)}", action="check --controller")
    return CONTROLLERS[name]()
