"""Is every cheat of the hostile submission refused for its own reason, and does it cost its own case only?"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from piton.core.report import CaseResult, Report
from piton.core.verdict import Cause, Verdict
from piton.evaluate.policy import Bounds, EvaluationRequest

sys.path.append(str(Path(__file__).resolve().parents[1] / "submissions"))

from attacks import ATTACKS, DAEMON_SECONDS, Attack, hostile_cases, write_hostile
from variants import write_suite


@pytest.fixture(scope="module", params=["in-process", pytest.param("own-process", marks=pytest.mark.slow)])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """What became of the hostile submission, wherever the engine is. The second time it is built from the cache."""
    from piton.cli.evaluation import cache_dir
    from piton.evaluate.pipeline import evaluate

    folder = tmp_path_factory.mktemp("hostile")
    asked = EvaluationRequest(
        submission=str(write_hostile(folder / "submission")),
        suite=str(write_suite(folder / "suite", hostile_cases())),
        run_dir=str(folder / "run"),
        cache_dir=str(cache_dir()),
        is_trusted=True,
        bounds=Bounds(host_deadline_s=6.0),
        engine=request.param,
    )
    return evaluate(asked)


def result_of(report: Report, case_id: str) -> CaseResult:
    (operator,) = report.operators
    return next(case for case in operator.cases if case.case.id == case_id)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda item: item.name)
def test_an_attack_is_refused_for_its_own_reason(attack: Attack, report: Report) -> None:
    result = result_of(report, attack.name)
    assert not result.void
    assert result.outcome.cause.value in attack.causes, result.outcome
    assert result.outcome.message or result.outcome.cause is Cause.NONE


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda item: item.name)
def test_an_attack_costs_its_own_case_only(attack: Attack, report: Report) -> None:
    result = result_of(report, f"after_{attack.name}")
    assert result.outcome.verdict is Verdict.PASSED, result.outcome


def test_no_failed_attack_carries_a_time(report: Report) -> None:
    assert [attack.name for attack in ATTACKS if "none" not in attack.causes and result_of(report, attack.name).time is not None] == []


def test_nothing_that_an_attack_started_is_still_alive(report: Report) -> None:
    assert report.operators
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not any(DAEMON_SECONDS.encode() in line for line in lines)
