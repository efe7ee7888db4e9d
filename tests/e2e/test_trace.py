"""Does `piton eval --trace` write timelines that viewers read, the same every time, without touching the result?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from null_world import make_submission, make_suite, piton

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit"))

from trace_rules import WORK, check_trace, cycles_by_row

ROOT = Path(__file__).resolve().parents[2]
CASE = "gelu/5"


def run_eval(out: Path, *more: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "piton.cli.main", "eval", str(ROOT / "kernels/reference"), "--op", "gelu", "--case", CASE, "--out", str(out), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report: dict[str, Any] = json.loads((out / "report.json").read_text())
    return report


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    run_eval(folder / "plain")
    run_eval(folder / "traced", "--trace")
    run_eval(folder / "again", "--trace")
    run_eval(folder / "one", "--trace-cores", "1")
    return folder


def launch_of(run: Path) -> dict[str, Any]:
    report = json.loads((run / "report.json").read_text())
    (case,) = [case for item in report["operators"] for case in item["cases"] if f"{item['operator']}/{case['case']['id']}" == CASE]
    (launch,) = case["launches"]
    return dict(launch)


def trace_of(run: Path) -> dict[str, Any]:
    (path,) = (run / "traces").iterdir()
    assert path.name == "gelu-5-1.json"
    return dict(json.loads(path.read_text()))


def test_the_result_digest_is_the_same_with_and_without(runs: Path) -> None:
    digests = {json.loads((runs / name / "report.json").read_text())["result_digest"] for name in ("plain", "traced", "one")}
    assert len(digests) == 1
    assert not (runs / "plain/traces").exists()


def test_the_page_draws_the_timeline_of_the_run_and_is_the_same_without_it_but_for_that(runs: Path) -> None:
    pages = {name: (runs / name / "report.html").read_text() for name in ("plain", "traced")}
    assert [page.count('<figure class="lanes"') for page in pages.values()] == [0, 1]
    assert "traces/gelu-5-1.json</code> (complete)" in pages["traced"]
    done = piton(runs, "report", "traced", "--html", "again.html")
    assert done.returncode == 0, done.stderr
    assert (runs / "again.html").read_text() == pages["traced"], "drawn again from the trace that was kept"


def test_another_run_writes_the_same_bytes(runs: Path) -> None:
    assert (runs / "traced/traces/gelu-5-1.json").read_bytes() == (runs / "again/traces/gelu-5-1.json").read_bytes()


def test_the_trace_keeps_the_rules_of_its_format(runs: Path) -> None:
    check_trace(trace_of(runs / "traced"))
    check_trace(trace_of(runs / "one"))


def test_the_rows_add_up_to_the_launch_of_the_report(runs: Path) -> None:
    launch, rows = launch_of(runs / "traced"), cycles_by_row(trace_of(runs / "traced"))
    assert trace_of(runs / "traced")["otherData"]["left_out"] == ""
    for pipe, busy in launch["busy_cycles"].items():
        row = rows.get(pipe.upper(), {})
        assert sum(row.get(category, 0) for category in WORK) == busy
        assert row.get("wait", 0) == launch["stall_cycles"][pipe]
        for reason, cycles in launch["lost_cycles"].get(pipe, {}).items():
            assert row[reason] == cycles


def test_instructions_name_file_line_and_operands_of_the_submission(runs: Path) -> None:
    events = [event for event in trace_of(runs / "traced")["traceEvents"] if event.get("cat") == "instruction"]
    copies = [event["args"] for event in events if event["name"] == "DataCopyPad"]
    assert copies
    for args in copies:
        file, line = args["source"].rsplit(":", 1)
        assert "DataCopyPad" in (ROOT / "kernels/reference" / file).read_text().splitlines()[int(line) - 1]
        assert {args["dst"][:2], args["src0"][:2]} == {"UB", "GM"}


def test_the_use_of_the_unified_buffer_follows_the_queues(runs: Path) -> None:
    uses = [event["args"] for event in trace_of(runs / "one")["traceEvents"] if event["name"] == "UB bytes"]
    assert max(use["given out"] for use in uses) <= 196608
    assert all(use["in use"] <= use["given out"] for use in uses)
    assert max(use["in use"] for use in uses) > 0
    assert uses[-1]["in use"] == 0


def test_chosen_blocks_are_recorded_alone(runs: Path) -> None:
    trace = trace_of(runs / "one")
    names = [event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "process_name"]
    assert names == ["memory of the chip", "block 1 (AIV)"]
    assert "1 of " in trace["otherData"]["left_out"]


# ---- around the recording, on the null target


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("null")
    make_suite(root / "suite")
    make_submission(root / "right")
    return root


def null_eval(world: Path, out: str, *more: str) -> subprocess.CompletedProcess[str]:
    return piton(world, "eval", "right", "--suite", "suite", "--trust", "--target", "null", "--op", "grow", "--out", out, *more)


def test_every_case_gets_its_file_and_the_command_says_where(world: Path) -> None:
    done = null_eval(world, "runs/all", "--trace", "--trials", "2", "--case", "1", "--case", "4")
    assert done.returncode == 0, done.stderr
    assert "timelines: runs/all/traces" in done.stdout
    files = sorted((world / "runs/all/traces").iterdir())
    assert [path.name for path in files] == ["grow-1-1.json", "grow-4-1.json"]
    for path in files:
        check_trace(json.loads(path.read_text()))


def test_a_resumed_run_writes_what_is_missing_and_an_overwritten_one_nothing_old(world: Path) -> None:
    assert null_eval(world, "runs/later", "--case", "1").returncode == 0
    done = null_eval(world, "runs/later", "--resume", "--trace", "--case", "1", "--case", "2")
    assert (done.returncode, len(list((world / "runs/later/traces").iterdir()))) == (0, 2), done.stderr
    assert null_eval(world, "runs/later", "--overwrite", "--case", "1").returncode == 0
    assert not (world / "runs/later/traces").exists()


def test_a_place_that_cannot_be_written_to_costs_the_timelines_and_nothing_else(world: Path) -> None:
    (world / "runs/blocked").mkdir(parents=True)
    (world / "runs/blocked/traces").write_text("in the way")
    done = null_eval(world, "runs/blocked", "--trace")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("timelines can't be written") == 1
    assert (world / "runs/blocked/report.json").is_file()


def test_a_wrong_list_of_blocks_is_one_message(world: Path) -> None:
    done = null_eval(world, "runs/wrong", "--trace-cores", "1,x")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "--trace-cores can't be read at 'x'" in done.stderr
