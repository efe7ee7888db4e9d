"""Comparison of one output with its golden: the precision standard, rules 1 to 7.

`compare_output` first checks the form, then runs one pass over all elements (float64 in chunks, several threads). Only an output that fails the first screen is
looked at again by region, and only one whose errors lie in the unstable regions asks for the same-dtype run. docs/precision.md says the rules in words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from piton.core.errors import EvaluatorError
from piton.core.execution import OutputBuffer
from piton.core.report import OutputCheck, RegionCount, WorstPosition
from piton.core.verdict import PASSED, Outcome, Verdict
from piton.numerics.chunks import map_spans, spans
from piton.numerics.dtypes import AnyArray, view_raw
from piton.numerics.form import wrong_form
from piton.numerics.integers import absolute_difference, combine_differences, difference_chunk, effective_tolerance
from piton.numerics.judge import Profile, is_excess, judge_integers, judge_outside, judge_regions, judge_screen
from piton.numerics.measure import FloatPair, Regions, Screen, combine_regions, combine_screens, rank_chunk, regions_chunk, screen_chunk
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import Tolerance
from piton.numerics.worst import Ranked, worst_positions

NativeRun = Callable[[], GoldenOutput]
"""Computes the same output by the same-dtype run of the golden; called at most once, and only when it decides something."""


def compare_output(
    got: OutputBuffer, golden: GoldenOutput, tolerance: Tolerance, profile: Profile = "strict", native: NativeRun | None = None, threads: int = 1
) -> OutputCheck:
    """Compare what the harness found in device memory with the golden.

    `tolerance` comes from `thresholds.tolerance_for`. Without `native` a region may hold two errors, as if the same-dtype run had none. The result does not
    depend on `threads`. Integer outputs report absolute differences as errors. Raises EvaluatorError when buffer and shape disagree, or when the same-dtype
    run has another form than the golden: both would be our fault.
    """
    wrong = wrong_form(got, golden)
    if wrong is not None:
        return unmeasured(golden, tolerance, profile, wrong)
    raw = view_raw(output_data(got, golden), golden.dtype)
    job = _Job(raw, golden, tolerance, profile, native, threads)
    return _compare_floats(job) if golden.dtype.is_floating else _compare_integers(job)


def unmeasured(golden: GoldenOutput, tolerance: Tolerance, profile: Profile, wrong: Outcome) -> OutputCheck:
    """The check of an output whose values were not looked at: infinite error, and the outcome that says why."""
    return OutputCheck(
        name=golden.name,
        dtype=golden.dtype,
        elements=golden.elements,
        precision_profile=profile,
        tau=tolerance.tau,
        default_tau=tolerance.default_tau,
        mean_error=np.inf,
        max_error=np.inf,
        outcome=wrong,
    )


def output_data(got: OutputBuffer, golden: GoldenOutput) -> memoryview:
    """Bytes of an output that has the golden's form; EvaluatorError when there are more or fewer than the form asks for."""
    data = memoryview(b"") if got.data is None else got.data
    if data.nbytes != golden.data.nbytes:
        raise EvaluatorError(f"output {golden.name} came with {data.nbytes} bytes", expected=f"{golden.data.nbytes} bytes for shape {list(golden.shape)}")
    return data


@dataclass(frozen=True)
class _Job:
    """Everything one comparison needs."""

    raw: AnyArray
    golden: GoldenOutput
    tolerance: Tolerance
    profile: Profile
    native: NativeRun | None
    threads: int

    @property
    def pieces(self) -> tuple[slice, ...]:
        return spans(self.golden.elements)

    @property
    def pair(self) -> FloatPair:
        return FloatPair(self.raw, self.golden.array(), self.golden.dtype)


@dataclass(frozen=True)
class _ByRegion:
    """What the second look found."""

    outcome: Outcome
    candidate: Regions
    native: Regions | None

    def small_value(self) -> RegionCount:
        native = None if self.native is None else self.native.small_errors
        return RegionCount(positions=self.candidate.small_positions, errors=self.candidate.small_errors, native_errors=native)

    def cancellation(self) -> RegionCount:
        native = None if self.native is None else self.native.cancel_errors
        return RegionCount(positions=self.candidate.cancel_positions, errors=self.candidate.cancel_errors, native_errors=native)


def _compare_floats(job: _Job) -> OutputCheck:
    parts = map_spans(partial(screen_chunk, job.pair, bound=job.tolerance.max_bound), job.pieces, job.threads)
    screen = combine_screens(parts)
    worst = worst_positions([_rank(part) for part in parts], job.pieces, partial(rank_chunk, job.pair), job.golden.shape)
    decided = judge_screen(job.golden.name, screen, job.tolerance)
    if decided is not None:
        return _float_check(job, screen, decided, worst)
    second = _look_by_region(job, screen)
    return _float_check(job, screen, second.outcome, worst, second)


def _rank(part: Screen) -> float:
    return np.inf if part.nan_mismatches or part.sign_mismatches else part.worst


def _look_by_region(job: _Job, screen: Screen) -> _ByRegion:
    candidate = _count_regions(job, None)
    native = _count_regions(job, _native_array(job)) if _needs_native(job, screen, candidate) else None
    return _ByRegion(judge_regions(job.golden.name, screen, candidate, native, (job.tolerance, job.profile)), candidate, native)


def _count_regions(job: _Job, native: AnyArray | None) -> Regions:
    return combine_regions(map_spans(partial(regions_chunk, job.pair, tolerance=job.tolerance, native=native), job.pieces, job.threads))


def _needs_native(job: _Job, screen: Screen, candidate: Regions) -> bool:
    """The same-dtype run costs as much as a golden: ask for it only when nothing else failed and a region holds more errors than are free."""
    if job.native is None or judge_outside(job.golden.name, screen, candidate, job.tolerance, job.profile) is not None:
        return False
    return is_excess(candidate.small_errors, 0) or is_excess(candidate.cancel_errors, 0)


def _native_array(job: _Job) -> AnyArray:
    assert job.native is not None
    run = job.native()
    if (run.dtype, run.shape) != (job.golden.dtype, job.golden.shape):
        raise EvaluatorError(
            f"the same-dtype run of output {job.golden.name} has another form than the golden",
            expected=f"{job.golden.dtype.value} {list(job.golden.shape)}",
            found=f"{run.dtype.value} {list(run.shape)}",
        )
    return run.array()


def _float_check(job: _Job, screen: Screen, verdict: Outcome, worst: tuple[WorstPosition, ...], second: _ByRegion | None = None) -> OutputCheck:
    return OutputCheck(
        name=job.golden.name,
        dtype=job.golden.dtype,
        elements=job.golden.elements,
        precision_profile=job.profile,
        tau=job.tolerance.tau,
        default_tau=job.tolerance.default_tau,
        mean_error=screen.mean,
        max_error=screen.worst,
        mean_error_outside=second.candidate.outside_mean if second else None,
        small_value=second.small_value() if second else RegionCount(),
        cancellation=second.cancellation() if second else RegionCount(),
        nan_mismatches=screen.nan_mismatches,
        inf_mismatches=screen.sign_mismatches + screen.one_sided,
        mismatches=screen.over,
        finite_positions=screen.finite,
        passed_first_screen=second is None and verdict.verdict is Verdict.PASSED,
        worst=worst,
        outcome=_at_worst(verdict, job.golden, worst),
    )


def _at_worst(verdict: Outcome, golden: GoldenOutput, worst: Sequence[WorstPosition]) -> Outcome:
    """The outcome with the place of a wrong value: index of the worst position, and how many there are."""
    if verdict == PASSED or not worst:
        return verdict
    return verdict.model_copy(update={"numbers": {**verdict.numbers, "elements": golden.elements, "worst_index": str(list(worst[0].index))}})


def _compare_integers(job: _Job) -> OutputCheck:
    got, golden = job.raw, job.golden.array()
    tolerance = effective_tolerance(job.tolerance.tau, job.golden.dtype)
    parts = map_spans(partial(difference_chunk, got, golden, tolerance=tolerance), job.pieces, job.threads)
    difference = combine_differences(parts)
    verdict = judge_integers(job.golden.name, difference, tolerance)
    worst = worst_positions([float(part.worst) for part in parts], job.pieces, partial(_rank_integers, got, golden), job.golden.shape)
    return OutputCheck(
        name=job.golden.name,
        dtype=job.golden.dtype,
        elements=job.golden.elements,
        precision_profile=job.profile,
        tau=tolerance,
        default_tau=job.tolerance.default_tau,
        mean_error=difference.total / max(job.golden.elements, 1),
        max_error=float(difference.worst),
        mismatches=difference.over,
        finite_positions=job.golden.elements,
        passed_first_screen=verdict.verdict is Verdict.PASSED,
        worst=worst,
        outcome=_at_worst(verdict, job.golden, worst),
    )


def _rank_integers(got: AnyArray, golden: AnyArray, span: slice) -> Ranked:
    """Positions of an integer output ranked by absolute difference; `relative_error` of an integer's worst positions therefore holds that difference."""
    return got[span], golden[span], absolute_difference(got[span], golden[span]).astype(np.float64)
