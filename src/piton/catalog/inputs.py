"""The three parallel lists of a case (shapes, dtypes, value ranges), in all their nestings, as CaseInputs."""

from __future__ import annotations

import math
from typing import Any

from piton.catalog.values import to_dtype, to_number
from piton.core.case import CaseInput
from piton.core.dtype import DType
from piton.core.operator import Operator, TensorSpec

MAX_RANK = 16
"""Dimensions of a tensor; the store of goldens keeps no more."""
MAX_SIZE = 2**40
"""Of one dimension: more than any memory holds."""
DEFAULT_RANGE = (-1.0, 1.0)
"""Value range of a present input whose range is null or not given."""


class InputsError(ValueError):
    """The lists do not fit the operator; what was expected and found."""

    def __init__(self, problem: str, expected: str, found: object) -> None:
        super().__init__(problem)
        self.problem, self.expected, self.found = problem, expected, found


def make_case_inputs(operator: Operator, shapes: list[Any], dtypes: list[Any], ranges: list[Any] | None) -> tuple[tuple[CaseInput, ...], tuple[str, ...]]:
    """Inputs in the order of the signature, and the names of optional ones left out.

    The lists are parallel to `operator.inputs`; null entries, and entries missing at the end, leave an optional input out. A single dtype is for all.
    Raises InputsError.
    """
    specs = operator.inputs
    if len(shapes) > len(specs) or len(dtypes) not in (1, len(shapes)):
        raise InputsError("number of inputs", f"at most {len(specs)} shapes, and one dtype or as many", f"{len(shapes)} shapes, {len(dtypes)} dtypes")
    kinds = dtypes if len(dtypes) == len(shapes) else dtypes * len(shapes)
    spread = _spread(ranges, shapes)
    made: list[CaseInput] = []
    omitted: list[str] = []
    for index, spec in enumerate(specs):
        if index >= len(shapes) or shapes[index] is None:
            omitted.append(_omit(spec))
        else:
            made.extend(_argument(spec, shapes[index], kinds[index], spread[index]))
    return tuple(made), tuple(omitted)


def _omit(spec: TensorSpec) -> str:
    if not spec.is_optional:
        raise InputsError(f"input {spec.name!r} is not given", "a shape (only optional inputs may be null)", None)
    return spec.name


def _spread(ranges: list[Any] | None, shapes: list[Any]) -> list[Any]:
    """One range entry per shape. A flat pair, or a list of one entry, is for all; a list may also have entries for the present inputs only."""
    if ranges is None or _is_pair(ranges):
        return [ranges] * len(shapes)
    if len(ranges) == len(shapes):
        return ranges
    if len(ranges) == 1:
        return ranges * len(shapes)
    present = sum(shape is not None for shape in shapes)
    if len(ranges) != present:
        raise InputsError("number of value ranges", f"one [low, high], or {len(shapes)} of them", ranges)
    entries = iter(ranges)
    return [None if shape is None else next(entries) for shape in shapes]


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(item, (int, float, str)) and not isinstance(item, bool) for item in value)


def _argument(spec: TensorSpec, shape: Any, dtype: Any, bounds: Any) -> list[CaseInput]:
    if not spec.is_list:
        return [_input(spec, None, shape, dtype, bounds)]
    if not isinstance(shape, list) or not all(isinstance(item, list) for item in shape):
        raise InputsError(f"shapes of list input {spec.name!r}", "a list of shapes", shape)
    kinds = _per_element(dtype, len(shape), f"dtypes of {spec.name!r}")
    ranges = [bounds] * len(shape) if _is_pair(bounds) else _per_element(bounds, len(shape), f"value ranges of {spec.name!r}")
    return [_input(spec, index, item, kinds[index], ranges[index]) for index, item in enumerate(shape)]


def _per_element(value: Any, count: int, what: str) -> list[Any]:
    """One entry per element of a tensor list: a plain value or a list of one is for all."""
    if not isinstance(value, list):
        return [value] * count
    if len(value) not in (1, count):
        raise InputsError(what, f"one, or {count}", value)
    return value if len(value) == count else value * count


def _input(spec: TensorSpec, index: int | None, shape: Any, dtype: Any, bounds: Any) -> CaseInput:
    low, high = _bounds(spec, bounds)
    return CaseInput(argument=spec.name, shape=_shape(spec, shape), dtype=_dtype(spec, dtype), low=low, high=high, list_index=index)


def _shape(spec: TensorSpec, shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, list) or not all(isinstance(size, int) and not isinstance(size, bool) and 0 <= size <= MAX_SIZE for size in shape):
        raise InputsError(f"shape of {spec.name!r}", f"a list of sizes, whole numbers from 0 to {MAX_SIZE}", shape)
    if len(shape) > MAX_RANK:
        raise InputsError(f"shape of {spec.name!r}", f"at most {MAX_RANK} dimensions", shape)
    return tuple(shape)


def _dtype(spec: TensorSpec, dtype: Any) -> DType:
    expected = ", ".join(item.value for item in spec.dtypes)
    try:
        made = to_dtype(dtype)
    except ValueError:
        raise InputsError(f"dtype of {spec.name!r}", expected, dtype) from None
    if made not in spec.dtypes:
        raise InputsError(f"dtype of {spec.name!r} is not in the signature", expected, dtype)
    return made


def _bounds(spec: TensorSpec, bounds: Any) -> tuple[float, float]:
    if bounds is None:
        return DEFAULT_RANGE
    what, expected = f"value range of {spec.name!r}", "[low, high] with low <= high; inf, -inf and nan are allowed"
    if not _is_pair(bounds):
        raise InputsError(what, expected, bounds)
    try:
        low, high = to_number(bounds[0]), to_number(bounds[1])
    except ValueError:
        raise InputsError(what, expected, bounds) from None
    if not (low <= high or math.isnan(low) or math.isnan(high)):
        raise InputsError(what, expected, bounds)
    return low, high
