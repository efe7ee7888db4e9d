"""Does suite cann-lowbit run end to end where its types exist, and is a chip without them refused before anything is built?"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from null_world import piton

from piton.targets.null_lowbit_fused import WHOLE_CALLS

OPERATORS = tuple(sorted(WHOLE_CALLS))


def submission(root: Path, cases: dict[str, dict[str, object]] | None = None) -> Path:
    """A submission that the null target plays: right for every operator, but for the calls that `cases` gives by operator and case."""
    for name in OPERATORS:
        for folder in ("op_kernel", "op_plugin"):
            place = root / "csrc" / "ops" / name / folder
            place.mkdir(parents=True)
            (place / f"{name}.cpp").write_text("// played by the null target\n")
    (root / "cann_bench").mkdir()
    (root / "cann_bench" / "__init__.py").write_text("")
    script = {name: {"default": {"compute": name}, "cases": (cases or {}).get(name, {})} for name in OPERATORS}
    (root / "null.yaml").write_text(yaml.safe_dump({"operators": script}))
    return root


def evaluate(world: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return piton(world, "eval", submission(world / "submission"), "--suite", "cann-lowbit", "--target", "null", "--out", "run", *arguments)


def outcomes(world: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Outcomes of the run by operator and case."""
    report = json.loads((world / "run" / "report.json").read_text())
    return {(part["operator"], case["case"]["id"]): case["outcome"] for part in report["operators"] for case in part["cases"]}


@pytest.mark.slow
def test_the_smallest_cases_of_every_operator_pass_in_both_trials(tmp_path: Path) -> None:
    done = evaluate(tmp_path, "--trials", "2", "--max-elements", "1500000")
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = {key: found["verdict"] for key, found in outcomes(tmp_path).items() if found["verdict"] != "not_run"}
    assert {name for name, _ in verdicts} == set(OPERATORS)
    assert len(verdicts) >= 30
    assert set(verdicts.values()) == {"passed"}


WRONG = {
    ("mx_quant", "2"): ({"compute": "mx_quant", "dtype_name": "uint8"}, "output y has dtype uint8, expected float8_e4m3fn"),
    ("mx_quant", "7"): (
        {"compute": "mx_quant", "shape": [23, 10, 7, 898]},
        "expected [23, 10, 7, 449] ([23, 10, 7, 898] elements of float4_e2m1, two in a byte)",
    ),
    ("fp8_quant", "4"): ({"compute": "fp8_quant", "dtype_name": "float8_e5m2"}, "expected uint8 (which carries hifloat8)"),
    ("mx_dequant", "3"): ({"compute": "copy"}, "output y has dtype float8_e5m2, expected float16"),
}


RIGHT = {("mx_quant", "9"), ("mx_dequant", "4"), ("fp8_quant", "10"), ("dynamic_mx_quant", "5"), ("fp8_quant_matmul", "4"), ("mx_quant_matmul", "5")}
"""An output in float4_e2m1, an input in it, an output in hifloat8, scales in pairs, an optional input left out, and a product of packed matrices."""


def test_right_calls_pass_and_a_wrong_form_fails_with_what_was_expected(tmp_path: Path) -> None:
    scripts: dict[str, dict[str, object]] = {name: {case: call for (of, case), (call, _) in WRONG.items() if of == name} for name in OPERATORS}
    chosen = [argument for name, case in [*WRONG, *RIGHT] for argument in ("--case", f"{name}/{case}")]
    submission(tmp_path / "submission", scripts)
    done = piton(tmp_path, "eval", "submission", "--suite", "cann-lowbit", "--target", "null", "--out", "run", *chosen)
    assert done.returncode == 1, done.stdout + done.stderr
    found = outcomes(tmp_path)
    assert {key for key, outcome in found.items() if outcome["verdict"] == "passed"} == RIGHT
    assert [words for key, (_, words) in WRONG.items() if words not in found[key]["message"]] == []


def test_a_chip_without_the_types_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    submission(tmp_path / "submission")
    done = piton(tmp_path, "eval", "submission", "--suite", "cann-lowbit", "--target", "ascend910b2-sim", "--out", "run")
    assert done.returncode == 2
    assert "unsupported: ascend910b2-sim has no such element types" in done.stderr
    assert "float8_e4m3 in fp8_quant/1" in done.stderr
    assert not (tmp_path / "run" / "report.json").exists()
