"""Is a submission found out whose outputs, or time, depend on the host's values, on earlier calls or on its process, and does honest work pass?"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from piton.core.finding import FindingKind
from piton.core.report import CaseResult, Report
from piton.core.verdict import Cause, Verdict
from piton.evaluate.policy import EvaluationRequest

sys.path.append(str(Path(__file__).resolve().parents[1] / "submissions"))

from attacks import HERE
from variants import KERNEL, PLUGIN, Case, Edit, write_submission, write_suite

WAYS = {
    "honest": 1.0,
    "computed_by_the_host": 2.0,
    "computed_on_a_copy": 3.0,
    "kept_by_address": 4.0,
    "works_once": 5.0,
    "counts_its_calls": 6.0,
    "slow_at_first": 7.0,
    "looks_at_a_value": 8.0,
    "counts_in_the_kernel": 9.0,
    "fails_every_second_time": 10.0,
    "reads_unwritten_memory": 11.0,
    "doubts_what_it_is_told_again": 12.0,
}
FULL = {
    "honest": Cause.NONE,
    "computed_by_the_host": Cause.HOST_COMPUTED,
    "computed_on_a_copy": Cause.HOST_COMPUTED,
    "kept_by_address": Cause.HOST_COMPUTED,
    "works_once": Cause.UNWRITTEN_OUTPUT,
    "counts_its_calls": Cause.RESULTS_DIFFER,
    "slow_at_first": Cause.NONE,
    "looks_at_a_value": Cause.NONE,
    "counts_in_the_kernel": Cause.NONE,
    "fails_every_second_time": Cause.HOST_EXCEPTION,
    "reads_unwritten_memory": Cause.RESULTS_DIFFER,
    "doubts_what_it_is_told_again": Cause.HOST_COMPUTED,
}
STANDARD = {**FULL, "works_once": Cause.NONE, "counts_its_calls": Cause.NONE, "fails_every_second_time": Cause.NONE, "reads_unwritten_memory": Cause.NONE}
"""Without further calls of honest submissions nobody asks what a second call does."""
KERNEL_EDITS = (
    Edit(
        KERNEL,
        "        pipe_.InitBuffer(in_, kBuffers,",
        "        if (factor == 11.0f) {\n            factor_ += 1e-7f * *((__gm__ uint8_t *)y + start);\n        }\n        pipe_.InitBuffer(in_, kBuffers,",
    ),
    Edit(
        KERNEL,
        "        if (factor_ != 1.0f) {\n",
        "        static uint32_t tiles = 0;\n        if (factor_ == 9.0f && ++tiles > 1) {\n            factor_ = 1.0f;\n        }\n"
        "        if (factor_ != 1.0f) {\n",
    ),
)
"""Scale 11: what lies in the output before it is written, read past the API, changes the result by less than the standard allows.
Scale 9: right for the first tile of all launches, if the variable lives on; of the first tile of each, if not."""


def evaluated(folder: Path, mode: str, engine: str = "in-process") -> Report:
    from piton.cli.evaluation import cache_dir
    from piton.evaluate.pipeline import evaluate

    submission = write_submission(folder / "submission", KERNEL_EDITS, package=(HERE / "dependent_package.py").read_text())
    (submission / PLUGIN).write_text((HERE / "hostile_plugin.cpp").read_text())
    cases = tuple(Case(name, (200 + number,), "float32", scale) for number, (name, scale) in enumerate(WAYS.items()))
    request = EvaluationRequest(
        submission=str(submission),
        suite=str(write_suite(folder / "suite", cases)),
        run_dir=str(folder / "run"),
        cache_dir=str(cache_dir()),
        is_trusted=True,
        integrity=mode,
        engine=engine,
    )
    return evaluate(request)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return evaluated(tmp_path_factory.mktemp("full"), "full")


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return evaluated(tmp_path_factory.mktemp("standard"), "standard")


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return evaluated(tmp_path_factory.mktemp("apart"), "standard", "own-process")


def result_of(report: Report, case_id: str) -> CaseResult:
    (operator,) = report.operators
    return next(case for case in operator.cases if case.case.id == case_id)


@pytest.mark.parametrize("way", FULL)
def test_in_full_mode_every_dependence_has_its_verdict(way: str, full: Report) -> None:
    result = result_of(full, way)
    assert (result.void, result.outcome.cause) == ("", FULL[way]), result


@pytest.mark.parametrize("way", STANDARD)
def test_in_standard_mode_what_the_host_computed_is_refused(way: str, standard: Report) -> None:
    result = result_of(standard, way)
    assert (result.void, result.outcome.cause) == ("", STANDARD[way]), result


def test_a_time_that_depends_on_the_history_of_the_process_is_a_finding_of_that_case_only(full: Report) -> None:
    (operator,) = full.operators
    assert [case.case.id for case in operator.cases if FindingKind.TIME_DIFFERS in {item.kind for item in case.findings}] == ["slow_at_first"]


def test_static_variables_of_device_code_are_put_back_after_every_launch_and_told(full: Report) -> None:
    (operator,) = full.operators
    told = [case.case.id for case in operator.cases if FindingKind.STATIC_STATE in {item.kind for item in case.findings}]
    assert told == ["counts_in_the_kernel"]


def test_with_the_engine_apart_a_result_is_the_same(standard: Report, apart: Report) -> None:
    (here,), (there,) = standard.operators, apart.operators
    assert [(case.case.id, case.outcome.cause, case.time, case.findings) for case in there.cases] == [
        (case.case.id, case.outcome.cause, case.time, case.findings) for case in here.cases
    ]


def test_honest_work_and_a_look_at_a_value_raise_no_finding_of_dependence(full: Report) -> None:
    kinds = {FindingKind.HOST_VALUES_READ, FindingKind.TIME_DIFFERS, FindingKind.STATIC_STATE, FindingKind.KERNEL_NOT_NEEDED}
    assert [way for way in ("honest", "looks_at_a_value") if kinds & {item.kind for item in result_of(full, way).findings}] == []


def test_the_report_counts_the_breaches_of_each_rule_and_says_what_was_not_checked(full: Report, standard: Report) -> None:
    assert full.integrity is not None
    assert standard.integrity is not None
    rules = {item.rule: item for item in full.integrity.rules}
    assert (rules["host-computation"].breaches, rules["process-history"].breaches, rules["process-history"].findings) == (4, 2, 1)
    assert (full.integrity.mode, full.trials) == ("full", 2)
    unchecked = {item.rule: item.why for item in standard.integrity.rules if item.state == "not_checked"}
    assert {"process-history", "kernel-disabled", "case-order", "fresh-values", "hidden-cases"} == set(unchecked)
    assert unchecked["kernel-disabled"] == "needs --integrity full"


def test_times_of_both_modes_are_those_of_the_first_call(full: Report, standard: Report) -> None:
    """`slow_at_first` is left out: only in full mode every case begins in fresh processes."""
    same = [way for way in WAYS if result_of(full, way).outcome.verdict is Verdict.PASSED and way != "slow_at_first"]
    assert [result_of(full, way).time for way in same] == [result_of(standard, way).time for way in same]
    assert "honest" in same
