"""Does `piton new` write what an operator's signature asks for, and does it leave everything else alone?"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from piton.catalog import load_suite, read_submission
from piton.catalog.proto import read_proto
from piton.catalog.scaffold import Kind, Layout, write_scaffold
from piton.catalog.scaffold.plan import plan_of
from piton.catalog.scaffold.signature import parameters_of, results_of, torch_schema
from piton.catalog.scaffold.write import block, wrapped
from piton.core.errors import UsageError
from piton.core.operator import Operator

ROOT = Path(__file__).resolve().parents[2]
MEMBERS = load_suite().members
EVERYTHING = (
    "wide_one(Tensor[] count, Tensor? scale, Tensor template, int[] sizes, float[]? factors, bool keep, str mode, *, Tensor[]? extra=None, "
    'int k=3, float eps=1e-5, bool flag=false, str? reduce=None, str way="a") -> (Tensor y, Tensor[] parts, Tensor index)'
)


def operator(
    schema: str, tmp_path: Path, category: str = "Other", inputs: str = "[float16, float32]", outputs: str | dict[str, str] = "[float16, float32]"
) -> Operator:
    """The operator of a proto.yaml with this schema; all tensors have the given element types, results may have their own."""
    from piton.catalog.schema import parse_schema

    parsed = parse_schema(schema)
    lines = ["operator:", "  name: Made", f"  category: {category}", "  attrs:"]
    lines += [f"  - {{name: {item.name}, type: {item.attr_type}}}" for item in parsed.arguments if not item.is_tensor]
    lines += ["  inputs:", *(f"  - {{name: {item.name}, dtype: {inputs}}}" for item in parsed.arguments if item.is_tensor)]
    types = {item.name: outputs if isinstance(outputs, str) else outputs[item.name] for item in parsed.results}
    lines += ["  outputs:", *(f"  - {{name: {item.name}, dtype: {types[item.name]}}}" for item in parsed.results), f"  schema: '{schema}'"]
    if not any("type:" in line for line in lines):
        lines.remove("  attrs:")
    folder = tmp_path / parsed.name
    folder.mkdir(exist_ok=True)
    (folder / "golden.py").write_text("")
    (folder / "proto.yaml").write_text("\n".join(lines) + "\n")
    return read_proto(folder, level=1, is_strict=False).operator


def everything(tmp_path: Path) -> Operator:
    return operator(EVERYTHING, tmp_path, outputs={"y": "[float16, float32]", "parts": "[int8]", "index": "[int32, int64]"})


def texts_of(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


COMPLETE = {"exp", "gelu", "mish", "sigmoid", "rms_norm", "softmax"}
"""Operators whose formula `piton new` knows."""


@pytest.mark.parametrize("member", [item for item in MEMBERS if item.operator.name not in COMPLETE], ids=lambda member: member.operator.name)
def test_every_other_operator_of_the_suite_gets_one_that_says_what_is_missing(member: object, tmp_path: Path) -> None:
    made = write_scaffold(member.operator, tmp_path / "made", "my_ops")  # type: ignore[attr-defined]
    texts = texts_of(made.folder)
    assert not made.kind.is_complete
    assert made.gap
    assert any("FILL IN" in text for text in texts.values())
    assert not any(mark in text for text in texts.values() for mark in ("{{", "{%"))


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("member", [item for item in MEMBERS if item.operator.name in COMPLETE], ids=lambda member: member.operator.name)
def test_an_operator_with_a_known_formula_gets_a_complete_submission(member: object, layout: Layout, tmp_path: Path) -> None:
    made = write_scaffold(member.operator, tmp_path / "made", "my_ops", layout=layout)  # type: ignore[attr-defined]
    name = member.operator.name  # type: ignore[attr-defined]
    texts = texts_of(made.folder)
    assert made.kind.is_complete
    assert made.gap == ""
    assert set(texts) == set(made.files)
    for path, text in texts.items():
        assert not any(mark in text for mark in ("{{", "{%", "FILL IN")), path
        assert text.endswith("\n"), path
        assert not text.endswith("\n\n"), path
    binding = texts[f"{name}.asc" if layout is Layout.SINGLE else f"csrc/ops/{name}/op_plugin/{name}_plugin.cpp"]
    assert f"m.def({json.dumps(torch_schema(member.operator))})" in binding  # type: ignore[attr-defined]
    found = read_submission(made.folder, tmp_path / "store")
    assert (found.manifest.package, [item.operator for item in found.operators]) == ("my_ops", [name])


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("member", [item for item in MEMBERS if len(item.operator.schema_text) < 110], ids=lambda member: member.operator.name)
def test_the_code_of_a_submission_is_in_the_projects_format(member: object, layout: Layout, tmp_path: Path) -> None:
    made = write_scaffold(member.operator, tmp_path / "made", layout=layout)  # type: ignore[attr-defined]
    tool = [str(Path(sys.executable).parent / "clang-format"), f"--style=file:{ROOT / '.clang-format'}", "--assume-filename=any.cpp"]
    for path in made.files:
        if path.endswith((".cpp", ".h", ".asc")):
            text = (made.folder / path).read_text()
            assert subprocess.run(tool, input=text, capture_output=True, text=True, check=True).stdout == text, path


@pytest.mark.parametrize(
    ("schema", "category", "dtypes", "kind"),
    [
        ("sigmoid(Tensor x) -> Tensor y", "Elementwise", "[float16, float32, bfloat16]", Kind.ELEMENTWISE),
        ("mish(Tensor x) -> Tensor y", "Elementwise", "[float16]", Kind.ELEMENTWISE),
        ("add(Tensor x1, Tensor x2) -> Tensor y", "Elementwise", "[float16, float32, bfloat16, int32]", Kind.ELEMENTWISE),
        ("div(Tensor x1, Tensor x2) -> Tensor y", "Elementwise", "[float32, int32]", Kind.OTHER),
        ("add(Tensor a, Tensor b) -> Tensor y", "Elementwise", "[float32]", Kind.ELEMENTWISE_GAP),
        ("sigmoid(Tensor x, float slope=1.0) -> Tensor y", "Elementwise", "[float32]", Kind.ELEMENTWISE_GAP),
        ("twist(Tensor x) -> Tensor y", "Elementwise", "[float16, bfloat16]", Kind.ELEMENTWISE_GAP),
        ("twist(Tensor x) -> Tensor y", "Elementwise", "[int8]", Kind.OTHER),
        ("add(Tensor x1, Tensor x2) -> Tensor y", "Broadcast", "[float32]", Kind.OTHER),
        ("softmax(Tensor x, int dim=-1) -> Tensor y", "Normalization", "[float32]", Kind.ROWS),
        ("softmax(Tensor x, int dim=-1, bool log=False) -> Tensor y", "Normalization", "[float32]", Kind.OTHER),
        ("rms_norm(Tensor x, Tensor? gamma=None, float epsilon=1e-6) -> Tensor y", "Normalization", "[float32]", Kind.OTHER),
        ("exp(Tensor(a!) x, float base, float scale, float shift) -> Tensor y", "Elementwise", "[float32]", Kind.OTHER),
    ],
)
def test_a_formula_is_used_only_where_the_whole_signature_agrees(schema: str, category: str, dtypes: str, kind: Kind, tmp_path: Path) -> None:
    made = operator(schema, tmp_path, category, dtypes, dtypes)
    assert plan_of(made).kind is kind
    scaffold = write_scaffold(made, tmp_path / "made")
    assert scaffold.kind is kind
    marks = sum(text.count("FILL IN") for text in texts_of(scaffold.folder).values())
    assert (marks == 0) is kind.is_complete
    assert (scaffold.gap == "") is kind.is_complete


@pytest.mark.parametrize("schema", [*(member.operator.schema_text for member in MEMBERS), EVERYTHING])
def test_torch_reads_the_schema_as_the_suite_means_it(schema: str, tmp_path: Path) -> None:
    made = operator(schema, tmp_path) if schema != EVERYTHING else everything(tmp_path)
    parsed = torch._C.parse_schema(torch_schema(made))
    parameters = parameters_of(made)
    assert len(parsed.arguments) == len(parameters)
    assert len(parsed.returns) == len(made.outputs)
    assert [item.kwarg_only for item in parsed.arguments] == [item.is_keyword_only for item in parameters]
    for argument, parameter in zip(parsed.arguments, parameters, strict=True):
        assert (str(argument.type).startswith("Optional")) is parameter.is_optional
        assert argument.has_default_value() is ("=" in parameter.torch)


def test_defaults_keep_their_values_in_torch(tmp_path: Path) -> None:
    arguments = torch._C.parse_schema(torch_schema(everything(tmp_path))).arguments
    values = {item.name: item.default_value for item in arguments if item.has_default_value()}
    assert values == {"extra": None, "k": 3, "eps": 1e-5, "flag": False, "reduce": None, "way": "a"}


def test_names_that_cpp_keeps_to_itself_become_others(tmp_path: Path) -> None:
    made = everything(tmp_path)
    assert [item.name for item in parameters_of(made)][:3] == ["countArgument", "scale", "templateArgument"]
    assert [item.name for item in torch._C.parse_schema(torch_schema(made)).arguments][:3] == ["count", "scale", "template"]


def test_results_take_their_only_element_type_or_that_of_the_first_input(tmp_path: Path) -> None:
    assert [item.dtype for item in results_of(everything(tmp_path))] == ["", "at::kChar", "at::kInt"]


def test_the_python_wrapper_has_the_operators_signature(tmp_path: Path) -> None:
    made = write_scaffold(everything(tmp_path), tmp_path / "made")
    module = ast.parse((made.folder / "cann_bench/__init__.py").read_text())
    (function,) = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    positional, by_name = ["count", "scale", "template", "sizes", "factors", "keep", "mode"], ["extra", "k", "eps", "flag", "reduce", "way"]
    assert [item.arg for item in function.args.args] == positional
    assert [item.arg for item in function.args.kwonlyargs] == by_name
    assert ast.unparse(function.body[-1]) == f"return torch.ops.cann_bench.wide_one({', '.join([*positional, *(f'{name}={name}' for name in by_name)])})"


def test_a_default_before_a_parameter_without_one_is_left_out_of_the_wrapper(tmp_path: Path) -> None:
    made = write_scaffold(operator("odd(Tensor x, int k=3, float scale, int n=1) -> Tensor y", tmp_path), tmp_path / "made")
    assert "def odd(x: torch.Tensor, k: int, scale: float, n: int = 1)" in (made.folder / "cann_bench/__init__.py").read_text()


@pytest.mark.parametrize("kind", ["folder", "file", "broken link"])
def test_nothing_is_overwritten(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "taken"
    if kind == "folder":
        target.mkdir()
    elif kind == "file":
        target.write_text("mine\n")
    else:
        target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="exists already"):
        write_scaffold(MEMBERS[0].operator, target)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize("package", ["", "Ops", "1ops", "my-ops", "class", "template", "torch", "a b", "x" * 101])
def test_a_package_name_that_python_or_cpp_would_not_take_is_refused(package: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no name for a package"):
        write_scaffold(MEMBERS[0].operator, tmp_path / "made", package)
    assert list(tmp_path.iterdir()) == []


def test_an_element_type_without_tensors_is_refused(tmp_path: Path) -> None:
    made = operator("pack(Tensor x) -> Tensor y", tmp_path, outputs="[int4]")
    with pytest.raises(UsageError, match="no submission can be started for pack"):
        write_scaffold(made, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_an_operator_whose_tensors_may_all_be_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="always there"):
        write_scaffold(operator("maybe(Tensor? x=None, int k=1) -> Tensor y", tmp_path), tmp_path / "made")


def test_long_signatures_are_wrapped_below_their_first_item() -> None:
    items = [f"const at::Tensor &tensor{index}" for index in range(12)]
    lines = wrapped("at::Tensor call(", items, ") {").split("\n")
    assert len(lines) > 1
    assert all(len(line) <= 160 for line in lines)
    assert all(line.startswith(" " * len("at::Tensor call(") + "const") for line in lines[1:])
    assert " ".join(line.strip() for line in lines) == f"at::Tensor call({', '.join(items)}) {{"


def test_short_blocks_stay_in_one_line() -> None:
    assert block("f()", "return 1;") == "f() { return 1; }"
    assert block("f()", "x" * 160) == "f() {\n    " + "x" * 160 + "\n}"
