"""The models that are compared, each as columns whose non-negative combination is a time, and each judged on operators that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import fitting
import numpy as np
from fitting import Array
from rows import Row

_FOLDS = 5
_SEED, _DRAWS = 0, 2000
_NEEDED = ("launch", "traffic inside L2", "traffic beyond L2")
"""Terms of every model that the choice of terms may make."""
_LAUNCH_RATES = (0.4, 0.8, 1.6)
_LAUNCH_FLOORS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""TB/s and microseconds that the composition of single launches is tried with."""


@dataclass(frozen=True)
class Judged:
    """What one model predicts for one platform, every operator left out in turn."""

    model: str
    platform: str
    rows: tuple[Row, ...]
    modelled_us: Array

    @property
    def measured_us(self) -> Array:
        """Times of the rows."""
        return measured(self.rows)

    @property
    def median_error(self) -> float:
        """Median of |modelled / measured - 1|."""
        return float(np.median(fitting.errors(self.modelled_us, self.measured_us)))

    @property
    def spread(self) -> tuple[float, float]:
        """Where the median error lies in nine of ten draws of as many operators, with repetition: what another set of operators might have given."""
        names, errors = np.array([row.operator for row in self.rows]), fitting.errors(self.modelled_us, self.measured_us)
        groups = [errors[names == name] for name in sorted(set(names))]
        draw = np.random.default_rng(_SEED)
        medians = [np.median(np.concatenate([groups[place] for place in draw.integers(len(groups), size=len(groups))])) for _ in range(_DRAWS)]
        low, high = np.quantile(medians, [0.05, 0.95])
        return float(low), float(high)


def measured(rows: Sequence[Row]) -> Array:
    """Measured times."""
    return np.array([row.measured_us for row in rows])


def terms(rows: Sequence[Row]) -> Array:
    """The terms of the model, [rows, constants]."""
    return np.array([list(row.terms.values()) for row in rows])


def fit_constants(rows: Sequence[Row]) -> Array:
    """All constants, in the order of the terms.

    Those of traces are fitted to the rows that have one. That of lane instructions is what the same fit gives for it when every row is priced from its work
    formula: the few rows without a trace could not tell it.
    """
    labels = list(rows[0].terms)
    traced, known = [row for row in rows if row.origin == "trace"], [row for row in rows if row.formula_terms]
    place = labels.index("instructions")
    others = [column for column in range(len(labels)) if column != place]
    constants = np.zeros(len(labels))
    constants[others] = fitting.fit(terms(traced)[:, others], measured(traced))
    by_formula = np.array([list(row.formula_terms.values()) for row in known if row.formula_terms])
    used = [column for column in range(len(labels)) if by_formula[:, column].any()]
    constants[place] = fitting.fit(by_formula[:, used], measured(known))[used.index(place)]
    return constants


def judge_all(platform: str, rows: Sequence[Row]) -> list[Judged]:
    """The naive rules, the composition of launches, and the model."""
    times, names = measured(rows), [row.operator for row in rows]
    t_hw = np.array([row.t_hw_us for row in rows])
    found = {
        "k x T_HW": fitting.leave_one_out_ratio(t_hw, times, names),
        "a + b x T_HW": fitting.leave_one_out(np.column_stack([np.ones(len(rows)), t_hw]), times, names),
        "sum over launches": _composition(rows),
        "the model": fitting.leave_one_out(terms(rows), times, names, lambda chosen: fit_constants(_chosen(rows, chosen))),
    }
    return [Judged(name, platform, tuple(rows), predicted) for name, predicted in found.items()]


def _chosen(rows: Sequence[Row], mask: np.ndarray) -> list[Row]:
    return [row for row, is_chosen in zip(rows, mask, strict=True) if is_chosen]


def _composition(rows: Sequence[Row]) -> Array:
    """Sum over the launches of max(floor, bytes / rate), floor and rate being the best for the other operators. Rows without a trace count as one launch."""
    times, names = measured(rows), np.array([row.operator for row in rows])
    tried = [np.array([_launches_us(row, floor, rate) for row in rows]) for floor in _LAUNCH_FLOORS for rate in _LAUNCH_RATES]
    predicted = np.empty(len(rows))
    for name in sorted(set(names)):
        left_out = names == name
        best = min(tried, key=lambda column: fitting.cost(column[~left_out], times[~left_out]))
        predicted[left_out] = best[left_out]
    return predicted


def _launches_us(row: Row, floor_us: float, rate_tb_s: float) -> float:
    return sum(count * max(floor_us, moved * 1e-6 / rate_tb_s) for count, moved in row.launches) or floor_us


def judge_nested(platform: str, rows: Sequence[Row]) -> Judged:
    """The model when even the choice of its terms is made without the operator that is left out: by the errors on the others, in five groups of operators.

    Only rows with a trace.
    """
    rows = [row for row in rows if row.origin == "trace"]
    names = np.array([row.operator for row in rows])
    times, columns, labels = measured(rows), terms(rows), list(rows[0].terms)
    predicted = np.empty(len(rows))
    for name in sorted(set(names)):
        left_out = names == name
        kept = _best_terms(columns[~left_out], times[~left_out], names[~left_out], labels)
        predicted[left_out] = columns[left_out][:, kept] @ fitting.fit(columns[~left_out][:, kept], times[~left_out])
    return Judged("the model, terms chosen inside", platform, tuple(rows), predicted)


def _best_terms(columns: Array, times: Array, names: np.ndarray, labels: list[str]) -> list[int]:
    groups = {name: place % _FOLDS for place, name in enumerate(sorted(set(names)))}
    fold = np.array([groups[name] for name in names])
    needed = [labels.index(name) for name in _NEEDED]
    free = [place for place, label in enumerate(labels) if label not in (*_NEEDED, "instructions")]
    choices = [sorted([*needed, *extra]) for extra in chain.from_iterable(combinations(free, size) for size in range(len(free) + 1))]
    return min(choices, key=lambda kept: _grouped_cost(columns[:, kept], times, fold))


def _grouped_cost(columns: Array, times: Array, fold: np.ndarray) -> float:
    predicted = np.empty(len(times))
    for number in range(_FOLDS):
        predicted[fold == number] = columns[fold == number] @ fitting.fit(columns[fold != number], times[fold != number])
    return float(np.median(fitting.errors(predicted, times)))
