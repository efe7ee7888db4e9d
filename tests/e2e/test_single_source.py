"""Is a single-source operator built, found and right in every layout that it may come in?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parents[1] / "submissions" / "single_source"
SOURCE = HERE / "twice.asc"
EXTENSION = """#include <Python.h>
extern "C" PyObject *PyInit__C(void)
{
    static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
    return PyModule_Create(&module);
}
"""


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def evaluate(submission: Path, out: Path) -> tuple[int, dict[str, Any]]:
    options = ["--suite", str(HERE / "suite"), "--trust", "--out", str(out)]
    command = [sys.executable, "-m", "piton.cli.main", "eval", str(submission), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=590, check=False)
    assert (out / "report.json").is_file(), done.stdout + done.stderr
    return done.returncode, json.loads((out / "report.json").read_text())


def assert_passed(submission: Path, out: Path) -> dict[str, Any]:
    status, report = evaluate(submission, out)
    (operator,) = report["operators"]
    assert [case["outcome"]["cause"] for case in operator["cases"]] == ["none", "none"], (operator["build_outcome"], operator["diagnostics"])
    kernels = [launch["kernel"] for case in operator["cases"] for launch in case["launches"]]
    assert (status, kernels) == (0, ["twice_ops::twice_kernel<float>", "twice_ops::twice_kernel<_Float16>"])
    return report


def test_a_file_is_a_submission_and_its_operators_are_found_by_the_namespace_that_piton_defines(tmp_path: Path) -> None:
    assert_passed(SOURCE, tmp_path / "run")


def test_the_folder_of_an_architecture_with_a_package_is_a_layout_and_other_architectures_are_noted(tmp_path: Path) -> None:
    root = tmp_path / "mine"
    put(root, "csrc/twice/dav-2201/twice.asc", SOURCE.read_text())
    put(root, "csrc/twice/dav-3510/twice.asc", "this is for another chip\n")
    put(root, "csrc/extension.cpp", EXTENSION)
    put(root, "my_ops/__init__.py", "import torch\n\nfrom . import _C\n")
    report = assert_passed(root, tmp_path / "run")
    assert any("csrc/twice/dav-3510/twice.asc" in finding["message"] for finding in report["findings"])


@pytest.mark.parametrize("place", ["csrc/ops/twice/twice.cpp", "twice.asc"])
def test_a_namespace_in_the_source_names_the_package_that_is_not_there(tmp_path: Path, place: str) -> None:
    put(tmp_path / "mine", place, SOURCE.read_text().replace("EXTENSION_MODULE_NAME", "named_here"))
    assert_passed(tmp_path / "mine", tmp_path / "run")


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("AscendC::Add(b, a, a, count);", "AscendC::Addd(b, a, a, count);", "Addd"),
        ("AscendC::Add(b, a, a, count);", "AscendC::Add(b, a, a, size_of({}));", "size_of needs torch, which kernels do not have"),
        ("return y;\n}", "return z;\n}", "'z' was not declared"),
    ],
    ids=["device", "host function in device code", "host"],
)
def test_an_error_in_either_pass_has_its_line(tmp_path: Path, old: str, new: str, text: str) -> None:
    helper = "int size_of(const at::Tensor &x) { return 1; }\n"
    text_before = SOURCE.read_text().replace("template <typename T>\n__global__", f"{helper}template <typename T>\n__global__")
    assert old in text_before
    broken = text_before.replace(old, new)
    put(tmp_path, "twice.asc", broken)
    status, report = evaluate(tmp_path / "twice.asc", tmp_path / "run")
    (operator,) = report["operators"]
    found = operator["build_outcome"]
    line = next(number for number, written in enumerate(broken.split("\n"), 1) if new.split("\n")[0] in written)
    assert (status, found["place"]["file"], found["place"]["line"]) == (1, "twice.asc", line), found
    assert text in found["message"]
