"""Can a layout of rules.yaml shape every element of a list by itself, and say which attributes and conditions go with its shapes?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from piton.catalog.case_table import cases_csv
from piton.catalog.cases import read_case_table
from piton.catalog.rule_forms import InvariantForm
from piton.catalog.rules import CaseRules, read_rules
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.errors import FormatError
from piton.core.operator import AttrSpec, Operator, TensorSpec
from piton.core.suite import Suite, SuiteOperator
from piton.curate.generate import generate_cases
from piton.curate.invariants import broken_promises
from piton.curate.numeric import _axes

F32 = DType.FLOAT32
RULES = """rules:
  axes: {B: {choices: [64, 96]}, H: {choices: [8, 31]}, I: {low: 100, high: 900}}
  layouts:
  - shapes: {x: [T, B, I], w: [[3 * H, I], [3 * H, H], [3 * H, H]]}
    attributes: {layers: {choices: [3]}, first: {choices: [false]}}
    require: [I >= 400]
  - shapes: {x: [B, T, I], w: [[3 * H, I]], h: [1, B, H]}
    attributes: {layers: {choices: [1]}, first: {choices: [true]}}
  attributes: {hidden: {value: H}}
"""


def stacked(folder: Path, rules: str = RULES) -> tuple[Operator, CaseRules]:
    """An operator with a list of weights, an optional state, and its rules."""
    (folder / "golden.py").write_text("")
    (folder / "rules.yaml").write_text(rules)
    operator = Operator(
        name="stacked",
        title="Stacked",
        level=4,
        category="",
        schema_text="",
        inputs=(
            TensorSpec(name="x", dtypes=(F32,)),
            TensorSpec(name="w", dtypes=(F32,), is_list=True),
            TensorSpec(name="h", dtypes=(F32,), is_optional=True),
        ),
        outputs=(TensorSpec(name="y", dtypes=(F32,)),),
        attributes=(
            AttrSpec(name="layers", type="int", is_required=True),
            AttrSpec(name="hidden", type="int", is_required=True),
            AttrSpec(name="first", type="bool", default=False),
        ),
        golden_path=str(folder / "golden.py"),
    )
    made = read_rules(folder, operator)
    assert made is not None
    return operator, made


def cases_of(folder: Path, rules: str = RULES) -> tuple[Operator, tuple[Case, ...]]:
    operator, _ = stacked(folder, rules)
    suite = Suite(name="s", version="1", members=())
    return operator, generate_cases(suite, SuiteOperator(operator=operator, cases=()), 7)[0]


def shapes(case: Case, argument: str) -> list[tuple[int, ...]]:
    return [item.shape for item in case.inputs if item.argument == argument]


def test_every_element_of_a_list_has_its_own_shape_and_attributes_go_with_the_layout(tmp_path: Path) -> None:
    _, cases = cases_of(tmp_path)
    assert {case.attributes["layers"] for case in cases} == {1, 3}
    for case in cases:
        (x,), weights = shapes(case, "x"), shapes(case, "w")
        hidden = case.attributes["hidden"]
        assert isinstance(hidden, int)
        assert weights == [(3 * hidden, x[-1]), *[(3 * hidden, hidden)] * (len(weights) - 1)]
        assert [item.list_index for item in case.inputs if item.argument == "w"] == list(range(len(weights)))
        assert len(weights) == case.attributes["layers"]
        assert case.attributes["first"] is (len(weights) == 1)
        assert case.omitted == (("h",) if len(weights) == 3 else ())


def test_a_condition_of_a_layout_holds_for_its_cases_only(tmp_path: Path) -> None:
    _, cases = cases_of(tmp_path)
    inner = {count: [shapes(case, "x")[0][-1] for case in cases if case.attributes["layers"] == count] for count in (1, 3)}
    assert min(inner[3]) >= 400
    assert min(inner[1]) < 400


def test_cases_with_lists_of_different_shapes_read_back_equal(tmp_path: Path) -> None:
    operator, cases = cases_of(tmp_path)
    table = tmp_path / "cases.csv"
    table.write_text(cases_csv(operator, cases))
    assert [case.digest() for case in read_case_table(table, operator)] == [case.digest() for case in cases]


def test_the_sizes_behind_a_case_are_those_of_its_own_layout(tmp_path: Path) -> None:
    _, rules = stacked(tmp_path)
    for case in cases_of(tmp_path)[1]:
        (x,) = shapes(case, "x")
        time, batch = (x[1], x[0]) if case.attributes["first"] else (x[0], x[1])
        sizes = _axes(case, rules)
        assert (sizes["T"], sizes["B"], sizes["I"]) == (time, batch, x[-1])


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("x: [T, B, I]", "x: [[T, B, I]]", "several shapes for x"),
        ("w: [[3 * H, I]]", "w: [[3 *, I]]", "no formula"),
        ("layers: {choices: [1]}", "layer: {choices: [1]}", "unknown attribute 'layer'"),
        ("attributes: {layers: {choices: [1]}, first", "attributes: {first", "no values for attribute 'layers'"),
        ("layers: {choices: [1]}", "layers: {value: Q}", "unknown name 'Q'"),
        ("first: {choices: [true]}", "first: {choices: [maybe]}", "first"),
        ("require: [I >= 400]", "require: [Q >= 400]", "unknown name 'Q'"),
    ],
)
def test_a_mistake_in_a_layout_is_one_error_with_its_place(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in RULES
    with pytest.raises(FormatError, match=r"rules\.yaml:") as raised:
        stacked(tmp_path, RULES.replace(old, new))
    assert problem in str(raised.value)


def test_values_that_are_no_prefix_of_their_keys_break_the_promise() -> None:
    case = Case(operator="op", id="1", inputs=())
    forms = (InvariantForm(kind="prefix", inputs=("v", "k")),)
    keys = np.arange(24.0).reshape(2, 3, 4)
    assert broken_promises(case, {"v": keys[..., :2], "k": keys}, forms, {}) == []
    assert broken_promises(case, {"v": keys[..., 1:3], "k": keys}, forms, {}) == [("v, k: prefix", "12 values differ")]
    assert broken_promises(case, {"v": keys, "k": keys[..., :2]}, forms, {}) != []
