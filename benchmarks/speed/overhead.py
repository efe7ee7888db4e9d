"""What does one case cost beside its work? Two runs of `piton eval` on many tiny cases of one operator, one run with four times the cases of the other.

Start-up (suite, admission, build from the cache, first processes) is in both runs, so that the difference of the wall times divided by the difference of
the numbers of cases is what one case adds: golden from the cache, upload, call, simulation, comparison, anchors, journal, progress.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from figures import Figure
from rig import ROOT, CountingRunner, Rig, Sample, cache_folder, timed

from piton.evaluate.pipeline import evaluate_on
from piton.evaluate.policy import EvaluationRequest

ROUNDS = 3
FEW, MANY = 40, 160
DTYPES = ("float16", "float32", "bfloat16")


def measure(rig: Rig) -> list[Figure]:
    """Milliseconds per case; the goldens are in the cache from a first run that does not count."""
    few, many = tiny_suite(rig.fresh("few"), FEW), tiny_suite(rig.fresh("many"), MANY)
    run_tiny(rig, many)
    run_tiny(rig, few)
    pairs = [(run_tiny(rig, few), run_tiny(rig, many)) for _ in range(ROUNDS)]
    wall_ms, cpu_ms = (_per_case_ms(pairs, kind) for kind in (_wall_s, _cpu_s))
    start_s = min(less.wall_s for less, _ in pairs) - FEW * wall_ms / 1000
    method = f"exp cases of 16 to 4,096 elements, goldens cached, one lane: best of {ROUNDS} runs with {MANY} cases less best with {FEW}, per case"
    note = f"best run with {FEW} cases less its cases: suite, build from the cache, first processes"
    return [
        Figure("overhead of a tiny case", "ms", (wall_ms,), method, bound=20.0),
        Figure("processor time of a tiny case", "ms", (cpu_ms,), "the same runs; parent, host, device and golden processes together"),
        Figure("start-up of a run", "s", (start_s,), note),
    ]


def _per_case_ms(pairs: list[tuple[Sample, Sample]], kind: Callable[[Sample], float]) -> float:
    """From the best run of each kind: a difference of single runs would pair a lucky one with an unlucky one and could even be negative."""
    return 1000 * (min(kind(more) for _, more in pairs) - min(kind(less) for less, _ in pairs)) / (MANY - FEW)


def _wall_s(sample: Sample) -> float:
    return sample.wall_s


def _cpu_s(sample: Sample) -> float:
    return sample.cpu_s


def run_tiny(rig: Rig, suite: Path) -> Sample:
    """One evaluation in a run folder of its own; every case has to pass."""
    run_dir = rig.fresh("run")
    request = EvaluationRequest(
        submission=str(ROOT / "kernels" / "reference"), run_dir=str(run_dir), cache_dir=str(cache_folder()), suite=str(suite), is_trusted=True
    )
    runner = CountingRunner(rig.fresh_runner())
    try:
        return timed(lambda: _evaluate(rig, runner, request), runner)
    finally:
        runner.close()
        shutil.rmtree(run_dir)


def _evaluate(rig: Rig, runner: CountingRunner, request: EvaluationRequest) -> None:
    report = evaluate_on(rig.target, runner, request)
    wrong = [f"{case.case.id}: {case.void or case.outcome.message}" for item in report.operators for case in item.cases if case.void or case.outcome.message]
    if wrong:
        raise RuntimeError(f"{len(wrong)} tiny cases did not pass, the first: {wrong[0]}")


def tiny_suite(folder: Path, cases: int) -> Path:
    """exp of Piton's suite with `cases` tiny cases: sizes, ranks and element types in turn."""
    source = ROOT / "src" / "piton" / "suites" / "piton" / "level1" / "exp"
    target = folder / "level1" / "exp"
    shutil.copytree(source, target)
    sizes = itertools.cycle(([16], [4, 32], [1000], [2, 3, 170], [4096]))
    rows = ["operator,case_id,input_shape,dtype,attrs,value_range,note"]
    for number, shape, dtype in zip(range(1, cases + 1), sizes, itertools.cycle(DTYPES), strict=False):
        fields = (json.dumps([shape]), json.dumps([dtype]), json.dumps({"base": -1.0, "scale": 1.0, "shift": 0.0}), json.dumps([-1, 1]))
        quoted = ",".join('"{}"'.format(item.replace('"', '""')) for item in fields)
        rows.append(f"Exp,{number},{quoted},tiny")
    (target / "cases.csv").write_text("\n".join(rows) + "\n", "utf-8")
    proto = target / "proto.yaml"
    proto.write_text(proto.read_text("utf-8").partition("  degenerate:")[0], "utf-8")  # names cases that are not here
    return folder
