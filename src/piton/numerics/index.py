"""Comparison of index outputs (arg_max, top_k, cummin, unique ...) by what they point at, so that ties are free but junk is not (rule 6)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from piton.core.errors import EvaluatorError
from piton.core.execution import OutputBuffer
from piton.core.report import OutputCheck
from piton.core.verdict import PASSED, Cause, Outcome, outcome
from piton.numerics.compare import output_data, unmeasured
from piton.numerics.dtypes import AnyArray, view_raw
from piton.numerics.form import wrong_form
from piton.numerics.judge import Profile
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import Tolerance

_BLOCK = 1 << 20
"""Gathered positions that are looked at together."""


@dataclass(frozen=True)
class IndexRule:
    """What an operator promises about its indices."""

    axis: int | None = None
    """Axis of the source along which the indices count; None for the flattened source."""
    is_unique: bool = False
    """No index twice along the axis (top_k)."""
    is_ordered: bool = True
    """The k-th index points at the k-th golden value; otherwise only the set of values has to agree."""
    is_prefix: bool = False
    """The index at position p is at most p (running reductions such as cummin)."""
    tolerance: float = 0.0
    """Gathered values that differ by at most this much count as equal: for operators that choose by what they compute from the source."""
    has_marks: bool = False
    """Golden indices outside the source are marks, such as one for "none": the output has to have the same number there."""


@dataclass(frozen=True)
class _Faults:
    out_of_range: int = 0
    repeated: int = 0
    ahead: int = 0
    wrong_value: int = 0

    def __add__(self, other: _Faults) -> _Faults:
        return _Faults(self.out_of_range + other.out_of_range, self.repeated + other.repeated, self.ahead + other.ahead, self.wrong_value + other.wrong_value)

    @property
    def total(self) -> int:
        return self.out_of_range + self.repeated + self.ahead + self.wrong_value


def compare_index_output(got: OutputBuffer, golden: GoldenOutput, source: AnyArray, rule: IndexRule, profile: Profile = "strict") -> OutputCheck:
    """Compare an index output by the values of `source` (the input it points into, in its own shape and dtype) that it gathers.

    The output may keep, drop or shorten the axis. Gathered values have to be equal to those of the golden's indices, NaN equal to NaN. Raises EvaluatorError
    when the golden's own indices leave the source without being marks, or the shapes do not fit together.
    """
    exact = Tolerance(0.0, 0.0)
    wrong = wrong_form(got, golden)
    if wrong is not None:
        return unmeasured(golden, exact, profile, wrong)
    faults = sum(_faults_by_block(view_raw(output_data(got, golden), golden.dtype), golden, source, rule), _Faults())
    check = unmeasured(golden, exact, profile, _judge(golden.name, faults))
    is_pass = not faults.total
    return check.model_copy(
        update={
            "mean_error": faults.total / max(golden.elements, 1),
            "max_error": 0.0 if is_pass else 1.0,
            "mismatches": faults.total,
            "finite_positions": golden.elements,
            "passed_first_screen": is_pass,
        }
    )


def _judge(name: str, faults: _Faults) -> Outcome:
    if not faults.total:
        return PASSED
    text = (
        f"output {name}: {faults.out_of_range} indices out of range, {faults.repeated} repeated, {faults.ahead} ahead of their position, "
        f"{faults.wrong_value} pointing at a wrong value"
    )
    return outcome(
        Cause.INDEX_MISMATCH,
        text,
        output=name,
        out_of_range=faults.out_of_range,
        repeated=faults.repeated,
        ahead=faults.ahead,
        wrong_value=faults.wrong_value,
    )


def _faults_by_block(flat: AnyArray, golden: GoldenOutput, source: AnyArray, rule: IndexRule) -> Iterator[_Faults]:
    values = _as_blocks(source, source.shape, rule.axis, golden.name)
    indices = _as_blocks(flat, golden.shape, rule.axis, golden.name, source.ndim)
    expected = _as_blocks(golden.array(), golden.shape, rule.axis, golden.name, source.ndim)
    if values.shape[::2] != indices.shape[::2]:
        raise EvaluatorError(f"index output {golden.name} of shape {list(golden.shape)} does not fit a source of shape {list(source.shape)}")
    outer, length, inner = values.shape
    wide = max(1, _BLOCK // max(length, 1))
    tall = max(1, wide // max(inner, 1))
    for row in range(0, outer, tall):
        for start in range(0, inner, wide):
            part = (slice(row, row + tall), slice(None), slice(start, start + wide))
            yield _faults(values[part], indices[part], expected[part], rule, golden.name)


def _as_blocks(array: AnyArray, shape: tuple[int, ...], axis: int | None, name: str, source_ndim: int | None = None) -> AnyArray:
    """The array as [outer, along the axis, inner]; a missing axis has length 1, and a source without axes is one of length 1."""
    ndim = len(shape) if source_ndim is None else source_ndim
    if axis is None or not ndim:
        return array.reshape(1, -1, 1)
    place = axis % ndim
    full = shape if len(shape) == ndim else (*shape[:place], 1, *shape[place:])
    if len(full) != ndim:
        raise EvaluatorError(f"index output {name} of shape {list(shape)} does not fit a source with {ndim} dimensions")
    return array.reshape(math.prod(full[:place]), full[place], math.prod(full[place + 1 :]))


def _faults(values: AnyArray, indices: AnyArray, expected: AnyArray, rule: IndexRule, name: str) -> _Faults:
    """Faults of one block [rows, along the axis, columns]."""
    length = values.shape[1]
    is_mark = ~_in_range(expected, length)
    if is_mark.any() and not rule.has_marks:
        raise EvaluatorError(f"the golden's own indices of output {name} leave the source")
    is_inside = _in_range(indices, length)
    is_index = is_inside & ~is_mark
    got, wanted = np.where(is_index, indices, 0).astype(np.int64), np.where(is_mark, 0, expected).astype(np.int64)
    outside = int(np.count_nonzero(~is_inside & ~is_mark))
    repeated = _count_repeated(indices, is_mark) if rule.is_unique else 0
    ahead = int(np.count_nonzero(is_index & (got > np.arange(indices.shape[1])[:, None]))) if rule.is_prefix else 0
    other_marks = int(np.count_nonzero(is_mark & (indices != expected)))
    return _Faults(outside, repeated, ahead, other_marks + _count_wrong(values, got, wanted, is_index, rule))


def _in_range(indices: AnyArray, length: int) -> NDArray[np.bool_]:
    return (indices >= 0) & (indices < length)


def _count_repeated(indices: AnyArray, is_mark: NDArray[np.bool_]) -> int:
    apart = -1 - np.arange(indices.shape[1])[:, None]
    ordered = np.sort(np.where(is_mark, apart, indices), axis=1)
    return int(np.count_nonzero(ordered[:, 1:] == ordered[:, :-1]))


def _count_wrong(values: AnyArray, got: AnyArray, expected: AnyArray, inside: NDArray[np.bool_], rule: IndexRule) -> int:
    if values.shape[1] == 0:
        return 0
    found, wanted = np.take_along_axis(values, got, axis=1), np.take_along_axis(values, expected, axis=1)
    if not rule.is_ordered:
        found, wanted = np.sort(found, axis=1), np.sort(wanted, axis=1)
        inside = np.ones_like(inside)
    # NaN is the value that differs from itself.
    is_same = (found == wanted) | ((found != found) & (wanted != wanted))
    if rule.tolerance:
        with np.errstate(invalid="ignore"):  # infinity less infinity is NaN, which is within no tolerance; equal ones are the same already
            is_same |= np.abs(found.astype(np.float64) - wanted.astype(np.float64)) <= rule.tolerance
    return int(np.count_nonzero(inside & ~is_same))
