"""Does suite cann-lowbit keep the rules of the dataset, as far as it goes, and do its goldens say what their formats say?"""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from piton.catalog import load_suite
from piton.catalog.proto import Degenerate, read_proto
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.execution import CaseCall, TensorArgument
from piton.core.suite import SuiteOperator
from piton.core.verdict import Verdict
from piton.numerics.dtypes import decode, encode, raw_bytes
from piton.numerics.golden import Precision, build_inputs, run_golden
from piton.numerics.impostors import impostors, rejects
from piton.numerics.inputs import Inputs, make_inputs
from piton.numerics.lint import check_native_run, special_disagreements
from piton.numerics.mx import block_count, quantise
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import lint_thresholds, tolerance_for
from piton.targets.null_lowbit import WHOLE_CALLS

SUITE = load_suite("cann-lowbit")
CASES = [(member, case) for member in SUITE.members for case in member.cases]
ROWS = 24
by_operator = pytest.mark.parametrize("member", SUITE.members, ids=lambda member: member.operator.name)
by_case = pytest.mark.parametrize(("member", "case"), CASES, ids=[f"{case.operator}-{case.id}" for _, case in CASES])


def parts(case: Case) -> list[str]:
    """size, dtype, alignment, value range of the note."""
    return case.note.split(" | ")


@by_operator
def test_ids_count_from_one_and_cases_differ_in_size_and_range(member: SuiteOperator) -> None:
    assert [case.id for case in member.cases] == [str(number) for number in range(1, 9)]
    for what in (lambda case: case.elements, lambda case: [(item.low, item.high) for item in case.inputs]):
        assert max(Counter(str(what(case)) for case in member.cases).values()) == 1
    assert all(1e6 <= case.elements <= 3e8 for case in member.cases)


@by_operator
def test_every_type_that_is_declared_occurs(member: SuiteOperator) -> None:
    named = {DType(str(case.attributes["dst_type"])) for case in member.cases}
    assert named == set(member.operator.outputs[0].dtypes)
    assert {case.inputs[0].dtype for case in member.cases} == set(member.operator.inputs[0].dtypes)


@by_operator
def test_half_of_the_cases_are_non_aligned_and_special_and_boundary_values_occur(member: SuiteOperator) -> None:
    skewed = [case for case in member.cases if case.inputs[0].dtype.bytes_of(case.inputs[0].shape[-1]) % 512]
    assert [case for case in member.cases if parts(case)[2].startswith("non-aligned")] == skewed
    assert len(skewed) >= 4
    assert {parts(case)[3] for case in member.cases} >= {"dtype-boundary", "special-inf", "special-nan", "symmetric-small"}
    assert all(parts(case)[:2] == ["small", case.inputs[0].dtype.value] for case in member.cases)


@by_operator
def test_the_description_has_its_sections_and_thresholds_are_within_the_cap(member: SuiteOperator) -> None:
    text = (Path(member.operator.golden_path).parent / "desc.md").read_text()
    sections = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert sections == ["Definition", "Interface", "Constraints", "Supported range", "Numerical tolerance", "Edge cases", "Example"]
    assert member.operator.schema_text in text
    assert lint_thresholds(member.operator) == ()


def small(case: Case) -> Case:
    """The case with fewer elements: the last axis up to 1088, about ROWS rows; what belongs to the last axis follows it."""
    first, *others = case.inputs
    inner = min(first.shape[-1], 1088 - (first.shape[-1] % 2) if len(first.shape) > 1 else 20_011)
    outer: list[int] = []
    for size in first.shape[:-1]:
        outer.append(min(size, max(2, ROWS // math.prod(outer))))
    shapes = [(*outer, inner), *(_follower(item, first, (*outer, inner)) for item in others)]
    return case.model_copy(update={"inputs": tuple(item.model_copy(update={"shape": shape}) for item, shape in zip(case.inputs, shapes, strict=True))})


def _follower(item: CaseInput, first: CaseInput, shape: tuple[int, ...]) -> tuple[int, ...]:
    if item.dtype is DType.FLOAT8_E8M0:
        return (*shape[:-1], block_count(shape[-1]))
    return item.shape if item.shape == (1,) else shape[-1:]


@cache
def inputs_of(operator: str, case_id: str, seed: int) -> tuple[SuiteOperator, Case, Inputs]:
    member, case = next(pair for pair in CASES if (pair[1].operator, pair[1].id) == (operator, case_id))
    case = small(case)
    return member, case, build_inputs(member.operator.golden_path, member.operator, case, make_inputs("0", case, seed), seed)


@cache
def outputs_of(operator: str, case_id: str, seed: int, precision: Precision) -> tuple[GoldenOutput, ...]:
    member, case, inputs = inputs_of(operator, case_id, seed)
    return run_golden(member.operator.golden_path, member.operator, case, inputs, precision, threads=1)


@by_case
def test_the_native_run_passes_and_agrees_on_special_positions(member: SuiteOperator, case: Case) -> None:
    runs = (outputs_of(case.operator, case.id, 0, precision) for precision in ("float64", "native"))
    for golden, native in zip(*runs, strict=True):
        assert special_disagreements(golden, native) == 0
        assert check_native_run(golden, native, tolerance_for(member.operator, golden.name, golden.dtype)).outcome.verdict is Verdict.PASSED


def listed(member: SuiteOperator) -> tuple[Degenerate, ...]:
    return read_proto(Path(member.operator.golden_path).parent, is_strict=True).degenerate


def accepted(member: SuiteOperator, case: Case) -> set[str]:
    """Names of the impostors that some output of this case does not reject."""
    found: set[str] = set()
    triples = zip(*(outputs_of(case.operator, case.id, seed, run) for seed, run in ((0, "float64"), (0, "native"), (1, "float64"))), strict=True)
    for golden, native, stale in triples:
        made = impostors(golden, inputs_of(case.operator, case.id, 0)[2], stale)
        tolerance = tolerance_for(member.operator, golden.name, golden.dtype)
        found |= {name for name, output in made.items() if not rejects(golden, output, tolerance, "strict", native)}
    return found


@by_case
def test_every_output_of_a_case_rejects_every_impostor_but_the_listed_ones(member: SuiteOperator, case: Case) -> None:
    assert accepted(member, case) == {name for item in listed(member) if item.case == case.id for name in item.impostors}


@by_operator
def test_a_sibling_of_the_same_type_rejects_what_a_degenerate_case_accepts(member: SuiteOperator) -> None:
    cases = {case.id: case for case in member.cases}
    assert max(Counter(name for item in listed(member) for name in item.impostors).values(), default=0) <= 2
    for item in listed(member):
        assert cases[item.case].inputs[0].dtype is cases[item.sibling].inputs[0].dtype
        assert not set(item.impostors) & accepted(member, cases[item.sibling])


@by_case
def test_the_null_targets_own_arithmetic_gives_the_bytes_of_the_native_run(member: SuiteOperator, case: Case) -> None:
    _, scaled, inputs = inputs_of(case.operator, case.id, 0)
    tensors = tuple(TensorArgument(item.argument, item.shape, item.dtype, raw_bytes(np.asarray(inputs[item.argument]))) for item in scaled.inputs)
    computed = WHOLE_CALLS[case.operator](CaseCall(case.id, tensors, (), scaled.attributes))
    for made, native in zip(computed, outputs_of(case.operator, case.id, 0, "native"), strict=True):
        assert (made.shape, made.dtype) == (native.shape, native.dtype)
        got, expected = (GoldenOutput("y", native.dtype, native.shape, memoryview(data)).values() for data in (made.data.tobytes(), bytes(native.data)))
        np.testing.assert_array_equal(got, expected)


# Goldens against the codecs


def run(name: str, inputs: Inputs, case: Case, precision: Precision) -> tuple[GoldenOutput, ...]:
    member = next(member for member in SUITE.members if member.operator.name == name)
    return run_golden(member.operator.golden_path, member.operator, case, inputs, precision, threads=1)


EXTREME = np.concatenate(
    [
        np.float32(
            [0.0, -0.0, 1.0, np.nextafter(np.float32(2), np.float32(0)), 2.0, 3.4e38, 1.2e-38, 1e-45, 2.0**-127, 449.0, 464.0, 7.0, 1.9999999 * 2.0**-120]
        ),
        np.random.default_rng(0).standard_normal(1011).astype(np.float32) * np.exp2(np.random.default_rng(1).integers(-60, 60, 1011)).astype(np.float32),
    ]
)


@pytest.mark.parametrize("precision", ["float64", "native"])
@pytest.mark.parametrize("dtype", [DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.FLOAT4_E2M1], ids=lambda dtype: dtype.value)
def test_mx_quant_is_the_conversion_of_the_specification(dtype: DType, precision: Precision) -> None:
    for x in (
        EXTREME.reshape(32, 32),
        EXTREME[: 33 * 30].reshape(30, 33)[:, : 32 if dtype is DType.FLOAT4_E2M1 else 33],
        np.repeat(EXTREME[:, None], 2, axis=1),
    ):
        case = Case(operator="mx_quant", id="1", inputs=(CaseInput(argument="x", shape=x.shape, dtype=DType.FLOAT32),), attributes={"dst_type": dtype.value})
        elements, scales = run("mx_quant", {"x": x}, case, precision)
        expected = quantise(x.astype(np.float64), dtype)
        np.testing.assert_array_equal(elements.values(), decode(expected.elements, dtype))
        np.testing.assert_array_equal(scales.array().view(np.uint8), expected.scales.reshape(-1).view(np.uint8))


@pytest.mark.parametrize("dtype", [DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.HIFLOAT8], ids=lambda dtype: dtype.value)
def test_fp8_quant_is_the_saturating_conversion_of_the_quotient(dtype: DType) -> None:
    scale = np.float32([0.5])
    form = tuple(CaseInput(argument=name, shape=array.shape, dtype=DType.FLOAT32) for name, array in (("x", EXTREME), ("scale", scale)))
    case = Case(operator="fp8_quant", id="1", inputs=form, attributes={"dst_type": dtype.value})
    (got,) = run("fp8_quant", {"x": EXTREME, "scale": scale}, case, "float64")
    expected = encode(EXTREME.astype(np.float64) / 0.5, dtype, saturates=True)
    np.testing.assert_array_equal(got.values(), decode(expected, dtype))


def test_mx_dequant_undoes_mx_quant() -> None:
    made = quantise(EXTREME[1:].reshape(-1, 31).astype(np.float64), DType.FLOAT8_E4M3)
    form = tuple(
        CaseInput(argument=name, shape=array.shape, dtype=dtype, low=1.0)
        for name, array, dtype in (("x", made.elements, DType.FLOAT8_E4M3), ("scale", made.scales, DType.FLOAT8_E8M0))
    )
    case = Case(operator="mx_dequant", id="1", inputs=form, attributes={"dst_type": "float32"})
    (got,) = run("mx_dequant", {"x": made.elements, "scale": made.scales}, case, "float64")
    np.testing.assert_array_equal(got.values(), made.values().astype(np.float32).astype(np.float64))
