"""What structured inputs promise, checked on the data of a case: each rule here was broken by plain random data in some benchmark.

A promise is an entry of `invariants` in rules.yaml. Every function gets the arrays in the order that the entry names them, and returns what is wrong or "".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from piton.catalog.expression import ExpressionError, Value, parse_expression
from piton.catalog.rule_forms import InvariantForm
from piton.core.case import Case
from piton.numerics.dtypes import AnyArray
from piton.numerics.inputs import Inputs

_ANGLE_TOLERANCE = 0.02
"""Of cos^2 + sin^2 around 1: bfloat16 keeps 8 bits."""


@dataclass(frozen=True)
class _Promise:
    """One entry with the numbers that it needs."""

    form: InvariantForm
    arrays: tuple[AnyArray, ...]
    names: Mapping[str, Value]

    def number(self, text: str) -> float:
        """Value of one of its formulas."""
        return float(parse_expression(text).value(self.names))


def broken_promises(case: Case, inputs: Inputs, forms: tuple[InvariantForm, ...], axes: Mapping[str, Value]) -> list[tuple[str, str]]:
    """Promises that the data of a case breaks, as (what is promised, what was found). `axes` are sizes (and texts of omitted attributes) by name."""
    names: dict[str, Value] = {**axes, **{name: value for name, value in case.attributes.items() if isinstance(value, (int, float, str))}}
    found = []
    for form in forms:
        if form.when and not parse_expression(form.when).value(names):
            continue
        arrays = tuple(array for name in form.inputs for array in _arrays(inputs.get(name)))
        if len(arrays) < len(form.inputs):
            continue  # an optional input that the case leaves out promises nothing
        try:
            wrong = _CHECKS[form.kind](_Promise(form, arrays, names))
        except ExpressionError as error:
            wrong = str(error)
        if wrong:
            found.append((f"{', '.join(form.inputs)}: {form.kind}", wrong))
    return found


def _arrays(value: AnyArray | list[AnyArray] | None) -> list[AnyArray]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _distinct(promise: _Promise) -> str:
    """Scatter and sparse-attention indices, scores of boxes: no value twice along the axis (-1 marks an empty place)."""
    array = promise.arrays[0]
    lines = array.reshape(1, -1)
    if promise.form.axis:
        axis = int(promise.number(promise.form.axis))
        lines = np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])
    ordered = np.sort(lines.astype(np.float64), axis=-1)
    again = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != -1)
    return f"{int(again.sum())} repeated values" if again.any() else ""


def _unit_circle(promise: _Promise) -> str:
    """Rotary cos and sin come from one angle."""
    cos, sin = (array.astype(np.float64) for array in promise.arrays)
    worst = float(np.abs(cos * cos + sin * sin - 1).max(initial=0.0))
    return f"cos^2 + sin^2 is off by {worst:.3g}" if not worst <= _ANGLE_TOLERANCE else ""


def _sums_to(promise: _Promise) -> str:
    """Routing counts add up to the rows that there are."""
    total, wanted = float(promise.arrays[0].astype(np.float64).sum()), promise.number(promise.form.to)
    return f"the sum is {total:g}, not {wanted:g}" if total != wanted else ""


def _monotone(promise: _Promise) -> str:
    """A group list does not decrease, and ends where the rows end."""
    values = promise.arrays[0].astype(np.float64).reshape(-1)
    if (values[1:] < values[:-1]).any():
        return "it decreases"
    wanted = promise.number(promise.form.to) if promise.form.to else None
    return f"it ends at {values[-1]:g}, not at {wanted:g}" if wanted is not None and values.size and values[-1] != wanted else ""


def _ordered_boxes(promise: _Promise) -> str:
    """Boxes [x1, y1, x2, y2] (their last four columns) have x1 <= x2 and y1 <= y2."""
    boxes = promise.arrays[0].astype(np.float64)[..., -4:]
    wrong = int(((boxes[..., 0] > boxes[..., 2]) | (boxes[..., 1] > boxes[..., 3])).sum())
    return f"{wrong} boxes with swapped corners" if wrong else ""


def _within(promise: _Promise) -> str:
    """Indices, segment ids, boxes inside the image: all values between two ends (both included)."""
    values = promise.arrays[0].astype(np.float64)
    low, high = promise.number(promise.form.low), promise.number(promise.form.high)
    wrong = int((~((values >= low) & (values <= high))).sum())
    return f"{wrong} values outside [{low:g}, {high:g}]" if wrong else ""


def _positive(promise: _Promise) -> str:
    """Quantisation scales are above 0."""
    wrong = int((~(promise.arrays[0].astype(np.float64) > 0)).sum())
    return f"{wrong} values that are not above 0" if wrong else ""


def _prefix(promise: _Promise) -> str:
    """Values of latent attention are the leading columns of its keys: one cache holds both."""
    part, whole = (array.astype(np.float64) for array in promise.arrays)
    if part.shape[:-1] != whole.shape[:-1] or part.shape[-1] > whole.shape[-1]:
        return f"shape {list(part.shape)} is no prefix of {list(whole.shape)}"
    wrong = int((~np.isclose(part, whole[..., : part.shape[-1]], rtol=0, atol=0, equal_nan=True)).sum())
    return f"{wrong} values differ" if wrong else ""


_CHECKS: dict[str, Callable[[_Promise], str]] = {
    "distinct": _distinct,
    "unit_circle": _unit_circle,
    "sums_to": _sums_to,
    "monotone": _monotone,
    "ordered_boxes": _ordered_boxes,
    "within": _within,
    "positive": _positive,
    "prefix": _prefix,
}
