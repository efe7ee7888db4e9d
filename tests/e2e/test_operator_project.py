"""Does an operator project (op_host, op_kernel, no binding) evaluate, and is each mistake in it told with its reason?"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parents[1] / "submissions" / "operator_project"
LISTS = HERE.parent / "operator_lists"
HOST = "op_host/scaled_add.cpp"
KERNEL = "op_kernel/scaled_add.cpp"


def evaluate(project: Path, out: Path, suite: Path = HERE / "suite") -> dict[str, Any]:
    """The operator's part of the report."""
    options = ["--suite", str(suite), "--trust", "--out", str(out)]
    done = subprocess.run([sys.executable, "-m", "piton.cli.main", "eval", str(project), *options], capture_output=True, text=True, timeout=590, check=False)
    assert (out / "report.json").is_file(), done.stdout + done.stderr
    (operator,) = json.loads((out / "report.json").read_text())["operators"]
    found: dict[str, Any] = operator
    return found


def test_a_project_evaluates_with_two_element_types_and_two_tiling_keys(tmp_path: Path) -> None:
    operator = evaluate(HERE / "project", tmp_path / "run")
    assert [case["outcome"]["cause"] for case in operator["cases"]] == ["none"] * 3, (operator["build_outcome"], operator["diagnostics"])
    launches = [launch for case in operator["cases"] for launch in case["launches"]]
    assert [launch["kernel"] for launch in launches] == ["float_0::scaled_add", "float16_1::scaled_add", "float16_1::scaled_add"]
    assert [launch["blocks"] > 1 for launch in launches] == [False, True, False]


def broken(tmp_path: Path, name: str, old: str, new: str) -> dict[str, Any]:
    """The operator's part of the report for the project with one text replaced."""
    project = tmp_path / "mine"
    shutil.copytree(HERE / "project", project)
    text = (project / name).read_text()
    assert old in text
    (project / name).write_text(text.replace(old, new))
    return evaluate(project, tmp_path / "run")


@pytest.mark.parametrize(
    ("old", "new", "cause", "text"),
    [
        ('{"x", "y"}', '{"x", "y", "w"}', "load_failed", "the OpDef of ScaledAdd has 3 inputs (x, y, w), operator scaled_add has 2 (x, y)"),
        ('        this->Attr("alpha").AttrType(OPTIONAL).Float(1.0f);\n', "", "load_failed", "has 0 attributes (none), operator scaled_add has 1 (alpha)"),
        ("OP_ADD(ScaledAdd);", "", "operator_missing", "op_host defines no operator scaled_add"),
        ("set_alpha", "set_beta", "compile_error", "set_beta"),
    ],
)
def test_what_does_not_fit_is_told_when_it_is_built(tmp_path: Path, old: str, new: str, cause: str, text: str) -> None:
    found = broken(tmp_path, HOST, old, new)["build_outcome"]
    assert (found["cause"], found["place"]["file"]) == (cause, HOST), found
    assert text in found["message"]


@pytest.mark.parametrize(
    ("name", "old", "new", "cause", "text"),
    [
        (HOST, "SetTiling(optiling::Tile).", "", "host_exception", "it has no tiling function"),
        (HOST, "this->SetInferShape(ge::InferShape);", "", "host_exception", "it has no InferShape function"),
        (
            HOST,
            ".Float(1.0f);",
            '.Float(1.0f);\n        this->Attr("beta").Int();',
            "host_exception",
            "attribute beta is REQUIRED and the call brings no value for it",
        ),
        (HOST, "is_small ? 1 : 2)", "is_small ? 7 : 2)", "device_exception", "takes tiling key 7"),
        (HOST, "SetDataSize(tiling.GetDataSize())", "SetDataSize(64)", "device_exception", "the tiling function wrote 64"),
    ],
)
def test_what_goes_wrong_at_a_call_says_why(tmp_path: Path, name: str, old: str, new: str, cause: str, text: str) -> None:
    (first, *_) = broken(tmp_path, name, old, new)["cases"]
    assert first["outcome"]["cause"] == cause, first["outcome"]
    assert text in first["outcome"]["message"]


def test_a_project_takes_lists_numbers_values_and_what_may_be_left_out(tmp_path: Path) -> None:
    operator = evaluate(LISTS / "project", tmp_path / "run", LISTS / "suite")
    assert [case["outcome"]["cause"] for case in operator["cases"]] == ["none"] * 2, (operator["build_outcome"], operator["diagnostics"], operator["cases"])
    launches = [[(launch["kernel"], launch["blocks"]) for launch in case["launches"]] for case in operator["cases"]]
    assert launches[0] == [("piton_project::InitialValue", 1), ("row_0::blend_lists", 3)]
    assert launches[1][1] == ("row_0::blend_lists", 1)
