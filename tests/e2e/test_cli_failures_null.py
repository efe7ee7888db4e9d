"""`piton eval --keep-failures`, `--fast`, `--max-elements`, `--level` from the outside, on the null target: files, scripts, going on."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from null_world import environment, make_submission, make_suite, piton

from piton.core.protocols import Runner
from piton.core.report import Report
from piton.core.verdict import Cause, Verdict
from piton.evaluate.pipeline import evaluate_on
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import Event, Notice, Planned
from piton.targets.null import NullTarget

WRONG = {"grow": {"cases": {"2": {"compute": "wrong_by_little"}, "3": {"causes": ["host_signal"], "message": "died"}}}}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cli failures")
    make_suite(root / "suite")
    make_submission(root / "wrong", WRONG)
    make_submission(root / "right")
    return root


def evaluate(world: Path, submission: str, out: str, *more: str) -> subprocess.CompletedProcess[str]:
    return piton(world, "eval", submission, "--suite", "suite", "--trust", "--target", "null", "--out", out, *more)


def report(world: Path, out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((world / out / "report.json").read_text())
    return found


def in_process(world: Path, runner: Runner, run_dir: Path, submission: str, said: list[Event] | None = None, **options: Any) -> tuple[Report, Planned]:
    """Evaluate without a new process; the report and what was planned."""
    events: list[Event] = [] if said is None else said
    values = {"suite": str(world / "suite"), "cache_dir": str(world / "cache"), "run_dir": str(run_dir), "is_trusted": True, "target": "null"}
    found = evaluate_on(NullTarget(), runner, EvaluationRequest(submission=str(world / submission), **{**values, **options}), events.append)
    return found, next(event for event in events if isinstance(event, Planned))


def test_failed_cases_are_kept_and_rerun_as_they_were(world: Path) -> None:
    done = evaluate(world, "wrong", "runs/kept", "--keep-failures", "--seed", "5")
    assert done.returncode == 1, done.stderr
    assert "failures: runs/kept/failures" in done.stdout
    folder = world / "runs/kept/failures"
    assert sorted(path.name for path in folder.iterdir()) == ["grow-2", "grow-3"]
    expected, got = (np.load(folder / "grow-2" / f"{role}-y.npy") for role in ("expected", "got"))
    assert np.allclose(got, expected * 1.02)
    assert (np.exp(np.load(folder / "grow-2" / "input-x.npy").astype(np.float64)).astype(np.float32) == expected).all()
    assert not list((folder / "grow-3").glob("got-*")), "a call that died left nothing"
    script = [os.fspath(folder / "grow-2" / "rerun.sh")]
    again = subprocess.run(script, cwd="/", env=environment(world), capture_output=True, text=True, timeout=120, check=False)
    assert again.returncode == 1, again.stderr
    first = next(case for case in report(world, "runs/kept")["operators"][0]["cases"] if case["case"]["id"] == "2")
    second = next(case for case in report(world, "runs/kept/failures/grow-2/rerun")["operators"][0]["cases"] if case["case"]["id"] == "2")
    assert (second["outcome"], second["checks"]) == (first["outcome"], first["checks"])
    mended = {**environment(world), "SUBMISSION": os.fspath(world / "right")}
    assert subprocess.run(script, cwd="/", env=mended, capture_output=True, timeout=120, check=False).returncode == 0


def test_a_failure_that_the_journal_has_without_its_folder_runs_again(world: Path, runner: Runner, tmp_path: Path) -> None:
    whole = in_process(world, runner, tmp_path, "wrong")[0].result_digest
    again, plan = in_process(world, runner, tmp_path, "wrong", is_resumed=True, keeps_failures=True)
    assert (plan.cases, plan.resumed_cases, again.result_digest) == (2, 6, whole)
    assert sorted(path.name for path in (tmp_path / "failures").iterdir()) == ["grow-2", "grow-3"]
    third, plan = in_process(world, runner, tmp_path, "wrong", is_resumed=True, keeps_failures=True)
    assert (plan.cases, plan.resumed_cases, third.result_digest) == (0, 8, whole)


def test_overwrite_removes_the_failures_of_the_run_before(world: Path) -> None:
    evaluate(world, "wrong", "runs/over", "--keep-failures", "--op", "grow")
    evaluate(world, "wrong", "runs/over", "--overwrite", "--op", "grow")
    assert not (world / "runs/over/failures").exists()


def test_a_disk_that_takes_no_failures_costs_nothing_else(world: Path, runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "failures").write_text("in the way")
    notices: list[Event] = []
    blocked, _ = in_process(world, runner, tmp_path, "wrong", notices, keeps_failures=True)
    assert len([event for event in notices if isinstance(event, Notice)]) == 1
    assert blocked.result_digest == in_process(world, runner, tmp_path / "free", "wrong")[0].result_digest


def test_a_fast_run_is_partial_says_so_and_is_completed_by_resume(world: Path, runner: Runner, tmp_path: Path) -> None:
    found, plan = in_process(world, runner, tmp_path, "right", is_fast=True)
    assert (plan.cases, found.is_complete, found.total_score) == (6, False, None)
    assert found.findings[0].message.startswith("partial: --fast ran only the telling cases")
    left_out = [case.outcome for item in found.operators for case in item.cases if case.outcome.verdict is Verdict.NOT_RUN]
    assert [(item.cause, item.message) for item in left_out] == [(Cause.FILTERED_OUT, "left out by --fast")] * 2
    resumed, plan = in_process(world, runner, tmp_path, "right", is_resumed=True)
    assert (plan.cases, plan.resumed_cases, resumed.is_complete) == (2, 6, True)
    assert resumed.result_digest == in_process(world, runner, tmp_path / "whole", "right")[0].result_digest


def test_large_cases_are_listed_as_not_run_with_their_cause(world: Path) -> None:
    done = evaluate(world, "right", "runs/small", "--max-elements", "2112", "--level", "1", "--fast", "--keep-failures")
    assert done.returncode == 0, "cases left out are no failures"
    causes = {case["case"]["id"]: case["outcome"] for case in report(world, "runs/small")["operators"][0]["cases"]}
    assert (causes["2"]["cause"], causes["2"]["numbers"]) == ("too_large", {"elements": 8320, "max_elements": 2112})
    assert causes["1"]["verdict"] == "passed", "exactly as large as allowed"
    assert "1 above --max-elements" in done.stdout
    assert not report(world, "runs/small")["is_complete"]
    assert not (world / "runs/small/failures").exists()


def test_the_help_says_how_filters_combine(world: Path) -> None:
    text = " ".join(piton(world, "eval", "--help").stdout.split())
    assert "Filters narrow one after the other: --op and --level choose operators, --case chooses among their cases" in text
    for option in ("--level", "--max-elements", "--fast", "--keep-failures", "--resume"):
        assert option in text
