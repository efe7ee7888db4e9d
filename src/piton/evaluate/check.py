"""Checking the outputs of one call against the golden: their number here, form and every element in `piton.numerics`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from piton.core.case import Case
from piton.core.errors import EvaluatorError
from piton.core.execution import OutputBuffer
from piton.core.operator import Operator, TensorSpec
from piton.core.report import OutputCheck
from piton.core.verdict import Cause, Outcome, Verdict, outcome
from piton.evaluate.arguments import all_attributes
from piton.evaluate.golden_service import TensorData
from piton.evaluate.policy import PrecisionProfile
from piton.numerics.compare import compare_output
from piton.numerics.dtypes import AnyArray, view_raw
from piton.numerics.index import IndexRule, compare_index_output
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import tolerance_for


@dataclass(frozen=True)
class Expectation:
    """What the outputs of a case have to be."""

    operator: Operator
    case: Case
    inputs: tuple[TensorData, ...]
    """What index outputs point into."""
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
    spec = next((item for item in expected.operator.outputs if item.name == golden.name), None)
    if spec is not None and spec.indexes:
        return compare_index_output(got, golden, _source(spec.indexes, expected), index_rule(spec, expected), expected.profile)
    tolerance = tolerance_for(expected.operator, golden.name, golden.dtype)
    return compare_output(got, golden, tolerance, expected.profile, lambda: expected.native()[number], expected.threads)


def index_rule(spec: TensorSpec, expected: Expectation) -> IndexRule:
    """What the case promises about an index output: the axis that it or its attribute names, of the flattened input where there is none."""
    axis = all_attributes(expected.operator, expected.case).get(spec.index_axis, spec.index_axis_number)
    return IndexRule(
        axis=axis if isinstance(axis, int) else None,
        is_unique=spec.index_is_unique,
        is_ordered=spec.index_is_ordered,
        is_prefix=spec.index_is_prefix,
        tolerance=spec.index_tolerance,
        has_marks=spec.index_has_marks,
    )


def _source(name: str, expected: Expectation) -> AnyArray:
    """The input that index outputs point into. Raises EvaluatorError when the case has none of that name: a mistake of the suite."""
    found = next((item for item in expected.inputs if item.tensor.name == name), None)
    if found is None:
        raise EvaluatorError(f"index output of {expected.operator.name} points into {name}, which case {expected.case.id} does not have")
    return view_raw(found.data, found.tensor.dtype).reshape(found.tensor.shape)
