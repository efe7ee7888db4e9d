"""Suite: a named, versioned set of operators with their public cases."""

from __future__ import annotations

from pydantic import Field

from piton.core.canonical import digest
from piton.core.case import Case
from piton.core.operator import Frozen, Operator


class SuiteOperator(Frozen):
    """An operator together with its public cases in their published order."""

    operator: Operator
    cases: tuple[Case, ...]
    remarks: tuple[str, ...] = ()
    """What a reader of results has to know about it: a foreign task that was scaled, dropout switched off."""


class Suite(Frozen):
    """A named, versioned set of operators; `version` enters every seed."""

    name: str
    version: str
    root: str = ""
    """Folder the suite was read from."""
    is_foreign: bool = False
    """True when golden.py comes from outside Piton and has to be trusted by name (D1)."""
    memory_ceiling_bytes: int = 0
    """Most memory that the golden run of one case may be estimated to need; 0 where the suite states none."""
    hidden: str = ""
    """Name of the hidden set (id of its key and number of cases) when the cases are hidden ones, else empty."""
    members: tuple[SuiteOperator, ...]
    left_out: dict[str, str] = Field(default_factory=dict)
    """Operators of the folder that are not among the members, with the reason."""

    def member(self, operator: str) -> SuiteOperator | None:
        """The member named `operator`, or None."""
        return next((member for member in self.members if member.operator.name == operator), None)

    def digest(self) -> str:
        """Identity of signatures, cases and goldens; the folder it lies in does not count."""
        content = [(item.operator.model_dump(mode="python", exclude={"golden_path"}), [case.digest() for case in item.cases]) for item in self.members]
        return digest([self.name, self.version, content, *([self.hidden] if self.hidden else [])])
