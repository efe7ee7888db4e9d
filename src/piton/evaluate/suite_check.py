"""Is a suite usable here? Each golden runs in float64 and in its own precision, and the second is judged by the first like a submission's output."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from piton.core.case import Case
from piton.core.errors import EvaluatorError
from piton.core.operator import Frozen, Operator
from piton.core.suite import Suite, SuiteOperator
from piton.core.verdict import PASSED, Outcome, Verdict
from piton.evaluate.cache import TensorStore
from piton.evaluate.check import Expectation, check_outputs
from piton.evaluate.golden_service import CaseData, GoldenService, GoldenSettings
from piton.evaluate.memory import MemoryGuard, available_bytes
from piton.evaluate.policy import Bounds
from piton.numerics.impostors import as_output
from piton.numerics.tensors import GoldenOutput


class CaseCheck(Frozen):
    """What became of one case."""

    operator: str
    case: str
    is_run: bool
    """Both runs came to an end."""
    outcome: Outcome
    """Of the same-dtype run, judged as a submission would be; passed where there was no run to judge."""
    error: str
    """Why there was none."""
    golden_bytes: int
    """Inputs and outputs together."""
    seconds: float
    """Wall-clock, both runs; results of earlier runs come out of the cache."""
    remarks: tuple[str, ...]


def check_cases(suite: Suite, cache_dir: str, finished: Callable[[CaseCheck], None]) -> tuple[CaseCheck, ...]:
    """Check every case, one after the other; `finished` hears of each."""
    from piton.evaluate.sandbox import make_runner

    bounds = Bounds()
    store = TensorStore(Path(cache_dir) / "golden", bounds.golden_cache_bytes)
    guard = MemoryGuard(int(available_bytes() * bounds.memory_share))
    settings = GoldenSettings(suite.version, 0, (suite.root,), bounds.golden_deadline_s)
    runner = make_runner()
    try:
        with GoldenService(runner, store, settings, guard) as goldens:
            checks = []
            for member, case in _all_cases(suite):
                checks.append(_check(goldens, member, case))
                finished(checks[-1])
            return tuple(checks)
    finally:
        runner.close()


def _all_cases(suite: Suite) -> Iterator[tuple[SuiteOperator, Case]]:
    for member in suite.members:
        for case in member.cases:
            yield member, case


def _check(goldens: GoldenService, member: SuiteOperator, case: Case) -> CaseCheck:
    started = time.monotonic()
    outcome, error, size = PASSED, "", 0
    try:
        data = goldens.fetch(member.operator, case)
        native = goldens.native(member.operator, case)
        size = sum(item.data.nbytes for item in data.inputs) + sum(item.data.nbytes for item in data.outputs)
        outcome = _judge(member.operator, case, data, native)
    except EvaluatorError as problem:
        error = str(problem)
    return CaseCheck(
        operator=member.operator.name,
        case=case.id,
        is_run=not error,
        outcome=outcome,
        error=error,
        golden_bytes=size,
        seconds=time.monotonic() - started,
        remarks=member.remarks,
    )


def _judge(operator: Operator, case: Case, data: CaseData, native: tuple[GoldenOutput, ...]) -> Outcome:
    expected = Expectation(operator, case, data.inputs, data.outputs, lambda: native, "strict", 1)
    _, outcomes = check_outputs([as_output(item) for item in native], expected)
    return next((item for item in outcomes if item.verdict is not Verdict.PASSED), PASSED)
