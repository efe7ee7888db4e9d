"""Does `piton compare` tell what moved, in every form, and does its gate stop what it should?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from null_world import piton

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit"))

from report_world import failed_case, operator_of, passed_case, small_report

from piton.core.verdict import Cause, outcome
from piton.report.json_file import write_report


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, one in which a case is faster and another slower, and one in which a case broke."""
    root = tmp_path_factory.mktemp("runs")
    other = passed_case(case_id="2")
    for name, cases in (
        ("first", (passed_case(), other)),
        ("mixed", (passed_case(time_us=6.0), passed_case(case_id="2", time_us=10.2))),
        ("broken", (passed_case(time_us=6.0), failed_case(outcome(Cause.DEADLOCK)))),
    ):
        write_report(small_report((operator_of("exp", *cases),)), root / name / "report.json")
    return root


def test_the_table_shows_moves_sums_and_how_far_to_trust_them(runs: Path) -> None:
    done = piton(runs, "compare", "first", "mixed")
    assert (done.returncode, done.stderr) == (0, "")
    for text in ("exp/1", "6.00 simulated", "1.667", "0.980", "exact, the model's error is not known", "mixed against first: 1 slower, 1 faster", "0.5 %"):
        assert text in done.stdout, text


def test_json_has_every_move_and_markdown_a_headline(runs: Path) -> None:
    found = json.loads(piton(runs, "compare", "first", "mixed", "broken", "--json").stdout)
    assert [(pair["after"], pair["counts"]["broke"]) for pair in found["pairs"]] == [("mixed", 0), ("broken", 1)]
    assert piton(runs, "compare", "first", "broken", "--markdown").stdout.startswith("# first and broken\n\n❌ **broken against first: 1 broke, 1 faster;")


def test_the_page_is_written_and_nothing_else_printed(runs: Path) -> None:
    done = piton(runs, "compare", "first", "mixed", "--html", "moved.html")
    assert (done.returncode, done.stdout) == (0, "")
    assert "Cases that became faster or slower" in (runs / "moved.html").read_text()


def test_the_gate_ends_with_1_and_says_which_cases_and_wrong_use_with_2(runs: Path) -> None:
    done = piton(runs, "compare", "first", "broken", "--fail-on", "broken")
    assert (done.returncode, done.stderr) == (1, "piton: 1 case is worse: exp/2 broke\n")
    done = piton(runs, "compare", "first", "broken", "--fail-on", "noise")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "--fail-on can't be read" in done.stderr
