"""The text of `piton integrity show`."""

from __future__ import annotations

import json
from typing import Literal, get_args

from piton.catalog.integrity_file import shipped_policy
from piton.core.integrity import IntegrityMode, Policy, Rule
from piton.core.named import named
from piton.evaluate.integrity import integrity_policy
from piton.evaluate.policy import Bounds
from piton.report.integrity_text import DIMENSIONS, consequences, of_track, policy_markdown, scope_text


def policy_text(track: str, form: Literal["text", "markdown", "json"]) -> str:
    """The rules for a track (empty: all of them) in that form."""
    policy = of_track(shipped_policy(), track)
    if form == "markdown":
        return policy_markdown(policy)
    return _json(policy) if form == "json" else _plain(policy)


def integrity_mode(name: str) -> IntegrityMode:
    """The mode of that name. Raises UsageError for another one."""
    modes: tuple[IntegrityMode, ...] = get_args(IntegrityMode)
    return named(name, modes, "there is no integrity mode", "check --integrity")


def _json(policy: Policy) -> str:
    known = integrity_policy(Bounds())
    data = {"version": known.version, "digest": known.digest, **policy.model_dump(mode="json")}
    return json.dumps(data, indent=2) + "\n"


def _plain(policy: Policy) -> str:
    known = integrity_policy(Bounds())
    lines = [f"integrity policy {known.version} (digest {known.digest[:12]})"]
    for dimension, title in DIMENSIONS.items():
        lines += ["", title, *(line for rule in policy.rules if rule.dimension is dimension for line in _rule_lines(rule))]
    return "\n".join(lines) + "\n"


def _rule_lines(rule: Rule) -> list[str]:
    parts = {
        "where": scope_text(rule),
        "static": rule.static,
        "behaviour": rule.behavioural,
        "holds by": rule.mechanism,
        "leads to": consequences(rule).replace("`", ""),
        "level": str(rule.level),
        "cost": rule.cost,
    }
    return [f"  {rule.id}: {rule.text}", *(f"      {name:<10}{text}" for name, text in parts.items() if text)]
