"""The integrity policy as a file: `piton/policies/integrity.yaml`, read into `core.integrity.Policy`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import ValidationError

from piton.catalog.source import read_yaml
from piton.core.integrity import Policy

POLICY_FILE = Path(__file__).resolve().parent.parent / "policies" / "integrity.yaml"


@cache
def shipped_policy() -> Policy:
    """The policy that comes with Piton."""
    return read_policy(POLICY_FILE)


def read_policy(path: Path) -> Policy:
    """The policy in a file. Raises UsageError when there is none, FormatError with file and line when it does not fit core.integrity."""
    located = read_yaml(path)
    try:
        policy = Policy.model_validate(located.data)
    except ValidationError as error:
        first = error.errors()[0]
        located.refuse(first["msg"], tuple(first["loc"]), expected="a rule in the form of piton.core.integrity.Rule", found=first["input"])
    ids = [rule.id for rule in policy.rules]
    repeated = next((index for index, name in enumerate(ids) if name in ids[:index]), None)
    if repeated is not None:
        located.refuse("two rules have one id", ("rules", repeated), expected="ids that occur once", found=ids[repeated])
    return policy
