"""Does the command line read suites of other benchmarks and of users: list, show, check, eval, with trust asked for and failures listed?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from null_world import make_submission, piton

TASK = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.exp(x)


rows = 64
columns = 4096


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return []
"""
ESCAPE = TASK.replace("rows = 64", "rows = 64\nopen({path!r}, 'w').write('x')")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A foreign suite of three tasks: one that works, one that fails, one that writes to a file of ours."""
    root = tmp_path_factory.mktemp("adapters")
    root.chmod(0o755)
    folder = root / "bench" / "KernelBench" / "level1"
    folder.mkdir(parents=True)
    (folder / "1_Grow.py").write_text(TASK)
    (folder / "2_Broken.py").write_text(TASK.replace("torch.exp(x)", "torch.nothing(x)"))
    (folder / "3_Escape.py").write_text(ESCAPE.format(path=str(root / "escaped")))
    submission = root / "submission"
    submission.mkdir()
    make_submission(submission, operators=())
    for part in ("op_kernel", "op_plugin"):
        place = submission / "csrc" / "ops" / "level1_1_grow" / part
        place.mkdir(parents=True)
        (place / "level1_1_grow.cpp").write_text("// played by the null target\n")
    (submission / "null.yaml").write_text("operators: {level1_1_grow: {default: {compute: exp}}}\n")
    return root


def test_tasks_are_listed_by_name_without_trust(world: Path) -> None:
    done = piton(world, "suite", "list", "bench", "--json")
    suite = json.loads(done.stdout)["suites"][0]
    assert (suite["format"], suite["is_described"], suite["levels"]) == ("kernelbench", False, {"1": ["level1_1_grow", "level1_2_broken", "level1_3_escape"]})


def test_showing_or_evaluating_a_task_asks_for_trust_and_runs_nothing(world: Path) -> None:
    for words in (("suite", "show", "bench", "level1_1_grow"), ("eval", "submission", "--suite", "bench", "--target", "null")):
        done = piton(world, *words)
        assert done.returncode == 2
        assert "add --trust" in done.stderr
    assert not (world / "cache" / "foreign").exists()


def test_a_trusted_task_is_evaluated_and_scaled_sizes_are_among_the_findings(world: Path) -> None:
    options = ("--suite", "bench", "--trust", "--target", "null", "--op", "level1_1_grow", "--suite-memory", "0.01")
    done = piton(world, "eval", "submission", *options, "--out", "run", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    case = report["operators"][0]["cases"][0]
    assert case["outcome"]["verdict"] == "passed"
    assert case["case"]["inputs"][0]["shape"] == [64, 2048]
    assert any("columns from 4096 to 2048" in finding["message"] for finding in report["findings"])
    assert report["is_complete"] is False


def test_what_is_wrong_with_the_golden_fails_the_submission_not(world: Path) -> None:
    """A submission that computes something else fails; so the golden is the task's own."""
    (world / "submission" / "null.yaml").write_text("operators: {level1_1_grow: {default: {compute: sqrt}}}\n")
    done = piton(world, "eval", "submission", "--suite", "bench", "--trust", "--target", "null", "--op", "level1_1_grow", "--out", "wrong", "--json")
    (world / "submission" / "null.yaml").write_text("operators: {level1_1_grow: {default: {compute: exp}}}\n")
    assert done.returncode == 1
    assert json.loads(done.stdout)["operators"][0]["cases"][0]["outcome"]["verdict"] == "wrong_value"


def test_check_runs_what_it_can_in_a_sandbox_and_lists_the_rest_with_reasons(world: Path) -> None:
    done = piton(world, "suite", "check", "bench", "--trust", "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert [(case["operator"], case["is_run"], case["outcome"]["verdict"]) for case in found["cases"]] == [("level1_1_grow", True, "passed")]
    assert set(found["left_out"]) == {"level1_2_broken", "level1_3_escape"}
    assert "no attribute 'nothing'" in found["left_out"]["level1_2_broken"]
    assert not (world / "escaped").exists()


def test_a_suite_of_ones_own_is_written_shown_and_checked(world: Path) -> None:
    assert piton(world, "suite", "init", "mine").returncode == 0
    shown = json.loads(piton(world, "suite", "show", "mine", "--json").stdout)
    assert (shown["format"], shown["levels"]) == ("user", {"1": ["scaled_relu"]})
    assert piton(world, "suite", "check", "mine").returncode == 2
    assert piton(world, "suite", "check", "mine", "--trust").returncode == 0
