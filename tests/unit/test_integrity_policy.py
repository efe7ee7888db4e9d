"""Does every change of a rule of the integrity policy show?"""

from __future__ import annotations

import pytest

from piton.core.verdict import PRECEDENCE
from piton.evaluate import integrity
from piton.evaluate.integrity import INTEGRITY_VERSION, integrity_policy
from piton.evaluate.policy import Bounds
from piton.numerics import thresholds

DIGESTS = {"1": "67a54f3967f6fdd6", "2": "b3b4f3ce71b6e713", "3": "c646ae52c993c207"}
"""First digits of the digest of every version. Changed a rule? Raise INTEGRITY_VERSION and add its line here."""


def test_version_and_rules_belong_together() -> None:
    found = integrity_policy(Bounds())
    assert found.version == INTEGRITY_VERSION
    assert found.digest[:16] == DIGESTS[INTEGRITY_VERSION], "a rule was changed: raise INTEGRITY_VERSION, and add its digest here"


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        (integrity, "REFUSED_TEXTS", integrity.REFUSED_TEXTS[1:]),
        (integrity, "CPP_SUFFIXES", frozenset({".cpp"})),
        (integrity, "PRECEDENCE", tuple(reversed(PRECEDENCE))),
        (integrity, "VERDICT_OF", dict(list(integrity.VERDICT_OF.items())[1:])),
        (thresholds, "GUARD", 1e-6),
        (thresholds, "ERROR_RATIO", 3),
        (thresholds, "MAX_OVER_MEAN", 11.0),
    ],
)
def test_every_rule_is_in_the_digest(monkeypatch: pytest.MonkeyPatch, place: object, name: str, value: object) -> None:
    before = integrity_policy.__wrapped__(Bounds())
    monkeypatch.setattr(place, name, value)
    assert integrity_policy.__wrapped__(Bounds()).digest != before.digest


def test_the_allowance_of_the_run_is_in_the_digest_and_not_that_of_another() -> None:
    assert integrity_policy(Bounds(copy_allowance_bytes=8192)).digest != integrity_policy(Bounds()).digest
    assert integrity_policy(Bounds(golden_deadline_s=1.0)) == integrity_policy(Bounds()), "what a run may cost is no rule of integrity"
