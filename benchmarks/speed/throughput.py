"""How many case evaluations a second does an evaluator do that runs already, as one of `piton serve` does? 20 tiny cases of one operator, all of it cached.

Target, starter of processes and interpreter are those of an earlier evaluation. What is counted is everything between the plan and the last case in the
journal: start of the operator's processes, golden from the cache, upload, call, simulation, comparison, anchors, journal. The whole evaluation, with reading
suite and submission, admission, build from the cache and the report, stands beside it.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from figures import Figure
from overhead import tiny_suite
from rig import ROOT, Rig, cache_folder

from piton.core.protocols import Runner
from piton.evaluate.pipeline import evaluate_on
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import CaseFinished, Event, Planned
from piton.evaluate.sandbox.levels import reached

CASES = 20
ROUNDS = 7


def measure(rig: Rig) -> list[Figure]:
    """Case evaluations a second; a first evaluation fills the caches and starts what stays."""
    suite, runner = tiny_suite(rig.fresh("tiny"), CASES), rig.fresh_runner()
    try:
        _run(rig, runner, suite)
        runs = [_run(rig, runner, suite) for _ in range(ROUNDS)]
        level = reached(runner.isolation)
    finally:
        runner.close()
    method = f"{CASES} exp cases of 16 to 4,096 elements, build and goldens cached, one lane, level of isolation {level}: from the plan to the last case"
    note = "the same runs from beginning to end: suite, submission, build from the cache, report"
    return [
        Figure("case evaluations", "1/s", tuple(CASES / cases_s for cases_s, _ in runs), method, bound=60.0, is_rate=True),
        Figure("case evaluations, whole", "1/s", tuple(CASES / whole_s for _, whole_s in runs), note, is_rate=True),
    ]


def _run(rig: Rig, runner: Runner, suite: Path) -> tuple[float, float]:
    """Seconds from the plan to the last case, and of the whole evaluation; every case has to pass."""
    run_dir, stamps = rig.fresh("run"), dict[type[Event], float]()
    kernels = str(ROOT / "kernels" / "reference")
    request = EvaluationRequest(submission=kernels, run_dir=str(run_dir), cache_dir=str(cache_folder()), suite=str(suite), is_trusted=True)
    started = time.perf_counter()
    report = evaluate_on(rig.target, runner, request, lambda event: stamps.update({type(event): time.perf_counter()}))
    whole_s = time.perf_counter() - started
    shutil.rmtree(run_dir)
    wrong = [case for item in report.operators for case in item.cases if case.void or case.outcome.message]
    if wrong:
        raise RuntimeError(f"{len(wrong)} tiny cases did not pass, the first: {wrong[0].void or wrong[0].outcome.message}")
    return stamps[CaseFinished] - stamps[Planned], whole_s
