"""Is every reference kernel complete, and right without a finding while the device compiler inserts no synchronisation?"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from piton.catalog import load_suite

ROOT = Path(__file__).resolve().parents[2]
SUBMISSION = ROOT / "kernels" / "reference"
OPERATORS = sorted(folder.name for folder in (SUBMISSION / "csrc/ops").iterdir() if folder.is_dir())
SUITE = {member.operator.name: member for member in load_suite().members if member.operator.level in (1, 2)}
LISTED: dict[str, set[str]] = {"apply_rotary_pos_emb": {"relaxed_pass"}}
"""Findings that a kernel's README explains, by operator."""


def smallest_cases(operator: str) -> list[str]:
    """Ids of the two public cases with the fewest elements."""
    return [case.id for case in sorted(SUITE[operator].cases, key=lambda case: case.elements)[:2]]


def arguments_of(schema: str) -> str:
    """What stands before the arrow, without spaces and quotes; `False` is `false`."""
    return re.sub(r"[\s\"']", "", schema.split("->")[0]).lower()


def evaluated(operator: str, out: Path) -> list[dict[str, Any]]:
    """Reports on these two cases, with the compiler's auto-sync off."""
    chosen = [word for case in smallest_cases(operator) for word in ("--case", case)]
    command = [sys.executable, "-m", "piton.cli.main", "eval", str(SUBMISSION), "--op", operator, *chosen, "--no-auto-sync", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert (out / "report.json").is_file(), done.stdout + done.stderr
    (found,) = [item["cases"] for item in json.loads((out / "report.json").read_text())["operators"] if item["operator"] == operator]
    return [case for case in found if case["case"]["id"] in smallest_cases(operator)]


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_the_two_smallest_cases_pass_without_auto_sync_and_without_a_finding(operator: str, tmp_path: Path) -> None:
    cases = evaluated(operator, tmp_path / "run")
    assert len(cases) == 2
    for case in cases:
        assert case["outcome"]["verdict"] == "passed", case["outcome"]
        assert {finding["kind"] for finding in case["findings"]} <= LISTED.get(operator, set()), case["findings"]


def test_the_operators_are_of_levels_1_and_2() -> None:
    assert OPERATORS, "the submission has operators"
    assert set(OPERATORS) <= set(SUITE)


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_has_kernel_launcher_and_binding(operator: str) -> None:
    folder = SUBMISSION / "csrc/ops" / operator
    wanted = (f"op_kernel/{operator}_kernel.cpp", f"op_kernel/{operator}_launch.h", f"op_plugin/{operator}_plugin.cpp")
    assert [name for name in wanted if not (folder / name).is_file()] == []


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_has_a_readme_with_its_times_by_size(operator: str) -> None:
    page = SUBMISSION / "csrc/ops" / operator / "README.md"
    if not page.is_file():
        pytest.skip("not written yet")
    text = page.read_text()
    sizes = re.findall(r"^\| *(small|medium|large)\b", text, re.M)
    assert sizes == [size for size in ("small", "medium", "large") if size in sizes] != [], "rows of the table, in this order"
    assert "T_cand/T_HW" in text
    assert "simulated" in text
    assert "modelled" in text


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_is_registered_with_the_schema_of_the_suite(operator: str) -> None:
    source = (SUBMISSION / "csrc/ops" / operator / "op_plugin" / f"{operator}_plugin.cpp").read_text()
    defined = re.search(r'm\.def\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\);', source)
    assert defined is not None, "m.def of one text"
    schema = "".join(ast.literal_eval(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', defined.group(1)))
    assert arguments_of(schema) == arguments_of(SUITE[operator].operator.schema_text)


def test_the_package_wraps_every_operator_in_alphabetical_order() -> None:
    tree = ast.parse((SUBMISSION / "cann_bench/__init__.py").read_text())
    assert [node.name for node in tree.body if isinstance(node, ast.FunctionDef)] == OPERATORS


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_wrapper_returns_what_its_operator_does(operator: str) -> None:
    tree = ast.parse((SUBMISSION / "cann_bench/__init__.py").read_text())
    (wrapper,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == operator]
    assert f"torch.ops.cann_bench.{operator}(" in ast.unparse(wrapper)
    assert isinstance(wrapper.body[-1], ast.Return)
    assert wrapper.body[-1].value is not None


def test_operators_share_device_code_by_headers_of_the_common_folder_only() -> None:
    for source in sorted((SUBMISSION / "csrc/ops").rglob("*.[ch]*")):
        operator = source.relative_to(SUBMISSION / "csrc/ops").parts[0]
        for name in re.findall(r'^#include "(\.\./.*)"', source.read_text(), re.M):
            target = (source.parent / name).resolve().relative_to((SUBMISSION / "csrc").resolve())
            assert target.parts[0] == "common" or target.parts[:2] == ("ops", operator), f"{source}: {name}"
