"""Load a golden.py by path and find its functions. The code is foreign: call this only inside a golden worker."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from piton.core.canonical import digest_bytes
from piton.core.errors import EvaluatorError

GoldenFunction = Callable[..., Any]


@dataclass(frozen=True)
class GoldenModule:
    """A loaded golden.py."""

    path: str
    module: ModuleType

    def function(self, name: str) -> GoldenFunction:
        """The function `name`; EvaluatorError if there is none."""
        found = getattr(self.module, name, None)
        if not callable(found):
            raise EvaluatorError(f"golden.py has no function {name}", where=self.path, action=f"define {name} with the argument names of the schema")
        return found  # type: ignore[no-any-return]  # a module attribute has no type

    def has(self, name: str) -> bool:
        """True if the module defines a function `name`."""
        return callable(getattr(self.module, name, None))

    def call(self, name: str, arguments: Mapping[str, object]) -> Any:
        """Call the function with those of `arguments` that it accepts. Whatever it raises becomes an EvaluatorError with the line it came from."""
        function = self.function(name)
        accepted = accepted_arguments(function, arguments)
        try:
            return function(**accepted)
        except (Exception, SystemExit) as error:  # golden.py is foreign code and may raise anything
            raise EvaluatorError(f"{name} raised {type(error).__name__}: {error}", where=self._line_of(error)) from error

    def _line_of(self, error: BaseException) -> str:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.path]
        return f"{self.path}:{lines[-1]}" if lines else self.path


def accepted_arguments(function: GoldenFunction, arguments: Mapping[str, object]) -> dict[str, object]:
    """The part of `arguments` that the function's signature takes (all of it with **kwargs)."""
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return dict(arguments)
    return {name: value for name, value in arguments.items() if name in parameters}


def load_golden(path: str) -> GoldenModule:
    """Execute golden.py under a module name of its own; neither sys.path nor a __pycache__ is touched. Raises EvaluatorError if it can't be loaded."""
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        raise EvaluatorError(f"golden.py can't be read: {error.strerror}", where=path) from error
    module = ModuleType(f"piton_golden_{digest_bytes(path.encode() + source)[:16]}")
    module.__file__ = path
    # Dataclasses and type hints inside the golden look their module up by name.
    sys.modules[module.__name__] = module
    golden = GoldenModule(path, module)
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:  # golden.py is foreign code and may raise anything
        raise EvaluatorError(f"golden.py can't be loaded: {type(error).__name__}: {error}", where=golden._line_of(error)) from error
    return golden
