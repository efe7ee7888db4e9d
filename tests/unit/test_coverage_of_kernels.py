"""Does the benchmark of coverage choose, read and classify public kernels as its page says?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "coverage"))

import classify
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
    assert "`NotThere` | 1" in page.read_text("utf-8")
    kept = (work / "results.json").stat().st_mtime_ns
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0
    assert (work / "results.json").stat().st_mtime_ns == kept
