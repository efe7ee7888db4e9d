"""`piton eval`: prepare the run folder, evaluate with live progress, write and print the report."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import get_args

from rich.console import Console

from piton.cli.integrity import integrity_mode
from piton.cli.live import LiveView
from piton.cli.printing import open_console
from piton.core.errors import StorageError, UsageError
from piton.core.execution import Accuracy
from piton.core.foreign import SizeBudget
from piton.core.named import named
from piton.core.report import Report
from piton.core.timeline import MOST_BLOCKS, TimelineRequest
from piton.core.verdict import LEFT_OUT, Cause, Verdict
from piton.core.visible import visible
from piton.evaluate.cache_folder import cache_dir as cache_dir
from piton.evaluate.engine_place import engine_place
from piton.evaluate.failures import FOLDER as FAILURES
from piton.evaluate.journal import NAME as JOURNAL
from piton.evaluate.journal import check_unused
from piton.evaluate.pipeline import check_request, evaluate
from piton.evaluate.policy import Bounds, EvaluationRequest, HiddenRequest, PrecisionProfile
from piton.evaluate.traces import FOLDER as TRACES
from piton.report.html import html_text
from piton.report.json_file import NAME as REPORT
from piton.report.json_file import report_text, write_report, write_text
from piton.report.lanes import read_timelines
from piton.report.terminal import render_terminal

HTML = "report.html"
_ALL_PASSED, _SOME_FAILED, _INTERRUPTED = 0, 1, 130


GOLDEN_CACHE_GIB = "PITON_GOLDEN_CACHE_GIB"
"""Variable with the cap of the golden cache in GiB."""


@dataclass(frozen=True)
class EvaluationOptions:
    """The options of `piton eval` as they were typed."""

    submission: str
    suite: str
    suite_format: str
    suite_memory_gib: float
    suite_work_gflop: float
    target: str
    operators: tuple[str, ...]
    levels: tuple[int, ...]
    cases: tuple[str, ...]
    max_elements: int | None
    is_fast: bool
    keeps_failures: bool
    traces: bool
    trace_cores: str
    jobs: int
    out: str
    is_trusted: bool
    seed: int
    trials: int
    profile: str
    accuracy: str
    auto_sync: bool | None
    engine: str
    isolation: int
    integrity: str
    host_deadline_s: float
    prints_json: bool
    is_resumed: bool
    overwrites: bool
    hidden: HiddenRequest | None = None
    baseline: str = ""
    ray: str = ""


def run_evaluation(options: EvaluationOptions) -> int:
    """Evaluate and return the exit status; stopped before there is a report, it says how to go on."""
    run_dir = prepare_run_dir(options)
    try:
        return _run(options, run_dir)
    except KeyboardInterrupt:
        say_stopped(Console(stderr=True), run_dir)
        return _INTERRUPTED
    except StorageError as error:
        raise error.with_action(f"make room there, then go on with --resume: {resume_command(sys.argv[1:], run_dir)}") from error


def _run(options: EvaluationOptions, run_dir: Path) -> int:
    request = _request(options, run_dir)
    if options.overwrites:
        _replace(request)
    console = open_console(is_error=options.prints_json)
    with LiveView(console) as view:
        report = evaluate(request, view.show)
    write_report(report, run_dir / REPORT)
    write_text(run_dir / HTML, html_text(report, read_timelines(run_dir / TRACES, report)))
    if options.prints_json:
        sys.stdout.write(report_text(report))
    else:
        console.print(render_terminal(report))
    console.print(f"report: {run_dir / REPORT} and {run_dir / HTML}", soft_wrap=True, highlight=False)
    if (run_dir / FAILURES).is_dir():
        console.print(f"failures: {run_dir / FAILURES}, each with tensors and rerun.sh", soft_wrap=True, highlight=False)
    if (run_dir / TRACES).is_dir():
        console.print(f"timelines: {run_dir / TRACES}, for Perfetto or MindStudio Insight (docs/timeline.md)", soft_wrap=True, highlight=False)
    status = exit_status(report)
    if status == _INTERRUPTED:
        say_stopped(console, run_dir)
    return status


def say_stopped(console: Console, run_dir: Path) -> None:
    """Tell how to go on with a run that was stopped."""
    if (run_dir / JOURNAL).is_file():
        text = f"piton: stopped; finished cases are kept, go on with --resume: {resume_command(sys.argv[1:], run_dir)}"
    else:
        text = "piton: stopped before anything was done; give the same command again"
    console.print(visible(text), soft_wrap=True, highlight=False, markup=False)


def resume_command(arguments: Sequence[str], run_dir: Path) -> str:
    """The command that goes on with the run in `run_dir`, from the arguments that started it."""
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--out":
            next(words, None)
        elif word not in ("--overwrite", "--resume") and not word.startswith("--out="):
            kept.append(word)
    return shlex.join(["piton", *kept, "--out", str(run_dir), "--resume"])


def exit_status(report: Report) -> int:
    """0 when every case that was asked for passed, 130 when the run was stopped, 1 otherwise."""
    cases = [case for item in report.operators for case in item.cases if case.outcome.cause not in LEFT_OUT]
    if any(case.outcome.cause is Cause.INTERRUPTED for case in cases):
        return _INTERRUPTED
    return _ALL_PASSED if cases and all(case.outcome.verdict is Verdict.PASSED for case in cases) else _SOME_FAILED


def prepare_run_dir(options: EvaluationOptions) -> Path:
    """The folder of the run. Raises UsageError when it holds another run that was not to be resumed or replaced."""
    run_dir = Path(options.out) if options.out else _fresh_run_dir(Path(options.submission))
    if options.is_resumed and options.overwrites:
        raise UsageError("--resume and --overwrite exclude one another", action="leave one of them out")
    if options.is_resumed and not (run_dir / JOURNAL).is_file():
        raise UsageError("there is no run to resume", where=str(run_dir), action="give the folder of the interrupted run with --out")
    if (run_dir / JOURNAL).exists() and not options.is_resumed and not options.overwrites:
        raise UsageError("this folder already holds a run", where=str(run_dir), action="add --resume to go on with it, or --overwrite to replace it")
    return run_dir


def _fresh_run_dir(submission: Path) -> Path:
    name = submission.resolve().name or "submission"
    return Path("runs") / f"{name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"


def _replace(request: EvaluationRequest) -> None:
    """Clear the folder of the run, once it is known that the new evaluation can start."""
    run_dir = Path(request.run_dir)
    if (run_dir / JOURNAL).exists() or (run_dir / REPORT).exists():
        check_request(request)
        _clear(run_dir)


def _clear(run_dir: Path) -> None:
    """Remove what a run leaves, and nothing else that may lie there. Raises UsageError when that run is still going on."""
    check_unused(run_dir / JOURNAL)
    for name in (JOURNAL, REPORT, HTML):
        (run_dir / name).unlink(missing_ok=True)
    for name in ("submission", "build", "baseline", FAILURES, TRACES):
        shutil.rmtree(run_dir / name, ignore_errors=True)


def bounds() -> Bounds:
    """The bounds of the product, with what the environment says. Raises UsageError for a cap of the golden cache that is no number."""
    text = os.environ.get(GOLDEN_CACHE_GIB, "")
    if not text:
        return Bounds()
    try:
        return Bounds(golden_cache_bytes=int(float(text) * 2**30))
    except (ValueError, OverflowError):
        action = f"set {GOLDEN_CACHE_GIB} to a number of GiB such as 40, or unset it"
        raise UsageError(f"${GOLDEN_CACHE_GIB} can't be read", expected="a number of at least 0", found=text, action=action) from None


def _request(options: EvaluationOptions, run_dir: Path) -> EvaluationRequest:
    return EvaluationRequest(
        submission=options.submission,
        run_dir=str(run_dir.absolute()),
        cache_dir=str(cache_dir().absolute()),
        suite=options.suite,
        suite_format=options.suite_format,
        suite_budget=size_budget(options.suite_memory_gib, options.suite_work_gflop),
        target=options.target,
        operators=options.operators,
        levels=options.levels,
        cases=options.cases,
        max_elements=options.max_elements,
        is_fast=options.is_fast,
        keeps_failures=options.keeps_failures,
        timelines=timeline_request(options.trace_cores) if options.traces or options.trace_cores else None,
        jobs=options.jobs,
        ray=options.ray,
        seed=options.seed,
        trials=options.trials,
        integrity=integrity_mode(options.integrity),
        precision_profile=_profile(options.profile),
        accuracy=accuracy_mode(options.accuracy),
        auto_sync=options.auto_sync,
        engine=engine_place(options.engine, options.isolation),
        isolation=options.isolation,
        hidden=options.hidden,
        baseline=options.baseline,
        is_trusted=options.is_trusted,
        is_resumed=options.is_resumed,
        bounds=bounds().model_copy(update={"host_deadline_s": options.host_deadline_s}),
    )


def size_budget(memory_gib: float, work_gflop: float) -> SizeBudget:
    """How large tasks of other benchmarks may be."""
    return SizeBudget(memory_bytes=int(memory_gib * 2**30), work=work_gflop * 1e9)


def timeline_request(cores: str) -> TimelineRequest:
    """Blocks to record from `0,5,40-47`; empty leaves the choice to the engine. Raises UsageError for anything else."""
    blocks: set[int] = set()
    for part in cores.split(",") if cores else ():
        match = re.fullmatch(r"\s*(\d{1,5})(?:-(\d{1,5}))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first:
            raise UsageError(f"--trace-cores can't be read at {part!r}", expected="numbers of blocks such as 0,5,40-47", action="check --trace-cores")
        blocks.update(range(first, last + 1))
    if len(blocks) > MOST_BLOCKS:
        raise UsageError("--trace-cores names too many blocks", expected=f"at most {MOST_BLOCKS}", found=str(len(blocks)), action="name fewer")
    return TimelineRequest(blocks=tuple(sorted(blocks)))


def hidden_request(key_file: str, count: int, *, lists_failures: bool, reveals: bool) -> HiddenRequest | None:
    """What is asked of hidden cases, or None. Raises UsageError for their options without a key."""
    if not key_file:
        if lists_failures or reveals:
            raise UsageError("--list-failures and --reveal are about hidden cases", action="add --hidden-key-file")
        return None
    return HiddenRequest(key_file=key_file, count=count, detail="all" if reveals else "verdicts" if lists_failures else "counts")


def accuracy_mode(name: str) -> Accuracy:
    """The accuracy mode of that name. Raises UsageError for another one."""
    modes: tuple[Accuracy, ...] = get_args(Accuracy)
    return named(name, modes, "there is no accuracy mode", "check --accuracy")


def _profile(name: str) -> PrecisionProfile:
    profiles: tuple[PrecisionProfile, ...] = get_args(PrecisionProfile)
    return named(name, profiles, "there is no precision profile", "check --profile")
