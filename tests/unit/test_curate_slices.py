"""Are drawn orders of axes and slices what operators can be asked: coherent, never without effect, in all their forms, and the same for the same key?"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from piton.catalog.expression import ExpressionError
from piton.catalog.proto import read_proto
from piton.catalog.rule_forms import SLICE_LISTS, SLICE_MASKS
from piton.catalog.rules import CaseRules, read_rules
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.errors import FormatError
from piton.core.operator import AttrSpec, Operator, TensorSpec
from piton.core.suite import SuiteOperator
from piton.curate.aspects import families, has_many_attribute_values
from piton.curate.generate import generate_cases
from piton.curate.lint import load_subjects
from piton.curate.plan import plan_slots
from piton.curate.slices import draw_permutation, draw_slice
from piton.curate.stream import Stream

SUITE = load_subjects("piton")[0]
PARTS = frozenset((*SLICE_LISTS, *SLICE_MASKS))
PLAIN = frozenset(SLICE_LISTS)
DTYPES = (DType.UINT8, DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32)
RULES = """rules:
  dtypes: [uint8, int8, int32, float16, float32, int64, bfloat16, int16]
  layouts:
  - {shapes: {x: [A, N]}, attributes: {dim: {choices: [7]}}}
  - {shapes: {x: [..., N]}, ranks: [3, 4], attributes: {dim: {choices: [9]}}}
  attributes:
    perm: {permutation_of: x}
    first: {slice_of: x, part: begin}
    last: {slice_of: x, part: end}
    strides: {slice_of: x}
    count: {low: 1, high: 100000, scale: log}
"""


def operator(folder: Path, text: str = RULES) -> Operator:
    (folder / "golden.py").write_text("")
    (folder / "rules.yaml").write_text(text)
    lists = tuple(AttrSpec(name=name, type="int_list", is_required=True) for name in ("perm", "first", "last", "strides"))
    numbers = tuple(AttrSpec(name=name, type="int", is_required=True) for name in ("dim", "count"))
    spec = (TensorSpec(name="x", dtypes=DTYPES),)
    outputs = (TensorSpec(name="y", dtypes=DTYPES),)
    golden = str(folder / "golden.py")
    return Operator(
        name="op", title="Op", level=1, category="", schema_text="", inputs=spec, outputs=outputs, attributes=(*lists, *numbers), golden_path=golden
    )


def rules(folder: Path, text: str = RULES) -> CaseRules:
    found = read_rules(folder, operator(folder, text))
    assert found is not None
    return found


def cases(folder: Path) -> tuple[Case, ...]:
    return generate_cases(SUITE, SuiteOperator(operator=operator(folder), cases=()), 5, 20)[0]


@pytest.mark.parametrize("shape", [(2, 3), (4, 1, 5), (2, 3, 4, 5, 6)])
def test_a_permutation_has_every_axis_once_and_moves_data(shape: tuple[int, ...]) -> None:
    drawn = {draw_permutation(shape, Stream(b"orders", number)) for number in range(400)}
    for order in drawn:
        assert sorted(order) == list(range(len(shape)))
        moved = [axis for axis in order if shape[axis] > 1]
        assert moved != sorted(moved)
    long = sum(size > 1 for size in shape)
    assert len(drawn) > 0.8 * math.factorial(len(shape)) * (1 - 1 / math.factorial(long))


@pytest.mark.parametrize("shape", [(5,), (1, 9, 1), ()])
def test_where_no_order_moves_data_there_is_no_permutation(shape: tuple[int, ...]) -> None:
    with pytest.raises(ExpressionError, match="no permutation"):
        draw_permutation(shape, Stream(b"orders", 0))


def test_a_slice_without_masks_has_one_entry_per_axis_at_most_and_takes_part_of_the_whole() -> None:
    steps = set()
    for number in range(300):
        shape = (11, 300, 7)
        drawn = draw_slice(shape, PLAIN, Stream(b"plain", number))
        begin, end, strides = (drawn[name] for name in SLICE_LISTS)
        assert isinstance(begin, tuple)
        assert isinstance(end, tuple)
        assert isinstance(strides, tuple)
        assert all(drawn[name] == 0 for name in SLICE_MASKS)
        kept = [range(*slice(*entry).indices(size)) for size, entry in zip(shape, zip(begin, end, strides, strict=True), strict=False)]
        assert 1 <= len(begin) == len(end) == len(strides) <= 3
        assert all(kept)
        assert any(len(line) < size or line.step < 0 for line, size in zip(kept, shape, strict=False))
        steps |= set(strides)
    assert steps == {-4, -3, -2, -1, 1, 2, 3, 4}


def test_masks_are_drawn_only_where_the_operator_has_them() -> None:
    only = frozenset({*SLICE_LISTS, "end_mask"})
    drawn = [draw_slice((20, 30), only, Stream(b"masks", number)) for number in range(60)]
    assert any(item["end_mask"] for item in drawn)
    assert not any(item[name] for item in drawn for name in SLICE_MASKS if name != "end_mask")


def test_a_tensor_of_one_element_has_no_slice() -> None:
    with pytest.raises(ExpressionError, match="no slice"):
        draw_slice((1, 1), PARTS, Stream(b"none", 0))


def test_attributes_of_a_case_are_parts_of_one_slice_and_follow_the_layout(tmp_path: Path) -> None:
    drawn = cases(tmp_path)
    assert drawn == cases(tmp_path)
    for case in drawn:
        shape = case.inputs[0].shape
        first, last, strides, perm = (case.attributes[name] for name in ("first", "last", "strides", "perm"))
        assert isinstance(first, tuple)
        assert isinstance(last, tuple)
        assert isinstance(strides, tuple)
        assert isinstance(perm, tuple)
        assert all(range(*slice(*entry).indices(size)) for size, entry in zip(shape, zip(first, last, strides, strict=True), strict=False))
        assert sorted(perm) == list(range(len(shape)))  # type: ignore[type-var]
        assert case.attributes["dim"] == (7 if len(shape) == 2 else 9)


def test_a_whole_number_may_be_drawn_on_a_log_scale(tmp_path: Path) -> None:
    counts = sorted(case.attributes["count"] for case in cases(tmp_path))  # type: ignore[type-var]
    assert all(isinstance(count, int) and 1 <= count <= 100_000 for count in counts)
    assert counts[4] < 5_000  # type: ignore[operator]  # a quarter of linear draws below 5 % has odds of 1 in 400


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("permutation_of: x", "permutation_of: z", "unknown input 'z'"),
        ("slice_of: x, part: end", "slice_of: z, part: end", "unknown input 'z'"),
        ("part: end", "part: stop", "unknown part of a slice 'stop'"),
        ("part: end", "part: end_mask", "another type"),
        ("strides: {slice_of: x}", "strides: {part: begin}", "exactly one of"),
        ("strides: {slice_of: x}", "strides: {choices: [[1]], part: begin}", "part belongs to slice_of"),
        ("count: {low: 1, high: 100000, scale: log}", "count: {permutation_of: x}", "another type"),
        (", attributes: {dim: {choices: [9]}}", "", "no values for attribute 'dim'"),
        ("dim: {choices: [9]}", "dom: {choices: [9]}", "unknown attribute 'dom'"),
    ],
)
def test_a_mistake_in_such_a_rule_is_one_error(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in RULES
    with pytest.raises(FormatError, match=r"rules\.yaml:") as raised:
        rules(tmp_path, RULES.replace(old, new))
    assert problem in str(raised.value)


def test_orders_of_axes_are_few_so_that_cases_may_share_them(tmp_path: Path) -> None:
    transpose = operator(tmp_path).model_copy(update={"attributes": (AttrSpec(name="perm", type="int_list", is_required=True),)})
    assert has_many_attribute_values(transpose)
    assert not has_many_attribute_values(transpose, rules(tmp_path))
    assert has_many_attribute_values(operator(tmp_path), rules(tmp_path))


def test_every_dtype_of_the_leading_input_gets_an_edge_even_when_there_are_more_of_them_than_edges(tmp_path: Path) -> None:
    slots = plan_slots(rules(tmp_path), 20, Stream(b"plan", "x"))
    assert {slot.dtypes[0] for slot in slots if slot.is_edge} == set(DTYPES)
    assert len(slots) == 20


def test_the_digest_of_rules_is_that_of_what_the_file_says(tmp_path: Path) -> None:
    before = rules(tmp_path).digest
    assert rules(tmp_path, RULES.replace("{permutation_of: x}", "{permutation_of: x}  # a remark")).digest == before
    assert rules(tmp_path, RULES.replace("high: 100000", "high: 100001")).digest != before


def test_ranges_of_unsigned_numbers_are_asymmetric_and_never_all_zero_by_accident(tmp_path: Path) -> None:
    drawn = [case for case in cases(tmp_path) if case.inputs[0].dtype is DType.UINT8]
    assert drawn
    for case in drawn:
        item, family = case.inputs[0], case.note.rpartition(" | ")[2]
        assert family in families(item)
        assert not family.startswith("symmetric")
        assert 0 <= item.low < item.high <= 255 or family == "special-zero"


PROTO = """operator:
  name: Op
  inputs: [{name: x, dtype: [float32]}]
  outputs: [{name: at, dtype: [int64], index_gather: {input: x, unique: true, prefix: true, ordered: false}}]
  schema: op(Tensor x) -> Tensor at
"""


def test_a_signature_says_what_its_indices_promise(tmp_path: Path) -> None:
    (tmp_path / "golden.py").write_text("")
    (tmp_path / "proto.yaml").write_text(PROTO)
    spec = read_proto(tmp_path, level=1, is_strict=True).operator.outputs[0]
    assert (spec.indexes, spec.index_is_unique, spec.index_is_prefix, spec.index_is_ordered) == ("x", True, True, False)
    (tmp_path / "proto.yaml").write_text(PROTO.replace(", unique: true, prefix: true, ordered: false", ""))
    spec = read_proto(tmp_path, level=1, is_strict=True).operator.outputs[0]
    assert (spec.index_is_unique, spec.index_is_prefix, spec.index_is_ordered) == (False, False, True)
