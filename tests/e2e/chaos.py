"""Evaluations whose processes are killed at random points: does the report come out as if nothing had happened?

`python tests/e2e/chaos.py --runs 100` is `make chaos`: each run is an evaluation on the virtual NPU in a process of its own, with one to three kills
(SIGKILL) of a random process, at a random place between the first case and the last. Whatever ends before its time is gone on with (`--resume`), until every
case has a verdict. The seed of a run is its number, so that a run can be done again by itself (`--first N --runs 1`); the moments within a case are the
machine's.

A run is right when its report has the digest of an undisturbed one, its journal has each case once with a verdict, what was in the journal before a kill
is in it afterwards, and no process is left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from chaos_suite import make_exp_suite

ROOT = Path(__file__).parents[2]
SUBMISSION = ROOT / "kernels" / "reference"
NAMES = {"host": "piton-host", "device": "vnpu-device", "golden": "piton-golden", "zygote": "piton-zygote", "supervisor": "piton-watch"}
"""What the kernel calls the processes (/proc/<pid>/comm), by role."""
ROLES = ("parent", *NAMES)
SEED = 20_261_130
"""Of the inputs: one that nobody uses, so that no golden is in a cache and the workers have something to do."""
MOST_RESUMES = 6
_POLL_S = 0.002
_END_S = 20.0


def children(pid: int) -> list[int]:
    """Direct children of all threads of a process."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(word) for word in task.read_text().split()]
    return found


def descendants(pid: int) -> list[int]:
    """Everything below a process."""
    return [member for child in children(pid) for member in (child, *descendants(child))]


def name_of(pid: int) -> str:
    """What the kernel calls a process; empty when it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def of_role(top: int, role: str) -> list[int]:
    """The processes of one role below `top`."""
    return [pid for pid in descendants(top) if name_of(pid) == NAMES[role]]


def has_ended(pid: int) -> bool:
    """True when there is no such process, or only what nobody has reaped."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


@dataclass(frozen=True)
class Kill:
    """One kill: when the journal has so many lines, and then a little later."""

    lines: int
    role: str
    delay_s: float


@dataclass
class Outcome:
    """What became of one run."""

    seed: int
    kills: list[str] = field(default_factory=list)
    """Roles that were killed; one that was not there to be killed is missing."""
    resumes: int = 0
    retried: int = 0
    """Tries that came to nothing, in the last report."""
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0


def lines_of(journal: Path) -> list[bytes]:
    """The whole lines of a journal."""
    with suppress(OSError):
        return [line for line in journal.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    return []


def kill_when_due(kill: Kill, top: int, journal: Path, is_over: Callable[[], bool], chance: random.Random) -> str:
    """Wait for the moment, and kill; the role, or nothing when the run was over before."""
    while len(lines_of(journal)) < kill.lines:
        if is_over():
            return ""
        time.sleep(_POLL_S)
    time.sleep(kill.delay_s)
    while not is_over():
        victims = [top] if kill.role == "parent" else of_role(top, kill.role)
        if victims:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(victims), signal.SIGKILL)
                return kill.role
        time.sleep(_POLL_S)
    return ""


class Chaos:
    """Disturbed runs, compared with one that was not."""

    def __init__(self, folder: Path) -> None:
        """Runs the undisturbed one; cases of some ten milliseconds each, so that the random points are spread over all that surrounds them."""
        self._folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        make_exp_suite(folder / "suite")
        process = self._start("undisturbed", "--overwrite")
        if process.wait() != 0:
            raise SystemExit(f"the undisturbed run ended with {process.returncode}: {folder / 'undisturbed.log'}")
        report = self._report("undisturbed")
        self.digest = str(report["result_digest"])
        self.cases = len(lines_of(self._journal("undisturbed"))) - 1

    def run(self, seed: int) -> Outcome:
        """One disturbed run."""
        chance, name, started = random.Random(seed), f"run{seed}", time.monotonic()
        outcome = Outcome(seed)
        shutil.rmtree(self._folder / name, ignore_errors=True)
        kills = sorted((self._draw(chance) for _ in range(chance.randint(1, 3))), key=lambda kill: kill.lines)
        while not self._attempt(name, kills, outcome, chance):
            outcome.resumes += 1
            if outcome.resumes > MOST_RESUMES:
                outcome.problems.append("it did not come to an end")
                break
        self._check(name, outcome)
        outcome.seconds = time.monotonic() - started
        return outcome

    def _draw(self, chance: random.Random) -> Kill:
        return Kill(chance.randint(0, self.cases), chance.choice(ROLES), chance.uniform(0.0, 0.1))

    def _attempt(self, name: str, kills: list[Kill], outcome: Outcome, chance: random.Random) -> bool:
        """Start or resume, and do what kills are due; True when every case has a verdict."""
        before = lines_of(self._journal(name))
        process = self._start(name, *(("--resume",) if before else ("--overwrite",)))
        below: set[int] = set()
        while kills and process.poll() is None:
            done = kill_when_due(kills[0], process.pid, self._journal(name), lambda: process.poll() is not None, chance)
            below.update(descendants(process.pid))
            if not done:
                break
            kills.pop(0)
            outcome.kills.append(done)
        below.update(self._watch(process))
        if process.poll() not in (0, 1, 2, 3, -signal.SIGKILL):
            outcome.problems.append(f"exit status {process.poll()}")
        if left := wait_for_the_end(below):
            outcome.problems.append(f"left running: {left}")
        if lines_of(self._journal(name))[: len(before)] != before:
            outcome.problems.append("lines of the journal were lost")
        return process.returncode == 0

    def _watch(self, process: subprocess.Popen[str]) -> set[int]:
        """Everything seen below a process until it ends."""
        seen: set[int] = set()
        while process.poll() is None:
            seen.update(descendants(process.pid))
            time.sleep(10 * _POLL_S)
        return seen

    def _check(self, name: str, outcome: Outcome) -> None:
        report = self._report(name)
        outcome.retried = sum(len(case["retries"]) for item in report["operators"] for case in item["cases"])
        if report["result_digest"] != self.digest:
            outcome.problems.append("the report is another one")
        verdicts = Counter(key for key, is_void in self._verdicts(name) if not is_void)
        if set(verdicts.values()) != {1} or len(verdicts) != self.cases:
            outcome.problems.append(f"the journal has {dict(verdicts)}")

    def _verdicts(self, name: str) -> Iterator[tuple[str, bool]]:
        for line in lines_of(self._journal(name))[1:]:
            record = json.loads(line)
            yield record["key"], bool(record["result"]["void"])

    def _start(self, name: str, *more: str) -> subprocess.Popen[str]:
        command = [
            sys.executable,
            "-m",
            "piton.cli.main",
            "eval",
            str(SUBMISSION),
            "--suite",
            str(self._folder / "suite"),
            "--trust",
            "--seed",
            str(SEED),
            "--out",
            str(self._folder / name),
            *more,
        ]
        environment = {**os.environ, "PITON_GOLDEN_CACHE_GIB": "0", "PYTHONPATH": str(ROOT / "src")}  # goldens are run each time
        with open(self._folder / f"{name}.log", "a") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, text=True)

    def _journal(self, name: str) -> Path:
        return self._folder / name / "journal.jsonl"

    def _report(self, name: str) -> dict[str, object]:
        with suppress(OSError, ValueError):
            report: dict[str, object] = json.loads((self._folder / name / "report.json").read_text())
            return report
        return {"operators": [], "result_digest": ""}


def wait_for_the_end(pids: set[int]) -> list[str]:
    """Names of those that have not ended in time."""
    ends = time.monotonic() + _END_S
    while left := [pid for pid in pids if not has_ended(pid)]:
        if time.monotonic() > ends:
            return [name_of(pid) for pid in left]
        time.sleep(0.05)
    return []


def figures(outcomes: list[Outcome]) -> str:
    """What a person wants to know of all runs."""
    kills = Counter(role for item in outcomes for role in item.kills)
    bad = [item for item in outcomes if item.problems]
    lines = [f"{len(outcomes)} runs, {len(outcomes) - len(bad)} with the report of the undisturbed one, {sum(kills.values())} processes killed"]
    lines += [f"  {role:<11}{kills[role]:>4}" for role in ROLES]
    lines += [
        f"resumed {sum(item.resumes for item in outcomes)} times; {sum(item.retried for item in outcomes)} tries of cases came to nothing and were repeated"
    ]
    lines += [f"run {item.seed}: {'; '.join(item.problems)} (killed: {', '.join(item.kills)})" for item in bad]
    return "\n".join(lines)


def say(text: str) -> None:
    """A line, at once: a run takes seconds."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Print a line per run, then the figures; exit status 1 when a run was not right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--first", type=int, default=1, help="seed of the first run")
    parser.add_argument("--folder", type=Path, default=Path("runs") / "chaos")
    options = parser.parse_args()
    chaos = Chaos(options.folder.absolute())
    say(f"undisturbed: {chaos.cases} cases, result {chaos.digest[:16]}")
    outcomes = []
    for seed in range(options.first, options.first + options.runs):
        outcomes.append(chaos.run(seed))
        found = outcomes[-1]
        told = "; ".join(found.problems) or "right"
        killed = ", ".join(found.kills) or "nothing"
        say(f"run {seed}: killed {killed}; resumed {found.resumes}, retried {found.retried}: {told} ({found.seconds:.0f} s)")
    say(figures(outcomes))
    sys.exit(any(item.problems for item in outcomes))


if __name__ == "__main__":
    main()
