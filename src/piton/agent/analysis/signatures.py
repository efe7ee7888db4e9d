"""Bottleneck signatures: what kind of trouble a variant is in, by how much of its lost time shows it.

Six signatures are those of CAKE (Table 4); `launch_bound` is ours, since small cases are mostly that. The thresholds are ours too: the paper gives none.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from piton.agent.analysis.profile import CaseProfile, Profile, geometric_mean
from piton.core.case import SizeClass

_MOVES = ("mte1", "mte2", "mte3", "fixp")
_CUBE = ("cube", "m")
_VECTOR = ("vector", "v")
EXTRA_TRAFFIC = 1.15
"""More bytes than this over those that have to move are intermediates, or data read twice."""
ISSUE_SHARE = 0.25
"""Of the time, waiting for work to be issued: the scalar unit does not keep up."""
TAIL_SHARE = 0.15
"""Of the time, waiting for the last block."""
DIVERGENCE = 1.6
"""Headroom of one regime over that of another."""


class Signature(str, Enum):
    """A kind of trouble."""

    MEMORY_CHAIN = "memory-bound fusable chain"
    VECTOR = "compute-bound (vector)"
    CUBE = "compute-bound (cube)"
    SCALAR = "instruction or scalar bound"
    STRAGGLER = "load imbalance (straggler core)"
    REGIMES = "shape regimes diverge"
    LAUNCH = "launch-bound"


def signatures_of(profile: Profile) -> Mapping[Signature, float]:
    """The share of the lost time whose cases show a signature, the largest first; those without any share are left out.

    Lost time is T_cand - T_HW of every case, in units of its T_HW.
    A case may show several. `REGIMES` is about cases together: the part of the headroom that is only in the worse regime.
    """
    lost = {case.case: max(case.ratio - 1.0, 0.0) for case in profile.cases}
    total = sum(lost.values())
    if not total:
        return {}
    found = {signature: sum(lost[case.case] for case in profile.cases if signature in shown_by(case)) / total for signature in Signature}
    found[Signature.REGIMES] = divergence(profile)
    return {signature: share for signature, share in sorted(found.items(), key=lambda item: -item[1]) if share > 0.0}


def shown_by(case: CaseProfile) -> frozenset[Signature]:
    """What one case shows."""
    limit = case.limit.limit if case.limit else case.roof_unit
    found = set()
    if limit in _MOVES or case.traffic > EXTRA_TRAFFIC or case.kernels > 1 or case.copies:
        found.add(Signature.MEMORY_CHAIN)
    if limit in _VECTOR:
        found.add(Signature.VECTOR)
    if limit in _CUBE:
        found.add(Signature.CUBE)
    if limit == "scalar" or case.wait("idle") > ISSUE_SHARE:
        found.add(Signature.SCALAR)
    if case.wait("tail") > TAIL_SHARE and limit != "launch":
        found.add(Signature.STRAGGLER)
    if limit == "launch":
        found.add(Signature.LAUNCH)
    return frozenset(found)


def divergence(profile: Profile) -> float:
    """How much of the worse regime's headroom the better one does not have: between size classes, and between aligned and odd shapes; 0 below `DIVERGENCE`."""
    groups = [[case.ratio for case in profile.of_size(size)] for size in SizeClass]
    groups_aligned = [[case.ratio for case in profile.cases if case.is_aligned is value] for value in (True, False)]
    found = 0.0
    for pair in (groups, groups_aligned):
        means = [mean for group in pair if (mean := geometric_mean(group)) is not None]
        if len(means) > 1 and max(means) / min(means) > DIVERGENCE:
            found = max(found, 1.0 - min(means) / max(means))
    return found
