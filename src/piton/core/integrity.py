"""The integrity policy: what a submission must and may not do, as rules, and what a run can say about each of them.

Dimensions are those of the survey of kernel generation (section 4.4). Rules are data (`piton/policies/integrity.yaml`); the mechanisms behind them are code.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

from pydantic import Field

from piton.core.finding import FindingKind
from piton.core.operator import Frozen
from piton.core.verdict import Cause

IntegrityMode = Literal["standard", "full"]
"""How much is checked: `standard` costs no further call of an honest submission, `full` three of every case and a second golden run."""


class Dimension(str, Enum):
    """The survey's four."""

    FALLBACK = "fallback"
    GENERALISATION = "generalisation"
    NUMERICAL = "numerical"
    MEASUREMENT = "measurement"


class World(str, Enum):
    """What submissions run on, as far as a rule's mechanism depends on it."""

    SIMULATED = "simulated"
    """A virtual NPU: a deterministic world, whose every store is seen."""
    CPU = "cpu"
    """Processes of this machine, timed by the parent."""
    DEVICE = "device"
    """An accelerator."""


class Condition(str, Enum):
    """When a rule is checked at all."""

    ALWAYS = "always"
    TRIALS = "trials"
    """With a second trial: `--trials 2`, which `--integrity full` includes."""
    HIDDEN = "hidden"
    """With hidden cases."""
    FULL = "full"
    """With `--integrity full`."""


class Rule(Frozen):
    """One rule."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    """Lasting name."""
    dimension: Dimension
    """What it protects."""
    text: str
    """What it forbids or demands."""
    tracks: tuple[str, ...] = ()
    """Kernel languages that it is about; empty: all."""
    worlds: tuple[World, ...] = (World.SIMULATED, World.CPU, World.DEVICE)
    """Where it is checked."""
    condition: Condition = Condition.ALWAYS
    """When it is checked."""
    static: str = ""
    """What is looked for in sources, builds and files before anything runs; empty: nothing."""
    behavioural: str = ""
    """What is looked at while and after it runs; empty: nothing."""
    mechanism: str
    """What makes the rule hold, whatever the submission's text is."""
    causes: tuple[Cause, ...] = ()
    """Causes that a breach leads to; each stands for its verdict."""
    findings: tuple[FindingKind, ...] = ()
    """Findings that it leads to where no verdict is due."""
    level: int = Field(default=0, ge=0, le=4)
    """Isolation level from which the mechanism is out of the submission's reach."""
    cost: str = ""
    """What it adds to the work of a case; empty: nothing worth counting."""


class Policy(Frozen):
    """All rules."""

    rules: tuple[Rule, ...]
    """In the order of the dimensions."""

    def rule(self, name: str) -> Rule:
        """The rule of that id. Raises KeyError for none."""
        return {rule.id: rule for rule in self.rules}[name]


RuleState = Literal["checked", "not_applicable", "not_checked"]


class RuleOutcome(Frozen):
    """What one run says about one rule."""

    rule: str
    """Id of the rule (docs/integrity.md)."""
    state: RuleState
    """`checked`, `not_applicable` to this track or target, or `not_checked` in this run."""
    why: str = ""
    """Why it was not checked, or what weakens the check; empty when it was checked in full."""
    breaches: int = 0
    """Builds and cases with one of its causes among their outcomes."""
    findings: int = 0
    """Cases with one of its findings."""


class Integrity(Frozen):
    """The integrity policy in force: what counts as a cheat, how equal outputs have to be, and what this run says about each rule (docs/integrity.md)."""

    version: str
    """Raised whenever a rule changes."""
    digest: str
    """SHA-256 of all the rules: their data, refused texts, verdicts with their causes and precedence, thresholds, allowances."""
    mode: IntegrityMode = "standard"
    """How much was checked; `standard` in files from before there was a choice."""
    rules: tuple[RuleOutcome, ...] = ()
    """What this run says about each rule; it depends on the machine's isolation, so that it is no part of the canonical result."""

    def __str__(self) -> str:
        return f"version {self.version}, {self.mode}, digest {self.digest[:12]}"
