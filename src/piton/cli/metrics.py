"""`piton metrics`: read reports and sample sets, compute, print."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from piton.catalog.samples import FILE_NAME, MethodRuns, SampleRuns, SampleSet, read_samples
from piton.cli.printing import open_console, print_json
from piton.core.errors import UsageError
from piton.core.method import SelectionScheme
from piton.core.metrics import MetricOptions
from piton.core.report import Report
from piton.report.json_file import NAME as REPORT
from piton.report.json_file import read_report
from piton.report.metrics_text import metrics_markdown, render_metrics
from piton.report.metrics_view import GroupBy, MetricsView, ViewOptions, view_metrics
from piton.report.rescore import score_report
from piton.report.samples import MethodSamples, Run, Sample, TaskFacts, Unit

NumberT = TypeVar("NumberT", int, float)


@dataclass(frozen=True)
class MetricsOptions:
    """The options of `piton metrics` as they were typed."""

    runs: tuple[str, ...]
    k: str
    p: str
    selection: Literal["last", "average", "best"]
    is_unbiased: bool
    unit: Unit
    suite: str
    suite_format: str
    group_by: GroupBy | None
    seed: int
    shows_fair: bool
    prints_markdown: bool
    prints_json: bool


def show_metrics(options: MetricsOptions) -> int:
    """Print the metrics of every method; returns the exit status. Raises UsageError for runs that do not belong together and options that make no sense."""
    metric = MetricOptions(
        ks=read_numbers(options.k, int, "--k", "whole numbers from 1, such as 1,5,10"),
        thresholds=read_numbers(options.p, float, "--p", "speed-ups above 0, such as 0.5,1,2"),
        selection=SelectionScheme(options.selection),
        is_unbiased=options.is_unbiased,
        seed=options.seed,
    )
    methods, suite = read_methods(options.runs)
    suite = options.suite or suite
    expected = read_expected(suite, options.suite_format, methods) if suite else {}
    _print(view_metrics(methods, ViewOptions(metric, options.unit, options.group_by, expected)), options)
    return 0


def _print(view: MetricsView, options: MetricsOptions) -> None:
    if options.prints_json:
        print_json(view)
    elif options.prints_markdown:
        sys.stdout.write(metrics_markdown(view))
    else:
        open_console().print(render_metrics(view, shows_fair=options.shows_fair))


def read_numbers(text: str, kind: Callable[[str], NumberT], option: str, expected: str) -> tuple[NumberT, ...]:
    """The numbers of `1,5,10`, ascending and each once. Raises UsageError for anything else."""
    numbers: set[NumberT] = set()
    for part in text.split(",") if text else ():
        try:
            number = kind(part)
        except ValueError:
            number = kind("0")
        if not (number > 0 and math.isfinite(number)):
            raise UsageError(f"{option} can't be read at {part!r}", expected=expected, action=f"correct {option}")
        numbers.add(number)
    return tuple(sorted(numbers))


def read_methods(names: Sequence[str]) -> tuple[list[MethodSamples], str]:
    """The methods of all arguments, and the suite that a sample set names.

    Reports given alone are samples of the method that their submission.toml names, else of their submission. Raises UsageError for a method that is there
    twice, and for sample sets that name different suites.
    """
    sets = [(Path(name), read_samples(Path(name))) for name in names if _is_set(Path(name))]
    alone = [Run(name, _read(Path(name))) for name in names if not _is_set(Path(name))]
    methods = [*(_method(entry) for _, found in sets for entry in found.methods), *_grouped(alone)]
    listed_names = [method.name for method in methods]
    twice = next((name for name in listed_names if listed_names.count(name) > 1), None)
    if twice is not None:
        raise UsageError("a method is there more than once", found=twice, action="list all its runs in one samples.toml")
    _refuse_repeated(methods)
    suites = sorted({_suite_of(path, found) for path, found in sets if found.suite})
    if len(suites) > 1:
        raise UsageError("the sample sets name different suites", found=", ".join(suites), action="give one set at a time")
    return methods, suites[0] if suites else ""


def _refuse_repeated(methods: Sequence[MethodSamples]) -> None:
    """Raise UsageError for a sample that is listed twice: it would count as two that agree. A run may be in several trajectories, and serve several tasks."""
    seen: set[tuple[str, str, tuple[Path, ...]]] = set()
    for method in methods:
        for sample in method.samples:
            key = (method.name, sample.task, tuple(run.folder for run in sample.turns))
            if key in seen:
                action = "list every run once; patterns may overlap"
                raise UsageError(f"a sample of {method.name} is there more than once", found=", ".join(run.name for run in sample.turns), action=action)
            seen.add(key)


def _is_set(path: Path) -> bool:
    return path.suffix == ".toml" or (path.is_dir() and not (path / REPORT).is_file() and (path / FILE_NAME).is_file())


def _suite_of(path: Path, found: SampleSet) -> str:
    """A folder beside the file, else a name as it stands."""
    beside = (path if path.is_dir() else path.parent) / found.suite
    return str(beside) if beside.is_dir() else found.suite


def _read(path: Path) -> Report:
    return score_report(read_report(path))


def _grouped(runs: Sequence[Run]) -> Iterator[MethodSamples]:
    """Runs by the name of their method, each a sample of one turn."""
    grouped: dict[str, list[Run]] = {}
    for run in runs:
        method = run.report.method
        grouped.setdefault((method.name if method else "") or run.report.submission, []).append(run)
    for name, found in grouped.items():
        yield MethodSamples(name, tuple(Sample((run,)) for run in found))


def _method(entry: MethodRuns) -> MethodSamples:
    return MethodSamples(entry.name, tuple(_sample(item) for item in entry.samples), entry.method, entry.reporting)


def _sample(item: SampleRuns) -> Sample:
    return Sample(tuple(Run(str(path), _read(path)) for path in item.turns), item.task)


def read_expected(suite: str, suite_format: str, methods: Sequence[MethodSamples]) -> Mapping[str, TaskFacts]:
    """The operators of a suite by name; nothing of it is run. Raises UsageError when a run is of another suite."""
    from piton.cli.suites import listed  # loads what runs goldens, which metrics of runs alone have no need of

    view = listed(suite, suite_format)
    for run in (run for method in methods for run in method.runs):
        found = f"{run.report.suite} {run.report.suite_version}"
        if found != f"{view.name} {view.version}":
            action = "correct --suite, or `suite` in samples.toml"
            raise UsageError("the run is of another suite", expected=f"{view.name} {view.version}", found=found, where=run.name, action=action)
    categories = {line.name: line.category for line in view.operators}
    return {name: TaskFacts(int(level), categories.get(name, "")) for level, names in view.levels.items() for name in names}
