"""What does a level of isolation cost? All levels in turns, in one run: starting a program, forking a worker with torch, and a tiny case of an evaluation.

Measured on the machine that the first line names. Each figure is the best of all rounds, since other programs only ever make a sample worse; ratios are to
level 0 of the same run. Beside the wall time stands the processor time of Piton and its jobs, which other programs hardly disturb.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks" / "speed")]

from figures import describe_machine  # noqa: E402 - the path is set above so that the command works in a plain checkout
from overhead import run_tiny, tiny_suite  # noqa: E402 - as above
from rig import Rig, Sample, open_rig  # noqa: E402 - as above

from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role  # noqa: E402 - as above
from piton.evaluate.sandbox.levels import HIGHEST, HIGHEST_IN_PROCESS, LEVELS, reached  # noqa: E402 - as above
from piton.evaluate.sandbox.probe import Mechanisms  # noqa: E402 - as above
from piton.evaluate.sandbox.runner import SandboxRunner  # noqa: E402 - as above

_PROGRAMS, _WORKERS = 10, 5
"""Starts per round."""


Kind = Callable[[Sample], float]


def wall_s(sample: Sample) -> float:
    """By the clock."""
    return sample.wall_s


def cpu_s(sample: Sample) -> float:
    """Of the processor: this process and the jobs that it started; hardly disturbed by other programs."""
    return sample.cpu_s


@dataclass
class Costs:
    """Samples of one level."""

    program: list[ProcessResult] = field(default_factory=list)
    worker: list[ProcessResult] = field(default_factory=list)
    few: list[Sample] = field(default_factory=list)
    many: list[Sample] = field(default_factory=list)

    def case_ms(self, added: int, kind: Kind) -> float:
        """Of one of the cases that the longer run has more."""
        return 1000 * (min(map(kind, self.many)) - min(map(kind, self.few))) / added

    def run_ms(self, kind: Kind) -> float:
        """Of the longer run."""
        return 1000 * min(map(kind, self.many))


def mechanisms_at(level: int, strongest: Mechanisms) -> Mechanisms:
    """What makes up a level, as far as this machine has it."""
    lacks = {name for above in LEVELS[level + 1 :] for name in above.mechanisms}
    filters = replace(
        strongest, users=strongest.users and "separate_users" not in lacks, control_group=strongest.control_group and "control_group" not in lacks
    )
    if "mount_namespace" in lacks:
        filters = replace(filters, namespaces=(), user_namespace=False)
    if "landlock" in lacks:
        filters = replace(filters, no_new_processes=False, allow_list=False, landlock=False)
    return filters


class _LevelRig(Rig):
    """A rig whose evaluations run at one level."""

    mechanisms = Mechanisms()

    def fresh_runner(self) -> SandboxRunner:  # type: ignore[override]
        return SandboxRunner(self.mechanisms)


@contextmanager
def _at(rig: Rig, level: int) -> Iterator[Rig]:
    made = _LevelRig(rig.target.with_engine_apart() if level > HIGHEST_IN_PROCESS else rig.target, rig.runner, rig.folder)
    _LevelRig.mechanisms = mechanisms_at(level, rig.runner._inner.mechanisms)
    yield made


def _starts(rig: Rig, costs: Costs) -> None:
    """Programs and workers; the first of each wakes the process that starts them and does not count."""
    runner = rig.fresh_runner()
    limits = Limits(wall_s=60, cpu_s=30, may_start_processes=False)
    job = ProcessJob(Role.HOST, ("true",), cwd="/", limits=limits)
    try:
        programs = [runner.run(job) for _ in range(_PROGRAMS + 1)]
        workers = [runner.fork_worker(Role.HOST, "builtins:print", {}, {}, limits).wait(60.0) for _ in range(_WORKERS + 1)]
    finally:
        runner.close()
    costs.program += programs[1:]
    costs.worker += [result for result in workers[1:] if result is not None]


def _rounds(rig: Rig, levels: list[int], options: argparse.Namespace) -> dict[int, Costs]:
    few, many = tiny_suite(rig.fresh("few"), options.few), tiny_suite(rig.fresh("many"), options.many)
    run_tiny(rig, many)  # goldens and builds are in the cache from here on
    run_tiny(rig, few)
    found = {level: Costs() for level in levels}
    for number in range(options.rounds):
        for level in levels:
            print(f"round {number + 1} of {options.rounds}, level {level}", file=sys.stderr, flush=True)
            with _at(rig, level) as held:
                _starts(held, found[level])
                found[level].few.append(run_tiny(held, few))
                found[level].many.append(run_tiny(held, many))
    return found


def _best_cpu_ms(results: list[ProcessResult]) -> float:
    """Of the processor, from the fork of the job to its end: its confinement is in it."""
    return 1000 * min(result.cpu_s for result in results)


def _row(level: int, costs: Costs, first: Costs, added: int) -> str:
    pairs = [
        (_best_cpu_ms(costs.program), _best_cpu_ms(first.program)),
        (_best_cpu_ms(costs.worker), _best_cpu_ms(first.worker)),
        *((costs.case_ms(added, kind), first.case_ms(added, kind)) for kind in (cpu_s, wall_s)),
        *((costs.run_ms(kind), first.run_ms(kind)) for kind in (cpu_s, wall_s)),
    ]
    return f"| {level} | " + " | ".join(f"{value:.1f} ms ({value / base:.2f})" for value, base in pairs) + " |"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python benchmarks/isolation_levels.py", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--few", type=int, default=20, help="cases of the shorter evaluation")
    parser.add_argument("--many", type=int, default=140, help="cases of the longer one")
    options = parser.parse_args()
    print("measured on " + ", ".join(f"{name} {value}" for name, value in describe_machine().items()))
    with open_rig() as rig:
        highest = reached(rig.runner.isolation)
        levels = [*range(highest + 1), *([HIGHEST] if highest == HIGHEST_IN_PROCESS else [])]
        found = _rounds(rig, levels, options)
    run = f"run of {options.many} tiny cases"
    heads = ("level", "start of a program, processor", "fork of a worker with torch, processor", "a tiny case, processor", "wall", f"{run}, processor", "wall")
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for level in levels:
        print(_row(level, found[level], found[levels[0]], options.many - options.few))


if __name__ == "__main__":
    main()
