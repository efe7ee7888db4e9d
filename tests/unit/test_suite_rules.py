"""Do Piton's own suites keep the rules of the dataset (paper section 2.3, precision rule 7)?"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pytest

from piton.catalog import load_suite, suite_names
from piton.catalog.proto import Degenerate, read_proto
from piton.core.case import Case, SizeClass, size_class
from piton.core.dtype import DType
from piton.core.suite import SuiteOperator
from piton.core.verdict import Verdict
from piton.numerics.compare import compare_output
from piton.numerics.dtypes import storage_dtype
from piton.numerics.golden import Precision, run_golden
from piton.numerics.impostors import as_output, impostors, rejects
from piton.numerics.inputs import Inputs, make_inputs
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import lint_thresholds, tolerance_for

ROWS = 16
"""Scaled-down copies keep the innermost axis up to 1500 elements and about this many rows."""
ALIGNMENT_BYTES = 512
FAMILIES = {"symmetric-small", "dtype-boundary", "special-inf", "special-nan"}
"""Range families every operator draws from (paper, table 3)."""
GROWING = {"cann-lowbit"}
"""Suites that do not have their twenty cases per operator yet; `test_suite_lowbit` holds them to what they promise."""
MEMBERS = [member for name in suite_names() if name not in GROWING for member in load_suite(name).members]
CASES = [(member, case) for member in MEMBERS for case in member.cases]


by_operator = pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.operator.name)
by_case = pytest.mark.parametrize(("member", "case"), CASES, ids=[f"{case.operator}-{case.id}" for _, case in CASES])


def range_family(case: Case) -> str:
    """Last part of the note, `size | dtype | alignment | range`."""
    return case.note.split(" | ")[3]


def is_aligned(case: Case) -> bool:
    return all(item.dtype.bytes_of(item.shape[-1]) % ALIGNMENT_BYTES == 0 for item in case.inputs)


def is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


def expected_family(low: float, high: float) -> set[str]:
    """What the taxonomy calls this range; boundaries depend on the dtype and are checked by hand."""
    if math.isnan(low):
        return {"special-nan"}
    if math.isinf(low) or math.isinf(high):
        return {"special-inf"}
    if low == high == 0:
        return {"special-zero"}
    magnitude = max(abs(low), abs(high))
    size = "small" if magnitude <= 8 else "medium" if magnitude <= 40 else "large"
    return {f"symmetric-{size}" if low == -high else f"asymmetric-{size}", *(["dtype-boundary"] if magnitude >= 88 else [])}


@by_operator
def test_an_operator_has_twenty_cases_with_ids_from_one(member: SuiteOperator) -> None:
    assert [case.id for case in member.cases] == [str(number) for number in range(1, 21)]


@by_operator
def test_elements_attributes_and_range_are_unique(member: SuiteOperator) -> None:
    elements = Counter(case.elements for case in member.cases)
    ranges = Counter(str([(item.low, item.high) for item in case.inputs]) for case in member.cases)
    attributes = Counter(json.dumps(case.attributes, sort_keys=True) for case in member.cases)
    assert max(elements.values()) == 1
    assert max(ranges.values()) == 1
    if any(spec.type == "float" for spec in member.operator.attributes):  # names and axes alone have too few combinations for twenty cases
        assert max(attributes.values()) == 1


@by_operator
def test_at_least_half_of_the_cases_are_non_aligned_and_most_of_those_prime(member: SuiteOperator) -> None:
    skewed = [case for case in member.cases if not is_aligned(case)]
    assert len(skewed) >= len(member.cases) / 2
    assert sum(any(is_prime(size) for item in case.inputs for size in item.shape) for case in skewed) > len(skewed) / 2


@by_operator
def test_ranks_one_to_five_and_every_dtype_occur(member: SuiteOperator) -> None:
    assert {len(item.shape) for case in member.cases for item in case.inputs} == {1, 2, 3, 4, 5}
    assert {item.dtype for case in member.cases for item in case.inputs} == set(member.operator.inputs[0].dtypes)


@by_operator
def test_sizes_cover_the_three_regimes_within_the_budget_of_the_demo(member: SuiteOperator) -> None:
    sizes = Counter(size_class(case) for case in member.cases)
    assert 12 <= sizes[SizeClass.SMALL] <= 14
    assert 4 <= sizes[SizeClass.MEDIUM] <= 7
    assert sizes[SizeClass.LARGE] == 1
    assert all(1e6 <= case.elements <= 1e8 for case in member.cases)
    assert sum(case.elements for case in member.cases) <= 2.6e8


@by_operator
def test_the_range_families_are_there(member: SuiteOperator) -> None:
    families = {range_family(case) for case in member.cases}
    assert families >= FAMILIES
    assert any(family.startswith("asymmetric") for family in families)
    assert any(family.endswith("large") for family in families)


@by_case
def test_the_note_says_what_the_case_is(member: SuiteOperator, case: Case) -> None:
    size, dtype, alignment, family = case.note.split(" | ")
    assert size == size_class(case).value
    assert dtype == case.inputs[0].dtype.value
    assert alignment.startswith("non-aligned") is not is_aligned(case)
    assert family in expected_family(case.inputs[0].low, case.inputs[0].high)


@by_operator
def test_every_dtype_has_a_boundary_or_special_case(member: SuiteOperator) -> None:
    covered = {case.inputs[0].dtype for case in member.cases if range_family(case).startswith(("dtype-boundary", "special"))}
    assert covered == set(member.operator.inputs[0].dtypes)


@by_operator
def test_thresholds_are_within_the_cap(member: SuiteOperator) -> None:
    assert lint_thresholds(member.operator) == ()


@by_operator
def test_the_description_has_its_sections(member: SuiteOperator) -> None:
    text = (Path(member.operator.golden_path).parent / "desc.md").read_text()
    sections = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert sections == ["Definition", "Interface", "Constraints", "Supported range", "Numerical tolerance", "Edge cases", "Example"]
    assert member.operator.schema_text in text


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


def accepted(member: SuiteOperator, case: Case) -> set[str]:
    """Names of the impostors that this case does not reject."""
    item = trial(case)
    tolerance = tolerance_for(member.operator, "y", case.inputs[0].dtype)
    made = impostors(item.expected, item.inputs, stale=trial(case, seed=1).expected)
    return {name for name, output in made.items() if not rejects(item.expected, output, tolerance, "strict", item.native)}


def listed(member: SuiteOperator) -> Iterator[Degenerate]:
    yield from read_proto(Path(member.operator.golden_path).parent, is_strict=True).degenerate


@by_case
def test_a_case_rejects_every_impostor_but_the_listed_ones(member: SuiteOperator, case: Case) -> None:
    assert accepted(member, case) == {name for item in listed(member) if item.case == case.id for name in item.impostors}


@by_operator
def test_at_most_two_cases_are_degenerate_for_an_impostor_and_a_sibling_of_the_dtype_rejects_it(member: SuiteOperator) -> None:
    cases = {case.id: case for case in member.cases}
    assert max(Counter(name for item in listed(member) for name in item.impostors).values(), default=0) <= 2
    for item in listed(member):
        assert cases[item.case].inputs[0].dtype is cases[item.sibling].inputs[0].dtype
        assert not set(item.impostors) & accepted(member, cases[item.sibling])


@by_case
def test_a_golden_leaves_its_input_alone_and_keeps_shape_and_dtype(member: SuiteOperator, case: Case) -> None:
    item = trial(case)
    before = np.copy(item.inputs["x"]).view(np.uint8)
    output = item.golden("native")
    assert np.array_equal(np.asarray(item.inputs["x"]).view(np.uint8), before)
    assert (output.shape, output.dtype) == (item.case.inputs[0].shape, case.inputs[0].dtype)
