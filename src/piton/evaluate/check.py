"""Checking the outputs of one call against the golden: count, type, shape and layout first, then every element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from piton.core.dtype import DType
from piton.core.execution import OutputBuffer
from piton.core.operator import Operator
from piton.core.report import OutputCheck
from piton.core.verdict import Cause, Outcome, Verdict, outcome
from piton.evaluate.policy import PrecisionProfile
from piton.numerics.compare import compare_output
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import tolerance_for

_TORCH_NAMES = {DType.FLOAT8_E4M3: "float8_e4m3fn", DType.FLOAT8_E5M2: "float8_e5m2"}
"""torch's names where they differ from the suites'."""


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
    """Compare all outputs; returns the checks of those that could be compared and every outcome that is not a pass."""
    if len(outputs) != len(expected.golden):
        return [], [outcome(Cause.OUTPUT_COUNT, f"expected {len(expected.golden)} outputs, found {len(outputs)}", expected=len(expected.golden), found=len(outputs))]
    forms = [check_form(got, golden) for got, golden in zip(outputs, expected.golden, strict=True)]
    checks = [_compare(number, outputs[number], expected) for number, form in enumerate(forms) if form is None]
    failures = [form for form in forms if form is not None] + [check.outcome for check in checks if check.outcome.verdict is not Verdict.PASSED]
    return checks, failures


def check_form(got: OutputBuffer, golden: GoldenOutput) -> Outcome | None:
    """Device, type, shape and layout of one output; None when it can be compared element by element."""
    wanted = _TORCH_NAMES.get(golden.dtype, golden.dtype.value)
    name = got.name or golden.name
    if not got.is_on_device:
        return outcome(Cause.WRONG_DEVICE, f"output {name} is not on the device")
    if got.dtype_name != wanted:
        return outcome(Cause.DTYPE_MISMATCH, f"output {name}: expected {wanted}, found {got.dtype_name}", expected=wanted, found=got.dtype_name)
    if got.shape != golden.shape:
        shapes = {"expected": str(list(golden.shape)), "found": str(list(got.shape))}
        return outcome(Cause.SHAPE_MISMATCH, f"output {name}: expected shape {shapes['expected']}, found {shapes['found']}", **shapes)
    if not _is_dense(got):
        return outcome(Cause.NOT_CONTIGUOUS, f"output {name} is not contiguous: shape {list(got.shape)} with strides {list(got.strides)}")
    if got.data is None or got.data.nbytes != golden.data.nbytes:
        found = 0 if got.data is None else got.data.nbytes
        return outcome(Cause.PROTOCOL_VIOLATION, f"output {name}: {golden.data.nbytes} bytes expected, {found} found", expected_bytes=golden.data.nbytes, found_bytes=found)
    return None


def _is_dense(got: OutputBuffer) -> bool:
    if len(got.strides) != len(got.shape):
        return False
    step = 1
    for extent, stride in zip(reversed(got.shape), reversed(got.strides), strict=False):
        if extent > 1 and stride != step:
            return False
        step *= extent
    return True


def _compare(number: int, got: OutputBuffer, expected: Expectation) -> OutputCheck:
    golden = expected.golden[number]
    assert got.data is not None  # check_form has seen it
    return compare_output(
        golden.name,
        got.data,
        golden,
        tolerance_for(expected.operator, golden.name, golden.dtype),
        expected.profile,
        native=lambda: expected.native()[number],
        threads=expected.threads,
    )
