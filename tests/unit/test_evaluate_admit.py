from pathlib import Path

import pytest

from piton.catalog import read_submission
from piton.core.verdict import Cause, Outcome
from piton.evaluate.admit import SHARED, find_refusals

KERNEL = "csrc/ops/exp/op_kernel/exp.cpp"


def refusals(tmp_path: Path, files: dict[str, bytes]) -> dict[str, Outcome]:
    everything = {KERNEL: b"// kernel\n", "csrc/ops/gelu/op_kernel/gelu.cpp": b"\n", "cann_bench/__init__.py": b"", **files}
    for name, data in everything.items():
        path = tmp_path / "submission" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return dict(find_refusals(read_submission(tmp_path / "submission", tmp_path / "store")))


@pytest.mark.parametrize(
    "line",
    [
        "auto s = aclnnExpGetWorkspaceSize(x);",
        "aclopExecuteV2(a);",
        "vnpu_submit(0);",
        "PITON_DEVICE_PASS",
        "__sanitizer_cov_trace_pc();",
        '#include "vnpu/abi.h"',
        "#  include <vnpu/launch.h>",
        'asm volatile("rdtsc");',
        '__asm__("nop");',
        'const char *s = ".incbin \\"x\\"";',
    ],
)
def test_a_refused_text_rejects_its_operator_at_its_line(tmp_path: Path, line: str) -> None:
    found = refusals(tmp_path, {KERNEL: f"// one\n/* two\n*/\n{line}\n".encode()})
    assert list(found) == ["exp"]
    assert (found["exp"].cause, found["exp"].place.file, found["exp"].place.line) == (Cause.FORBIDDEN_SOURCE, KERNEL, 4)


@pytest.mark.parametrize(
    "line",
    [
        "// aclnnExp is what this replaces",
        "/* vnpu_submit( */ int x;",
        'const char *s = "aclnnExp";',
        "int asm_count = 0;",
        "#include <torch_npu/csrc/core/npu/NPUStream.h>",
        '#include "kernel_operator.h"',
        "dlopen(0, 0);",
    ],
)
def test_comments_strings_and_ordinary_code_are_admitted(tmp_path: Path, line: str) -> None:
    assert refusals(tmp_path, {KERNEL: line.encode()}) == {}


@pytest.mark.parametrize(("name", "data"), [("csrc/ops/exp/lib.a", b"x"), ("csrc/ops/exp/tables.txt", b"\x7fELF\x02\x01")])
def test_a_file_that_is_no_source_rejects_its_operator_whatever_its_name(tmp_path: Path, name: str, data: bytes) -> None:
    found = refusals(tmp_path, {name: data})
    assert (list(found), found["exp"].place.file) == (["exp"], name)


@pytest.mark.parametrize("name", ["csrc/extension.cpp", "csrc/ops/common.h"])
def test_a_refusal_outside_of_an_operator_holds_for_all(tmp_path: Path, name: str) -> None:
    assert list(refusals(tmp_path, {name: b"aclnnExp(1);"})) == [SHARED]


@pytest.mark.parametrize("text", ["/* " * 60_000, '"' + '\\"' * 60_000, "asm" + " " * 60_000, "#include <\n" * 60_000])
def test_the_time_a_hostile_file_takes_grows_with_its_size_only(tmp_path: Path, text: str) -> None:
    assert refusals(tmp_path, {KERNEL: text.encode()}) == {}


def test_code_after_a_string_that_does_not_end_is_looked_at(tmp_path: Path) -> None:
    assert refusals(tmp_path, {KERNEL: b'int x = "; asm(0);\n'}) != {}
