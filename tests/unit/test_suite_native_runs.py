"""Can public cases be passed at all? The golden in the operator's own dtype, in the role of a candidate, at full size.

All cases of exp, gelu, rms_norm and softmax; of the others the smallest (`make lint-suite` and `piton suite check piton` run the rest).
"""

import zlib
from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet

from piton.catalog import load_suite
from piton.core.case import Case
from piton.core.operator import Operator
from piton.core.suite import SuiteOperator
from piton.core.verdict import Verdict
from piton.evaluate.cache import StoredTensor
from piton.evaluate.check import Expectation, check_outputs
from piton.evaluate.golden_service import TensorData
from piton.numerics.dtypes import AnyArray, dtype_of, raw_bytes
from piton.numerics.golden import build_inputs, run_golden
from piton.numerics.impostors import as_output
from piton.numerics.inputs import Inputs, make_inputs
from piton.numerics.lint import check_native_run, special_disagreements
from piton.numerics.thresholds import tolerance_for

SUITE = load_suite()
LARGE_ELEMENTS = 32_000_000
"""Inputs of more take some 10 s each on two cores, two goldens and all: one case per operator, `slow`."""


def as_parameter(operator: Operator, case: Case) -> ParameterSet:
    """One case with its name, marked where it is large."""
    return pytest.param(operator, case, id=f"{operator.name}-{case.id}", marks=[pytest.mark.slow] if case.elements > LARGE_ELEMENTS else [])


REFERENCE = ("exp", "gelu", "rms_norm", "softmax")
CASES = [as_parameter(member.operator, case) for member in SUITE.members for case in member.cases if member.operator.name in REFERENCE]
OTHERS = [member for member in SUITE.members if member.operator.name not in REFERENCE]


def test_the_suite_has_53_operators_in_four_levels_of_twenty_cases_each() -> None:
    levels = [member.operator.level for member in SUITE.members]
    assert [levels.count(level) for level in (1, 2, 3, 4)] == [8, 16, 21, 8]
    assert {len(member.cases) for member in SUITE.members} == {20}


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


@pytest.mark.parametrize("member", OTHERS, ids=lambda member: member.operator.name)
def test_the_same_dtype_run_passes_on_the_smallest_case_and_leaves_the_inputs_alone(member: SuiteOperator) -> None:
    operator, case = member.operator, min(member.cases, key=lambda item: item.elements)
    drawn = build_inputs(operator.golden_path, operator, case, make_inputs(SUITE.version, case, seed=0), seed=0)
    digests = digests_of(drawn)
    golden, native = (run_golden(operator.golden_path, operator, case, drawn, precision) for precision in ("float64", "native"))
    inputs = tuple(
        TensorData(StoredTensor(name=name, dtype=dtype_of(array), shape=array.shape, offset=0, nbytes=array.nbytes), raw_bytes(array))
        for name, array in arrays_of(drawn)
    )
    expected = Expectation(operator, case, inputs, golden, lambda: native, "strict", 2)
    _, outcomes = check_outputs([as_output(item) for item in native], expected)
    assert outcomes == []
    assert digests_of(drawn) == digests


def arrays_of(inputs: Inputs) -> Iterator[tuple[str, AnyArray]]:
    for name, value in inputs.items():
        yield from ((name, array) for array in (value if isinstance(value, list) else [value]))


def digests_of(inputs: Inputs) -> list[int]:
    return [zlib.crc32(raw_bytes(array)) for _, array in arrays_of(inputs)]
