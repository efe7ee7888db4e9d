"""proto.yaml: an operator's signature, checked against its own schema line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from piton.catalog.schema import Argument, Schema, parse_schema
from piton.catalog.source import Form, Loc, Located, check_form, read_yaml
from piton.catalog.values import to_attr_type, to_attr_value, to_dtype, to_number
from piton.core.canonical import digest_bytes
from piton.core.dtype import DType
from piton.core.errors import FormatError
from piton.core.operator import AttrSpec, AttrValue, Frozen, Operator, TensorSpec


class IndexGatherForm(Form):
    """How an index output is checked in the published format."""

    input: str = ""
    dim_attr: str = ""
    unique: bool = False
    """Ours, as are the next two: no index twice along the axis."""
    ordered: bool = True
    prefix: bool = False
    axis: int | None = None
    """Ours, as are the next two: the axis, where no attribute holds it."""
    tolerance: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    marks: bool = False


class TensorForm(Form):
    """One entry of `inputs` or `outputs`."""

    name: str
    dtype: tuple[str, ...] | str
    description: str | None = ""
    shape: Any = None
    """For people."""
    optional: bool = False
    is_list: bool = False
    compare: bool = True
    """False in published files for outputs that their checker skips; Piton compares every output."""
    index_gather: IndexGatherForm | None = None


class AttrForm(Form):
    """One entry of `attrs`."""

    name: str
    type: str
    default: Any = None
    required: bool | None = None
    """For people: the schema's default decides."""
    description: str | None = ""


class DegenerateForm(Form):
    """A case that cannot reject some impostors, with a sibling that does (ours; see docs/formats.md)."""

    case: str
    impostors: tuple[str, ...]
    sibling: str
    reason: str


class OperatorForm(Form):
    """The `operator` mapping."""

    name: str
    schema_text: str = Field(alias="schema")
    category: str = ""
    difficulty: str = ""
    formula: str | None = ""
    description: str | None = ""
    shape_support: Any = None
    note: Any = None
    inputs: tuple[TensorForm, ...]
    outputs: tuple[TensorForm, ...]
    attrs: tuple[AttrForm, ...] | None = None
    precision_thresholds: dict[str, Any] | None = None
    degenerate: tuple[DegenerateForm, ...] = ()


class Degenerate(Frozen):
    """One listed exception of the rule that every case rejects every impostor."""

    case: str
    impostors: tuple[str, ...]
    """Names of impostors, such as `zeros` or `constant` (numerics.impostors)."""
    sibling: str
    """A case of the same dtype that rejects them."""
    reason: str


class Proto(Frozen):
    """What a proto.yaml says."""

    operator: Operator
    degenerate: tuple[Degenerate, ...] = ()


_LEVEL_DIGITS = 3
_ROOT: Loc = ("operator",)


def read_proto(folder: Path, *, level: int | None = None, is_strict: bool = False) -> Proto:
    """The operator in `folder` (proto.yaml beside golden.py).

    `level` is the one its place in the tree implies; without it `difficulty: L<n>` counts. Raises FormatError with file and line.
    """
    located = read_yaml(folder / "proto.yaml")
    if not isinstance(located.data, dict) or "operator" not in located.data:
        located.refuse("no operator here", expected="a mapping with the key `operator`", found=located.data)
    form = check_form(OperatorForm, located, _ROOT, is_strict=is_strict)
    schema = _schema(form, located)
    golden = _golden(folder)
    operator = Operator(
        name=schema.name,
        title=form.name,
        level=_level(form, located) if level is None else level,
        category=form.category,
        schema_text=form.schema_text,
        inputs=_inputs(form, schema, located),
        outputs=_outputs(form, schema, located),
        attributes=_attributes(form, schema, located),
        thresholds=_thresholds(form, located),
        golden_path=str(golden),
        golden_digest=digest_bytes(golden.read_bytes()),
    )
    return Proto(operator=operator, degenerate=tuple(Degenerate(**item.model_dump(include=set(Degenerate.model_fields))) for item in form.degenerate))


def _golden(folder: Path) -> Path:
    golden = folder / "golden.py"
    if not golden.is_file():
        raise FormatError("an operator without golden.py", expected="golden.py beside proto.yaml", where=str(folder), action="add the defining code")
    return golden


def _schema(form: OperatorForm, located: Located) -> Schema:
    try:
        return parse_schema(form.schema_text)
    except ValueError as error:
        located.refuse(f"schema cannot be read: {error}", (*_ROOT, "schema"), expected="name(Tensor x, int k=1) -> Tensor y", found=form.schema_text)


def _level(form: OperatorForm, located: Located) -> int:
    digits = form.difficulty.strip().upper().removeprefix("L")
    if not digits.isascii() or not digits.isdigit() or len(digits) > _LEVEL_DIGITS:
        located.refuse("no level", (*_ROOT, "difficulty"), expected="L1, L2, ... or a folder named level<n>", found=form.difficulty)
    return int(digits)


def _inputs(form: OperatorForm, schema: Schema, located: Located) -> tuple[TensorSpec, ...]:
    given_by_value = {item.name for item in form.attrs or ()}
    tensors = [item for item in schema.arguments if item.is_tensor and item.name not in given_by_value]
    _same_names("inputs", [item.name for item in form.inputs], [item.name for item in tensors], located)
    return tuple(_tensor(("inputs", index), item, tensors[index], located) for index, item in enumerate(form.inputs))


def _outputs(form: OperatorForm, schema: Schema, located: Located) -> tuple[TensorSpec, ...]:
    _same_names("outputs", [item.name for item in form.outputs], [item.name for item in schema.results], located)
    return tuple(_tensor(("outputs", index), item, schema.results[index], located) for index, item in enumerate(form.outputs))


def _same_names(key: str, listed: list[str], declared: list[str], located: Located) -> None:
    if listed != declared:
        located.refuse(f"{key} and schema differ", (*_ROOT, key), expected=f"{', '.join(declared) or 'none'} (schema)", found=", ".join(listed) or "none")


def _tensor(loc: Loc, form: TensorForm, argument: Argument, located: Located) -> TensorSpec:
    names = (form.dtype,) if isinstance(form.dtype, str) else form.dtype
    gather = form.index_gather or IndexGatherForm()
    return TensorSpec(
        name=form.name,
        dtypes=tuple(_dtype(name, (*_ROOT, *loc, "dtype"), located) for name in names),
        is_optional=form.optional or argument.is_optional,
        is_list=form.is_list or argument.kind == "tensor_list",
        is_mutable=argument.is_mutable,
        indexes=gather.input,
        index_axis=gather.dim_attr,
        index_is_unique=gather.unique,
        index_is_ordered=gather.ordered,
        index_is_prefix=gather.prefix,
        index_axis_number=gather.axis,
        index_tolerance=gather.tolerance,
        index_has_marks=gather.marks,
        description=form.description or "",
    )


def _dtype(name: str, loc: Loc, located: Located) -> DType:
    try:
        return to_dtype(name)
    except ValueError:
        located.refuse("unknown element type", loc, expected=", ".join(item.value for item in DType), found=name)


def _attributes(form: OperatorForm, schema: Schema, located: Located) -> tuple[AttrSpec, ...]:
    listed = {item.name: index for index, item in enumerate(form.attrs or ())}
    declared = [item.name for item in schema.arguments if not item.is_tensor or item.name in listed]
    if sorted(listed) != sorted(declared) or len(form.attrs or ()) != len(listed):
        located.refuse("attrs and schema differ", (*_ROOT, "attrs"), expected=f"{', '.join(declared) or 'none'} (schema)", found=", ".join(listed) or "none")
    forms = form.attrs or ()
    return tuple(_attribute(forms[listed[item.name]], item, (*_ROOT, "attrs", listed[item.name]), located) for item in schema.arguments if item.name in listed)


def _attribute(form: AttrForm, argument: Argument, loc: Loc, located: Located) -> AttrSpec:
    if argument.attr_type is None:  # a tensor whose values the cases give as a list (published: group_list)
        return AttrSpec(name=form.name, type="int_list", is_required=True, description=form.description or "")
    try:
        listed = to_attr_type(form.type)
    except ValueError as error:
        located.refuse(str(error), (*loc, "type"), expected="int, float, bool, str, dtype or a list of them", found=form.type)
    if listed != argument.attr_type:
        located.refuse(f"type of {form.name} and schema differ", (*loc, "type"), expected=f"{argument.attr_type} (schema)", found=listed)
    default = _default(form, argument, loc, located)
    return AttrSpec(name=form.name, type=listed, default=default, is_required=argument.is_required, description=form.description or "")


def _default(form: AttrForm, argument: Argument, loc: Loc, located: Located) -> AttrValue:
    """The schema's default; the listed one must not contradict it, and stands in where the schema has none."""
    assert argument.attr_type is not None
    try:
        listed = to_attr_value(argument.attr_type, form.default)
    except ValueError as error:
        located.refuse(f"default of {form.name}: {error}", (*loc, "default"), expected=argument.attr_type, found=form.default)
    if argument.is_required or listed == argument.default:
        return listed
    if "default" in form.model_fields_set:
        located.refuse(f"default of {form.name} and schema differ", (*loc, "default"), expected=f"{argument.default!r} (schema)", found=listed)
    return argument.default


def _thresholds(form: OperatorForm, located: Located) -> dict[DType, float]:
    made: dict[DType, float] = {}
    for name, value in (form.precision_thresholds or {}).items():
        loc = (*_ROOT, "precision_thresholds", name)
        try:
            bound = to_number(value)
        except ValueError as error:
            located.refuse(f"threshold: {error}", loc, expected="a number of at least 0", found=value)
        if not 0 <= bound < float("inf"):
            located.refuse("threshold out of range", loc, expected="a number of at least 0", found=value)
        made[_dtype(name, loc, located)] = bound
    return made
