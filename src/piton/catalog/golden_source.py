"""golden.py looked at without running it: its functions with their arguments, and seeds that are written down in it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from piton.catalog.source import read_text
from piton.core.errors import FormatError, UsageError
from piton.core.operator import AttrValue

NO_DEFAULT = object()
"""Default of an argument that has none."""
UNREADABLE = object()
"""Default that is not a plain value."""
_SEEDERS = frozenset({"manual_seed", "seed", "default_rng", "RandomState", "Random"})


@dataclass(frozen=True)
class FunctionSource:
    """One function of the module."""

    name: str
    line: int
    arguments: tuple[str, ...]
    defaults: tuple[object, ...]
    """Parallel to `arguments`: the value, NO_DEFAULT or UNREADABLE."""
    takes_any: bool
    """True with **kwargs."""


@dataclass(frozen=True)
class GoldenSource:
    """What a golden.py says about itself."""

    functions: tuple[FunctionSource, ...]
    fixed_seeds: tuple[int, ...]
    """Lines of calls such as `manual_seed(42)` whose seed is a number in the source."""
    texts: frozenset[str] = frozenset()
    """Everything in quotes."""

    def function(self, name: str) -> FunctionSource | None:
        """The function `name` at the top level, or None; of several the last, which is the one Python keeps."""
        return next((item for item in reversed(self.functions) if item.name == name), None)


def read_golden_source(path: Path) -> GoldenSource:
    """The functions in `path`. Raises FormatError with the line for a file that is not Python."""
    text = read_text(path)
    try:
        tree = ast.parse(text, str(path))
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None) or 0
        raise FormatError("golden.py is not Python", found=str(error), where=f"{path}:{line}", action="correct the file") from None
    functions = tuple(_function(node) for node in tree.body if isinstance(node, ast.FunctionDef))
    seeds = tuple(node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_fixed_seed(node))
    texts = frozenset(node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return GoldenSource(functions, seeds, texts)


@lru_cache(maxsize=256)
def taken_by(path: str, operator: str, name: str) -> Literal["definition", "inputs", "text", "kwargs", ""]:
    """Where an attribute of a case could reach the golden.py at `path`.

    As an argument of the operator's function (`definition`), of `get_input` alone (`inputs`), as a key that may be looked up (`text`, a quoted word), in the
    **kwargs of `get_input` where nobody looks it up (`kwargs`), or nowhere; nor does anything reach a file that is not Python.
    """
    try:
        source = read_golden_source(Path(path))
    except FormatError:
        return ""
    defining, drawing = source.function(operator), source.function("get_input")
    if defining is not None and name in defining.arguments:
        return "definition"
    if drawing is not None and name in drawing.arguments:
        return "inputs"
    if name in source.texts:
        return "text"
    return "kwargs" if drawing is not None and drawing.takes_any else ""


@lru_cache(maxsize=1024)
def declared_default(path: str, operator: str, name: str) -> AttrValue:
    """The default that the operator's function in the golden.py at `path` declares for argument `name`; None for one without a plain value as default."""
    try:
        function = read_golden_source(Path(path)).function(operator)
    except (FormatError, UsageError):
        return None
    if function is None or name not in function.arguments:
        return None
    value = function.defaults[function.arguments.index(name)]
    return _plain(value) if value is not NO_DEFAULT and value is not UNREADABLE else None


def _plain(value: object) -> AttrValue:
    """The form in which attributes are kept; None for a value that no attribute has."""
    if isinstance(value, (list, tuple)) and all(isinstance(item, (bool, int, float, str)) for item in value):
        return tuple(value)
    return value if isinstance(value, (bool, int, float, str)) else None


def _function(node: ast.FunctionDef) -> FunctionSource:
    parts = node.args
    positional = [*parts.posonlyargs, *parts.args]
    given: list[ast.expr | None] = [*([None] * (len(positional) - len(parts.defaults))), *parts.defaults, *parts.kw_defaults]
    names = tuple(item.arg for item in (*positional, *parts.kwonlyargs))
    return FunctionSource(node.name, node.lineno, names, tuple(_default(item) for item in given), parts.kwarg is not None)


def _default(node: ast.expr | None) -> object:
    if node is None:
        return NO_DEFAULT
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return UNREADABLE
    return value


def _is_fixed_seed(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
    return name in _SEEDERS and len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, int)
