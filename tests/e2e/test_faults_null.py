"""Faults of the machine in a whole run on the null target: tried again, bounded, kept, and without a trace in the result."""

from pathlib import Path

import pytest
from null_world import make_submission

from piton.core.fault import Fault
from piton.core.protocols import Runner
from piton.core.report import CaseResult, Report
from piton.core.verdict import Cause, Verdict
from piton.evaluate.pipeline import evaluate_on
from piton.evaluate.policy import EvaluationRequest
from piton.report.terminal import terminal_text
from piton.targets.null import NullTarget


@pytest.fixture(scope="module")
def right(runner: Runner, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    return evaluated(runner, shared, tmp_path_factory.mktemp("right"))


def evaluated(runner: Runner, shared: Path, root: Path, script: dict[str, object] | None = None, **options: object) -> Report:
    folder = make_submission(root / "submission", script, operators=("grow",)) if not (root / "submission").exists() else root / "submission"
    values = {"suite": str(shared / "suite"), "cache_dir": str(shared / "cache"), "run_dir": str(root / "run"), "is_trusted": True, "operators": ("grow",)}
    return evaluate_on(NullTarget(), runner, EvaluationRequest(submission=str(folder), target="null", **{**values, **options}))


def case(report: Report, case_id: str) -> CaseResult:
    return next(found for found in report.operators[0].cases if found.case.id == case_id)


def scripted(**call: object) -> dict[str, object]:
    return {"grow": {"cases": {"2": {"compute": "exp", **call}}}}


@pytest.mark.parametrize("fate", ["lost_tries", "killed_tries"])
def test_a_process_that_was_ended_twice_costs_nothing_but_is_told(fate: str, runner: Runner, shared: Path, tmp_path: Path, right: Report) -> None:
    report = evaluated(runner, shared, tmp_path, scripted(**{fate: 2}))
    assert not case(report, "2").void
    assert [item.fault for item in case(report, "2").retries] == [Fault.PROCESS_LOST] * 2
    assert "1 case was tried again after faults that are not the submission's (process_lost: 2)" in terminal_text(report)
    assert "tried again" not in terminal_text(right)
    assert all(not found.retries for found in report.operators[0].cases if found.case.id != "2")
    same = report.model_copy(update={"submission_digest": right.submission_digest})  # the script is part of the submission
    assert same.canonical_digest() == right.result_digest


def test_one_that_is_lost_every_time_is_void_with_its_cause_and_resume_tries_it_again(runner: Runner, shared: Path, tmp_path: Path) -> None:
    report = evaluated(runner, shared, tmp_path, scripted(lost_tries=4))
    found = case(report, "2")
    assert (found.fault, len(found.retries), report.total_score) == (Fault.PROCESS_LOST, 2, None)
    assert "a scripted process was ended" in found.void
    assert case(evaluated(runner, shared, tmp_path, is_resumed=True), "2").fault is Fault.PROCESS_LOST  # a new target counts anew


def test_one_that_is_killed_every_time_has_killed_itself(runner: Runner, shared: Path, tmp_path: Path) -> None:
    report = evaluated(runner, shared, tmp_path, scripted(killed_tries=9))
    found = case(report, "2")
    assert (found.outcome.verdict, found.outcome.cause) == (Verdict.CRASHED, Cause.HOST_SIGNAL)
    assert (found.void, found.fault, len(found.retries)) == ("", None, 2)
    assert report.total_score is not None


def test_what_the_submission_did_is_not_tried_again(runner: Runner, shared: Path, tmp_path: Path) -> None:
    """Were it tried again, the second call would be right."""
    later = {"compute": "exp"}
    found = case(evaluated(runner, shared, tmp_path, {"grow": {"cases": {"2": {"causes": ["host_signal"], "later": later}}}}), "2")
    assert (found.outcome.verdict, found.retries) == (Verdict.CRASHED, ())
