"""Do drawing and judging cases know packed and narrow floats: even axes, ranges that the type has, shared scales, results that need few bits?"""

from __future__ import annotations

import json

import numpy as np
import pytest

from piton.catalog import load_suite
from piton.catalog.expression import ExpressionError, parse_expression
from piton.core.case import CaseInput
from piton.core.dtype import DType
from piton.core.operator import Operator, TensorSpec
from piton.core.report import OutputCheck
from piton.core.suite import SuiteOperator
from piton.core.verdict import Verdict
from piton.curate.aspects import families, is_aligned
from piton.curate.generate import generate_cases
from piton.curate.lint import check_structure, load_subjects, with_cases
from piton.curate.numeric import CaseNumbers
from piton.curate.numeric_run import conclude
from piton.curate.ranges import family_for, reach_of
from piton.curate.violation import Subject
from piton.numerics.compare import compare_output
from piton.numerics.impostors import as_output
from piton.numerics.inputs import inward, make_tensor, scale_exponents
from piton.numerics.tensors import GoldenOutput, golden_output
from piton.numerics.thresholds import lint_thresholds, tolerance_for

SUITE, SUBJECTS, _ = load_subjects("cann-lowbit")
FP4, E8M0, E4M3 = DType.FLOAT4_E2M1, DType.FLOAT8_E8M0, DType.FLOAT8_E4M3

by_operator = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda item: item.operator.name)


def drawn(subject: Subject, seed: int) -> Subject:
    cases, _ = generate_cases(SUITE, SuiteOperator(operator=subject.operator, cases=subject.cases), seed)
    return with_cases(subject, cases, "generated")


@by_operator
def test_generated_cases_pass_the_structural_lint_and_can_be_stored(subject: Subject) -> None:
    made = drawn(subject, 0)
    assert check_structure(made) == []
    assert [item.shape for case in made.cases for item in case.inputs if item.dtype is FP4 and item.shape[-1] % 2] == []


@by_operator
def test_published_cases_were_drawn_from_the_rules_as_they_are(subject: Subject) -> None:
    assert subject.rules is not None
    origin = json.loads((subject.folder / "cases.csv.origin.json").read_text())
    assert (origin["rules_digest"], origin["operator"], origin["count"]) == (subject.rules.digest, subject.operator.name, 20)


def test_packed_axes_are_even_without_being_aligned() -> None:
    packed = [item for subject in SUBJECTS for case in subject.cases for item in case.inputs if item.dtype is FP4]
    assert len(packed) >= 10
    assert sum(not is_aligned(item) for item in packed) > len(packed) / 2


@pytest.mark.parametrize(
    ("family", "dtype", "expected"),
    [
        ("special-inf", E4M3, "dtype-boundary"),
        ("special-nan", E4M3, "special-nan"),
        ("special-nan", FP4, "dtype-boundary"),
        ("special-inf", DType.FLOAT8_E5M2, "special-inf"),
        ("special-inf", DType.HIFLOAT8, "special-inf"),
        ("symmetric-large", FP4, "symmetric-small"),
        ("asymmetric-medium", FP4, "asymmetric-small"),
        ("symmetric-large", E4M3, "symmetric-large"),
        ("special-zero", FP4, "special-zero"),
    ],
)
def test_a_family_that_the_type_lacks_has_a_stand_in(family: str, dtype: DType, expected: str) -> None:
    assert family_for(family, dtype) == expected


def test_the_boundary_of_a_narrow_type_is_its_own_end() -> None:
    ends = {6.0: True, 5.7: True, 5.0: False}
    for end, is_boundary in ends.items():
        assert ("dtype-boundary" in families(CaseInput(argument="x", shape=(2,), dtype=FP4, low=-end, high=end))) is is_boundary


def test_reach_is_that_of_ordinary_values() -> None:
    assert [reach_of(span) for span in ((-3.0, 2.0), (float("-inf"), 5.0), (float("nan"), float("nan")), (0.0, 0.0))] == [3.0, 5.0, 1.0, 0.0]


def test_texts_are_compared_and_nothing_else() -> None:
    rule = parse_expression("mode != 'floor' or H % 2 == 0")
    assert [rule.value({"mode": mode, "H": 3}) for mode in ("rint", "floor")] == [True, False]
    for text in ("'a' * 9", "mode + 1", "mode < 'z'", "-mode", "max(mode, 'a')"):
        with pytest.raises(ExpressionError):
            parse_expression(text).value({"mode": "rint"})


def scales(codes: object) -> GoldenOutput:
    return golden_output("scale", np.ldexp(1.0, np.asarray(codes)), E8M0)


def compared(got: GoldenOutput, golden: GoldenOutput, tau: float | None) -> OutputCheck:
    spec = TensorSpec(name="scale", dtypes=(E8M0,))
    thresholds = {} if tau is None else {E8M0: tau}
    operator = Operator(name="op", title="Op", level=1, category="", schema_text="", inputs=(), outputs=(spec,), golden_path="", thresholds=thresholds)
    return compare_output(as_output(got), golden, tolerance_for(operator, "scale", E8M0))


@pytest.mark.parametrize("exponent", [0, 7, -100])
def test_a_declared_share_of_scales_may_be_one_step_off_and_none_two(exponent: int) -> None:
    golden = np.full(10_000, exponent)
    for step, tau, passes in ((1, None, False), (1, 2e-4, True), (-1, 2e-4, True), (1, 1e-4, False), (2, 1e-2, False), (-2, 1e-2, False), (0, None, True)):
        got = golden.copy()
        got[17] += step
        verdict = compared(scales(got), scales(golden), tau).outcome.verdict
        assert (verdict is Verdict.PASSED) is passes, (step, tau)


def test_errors_of_scales_are_counted_in_steps() -> None:
    check = compared(scales([0, 3, -60]), scales([0, 0, -61]), 0.5)
    assert (check.max_error, check.mean_error) == (3.0, pytest.approx(4 / 3))


def test_a_relaxed_scale_needs_a_written_reason() -> None:
    operators = {member.operator.name: member.operator for member in load_suite("cann-lowbit").members}
    assert [name for name, item in operators.items() if lint_thresholds(item)] == ["swi_glu_mx_quant"]
    assert lint_thresholds(operators["swi_glu_mx_quant"], reasoned={E8M0}) == ()


def test_drawn_scales_and_packed_values_reach_the_ends_that_their_type_has() -> None:
    item = CaseInput(argument="s", shape=(4000,), dtype=E8M0, low=0.03, high=5.0)
    assert scale_exponents(item) == (-5, 2)
    assert inward(FP4, -5.0, 5.0) == (-4.0, 4.0)
    assert len(np.unique(make_tensor(item, 1).view(np.uint8))) == 8


@pytest.mark.parametrize(("exact", "found"), [(("lower_precision",), set()), ((), {"impostors"})])
def test_a_narrower_format_that_loses_nothing_is_no_impostor(exact: tuple[str, ...], found: set[str]) -> None:
    subject = SUBJECTS[0]
    record = CaseNumbers(operator=subject.operator.name, case="1", accepted=("lower_precision",), exact=exact, refused={"y": ("zeros",)})
    assert {item.check for item in conclude(subject, [record])} == found
