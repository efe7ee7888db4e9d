"""Does every task of a suite load and run, and does its golden's same-dtype run pass against its float64 run? Through `piton eval` with the null target.

    python tests/fidelity/golden_against_golden.py SUITE --out FOLDER [options of piton eval, such as --level 1 --suite-work 10]

Writes a submission that plays the golden in every operator, evaluates it (an interrupted run in the same folder is resumed), and prints counts by level, the
tasks that do not load, run or pass with their reasons, the slowest ones, and the peak memory: of all processes together and of the largest one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from piton.catalog import load_suite
from piton.catalog.adapters import find_suite

_SAMPLE_S = 0.5
_SLOWEST = 10
_SPLIT = " can't be evaluated: "
"""Between name and reason in a finding about a task that was left out."""


def main() -> None:
    """Evaluate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--out", required=True, type=Path)
    arguments, options = parser.parse_known_args()
    levels = operator_levels(arguments.suite)
    arguments.out.mkdir(parents=True, exist_ok=True)
    submission = write_submission(arguments.out / "submission", tuple(levels))
    run = arguments.out / "run"
    started = time.monotonic()
    peaks = evaluate([str(submission), "--suite", arguments.suite, "--trust", "--target", "null", "--out", str(run), *options], run)
    say(f"wall {time.monotonic() - started:.0f} s, peak {peaks[0] / 2**30:.2f} GiB of all processes together, {peaks[1] / 2**30:.2f} GiB of the largest one")
    tell(json.loads((run / "report.json").read_text()), levels)


def say(text: str) -> None:
    """One line of the result."""
    sys.stdout.write(f"{text}\n")


def operator_levels(suite: str) -> dict[str, int]:
    """Level of each operator by its name; nothing of the suite runs for that."""
    found = find_suite(suite)
    if found is not None and found.tasks:
        return {task.name: task.level for task in found.tasks}
    return {member.operator.name: member.operator.level for member in load_suite(suite).members}


def write_submission(folder: Path, names: tuple[str, ...]) -> Path:
    """A submission of the null target that plays the golden in every operator."""
    for name in names:
        place = folder / "csrc" / "ops" / name / "op_kernel"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.cpp").write_text("// played by the null target\n")
    (folder / "cann_bench").mkdir(exist_ok=True)
    (folder / "cann_bench" / "__init__.py").write_text("")
    (folder / "null.yaml").write_text("default: {default: {compute: golden}}\n")
    return folder


def evaluate(options: list[str], run: Path) -> tuple[int, int]:
    """Run `piton eval`; the peak memory in bytes of its processes together and of the largest one."""
    resume = ["--resume"] if (run / "journal.jsonl").exists() else []
    with subprocess.Popen([sys.executable, "-m", "piton.cli.main", "eval", *options, *resume], stdout=subprocess.DEVNULL) as process:
        peaks = [0, 0]
        sampler = threading.Thread(target=sample, args=(process, peaks), daemon=True)
        sampler.start()
        if process.wait() not in (0, 1):
            sys.exit(f"piton eval ended with {process.returncode}")
        sampler.join()
    return peaks[0], peaks[1]


def sample(process: subprocess.Popen[bytes], peaks: list[int]) -> None:
    """Until the process ends: the largest sums and single values of proportional set sizes."""
    while process.poll() is None:
        sizes = [proportional_bytes(pid) for pid in descendants(process.pid)]
        peaks[0], peaks[1] = max(peaks[0], sum(sizes)), max(peaks[1], *sizes)
        time.sleep(_SAMPLE_S)


def descendants(root: int) -> list[int]:
    """The process and all below it."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parents[int(entry)] = int(Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def proportional_bytes(pid: int) -> int:
    """Memory of a process, shared pages by their share; 0 when it is gone."""
    try:
        lines = Path("/proc", str(pid), "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def tell(report: dict[str, Any], levels: dict[str, int]) -> None:
    """Print what the report found, level by level; cases that the options left out do not count."""
    cases = [(part["operator"], case) for part in report["operators"] for case in part["cases"] if result(case) != "not_run"]
    reasons = {name: text for name, text in left_out(report).items() if name in levels}
    for level in sorted({levels[name] for name, _ in cases} | {levels[name] for name in reasons}):
        tell_level(level, [(name, case) for name, case in cases if levels[name] == level], sum(levels[name] == level for name in reasons))
    for name, text in reasons.items():
        say(f"  does not load: {name}: {in_one_line(text)}")
    for name, case in cases:
        if result(case) != "passed":
            say(f"  {result(case)}: {name}/{case['case']['id']}: {in_one_line(case['void'] or case['outcome']['message'])}")
    for name, case in sorted(cases, key=lambda item: -item[1]["wall_s"])[:_SLOWEST]:
        say(f"  {case['wall_s']:.1f} s {name}/{case['case']['id']}")


def tell_level(level: int, cases: list[tuple[str, dict[str, Any]]], away: int) -> None:
    """Print the counts of one level."""
    verdicts: dict[str, set[str]] = {}
    for name, case in cases:
        verdicts.setdefault(name, set()).add(result(case))
    passing = sum(found == {"passed"} for found in verdicts.values())
    running = sum("void" not in found for found in verdicts.values())
    counts = ", ".join(f"{count} {name}" for name, count in Counter(result(case) for _, case in cases).most_common())
    scaled = sum(" scaled to " in case["case"]["note"] for _, case in cases)
    say(f"level {level}: {len(verdicts) + away} tasks, {len(verdicts)} load, {running} run, {passing} pass; {len(cases)} cases: {counts}; {scaled} scaled")


def result(case: dict[str, Any]) -> str:
    """Verdict of a case, or `void`."""
    return "void" if case["void"] else str(case["outcome"]["verdict"])


def in_one_line(text: str) -> str:
    """The text without line breaks."""
    return " ".join(text.split())


def left_out(report: dict[str, Any]) -> dict[str, str]:
    """Tasks that could not become operators, with the reason, from the report's findings."""
    parts = [finding["message"].partition(_SPLIT) for finding in report["findings"]]
    return {name: reason for name, split, reason in parts if split}


if __name__ == "__main__":
    main()
