"""Are suites in the published layout read as they are meant, in all their spellings?"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from piton.catalog import load_metadata, load_suite, suite_names
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.errors import FormatError, UsageError
from piton.core.measurement import AnchorKind, Provenance

PROTO = """\
operator:
  name: AddScaled
  category: Elementwise
  difficulty: L3
  note: written for this test
  attrs:
  - {name: alpha, type: float, default: '1e-8', required: false}
  - {name: axes, type: ListInt, required: true}
  - {name: mode, type: String, default: fast}
  inputs:
  - {name: x, dtype: [float16, float32]}
  - {name: items, dtype: [float32], is_list: true}
  - {name: bias, dtype: [float32, int32], optional: true}
  outputs:
  - {name: y, dtype: [float16, float32]}
  schema: add_scaled(Tensor x, Tensor[] items, Tensor? bias=None, *, float alpha=1e-8, int[] axes, str mode="fast") -> Tensor y
  precision_thresholds: {float32: 1e-3}
"""
HEADER = "operator,case_id,input_shape,dtype,attrs,value_range,note\n"
ROW = 'AddScaled,1,"[[2, 3], [[4], [5]]]","[""float16"", [""float32""]]","{""axes"": [0, 1]}","[-1, 2]",a note\n'


def write_operator(root: Path, *, proto: str = PROTO, csv: str | None = HEADER + ROW, yaml: str | None = None, folder: str = "level1/add_scaled") -> Path:
    place = root / folder
    place.mkdir(parents=True)
    (place / "proto.yaml").write_text(proto)
    (place / "golden.py").write_text("def add_scaled(x, items, bias=None, alpha=1e-8, axes=(), mode='fast'):\n    return x\n")
    if csv is not None:
        (place / "cases.csv").write_text(csv)
    if yaml is not None:
        (place / "cases.yaml").write_text(yaml)
    return place


def yaml_case(**changes: object) -> str:
    case = {
        "operator": "AddScaled",
        "case_id": 1,
        "input_shape": [[2, 3], [[4], [5]]],
        "dtype": ["float16", ["float32"]],
        "attrs": {"axes": [0, 1]},
        "value_range": [-1, 2],
        "note": "other words",
    }
    return json.dumps({"cases": [{**case, **changes}]})


def only_case(root: Path) -> Case:
    (member,) = load_suite(root).members
    (case,) = member.cases
    return case


def case_with(tmp_path: Path, **changes: object) -> Case:
    write_operator(tmp_path, csv=None, yaml=yaml_case(**changes))
    return only_case(tmp_path)


def error_with(tmp_path: Path, **changes: object) -> str:
    write_operator(tmp_path, csv=None, yaml=yaml_case(**changes))
    with pytest.raises(FormatError) as caught:
        load_suite(tmp_path)
    return str(caught.value)


# Where suites come from


LEVEL_4 = ["gqa", "grouped_matmul_swiglu_quant", "gru", "lstm", "mha", "mla", "mla_prolog", "sparse_flash_attention"]


def test_the_default_suite_is_ours_and_not_foreign() -> None:
    suite = load_suite()
    assert suite.name == "piton"
    assert not suite.is_foreign
    assert [member.operator.name for member in suite.members if member.operator.level == 4] == LEVEL_4
    assert suite.name in suite_names()


def test_a_suite_is_the_same_wherever_it_lies(tmp_path: Path) -> None:
    write_operator(tmp_path / "one" / "set")
    write_operator(tmp_path / "two" / "set")
    first, second = load_suite(tmp_path / "one" / "set"), load_suite(tmp_path / "two" / "set")
    assert first.digest() == second.digest()
    assert first.is_foreign


def test_a_checkout_a_level_and_a_single_operator_are_suites(tmp_path: Path) -> None:
    place = write_operator(tmp_path / "checkout" / "tasks")
    for root in (tmp_path / "checkout", tmp_path / "checkout" / "tasks", place.parent, place):
        (member,) = load_suite(root).members
        assert (member.operator.name, member.operator.level) == ("add_scaled", 1)
    assert load_suite(tmp_path / "checkout").name == "checkout"
    assert load_suite(tmp_path / "checkout" / "tasks").name == "checkout"


def test_the_level_comes_from_difficulty_when_no_folder_says_it(tmp_path: Path) -> None:
    write_operator(tmp_path, folder="add_scaled")
    assert load_suite(tmp_path).members[0].operator.level == 3


def test_a_foreign_version_comes_from_its_metadata(tmp_path: Path) -> None:
    write_operator(tmp_path)
    assert load_suite(tmp_path).version == "0"
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "VERSION").write_text("# a comment\n2.1.0\n")
    assert load_suite(tmp_path).version == "2.1.0"


def test_a_copy_of_our_suite_is_foreign(tmp_path: Path) -> None:
    write_operator(tmp_path)
    (tmp_path / "suite.yaml").write_text('name: piton\nversion: "9"\n')
    suite = load_suite(tmp_path)
    assert (suite.name, suite.version, suite.is_foreign) == ("piton", "9", True)


def test_a_missing_suite_names_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no suite 'nothing'(.|\n)*piton"):
        load_suite("nothing")
    with pytest.raises(UsageError, match="no operators"):
        load_suite(tmp_path)


def test_operators_are_ordered_by_level_then_name(tmp_path: Path) -> None:
    for level, name in ((2, "alpha"), (1, "zeta"), (1, "beta")):
        proto = (
            f'operator: {{name: N, inputs: [{{name: x, dtype: [float32]}}], outputs: [{{name: y, dtype: [float32]}}], schema: "{name}(Tensor x) -> Tensor y"}}'
        )
        write_operator(tmp_path, proto=proto, csv=HEADER + 'N,1,[[2]],"[""float32""]",,,\n', folder=f"level{level}/{name}")
    assert [member.operator.name for member in load_suite(tmp_path).members] == ["beta", "zeta", "alpha"]


# Signatures


def test_the_signature_is_read_with_its_spellings(tmp_path: Path) -> None:
    write_operator(tmp_path)
    operator = load_suite(tmp_path).members[0].operator
    assert [(spec.name, spec.is_list, spec.is_optional) for spec in operator.inputs] == [("x", False, False), ("items", True, False), ("bias", False, True)]
    assert [(spec.name, spec.type, spec.default, spec.is_required) for spec in operator.attributes] == [
        ("alpha", "float", 1e-8, False),
        ("axes", "int_list", None, True),
        ("mode", "str", "fast", False),
    ]
    assert operator.thresholds == {DType.FLOAT32: 1e-3}
    assert operator.golden_path.endswith("golden.py")
    assert len(operator.golden_digest) == 64


def test_an_index_output_names_its_input_and_the_attribute_of_its_axis(tmp_path: Path) -> None:
    plain = "  - {name: y, dtype: [float16, float32]}\n"
    write_operator(tmp_path, proto=PROTO.replace(plain, plain.replace("}", ", index_gather: {input: x, dim_attr: mode, value_output: v}}")))
    (output,) = load_suite(tmp_path).members[0].operator.outputs
    assert (output.indexes, output.index_axis) == ("x", "mode")


def test_a_changed_golden_changes_the_suite(tmp_path: Path) -> None:
    place = write_operator(tmp_path)
    before = load_suite(tmp_path).digest()
    (place / "golden.py").write_text("def add_scaled():\n    return None\n")
    assert load_suite(tmp_path).digest() != before


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("name: x, dtype", "name: x1, dtype", "inputs and schema differ", 10),
        ("type: ListInt", "type: ListFloat", "type of axes and schema differ", 8),
        ("type: ListInt", "type: Ints", "unknown attribute type 'Ints'", 8),
        ("default: fast", "default: slow", "default of mode and schema differ", 9),
        ("default: fast", "default: 3", "default of mode: not a text", 9),
        ("[float16, float32]}\n  - {name: items", "[float17]}\n  - {name: items", "unknown element type", 11),
        ("{float32: 1e-3}", "{float32: -1}", "threshold out of range", 17),
        ("{float32: 1e-3}", "{float32: nan}", "threshold out of range", 17),
        ("-> Tensor y", "-> Tensor", "outputs and schema differ", 14),
        ("(Tensor x, ", "(Tensor x ", "schema cannot be read", 16),
        ("  name: AddScaled", "  title: AddScaled", "operator.name is wrong", 1),
        ("  inputs:", "  inputs: 3\n  others:", "operator.inputs is wrong", 10),
        ("optional: true", "optional: perhaps", "operator.inputs.2.optional is wrong", 13),
    ],
)
def test_a_wrong_signature_is_refused_with_its_line(tmp_path: Path, old: str, new: str, message: str, line: int) -> None:
    assert old in PROTO
    place = write_operator(tmp_path, proto=PROTO.replace(old, new, 1))
    with pytest.raises(FormatError) as caught:
        load_suite(tmp_path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{place / 'proto.yaml'}:{line}")
    assert caught.value.action


def test_unknown_keys_are_errors_in_described_suites_only(tmp_path: Path) -> None:
    place = write_operator(tmp_path, proto=PROTO.replace("  note:", "  notes:"))
    assert load_suite(tmp_path).members
    (tmp_path / "suite.yaml").write_text('name: mine\nversion: "1"\n')
    with pytest.raises(FormatError, match="unknown key 'notes'") as caught:
        load_suite(tmp_path)
    assert caught.value.where == f"{place / 'proto.yaml'}:5"


def test_an_unknown_key_inside_a_list_is_found(tmp_path: Path) -> None:
    write_operator(tmp_path, proto=PROTO.replace("optional: true", "optionall: true"))
    (tmp_path / "suite.yaml").write_text('name: mine\nversion: "1"\n')
    with pytest.raises(FormatError, match=r"proto.yaml:13: unknown key 'optionall'"):
        load_suite(tmp_path)


def test_a_missing_golden_and_a_wrong_folder_name_are_refused(tmp_path: Path) -> None:
    place = write_operator(tmp_path / "a")
    (place / "golden.py").unlink()
    with pytest.raises(FormatError, match=r"without golden\.py"):
        load_suite(tmp_path / "a")
    write_operator(tmp_path / "b", folder="level1/other")
    (tmp_path / "b" / "suite.yaml").write_text('name: mine\nversion: "1"\n')
    with pytest.raises(FormatError, match="folder and schema name differ"):
        load_suite(tmp_path / "b")


# Cases


def test_a_row_of_the_table_becomes_a_case(tmp_path: Path) -> None:
    write_operator(tmp_path)
    case = only_case(tmp_path)
    assert (case.id, case.operator, case.note, case.seed) == ("1", "add_scaled", "a note", 0)
    assert [(item.argument, item.shape, item.dtype, item.low, item.high, item.list_index) for item in case.inputs] == [
        ("x", (2, 3), DType.FLOAT16, -1.0, 2.0, None),
        ("items", (4,), DType.FLOAT32, -1.0, 2.0, 0),
        ("items", (5,), DType.FLOAT32, -1.0, 2.0, 1),
    ]
    assert case.omitted == ("bias",)
    assert case.attributes == {"alpha": 1e-8, "axes": (0, 1), "mode": "fast"}


def test_table_and_list_may_both_exist_when_they_agree(tmp_path: Path) -> None:
    write_operator(tmp_path, yaml=yaml_case(attrs={"axes": [0, 1], "alpha": "1e-8"}))
    assert only_case(tmp_path).note == "a note"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"value_range": [-1, 3]}, "inputs: "),
        ({"attrs": {"axes": [0, 2]}}, "attributes: {'alpha': 1e-08, 'axes': (0, 2), 'mode': 'fast'} here"),
        ({"seed": 4}, "seed: 4 here, 0 in cases.csv"),
        ({"case_id": 2}, "missing there"),
    ],
)
def test_a_table_and_a_list_that_differ_are_refused(tmp_path: Path, change: dict[str, object], found: str) -> None:
    write_operator(tmp_path, yaml=yaml_case(**change))
    with pytest.raises(FormatError, match=r"cases.csv and cases.yaml differ") as caught:
        load_suite(tmp_path)
    assert caught.value.found.startswith(found)
    assert "case 1" in caught.value.where


def test_a_case_only_in_the_list_is_a_difference(tmp_path: Path) -> None:
    both = json.loads(yaml_case())["cases"] + json.loads(yaml_case(case_id="two"))["cases"]
    write_operator(tmp_path, yaml=json.dumps({"cases": both}))
    with pytest.raises(FormatError, match=r"case two: cases\.csv and cases\.yaml differ"):
        load_suite(tmp_path)


@pytest.mark.parametrize(
    ("value_range", "bounds"),
    [
        ([0, 5], [(0, 5), (0, 5), (0, 5)]),
        ([[0, 5]], [(0, 5), (0, 5), (0, 5)]),
        ([[0, 5], [1, 2]], [(0, 5), (1, 2), (1, 2)]),
        ([[0, 5], [[1, 2]]], [(0, 5), (1, 2), (1, 2)]),
        ([[0, 5], [[1, 2], [3, 4]]], [(0, 5), (1, 2), (3, 4)]),
        ([None, [1, 2]], [(-1, 1), (1, 2), (1, 2)]),
        (None, [(-1, 1), (-1, 1), (-1, 1)]),
        (["-inf", "inf"], [(-math.inf, math.inf)] * 3),
        ([["-1e3", 7], ["-inf", "inf"]], [(-1000, 7), (-math.inf, math.inf), (-math.inf, math.inf)]),
        ([[0, 0], [0.5, 0.5]], [(0, 0), (0.5, 0.5), (0.5, 0.5)]),
    ],
)
def test_value_ranges_are_spread_over_inputs(tmp_path: Path, value_range: object, bounds: list[tuple[float, float]]) -> None:
    case = case_with(tmp_path, value_range=value_range)
    assert [(item.low, item.high) for item in case.inputs] == bounds


@pytest.mark.parametrize("spelling", ["[.nan, .NaN]", '["nan", "NaN"]', "[nan, nan]"])
def test_nan_is_read_in_every_spelling(tmp_path: Path, spelling: str) -> None:
    text = yaml_case(value_range="SPOT").replace('"SPOT"', spelling)
    write_operator(tmp_path, csv=None, yaml=text)
    assert all(math.isnan(item.low) and math.isnan(item.high) for item in only_case(tmp_path).inputs)


@pytest.mark.parametrize("cell", ["[-inf, inf]", "(-inf, inf)", '[""-inf"", ""inf""]', "['-inf', 'inf']", "[-Infinity, Infinity]", "[[-inf, inf]]"])
def test_infinity_is_read_in_every_spelling_of_a_cell(tmp_path: Path, cell: str) -> None:
    write_operator(tmp_path, csv=HEADER + ROW.replace("[-1, 2]", cell))
    assert (only_case(tmp_path).inputs[0].low, only_case(tmp_path).inputs[0].high) == (-math.inf, math.inf)


def test_cells_may_be_python_literals(tmp_path: Path) -> None:
    dtypes, attributes = "('float16', ['float32', 'float32'], None)", "{'axes': (1,), 'mode': 'slow', 'bias': None}"
    row = f'''AddScaled,a-1,"[(2, 3), [(4,), (5,)], None]","{dtypes}","{attributes}","[-1, 2]",\n'''
    write_operator(tmp_path, csv=HEADER + row)
    case = only_case(tmp_path)
    assert (case.id, case.omitted) == ("a-1", ("bias",))
    assert case.attributes == {"alpha": 1e-8, "axes": (1,), "mode": "slow"}


def test_ranges_may_skip_inputs_that_are_left_out(tmp_path: Path) -> None:
    proto = PROTO.replace("Tensor x, Tensor[] items, Tensor? bias=None", "Tensor x, Tensor? bias=None, Tensor[] items").replace(
        "  - {name: items, dtype: [float32], is_list: true}\n  - {name: bias, dtype: [float32, int32], optional: true}\n",
        "  - {name: bias, dtype: [float32, int32], optional: true}\n  - {name: items, dtype: [float32]}\n",
    )
    text = yaml_case(input_shape=[[2], None, [[4]]], dtype=["float16", None, ["float32"]], value_range=[[0, 1], [2, 3]])
    write_operator(tmp_path, proto=proto, csv=None, yaml=text)
    assert [(item.argument, item.low) for item in only_case(tmp_path).inputs] == [("x", 0), ("items", 2)]


def test_one_dtype_is_for_all_inputs(tmp_path: Path) -> None:
    case = case_with(tmp_path, dtype=["float32"])
    assert {item.dtype for item in case.inputs} == {DType.FLOAT32}


def test_an_attribute_without_default_may_be_missing_in_foreign_cases_only(tmp_path: Path) -> None:
    write_operator(tmp_path, csv=HEADER + ROW.replace('"{""axes"": [0, 1]}"', ""))
    assert "axes" not in only_case(tmp_path).attributes
    (tmp_path / "suite.yaml").write_text('name: mine\nversion: "1"\n')
    with pytest.raises(FormatError, match="attribute 'axes' is missing"):
        load_suite(tmp_path)


def test_a_tensor_given_by_value_is_an_attribute(tmp_path: Path) -> None:
    proto = PROTO.replace("type: ListInt", "type: Tensor").replace("int[] axes", "Tensor axes")
    write_operator(tmp_path, proto=proto)
    (member,) = load_suite(tmp_path).members
    assert member.operator.attributes[1].type == "int_list"
    assert member.cases[0].attributes["axes"] == (0, 1)


def test_yaml_aliases_are_written_out(tmp_path: Path) -> None:
    text = yaml_case(input_shape="SPOT").replace('"SPOT"', "[&a [2, 3], [*a, *a]]")
    write_operator(tmp_path, csv=None, yaml=text)
    assert [item.shape for item in only_case(tmp_path).inputs] == [(2, 3)] * 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"operator": "Other"}, "a case of another operator"),
        ({"input_shape": [[2, 3]]}, "input 'items' is not given|number of inputs"),
        ({"input_shape": [None, [[4], [5]]]}, "input 'x' is not given"),
        ({"input_shape": [[2, -3], [[4]]]}, "shape of 'x'"),
        ({"input_shape": [[2, 2.5], [[4]]]}, "shape of 'x'"),
        ({"input_shape": [[2, True], [[4]]]}, "shape of 'x'"),
        ({"input_shape": [[[2]], [[4]]]}, "shape of 'x'"),
        ({"input_shape": [[2], [4]]}, "shapes of list input 'items'"),
        ({"input_shape": [[1]] * 4, "dtype": ["float32"] * 4}, "number of inputs"),
        ({"input_shape": "none"}, "input_shape is wrong"),
        ({"dtype": ["float16", ["float64"]]}, "dtype of 'items' is not in the signature"),
        ({"dtype": ["floaty", ["float32"]]}, "dtype of 'x'"),
        ({"dtype": [None, ["float32"]]}, "dtype of 'x'"),
        ({"dtype": ["float16", ["float32"] * 3]}, "dtypes of 'items'"),
        ({"value_range": [2, 1]}, "value range of 'x'"),
        ({"value_range": [[0, 1], [0, 1], [0, 1]]}, "number of value ranges"),
        ({"value_range": [["a", "b"], [0, 1]]}, "value range of 'x'"),
        ({"value_range": [1, 2, 3]}, "number of value ranges"),
        ({"attrs": {"axes": 3}}, "attribute 'axes': not a list"),
        ({"attrs": {"axes": ["x"]}}, "attribute 'axes': could not convert"),
        ({"attrs": {"axes": [0.5]}}, "attribute 'axes': not a whole number"),
        ({"attrs": {"axes": [], "alpha": True}}, "attribute 'alpha': not a number"),
        ({"attrs": {"axes": [], "mode": 3}}, "attribute 'mode': not a text"),
        ({"attrs": {"axes": [], "mood": "x"}}, "unknown attribute 'mood'"),
        ({"attrs": {"axes": [], "bias": 1}}, "unknown attribute 'bias'"),
        ({"attrs": [1]}, "attrs is wrong"),
        ({"seed": -1}, "seed is wrong"),
        ({"case_id": [1]}, "case_id"),
    ],
)
def test_a_wrong_case_is_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    text = error_with(tmp_path, **changes)
    assert any(part in text for part in message.split("|"))
    assert "cases.yaml:1" in text


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "column 'operator' is missing"),
        (HEADER, "no cases in the file"),
        (HEADER.replace("dtype", "dtypes") + ROW, "column 'dtype' is missing"),
        (HEADER.replace("note", "dtype") + ROW, "column 'dtype' is there twice"),
        (HEADER + ROW.replace(",a note", ""), "cases.csv:2: fewer cells than columns"),
        (HEADER + ROW + ROW.replace("a note", "a, note"), "cases.csv:3: more cells than columns"),
        (HEADER + ROW + ROW, "cases.csv:3, case 1: case id used twice"),
        (HEADER + ROW.replace("[-1, 2]", "[-1, 2"), "cases.csv:2: column value_range cannot be read"),
        (HEADER + ROW.replace("[-1, 2]", "__import__('os')"), "column value_range cannot be read: call is not a plain value"),
        (HEADER + ROW.replace("[-1, 2]", "[" * 5000), "column value_range cannot be read"),
        (HEADER + ROW.replace("[-1, 2]", "{1: 2}"), "a mapping needs names in quotes"),
        (HEADER + ROW.replace("[-1, 2]", "[1e999, -'x']"), "a sign belongs to a number"),
        (HEADER + ROW.replace('"[[2, 3], [[4], [5]]]"', ""), "column input_shape is wrong"),
        (HEADER + ROW.replace("a note", '"a note') + ROW, "a cell with a line break"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, table: str, message: str) -> None:
    write_operator(tmp_path, csv=table)
    with pytest.raises(FormatError) as caught:
        load_suite(tmp_path)
    assert message in str(caught.value)


def test_a_table_without_attributes_and_ranges_is_enough(tmp_path: Path) -> None:
    proto = 'operator: {name: N, inputs: [{name: x, dtype: float32}], outputs: [{name: y, dtype: float32}], schema: "neg(Tensor x) -> Tensor y"}'
    write_operator(tmp_path, proto=proto, csv="operator,case_id,input_shape,dtype\nN,7,[[2]],['fp32']\n", folder="level2/neg")
    assert only_case(tmp_path).inputs[0].dtype is DType.FLOAT32


def test_an_operator_without_cases_is_refused(tmp_path: Path) -> None:
    write_operator(tmp_path, csv=None)
    with pytest.raises(FormatError, match="an operator without cases"):
        load_suite(tmp_path)


# Quoted anchors


def write_metadata(root: Path, content: object, name: str = "910b2.json") -> None:
    (root / "metadata").mkdir()
    (root / "metadata" / name).write_text(content if isinstance(content, str) else json.dumps(content))


def test_quoted_anchors_are_read_by_hardware(tmp_path: Path) -> None:
    write_metadata(tmp_path, {"_metadata": {"hardware": "x"}, "level1": {"exp": {"1": {"baseline_perf_us": 6.5, "t_hw_us": 1.25}, "2": {"t_hw_us": 0.0}}}})
    quoted = load_metadata(tmp_path, "ascend910b2")
    assert set(quoted) == {("exp", "1"), ("exp", "2")}
    first = quoted["exp", "1"]
    assert first.t_hw is not None
    assert first.t_baseline is not None
    assert (first.t_hw.kind, first.t_hw.value_us, first.t_hw.provenance) == (AnchorKind.T_HW, 1.25, Provenance.QUOTED)
    assert (first.t_baseline.kind, first.t_baseline.value_us, first.t_baseline.method) == (AnchorKind.T_BASELINE, 6.5, "metadata/910b2.json")
    assert (quoted["exp", "2"].t_hw, quoted["exp", "2"].t_baseline) == (None, None)
    assert load_metadata(tmp_path, "ascend950pr") == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "910b2.json:1:2: not valid JSON"),
        ("[" * 100_000, "not readable JSON|not valid JSON"),
        ([], "file has the wrong form"),
        ({"level1": 3}, "level1 has the wrong form"),
        ({"level1": {"exp": []}}, "level1.exp has the wrong form"),
        ({"level1": {"exp": {"1": 3}}}, "exp.1 has the wrong form"),
        ({"level1": {"exp": {"1": {"t_hw_us": -1}}}}, "exp.1.t_hw_us is wrong"),
        ({"level1": {"exp": {"1": {"t_hw_us": "1"}}}}, "exp.1.t_hw_us is wrong"),
        ('{"level1": {"exp": {"1": {"t_hw_us": Infinity}}}}', "exp.1.t_hw_us is wrong"),
        ('{"level1": {"exp": {"1": {"t_hw_us": NaN}}}}', "exp.1.t_hw_us is wrong"),
    ],
)
def test_wrong_metadata_is_refused(tmp_path: Path, content: object, message: str) -> None:
    write_metadata(tmp_path, content)
    with pytest.raises(FormatError) as caught:
        load_metadata(tmp_path, "ascend910b2")
    assert any(part in str(caught.value) for part in message.split("|"))


def test_one_operator_that_can_not_be_read_does_not_cost_a_published_set(tmp_path: Path) -> None:
    write_operator(tmp_path)
    write_operator(tmp_path, folder="level1/odd", proto="operator: {}\n")
    suite = load_suite(tmp_path)
    assert [member.operator.name for member in suite.members] == ["add_scaled"]
    assert "odd" in suite.left_out["odd"]


def test_a_number_that_repeats_a_size_is_no_attribute_where_the_golden_does_not_take_it(tmp_path: Path) -> None:
    write_operator(tmp_path, csv=None, yaml=yaml_case(attrs={"axes": [0], "rows": 2}))
    assert "rows" not in load_suite(tmp_path).members[0].cases[0].attributes


def test_a_published_folder_may_have_a_name_of_its_own(tmp_path: Path) -> None:
    write_operator(tmp_path, folder="level1/add_scaled_v2_variant")
    assert [member.operator.name for member in load_suite(tmp_path).members] == ["add_scaled"]


@pytest.mark.parametrize(
    ("golden", "expected"),
    [
        ("def add_scaled(x, y, axes): ...\n", "refused"),
        ("def add_scaled(x, y, axes): ...\ndef get_input(x, y, **more): ...\n", None),
        ("def add_scaled(x, y, axes): ...\ndef get_input(x, y, axes, kind): ...\n", (1, 2)),
        ("def add_scaled(x, y, axes, kind): ...\ndef get_input(x, y, axes, kind): ...\n", "refused"),
        ("def add_scaled(x, y, axes): ...\ndef get_input(x, y, **more): return more['kind']\n", "refused"),
    ],
)
def test_an_attribute_that_no_signature_has_goes_where_the_golden_could_take_it(tmp_path: Path, golden: str, expected: object) -> None:
    """To nobody, to get_input alone, or nowhere that a submission would know of."""
    place = write_operator(tmp_path, csv=None, yaml=yaml_case(attrs={"axes": [0], "kind": [1, 2]}))
    (place / "golden.py").write_text(golden)
    if expected == "refused":
        with pytest.raises(FormatError, match="unknown attribute 'kind'"):
            load_suite(tmp_path)
    else:
        assert load_suite(tmp_path).members[0].cases[0].attributes.get("kind") == expected
