"""Does the command line say what is wrong with a broken submission, where, and with which numbers, and does the run go on?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "submissions"))

from variants import BROKEN, SMALL_CASES, Broken, marked_line, write_submission, write_suite


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_suite(tmp_path_factory.mktemp("suite") / "small", SMALL_CASES)


def run_eval(submission: Path, suite: Path, out: Path, *options: str) -> tuple[int, str, dict[str, Any]]:
    """Exit status, printed text and report of `piton eval`."""
    command = [sys.executable, "-m", "piton.cli.main", "eval", str(submission), "--suite", str(suite), "--trust", "--out", str(out), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    report = out / "report.json"
    assert report.is_file(), done.stdout + done.stderr
    return done.returncode, done.stdout + done.stderr, json.loads(report.read_text())


def cases_of(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (operator,) = report["operators"]
    return {case["case"]["id"]: case for case in operator["cases"]}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda item: item.name)
def test_a_broken_submission_gets_its_verdict_cause_place_and_numbers(broken: Broken, suite: Path, tmp_path: Path) -> None:
    submission = write_submission(tmp_path / broken.name, broken.edits)
    status, text, report = run_eval(submission, suite, tmp_path / "run")
    cases = cases_of(report)
    found = cases["1"]["outcome"]
    assert (found["verdict"], found["cause"]) == (broken.verdict, broken.cause), text
    assert status == 1
    assert broken.cause in text
    assert set(broken.numbers) <= set(found["numbers"]), found
    if broken.file:
        assert (found["place"]["file"], found["place"]["line"]) == (broken.file, marked_line(submission, broken.file)), found
    assert cases["1"]["time"] is None
    later = {cases[name]["outcome"]["verdict"] for name in ("2", "3")}
    assert later == ({"build_failed"} if broken.breaks_build else {"passed"}), text
    assert report["is_complete"]


def test_the_unbroken_submission_passes_the_same_cases(suite: Path, tmp_path: Path) -> None:
    status, text, report = run_eval(write_submission(tmp_path / "whole", ()), suite, tmp_path / "run")
    assert {case["outcome"]["verdict"] for case in cases_of(report).values()} == {"passed"}, text
    assert status == 0
    assert all(case["findings"] == [] or "missing_sync" not in json.dumps(case["findings"]) for case in cases_of(report).values())


def test_without_auto_sync_what_relied_on_it_is_a_hazard(suite: Path, tmp_path: Path) -> None:
    status, text, report = run_eval(write_submission(tmp_path / "whole", ()), suite, tmp_path / "run", "--no-auto-sync")
    causes = {name: case["outcome"]["cause"] for name, case in cases_of(report).items()}
    assert causes == {"1": "none", "2": "missing_sync", "3": "missing_sync"}, text  # float32 with scale 1 is one instruction, the others depend on a Cast
    assert status == 1
    assert report["auto_sync"] is False


def test_the_six_broken_submissions_have_six_different_verdicts_and_causes() -> None:
    assert len({item.verdict for item in BROKEN}) == len({item.cause for item in BROKEN}) == 6
