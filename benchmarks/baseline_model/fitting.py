"""Fits of non-negative constants to times that span four orders of magnitude, and what they predict for operators that were left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_FIRST_STEP = 1.0
_LAST_STEP = 0.01
"""Logarithms of the factors by which a constant is tried larger and smaller; halved when no such change helps any more."""
_MOST_ROUNDS = 100
_START = 1.0
_SPARK = 0.02
"""A constant that is 0 is tried at this much times the step."""


def fit(terms: Array, measured: Array, start: Array | None = None) -> Array:
    """Constants c >= 0 that make the mean of |log(terms @ c / measured)| small: terms [rows, constants], measured [rows].

    The absolute value of the logarithm counts a factor of two above and below alike, whatever the size of the case, and is not led by a few far outliers. The
    search changes one constant at a time, in an order that is always the same: no random numbers, the same result everywhere.
    """
    constants = np.full(terms.shape[1], _START) if start is None else start.copy()
    step, rounds = _FIRST_STEP, 0
    while step >= _LAST_STEP and rounds < _MOST_ROUNDS:
        rounds += 1
        improved = [_improve(constants, index, terms, measured, step) for index in range(len(constants))]
        if not any(improved):
            step /= 2
    return constants


def _improve(constants: Array, index: int, terms: Array, measured: Array, step: float) -> bool:
    """Change one constant in place if that helps; returns whether it did."""
    best, found = cost(terms @ constants, measured), constants[index]
    for tried in _tries(found, step):
        changed = terms @ constants + (tried - constants[index]) * terms[:, index]
        if changed.min() > 0 and cost(changed, measured) < best - 1e-9:
            best, found = cost(changed, measured), tried
    is_better = bool(found != constants[index])
    constants[index] = found
    return is_better


def _tries(value: float, step: float) -> tuple[float, ...]:
    return (value * np.exp(step), value * np.exp(-step), 0.0) if value > 0 else (_SPARK * step,)


def cost(modelled: Array, measured: Array) -> float:
    """Mean of |log(modelled / measured)|."""
    return float(np.abs(np.log(modelled / measured)).mean())


Fit = Callable[[NDArray[np.bool_]], Array]
"""Constants from the rows that a mask chooses."""


def leave_one_out(terms: Array, measured: Array, operators: Sequence[str], fit_rows: Fit | None = None) -> Array:
    """What every row is predicted to take by constants that were fitted without any row of its operator."""
    names, predicted = np.array(operators), np.empty(len(measured))
    for name in sorted(set(operators)):
        left_out = names == name
        constants = fit_rows(~left_out) if fit_rows else fit(terms[~left_out], measured[~left_out])
        predicted[left_out] = terms[left_out] @ constants
    return predicted


def leave_one_out_ratio(t_hw: Array, measured: Array, operators: Sequence[str]) -> Array:
    """The same for k * T_HW, k being the median of the other operators' ratios."""
    names, predicted = np.array(operators), np.empty(len(measured))
    for name in sorted(set(operators)):
        left_out = names == name
        predicted[left_out] = np.median(measured[~left_out] / t_hw[~left_out]) * t_hw[left_out]
    return predicted


def errors(modelled: Array, measured: Array) -> Array:
    """|modelled / measured - 1| of every row."""
    found: Array = np.abs(modelled / measured - 1)
    return found


def band(modelled: Array, measured: Array, operators: Sequence[str], outside: float) -> tuple[float, float]:
    """The `outside` and 1 - `outside` quantiles of measured / modelled, every operator with the same weight whatever its number of rows."""
    names = np.array(operators)
    weights = np.array([1.0 / np.count_nonzero(names == name) for name in operators])
    ratios = measured / modelled
    order = np.argsort(ratios, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    low, high = (float(ratios[order][np.searchsorted(reached, share)]) for share in (outside, 1 - outside))
    return low, high
