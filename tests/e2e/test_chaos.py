"""Processes that are killed while an evaluation on the virtual NPU runs: nothing is lost, nothing is counted twice."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from chaos import NAMES, SEED, SUBMISSION, Chaos, descendants, figures, name_of
from chaos_suite import SHAPES, make_exp_suite

from piton.cli.evaluation import cache_dir
from piton.core.fault import Fault
from piton.core.report import Report
from piton.evaluate.pipeline import evaluate
from piton.evaluate.policy import Bounds, EvaluationRequest
from piton.evaluate.progress import CaseStarted, Event, Events, ignore

ORDER = ("host", "device", "golden", "supervisor", "zygote", "host")
"""What is killed as cases begin; after the starters of processes something that has to be started again."""


def evaluated(root: Path, name: str, events: Events = ignore) -> Report:
    request = EvaluationRequest(
        submission=str(SUBMISSION),
        suite=str(root / "suite"),
        is_trusted=True,
        seed=SEED,
        run_dir=str(root / name),
        cache_dir=str(cache_dir()),
        bounds=Bounds(golden_cache_bytes=0),
    )
    return evaluate(request, events)


class Killer:
    """Kills all processes of one role whenever a case begins, one role after the other."""

    def __init__(self) -> None:
        self.killed: list[str] = []
        self._left = list(ORDER)
        self._seen: set[int] = set()

    def listen(self, event: Event) -> None:
        if isinstance(event, CaseStarted) and event.case_id != "1" and self._left:
            role = self._left.pop(0)
            self._seen.update(descendants(os.getpid()))  # what a killed starter had started is nobody's child any more
            for pid in [pid for pid in self._seen if name_of(pid) == NAMES[role]]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self.killed.append(role)


def test_every_kind_of_process_may_be_killed_and_the_report_is_the_same(tmp_path: Path) -> None:
    make_exp_suite(tmp_path / "suite")
    undisturbed = evaluated(tmp_path, "undisturbed")
    killer = Killer()
    report = evaluated(tmp_path, "disturbed", killer.listen)
    assert set(killer.killed) == set(NAMES)
    assert report.result_digest == undisturbed.result_digest
    cases = report.operators[0].cases
    assert len(cases) == len(SHAPES)
    assert {retry.fault for found in cases for retry in found.retries} == {Fault.PROCESS_LOST}
    assert len((tmp_path / "disturbed" / "journal.jsonl").read_bytes().splitlines()) == 1 + len(SHAPES)


@pytest.mark.slow
def test_runs_that_are_killed_at_random_points_end_in_the_same_report(tmp_path: Path) -> None:
    chaos = Chaos(tmp_path / "chaos")
    outcomes = [chaos.run(seed) for seed in range(1, 21)]
    assert [item.problems for item in outcomes] == [[]] * len(outcomes), figures(outcomes)
