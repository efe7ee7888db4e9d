"""Checking the outputs of one call against the golden: their number here, form and every element in `piton.numerics`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from piton.core.execution import OutputBuffer
from piton.core.operator import Operator
from piton.core.report import OutputCheck
from piton.core.verdict import Cause, Outcome, Verdict, outcome
from piton.evaluate.policy import PrecisionProfile
from piton.numerics.compare import compare_output
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import tolerance_for


@dataclass(frozen=True)
class Expectation:
    """What the outputs of a case have to be."""

    operator: Operator
    golden: tuple[GoldenOutput, ...]
    native: Callable[[], tuple[GoldenOutput, ...]]
    """Same-dtype run, computed only when a first screen fails."""
    profile: PrecisionProfile
    threads: int


def check_outputs(outputs: Sequence[OutputBuffer], expected: Expectation) -> tuple[list[OutputCheck], list[Outcome]]:
    """Compare all outputs; returns the checks and every outcome that is not a pass."""
    wanted = len(expected.golden)
    if len(outputs) != wanted:
        return [], [outcome(Cause.OUTPUT_COUNT, f"expected {wanted} outputs, found {len(outputs)}", expected=wanted, found=len(outputs))]
    checks = [_compare(number, got, expected) for number, got in enumerate(outputs)]
    return checks, [check.outcome for check in checks if check.outcome.verdict is not Verdict.PASSED]


def _compare(number: int, got: OutputBuffer, expected: Expectation) -> OutputCheck:
    golden = expected.golden[number]
    tolerance = tolerance_for(expected.operator, golden.name, golden.dtype)
    return compare_output(got, golden, tolerance, expected.profile, lambda: expected.native()[number], expected.threads)
