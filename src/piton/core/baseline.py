"""Versioned sets of T_baseline: what was measured, on what, for which cases; scores name the set they were computed with (D5)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from piton.core.canonical import digest
from piton.core.case import Case
from piton.core.measurement import Anchor, AnchorKind, Measurement
from piton.core.operator import Frozen, Operator

BASELINE_SCHEMA: Literal[1] = 1
LONGEST_NAME, LONGEST_VERSION = 200, 100
"""Characters."""
_SHOWN = 12
_LONGEST = 500
"""Characters of a name; tables and messages show them."""


class BaselineTime(Frozen):
    """T_baseline of one case, with all its samples."""

    operator: str
    case: str
    identity: str
    """`case_identity` of the case that was timed: with another one the time is stale."""
    time: Measurement


class BaselineSet(Frozen):
    """One file of baselines."""

    schema_version: Literal[1] = BASELINE_SCHEMA
    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    """What the set is called, such as `piton-ascend910b2-sim`; it stays, versions follow one another."""
    version: str = Field(min_length=1, max_length=LONGEST_VERSION)
    """Such as `2026-11-30.1`: the day, and a number."""
    created: str = ""
    """ISO 8601 time."""
    piton: str = ""
    """Version of Piton that wrote it."""
    suite: str = Field(max_length=_LONGEST)
    suite_version: str
    suite_digest: str
    """Of the suite as it was. What decides whether a time is stale is the identity of its case, with `suite_version` and `hardware_digest`."""
    hardware: str = Field(max_length=_LONGEST)
    hardware_digest: str
    target: str = Field(max_length=_LONGEST)
    toolchain: str = Field(max_length=_LONGEST)
    """What turned sources into times: engine, compiler, driver."""
    submission: str = Field(max_length=_LONGEST)
    """Name of the kernels that were timed."""
    submission_digest: str
    cases: tuple[BaselineTime, ...]
    failed: dict[str, str] = Field(default_factory=dict)
    """Cases (`operator/id`) that have no time, with the reason."""
    content_digest: str = ""
    """Digest of everything but itself, `created` and `piton`."""

    @model_validator(mode="after")
    def _has_each_case_once(self) -> BaselineSet:
        names = [(item.operator, item.case) for item in self.cases]
        if len(set(names)) < len(names):
            raise ValueError("a case occurs twice")
        if any(item.time.unit != "us" or item.time.value <= 0 for item in self.cases):
            raise ValueError("times are microseconds above 0")
        return self

    @property
    def title(self) -> str:
        """How scores name the set: name, version and the beginning of its digest."""
        return f"{self.name} {self.version} ({self.content_digest[:_SHOWN]})"

    def digest(self) -> str:
        """Identity of the content."""
        return digest(self.model_dump(mode="python", exclude={"created", "piton", "content_digest"}))

    def sealed(self) -> BaselineSet:
        """The same with its digest written into it."""
        return self.model_copy(update={"content_digest": self.digest()})

    def anchor(self, found: BaselineTime) -> Anchor:
        """A time of the set as the T_baseline of its case."""
        time = found.time
        return Anchor(
            kind=AnchorKind.T_BASELINE,
            value_us=time.value,
            provenance=time.provenance,
            method=f"{time.method}; baselines {self.name} {self.version}",
            version=self.title,
            interval=time.bounds,
        )


def case_identity(operator: Operator, case: Case) -> str:
    """Identity of what a call of this case is: signature, defaults and golden of the operator, and the case itself."""
    return digest([operator.model_dump(mode="python", exclude={"golden_path"}), case.digest()])
