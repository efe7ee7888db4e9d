"""The corpus of cheats as data: what each submission is, which verdict it has to get, what stops it.

A submission is a folder of `corpus/exploits` or `corpus/honest`: an `entry.yaml`, and files upon those of `corpus/base` (simulated targets) or of
`corpus/base_cpu`. `corpus/entries.yaml` lists the known cheats by number, with the reason for each that has no submission.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from piton.core.verdict import VERDICT_OF, Cause

HERE = Path(__file__).resolve().parent / "corpus"


class Form(BaseModel):
    """Frozen, and no key but those named: a misspelled one must not weaken an expectation."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Evaluated(Form):
    """How it is evaluated, where that is not the usual way."""

    trials: int = 1
    seed: int = 0
    engine: Literal["in-process", "own-process"] = "in-process"
    integrity: Literal["standard", "full"] = "standard"
    is_hidden: bool = False
    """With cases drawn from a secret key instead of the corpus's own."""
    cases: tuple[str, ...] = ()
    """Only these; empty for all."""
    deadline_s: float = 6.0
    """Wall-clock seconds of one call; short, for some never return."""


class Expected(Form):
    """What has to come of it."""

    cases: dict[str, tuple[str, ...]]
    """Causes by case, `none` for a pass; `*` for those not named. More than one only where the isolation of the machine decides which defence acts first."""
    findings: tuple[str, ...] = ()
    """Kinds of finding that some case has to carry."""
    time: Literal["", "honest"] = ""
    """`honest`: cases that pass have exactly the time of the honest submission, so that nothing was gained."""
    least_us: float = 0.0
    """Microseconds that a case that passes has to take at least: what the submission waits."""

    def causes(self, case: str) -> tuple[str, ...]:
        """What that case may end with."""
        return self.cases.get(case, self.cases.get("*", ()))


class Entry(Form):
    """One entry.yaml."""

    name: str
    """Of the folder."""
    number: int = 0
    """In entries.yaml; 0 for honest work."""
    title: str
    """What it tries, in half a sentence."""
    target: str = "ascend910b2-sim"
    mechanism: str = ""
    """What stopped it, or why it brings nothing."""
    level: int = Field(default=0, ge=0, le=4)
    """Least level of isolation at which that holds."""
    waits: str = ""
    """The check that it waits for; such a submission is not counted."""
    is_slow: bool = False
    """Runs in `make adversarial` only: it takes a build of its own, or waits for a deadline."""
    evaluated: Evaluated = Evaluated()
    expected: Expected

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return HERE / ("exploits" if self.number else "honest") / self.name

    @property
    def is_simulated(self) -> bool:
        """Is its target a virtual NPU?"""
        return self.target.endswith("-sim")

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Verdict and cause of every way it may end, the worst first where some cases pass."""
        causes = [cause for allowed in self.expected.cases.values() for cause in allowed]
        refused = list(dict.fromkeys(cause for cause in causes if cause != Cause.NONE.value)) or [Cause.NONE.value]
        return tuple(VERDICT_OF[Cause(cause)].value + (f" ({cause})" if cause != "none" else "") for cause in refused)


class Known(Form):
    """One known way to cheat."""

    number: int
    title: str
    area: Literal["time", "correctness", "evaluator", "policy", "scoring"]
    elsewhere: str = ""
    """Where it is tested when that is not a submission: it needs no submission's help."""
    not_here: str = ""
    """Why no target of ours can show it; such an entry is not counted."""


def load_entries(kind: Literal["exploits", "honest"]) -> tuple[Entry, ...]:
    """All submissions of a kind, by name."""
    return tuple(load_entry(path) for path in sorted((HERE / kind).glob("*/entry.yaml")))


def load_entry(path: Path) -> Entry:
    """One submission's expectation."""
    return Entry.model_validate({"name": path.parent.name, **yaml.safe_load(path.read_text())})


def load_known() -> tuple[Known, ...]:
    """Every known cheat, in the order of its number."""
    rows = yaml.safe_load((HERE / "entries.yaml").read_text())
    return tuple(sorted((Known.model_validate(row) for row in rows), key=lambda known: known.number))
