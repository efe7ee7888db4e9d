"""Schema lines: `op(Tensor x, Tensor? y=None, *, int[] k, str s="none") -> (Tensor a, Tensor[] b)`."""

from __future__ import annotations

import re
from typing import Literal

from piton.catalog.values import parse_cell, to_attr_type, to_attr_value
from piton.core.operator import AttrType, AttrValue, Frozen

_ITEM = re.compile(r"(?P<type>[A-Za-z_]\w*(?:\([^()]*\))?(?:\[\w*\])?)(?P<optional>\?)?(?:\s+(?P<name>[A-Za-z_]\w*))?(?:\s*=\s*(?P<default>.+))?", re.DOTALL)
_TENSOR = re.compile(r"Tensor(?P<alias>\([^()]*\))?(?P<list>\[\d*\])?")
_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|.", re.DOTALL)  # a quoted text, or one character
_MAX_LENGTH = 50_000
"""Characters of a schema; the longest published one has 600, but a model with 400 weights has 20,000."""
_LINE = re.compile(r"\s*(?P<name>[A-Za-z_][\w.:]*)\s*\((?P<arguments>.*)\)\s*->\s*(?P<returns>.+?)\s*", re.DOTALL)


class Argument(Frozen):
    """One argument or result of a schema."""

    name: str
    kind: Literal["tensor", "tensor_list", "attribute"]
    attr_type: AttrType | None = None
    """Type of an attribute, None for tensors."""
    is_optional: bool = False
    """True for `?`: None may be given."""
    is_required: bool = True
    """True when there is no default."""
    default: AttrValue = None
    is_mutable: bool = False
    """True for `Tensor(a!)`: updated in place."""
    is_keyword_only: bool = False

    @property
    def is_tensor(self) -> bool:
        """True for a tensor or a list of tensors."""
        return self.kind != "attribute"


class Schema(Frozen):
    """A parsed schema line."""

    name: str
    arguments: tuple[Argument, ...]
    """In the order in which a call passes them."""
    results: tuple[Argument, ...]

    def argument(self, name: str) -> Argument | None:
        """The argument called `name`, or None."""
        return next((item for item in self.arguments if item.name == name), None)


def parse_schema(text: str) -> Schema:
    """The schema in `text`. Raises ValueError that says which part is wrong."""
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"longer than {_MAX_LENGTH} characters")
    match = _LINE.fullmatch(text)
    if match is None:
        raise ValueError("a schema looks like `name(Tensor x, int k=1) -> Tensor y`")
    arguments = _arguments(match["arguments"])
    results = tuple(_result(item, index) for index, item in enumerate(_results(match["returns"])))
    _refuse_repeats([item.name for item in arguments], "argument")
    _refuse_repeats([item.name for item in results], "result")
    return Schema(name=re.split(r"::|\.", match["name"])[-1], arguments=arguments, results=results)


def _refuse_repeats(names: list[str], what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{what} {name!r} appears twice")


def _arguments(text: str) -> tuple[Argument, ...]:
    made: list[Argument] = []
    is_keyword_only = False
    for item in _split(text):
        if item == "*":
            is_keyword_only = True
            continue
        made.append(_argument(item, is_keyword_only))
    return tuple(made)


def _results(text: str) -> list[str]:
    inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    return _split(inner)


def _split(text: str) -> list[str]:
    """Parts between the commas that lie outside brackets and quotes. Raises ValueError for unbalanced brackets and empty parts."""
    parts, depth = [""], 0
    for token in _TOKEN.findall(text):
        depth += (token in "([") - (token in ")]")
        if depth < 0:
            raise ValueError("a closing bracket without its opening one")
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    if depth:
        raise ValueError("an opening bracket without its closing one")
    stripped = [part.strip() for part in parts]
    if stripped == [""]:
        return []
    if "" in stripped:
        raise ValueError("an argument is empty (two commas, or one at the end)")
    return stripped


def _match_item(item: str) -> re.Match[str]:
    match = _ITEM.fullmatch(item)
    if match is None:
        raise ValueError(f"cannot read {item!r}")
    return match


def _argument(item: str, is_keyword_only: bool) -> Argument:
    match = _match_item(item)
    if match["name"] is None:
        raise ValueError(f"{item!r} has a type but no name")
    tensor = _TENSOR.fullmatch(match["type"])
    attr_type = None if tensor else to_attr_type(match["type"])
    return Argument(
        name=match["name"],
        kind=_kind(tensor),
        attr_type=attr_type,
        is_optional=match["optional"] is not None,
        is_required=match["default"] is None,
        default=_default(match["default"], attr_type, match["name"]),
        is_mutable=bool(tensor and tensor["alias"] and "!" in tensor["alias"]),
        is_keyword_only=is_keyword_only,
    )


def _kind(tensor: re.Match[str] | None) -> Literal["tensor", "tensor_list", "attribute"]:
    if tensor is None:
        return "attribute"
    return "tensor_list" if tensor["list"] else "tensor"


def _default(text: str | None, attr_type: AttrType | None, name: str) -> AttrValue:
    if text is None:
        return None
    value = parse_cell(text)
    if attr_type is None:
        if value is not None:
            raise ValueError(f"tensor {name!r} can only have None as default")
        return None
    return to_attr_value(attr_type, value)


def _result(item: str, index: int) -> Argument:
    match = _match_item(item)
    tensor = _TENSOR.fullmatch(match["type"])
    if tensor is None:
        raise ValueError(f"result {item!r} is not a tensor")
    return Argument(name=match["name"] or f"output{index}", kind=_kind(tensor), is_optional=match["optional"] is not None)
