"""Load a foreign module with some of its module-level sizes replaced; vendor packages that are not here become stubs that fail when they are called."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from piton.core.errors import EvaluatorError

ABSENT = ("torch_npu", "kernel_gen_ops", "framework")
"""Packages that tasks import for the device half of their own harness; a golden on the CPU does not call them."""

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Mult: lambda a, b: a * b,
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.FloorDiv: lambda a, b: a // b if b else 0,
}
_MOST_POWER = 63


def module_sizes(source: str) -> dict[tuple[str, ...], int]:
    """Positive whole numbers that single module-level assignments give to names, by the names that share the assignment.

    `N = 2048 * 2` is a size, and so is `height = width = 64` (one size with two names); `shape = (64, 128)` is two, `shape[0]` and `shape[1]`. A name that is
    assigned twice, or computed from others, is none.
    """
    body = ast.parse(source).body
    stored = [item.id for statement in body for item in _own_nodes(statement) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)]
    numbers = [(names, _number(value)) for statement in body for names, value in _assigned(statement)]
    return {names: value for names, value in numbers if value is not None and value > 0 and all(stored.count(plain(name)) == 1 for name in names)}


def plain(name: str) -> str:
    """The variable that a size belongs to: `shape` for `shape[0]`."""
    return name.partition("[")[0]


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The statement's nodes, unless it opens a scope of its own."""
    return iter(()) if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else ast.walk(statement)


def _assigned(statement: ast.stmt) -> list[tuple[tuple[str, ...], ast.expr]]:
    """The names and values of an assignment; `a, b = 1, 2` is two of them, and so is `shape = (64, 128)`."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
        return [((statement.target.id,), statement.value)]
    if not isinstance(statement, ast.Assign):
        return []
    if all(isinstance(target, ast.Name) for target in statement.targets):
        names = tuple(target.id for target in statement.targets if isinstance(target, ast.Name))
        if isinstance(statement.value, (ast.Tuple, ast.List)):
            return [(tuple(f"{name}[{index}]" for name in names), value) for index, value in enumerate(statement.value.elts)]
        return [(names, statement.value)]
    target = statement.targets[0]
    if len(statement.targets) == 1 and isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
        pairs = zip(target.elts, statement.value.elts, strict=False)
        return [((name.id,), value) for name, value in pairs if isinstance(name, ast.Name)]
    return []


def _number(value: ast.expr) -> int | None:
    if isinstance(value, ast.Constant):
        return value.value if type(value.value) is int else None
    if isinstance(value, ast.BinOp):
        left, right = _number(value.left), _number(value.right)
        if left is None or right is None:
            return None
        if isinstance(value.op, ast.Pow):
            return int(left**right) if 0 <= right <= _MOST_POWER and abs(left) <= _MOST_POWER else None
        operator = _OPERATORS.get(type(value.op))
        return None if operator is None else operator(left, right)
    return None


def names_used(source: str, function: str) -> set[str]:
    """Every name that the module-level function reads, and those read by module-level assignments to these."""
    tree = ast.parse(source)
    body = next((item for item in tree.body if isinstance(item, ast.FunctionDef) and item.name == function), None)
    used = _names(body) if body is not None else set()
    for statement in reversed(tree.body):
        for names, value in _assigned(statement):
            if used & set(map(plain, names)):
                used |= _names(value)
    return used


def _names(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def load_module(path: Path, *, place: Path | None = None, sizes: Mapping[str, int] | None = None) -> ModuleType:
    """Execute the module at `path` as if it lay at `place`, with `sizes` for these module-level names. Raises EvaluatorError for whatever goes wrong."""
    shown = str(place or path)
    try:
        tree = _replace(ast.parse(path.read_text(encoding="utf-8-sig")), sizes or {})
        code = compile(ast.fix_missing_locations(tree), shown, "exec")
    except (OSError, SyntaxError, ValueError) as error:
        raise EvaluatorError(f"the task can't be read: {error}", where=shown) from error
    module = ModuleType(f"piton_foreign_{path.stem}")
    module.__file__ = shown
    sys.modules[module.__name__] = module  # dataclasses and type hints look their module up by name
    with_stubs()
    try:
        exec(code, module.__dict__)
    except (Exception, SystemExit) as error:  # foreign code may raise anything
        raise EvaluatorError(f"the task can't be loaded: {type(error).__name__}: {error}", where=line_of(error, shown)) from error
    return module


def line_of(error: BaseException, path: str) -> str:
    """`path:line` of the innermost frame of that file."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"{path}:{lines[-1]}" if lines else path


def _replace(tree: ast.Module, sizes: Mapping[str, int]) -> ast.Module:
    for statement in tree.body:
        for names, value in _assigned(statement):
            if names[0] in sizes and _number(value) is not None:
                _put(statement, value, ast.copy_location(ast.Constant(sizes[names[0]]), value))
    return tree


def _put(statement: ast.stmt, old: ast.expr, new: ast.expr) -> None:
    if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Tuple, ast.List)) and statement.value is not old:
        statement.value.elts = [new if item is old else item for item in statement.value.elts]
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        statement.value = new


class _Absent(ModuleType):
    """A package that is not installed: it can be imported from, and what was imported fails when it is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _AbsentThing(f"{self.__name__}.{name}")


class _AbsentThing:
    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_: object, **__: object) -> Any:
        raise EvaluatorError(f"the task calls {self._name}, which is not there on a CPU")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _AbsentThing(f"{self._name}.{name}")


class _AbsentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        del path, target
        is_absent = fullname.split(".")[0] in ABSENT
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if is_absent else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = _Absent(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: ModuleType) -> None:
        del module


def with_stubs() -> None:
    """Let absent packages be imported in this process; an installed one goes first."""
    if not any(isinstance(finder, _AbsentFinder) for finder in sys.meta_path):
        sys.meta_path.append(_AbsentFinder())
