"""The advisor between rounds, without a model: at most three hints, each grounded in figures of the best variant's profile.

A strategy whose signs are in the code already is redundant and is not advised. The strength of a hint is the share of the lost time that its signature shows.
"""

from __future__ import annotations

from dataclasses import dataclass

from piton.agent.analysis.profile import CaseProfile, Profile
from piton.agent.analysis.signatures import Signature, shown_by, signatures_of
from piton.agent.analysis.strategies import Strategy, load_strategies
from piton.agent.candidate import Tree

MOST = 3
_WORTH = 0.1
"""Share of the lost time below which a signature is not worth a hint."""


@dataclass(frozen=True)
class Hint:
    """One piece of advice."""

    strategy: str
    """Identifier of the strategy."""
    strength: float
    evidence: str
    """The figures that it rests on, with the case they are of."""
    text: str
    """As a prompt shows it."""


def hints_of(profile: Profile, tree: Tree, most: int = MOST) -> tuple[Hint, ...]:
    """The strongest hints for a variant, each from another strategy; none when its signatures are."""
    found: list[Hint] = []
    for signature, share in signatures_of(profile).items():
        if share < _WORTH:
            continue
        case = _telling(profile, signature)
        fitting = [item for item in load_strategies().values() if signature in item.against and not item.is_in(tree)]
        found += [_hint(item, share / (1 + place), signature, case) for place, item in enumerate(fitting)]
    strongest: dict[str, Hint] = {}
    for hint in sorted(found, key=lambda item: -item.strength):
        strongest.setdefault(hint.strategy, hint)
    return tuple(list(strongest.values())[:most])


def _telling(profile: Profile, signature: Signature) -> CaseProfile | None:
    """The case that shows the signature and has most headroom; for regimes the worst one."""
    showing = [case for case in profile.cases if signature is Signature.REGIMES or signature in shown_by(case)]
    return max(showing, key=lambda case: case.ratio, default=None)


def _hint(strategy: Strategy, strength: float, signature: Signature, case: CaseProfile | None) -> Hint:
    said = f"case {case.case} takes {case.ratio:.2f} T_HW ({case.time_us:.2f} us)" if case else "several cases"
    where = f"; {case.limit.sentence}" if case and case.limit else ""
    traffic = f"; moves {case.traffic:.2f} times the bytes that have to" if case and case.traffic > 1.05 else ""
    evidence = f"{signature.value}: {said}{where}{traffic}"
    return Hint(strategy.id, strength, evidence, f"{strategy.title}: {strategy.advice} Evidence: {evidence}.")
