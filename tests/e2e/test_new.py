"""Does a submission that `piton new` wrote pass as it is, and does an incomplete one say so?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "submissions"))

from row_shapes import ALL_ROWS, write_row_suite

CASES = {"exp": ("1", "2", "3", "13"), "gelu": ("2", "3", "5", "12")}
"""Small cases of the suite: every dtype and special values. Row operators are judged at the edges of their tilings instead (row_shapes)."""
ODD = {
    "schema": "odd(Tensor[] xs, Tensor? bias, Tensor z, int[] sizes, float[]? factors=None, *, bool flag=false, str? mode=None) -> (Tensor y, Tensor[] parts)",
    "attrs": [{"name": "sizes", "type": "int[]"}, {"name": "factors", "type": "float[]"}, {"name": "flag", "type": "bool"}, {"name": "mode", "type": "str"}],
    "inputs": [{"name": name, "dtype": ["float32"]} for name in ("xs", "bias", "z")],
    "outputs": [{"name": "y", "dtype": ["float32"]}, {"name": "parts", "dtype": ["float32"]}],
}
GOLDEN = "def odd(xs, bias, z, sizes, factors=None, flag=False, mode=None):\n    return z + 1, [x + 2 for x in xs]\n"


def piton(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "piton.cli.main", *arguments], capture_output=True, text=True, timeout=280, check=False, cwd=cwd)


def evaluated(submission: Path, out: Path, *options: str) -> dict[str, Any]:
    done = piton("eval", str(submission), "--out", str(out), *options)
    assert (out / "report.json").is_file(), done.stdout + done.stderr
    report: dict[str, Any] = json.loads((out / "report.json").read_text())
    return report


def called_cases(report: dict[str, Any], operator: str) -> list[dict[str, Any]]:
    (cases,) = [item["cases"] for item in report["operators"] if item["operator"] == operator]
    return [case for case in cases if case["outcome"]["cause"] != "filtered_out"]


@pytest.mark.parametrize(("operator", "layout"), [("exp", "folders"), ("gelu", "single"), ("rms_norm", "single"), ("softmax", "folders")])
def test_a_new_submission_passes_as_it_is(operator: str, layout: str, tmp_path: Path) -> None:
    made = piton("new", operator, "--out", "mine", "--package", "my_ops", "--op-layout", layout, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert f"piton eval mine --op {operator}" in made.stdout
    edges = [] if operator in CASES else ["--suite", str(write_row_suite(tmp_path / "suite")), "--trust"]
    chosen = [option for case in CASES.get(operator, ()) for option in ("--case", case)]
    cases = called_cases(evaluated(tmp_path / "mine", tmp_path / "run", "--op", operator, *edges, *chosen), operator)
    assert len(cases) == len(CASES.get(operator) or ALL_ROWS[operator])
    assert {case["outcome"]["verdict"] for case in cases} == {"passed"}, [case["outcome"] for case in cases]
    assert {finding["kind"] for case in cases for finding in case["findings"]} <= {"auto_sync_relied_on", "no_anchor"}


def write_odd_suite(folder: Path) -> Path:
    place = folder / "level1" / "odd"
    place.mkdir(parents=True)
    (place / "golden.py").write_text(GOLDEN)
    (place / "proto.yaml").write_text(json.dumps({"operator": {"name": "Odd", "category": "Other", **ODD}}))
    case = {"operator": "Odd", "case_id": 1, "input_shape": [[[40], [50]], None, [30]], "dtype": [["float32", "float32"], None, "float32"]}
    (place / "cases.yaml").write_text(json.dumps({"cases": [{**case, "attrs": {"sizes": [1, 2]}, "value_range": [-1, 1]}]}))
    return folder


def test_an_operator_without_a_known_formula_builds_says_what_is_missing_and_fails(tmp_path: Path) -> None:
    suite = write_odd_suite(tmp_path / "suite")
    made = piton("new", "odd", "--out", "mine", "--suite", str(suite), cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "NOT COMPLETE" in made.stdout
    assert "copies bytes of xs to y" in made.stdout
    assert f"piton eval mine --suite {suite} --trust --op odd" in made.stdout
    (case,) = called_cases(evaluated(tmp_path / "mine", tmp_path / "run", "--suite", str(suite), "--trust"), "odd")
    assert case["launches"], case["outcome"]
    assert case["outcome"]["verdict"] in ("wrong_shape", "wrong_value", "unattributed"), case["outcome"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sofmax",), "one of exp, foreach_addcdiv_scalar"),
        (("exp", "--out", "taken"), "never overwrites"),
        (("exp", "--package", "A"), "check --package"),
        (("exp", "--op-layout", "flat"), "folders or single"),
    ],
)
def test_a_mistake_is_one_message_and_leaves_nothing(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    done = piton("new", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    assert list((tmp_path / "taken").iterdir()) == []
