"""Estimators behind the metrics: "at least one of k samples" without bias, and intervals by resampling tasks. Pure functions of numbers.

Sources: the survey "Automatic Kernel Generation with Large Language Models", section 4.5, equations 2, 3, 5 and 6; for the interval Rao and Wu, "Resampling
inference with complex survey data", J. Am. Stat. Assoc. 83 (1988).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 4000
"""Of one interval; the ends of a 95 % interval then vary by about 2 % of its width from seed to seed."""
CONFIDENCE = 0.95


def pass_at_k(n: int, c: int, k: int) -> float:
    """1 - C(n-c, k) / C(n, k): the chance that k of n samples, drawn without replacement, hold one of the c good ones (equation 2).

    Written as a product, so that no factorial overflows. Raises ValueError unless 0 <= c <= n and 1 <= k <= n.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass@k needs 0 <= c <= n and 1 <= k <= n: n {n}, c {c}, k {k}")
    if n - c < k:
        return 1.0
    return 1.0 - math.prod((n - c - step) / (n - step) for step in range(k))


def at_least_one(chances: Sequence[float], k: int) -> float:
    """Mean over all k-subsets of 1 - product of (1 - chance): the chance that one of k samples is good, when sample j is good with chance j.

    With chances of 0 and 1 this is `pass_at_k`; a chance in between is a trajectory of which a share of the turns is good. The mean of the products is an
    elementary symmetric polynomial over C(n, k), built up sample by sample with all intermediate values in [0, 1]. Raises ValueError unless 1 <= k <= n.
    """
    if not 1 <= k <= len(chances):
        raise ValueError(f"a subset needs 1 <= k <= n: n {len(chances)}, k {k}")
    means = [1.0] + [0.0] * k  # of products over all subsets of each size of the samples seen so far
    for seen, chance in enumerate(chances, 1):
        for size in range(min(seen, k), 0, -1):
            means[size] = (means[size] * (seen - size) + (1.0 - chance) * means[size - 1] * size) / seen
    return 1.0 - means[k]


def first_k(chances: Sequence[float], k: int) -> float:
    """The same for the first k samples alone, as equation 6 is written. Raises ValueError unless 1 <= k <= n."""
    if not 1 <= k <= len(chances):
        raise ValueError(f"the first k samples need 1 <= k <= n: n {len(chances)}, k {k}")
    return 1.0 - math.prod(1.0 - chance for chance in chances[:k])


@dataclass(frozen=True)
class Interval:
    """Ends of an interval for a mean."""

    low: float
    high: float


def interval_of_mean(values: Sequence[float], strata: Sequence[object], seed: int) -> Interval | None:
    """95 % percentile interval of the mean over tasks, from resamples inside strata (levels); None where nothing can be said.

    From a stratum of m tasks m - 1 are drawn with replacement (Rao and Wu), which gives the variance of its mean without the bias that m draws have for
    few tasks. Strata of one task have no spread of their own and are pooled. None for fewer than two tasks, and where the values of every stratum are equal:
    then the resamples are too, and an interval of no width would promise what the data does not.
    """
    if len(values) != len(strata):
        raise ValueError(f"every value needs its stratum: {len(values)} values, {len(strata)} strata")
    groups = _groups(values, strata) if len(values) > 1 else []
    if all(max(group) == min(group) for group in groups):
        return None
    generator = np.random.RandomState(seed)  # its stream is frozen for ever, that of newer generators is not
    total = np.zeros(RESAMPLES)
    for group in groups:
        drawn = generator.randint(0, len(group), size=(RESAMPLES, max(len(group) - 1, 1)))
        total += np.asarray(group)[drawn].mean(axis=1) * len(group)
    tail = (1.0 - CONFIDENCE) / 2
    low, high = np.quantile(total / len(values), (tail, 1.0 - tail))
    return Interval(float(low), float(high))


def _groups(values: Sequence[float], strata: Sequence[object]) -> list[list[float]]:
    """Values by stratum, those that are alone together; a single one that is left joins the first group."""
    by_stratum: dict[object, list[float]] = {}
    for value, stratum in zip(values, strata, strict=True):
        by_stratum.setdefault(stratum, []).append(value)
    groups = [group for group in by_stratum.values() if len(group) > 1]
    alone = [group[0] for group in by_stratum.values() if len(group) == 1]
    if len(alone) > 1:
        groups.append(alone)
    elif alone:
        groups[0].extend(alone)
    return groups
