"""Strategies: what to try, by class and by the signatures that they help against; a data file, checked when it is read.

Source: Tables 3 and 4 of CAKE for classes, representative strategies and their routing; identifiers and advice are ours.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from pathlib import Path

from pydantic import Field, field_validator

from piton.agent.analysis.signatures import Signature
from piton.agent.candidate import Tree
from piton.catalog.toml_file import TomlForm, read_toml

_FILE = Path(__file__).with_name("strategies.toml")
_SOURCES = (".cpp", ".h", ".asc", ".hpp", ".cc")


class StrategyClass(str, Enum):
    """How high a strategy reaches."""

    DTYPE = "D"
    PERFORMANCE = "P"
    ACCURACY = "A"
    FUSION = "F"
    HOST = "H"


class Strategy(TomlForm):
    """One thing to try."""

    id: str = Field(pattern=r"^[DPAFH][1-9][0-9]?$")
    title: str
    against: tuple[Signature, ...] = Field(min_length=1)
    advice: str
    """What to do, as a prompt says it."""
    signs: tuple[str, ...] = ()
    """Regular expressions: a source in which one of them is found follows the strategy; none for what a text does not show."""

    @field_validator("signs")
    @classmethod
    def _compiles(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            re.compile(pattern)
        return value

    @property
    def kind(self) -> StrategyClass:
        """Its class, the letter of its identifier."""
        return StrategyClass(self.id[0])

    def is_in(self, tree: Tree) -> bool:
        """Do the sources show it?"""
        texts = [text for path, text in tree.files.items() if path.endswith(_SOURCES)]
        return any(re.search(pattern, text) for pattern in self.signs for text in texts)


class _StrategiesForm(TomlForm):
    strategy: tuple[Strategy, ...]


@cache
def load_strategies() -> Mapping[str, Strategy]:
    """All strategies by identifier."""
    return {item.id: item for item in read_toml(_FILE, _StrategiesForm).strategy}


def assign(signatures: Mapping[Signature, float], count: int, dice: random.Random, used: Sequence[str] = ()) -> tuple[Strategy, ...]:
    """`count` different strategies for one round, those against the larger signatures likelier; what was used on the same parent comes last.

    Fewer when there are not so many. Without a signature any strategy may come.
    """
    pool = list(load_strategies().values())
    chosen: list[Strategy] = []
    while pool and len(chosen) < count:
        weights = [_weight(item, signatures) * (0.05 if item.id in used else 1.0) for item in pool]
        pick = dice.choices(pool, weights)[0] if any(weights) else dice.choice(pool)
        chosen.append(pick)
        pool.remove(pick)
    return tuple(chosen)


def _weight(strategy: Strategy, signatures: Mapping[Signature, float]) -> float:
    return 0.02 + sum(signatures.get(signature, 0.0) for signature in strategy.against)
