"""Does an operator project compile its kernel once per tiling key where it has to, and once per combination of its template?"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1] / "submissions" / "operator_project"
HOST = "op_host/scaled_add.cpp"
KERNEL = "op_kernel/scaled_add.cpp"
KEYS = "op_kernel/scaled_add_keys.h"

TEMPLATE = """#pragma once
#include "ascendc/host_api/tiling/template_argument.h"
ASCENDC_TPL_ARGS_DECL(ScaledAdd, ASCENDC_TPL_BOOL_DECL(IS_PLAIN, 0, 1));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_BOOL_SEL(IS_PLAIN, 0, 1)));
"""
CHOOSES = """const uint32_t isPlain = *context->GetAttrs()->GetFloat(0) == 1.0f ? 1 : 0;
    ASCENDC_TPL_SEL_PARAM(context, isPlain);"""
ASSERTS = """GET_TILING_DATA(data, tiling);
    assert((data.alpha == 1.0f) == (IS_PLAIN == 1));"""


def project(folder: Path, changes: dict[str, list[tuple[str, str]]]) -> Path:
    """A copy of the project with texts replaced, each of which it has to hold."""
    shutil.copytree(HERE / "project", folder)
    for name, pairs in changes.items():
        text = (folder / name).read_text()
        for old, new in pairs:
            assert old in text, old
            text = text.replace(old, new, 1)
        (folder / name).write_text(text)
    return folder


def evaluate(made: Path, out: Path) -> dict[str, Any]:
    """The operator's part of the report."""
    options = ["--suite", str(HERE / "suite"), "--trust", "--out", str(out)]
    done = subprocess.run([sys.executable, "-m", "piton.cli.main", "eval", str(made), *options], capture_output=True, text=True, timeout=590, check=False)
    assert (out / "report.json").is_file(), done.stdout + done.stderr
    (operator,) = json.loads((out / "report.json").read_text())["operators"]
    found: dict[str, Any] = operator
    return found


IN_CONDITIONS = [
    ("    if (TILING_KEY_IS(1)) {", "    TILING_KEY_LIST(1, 2);\n#if TILING_KEY_VAR == 1\n    {"),
    ("    } else if (TILING_KEY_IS(2)) {", "    }\n#elif TILING_KEY_VAR == 2\n    {"),
    ("        }\n    }\n}\n", '        }\n    }\n#else\n#error "compiled without a key"\n#endif\n}\n'),
]


def test_a_kernel_that_asks_the_preprocessor_for_its_key_is_compiled_for_each(tmp_path: Path) -> None:
    operator = evaluate(project(tmp_path / "mine", {KERNEL: IN_CONDITIONS}), tmp_path / "run")
    assert [case["outcome"]["cause"] for case in operator["cases"]] == ["none"] * 3, (operator["build_outcome"], operator["diagnostics"])
    launches = [launch["kernel"] for case in operator["cases"] for launch in case["launches"]]
    assert launches == ["float_0_key_1::scaled_add", "float16_1_key_2::scaled_add", "float16_1_key_1::scaled_add"]


def test_a_key_without_a_compile_of_the_kernel_says_which_there_are(tmp_path: Path) -> None:
    changes = {KERNEL: IN_CONDITIONS, HOST: [("is_small ? 1 : 2)", "is_small ? 7 : 2)")]}
    first = evaluate(project(tmp_path / "mine", changes), tmp_path / "run")["cases"][0]
    assert first["outcome"]["cause"] == "host_exception", first["outcome"]
    assert "set tiling key 7; the kernel has 1, 2" in first["outcome"]["message"]


def test_a_combination_of_a_template_kernel_is_chosen_by_an_attribute(tmp_path: Path) -> None:
    kernel = [
        ('#include "kernel_operator.h"\n', '#include "kernel_operator.h"\n#include "scaled_add_keys.h"\n'),
        ('extern "C" __global__', "template <int IS_PLAIN>\n__global__"),
        ("GET_TILING_DATA(data, tiling);", ASSERTS),
        ("    if (TILING_KEY_IS(1)) {", "    if (data.total <= kMost) {"),
        ("else if (TILING_KEY_IS(2)) {", "else {"),
    ]
    host = [
        ('#include "scaled_add_tiling.h"', '#include "scaled_add_tiling.h"\n#include "../op_kernel/scaled_add_keys.h"'),
        ("context->SetTilingKey(is_small ? 1 : 2);", CHOOSES),
    ]
    made = project(tmp_path / "mine", {KERNEL: kernel, HOST: host})
    (made / KEYS).write_text(TEMPLATE)
    operator = evaluate(made, tmp_path / "run")
    assert [case["outcome"]["cause"] for case in operator["cases"]] == ["none"] * 3, (operator["build_outcome"], operator["diagnostics"], operator["cases"])
