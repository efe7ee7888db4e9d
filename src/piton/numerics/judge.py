"""From statistics to outcome: the decisions of the precision standard, without any array.

The order is: NaN positions, signs of infinities, outputs without a finite position, first screen, positions outside the unstable regions, the two regions.
"""

from __future__ import annotations

import math
from typing import Literal

from piton.core.verdict import PASSED, Cause, Outcome, outcome
from piton.numerics.integers import Difference
from piton.numerics.measure import Regions, Screen
from piton.numerics.thresholds import ERROR_RATIO, Tolerance

Profile = Literal["strict", "cann-bench"]
"""`cann-bench` is the paper to the letter; `strict` also tests the mean outside the regions, so that a uniform error of 9 tau fails (rule 3)."""


def judge_screen(name: str, screen: Screen, tolerance: Tolerance) -> Outcome | None:
    """Rules 4, 5 and 2: the outcome, or None when the regions have to decide."""
    if screen.nan_mismatches:
        text = f"output {name}: NaN on one side only at {screen.nan_mismatches} positions"
        return outcome(Cause.NAN_MISMATCH, text, output=name, positions=screen.nan_mismatches)
    if screen.sign_mismatches:
        text = f"output {name}: infinities of opposite sign at {screen.sign_mismatches} positions"
        return outcome(Cause.INF_MISMATCH, text, output=name, positions=screen.sign_mismatches)
    if screen.one_sided and not screen.finite:
        text = f"output {name}: no finite position, and infinity on one side only at {screen.one_sided} positions"
        return outcome(Cause.SPECIAL_MISMATCH, text, output=name, positions=screen.one_sided)
    is_exact = screen.worst == 0
    return PASSED if is_exact or (screen.mean < tolerance.tau and screen.worst < tolerance.max_bound) else None


def judge_regions(name: str, screen: Screen, candidate: Regions, native: Regions | None, rules: tuple[Tolerance, Profile]) -> Outcome:
    """Rule 3, for an output that failed the first screen. `native` None stands for a same-dtype run without errors."""
    tolerance, profile = rules
    outside = judge_outside(name, screen, candidate, tolerance, profile)
    if outside is not None:
        return outside
    small_native, cancel_native = (native.small_errors, native.cancel_errors) if native else (0, 0)
    if is_excess(candidate.small_errors, small_native):
        return _region_outcome(Cause.SMALL_VALUE_ERRORS, name, "small-value", (candidate.small_positions, candidate.small_errors, small_native))
    if is_excess(candidate.cancel_errors, cancel_native):
        return _region_outcome(Cause.CANCELLATION_ERRORS, name, "cancellation", (candidate.cancel_positions, candidate.cancel_errors, cancel_native))
    return PASSED


def judge_outside(name: str, screen: Screen, candidate: Regions, tolerance: Tolerance, profile: Profile) -> Outcome | None:
    """The failure that positions outside both regions are reason enough for, or None."""
    tau, bound = tolerance.tau, tolerance.max_bound
    if candidate.outside_over:
        count = candidate.outside_over
        of = f"{count} of {candidate.outside_positions} ordinary positions"
        text = f"output {name}: {of} have a relative error of {bound:.3g} or more, the largest error is {screen.worst:.3g}"
        return outcome(Cause.MAX_ERROR, text, output=name, positions=count, max_error=finite(screen.worst), max_bound=bound, tau=tau)
    if profile == "strict" and not (candidate.outside_mean < tau or candidate.outside_total == 0):
        count, mean = candidate.outside_positions, candidate.outside_mean
        text = f"output {name}: the mean relative error of {count} ordinary positions is {mean:.3g}, it has to be less than {tau:.3g}"
        return outcome(Cause.MEAN_ERROR, text, output=name, positions=count, mean_error=finite(mean), max_error=finite(screen.worst), tau=tau)
    return None


def judge_integers(name: str, difference: Difference, tolerance: float) -> Outcome:
    """Exact, or every absolute difference within the tolerance."""
    if not difference.over:
        return PASSED
    text = f"output {name}: {difference.over} positions differ by more than {tolerance:g}, up to {difference.worst}"
    return outcome(Cause.INTEGER_MISMATCH, text, output=name, positions=difference.over, worst_difference=difference.worst, tolerance=tolerance)


def is_excess(errors: int, native_errors: int) -> bool:
    """True when a region holds more than twice the errors of the same-dtype run (paper, equation 3)."""
    return errors > ERROR_RATIO * max(native_errors, 1)


def finite(value: float) -> float | str:
    """`value`, or its name when JSON has no number for it."""
    return value if math.isfinite(value) else str(value)


def _region_outcome(cause: Cause, name: str, region: str, counts: tuple[int, int, int]) -> Outcome:
    positions, errors, native_errors = counts
    text = f"output {name}: {errors} errors at {positions} {region} positions, the same-dtype run has {native_errors}; allowed is {ERROR_RATIO} times that"
    return outcome(cause, text, output=name, positions=positions, errors=errors, native_errors=native_errors)
