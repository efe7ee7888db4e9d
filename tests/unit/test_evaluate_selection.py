"""Which cases run: how --op, --level, --case, --max-elements and --fast narrow one another."""

from __future__ import annotations

import pytest

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import UsageError
from piton.core.operator import Operator, TensorSpec
from piton.core.submission import Manifest, OperatorSources, Submission
from piton.core.suite import Suite, SuiteOperator
from piton.core.verdict import Cause
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.selection import Selection, select, without_missing

SIZES = {"1": 100, "2": 2000, "3": 30, "4": 50, "5": 60}


def member(name: str, level: int) -> SuiteOperator:
    cases = tuple(
        Case(operator=name, id=case_id, inputs=(CaseInput(argument="x", shape=(size // 2, 2), dtype=DType.FLOAT32),)) for case_id, size in SIZES.items()
    )
    specs = (TensorSpec(name="x", dtypes=(DType.FLOAT32,)),)
    operator = Operator(name=name, title=name.title(), level=level, category="", schema_text=f"{name}(Tensor x) -> Tensor y", inputs=specs, outputs=specs)
    return SuiteOperator(operator=operator, cases=cases)


SUITE = Suite(name="toy", version="1", members=(member("exp", 1), member("gelu", 1), member("top_k", 2)))


def chosen(**filters: object) -> tuple[list[str], Selection]:
    """The cases that run, as `operator/id`, and the selection."""
    selection = select(SUITE, EvaluationRequest(submission="", run_dir="", cache_dir="", **filters))
    return [f"{case.operator}/{case.id}" for item in selection.members for case in item.cases if selection.has(case)], selection


def all_of(name: str) -> list[str]:
    return [f"{name}/{case_id}" for case_id in SIZES]


def test_without_filters_everything_runs() -> None:
    assert chosen()[0] == [*all_of("exp"), *all_of("gelu"), *all_of("top_k")]
    assert chosen()[1].remarks == ()


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"levels": (1,)}, [*all_of("exp"), *all_of("gelu")]),
        ({"levels": (2, 1), "operators": ("top_k",)}, all_of("top_k")),
        ({"levels": (1,), "operators": ("gelu", "top_k")}, all_of("gelu")),
        ({"levels": (1,), "cases": ("3", "gelu/2")}, ["exp/3", "gelu/2", "gelu/3"]),
        ({"cases": ("exp/1",), "operators": ("exp",)}, ["exp/1"]),
        ({"max_elements": 100, "operators": ("exp",)}, ["exp/1", "exp/3", "exp/4", "exp/5"]),
        ({"max_elements": 99, "operators": ("exp",)}, ["exp/3", "exp/4", "exp/5"]),
        ({"max_elements": 60, "cases": ("1", "3"), "operators": ("exp",)}, ["exp/3"]),
        ({"is_fast": True, "operators": ("exp",)}, ["exp/3", "exp/4", "exp/5"]),
        ({"is_fast": True, "operators": ("exp",), "cases": ("2", "5")}, ["exp/2", "exp/5"]),
        ({"is_fast": True, "operators": ("exp",), "max_elements": 55}, ["exp/3", "exp/4"]),
    ],
)
def test_filters_narrow_one_after_the_other(filters: dict[str, object], expected: list[str]) -> None:
    assert chosen(**filters)[0] == expected


def test_a_case_says_why_it_does_not_run() -> None:
    selection = chosen(operators=("exp",), cases=("1", "2", "3", "4", "5"), max_elements=100, is_fast=True)[1]
    why = {case.id: selection.why_not(case) for case in SUITE.members[0].cases}
    assert (why["2"].cause, why["2"].numbers) == (Cause.TOO_LARGE, {"elements": 2000, "max_elements": 100})
    dropped = [case_id for case_id, found in why.items() if found is not None and found.cause is Cause.FILTERED_OUT]
    assert len(dropped) == 1
    assert why[dropped[0]].message == "left out by --fast"
    assert chosen(cases=("1",))[1].why_not(SUITE.members[0].cases[1]).message == "left out by --case"


def test_a_report_of_a_part_says_which_part() -> None:
    remarks = chosen(levels=(2,), max_elements=100, is_fast=True)[1].remarks
    assert remarks[0] == "2 operators of the suite were left out by --level: exp, gelu"
    assert remarks[1].startswith("1 cases have more than 100 elements")
    assert remarks[1].endswith("top_k/2")
    assert remarks[2].startswith("partial: --fast")
    assert "does not rank" in remarks[2]


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"levels": (3,)}, "has no level '3'"),
        ({"operators": ("mish",)}, "has no operator 'mish'"),
        ({"cases": ("9",)}, "has no case '9'"),
        ({"operators": ("exp",), "levels": (2,)}, "no operator is left"),
        ({"operators": ("exp",), "cases": ("gelu/1",)}, "has no case 'gelu/1'"),
        ({"max_elements": 29}, r"no case is left[\s\S]*at least 30"),
    ],
)
def test_filters_that_leave_nothing_are_one_clear_error(filters: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        chosen(**filters)


def submitted(*names: str, **filters: object) -> Selection:
    """What is left of the selection for a submission of these operators."""
    request = EvaluationRequest(submission="", run_dir="", cache_dir="", **filters)
    operators = tuple(OperatorSources(operator=name, kernels=(), plugins=()) for name in names)
    submission = Submission(root="", manifest=Manifest(name="s"), files=(), operators=operators)
    return without_missing(select(SUITE, request), submission, SUITE, request)


def test_remarks_name_no_case_of_an_operator_that_was_not_submitted() -> None:
    found = submitted("exp", max_elements=100, is_fast=True)
    assert (found.missing, [member.operator.name for member in found.members]) == ({"gelu": 1, "top_k": 2}, ["exp"])
    assert found.remarks[0] == "1 cases have more than 100 elements and were not run (--max-elements): exp/2"
    assert "gelu" not in found.remarks[1]
    assert "exp/3" in found.remarks[1]


def test_filters_that_leave_only_cases_of_operators_that_were_not_submitted_are_refused() -> None:
    with pytest.raises(UsageError, match="no case is left"):
        submitted("exp", cases=("gelu/3",))
    assert submitted("exp", cases=("gelu/3",), operators=("exp", "gelu")).missing == {}
