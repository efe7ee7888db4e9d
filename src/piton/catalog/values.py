"""Spellings of values: table cells, special numbers, element types, attribute types and attribute values."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable
from typing import Any

from piton.catalog.source import MAX_INT_BITS
from piton.core.dtype import DType
from piton.core.operator import AttrType, AttrValue

_NAMES: dict[str, object] = {
    "none": None,
    "null": None,
    "true": True,
    "false": False,
    "nan": math.nan,
    "inf": math.inf,
    "infinity": math.inf,
}
"""Bare words of JSON, Python and the number formats, lower case."""

_DTYPE_ALIASES = {
    "fp16": "float16",
    "half": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "float": "float32",
    "fp64": "float64",
    "double": "float64",
    "float8_e4m3fn": "float8_e4m3",
    "fp8_e4m3": "float8_e4m3",
    "fp8_e4m3fn": "float8_e4m3",
    "fp8_e5m2": "float8_e5m2",
    "float8_e8m0fnu": "float8_e8m0",
    "fp8_e8m0": "float8_e8m0",
    "hif8": "hifloat8",
    "hif32": "hifloat32",
    "float4_e2m1fn": "float4_e2m1",
    "float4_e2m1fn_x2": "float4_e2m1",
    "fp4_e2m1": "float4_e2m1",
    "fp4x2_e2m1": "float4_e2m1",
    "int": "int32",
    "long": "int64",
    "short": "int16",
}

_SCALAR_TYPES: dict[str, AttrType] = {
    **dict.fromkeys(("int", "long", "symint", "int8", "int16", "int32", "int64", "int8_t", "int16_t", "int32_t", "int64_t", "uint32", "uint64"), "int"),
    **dict.fromkeys(("float", "double", "float32", "float64", "scalar", "number"), "float"),
    **dict.fromkeys(("bool", "boolean"), "bool"),
    **dict.fromkeys(("str", "string"), "str"),
    **dict.fromkeys(("dtype", "scalartype"), "dtype"),
}
_LIST_TYPES: dict[AttrType, AttrType] = {"int": "int_list", "float": "float_list", "bool": "bool_list", "str": "str_list"}
_LIST_PATTERNS = tuple(
    re.compile(pattern) for pattern in (r"(?:list|tuple|vector)[\[<(](\w+)(?:,\.\.\.)?[\])>]", r"(\w+)\[\d*\]", r"list_?(\w+)", r"(\w+?)_?list")
)
"""List[int], int[2], ListInt, IntList."""


def parse_cell(text: str) -> Any:
    """Value of a table cell in JSON or as a Python literal, with bare nan, inf, null, true, None and their other spellings.

    Tuples become lists. Raises ValueError that says what is wrong.
    """
    try:
        with warnings.catch_warnings():  # an odd escape in a text is the file's business, not a warning about our code
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval")
        return _literal(tree.body)
    except SyntaxError as error:
        raise ValueError(f"{error.msg} at character {error.offset or 0}") from None
    except (RecursionError, MemoryError):  # what CPython's parser raises for thousands of nested brackets
        raise ValueError("nested too deeply") from None


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, bool, type(None))):
        if isinstance(node.value, int) and node.value.bit_length() > MAX_INT_BITS:
            raise ValueError("a whole number beyond the range of float64")
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {_key(key): _literal(value) for key, value in zip(node.keys, node.values, strict=True)}
    if isinstance(node, ast.Name) and node.id.lower() in _NAMES:
        return _NAMES[node.id.lower()]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return _signed(node)
    raise ValueError(f"{type(node).__name__.lower()} is not a plain value")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError("a mapping needs names in quotes as keys")


def _signed(node: ast.UnaryOp) -> int | float:
    value = _literal(node.operand)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("a sign belongs to a number")
    return -value if isinstance(node.op, ast.USub) else value


def to_number(value: object) -> float:
    """A number, or the text of one including `inf`, `-inf` and `nan`. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError("not a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("beyond the range of float64") from None


def to_dtype(value: object) -> DType:
    """Element type by its name or a common alias (`fp16`, `torch.float16`). Raises ValueError."""
    if not isinstance(value, str):
        raise ValueError("not the name of an element type")
    name = value.strip().lower().removeprefix("torch.")
    return DType(_DTYPE_ALIASES.get(name, name))


def to_attr_type(spelling: str) -> AttrType:
    """One of the controlled types for any published spelling (`Int`, `int64_t`, `ListInt`, `List[int]`, `int[]`, `String`). Raises ValueError."""
    text = re.sub(r"\s", "", spelling).lower().rstrip("?")
    if text in _SCALAR_TYPES:
        return _SCALAR_TYPES[text]
    for pattern in _LIST_PATTERNS:
        match = pattern.fullmatch(text)
        if match and match[1] in _SCALAR_TYPES and _SCALAR_TYPES[match[1]] in _LIST_TYPES:
            return _LIST_TYPES[_SCALAR_TYPES[match[1]]]
    raise ValueError(f"unknown attribute type {spelling!r}")


def to_attr_value(kind: AttrType, value: object) -> AttrValue:
    """`value` as an attribute of type `kind`; None stays None (not given). Numbers may come as text (`1e-8` is text in YAML 1.1). Raises ValueError."""
    if value is None:
        return None
    if kind.endswith("_list"):
        return _to_list(kind, value)
    return _CONVERTERS[kind](value)


def _to_list(kind: AttrType, value: object) -> AttrValue:
    if not isinstance(value, (list, tuple)):
        raise ValueError("not a list")
    return tuple(_CONVERTERS[kind.removesuffix("_list")](item) for item in value)


def _to_int(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        number = to_number(value)
        if not math.isfinite(number) or number != int(number):
            raise ValueError("not a whole number")
        value = int(number)
    if not -(2**63) <= value < 2**63:
        raise ValueError("beyond the range of int64")
    return value


def _to_bool(value: object) -> bool:
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if isinstance(value, bool) or value in (0, 1):
        return bool(value)
    raise ValueError("not true or false")


def _to_str(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("not a text; put it in quotes")
    return value


_CONVERTERS: dict[str, Callable[[object], int | float | bool | str]] = {
    "int": _to_int,
    "float": to_number,
    "bool": _to_bool,
    "str": _to_str,
    "dtype": _to_str,
}
