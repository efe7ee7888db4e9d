"""The golden of a described task: what the generated golden.py consists of.

`get_input` draws the task's own inputs and the model's state from a seed; `forward` builds the model again, puts the state it is given in place, and runs it in
the precision of what it is given. Model and inputs are drawn in float32, or whatever the task says, and widened afterwards: both runs see the same numbers.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from piton.core.errors import EvaluatorError
from piton.core.foreign import TaskPlan
from piton.numerics.foreign.probe import flat_outputs
from piton.numerics.foreign.task import ForeignCode, forward, install, silence, state_tensors

PLAN = "plan.json"
TASK = "task"
"""Folder of the task's own files, beside golden.py."""


class ForeignGolden:
    """The functions of one golden.py."""

    def __init__(self, golden: str) -> None:
        folder = Path(golden).parent
        self._plan = TaskPlan.model_validate_json((folder / PLAN).read_text())
        sizes = {name: item.after for item in self._plan.scaled for name in item.names}
        self._code = ForeignCode(folder / TASK, self._plan.form, self._plan.module, sizes)
        self.forward = _Forward(self)

    def get_input(self, case_id: str, seed: int) -> dict[str, Any]:
        """Every tensor of the case by the name of its input."""
        task = self._code.load(case_id)
        model = task.model(seed)
        given = task.arguments(model, seed)
        tensors = {name: _plain(value) for name, value in given.items() if _holds_tensors(value)}
        state = state_tensors(model)
        return {**tensors, **{item.argument: state[item.path].clone() for item in self._plan.state if item.path in state}}

    def run(self, case_id: str, values: dict[str, Any]) -> Any:
        """Outputs of the model in the order of the operator's."""
        is_wide = any(_is_wide(value) for value in values.values())
        task = self._code.load(case_id)
        model = task.model(0)
        if self._plan.is_quiet:
            silence(model)
        if is_wide:
            model = model.double()
        for item in self._plan.state:
            if values.get(item.argument) is not None:
                install(model, item.path, values[item.argument])
        arguments = {name: self._argument(name, values.get(name)) for name in self._plan.arguments}
        with task.blamed("forward"), _default_dtype(is_wide):
            outputs = flat_outputs(forward(model, arguments))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def signature(self) -> inspect.Signature:
        """Arguments, state and the case's id, all by name."""
        names = [*self._plan.arguments, *(item.argument for item in self._plan.state), "case_id"]
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names])

    def _argument(self, name: str, value: Any) -> Any:
        if self._plan.attributes.get(name) == "dtype" and value is not None:
            return getattr(torch, value)
        if name in self._plan.with_gradient and isinstance(value, torch.Tensor):
            return value.requires_grad_()
        return value


class _Forward:
    """The operator's function, with a signature that is known only from the plan."""

    def __init__(self, golden: ForeignGolden) -> None:
        self._golden = golden
        self.__signature__ = golden.signature()

    def __call__(self, *, case_id: str, **values: Any) -> Any:
        return self._golden.run(case_id, values)


def _holds_tensors(value: Any) -> bool:
    return isinstance(value, torch.Tensor) or (isinstance(value, (list, tuple)) and bool(value) and isinstance(value[0], torch.Tensor))


def _plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach()
    return [item.detach() for item in value]


def _is_wide(value: Any) -> bool:
    tensors = value if isinstance(value, list) else [value]
    return any(isinstance(item, torch.Tensor) and item.dtype is torch.float64 for item in tensors)


@contextlib.contextmanager
def _default_dtype(is_wide: bool) -> Iterator[None]:
    """Tensors that forward makes itself are as wide as the rest."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64 if is_wide else before)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def make_golden(path: str) -> ForeignGolden:
    """The golden beside the plan in the folder of `path`. Raises EvaluatorError when the plan is damaged."""
    try:
        return ForeignGolden(path)
    except (OSError, ValueError) as error:
        raise EvaluatorError("the plan of a foreign task is damaged", where=str(Path(path).parent / PLAN), action="delete that folder") from error
