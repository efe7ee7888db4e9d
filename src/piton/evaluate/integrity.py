"""The integrity policy: its version, and the digest of the rules that make it up.

The survey (section 4.4) asks for a policy that a result can be compared under. Ours is data (`piton/policies/integrity.yaml`) with code behind it, so that
its digest is taken of the rules and of the tables that the code itself uses; a unit test ties version and digest together: whoever changes a rule has to
raise the version.
"""

from __future__ import annotations

from functools import cache

from piton.catalog.integrity_file import shipped_policy
from piton.core.canonical import digest
from piton.core.dtype import DType
from piton.core.integrity import Integrity
from piton.core.verdict import PRECEDENCE, VERDICT_OF
from piton.evaluate.admit import CPP_SUFFIXES, REFUSED_TEXTS
from piton.evaluate.policy import Bounds
from piton.numerics import thresholds

INTEGRITY_VERSION = "3"
"""Raised with every change of a rule."""


@cache
def integrity_policy(bounds: Bounds) -> Integrity:
    """Version and digest of the rules in force, with the allowance for copies that a run was given."""
    return Integrity(version=INTEGRITY_VERSION, digest=digest([shipped_policy(), _refused(), _verdicts(), _numbers(), bounds.copy_allowance_bytes]))


def _refused() -> list[object]:
    """What sources may not contain."""
    return [sorted(CPP_SUFFIXES), [(rule.pattern.pattern, rule.pattern.flags, rule.in_strings) for rule in REFUSED_TEXTS]]


def _verdicts() -> list[object]:
    """What a cheat or a failure is called, and which counts when there are several."""
    return [{cause.value: verdict.value for cause, verdict in VERDICT_OF.items()}, [verdict.value for verdict in PRECEDENCE]]


def _numbers() -> list[object]:
    """How equal an output has to be."""
    rows = {dtype.value: str(thresholds.default_tolerance(dtype)) for dtype in DType}
    return [rows, thresholds.GUARD, thresholds.MAX_OVER_MEAN, thresholds.ERROR_RATIO, thresholds.RELAXATION_CAP, thresholds.QUANTISED_TOLERANCE]
