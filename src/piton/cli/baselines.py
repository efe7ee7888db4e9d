"""What `piton baseline refresh`, `list`, `show` and `diff` do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from piton.catalog.baseline_file import baseline_text, is_baseline_file, read_baselines
from piton.cli.evaluation import bounds, cache_dir
from piton.cli.live import LiveView
from piton.cli.printing import NONE, goldens_bar, open_console, print_json, safe
from piton.core.baseline import BaselineSet, BaselineTime
from piton.core.errors import PitonError, UsageError
from piton.evaluate.kept_times import SUFFIX
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import Event, StageFinished, StageProgress, StageStarted
from piton.evaluate.refresh import Refreshed, finish, refresh
from piton.evaluate.refresh_request import Hooks, RefreshRequest, beside
from piton.report.baseline_diff import BaselineDiff, CaseChange, Change, diff_baselines
from piton.report.fit import Column, Listing
from piton.report.json_file import write_text
from piton.report.trust import interval_text

_DONE, _SOME_FAILED = 0, 1
_SHOWN = 10
"""Failed cases that are listed; the file has all."""


@dataclass(frozen=True)
class RefreshOptions:
    """The options of `piton baseline refresh` as they were typed."""

    out: str
    target: str
    suite: str
    suite_format: str
    operators: tuple[str, ...]
    levels: tuple[int, ...]
    cases: tuple[str, ...]
    submission: str
    name: str
    version: str
    is_trusted: bool
    overwrites: bool
    prints_json: bool


def refresh_baselines(options: RefreshOptions) -> int:
    """Measure, write the file, say what is in it; 1 when some case has no time because it failed."""
    console = Console(stderr=True, highlight=False)
    request = _request(options)
    try:
        with _hooks(console, has_submission=bool(options.submission)) as hooks:
            found = refresh(request, hooks)
    except KeyboardInterrupt:
        _say_stopped(console, request)
        raise
    write_text(request.out, baseline_text(found.baselines))
    finish(request)
    if options.prints_json:
        print_json(found.baselines)
    else:
        _print_summary(open_console(), found, request.out, is_submitted=bool(request.evaluation.submission))
    return _SOME_FAILED if found.baselines.failed else _DONE


def _request(options: RefreshOptions) -> RefreshRequest:
    evaluation = EvaluationRequest(
        submission=options.submission,
        run_dir="",
        cache_dir=str(cache_dir().absolute()),
        suite=options.suite,
        suite_format=options.suite_format,
        target=options.target,
        operators=options.operators,
        levels=options.levels,
        cases=options.cases,
        is_trusted=options.is_trusted,
        bounds=bounds(),
    )
    return RefreshRequest(evaluation=evaluation, out=Path(options.out), name=options.name, version=options.version, overwrites=options.overwrites)


@contextmanager
def _hooks(console: Console, *, has_submission: bool) -> Iterator[Hooks]:
    """Progress: as of an evaluation for a submission, else a bar on a terminal and a line per case elsewhere."""
    if has_submission:
        with LiveView(console) as view:
            yield Hooks(events=view.show)
        return
    with goldens_bar(console) as advance:

        def told(name: str, became: str, done: int, total: int) -> None:
            advance(name, done, total)
            if not console.is_terminal or became.startswith("failed"):
                console.print(safe(f"{name}: {became} ({done} of {total})", "dim"), soft_wrap=True)

        yield Hooks(told=told, events=lambda event: _tell(console, event))


def _tell(console: Console, event: Event) -> None:
    if isinstance(event, StageProgress):
        console.print(safe(f"  {event.message}", "dim"), soft_wrap=True)
    elif isinstance(event, StageStarted):
        console.print(safe(f"preparing {event.subject} ...", "dim"), soft_wrap=True)
    elif isinstance(event, StageFinished) and event.message:
        console.print(safe(f"{event.subject} failed: {event.message}", "red"), soft_wrap=True)


def _say_stopped(console: Console, request: RefreshRequest) -> None:
    kept = beside(request.out, SUFFIX).is_file() or request.evaluation.submission
    text = "piton: stopped; what was measured is kept, the same command goes on" if kept else "piton: stopped before anything was measured"
    console.print(safe(text, "yellow"), soft_wrap=True)


def _print_summary(console: Console, found: Refreshed, out: Path, *, is_submitted: bool) -> None:
    baselines = found.baselines
    operators = len({item.operator for item in baselines.cases})
    kept = f" ({found.kept} of them by a refresh that was stopped)" if found.kept else ""
    console.print(safe(f"{baselines.title}: {len(baselines.cases)} cases of {operators} operators{kept}, {_origins(baselines)}", "bold"), soft_wrap=True)
    for name, reason in list(baselines.failed.items())[:_SHOWN]:
        console.print(safe(f"  failed: {name}: {reason.splitlines()[0]}", "red"), soft_wrap=True)
    if len(baselines.failed) > _SHOWN:
        console.print(safe(f"  and {len(baselines.failed) - _SHOWN} more failed; the file lists them", "red"))
    if found.lacking:
        operators = len({name.partition("/")[0] for name in found.lacking})
        reason = "the submission has no kernel of them" if is_submitted else "no kernel to measure, and the model does not know them"
        console.print(safe(f"{len(found.lacking)} cases of {operators} operators are not in it: {reason}"), soft_wrap=True)
    console.print(safe(f"written: {out}; use it with piton eval --baseline {out}"), soft_wrap=True)


def list_baselines(paths: Sequence[str], *, prints_json: bool) -> int:
    """One line per file; a file that can't be read says why, and 1 is returned."""
    found = [(path, _tried(path)) for path in _files(paths)]
    sets = [(path, item) for path, item in found if isinstance(item, BaselineSet)]
    broken = [(path, item) for path, item in found if isinstance(item, PitonError)]
    if prints_json:
        lines = [{"file": str(path), **item.model_dump(mode="python", exclude={"cases"}), "cases": len(item.cases)} for path, item in sets]
        print_json({"sets": lines, "broken": {str(path): str(error) for path, error in broken}})
        return _SOME_FAILED if broken else _DONE
    console = open_console()
    if sets:
        names = ("version", "suite", "target", "made with", "cases", "failed", "digest", "file")
        rows = [tuple(safe(text) for text in _line(path, item)) for path, item in sets]
        console.print(Listing((Column("name"), *(Column(name, is_right=name in ("cases", "failed")) for name in names)), rows))
    for _, error in broken:
        console.print(safe(str(error), "red"), soft_wrap=True)
    if not found:
        console.print(safe(f"no baseline file in {', '.join(paths)}; `piton baseline refresh --out FILE` makes one"), soft_wrap=True)
    return _SOME_FAILED if broken else _DONE


def _files(paths: Sequence[str]) -> list[Path]:
    """The files that were named, and those in the folders that were."""
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise UsageError("no such file or folder", where=str(path), action="give a baseline file, or a folder with some")
        files += sorted(item for item in path.glob("*.json") if is_baseline_file(item)) if path.is_dir() else [path]
    return files


def _tried(path: Path) -> BaselineSet | PitonError:
    try:
        return read_baselines(path)
    except PitonError as error:
        return error


def _line(path: Path, item: BaselineSet) -> tuple[str, ...]:
    about = (item.name, item.version, f"{item.suite} {item.suite_version}", item.target, item.toolchain)
    return (*about, str(len(item.cases)), str(len(item.failed)), item.content_digest[:12], str(path))


def show_baselines(file: str, operators: Sequence[str], *, prints_json: bool) -> int:
    """The whole file as tables."""
    found = read_baselines(file)
    known = list(dict.fromkeys(item.operator for item in found.cases))
    for name in operators:
        if name not in known:
            raise UsageError(f"the file has no operator {name!r}", expected=f"one of: {', '.join(known)}", where=file, action="check --op")
    cases = [item for item in found.cases if not operators or item.operator in operators]
    if prints_json:
        print_json(found.model_copy(update={"cases": tuple(cases)}) if operators else found)
        return _DONE
    console = open_console()
    for text in _about(found):
        console.print(safe(text), soft_wrap=True)
    numbers = [Column(name, is_right=True, wraps=False) for name in ("T_baseline us", "samples")]
    columns = (Column("operator"), Column("case", is_right=True), *numbers, Column("between", wraps=False), Column("origin"), Column("how", leaves=1))
    console.print(Listing(columns, [_case_row(item) for item in cases]))
    for name, reason in found.failed.items():
        console.print(safe(f"no time: {name}: {reason}", "red"), soft_wrap=True)
    return _DONE


def _about(found: BaselineSet) -> Iterator[str]:
    yield f"{found.title}, {_origins(found)}, made {found.created or 'at a time that it does not say'} by Piton {found.piton or '?'}"
    yield f"suite {found.suite} {found.suite_version} (digest {found.suite_digest[:12]}); {found.submission} (digest {found.submission_digest[:12]})"
    yield f"on {found.target}, {found.toolchain}; chip {found.hardware} (digest {found.hardware_digest[:12]})"


def _origins(found: BaselineSet) -> str:
    counts: dict[str, int] = {}
    for item in found.cases:
        origin = item.time.provenance.value
        counts[origin] = counts.get(origin, 0) + 1
    return ", ".join(f"{count} {origin}" for origin, count in counts.items())


def _case_row(item: BaselineTime) -> tuple[str, ...]:
    time = item.time
    texts = (item.operator, item.case, f"{time.value:.2f}", str(len(time.samples)), interval_text(time.bounds, 2) or NONE, time.provenance.value, time.method)
    return tuple(str(safe(text)) for text in texts)


def compare_baselines(before: str, after: str, *, shows_all: bool, prints_json: bool) -> int:
    """Which times moved; 0 whatever they did."""
    found = diff_baselines(read_baselines(before), read_baselines(after))
    if prints_json:
        print_json(found)
        return _DONE
    console = open_console()
    console.print(safe(f"{found.before}, then {found.after}", "bold"), soft_wrap=True)
    shown = [item for item in found.cases if shows_all or item.change is not Change.SAME]
    if shown:
        numbers = [Column(name, is_right=True, wraps=False) for name in ("before us", "after us", "by")]
        rows = [_change_row(item) for item in sorted(shown, key=lambda item: -abs((item.ratio or 1.0) - 1))]
        console.print(Listing((Column("operator"), Column("case", is_right=True), Column("change"), *numbers, Column("origin")), rows))
    console.print(safe(_counts(found)), soft_wrap=True)
    for text in found.differences:
        console.print(safe(f"not the same: {text}", "yellow"), soft_wrap=True)
    return _DONE


def _change_row(item: CaseChange) -> tuple[str, ...]:
    times = [NONE if value is None else f"{value:.2f}" for value in (item.before_us, item.after_us)]
    moved = NONE if item.ratio is None else f"{100 * (item.ratio - 1):+.1f} %"
    origins = dict.fromkeys(origin.value for origin in (item.before_provenance, item.after_provenance) if origin)
    return tuple(str(safe(text)) for text in (item.operator, item.case, item.change.value, *times, moved, ", then ".join(origins)))


def _counts(found: BaselineDiff) -> str:
    parts = [f"{count} {change.value}" for change in Change if (count := found.count(change))]
    middle = "" if found.median_ratio is None else f"; median {100 * (found.median_ratio - 1):+.1f} %"
    return (", ".join(parts) or "no cases") + middle
