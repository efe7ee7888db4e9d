"""A case that a person types: `x=1024x1024:float16,gamma=1024` and `epsilon=1e-5`, checked against the operator's schema.

A shape is sizes joined by `x`, or `scalar`; `none` leaves an optional tensor out; the tensors of a list are joined by `+`. After the shape may come
`:dtype` and `:low..high`, the range of its values. Without a name, shapes are in the order of the schema. A dtype that is not given is that of the first
tensor where the signature allows it, else the first of the signature.

Ranks are no part of a schema. Where the operator has rules.yaml or cases, a rank that none of them has is refused: a formula would misread it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from piton.catalog.inputs import InputsError, make_case_inputs
from piton.catalog.rule_forms import BATCH
from piton.catalog.rules import read_rules
from piton.catalog.source import show
from piton.catalog.values import parse_cell, to_attr_value
from piton.core.case import Case, CaseInput
from piton.core.errors import UsageError
from piton.core.operator import AttrSpec, AttrValue, Operator, TensorSpec

CASE_ID = "typed"
"""Id of a case that no suite has."""
_SHAPE = re.compile(r"[0-9]{1,15}(?:[x*][0-9]{1,15})*|scalar")
_RANGE = re.compile(r"(?P<low>[^.]+(?:\.\d+)?(?:e[+-]?\d+)?)\.\.(?P<high>.+)", re.IGNORECASE)
_OMITTED = ("none", "null")


@dataclass(frozen=True)
class _Typed:
    """One tensor as typed; a field is None where nothing was said."""

    shape: list[Any] | None
    dtype: str | None
    bounds: list[Any] | None
    is_omitted: bool = False


def typed_case(operator: Operator, shapes: str, attributes: Sequence[str], known: Sequence[Case], base: Case | None = None) -> Case:
    """The case that `shapes` and `attributes` (`name=value`) describe; with `base`, that case with these changes.

    `known` are cases of the operator, for ranks and examples. Raises UsageError that says which part is wrong.
    """
    typed = _tensors(operator, shapes)
    inputs, omitted = _inputs(operator, typed, base)
    for item in inputs:
        _check_rank(operator, item, known)
    values = {**_defaults(operator, base), **_attributes(operator, attributes)}
    for spec in operator.attributes:
        if spec.is_required and spec.default is None and spec.name not in values:
            raise UsageError(f"attribute {spec.name!r} has no default", expected=_example(spec, known), action=f"add --attr {spec.name}=...")
    case_id = CASE_ID if base is None else f"{base.id}, changed"
    return Case(operator=operator.name, id=case_id, inputs=inputs, attributes=values, omitted=omitted, seed=base.seed if base else 0)


def _tensors(operator: Operator, text: str) -> dict[str, _Typed]:
    made: dict[str, _Typed] = {}
    for position, entry in enumerate(part.strip() for part in text.split(",")) if text.strip() else ():
        name, has_name, rest = entry.partition("=")
        spec = _spec_named(operator, name.strip(), entry) if has_name else _spec_at(operator, position, entry)
        if spec.name in made:
            raise UsageError(f"tensor {spec.name!r} twice", expected=_schema_shapes(operator), found=show(entry), action="check --shape")
        made[spec.name] = _typed(spec, (rest if has_name else name).strip())
    return made


def _spec_named(operator: Operator, name: str, entry: str) -> TensorSpec:
    spec = next((item for item in operator.inputs if item.name == name), None)
    if spec is None:
        raise UsageError(f"{operator.name} has no tensor {show(name)!r}", expected=_schema_shapes(operator), found=show(entry), action="check --shape")
    return spec


def _spec_at(operator: Operator, position: int, entry: str) -> TensorSpec:
    if position >= len(operator.inputs):
        raise UsageError("more shapes than tensors", expected=_schema_shapes(operator), found=show(entry), action="check --shape")
    return operator.inputs[position]


def _schema_shapes(operator: Operator) -> str:
    return f"{operator.name} takes {', '.join(item.name + ('?' if item.is_optional else '') for item in operator.inputs)}"


def _typed(spec: TensorSpec, text: str) -> _Typed:
    if text.lower() in _OMITTED:
        return _Typed(None, None, None, is_omitted=True)
    shape, _, rest = text.partition(":")
    dtype, _, bounds = rest.partition(":")
    parts = shape.split("+")
    if (len(parts) > 1 and not spec.is_list) or not all(_SHAPE.fullmatch(part.strip().lower()) for part in parts):
        expected = "sizes such as 1024x33, or `scalar`, then :dtype" + ("; several tensors are joined by +" if spec.is_list else "")
        raise UsageError(f"the shape of {spec.name!r} can't be read", expected=expected, found=show(text), action="check --shape")
    sizes = [_sizes(part.strip().lower()) for part in parts]
    return _Typed(sizes if spec.is_list else sizes[0], dtype.strip() or None, _bounds(spec, bounds.strip()))


def _sizes(text: str) -> list[int]:
    return [] if text == "scalar" else [int(size) for size in re.split("[x*]", text)]


def _bounds(spec: TensorSpec, text: str) -> list[Any] | None:
    if not text:
        return None
    found = _RANGE.fullmatch(text)
    if found is None:
        raise UsageError(f"the value range of {spec.name!r} can't be read", expected="low..high", found=show(text), action="check --shape")
    return [found["low"].strip(), found["high"].strip()]


def _inputs(operator: Operator, typed: Mapping[str, _Typed], base: Case | None) -> tuple[tuple[CaseInput, ...], tuple[str, ...]]:
    """All inputs through the reader of cases, so that what is typed obeys the rules of a file."""
    given = {item.argument: item for item in base.inputs} if base else {}
    shapes: list[Any] = []
    dtypes: list[Any] = []
    ranges: list[Any] = []
    for spec in operator.inputs:
        wish = typed.get(spec.name) or _of_base(spec, base)
        shapes.append(wish.shape)
        dtypes.append(wish.dtype or (given[spec.name].dtype.value if spec.name in given else _default_dtype(operator, spec, dtypes)))
        ranges.append(wish.bounds)
    try:
        return make_case_inputs(operator, shapes, dtypes, ranges)
    except InputsError as error:
        found = "nothing" if error.found is None else show(error.found)
        raise UsageError(error.problem, expected=error.expected, found=found, action=f"check --shape: {_schema_shapes(operator)}") from None


def _of_base(spec: TensorSpec, base: Case | None) -> _Typed:
    items = [item for item in base.inputs if item.argument == spec.name] if base else []
    if not items:
        return _Typed(None, None, None, is_omitted=True)
    shapes: list[Any] = [list(item.shape) for item in items]
    return _Typed(shapes if spec.is_list else shapes[0], items[0].dtype.value, [items[0].low, items[0].high])


def _default_dtype(operator: Operator, spec: TensorSpec, before: Sequence[str]) -> str:
    first = before[0] if before else ""
    allowed = [dtype.value for dtype in spec.dtypes]
    return first if first in allowed else allowed[0]


def _check_rank(operator: Operator, item: CaseInput, known: Sequence[Case]) -> None:
    """Refuse a rank that neither a form in rules.yaml nor a known case has."""
    forms = _forms(operator, item.argument)
    seen = {len(other.shape) for case in known for other in case.inputs if other.argument == item.argument}
    rank = len(item.shape)
    if rank in seen or any(_fits(rank, form) for form in forms) or not (seen or forms):
        return
    expected = " or ".join(dict.fromkeys(f"[{', '.join(form)}]" for form in forms)) or f"{', '.join(map(str, sorted(seen)))} axes"
    raise UsageError(f"{item.argument!r} has {rank} axes", expected=expected, found=show(list(item.shape)), action="check --shape")


def _forms(operator: Operator, tensor: str) -> list[tuple[str, ...]]:
    rules = read_rules(Path(operator.golden_path).parent, operator) if operator.golden_path else None
    layouts = rules.layouts if rules else ()
    return [axes for layout in layouts for name, axes in layout.shapes if name.partition("[")[0] == tensor]


def _fits(rank: int, form: tuple[str, ...]) -> bool:
    return rank >= len(form) - 1 if BATCH in form else rank == len(form)


def _defaults(operator: Operator, base: Case | None) -> dict[str, AttrValue]:
    own = {spec.name: spec.default for spec in operator.attributes if spec.default is not None or not spec.is_required}
    return {**own, **(base.attributes if base else {})}


def _attributes(operator: Operator, given: Sequence[str]) -> dict[str, AttrValue]:
    specs = {spec.name: spec for spec in operator.attributes}
    made: dict[str, AttrValue] = {}
    for text in given:
        name, has_value, value = text.partition("=")
        if not has_value or name.strip() not in specs:
            expected = ", ".join(f"{spec.name} ({spec.type})" for spec in specs.values()) or f"{operator.name} has no attributes"
            problem = f"no attribute {show(name.strip())!r}" if has_value else "an attribute without a value"
            raise UsageError(problem, expected=expected, found=show(text), action="write --attr name=value")
        made[name.strip()] = _attribute(specs[name.strip()], value.strip())
    return made


def _attribute(spec: AttrSpec, text: str) -> AttrValue:
    try:
        return to_attr_value(spec.type, text if spec.type in ("str", "dtype") else parse_cell(text))
    except ValueError as error:
        raise UsageError(f"attribute {spec.name!r}: {error}", expected=spec.type, found=show(text), action="check --attr") from None


def _example(spec: AttrSpec, known: Sequence[Case]) -> str:
    values = (case.attributes[spec.name] for case in known if spec.name in case.attributes)
    value = next((item for item in values if item is not None), None)
    shown = list(value) if isinstance(value, tuple) else value
    return f"a value of type {spec.type}" + ("" if value is None else f", such as {shown}")
