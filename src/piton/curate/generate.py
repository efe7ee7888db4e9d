"""Public cases from an operator's rules and a recorded seed: deterministic, and under the dataset rules."""

from __future__ import annotations

import hashlib
from pathlib import Path

import piton
from piton.catalog.rules import FILE, CaseRules, read_rules
from piton.core.case import Case
from piton.core.errors import UsageError
from piton.core.operator import Frozen, Operator
from piton.core.suite import Suite, SuiteOperator
from piton.curate.draw import Taken, draw_set
from piton.curate.plan import TWENTY, plan_slots
from piton.curate.stream import Stream

_PUBLIC_KEY = b"piton public cases"
"""No secret: public cases follow from the seed alone."""
GENERATOR_VERSION = 1
"""Counts changes of what a seed gives."""


class Origin(Frozen):
    """Where generated cases come from: with the same Piton and rules, the same seed gives the same cases."""

    generator: int = GENERATOR_VERSION
    piton: str
    suite: str
    suite_version: str
    operator: str
    rules_digest: str
    seed: int
    count: int


def generate_cases(suite: Suite, member: SuiteOperator, seed: int, count: int = TWENTY) -> tuple[tuple[Case, ...], Origin]:
    """Cases "1" to "20" of an operator. Raises UsageError without rules.yaml, or when the rules leave no case."""
    operator = member.operator
    rules = rules_of(operator)
    key = hashlib.sha256(_PUBLIC_KEY + f"\x1f{seed}\x1f{operator.name}".encode()).digest()
    slots = plan_slots(rules, count, Stream(key, "plan"))
    cases = draw_set(operator, rules, slots, key, Taken())
    return cases, _origin(suite, operator, rules, seed, count)


def has_rules(operator: Operator) -> bool:
    """True when the operator has a rules.yaml."""
    return (Path(operator.golden_path).parent / FILE).is_file()


def rules_of(operator: Operator) -> CaseRules:
    """The operator's rules. Raises UsageError when it has none."""
    folder = Path(operator.golden_path).parent
    rules = read_rules(folder, operator)
    if rules is None:
        raise UsageError(f"operator {operator.name} has no {FILE}", where=str(folder), action="write one: docs/formats.md says what it holds")
    return rules


def _origin(suite: Suite, operator: Operator, rules: CaseRules, seed: int, count: int) -> Origin:
    return Origin(
        piton=piton.__version__,
        suite=suite.name,
        suite_version=suite.version,
        operator=operator.name,
        rules_digest=rules.digest,
        seed=seed,
        count=count,
    )
