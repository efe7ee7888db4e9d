"""Does the command line read suites of other benchmarks and of users: list, show, check, eval, with trust asked for and failures listed?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from null_world import make_submission, piton

from piton.core.errors import UsageError
from piton.core.score import hap
from piton.evaluate import foreign

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


def test_a_submission_can_play_the_golden_itself(world: Path) -> None:
    """Golden against golden: what the acceptance of whole suites runs."""
    golden = world / "golden"
    place = golden / "csrc" / "ops" / "level1_1_grow" / "op_kernel"
    place.mkdir(parents=True)
    (place / "grow.cpp").write_text("// played by the null target\n")
    (golden / "null.yaml").write_text("default: {default: {compute: golden}}\n")
    done = piton(world, "eval", "golden", "--suite", "bench", "--trust", "--target", "null", "--op", "level1_1_grow", "--out", "own", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    check = json.loads(done.stdout)["operators"][0]["cases"][0]["checks"][0]
    assert check["outcome"]["verdict"] == "passed"
    assert 0 < check["mean_error"] < 1e-6


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


USER_GOLDEN = "import torch\n\n\ndef scaled_relu(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:\n    return torch.exp(x)\n"


def test_precision_and_times_of_a_suite_of_ones_own_decide_and_score(tmp_path: Path) -> None:
    """The example with a golden of exp, against a submission whose result is off by 2 percent and takes 4 us."""
    assert piton(tmp_path, "suite", "init", "mine").returncode == 0
    file = tmp_path / "mine" / "suite.toml"
    (tmp_path / "mine" / "scaled_relu.py").write_text(USER_GOLDEN)
    text = file.read_text().replace("# t_hw_us = 1.3 ", "t_hw_us = 2.0").replace("# t_baseline_us = 6.5", "t_baseline_us = 8.0")
    text = text.replace('hardware = "ascend910b2"', 'hardware = "null"')
    file.write_text(text.replace("# [operator.precision]\n# float16 = 0.002", "[operator.precision]\nfloat16 = 0.05"))
    place = tmp_path / "submission" / "csrc" / "ops" / "scaled_relu" / "op_kernel"
    place.mkdir(parents=True)
    (place / "scaled_relu.cpp").write_text("// played by the null target\n")
    (tmp_path / "submission" / "null.yaml").write_text("default: {default: {compute: wrong_by_little, time_us: 4.0}}\n")
    done = piton(tmp_path, "eval", "submission", "--suite", "mine", "--trust", "--target", "null", "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    half, single = json.loads(done.stdout)["operators"][0]["cases"]
    assert (half["outcome"]["verdict"], half["t_hw"]["value_us"], half["t_baseline"]["value_us"]) == ("passed", 2.0, 8.0)
    assert half["hap"]["ranked"] == hap(4.0, 2.0, 8.0).ranked
    assert (single["outcome"]["verdict"], single["t_hw"]) == ("wrong_value", None)


FAILING = {"raises": "raise KeyError('gone')", "ends": "import os; os._exit(3)", "hoards": "return torch.zeros(1 << 50, dtype=torch.uint8)"}
REASONS = {"raises": "KeyError: 'gone'", "ends": "the golden worker died", "hoards": "alloc"}


def test_goldens_that_fail_cost_their_own_cases_only_and_say_why(tmp_path: Path) -> None:
    operators = []
    (tmp_path / "mine").mkdir()
    for name, body in {**FAILING, "works": "return x + 1"}.items():
        (tmp_path / "mine" / f"{name}.py").write_text(f"import torch\n\n\ndef {name}(x: torch.Tensor) -> torch.Tensor:\n    {body}\n")
        table = f'[[operator]]\nschema = "{name}(Tensor x) -> Tensor y"\ngolden = "{name}.py"\ndtypes = ["float32"]\n'
        operators.append(f'{table}[[operator.case]]\nshapes = [[4, 5]]\ndtypes = ["float32"]\n')
    (tmp_path / "mine" / "suite.toml").write_text("[suite]\nname = 'mine'\nversion = '1'\n" + "".join(operators))
    done = piton(tmp_path, "suite", "check", "mine", "--trust", "--json")
    assert done.returncode == 1, done.stderr
    cases = {case["operator"]: case for case in json.loads(done.stdout)["cases"]}
    assert {name: case["is_run"] for name, case in cases.items()} == {"raises": False, "ends": False, "hoards": False, "works": True}
    assert all(reason in cases[name]["error"] for name, reason in REASONS.items()), cases


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while True: pass", "more than 2 s of processor time"),
        ("import time; time.sleep(600)", "more than 1 s"),
        ("return x + torch.ones(1 << 40, device='cpu')[0]", "it runs out of memory"),
        ("import os; os.kill(os.getpid(), 9)", "the process that describes the task died"),
    ],
)
def test_a_task_that_loops_waits_hoards_or_dies_is_left_out_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, reason: str) -> None:
    tmp_path.chmod(0o755)
    folder = tmp_path / "KernelBench" / "level1"
    folder.mkdir(parents=True)
    (folder / "1_Bad.py").write_text(TASK.replace("return torch.exp(x)", body))
    monkeypatch.setattr(foreign, "_DEADLINE_S", 1.0 if "sleep" in body else 120.0)
    monkeypatch.setattr(foreign, "_CPU_S", 2 if body.startswith("while") else 60)
    with pytest.raises(UsageError, match="can become an operator") as caught:
        foreign.open_suite(foreign.SuiteRequest(suite=str(tmp_path), cache_dir=str(tmp_path / "cache"), is_trusted=True))
    assert reason in str(caught.value)
