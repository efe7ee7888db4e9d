"""A foreign task that is loaded: its model, and the arguments of `forward` for one of its cases, all from a seed."""

from __future__ import annotations

import contextlib
import inspect
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from piton.core.errors import EvaluatorError
from piton.core.foreign import TaskForm
from piton.numerics.foreign.modules import line_of, load_module
from piton.numerics.foreign.rows import read_rows

CASES = "cases"
"""Folder of a GROUPS task with one folder per case, each with the case's JSON line under the file's own name."""
PREPARE, TABLE = "prepare_inputs.py", "test_cases.csv"
_BOOKKEEPING = "num_batches_tracked"
"""A counter of batch normalisation that no output depends on."""
_MODEL_STREAM = 1
"""Added to the seed for the inputs, so that they are not the numbers that the weights were drawn from."""


@dataclass(frozen=True)
class ForeignCode:
    """Where a task's files lie, and how it is run."""

    folder: Path
    form: TaskForm
    module: str
    sizes: Mapping[str, int]
    """Module-level sizes that replace the task's own."""

    def case_ids(self) -> tuple[str, ...]:
        """Ids of the cases: "1", "2" and so on."""
        if self.form is TaskForm.MODULE:
            return ("1",)
        count = len(read_rows(self.folder / TABLE)) if self.form is TaskForm.TABLE else len(list((self.folder / CASES).iterdir()))
        return tuple(str(number) for number in range(1, count + 1))

    def load(self, case_id: str) -> LoadedTask:
        """The task, ready for one case. Raises EvaluatorError."""
        place = self.folder / CASES / case_id / self.module if self.form is TaskForm.GROUPS else None
        module = load_module(self.folder / self.module, place=place, sizes=self.sizes)
        prepare = load_module(self.folder / PREPARE) if self.form is TaskForm.TABLE else module
        row = read_rows(self.folder / TABLE)[int(case_id) - 1] if self.form is TaskForm.TABLE else None
        return LoadedTask(self, module, prepare, row)


@dataclass(frozen=True)
class LoadedTask:
    """A task's code in this process."""

    code: ForeignCode
    module: ModuleType
    prepare: ModuleType
    """Where the input functions are."""
    row: dict[str, Any] | None
    """The case's row of a TABLE task."""

    def model(self, seed: int) -> torch.nn.Module:
        """The model for the case, its parameters drawn from `seed`."""
        seed_all(seed)
        with self.blamed("the model"):
            given = self._call("get_init_inputs") if self._has("get_init_inputs") else []
            made = self.module.Model(**given) if isinstance(given, dict) else self.module.Model(*_as_list(given))
        if not isinstance(made, torch.nn.Module):
            raise EvaluatorError("Model is no torch.nn.Module", found=type(made).__name__, where=self.where)
        return made

    def arguments(self, model: torch.nn.Module, seed: int) -> dict[str, Any]:
        """Arguments of `forward` by name, drawn from `seed`."""
        seed_all(seed + _MODEL_STREAM)
        with self.blamed("the inputs"):
            values = self._group() if self.code.form is TaskForm.GROUPS else self._call("get_inputs")
        if isinstance(values, dict):
            return dict(values)
        return dict(zip(argument_names(model, len(_as_list(values))), _as_list(values), strict=True))

    @property
    def where(self) -> str:
        """File of the module."""
        return str(self.module.__file__)

    def _group(self) -> Any:
        groups = self.module.get_input_groups()
        if not isinstance(groups, (list, tuple)) or len(groups) != 1:
            raise EvaluatorError("one JSON line gives more than one group of inputs", where=self.where)
        return groups[0]

    def _has(self, name: str) -> bool:
        return callable(getattr(self.prepare, name, None))

    def _call(self, name: str) -> Any:
        function = getattr(self.prepare, name, None)
        if not callable(function):
            raise EvaluatorError(f"the task has no function {name}", where=self.where)
        return function() if self.row is None else function(dict(self.row), device=None)

    @contextlib.contextmanager
    def blamed(self, what: str) -> Iterator[None]:
        """Whatever foreign code raises becomes an EvaluatorError with its line."""
        try:
            yield
        except EvaluatorError:
            raise
        except (Exception, SystemExit) as error:  # foreign code may raise anything
            where = line_of(error, self.where)
            raise EvaluatorError(f"{what} of the task raised {type(error).__name__}: {str(error)[:500]}", where=where) from error


def argument_names(model: torch.nn.Module, count: int) -> tuple[str, ...]:
    """Names of the first `count` arguments of `forward`; `*args` become `<name>0`, `<name>1` ... Raises EvaluatorError when it takes fewer."""
    parameters = list(inspect.signature(model.forward).parameters.values())
    plain = [item.name for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
    rest = next((item.name for item in parameters if item.kind is item.VAR_POSITIONAL), None)
    names = plain[:count]
    if len(names) < count and rest is not None:
        names += [f"{rest}{index}" for index in range(count - len(names))]
    if len(names) != count:
        raise EvaluatorError("the inputs do not fit forward", expected=f"at most {len(names)}", found=str(count))
    return tuple(names)


def forward(model: torch.nn.Module, arguments: Mapping[str, Any]) -> Any:
    """Call the model with arguments in the order of `argument_names`, without gradients."""
    with torch.no_grad():
        return model(*arguments.values())


def state_tensors(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Everything the model's results may depend on: parameters, buffers, and plain tensor attributes of its modules, by path."""
    found = {name: value.detach() for name, value in model.named_parameters()}
    found |= {name: value.detach() for name, value in model.named_buffers() if not name.endswith(_BOOKKEEPING)}
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found[f"{prefix}.{name}" if prefix else name] = value.detach()
    return found


def install(model: torch.nn.Module, path: str, value: torch.Tensor) -> None:
    """Put a tensor in the place of a parameter, buffer or tensor attribute."""
    prefix, _, name = path.rpartition(".")
    module = model.get_submodule(prefix)
    if name in module._parameters:
        module._parameters[name] = torch.nn.Parameter(value, requires_grad=False)
    elif name in module._buffers:
        module._buffers[name] = value
    else:
        setattr(module, name, value)


def silence(model: torch.nn.Module) -> None:
    """Switch dropout off and nothing else: batch normalisation goes on to use the batch, as the benchmarks run it."""
    model.training = False  # functional dropout asks the module it is called in
    for module in model.modules():
        if isinstance(module, (torch.nn.modules.dropout._DropoutNd, torch.nn.RNNBase, torch.nn.MultiheadAttention)):
            module.eval()


def seed_all(seed: int) -> None:
    """Seed every generator that a task may draw from."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % (1 << 32))


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
