"""Does `piton serve` leak? Sends many different tiny submissions to a server of its own and prints what grew, in the server and beside it.

Every submission differs from all others in a comment, so that none is answered from an earlier one: each is received, built as far as the cache can't help,
evaluated, reported and forgotten. Figures are measured on this machine; rates depend on what else it does, counts do not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from piton.server.client import PitonClient

_IN_FLIGHT = 16
"""Submissions that wait or run while the next one is sent."""
_WARM_SHARE = 0.1
"""The first part of the run, in which caches and pools fill."""


@dataclass(frozen=True)
class Figures:
    """What a leak would show in."""

    resident_mib: float
    """Of the server's process."""
    below_mib: float
    """Of all processes below it."""
    descriptors: int
    threads: int
    processes: int
    files_in_tmp: int
    """In the folder for temporary files that this server has for itself."""
    files_in_state: int
    log_lines: int


def main() -> int:
    """Run, print a table and a verdict; 1 when something grew that should not."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="serve-leak-") as folder, _server(Path(folder), options) as (process, client):
        started = time.monotonic()
        samples: list[Figures] = []
        for sample in _samples(Path(folder), options, process.pid, client):
            _print(sample, is_first=not samples)
            samples.append(sample)
        seconds = time.monotonic() - started
    print(f"{options.count} submissions in {seconds:.0f} s (measured), {options.count / seconds:.2f} a second; a line each {options.every}, the first after 1")
    return _judge(samples, options.keep)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="submissions")
    parser.add_argument("--every", type=int, default=100, help="submissions between two looks")
    parser.add_argument("--submission", default="kernels/reference", help="the submission that is varied; by default the example's")
    parser.add_argument("--op", default="exp")
    parser.add_argument("--case", action="append", default=[], help="cases of each submission; by default 1")
    parser.add_argument("--target", default="ascend910b2-sim")
    parser.add_argument("--suite", default="piton")
    parser.add_argument(
        "--vary", default="README.md", help="file of the submission that gets another comment each time; one that is compiled makes each a build"
    )
    parser.add_argument("--keep", type=int, default=50, help="results that the server keeps: few, so that growth by results shows too")
    parser.add_argument("--workers", type=int, default=1)
    return parser.parse_args()


@contextmanager
def _server(folder: Path, options: argparse.Namespace) -> Iterator[tuple[subprocess.Popen[str], PitonClient]]:
    (folder / "tmp").mkdir()
    words = [sys.executable, "-m", "piton.cli.main", "serve", "--port", "0", "--state", str(folder / "state"), "--target", options.target, "--trust"]
    words += ["--suite", options.suite, "--keep", str(options.keep), "--workers", str(options.workers)]
    with subprocess.Popen(words, env={**os.environ, "TMPDIR": str(folder / "tmp")}, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        url = next((line.split("listening on ")[1].split(",")[0] for line in process.stderr if "listening on" in line), "")
        try:
            yield process, PitonClient(url, timeout_s=300.0)
        finally:
            process.send_signal(signal.SIGTERM)
            process.stderr.read()


def _samples(folder: Path, options: argparse.Namespace, pid: int, client: PitonClient) -> Iterator[Figures]:
    own = folder / "submission"
    shutil.copytree(options.submission, own)
    waiting: list[str] = []
    original = (own / options.vary).read_text() if (own / options.vary).is_file() else ""
    for number in range(1, options.count + 1):
        (own / options.vary).write_text(f"{original}\n// {number}\n")
        waiting.append(client.submit(own, patience_s=600.0, operators=[options.op], cases=options.case or ["1"]).id)
        while len(waiting) >= (_IN_FLIGHT if number % options.every else 1):
            _take(client, waiting.pop(0), number)
        if number % options.every == 0 or number == 1:
            yield _look(folder, pid)


def _take(client: PitonClient, job_id: str, number: int) -> None:
    job = client.wait(job_id)
    reward = client.reward(job_id) if job.state.value == "done" else None
    if reward is None or reward.passed != reward.cases:
        sys.exit(f"submission {number} or one shortly before did not pass: {job.state.value} {job.problem} {reward}")


def _look(folder: Path, pid: int) -> Figures:
    time.sleep(1.0)  # the last job's folder is being removed
    below = _below(pid)
    return Figures(
        resident_mib=_resident(pid) / 2**20,
        below_mib=sum(map(_resident, below)) / 2**20,
        descriptors=len(os.listdir(f"/proc/{pid}/fd")),
        threads=len(os.listdir(f"/proc/{pid}/task")),
        processes=len(below),
        files_in_tmp=_files(folder / "tmp"),
        files_in_state=_files(folder / "state"),
        log_lines=len((folder / "state" / "jobs.jsonl").read_bytes().splitlines()),
    )


def _files(folder: Path) -> int:
    return sum(len(names) + len(folders) for _, folders, names in os.walk(folder))


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # it has just ended
        return 0


def _below(pid: int) -> list[int]:
    children = [int(word) for file in Path(f"/proc/{pid}/task").glob("*/children") for word in file.read_text().split()]
    return [*children, *(item for child in children if Path(f"/proc/{child}").exists() for item in _below(child))]


def _print(sample: Figures, *, is_first: bool) -> None:
    names = [field.name for field in fields(Figures)]
    if is_first:
        print("  ".join(f"{name:>14}" for name in names))
    print("  ".join(f"{getattr(sample, name):>14.1f}" if "mib" in name else f"{getattr(sample, name):>14}" for name in names), flush=True)


def _judge(samples: list[Figures], keep: int) -> int:
    """Compare the middle of the first half with that of the second, the warm-up left out: a leak grows all the time."""
    warm = samples[max(1, int(len(samples) * _WARM_SHARE)) :]
    half = len(warm) // 2
    grown = []
    for field in fields(Figures) if half else ():
        early, late = (statistics.median(getattr(sample, field.name) for sample in part) for part in (warm[:half], warm[half:]))
        allowed = {"resident_mib": 4.0 + 0.02 * early, "below_mib": 4.0 + 0.02 * early, "log_lines": 8.0 * (keep + 256)}.get(field.name, 2.0)
        grown += [f"{field.name} from {early:g} to {late:g}"] if late - early > allowed else []
    print(f"grown: {'; '.join(grown)}" if grown else "nothing grew")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
