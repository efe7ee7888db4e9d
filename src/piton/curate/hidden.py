"""Hidden cases: drawn from a secret key, disjoint from the public ones, never on disk unless asked.

Everything about a case (shapes, dtypes, attributes, ranges, the seed of its values) is a choice from an HMAC stream under a key that is derived from the
secret, the suite's name and version and the operator. The same key gives the same set; without it the set can't be told from any other that keeps the rules.
A key is changed by writing another file: its id, which says nothing about it, is in the report.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from piton.core.case import Case
from piton.core.errors import UsageError
from piton.core.suite import Suite, SuiteOperator
from piton.curate.aspects import case_families, identity_key, range_key
from piton.curate.draw import Taken, draw_set
from piton.curate.generate import has_rules, rules_of
from piton.curate.plan import plan_slots
from piton.curate.stream import Stream

HIDDEN_COUNT = 80
"""Hidden cases per operator (paper, section 2.3)."""
PREFIX = "h"
"""Ids are h1, h2, ...; public ones are plain numbers."""
MOST_CASES = 2000
LEAST_BYTES = 32
"""A key has at least 256 bits."""
_LEAST_VARIETY = 8
"""Different bytes in a key; a hexadecimal one of 64 digits has about 15."""
_MOST_BYTES = 4096
_ID_DIGITS = 12


@dataclass(frozen=True)
class HiddenKey:
    """A secret key; its bytes never appear in a text."""

    secret: bytes = field(repr=False)
    warning: str = ""
    """What is wrong with how the file is kept; empty when nothing is."""

    @property
    def key_id(self) -> str:
        """Name of the key for reports: part of an HMAC under it, from which neither key nor cases follow."""
        return hmac.new(self.secret, b"piton hidden key id", hashlib.sha256).hexdigest()[:_ID_DIGITS]

    def derived(self, *label: str) -> bytes:
        """The key of one purpose."""
        return hmac.new(self.secret, "\x1f".join(("piton hidden cases", *label)).encode(), hashlib.sha256).digest()


def read_key(path: Path) -> HiddenKey:
    """The key in a file, without white space at its ends. Raises UsageError when it cannot be read, is too short or too uniform."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(_MOST_BYTES + 1).strip()
    except OSError as error:
        raise UsageError("the key file cannot be read", found=error.strerror or str(error), where=str(path), action="check --key-file") from None
    action = "make one: (umask 077; openssl rand -hex 32 > FILE)"
    if not LEAST_BYTES <= len(secret) <= _MOST_BYTES:
        expected = f"{LEAST_BYTES} to {_MOST_BYTES} bytes"
        raise UsageError("the key has the wrong length", expected=expected, found=f"{min(len(secret), _MOST_BYTES + 1)} bytes", where=str(path), action=action)
    if len(set(secret)) < _LEAST_VARIETY:
        raise UsageError("the key is too uniform to be random", expected=f"at least {_LEAST_VARIETY} different bytes", where=str(path), action=action)
    open_to = mode & (stat.S_IRWXG | stat.S_IRWXO)
    warning = f"the key file {path} is open to others (mode {stat.S_IMODE(mode):o}): chmod 600 it" if open_to else ""
    return HiddenKey(secret, warning)


def hidden_cases(suite: Suite, member: SuiteOperator, key: HiddenKey, count: int = HIDDEN_COUNT) -> tuple[Case, ...]:
    """The hidden cases of an operator under `key`. Raises UsageError without rules.yaml, or when the rules leave no case."""
    operator = member.operator
    rules = rules_of(operator)
    derived = key.derived(suite.name, suite.version, operator.name, rules.digest)
    slots = plan_slots(rules, count, Stream(derived, "plan"), PREFIX)
    cases = draw_set(operator, rules, slots, derived, _public(member))
    overlap = {identity_key(case) for case in member.cases} & {identity_key(case) for case in cases}
    assert not overlap, "element counts of public cases are taken, so no hidden case can equal one"
    return cases


def hidden_suite(suite: Suite, key: HiddenKey, count: int = HIDDEN_COUNT) -> Suite:
    """The suite with hidden cases in the place of the public ones; an operator without rules.yaml has none."""
    members = tuple(
        SuiteOperator(operator=member.operator, cases=hidden_cases(suite, member, key, count) if has_rules(member.operator) else ()) for member in suite.members
    )
    return suite.model_copy(update={"members": members, "hidden": f"{key.key_id}/{count}"})


def require_cases(members: Iterable[SuiteOperator]) -> None:
    """Raise UsageError when one of `members` of a hidden suite has no cases."""
    bare = [member.operator.name for member in members if not member.cases]
    if bare:
        action = "write the file (docs/formats.md), or leave the operator out with --op"
        raise UsageError(f"operator {bare[0]} has no hidden cases", expected="rules.yaml beside its proto.yaml", found="none", action=action)


def _public(member: SuiteOperator) -> Taken:
    """What hidden cases must not repeat. Ranges of special values are few, and may recur; element counts never do."""
    taken = Taken()
    for case in member.cases:
        taken.elements.add(case.elements)
        if not any(family.startswith("special") for family in case_families(case)):
            taken.ranges.add(range_key(case))
    return taken
