"""Small formulas in rules.yaml, such as `2 * H` or `high * scale <= log(largest)`: arithmetic and comparisons over names, read as data.

Problem: shapes, ranges and conditions of an operator depend on one another. Approach: a subset of Python's expressions, parsed once, checked against the
names that may occur, and walked; nothing is compiled or run. Limits: no power, no nesting beyond 32, and texts only in `==` and `!=`, so that a formula
can't run away.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Number = int | float | bool
Value = int | float | bool | str
"""What a name may stand for: a number, or the text of an attribute such as a mode."""

_MAX_LENGTH = 400
_MAX_DEPTH = 32
_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_EQUALITIES = (ast.Eq, ast.NotEq)
_FUNCTIONS: dict[str, Callable[..., Number]] = {"min": min, "max": max, "abs": abs, "log": math.log, "sqrt": math.sqrt, "ceil": math.ceil}


class ExpressionError(ValueError):
    """A formula that cannot be read, or has no value."""


@dataclass(frozen=True)
class Expression:
    """A formula and the names that it needs."""

    text: str
    names: frozenset[str]

    def value(self, names: Mapping[str, Value]) -> Number:
        """Its value, a number or a truth value. Raises ExpressionError for a name without a value, a division by zero, a logarithm of a negative number."""
        try:
            return _number(_parse(self.text), names)
        except KeyError as error:
            raise ExpressionError(f"{self.text!r} needs {error.args[0]!r}") from None
        except (ArithmeticError, ValueError, TypeError) as error:
            raise ExpressionError(f"{self.text!r} has no value: {error}") from None

    def whole(self, names: Mapping[str, Value]) -> int:
        """Its value as a whole number. Raises ExpressionError when it is none."""
        value = self.value(names)
        if not math.isfinite(value) or value != int(value):
            raise ExpressionError(f"{self.text!r} is {value}, not a whole number")
        return int(value)


def parse_expression(text: str | int | float) -> Expression:
    """The formula in `text`. Raises ExpressionError that says what is wrong."""
    words = str(text)
    tree = _parse(words)
    _check(tree, 0)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return Expression(words, frozenset(names - set(_FUNCTIONS)))


@lru_cache(maxsize=4096)
def _parse(text: str) -> ast.expr:
    if len(text) > _MAX_LENGTH:
        raise ExpressionError(f"a formula longer than {_MAX_LENGTH} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise ExpressionError(f"{text!r} is no formula: {error}") from None


def _check(node: ast.expr, depth: int) -> None:
    if depth > _MAX_DEPTH or not _is_known(node):
        raise ExpressionError(f"{ast.unparse(node)!r} is not allowed in a formula")
    is_equality = isinstance(node, ast.Compare) and all(isinstance(sign, _EQUALITIES) for sign in node.ops)
    for child in ast.iter_child_nodes(node):
        if is_equality and _is_text(child):
            continue
        if isinstance(child, ast.expr) and not (isinstance(node, ast.Call) and child is node.func):
            _check(child, depth + 1)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_known(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float))
    if isinstance(node, ast.BinOp):
        return type(node.op) in _BINARY
    if isinstance(node, ast.Compare):
        return all(type(sign) in _COMPARISONS for sign in node.ops)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords
    return isinstance(node, (ast.Name, ast.BoolOp, ast.IfExp)) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)))


def _number(node: ast.expr, names: Mapping[str, Value]) -> Number:
    """The value where a number has to stand. Raises TypeError for a text."""
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, (int, float))
        return node.value
    if isinstance(node, ast.Name):
        found = names[node.id]
        if isinstance(found, str):
            raise TypeError(f"{node.id} is the text {found!r}, which only == and != take")
        return found
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)](_number(node.left, names), _number(node.right, names))
    if isinstance(node, ast.UnaryOp):
        inner = _number(node.operand, names)
        return not inner if isinstance(node.op, ast.Not) else -inner
    return _logic(node, names)


def _logic(node: ast.expr, names: Mapping[str, Value]) -> Number:
    if isinstance(node, ast.BoolOp):
        return (all if isinstance(node.op, ast.And) else any)(_number(item, names) for item in node.values)
    if isinstance(node, ast.IfExp):
        return _number(node.body if _number(node.test, names) else node.orelse, names)
    if isinstance(node, ast.Compare):
        sides = [_side(item, names) for item in (node.left, *node.comparators)]
        return all(_COMPARISONS[type(sign)](left, right) for sign, left, right in zip(node.ops, sides, sides[1:], strict=False))
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return _FUNCTIONS[node.func.id](*(_number(item, names) for item in node.args))


def _side(node: ast.expr, names: Mapping[str, Value]) -> Any:
    """One side of a comparison: a number, or a text (which has no order: TypeError beside a number)."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return names[node.id] if isinstance(node, ast.Name) else _number(node, names)
