"""Does the benchmark of coverage choose, read and classify public kernels as its page says?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "coverage"))

import classify
import programs
import selection
import structures
from builder import Built

BENCHMARK = Path(selection.__file__).parent
DEFINITION = """
#include "register/op_def_registry.h"
namespace ops {
class %(type)s : public OpDef {
public:
    explicit %(type)s(const char *name) : OpDef(name) {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_NCDHW});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_NCDHW});
        this->AICore().SetTiling(optiling::NotHere);
        this->AICore().AddConfig("%(chip)s");
    }
};
OP_ADD(%(type)s);
}
"""
TILING = """
constexpr uint32_t MOST = 4;
BEGIN_TILING_DATA_DEF(PartData)
TILING_DATA_FIELD_DEF(uint32_t, n); /* elements */
END_TILING_DATA_DEF;
BEGIN_TILING_DATA_DEF(%(type)sData)
TILING_DATA_FIELD_DEF_STRUCT(PartData, part);
TILING_DATA_FIELD_DEF_ARR(int64_t, 2 * MOST, sizes);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(PartData, PartData)
REGISTER_TILING_DATA_CLASS(%(type)s, %(type)sData)
"""
KERNEL = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void %(name)s(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    GET_TILING_DATA(data, tiling);
    AscendC::GlobalTensor<DTYPE_X> in;
    in.SetGlobalBuffer((__gm__ DTYPE_X *)x, data.part.n + data.sizes[7]);
    %(body)s
}
"""


TABLE = """
#include "ascendc/host_api/tiling/template_argument.h"
ASCENDC_TPL_ARGS_DECL(AnotherName, ASCENDC_TPL_UINT_DECL(mode, ASCENDC_TPL_8_BW, ASCENDC_TPL_UI_LIST, 3, 5));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(mode, ASCENDC_TPL_UI_LIST, 3, 5)));
"""
TEMPLATE = """
#include "kernel_operator.h"
#include "tiling_key.h"
template <uint32_t mode>
__global__ __aicore__ void templated(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    static_assert(mode == 3 || mode == 5, "only what the table has");
}
"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def operator(root: Path, name: str, *, chip: str = "ascend910b", body: str = "") -> None:
    """An operator's folder with definition, tiling structure and kernel."""
    words = {"type": "".join(part.capitalize() for part in name.split("_")), "name": name, "chip": chip, "body": body}
    write(root / "math" / name / "op_host" / f"{name}_def.cpp", DEFINITION % words)
    write(root / "math" / name / "op_host" / f"{name}_tiling.h", TILING % words)
    write(root / "math" / name / "op_kernel" / f"{name}.cpp", KERNEL % words)


def test_files_are_left_out_by_reasons_that_are_counted(tmp_path: Path) -> None:
    operator(tmp_path, "scaled")
    operator(tmp_path, "newer", chip="ascend950")
    kernel = KERNEL % {"name": "a", "body": ""}
    write(tmp_path / "math/scaled/op_kernel/arch35/scaled_apt.cpp", kernel)
    write(tmp_path / "math/scaled/op_kernel/part.cpp", "int part();")
    write(tmp_path / "math/scaled/op_kernel_aicpu/scaled_aicpu.cpp", "int cpu();")
    write(tmp_path / "math/scaled/tests/ut/op_kernel/test_scaled.cpp", kernel)
    write(tmp_path / "examples/program.asc", kernel + "int main() { return 0; }")
    found = selection.select(tmp_path)
    assert [item.path for item in found.kernels] == ["math/scaled/op_kernel/scaled.cpp"]
    assert found.left_out == {
        "for the Ascend 950 by its path": 1,
        "without an entry function: part of another file": 1,
        "for the AI CPU": 1,
        "test, script or template of a project": 1,
        "whole program or torch binding: run instead (public-kernels.md)": 1,
        "for other chips by the operator's definition": 1,
    }


def test_tiling_structures_come_before_their_users_with_constants_filled_in(tmp_path: Path) -> None:
    operator(tmp_path, "scaled")
    found, title = structures.index(tmp_path).of("Scaled", tmp_path / "math" / "scaled")
    assert title == "ScaledData"
    assert [item.title for item in found] == ["PartData", "ScaledData"]
    assert [(item.type, item.name, item.count) for item in found[1].fields] == [("PartData", "part", 0), ("int64_t", "sizes", 8)]


@pytest.mark.parametrize(
    ("message", "kind", "names"),
    [
        ("fatal error: lib/x_intf.h: No such file or directory", classify.Kind.HEADER, ("lib/x_intf.h",)),
        ("error: 'Mystery' was not declared in this scope; did you mean 'X'?", classify.Kind.NAME, ("Mystery",)),
        ("error: there are no arguments to 'Mystery' that depend on a template parameter, so", classify.Kind.NAME, ("Mystery",)),
        ("error: no matching function for call to 'Add(AscendC::LocalTensor<float>&, int)'", classify.Kind.FORM, ("Add(...)",)),
        ("error: no matching function for call to 'AscendC::Que<1>::Pop<float>(int)'", classify.Kind.FORM, ("Pop(...)",)),
        ("error: expected ';' before '}' token", classify.Kind.THEIRS, ()),
    ],
)
def test_the_first_error_gives_the_class_and_the_names(message: str, kind: classify.Kind, names: tuple[str, ...]) -> None:
    failure = classify.classify(Built(False, f"op_kernel/a.cpp:3:5: {message}\n"), frozenset({"Add", "Pop"}), "/headers")
    assert (failure.kind, failure.names) == (kind, names)


def test_an_assertion_of_our_headers_is_a_refusal_and_of_theirs_is_theirs() -> None:
    text = "/headers/vector.h:3:5: error: static assertion failed: Add does not support bool\n"
    assert classify.classify(Built(False, text), frozenset(), "/headers").kind is classify.Kind.REFUSED
    assert classify.classify(Built(False, text), frozenset(), "/others").kind is classify.Kind.THEIRS


def test_a_checkout_is_measured_and_taken_up_again(tmp_path: Path) -> None:
    checkout, work = tmp_path / "checkout", tmp_path / "work"
    operator(checkout, "scaled")
    operator(checkout, "other", body="AscendC::NotThere(in);")
    operator(checkout, "unlinked", body="extern void Nowhere(int); Nowhere(1);")
    operator(checkout, "templated")
    write(checkout / "math/templated/op_kernel/templated.cpp", TEMPLATE)
    write(checkout / "math/templated/op_kernel/tiling_key.h", TABLE)
    page = tmp_path / "page.md"
    command = [sys.executable, str(BENCHMARK), "--work", str(work), str(checkout), "--write", str(page)]
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stderr
    results = {Path(item["path"]).stem: item for item in json.loads((work / "results.json").read_text("utf-8"))}
    assert [row["types"] for row in results["scaled"]["rows"]] == [["DT_FLOAT", "DT_FLOAT"], ["DT_FLOAT16", "DT_FLOAT16"]]
    assert {name: (item["kind"], item["rows"][0]["is_linked"]) for name, item in results.items()} == {
        "scaled": ("", True),
        "templated": ("", True),
        "other": ("missing name", False),
        "unlinked": ("undefined symbol", False),
    }
    assert results["templated"]["combinations_tried"] == 2  # the table counts whatever name it has
    text = page.read_text("utf-8")
    assert "`NotThere` | 1" in text
    assert "python benchmarks/coverage --work work checkout --write page.md" in text
    kept = (work / "results.json").stat().st_mtime_ns
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0
    assert (work / "results.json").stat().st_mtime_ns == kept
    again = [*command[:-2], "--rows", "1", "--failed", "--jobs", "2"]
    assert subprocess.run(again, capture_output=True, text=True, check=False).returncode == 0
    rows = {Path(item["path"]).stem: len(item["rows"]) for item in json.loads((work / "results.json").read_text("utf-8"))}
    assert rows == {"scaled": 2, "templated": 1, "other": 1, "unlinked": 1}  # what had linked was left as it was


PROGRAM = "__global__ __aicore__ void k();\nint main() { k<<<1, nullptr, nullptr>>>(); }"
BINDING = 'TORCH_LIBRARY(a, m) { m.def("mine(Tensor x) -> Tensor"); }\n'


def test_programs_and_operators_of_torch_are_listed_and_the_rest_is_counted_or_decided(tmp_path: Path) -> None:
    operator(tmp_path, "newer", chip="ascend950")
    write(tmp_path / "a/examples/program.asc", PROGRAM)
    write(tmp_path / "a/runner/main.cpp", '#include "runner.h"\nint main() { return Run(); }')
    write(tmp_path / "a/runner/runner.cpp", "int Run() { return aclnnMine(); }")
    write(tmp_path / "b/bound.cpp", BINDING + PROGRAM.replace("main", "Launch"))
    write(tmp_path / "b/calls.cpp", BINDING + "void f() { EXEC_NPU_CMD(aclnnMine, x); }")
    write(tmp_path / "b/test_host.cpp", "// __global__\nint main() { return 0; }")
    write(tmp_path / "math/newer/examples/other.cpp", PROGRAM)
    write(tmp_path / "c/op_kernel_aicpu/cpu.cpp", PROGRAM)
    found = programs.find([tmp_path])
    assert [(item.path, item.operators) for item in found.programs] == [("a/examples/program.asc", ()), ("b/bound.cpp", ("mine",))]
    assert [(item.path, item.verdict) for item in found.decided] == [("b/calls.cpp", programs.OF_THE_LIBRARY)]
    reasons = (programs.OF_THE_LIBRARY, programs.OF_THE_HOST, "for other chips by the operator's definition", "for the AI CPU")
    assert found.left_out == {f"{tmp_path.name}: {reason}": 1 for reason in reasons}


def test_a_program_without_an_entry_and_an_entry_without_its_program_are_errors(tmp_path: Path) -> None:
    write(tmp_path / "program.asc", PROGRAM)
    write(tmp_path / "calls.cpp", BINDING + "void f() { EXEC_NPU_CMD(aclnnMine, x); }")
    found = programs.find([tmp_path])

    def entry(path: str) -> programs.Entry:
        return programs.Entry(repository=tmp_path.name, path=path, verdict=programs.RIGHT)

    with pytest.raises(programs.ForgottenError, match=r"no entry .* program\.asc"):
        programs.judge(found, [])
    with pytest.raises(programs.ForgottenError, match=r"no such program .* gone"):
        programs.judge(found, [entry("program.asc"), entry("gone.asc")])
    judged = programs.judge(found, [entry("program.asc"), entry("calls.cpp")])
    assert [pair[0].path for pair in judged.judged] == ["program.asc", "calls.cpp"]
    assert judged.decided == ()  # somebody has run it by other means
    assert len(programs.judge(found, [entry("program.asc")]).decided) == 1


def test_every_entry_says_what_was_seen_when_and_with_which_commit() -> None:
    assert [item.path for item in programs.entries() if not (item.how and item.day and item.commit)] == []
