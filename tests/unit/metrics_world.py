"""Runs that nobody made: reports whose metrics are known beforehand, and the small set of them in examples/metrics.

Every case has T_HW 5 us and T_baseline 20 us, so a kernel with speed-up s takes 20 / s us and has HAP 15 / (20 / s - 5 + 15).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from report_world import operator_of, passed_case, small_report

from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.verdict import Cause, outcome
from piton.report.json_file import write_text
from piton.report.rescore import score_report

T_BASELINE_US = 20.0
WRONG, VOID, LEFT_OUT = "wrong", "void", "left out"
BROKEN = "broken"
"""For an operator: it does not build."""

LEVELS = {"exp": 1, "gelu": 1, "softmax": 2, "matmul": 3}
CATEGORIES = {"exp": "Elementwise", "gelu": "Elementwise", "softmax": "Normalisation", "matmul": "Matrix"}

Result = float | str
"""A speed-up, or what else became of a case."""


def case_of(operator: str, number: int, result: Result) -> CaseResult:
    """One case that came to this."""
    bare = passed_case(operator, str(number), 1.0)
    checks = tuple(check.model_copy(update={"worst": ()}) for check in bare.checks)
    case = bare.model_copy(update={"launches": (), "checks": checks})
    if isinstance(result, float):
        assert case.time is not None
        return case.model_copy(update={"time": case.time.model_copy(update={"samples": (T_BASELINE_US / result,)})})
    causes = {WRONG: Cause.MAX_ERROR, VOID: Cause.EVALUATION_FAILED, LEFT_OUT: Cause.FILTERED_OUT, BROKEN: Cause.COMPILE_ERROR}
    void = "the golden ran out of memory" if result == VOID else ""
    return case.model_copy(update={"outcome": outcome(causes[result]), "void": void, "time": None, "checks": ()})


def operator(name: str, results: Sequence[Result] | str) -> OperatorResult:
    """An operator with these results, or one that does not build."""
    known = {"level": LEVELS.get(name, 1), "category": CATEGORIES.get(name, "")}
    if isinstance(results, str):
        broken = outcome(Cause.COMPILE_ERROR, "1 error")
        return operator_of(name, case_of(name, 1, BROKEN), case_of(name, 2, BROKEN), build=broken).model_copy(update=known)
    return operator_of(name, *(case_of(name, number, result) for number, result in enumerate(results, 1))).model_copy(update=known)


def run(name: str, results: Mapping[str, Sequence[Result] | str], **changes: object) -> Report:
    """The scored report of a submission with these results by operator."""
    report = small_report(tuple(operator(item, found) for item, found in results.items()), name)
    return score_report(report.model_copy(update=changes))


EXAMPLE: dict[str, dict[str, Sequence[Result] | str]] = {
    "direct/sample-1": {"exp": (2.0, 0.5), "gelu": (1.0, WRONG), "softmax": BROKEN},
    "direct/sample-2": {"exp": (WRONG, 0.5), "gelu": (WRONG, WRONG), "softmax": (WRONG, WRONG)},
    "direct/sample-3": {"exp": (4.0, 1.0), "gelu": (1.0, 1.0), "softmax": BROKEN},
    "refined/sample-1/turn-1": {"exp": (1.0, 1.0), "gelu": (1.0, WRONG), "softmax": BROKEN},
    "refined/sample-1/turn-2": {"exp": (2.0, 2.0), "gelu": (2.0, 2.0), "softmax": (1.0, 1.0)},
    "refined/sample-2/turn-1": {"exp": BROKEN, "gelu": (0.5, 0.5), "softmax": (WRONG, 1.0)},
    "refined/sample-2/turn-2": {"exp": (4.0, 1.0), "gelu": (WRONG, 2.0), "softmax": (0.5, 0.5)},
}
"""The runs of examples/metrics: two cases per operator, two methods, the second with turns."""


def write_example(folder: Path) -> None:
    """Write the runs of examples/metrics below `folder`, short: what has its default is left out."""
    for path, results in EXAMPLE.items():
        report = score_report(run(path.partition("/")[0], results).model_copy(update={"chip": None}))
        content = {"schema_version": report.schema_version, **json.loads(report.model_dump_json(exclude_defaults=True))}
        write_text(folder / path / "report.json", json.dumps(content, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    write_example(Path(__file__).resolve().parents[2] / "examples" / "metrics")
