"""Are operator projects found in every layout, and is what is generated for them what their description says?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from piton.catalog.layout import find_operators
from piton.core.submission import OperatorSources
from piton.targets.vnpu.project import Sources, depends_on_row, find_kernel
from piton.targets.vnpu.project_described import Project
from piton.targets.vnpu.steps import architecture_macros


@pytest.mark.parametrize(
    ("names", "operator"),
    [
        (["op_host/add_custom.cpp", "op_host/add_custom_tiling.h", "op_kernel/add_custom.cpp"], "add_custom"),
        (["op_host/add_custom/host.cpp", "op_kernel/add_custom/kernel.cpp"], "add_custom"),
        (["csrc/ops/add/op_host/add_def.cpp", "csrc/ops/add/op_kernel/add_kernel.cpp"], "add"),
        (["csrc/ops/add/op_host/d.cpp", "csrc/ops/add/op_kernel/k.cpp", "csrc/ops/add/op_plugin/p.cpp", "csrc/ops/add/op_api/a.cpp"], "add"),
        (["math/add/op_host/d.cpp", "math/add/op_kernel/k.cpp"], "add"),
    ],
)
def test_a_project_is_found_in_every_layout(names: list[str], operator: str) -> None:
    (found,) = find_operators(names)
    assert (found.operator, bool(found.hosts), bool(found.kernels), found.plugins) == (operator, True, True, ())


def test_sources_for_other_chips_and_tools_are_left_out() -> None:
    own = [
        "math/add/op_host/add_def.cpp",
        "math/add/op_host/arch22/add_tiling.cpp",
        "math/add/op_host/op_tiling/common/add_context.cpp",
        "math/add/op_kernel/add.cpp",
    ]
    others = [
        "math/add/op_host/arch35/add_tiling.cpp",
        "math/add/op_host/config/add.cpp",
        "math/add/op_kernel/add_apt.cpp",
        "math/add/op_kernel/arch35/add.cpp",
    ]
    (found,) = find_operators([*own, *others])
    assert (found.hosts, found.kernels) == (tuple(own[:3]), (own[3],))
    (flat,) = find_operators([name.removeprefix("math/add/") for name in [*own, *others]])
    assert (flat.operator, len(flat.hosts), flat.kernels) == ("add", 3, ("op_kernel/add.cpp",))


def test_two_operators_below_op_host_and_op_kernel_are_two() -> None:
    names = ["op_host/a/a_host.cpp", "op_kernel/a/a.cpp", "op_host/b/b_host.cpp", "op_kernel/b/b.cpp"]
    assert [(item.operator, item.hosts, item.kernels) for item in find_operators(names)] == [
        ("a", ("op_host/a/a_host.cpp",), ("op_kernel/a/a.cpp",)),
        ("b", ("op_host/b/b_host.cpp",), ("op_kernel/b/b.cpp",)),
    ]


def test_bindings_without_the_vendors_interface_make_a_direct_launch_operator() -> None:
    (found,) = find_operators(["csrc/ops/add/op_host/t.cpp", "csrc/ops/add/op_kernel/k.cpp", "csrc/ops/add/op_plugin/p.cpp"])
    assert (found.hosts, found.plugins) == ((), ("csrc/ops/add/op_plugin/p.cpp",))


def test_only_the_projects_own_interface_and_binding_are_left_out() -> None:
    sources = OperatorSources(operator="add", kernels=(), plugins=(), hosts=("csrc/ops/add/op_host/d.cpp",))
    paths = ["csrc/ops/add/op_plugin/p.cpp", "csrc/ops/add/op_api/a.cpp", "csrc/ops/add/op_kernel/k.cpp", "csrc/ops/mul/op_plugin/p.cpp"]
    assert [sources.leaves_out(path) for path in paths] == [True, True, False, False]


DESCRIBED: dict[str, Any] = {
    "operators": [
        {
            "type": "ScaledAdd", "file": "op_host/a.cpp", "line": 3, "inputs": [{"name": "x"}], "outputs": [{"name": "z"}], "attributes": ["alpha"],
            "rows": [{"types": ["DT_FLOAT", "DT_FLOAT"], "formats": [2, 2]}, {"types": ["DT_BF16", "DT_FLOAT"], "formats": [0, 2]}], "structure": "Data",
            "template": {"parameters": [{"name": "T", "is_type": True}, {"name": "N", "is_type": False}], "combinations": [[0, 8], [27, 1]]},
        }
    ],
    "structures": [{"title": "Data", "fields": [{"type": "uint32_t", "name": "n", "count": 0}, {"type": "float", "name": "f", "count": 3}]}],
}  # fmt: skip


def generated(*, per_row: bool, described: dict[str, Any] = DESCRIBED) -> dict[str, str]:
    project = Project.model_validate(described)
    found = project.find("scaled_add")
    assert found is not None
    return Sources(found, project, "scaled_add", per_row=per_row).entries(["op_kernel/a.cpp"])


def test_an_entry_sets_the_macros_of_its_row_and_calls_every_combination() -> None:
    entries = generated(per_row=True)
    assert list(entries) == ["piton_entry_0.cpp", "piton_entry_1.cpp"]
    text = entries["piton_entry_1.cpp"]
    for line in (
        "#define DTYPE_X bfloat16_t",
        "#define ORIG_DTYPE_Z DT_FLOAT",
        "#define FORMAT_X 0",
        "struct alignas(8) Data { uint32_t n; float f[3]; };",
        "#define PITON_PROJECT_TILING Data",
        "        case 1: piton_project::CallKernel(&::scaled_add<bfloat16_t, 1>, addresses); break;",
    ):
        assert line in text.split("\n")
    assert "#define DTYPE_X float\n" in entries["piton_entry_0.cpp"]


def test_a_combination_that_selects_a_kernel_type_says_so_before_its_kernel() -> None:
    described = json.loads(json.dumps(DESCRIBED))
    described["operators"][0]["template"]["kernel_types"] = [-1, 5]
    text = generated(per_row=False, described=described)["piton_entry_0.cpp"]
    assert "        case 0: piton_project::CallKernel(&::scaled_add<float, 8>, addresses); break;" in text.split("\n")
    said = "piton::SubmitTaskType(KernelMetaType(5), VNPU_TYPE_SELECTED);"
    assert f"        case 1: {said} piton_project::CallKernel(&::scaled_add<bfloat16_t, 1>, addresses); break;" in text.split("\n")


@pytest.mark.parametrize(
    ("part", "name", "value", "text"),
    [
        ("rows", 0, {"types": ["DT_FLOAT"], "formats": [2, 2]}, "element types of ScaledAdd: found 1, expected 2"),
        ("rows", 1, {"types": ["DT_FLOAT", "DT_FLOAT"], "formats": []}, "formats of ScaledAdd: found 0, expected 2"),
        ("template", "combinations", [[0, 8], [1]], "values of a template combination: found 1, expected 2"),
        ("template", "kernel_types", [1], "kernel types of template combinations: found 1, expected 2"),
    ],
)
def test_a_description_that_does_not_add_up_is_refused(part: str, name: str | int, value: Any, text: str) -> None:
    described = json.loads(json.dumps(DESCRIBED))
    described["operators"][0][part][name] = value
    with pytest.raises(ValueError, match=text):
        Project.model_validate(described)


def test_a_kernel_that_does_not_mention_types_is_compiled_once() -> None:
    assert not depends_on_row(["TILING_KEY_IS(1)"])
    assert depends_on_row(["(__gm__ DTYPE_X *)x"])
    assert list(generated(per_row=False)) == ["piton_entry_0.cpp"]


def test_the_kernel_is_the_one_of_the_operators_name() -> None:
    described = Project.model_validate(DESCRIBED).operators[0]
    texts = ['extern "C" __global__ __aicore__ void other(GM_ADDR x) { }\nextern "C" __global__ __aicore__ void scaled_add(GM_ADDR x) { }\n']
    assert find_kernel(texts, described) == "scaled_add"
    assert find_kernel([texts[0].replace("scaled_add", "third")], described) is None


def test_kernels_see_the_chip_by_its_newer_and_by_its_older_number() -> None:
    assert architecture_macros(2201) == ("-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220")
    assert architecture_macros(9999) == ("-D__NPU_ARCH__=9999",)
