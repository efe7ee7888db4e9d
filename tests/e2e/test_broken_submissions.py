"""Does the command line say what is wrong with a broken submission, where, and with which numbers, and does the run go on?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "submissions"))

from variants import BROKEN, DEVICE_FAULTS, KERNEL, SMALL_CASES, Broken, marked_line, write_submission, write_suite

FIGURES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "does_not_compile": lambda n: n["errors"] == 1,
    "wrong_by_little": lambda n: 0 < n["positions"] < n["elements"] == 70_001 and 0.009 < n["max_error"] < 0.011 and n["tau"] == 2**-13,
    "v_to_mte3_order_removed": lambda n: 0 < n["overlap_bytes"] == n["end"] - n["begin"] and (n["earlier_pipe"], n["later_pipe"]) == ("V", "MTE3"),
    "ub_overflow": lambda n: n["used_bytes"] > 2 * 131_072 > n["available_bytes"] == 196_608,
    "endless_device_loop": lambda n: n["used_cycles"] > n["budget_cycles"] > 0,
    "host_crash": lambda n: n["signal"] == 11 and n["fault_address"] == "0x0",
}
"""Whether the figures of a broken submission make sense."""


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


def squeezed(text: str) -> str:
    """Without the white space at which a narrow terminal breaks lines."""
    return "".join(text.split())


def shown_number(value: float | int | str) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


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
    assert set(broken.numbers) <= set(found["numbers"]), found
    assert FIGURES[broken.name](found["numbers"]), found
    place = (found["place"]["file"], found["place"]["line"])
    assert place == ((broken.file, marked_line(submission, broken.file)) if broken.file else ("", 0)), found
    for shown in (
        broken.cause,
        f"{place[0]}:{place[1]}" if broken.file else "y[",
        *(f"{name} {shown_number(found['numbers'][name])}" for name in broken.numbers),
    ):
        assert squeezed(shown) in squeezed(text), text
    assert cases["1"]["time"] is None
    later = {cases[name]["outcome"]["verdict"] for name in ("2", "3")}
    assert later == ({"build_failed"} if broken.breaks_build else {"passed"}), text
    assert report["is_complete"]


def test_faults_of_device_code_are_placed(suite: Path, tmp_path: Path) -> None:
    submission = write_submission(tmp_path / "faults", DEVICE_FAULTS)
    _, text, report = run_eval(submission, suite, tmp_path / "run")
    found = {name: case["outcome"] for name, case in cases_of(report).items()}
    assert [found[name]["cause"] for name in ("1", "2", "3")] == ["device_signal", "raw_gm_store", "device_signal"], text
    marks = [marked_line(submission, KERNEL, mark) for mark in ("/* null */", "/* raw */", "/* call */")]
    assert [found[name]["place"]["line"] for name in ("1", "2", "3")] == marks, text
    assert all(f"calls, innermost first: {KERNEL}:{line}, {KERNEL}:" in outcome["message"] for line, outcome in zip(marks, found.values(), strict=True)), text


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
