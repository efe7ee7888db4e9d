"""One trial run of a task's case: what went in, what came out, what it cost. On `meta` tensors first, with data where the task needs values."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from piton.core.errors import EvaluatorError
from piton.numerics.foreign.meter import Cost, Meter
from piton.numerics.foreign.task import ForeignCode, forward, silence, state_tensors

_SEED = 0


@dataclass(frozen=True)
class Form:
    """Shape and element type of a tensor."""

    shape: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True)
class Probe:
    """What one case showed."""

    case_id: str
    arguments: dict[str, Any]
    """By name: a Form, a list of Forms, or a plain value."""
    state: dict[str, Form]
    outputs: list[Any]
    """Forms, or lists of Forms for a result that is a list."""
    cost: Cost
    is_quiet: bool
    """Dropout was switched off, since the run drew random numbers with it."""
    has_values: bool
    """It ran with data: the task needs values to know shapes."""
    with_gradient: tuple[str, ...] = ()
    """Arguments that require gradients."""


def probe(code: ForeignCode, case_id: str) -> Probe:
    """Run one case. Raises EvaluatorError with the task's own line when it fails with data as well."""
    try:
        return _noisy_or_quiet(code, case_id, has_values=False)
    except EvaluatorError:
        return _noisy_or_quiet(code, case_id, has_values=True)


def _noisy_or_quiet(code: ForeignCode, case_id: str, *, has_values: bool) -> Probe:
    found = _run(code, case_id, is_quiet=False, has_values=has_values)
    if not found.cost.random:
        return found
    found = _run(code, case_id, is_quiet=True, has_values=has_values)
    if found.cost.random:
        problem = f"forward draws random numbers ({', '.join(sorted(found.cost.random))}), so that it has no golden result"
        raise EvaluatorError(problem, where=str(code.folder / code.module))
    return found


def _run(code: ForeignCode, case_id: str, *, is_quiet: bool, has_values: bool) -> Probe:
    cost = Cost()
    with _device(has_values):
        task = code.load(case_id)
        model = task.model(_SEED)
        if is_quiet:
            silence(model)
        given = task.arguments(model, _SEED)
        arguments = {name: form_of(value) for name, value in given.items()}
        state = {path: Form(tuple(value.shape), value.dtype) for path, value in state_tensors(model).items()}
        cost.add_rest(_tensors([*given.values(), *state_tensors(model).values()]))
        with task.blamed("forward"), Meter(cost):
            result = forward(model, given)
    outputs = [form_of(item) for item in flat_outputs(result)]
    cost.add_rest(_tensors(flat_outputs(result)))
    with_gradient = tuple(name for name, value in given.items() if isinstance(value, torch.Tensor) and value.requires_grad)
    return Probe(case_id, arguments, state, outputs, cost, is_quiet, has_values, with_gradient)


@contextlib.contextmanager
def _device(has_values: bool) -> Iterator[None]:
    with torch.device("cpu" if has_values else "meta"):
        yield


def form_of(value: Any) -> Any:
    """A tensor as its form, a list of tensors as a list of forms, anything else as it is."""
    if isinstance(value, torch.Tensor):
        return Form(tuple(value.shape), value.dtype)
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, torch.Tensor) for item in value):
        return [form_of(item) for item in value]
    return value


def flat_outputs(result: Any) -> list[Any]:
    """The outputs in order: nested tuples and mappings are opened, None is left out; a list of tensors stays one output."""
    if isinstance(result, list) and result and all(isinstance(item, torch.Tensor) for item in result):
        return [result]
    if isinstance(result, (list, tuple)):
        return [item for part in result for item in flat_outputs(part)]
    if isinstance(result, dict):
        return [item for part in result.values() for item in flat_outputs(part)]
    if result is None:
        return []
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return [item for part in vars(result).values() for item in flat_outputs(part)]
    return [result if isinstance(result, torch.Tensor) else torch.as_tensor(result)]


def _tensors(values: list[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        yield from (item for item in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(item, torch.Tensor))
