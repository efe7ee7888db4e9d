"""How many public kernels for the Ascend 910B compile and link against our headers.

usage: python benchmarks/coverage --work FOLDER CHECKOUT ... [--only TEXT] [--sample N] [--rows N] [--combinations N] [--kept | --failed] [--jobs N]
                                  [--write PAGE [--note TEXT]]

CHECKOUT is a working copy of ops-math, ops-nn or cann-bench; nothing of them is kept here. Results are kept as JSON in FOLDER and taken up again: what did not
change is not tried twice. Prints how many kernels are linked and what is missing, by number of kernels.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(Path(__file__).resolve().parent)]

from builder import Builder  # noqa: E402 - the path is set above so that the command works in a plain checkout
from measure import Effort, Headers, Measurer, Result  # noqa: E402 - as above
from programs import ForgottenError, Programs, entries, find, judge  # noqa: E402 - as above
from report import Report, commit_of, listed, markdown, summary  # noqa: E402 - as above
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: E402 - as above
from selection import Kernel, Selection, select  # noqa: E402 - as above
from store import Store  # noqa: E402 - as above
from structures import index  # noqa: E402 - as above

from piton.evaluate.sandbox import make_runner  # noqa: E402 - as above

HEADERS = ROOT / "src" / "piton" / "vnpu_cpp" / "include"
ARCH = 2201
"""The compiler's number of the Ascend 910B (asc-devkit, `--npu-arch=dav-2201`)."""


@dataclass(frozen=True)
class Work:
    """How to go about it."""

    folder: Path
    jobs: int
    """Kernels that are tried at a time."""
    is_enough: Callable[[Result], bool]
    """Which kept results stand although the headers have changed since."""


def main() -> int:
    """Measure, print, and write the page if asked to."""
    options = _parser().parse_args()
    roots = [root.resolve() for root in options.checkouts]
    programs = _programs(roots) if options.write else None
    selections = [select(root) for root in roots]
    effort = Effort(rows=options.rows, combinations=options.combinations)
    store = Store(options.work.resolve() / "results.json")
    chosen = _chosen(selections, options.only, options.sample)
    results = store.kept(chosen) if options.kept else _measured(chosen, Work(options.work.resolve(), options.jobs, _enough(options.failed)), effort, store)
    print(summary(results))
    if programs:
        report = Report(selections, results, effort, _command(sys.argv[1:]), programs, options.note)
        options.write.write_text(markdown(report), "utf-8")
        options.write.with_suffix(".json").write_text(listed(report), "utf-8")
    return 0


def _enough(is_failed_only: bool) -> Callable[[Result], bool]:
    return lambda result: is_failed_only and result.is_linked


def _programs(roots: list[Path]) -> Programs:
    """Before the long part, since a forgotten one ends the command."""
    try:
        return judge(find(roots), entries())
    except ForgottenError as error:
        sys.exit(f"{error}\nRun it, and write down what came of it; a program that is gone loses its entry.")


def _command(arguments: list[str]) -> str:
    """As typed, with folders and files of this machine by their last names."""
    shown = [Path(word).name if word.startswith(("/", "~", "..")) else f'"{word}"' if " " in word else word for word in arguments]
    return f"python benchmarks/coverage {' '.join(shown)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=Path, metavar="CHECKOUT")
    parser.add_argument("--work", type=Path, required=True, help="folder for results and intermediate files")
    parser.add_argument("--only", default="", help="kernels whose path contains this text")
    parser.add_argument("--sample", type=int, default=1, help="every Nth kernel only")
    parser.add_argument("--rows", type=int, default=Effort().rows, help="rows of element types per kernel")
    parser.add_argument("--combinations", type=int, default=Effort().combinations, help="template combinations per row")
    parser.add_argument("--kept", action="store_true", help="build nothing: print and write what a run with the same FOLDER, ended or not, has found so far")
    parser.add_argument("--failed", action="store_true", help="try again only what has not linked in earlier runs with the same FOLDER")
    parser.add_argument("--jobs", type=int, default=1, help="kernels at a time")
    parser.add_argument("--write", type=Path, help="the page to write; the results as JSON come beside it")
    parser.add_argument("--note", default="", help="a sentence on this run, for the page")
    return parser


def _chosen(selections: list[Selection], only: str, step: int) -> list[Kernel]:
    """In an order that is no order of theirs, so that what a run that was ended early has tried is spread over all."""
    kernels = [kernel for selection in selections for kernel in selection.kernels if only in kernel.path]
    return sorted(kernels, key=lambda kernel: hashlib.sha256(f"{kernel.root.name}/{kernel.path}".encode()).hexdigest())[::step]


def _measured(kernels: list[Kernel], work: Work, effort: Effort, store: Store) -> list[Result]:
    builder = Builder(HEADERS, work.folder, ARCH)
    builder.gather(kernels)
    ours = Headers(folder=str(HEADERS), commit=commit_of(ROOT), names=_known())
    measurer = Measurer(builder, make_runner(), effort, ours)
    indexes = {root: index(root) for root in dict.fromkeys(kernel.root for kernel in kernels)}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())

    def one(kernel: Kernel) -> Result:
        found = store.find(kernel, measurer, is_enough=work.is_enough) or store.keep(measurer.measure(kernel, indexes[kernel.root]))
        progress.update(task, advance=1, description=f"{kernel.path[-50:]:50}")
        return found

    with Progress(*columns) as progress, ThreadPoolExecutor(work.jobs) as pool:
        task = progress.add_task("kernels", total=len(kernels))
        try:
            return list(pool.map(one, kernels))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # what has not begun: an interrupt would wait for all of it
            raise


def _known() -> frozenset[str]:
    """Every identifier of our headers but those in comments."""
    texts = (re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text("utf-8"), flags=re.DOTALL) for path in HEADERS.rglob("*.h"))
    return frozenset(word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text))


if __name__ == "__main__":
    sys.exit(main())
