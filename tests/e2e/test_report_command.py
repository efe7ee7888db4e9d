"""Does `piton report` show, compare and write again what runs left, without a device?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from null_world import piton

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit"))

from report_world import operator_of, passed_case, small_report

from piton.report.html import html_text
from piton.report.json_file import write_report


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, the second of which is faster in one case."""
    root = tmp_path_factory.mktemp("runs")
    for name, time_us in (("slow", 10.0), ("fast", 6.0)):
        write_report(small_report((operator_of("exp", passed_case(time_us=time_us)),)), root / name / "report.json")
    return root


def test_several_runs_are_shown_side_by_side(runs: Path) -> None:
    done = piton(runs, "report", "slow", "fast")
    assert done.returncode == 0, done.stderr
    for text in ("87.5", "96.9 (+9.4)", "exp/1", "6.00 simulated"):
        assert text in done.stdout
    assert "| exp | 87.5 | 96.9 (+9.4) |" in piton(runs, "report", "slow", "fast", "--markdown").stdout.replace("\\", "")


@pytest.mark.parametrize("option", ["--json", "--update"])
def test_what_makes_no_sense_for_several_runs_is_refused(runs: Path, option: str) -> None:
    done = piton(runs, "report", "slow", "fast", option)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "several runs are compared in the terminal or as Markdown" in done.stderr


def test_update_writes_page_and_report_of_the_run_again(runs: Path) -> None:
    before = (runs / "slow/report.json").read_bytes()
    done = piton(runs, "report", "slow", "--update")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (runs / "slow/report.json").read_bytes() == before, "scoring again changes nothing"
    assert (runs / "slow/report.html").read_text() == html_text(small_report((operator_of("exp", passed_case()),)))


def test_a_wide_terminal_has_room_for_inputs_and_a_narrow_one_loses_no_verdict(runs: Path) -> None:
    shown = piton(runs, "report", "slow").stdout
    for text in ("float32 1009×1021", "T_cand", "points", "MTE2 bound: busy 70 % of 10.00 us", "of 100"):
        assert text in shown
    assert json.loads(piton(runs, "report", "slow", "--json").stdout)["submission"] == "made_up"
