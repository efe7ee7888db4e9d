"""Does an evaluation take its T_baseline from the model where a suite has no kernels of its own, with goldens traced in their sandbox?"""

from __future__ import annotations

from pathlib import Path

import pytest
from null_world import make_submission, make_suite

from piton.catalog.hardware import load_hardware
from piton.core.fault import Fault
from piton.core.measurement import Provenance
from piton.core.protocols import Runner
from piton.core.report import CaseResult, Report
from piton.core.verdict import Verdict
from piton.evaluate.pipeline import evaluate_on
from piton.evaluate.policy import EvaluationRequest
from piton.targets.null import NullTarget

ENDS_WITHOUT_DATA = "import os; os._exit(3) if type(x) is not torch.Tensor else None; return torch.exp(x)"
"""A golden that is right, and ends its process when it is traced."""


def evaluate(runner: Runner, root: Path, goldens: dict[str, str] | None = None) -> Report:
    """The scripted submission on the null target with the figures of the 910B2, against a suite that quotes nothing."""
    suite = make_suite(root / "suite", goldens)
    for quoted in (suite / "metadata").glob("*.json"):
        quoted.unlink()
    request = EvaluationRequest(
        submission=str(make_submission(root / "submission")),
        target="null",
        suite=str(suite),
        cache_dir=str(root / "cache"),
        run_dir=str(root / "run"),
        is_trusted=True,
        cases=("1",),
    )
    return evaluate_on(NullTarget(load_hardware("ascend910b2")), runner, request)


def results(report: Report, operator: str) -> tuple[CaseResult, ...]:
    return next(item.cases for item in report.operators if item.operator == operator)


@pytest.fixture
def report(runner: Runner, tmp_path: Path) -> Report:
    return evaluate(runner, tmp_path)


def test_a_case_gets_a_modelled_baseline_that_names_its_model(report: Report) -> None:
    for name in ("grow", "twice"):
        anchor = results(report, name)[0].t_baseline
        assert anchor is not None
        assert anchor.provenance is Provenance.MODELLED
        assert anchor.interval is not None
        assert "golden of 1 launches" in anchor.method
        assert anchor.version in report.baselines


def test_a_golden_that_dies_when_it_is_traced_leaves_its_case_open_and_costs_no_other(runner: Runner, tmp_path: Path) -> None:
    report = evaluate(runner, tmp_path, {"grow": ENDS_WITHOUT_DATA})
    case = results(report, "grow")[0]
    assert (case.outcome.verdict, case.t_baseline) == (Verdict.NOT_RUN, None)
    assert "the golden worker died" in case.void
    assert [retry.fault for retry in case.retries] == [Fault.PROCESS_LOST] * 2
    other = results(report, "twice")[0].t_baseline
    assert other is not None
    assert other.provenance is Provenance.MODELLED
