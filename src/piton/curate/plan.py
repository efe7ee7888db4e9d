"""The plan of a set: for every twenty cases the sizes, families, alignments, dtypes and ranks that the dataset rules ask for."""

from __future__ import annotations

from dataclasses import dataclass

from piton.catalog.rules import CaseRules
from piton.core.case import SizeClass
from piton.core.dtype import DType
from piton.curate.ranges import STAND_INS
from piton.curate.stream import Stream

TWENTY = 20
ALIGNED_OF_TWENTY = 5
PRIMES_OF_TWENTY = 11
"""Of the 15 non-aligned ones: the bias to primes."""

_EDGES = ("dtype-boundary", "dtype-boundary", "dtype-boundary", "special-inf", "special-nan", "special-zero")
"""Small, so that every dtype's edge is looked at by the numeric lint."""
_SMALL = ("symmetric-small",) * 4 + ("symmetric-medium", "asymmetric-small", "asymmetric-medium")
_MEDIUM = ("symmetric-small", "symmetric-large", "symmetric-large", "asymmetric-small", "asymmetric-medium", "asymmetric-small")
_LARGE = ("asymmetric-small",)


@dataclass(frozen=True)
class Slot:
    """What one case of a set has to be."""

    case_id: str
    size: SizeClass
    family: str
    is_aligned: bool
    is_prime: bool
    dtypes: tuple[DType, ...]
    """One per input."""
    layout: int
    rank: int
    has_seed: bool
    """True when the case has a seed of its own (hidden cases)."""

    @property
    def is_edge(self) -> bool:
        """True when it looks at an edge of its dtype: then it has to be this dtype."""
        return self.family in _EDGES


def plan_slots(rules: CaseRules, count: int, stream: Stream, prefix: str = "") -> tuple[Slot, ...]:
    """`count` slots, twenty by twenty. With a `prefix` (hidden cases) ids begin with it, the order is shuffled and each case gets a seed."""
    chunks = [_twenty(rules, number, stream) for number in range(-(-count // TWENTY))]
    if prefix:
        chunks = [stream.shuffled(chunk) for chunk in chunks]
    ordered = [slot for chunk in chunks for slot in chunk][:count]
    return tuple(_named(slot, f"{prefix}{index}", bool(prefix)) for index, slot in enumerate(ordered, start=1))


def _named(slot: Slot, case_id: str, has_seed: bool) -> Slot:
    return Slot(case_id, slot.size, slot.family, slot.is_aligned, slot.is_prime, slot.dtypes, slot.layout, slot.rank, has_seed)


def _twenty(rules: CaseRules, number: int, stream: Stream) -> list[Slot]:
    sized = {SizeClass.SMALL: (*_SMALL, *_EDGES), SizeClass.MEDIUM: _MEDIUM, SizeClass.LARGE: _LARGE}
    wanted = [(size, name) for size, names in sized.items() for name in names]
    aligned = stream.shuffled([True] * ALIGNED_OF_TWENTY + [False] * (TWENTY - ALIGNED_OF_TWENTY))
    primes = iter(stream.shuffled([True] * PRIMES_OF_TWENTY + [False] * (TWENTY - ALIGNED_OF_TWENTY - PRIMES_OF_TWENTY)))
    pairs = _shapes(rules, stream)
    dtypes = _dtypes(rules, stream, len(_EDGES))
    _add_edges(wanted, dtypes, rules)
    families = [(size, _allowed(name, rules, number, line)) for (size, name), line in zip(wanted, dtypes, strict=True)]
    shapes = _matched(pairs, [(line, family) for line, (_, family) in zip(dtypes, families, strict=True)], rules)
    return [
        Slot("", size, family, is_even, False if is_even else next(primes), dtypes[index], *shapes[index], has_seed=False)
        for index, ((size, family), is_even) in enumerate(zip(families, aligned, strict=True))
    ]


def _add_edges(wanted: list[tuple[SizeClass, str]], dtypes: list[tuple[DType, ...]], rules: CaseRules) -> None:
    """Where the leading input has more dtypes than there are edges, the last ordinary small slots look at the boundary of the others."""
    first, lead = len(_SMALL), rules.lead_position
    edged = {line[lead] for line in dtypes[first : first + len(_EDGES)]}
    missing = {line[lead]: line for line in reversed(rules.dtypes) if line[lead] not in edged}
    for place, line in zip(range(first - 1, 0, -1), missing.values(), strict=False):
        wanted[place], dtypes[place] = (SizeClass.SMALL, "dtype-boundary"), line


def _allowed(family: str, rules: CaseRules, number: int, dtypes: tuple[DType, ...]) -> str:
    """The family, or what stands in where the operator or the dtype of the leading input excludes it.

    All-zero input has one range only, so later twenties do not repeat it.
    """
    if family == "special-zero" and number:
        family = STAND_INS[family]
    if not dtypes[rules.lead_position].is_floating and family in ("special-inf", "special-nan"):
        family = STAND_INS[family]
    return next(name for name in (family, STAND_INS.get(family), rules.families[0]) if name in rules.families)


def _shapes(rules: CaseRules, stream: Stream) -> list[tuple[int, int]]:
    """Layout and rank of every slot: all pairs in turn."""
    pairs = [(index, rank) for index, layout in enumerate(rules.layouts) for rank in range(layout.ranks[0], layout.ranks[1] + 1)]
    return stream.shuffled((pairs * TWENTY)[:TWENTY])


def _matched(pairs: list[tuple[int, int]], slots: list[tuple[tuple[DType, ...], str]], rules: CaseRules) -> list[tuple[int, int]]:
    """The pairs of layout and rank in an order that suits the dtypes and families of the slots, as far as there are enough of them."""
    left, made = list(pairs), []
    for line, family in slots:
        suited = (index for index, (layout, _) in enumerate(left) if rules.layouts[layout].takes(line, family))
        made.append(left.pop(next(suited, 0)))
    return made


def _dtypes(rules: CaseRules, stream: Stream, edges: int) -> list[tuple[DType, ...]]:
    """Combinations in turn; those of the edge slots in turn of their own, so that every dtype has an edge."""
    many = rules.dtypes * TWENTY
    ordinary = stream.shuffled(many[: TWENTY - edges])
    first = len(_SMALL)
    return [*ordinary[:first], *many[:edges], *ordinary[first:]]
