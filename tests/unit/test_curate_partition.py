"""Do lists that split an axis into groups do so, in all the kinds that routing produces, and may conditions ask for the ranges of inputs?"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from piton.catalog.expression import ExpressionError
from piton.catalog.rule_forms import PartitionRule
from piton.catalog.rules import read_rules
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.errors import FormatError
from piton.core.operator import AttrSpec, AttrType, Operator, TensorSpec
from piton.core.suite import SuiteOperator
from piton.curate.generate import generate_cases
from piton.curate.lint import load_subjects
from piton.curate.partition import draw_partition
from piton.curate.stream import Stream

ENDS, COUNTS = PartitionRule(of="M", into="2 * E"), PartitionRule(of="M", into="2 * E", form="counts")
RULES = """rules:
  axes: {M: {choices: [64, 127]}, E: {choices: [1, 4, 8]}}
  layouts: [{shapes: {x: [M, K], w: [E, K]}}]
  attributes: {groups: {partition: {of: M, into: E}}}
  values: {w: [[-1, 1], [-8, 8], [0, 2]]}
  require: [high_of_w <= 2, low_of_w < 0]
"""


def drawn(rule: PartitionRule, number: int, whole: int = 20, half: int = 4) -> tuple[int, ...]:
    return draw_partition(rule, {"M": whole, "E": half}, Stream(b"key", "partition", number))


def lengths(ends: tuple[int, ...]) -> list[int]:
    return [end - start for start, end in pairwise((0, *ends))]


def test_ends_never_decrease_and_reach_the_whole() -> None:
    for number in range(300):
        ends = drawn(ENDS, number)
        assert (len(ends), ends[-1]) == (8, 20)
        assert min(lengths(ends)) >= 0


def test_counts_are_the_lengths_of_the_groups() -> None:
    for number in range(50):
        assert list(drawn(COUNTS, number)) == lengths(drawn(ENDS, number))


def test_every_kind_of_routing_occurs() -> None:
    found = [lengths(drawn(ENDS, number)) for number in range(300)]
    assert [3, 2, 3, 2, 3, 2, 3, 2] in found or [2, 3, 2, 3, 2, 3, 2, 3] in found
    assert any(max(item) > 10 for item in found)
    assert {place for item in found for place, length in enumerate(item) if not length} == set(range(8))
    assert sum(0 not in item for item in found) > 50


def test_a_partition_follows_from_its_stream() -> None:
    assert drawn(ENDS, 7) == drawn(ENDS, 7)
    assert len({drawn(ENDS, number) for number in range(40)}) > 20


@pytest.mark.parametrize(("whole", "half", "expected"), [(0, 1, (0, 0)), (5, 0.5, (5,))])
def test_nothing_and_one_group_can_be_split(whole: int, half: float, expected: tuple[int, ...]) -> None:
    assert draw_partition(ENDS, {"M": whole, "E": half}, Stream(b"key")) == expected


def test_a_split_into_no_groups_has_no_value() -> None:
    with pytest.raises(ExpressionError, match="into 0 groups"):
        drawn(ENDS, 1, half=0)


def operator(folder: Path, kind: AttrType = "int_list", text: str = RULES) -> Operator:
    (folder / "golden.py").write_text("")
    (folder / "rules.yaml").write_text(text)
    inputs = tuple(TensorSpec(name=name, dtypes=(DType.FLOAT32,)) for name in ("x", "w"))
    return Operator(
        name="op",
        title="Op",
        level=1,
        category="",
        schema_text="",
        inputs=inputs,
        outputs=(TensorSpec(name="y", dtypes=(DType.FLOAT32,)),),
        attributes=(AttrSpec(name="groups", type=kind, is_required=True),),
        golden_path=str(folder / "golden.py"),
    )


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, ...]:
    made = operator(tmp_path_factory.mktemp("partition"))
    return generate_cases(load_subjects("piton", ["exp"])[0], SuiteOperator(operator=made, cases=()), 5, 20)[0]


def test_drawn_cases_split_the_rows_of_their_own_input(cases: tuple[Case, ...]) -> None:
    for case in cases:
        groups = case.attributes["groups"]
        assert isinstance(groups, tuple)
        assert (groups[-1], len(groups)) == (case.inputs[0].shape[0], case.inputs[1].shape[0])


def test_conditions_see_the_range_of_every_input(cases: tuple[Case, ...]) -> None:
    assert {(case.inputs[1].low, case.inputs[1].high) for case in cases} == {(-1.0, 1.0)}


def test_a_partition_is_for_lists_of_whole_numbers(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="groups"):
        read_rules(tmp_path, operator(tmp_path, "int"))


@pytest.mark.parametrize("wrong", ["{of: Q, into: E}", "{of: M}", "{of: M, into: E, form: shares}"])
def test_a_partition_names_axes_and_a_form(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(FormatError):
        read_rules(tmp_path, operator(tmp_path, text=RULES.replace("{of: M, into: E}", wrong)))
