"""What an operator project's host code says about itself, as the describing program prints it (include/project/piton_project/describe.h).

Problem: that program runs foreign code and may print anything. Approach: every part has a form that is checked; names become C++ and must be identifiers.
Limits: the build reads types, kinds and formats; what host code computes is asked again at every call.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*$", max_length=200)]
_Type = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w: ]*$", max_length=200)]


def folded(name: str) -> str:
    """Equal for AddCustom and add_custom."""
    return name.replace("_", "").lower()


def _require_length(what: str, found: tuple[object, ...], wanted: int) -> None:
    if len(found) != wanted:
        raise ValueError(f"{what}: found {len(found)}, expected {wanted}")


class _Described(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FieldOf(_Described):
    """A member of a tiling structure."""

    type: _Type
    name: _Name
    count: int = Field(ge=0, le=4096)


class Structure(_Described):
    """A tiling structure that macros defined."""

    title: _Name
    fields: tuple[FieldOf, ...]


class TemplateParameter(_Described):
    """A parameter of the kernel's template."""

    name: _Name
    is_type: bool


class Template(_Described):
    """Parameters and the combinations to compile; a tiling key is a place in the list."""

    parameters: tuple[TemplateParameter, ...]
    combinations: tuple[tuple[int, ...], ...]
    kernel_types: tuple[int, ...] = ()
    """On which cores each of them runs, as KernelMetaType numbers it; -1: the kernel says so itself."""

    @model_validator(mode="after")
    def _has_a_value_for_every_parameter(self) -> Template:
        for values in self.combinations:
            _require_length("values of a template combination", values, len(self.parameters))
        if self.kernel_types:
            _require_length("kernel types of template combinations", self.kernel_types, len(self.combinations))
        return self


class Parameter(_Described):
    """An input or output."""

    name: _Name
    kind: Literal["required", "optional", "dynamic"] = "required"
    takes_numbers: bool = False
    """A number, or numbers, of the call may stand for this tensor."""
    has_initial: bool = False
    """It is filled before the kernel runs."""
    is_shaped_by_kernel: bool = False
    """How large it is, is known only then."""


class Row(_Described):
    """Element types and numbers of formats of inputs and then outputs."""

    types: tuple[_Name, ...]
    formats: tuple[int, ...]


class Described(_Described):
    """One OpDef."""

    type: _Name
    file: str
    line: int
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: tuple[_Name, ...]
    rows: tuple[Row, ...]
    structure: Annotated[str, StringConstraints(pattern=r"^\w*$", max_length=200)]
    """The tiling structure registered for it; empty if there is none."""
    template: Template | None

    @model_validator(mode="after")
    def _has_a_type_and_a_format_for_every_parameter(self) -> Described:
        count = len(self.inputs) + len(self.outputs)
        for row in self.rows:
            _require_length(f"element types of {self.type}", row.types, count)
            _require_length(f"formats of {self.type}", row.formats, count)
        return self


class Project(_Described):
    """What the describing program printed."""

    operators: tuple[Described, ...]
    structures: tuple[Structure, ...]

    def find(self, operator: str) -> Described | None:
        """The definition of that name, else the only one."""
        named = [item for item in self.operators if folded(item.type) == folded(operator)]
        return named[0] if named else self.operators[0] if len(self.operators) == 1 else None
