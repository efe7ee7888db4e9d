"""`make adversarial`: evaluates the whole corpus, each submission once as it is and once under other names and texts, and prints what became of it.

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

from corpus_form import Entry, load_entries
from corpus_rig import CorpusRig
from corpus_variants import rename_all

from piton.core.errors import PitonError
from piton.core.report import Report
from piton.core.verdict import Cause, Verdict

_COLUMNS = "{:>5}  {:<28} {:<17} {:<9} {:<42} {:>5}  {:>6}  {}"


@dataclass(frozen=True)
class Line:
    """What became of one submission."""

    entry: Entry
    is_renamed: bool
    found: str
    state: str
    """`ok`, `waits`, `skipped` or `WRONG`."""
    seconds: float
    complaints: tuple[str, ...] = ()

    def text(self) -> str:
        """One row, and what is wrong below it."""
        number, names = self.entry.number or "", "other" if self.is_renamed else "own"
        row = _COLUMNS.format(number, self.entry.name, self.entry.target, names, self.found, self.entry.level, f"{self.seconds:.1f}", self.state)
        return "\n".join([row, *(f"       {complaint}" for complaint in self.complaints)])


def evaluate(rig: CorpusRig, entry: Entry, is_renamed: bool) -> Line:
    """Evaluate one submission and judge the report."""
    if rig.level(entry) < entry.level:
        return Line(entry, is_renamed, f"this machine has level {rig.level(entry)}", "skipped", 0.0)
    started = time.monotonic()
    try:
        report = rig.evaluate(entry, rename_all if is_renamed else None)
    except PitonError as error:
        return Line(entry, is_renamed, "not evaluated", "WRONG", time.monotonic() - started, (str(error),))
    complaints = tuple(rig.complaints(entry, report))
    state = "waits" if entry.waits else "WRONG" if complaints else "ok"
    return Line(entry, is_renamed, verdicts(report), state, time.monotonic() - started, complaints)


def verdicts(report: Report) -> str:
    """What the cases ended with; passes are named when there is nothing else."""
    found = [case.outcome for operator in report.operators for case in operator.cases if case.outcome.verdict is not Verdict.NOT_RUN]
    found += [operator.build_outcome for operator in report.operators if operator.build_outcome.cause is not Cause.NONE]
    refused = dict.fromkeys(f"{item.verdict.value}: {item.cause.value}" for item in found if item.cause is not Cause.NONE)
    return ", ".join(refused) or "passed"


def main() -> int:
    """Evaluate, print, count."""
    options = argparse.ArgumentParser(description="Evaluate the corpus of cheats and of honest work that looks odd.")
    options.add_argument("--jobs", type=int, default=1, help="submissions evaluated at a time")
    options.add_argument("names", nargs="*", help="only these submissions")
    chosen = options.parse_args()
    entries = [entry for kind in ("exploits", "honest") for entry in load_entries(kind) if not chosen.names or entry.name in chosen.names]
    with tempfile.TemporaryDirectory(prefix="piton-corpus-") as folder:
        rig = CorpusRig(Path(folder))
        try:
            lines = run(rig, [(entry, is_renamed) for is_renamed in (False, True) for entry in sorted(entries, key=order)], chosen.jobs)
        finally:
            rig.close()
    return summary(lines)


def order(entry: Entry) -> tuple[bool, int, str]:
    """By number, honest work last."""
    return entry.number == 0, entry.number, entry.name


def run(rig: CorpusRig, tasks: list[tuple[Entry, bool]], jobs: int) -> list[Line]:
    """All of them, each printed as soon as it and those before it are done."""
    say(_COLUMNS.format("entry", "submission", "target", "names", "verdict: cause", "level", "s", ""))
    lines = []
    with ThreadPoolExecutor(jobs) as pool:
        for line in pool.map(lambda task: evaluate(rig, *task), tasks):
            say(line.text())
            lines.append(line)
    return lines


def summary(lines: list[Line]) -> int:
    """The last line, and the exit status."""
    count = {state: sum(line.state == state for line in lines) for state in ("ok", "WRONG", "waits", "skipped")}
    exploits, honest = (
        len({line.entry.name for line in lines if line.state == "ok" and bool(line.entry.number) is is_exploit}) for is_exploit in (True, False)
    )
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
