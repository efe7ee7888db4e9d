"""What a run says about each rule of the integrity policy: checked, not applicable, or not checked, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.integrity import Condition, IntegrityMode, Policy, Rule, RuleOutcome, RuleState, World
from piton.core.measurement import Provenance
from piton.core.protocols import Target
from piton.core.report import CaseResult, OperatorResult
from piton.targets.null import NAME as NULL

_WANTED = {
    Condition.TRIALS: "needs a second trial: --trials 2, or --integrity full",
    Condition.HIDDEN: "needs hidden cases: --hidden-key-file",
    Condition.FULL: "needs --integrity full",
}


@dataclass(frozen=True)
class RunFacts:
    """What decides which rules a run checks."""

    track: str
    world: World | None
    """None: the target runs nothing of a submission."""
    mode: IntegrityMode
    trials: int
    is_hidden: bool
    level: int
    """Isolation level in force."""


def world_of(target: Target) -> World | None:
    """Where submissions run on that target."""
    if target.name == NULL:
        return None
    if target.name == World.CPU.value:
        return World.CPU
    return World.DEVICE if target.provenance is Provenance.DEVICE else World.SIMULATED


def has_probes(target: Target) -> bool:
    """Can the target repeat a call under other conditions and be trusted to change nothing else?"""
    return world_of(target) is World.SIMULATED


def rule_outcomes(policy: Policy, facts: RunFacts, operators: Sequence[OperatorResult]) -> tuple[RuleOutcome, ...]:
    """One outcome per rule, in the order of the policy."""
    return tuple(_outcome(rule, facts, operators) for rule in policy.rules)


def _outcome(rule: Rule, facts: RunFacts, operators: Sequence[OperatorResult]) -> RuleOutcome:
    state, why = _state(rule, facts)
    if state != "checked":
        return RuleOutcome(rule=rule.id, state=state, why=why)
    cases = [case for item in operators for case in item.cases]
    breaches = sum(item.build_outcome.cause in rule.causes for item in operators) + sum(_breaks(rule, case) for case in cases)
    found = sum(any(finding.kind in rule.findings for finding in case.findings) for case in cases)
    return RuleOutcome(rule=rule.id, state=state, why=why, breaches=breaches, findings=found)


def _state(rule: Rule, facts: RunFacts) -> tuple[RuleState, str]:
    if facts.world is None:
        return "not_applicable", "the null target runs nothing of a submission"
    if facts.world not in rule.worlds:
        return "not_applicable", f"of targets of kind {', '.join(world.value for world in rule.worlds)}; this one is {facts.world.value}"
    if rule.tracks and facts.track not in rule.tracks:
        return "not_applicable", f"of track {', '.join(rule.tracks)}; this one is {facts.track}"
    if not _is_met(rule.condition, facts):
        return "not_checked", _WANTED[rule.condition]
    weak = f"out of the submission's reach from isolation level {rule.level}; this run had {facts.level}" if facts.level < rule.level else ""
    return "checked", weak


def _is_met(condition: Condition, facts: RunFacts) -> bool:
    if condition is Condition.TRIALS:
        return facts.trials > 1
    if condition is Condition.HIDDEN:
        return facts.is_hidden
    return condition is Condition.ALWAYS or facts.mode == "full"


def _breaks(rule: Rule, case: CaseResult) -> bool:
    return any(found.cause in rule.causes for found in (case.outcome, *case.others))
