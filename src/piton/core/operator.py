"""Operator: the signature, attributes and thresholds of one function to implement."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from piton.core.canonical import digest, once
from piton.core.dtype import DType

AttrType = Literal["int", "float", "bool", "str", "int_list", "float_list", "bool_list", "str_list", "dtype"]
"""The controlled vocabulary of attribute types; catalog maps every published spelling onto it."""

AttrScalar = bool | int | float | str | None

AttrValue = AttrScalar | tuple[AttrScalar, ...] | tuple[tuple[AttrScalar, ...], ...]
"""Value of an attribute; lists are tuples so that data stays frozen."""


class Frozen(BaseModel):
    """Base of every frozen record of the vocabulary."""

    # A report holds infinities and NaN (worst positions, errors that were not measured); pydantic's default would write null, which can't be read back.
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class TensorSpec(Frozen):
    """One input or output in an operator's signature."""

    name: str
    dtypes: tuple[DType, ...]
    """Allowed element types, in the order of proto.yaml."""
    is_optional: bool = False
    is_list: bool = False
    is_mutable: bool = False
    """True for an input that the operator updates in place."""
    indexes: str = ""
    """For an index output: name of the input whose values it points at."""
    index_axis: str = ""
    """For an index output: name of the attribute that says along which axis the indices count; empty for the flattened input."""
    index_is_unique: bool = False
    """For an index output: no index occurs twice along the axis (top_k)."""
    index_is_ordered: bool = True
    """For an index output: the k-th index points at the k-th golden value; otherwise only the set of values has to agree."""
    index_is_prefix: bool = False
    """For an index output: the index at position p is at most p (running reductions such as cummin)."""
    index_axis_number: int | None = None
    """For an index output: the axis itself, where it is always the same one."""
    index_tolerance: float = 0.0
    """For an index output: values pointed at that differ by at most this much count as equal."""
    index_has_marks: bool = False
    """For an index output: numbers outside the input are marks, such as one for "none", and have to be equal."""
    description: str = ""


class AttrSpec(Frozen):
    """One attribute in an operator's signature."""

    name: str
    type: AttrType
    default: AttrValue = None
    is_required: bool = False
    """True when the schema gives no default."""
    description: str = ""


class Operator(Frozen):
    """Signature and rules of one operator; its golden stays a file that only golden workers load."""

    name: str
    """snake_case name: the folder, the schema's function, the golden's function."""
    title: str
    """CamelCase name of cases.csv and proto.yaml."""
    level: int
    category: str
    schema_text: str
    """PyTorch-style schema line, such as `exp(Tensor x, float base=-1.0) -> Tensor y`."""
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    attributes: tuple[AttrSpec, ...] = ()
    thresholds: dict[DType, float] = Field(default_factory=dict)
    """Per-dtype tau that replaces the default one, or an absolute tolerance for integers (precision standard, rule 7)."""
    golden_path: str = ""
    """Path of golden.py; code, run only in a golden worker."""
    golden_digest: str = ""
    """SHA-256 of golden.py, part of every golden cache key."""
    draws_own_inputs: bool = False
    """True when golden.py draws every input itself (a task of another benchmark): value ranges of its cases are not known."""

    @once
    def digest(self) -> str:
        """Identity of everything that decides data and rules: all but the place of golden.py, whose content counts."""
        return digest(self.model_dump(mode="python", exclude={"golden_path"}))
