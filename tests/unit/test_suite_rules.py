"""Do Piton's own suites keep the rules of the dataset (paper section 2.3, precision rule 7)?"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pytest

from piton.catalog import load_suite, suite_names
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.suite import SuiteOperator
from piton.core.verdict import Verdict
from piton.curate.lint import check_structure, load_subjects
from piton.curate.violation import Subject
from piton.numerics.compare import compare_output
from piton.numerics.dtypes import storage_dtype
from piton.numerics.golden import Precision, run_golden
from piton.numerics.impostors import as_output
from piton.numerics.inputs import Inputs, make_inputs
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import tolerance_for

ROWS = 16
"""Scaled-down copies keep the innermost axis up to 1500 elements and about this many rows."""
MEMBERS = [member for name in suite_names() for member in load_suite(name).members]
QUICKSTART = [member for member in MEMBERS if member.operator.name in ("exp", "gelu", "rms_norm", "softmax")]
"""Operators with one row-wise input: they can be scaled down here, and the demo evaluates them."""
CASES = [(member, case) for member in QUICKSTART for case in member.cases]


by_operator = pytest.mark.parametrize("member", QUICKSTART, ids=lambda member: member.operator.name)
by_case = pytest.mark.parametrize(("member", "case"), CASES, ids=[f"{case.operator}-{case.id}" for _, case in CASES])


SUBJECTS = [subject for name in suite_names() for subject in load_subjects(name)[1]]


def _origin(subject: Subject) -> dict[str, object]:
    """What stands beside a generated table; empty where the table was written by hand."""
    file = subject.folder / "cases.csv.origin.json"
    found: dict[str, object] = json.loads(file.read_text()) if file.is_file() else {}
    return found


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.operator.name)
def test_an_operator_keeps_every_structural_rule(subject: Subject) -> None:
    assert [item for item in check_structure(subject) if item.severity] == []


GENERATED = [subject for subject in SUBJECTS if _origin(subject)]


def test_all_tables_but_the_four_written_by_hand_say_where_they_come_from() -> None:
    assert {item.operator.name for item in SUBJECTS} - {item.operator.name for item in GENERATED} == {"exp", "gelu", "rms_norm", "softmax"}


@pytest.mark.parametrize("subject", GENERATED, ids=lambda item: item.operator.name)
def test_a_table_comes_from_the_rules_beside_it(subject: Subject) -> None:
    assert subject.rules is not None
    assert _origin(subject)["rules_digest"] == subject.rules.digest


@pytest.mark.parametrize("name", suite_names())
def test_every_file_of_a_suite_can_be_read(name: str) -> None:
    assert load_subjects(name)[2] == []


@by_operator
def test_sizes_stay_within_the_budget_of_the_demo(member: SuiteOperator) -> None:
    assert all(case.elements <= 1e8 for case in member.cases)
    assert sum(case.elements for case in member.cases) <= 2.6e8


# Goldens and impostors, on scaled-down copies of every case


def scaled_down(case: Case) -> Case:
    """The same case with fewer elements: dtype, attributes and range stay, axes shrink. An input with the size of the last axis shrinks with it."""
    first, *others = case.inputs
    inner = min(first.shape[-1], 1500 if len(first.shape) > 1 else 20_011)
    outer: list[int] = []
    for size in first.shape[:-1]:
        outer.append(min(size, max(2, ROWS // math.prod(outer))))
    assert all(item.shape == first.shape[-1:] for item in others), "teach this function how the other inputs shrink"
    shapes = [(*outer, inner), *((inner,) for _ in others)]
    return case.model_copy(update={"inputs": tuple(item.model_copy(update={"shape": shape}) for item, shape in zip(case.inputs, shapes, strict=True))})


@dataclass(frozen=True)
class Trial:
    """One scaled-down case with its inputs."""

    member: SuiteOperator
    case: Case
    inputs: Inputs

    def golden(self, precision: Precision) -> GoldenOutput:
        operator = self.member.operator
        (output,) = run_golden(operator.golden_path, operator, self.case, self.inputs, precision, threads=1)
        return output

    @cached_property
    def expected(self) -> GoldenOutput:
        return self.golden("float64")

    @cached_property
    def native(self) -> GoldenOutput:
        return self.golden("native")


@cache
def trial_of(operator: str, case_id: str, seed: int) -> Trial:
    member, case = next(pair for pair in CASES if (pair[1].operator, pair[1].id) == (operator, case_id))
    small = scaled_down(case)
    return Trial(member, small, make_inputs("0", small, seed))


def trial(case: Case, seed: int = 0) -> Trial:
    return trial_of(case.operator, case.id, seed)


def with_every_pattern(item: Trial) -> Trial:
    """The trial with the values of a 16-bit dtype as first input: all 65536 of them where elements stand alone, else evenly spread ones in the case's shape,
    so that the elements of a row are close to one another. float32 stays as it is."""
    first = item.case.inputs[0]
    if first.dtype is DType.FLOAT32:
        return item
    patterns = np.arange(1 << 16, dtype=np.uint16).view(storage_dtype(first.dtype))
    if item.member.operator.category != "Elementwise":
        patterns = np.resize(patterns[:: -(-len(patterns) // first.elements)], first.shape)
    return Trial(item.member, item.case, {**item.inputs, first.argument: patterns})


def kinds(output: GoldenOutput) -> np.ndarray:
    """0 finite, 1 NaN, 2 +inf, 3 -inf for every element."""
    values = output.values()
    return np.isnan(values) * 1 + np.isposinf(values) * 2 + np.isneginf(values) * 3


@by_case
def test_float64_and_native_golden_agree_on_special_positions(member: SuiteOperator, case: Case) -> None:
    for item in (trial(case), with_every_pattern(trial(case))):
        assert np.array_equal(kinds(item.expected), kinds(item.native))


@by_case
def test_the_native_golden_passes_the_strict_comparison(member: SuiteOperator, case: Case) -> None:
    item = trial(case)
    tolerance = tolerance_for(member.operator, "y", case.inputs[0].dtype)
    check = compare_output(as_output(item.native), item.expected, tolerance, "strict", lambda: item.native)
    assert check.outcome.verdict is Verdict.PASSED, check.outcome


@by_case
def test_a_golden_leaves_its_input_alone_and_keeps_shape_and_dtype(member: SuiteOperator, case: Case) -> None:
    item = trial(case)
    before = np.copy(item.inputs["x"]).view(np.uint8)
    output = item.golden("native")
    assert np.array_equal(np.asarray(item.inputs["x"]).view(np.uint8), before)
    assert (output.shape, output.dtype) == (item.case.inputs[0].shape, case.inputs[0].dtype)
