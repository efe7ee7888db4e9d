"""Runs of the agents in a world without compilers: a kernel is a text, and its evaluation is what the text says.

`// ratio 1.5` passes at 1.5 T_HW; `// build`, `// hazard`, `// value`, `// timeout` fail in that way; anything else passes at 3 T_HW.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from piton.agent.candidate import Tree
from piton.agent.loop import Evaluator, measured_of
from piton.agent.model import Budget, Limits, Spending
from piton.agent.runs import Head, Measured, NewVariant, RunStore
from piton.core.execution import Diagnostic
from piton.core.finding import Finding, FindingKind
from piton.core.measurement import Measurement, Provenance
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.report.json_file import read_report

ROOT = Path(__file__).resolve().parents[2]
BASE = read_report(ROOT / "examples/metrics/refined/sample-1/turn-2/report.json")
OPERATOR = BASE.operators[0].operator
PATH = f"csrc/ops/{OPERATOR}/op_kernel/kernel.cpp"
FAILURES = {
    "hazard": outcome(Cause.MISSING_SYNC, "DataCopyPad (MTE3) reads what Exp (V) wrote, and nothing orders the two", place=Place(file=PATH, line=12)),
    "value": outcome(Cause.MEAN_ERROR, "3 of 100 elements are wrong, the worst by 8 ulp"),
    "timeout": outcome(Cause.DEVICE_BUDGET, "device code took more than 100 times T_baseline"),
}


def kernel(text: str) -> Tree:
    """A candidate whose kernel says this."""
    return Tree({PATH: f"int number;  {text}\nint {re.sub(r'[^a-z0-9]', '_', text.lower())}_;\n"})


def report_on(tree: Tree) -> Report:
    """What the evaluation of a candidate says."""
    text = tree.files[PATH]
    if "// build" in text:
        failed = outcome(Cause.COMPILE_ERROR, "the host pass failed")
        diagnostics = (Diagnostic(file=PATH, line=7, message="'Foo' was not declared in this scope"),)
        cases = tuple(_case(case, failed, 0.0) for case in BASE.operators[0].cases)
        return _with(BASE.operators[0].model_copy(update={"compiled": False, "build_outcome": failed, "diagnostics": diagnostics, "cases": cases}))
    kind = next((name for name in FAILURES if f"// {name}" in text), "")
    found = re.search(r"// ratio ([\d.]+)", text)
    cases = tuple(_case(case, FAILURES.get(kind) if place else None, float(found[1]) if found else 3.0) for place, case in enumerate(BASE.operators[0].cases))
    return _with(BASE.operators[0].model_copy(update={"cases": cases}))


def _case(case: CaseResult, failed: Outcome | None, ratio: float) -> CaseResult:
    if failed is not None:
        finding = Finding(kind=FindingKind.AUTO_SYNC_RELIED_ON, message="2 dependences rely on auto-sync")
        return case.model_copy(update={"outcome": failed, "time": None, "findings": (finding,)})
    assert case.t_hw is not None
    time = Measurement(samples=(case.t_hw.value_us * ratio,), provenance=Provenance.SIMULATED, method="by its text")
    return case.model_copy(update={"outcome": outcome(Cause.NONE), "time": time, "void": ""})


def _with(result: OperatorResult) -> Report:
    return BASE.model_copy(update={"operators": (result,)})


class TextEvaluator(Evaluator):
    """Measures what a kernel's text says; counts, and hears before each measurement."""

    def __init__(self, budget: Budget | None = None, before: Callable[[int], None] = lambda count: None) -> None:
        self.budget = budget or Budget(Limits())
        self.count = 0
        self.before = before

    def measure(self, tree: Tree) -> Measured:
        with self.budget.reserve(Spending(device_s=1.0)):
            self.count += 1
            self.before(self.count)
            return measured_of(report_on(tree), OPERATOR, 1.0)


def new_run(folder: Path, start: Tree | None = None, seed: int = 1) -> RunStore:
    """A run with its start."""
    store = RunStore.create(folder, Head("evolve", OPERATOR, "piton", "ascend910b2-sim", seed, {}, 0.0, "0"))
    store.add(NewVariant(start or kernel("// ratio 4.0"), 0, "start"))
    return store
