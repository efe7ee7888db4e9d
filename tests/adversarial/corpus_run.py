"""`make adversarial`: evaluates the whole corpus and prints what became of it.

Each submission is evaluated as it is, under other names and texts, with no more isolation than its entry states, and at the highest level.

Exit status 1 when one does not get its verdict, 2 when this machine's isolation is too weak for some of them. `--jobs N` evaluates N at a time; names of
submissions restrict it to these.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cage_rig import mechanisms_at
from corpus_form import Entry, load_entries
from corpus_rig import CorpusRig
from corpus_variants import rename_all

from piton.core.errors import PitonError
from piton.core.report import Report
from piton.core.verdict import Cause, Verdict

_COLUMNS = "{:>5}  {:<28} {:<17} {:<9} {:<42} {:>5}  {:>6}  {}"
WAYS = ("own", "other", "weakest", "apart")
"""Its own names, other ones, its own with no more isolation than its entry states, and its own with the engine in a process of its own (simulated targets)."""


@dataclass(frozen=True)
class Line:
    """What became of one submission."""

    entry: Entry
    way: str
    found: str
    state: str
    """`ok`, `waits`, `skipped` or `WRONG`."""
    seconds: float
    complaints: tuple[str, ...] = ()

    def text(self) -> str:
        """One row, and what is wrong below it."""
        row = _COLUMNS.format(
            self.entry.number or "", self.entry.name, self.entry.target, self.way, self.found, self.entry.level, f"{self.seconds:.1f}", self.state
        )
        return "\n".join([row, *(f"       {complaint}" for complaint in self.complaints)])


def evaluate(rig: CorpusRig, entry: Entry, way: str) -> Line:
    """Evaluate one submission and judge the report."""
    if way == "apart":
        entry = entry.model_copy(update={"evaluated": entry.evaluated.model_copy(update={"engine": "own-process"})})
    if rig.level(entry) < entry.level:
        return Line(entry, way, f"this machine has level {rig.level(entry)}", "skipped", 0.0)
    started = time.monotonic()
    try:
        report = rig.evaluate(entry, rename_all if way == "other" else None)
    except PitonError as error:
        return Line(entry, way, "not evaluated", "WRONG", time.monotonic() - started, (str(error),))
    complaints = tuple(rig.complaints(entry, report))
    state = "waits" if entry.waits else "WRONG" if complaints else "ok"
    return Line(entry, way, verdicts(report), state, time.monotonic() - started, complaints)


def verdicts(report: Report) -> str:
    """What the cases ended with; passes are named when there is nothing else."""
    found = [case.outcome for operator in report.operators for case in operator.cases if case.outcome.verdict is not Verdict.NOT_RUN]
    found += [operator.build_outcome for operator in report.operators if operator.build_outcome.cause is not Cause.NONE]
    if any(case.void for operator in report.operators for case in operator.cases):
        return "void"
    refused = dict.fromkeys(f"{item.verdict.value}: {item.cause.value}" for item in found if item.cause is not Cause.NONE)
    return ", ".join(refused) or "passed"


def main() -> int:
    """Evaluate, print, count."""
    options = argparse.ArgumentParser(description="Evaluate the corpus of cheats and of honest work that looks odd.")
    options.add_argument("--jobs", type=int, default=1, help="submissions evaluated at a time")
    options.add_argument("--way", choices=[*WAYS, "all"], default="all", help="as it is, other names, no more isolation than stated, engine apart")
    options.add_argument("names", nargs="*", help="only these submissions")
    chosen = options.parse_args()
    entries = [entry for kind in ("exploits", "honest") for entry in load_entries(kind) if not chosen.names or entry.name in chosen.names]
    lines = []
    say(_COLUMNS.format("entry", "submission", "target", "way", "verdict: cause", "level", "s", ""))
    for way in WAYS if chosen.way == "all" else (chosen.way,):
        levels = sorted({entry.level for entry in entries}) if way == "weakest" else [None]
        for level in levels:
            lines += run([entry for entry in entries if level in (None, entry.level) and (way != "apart" or entry.is_simulated)], way, level, chosen.jobs)
    return summary(lines)


def order(entry: Entry) -> tuple[bool, int, str]:
    """By number, honest work last."""
    return entry.number == 0, entry.number, entry.name


def run(entries: list[Entry], way: str, level: int | None, jobs: int) -> list[Line]:
    """All of them at a level, by default the highest of this machine; each printed as soon as it and those before it are done."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="piton-corpus-") as folder:
        rig = CorpusRig(Path(folder), None if level is None else mechanisms_at(level))
        try:
            with ThreadPoolExecutor(jobs) as pool:
                for line in pool.map(lambda entry: evaluate(rig, entry, way), sorted(entries, key=order)):
                    say(line.text())
                    lines.append(line)
        finally:
            rig.close()
    return lines


def summary(lines: list[Line]) -> int:
    """The last line, and the exit status."""
    count = {state: sum(line.state == state for line in lines) for state in ("ok", "WRONG", "waits", "skipped")}
    failed = {line.entry.name for line in lines if line.state != "ok"}
    good = {line.entry.name: line.entry.number > 0 for line in lines if line.entry.name not in failed}
    exploits, honest = (list(good.values()).count(is_exploit) for is_exploit in (True, False))
    say(
        f"\n{exploits} exploits got their verdict and {honest} honest submissions passed: {count['ok']} evaluations as expected, {count['WRONG']} not, "
        f"{count['waits']} waiting for a check, {count['skipped']} above this machine's level of isolation"
    )
    return 1 if count["WRONG"] else 2 if count["skipped"] else 0


def say(text: str) -> None:
    """At once, also into a file."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
