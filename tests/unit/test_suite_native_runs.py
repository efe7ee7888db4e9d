"""Can every public case be passed at all? The golden in the operator's own dtype, in the role of a candidate, at full size."""

import pytest
from _pytest.mark import ParameterSet

from piton.catalog import load_suite
from piton.core.case import Case
from piton.core.operator import Operator
from piton.core.verdict import Verdict
from piton.numerics.golden import run_golden
from piton.numerics.inputs import make_inputs
from piton.numerics.lint import check_native_run, special_disagreements
from piton.numerics.thresholds import tolerance_for

SUITE = load_suite()
LARGE_ELEMENTS = 32_000_000
"""Inputs of more take some 10 s each on two cores, two goldens and all: one case per operator, `slow`."""


def as_parameter(operator: Operator, case: Case) -> ParameterSet:
    """One case with its name, marked where it is large."""
    return pytest.param(operator, case, id=f"{operator.name}-{case.id}", marks=[pytest.mark.slow] if case.elements > LARGE_ELEMENTS else [])


CASES = [as_parameter(member.operator, case) for member in SUITE.members for case in member.cases]


def test_the_suite_has_twenty_cases_per_operator() -> None:
    assert [len(member.cases) for member in SUITE.members] == [20, 20, 20, 20]


def test_one_case_per_operator_is_left_to_the_slow_suite() -> None:
    assert [item.id for item in CASES if item.marks] == ["exp-20", "gelu-20", "rms_norm-20", "softmax-20"]


@pytest.mark.parametrize(("operator", "case"), CASES)
def test_the_same_dtype_run_passes(operator: Operator, case: Case) -> None:
    inputs = make_inputs(SUITE.version, case, seed=0, threads=2)
    (golden,) = run_golden(operator.golden_path, operator, case, inputs, "float64")
    (native,) = run_golden(operator.golden_path, operator, case, inputs, "native")
    assert special_disagreements(golden, native, threads=2) == 0
    check = check_native_run(golden, native, tolerance_for(operator, golden.name, golden.dtype), threads=2)
    assert check.outcome.verdict is Verdict.PASSED, check
