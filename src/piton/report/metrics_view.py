"""Metrics of methods side by side: worked out of samples, then as a table for a terminal, as Markdown, and as a record for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from piton.core.estimators import CONFIDENCE, RESAMPLES
from piton.core.execution import Accuracy
from piton.core.fair import FairItem, FairRow
from piton.core.method import Method
from piton.core.metrics import MethodMetrics, Metric, MetricOptions, Task, measure, usable_ks
from piton.core.operator import Frozen
from piton.core.report import Report
from piton.report.fair_merge import method_record, over
from piton.report.samples import MethodSamples, Run, TaskFacts, Unit, check_world, tasks_of

GroupBy = Literal["level", "category", "operator"]


@dataclass(frozen=True)
class ViewOptions:
    """What is computed, over what, grouped how."""

    metric: MetricOptions = field(default_factory=MetricOptions)
    unit: Unit = "operator"
    group_by: GroupBy | None = None
    expected: Mapping[str, TaskFacts] = field(default_factory=dict)
    """Operators of a suite that all count, tried or not; empty for those that the runs have."""


class World(Frozen):
    """What all runs have in common."""

    suite: str
    suite_version: str
    target: str
    hardware: str
    score_profile: str
    precision_profile: str
    accuracy: Accuracy = "exact"
    origins: dict[str, tuple[str, ...]]
    """Provenances that occur, of T_cand, T_baseline and T_HW."""


class Settings(Frozen):
    """How the numbers came about."""

    task: Unit
    select: str
    estimator: Literal["all_subsets", "first_k"]
    seed: int
    resamples: int = RESAMPLES
    confidence: float = CONFIDENCE
    ks: tuple[int, ...]
    thresholds: tuple[float, ...]


class GroupMetrics(Frozen):
    """A method's metrics over one group of tasks."""

    group: str
    """`all`, or the level, category or operator."""
    found: MethodMetrics


class MethodView(Frozen):
    """One method."""

    name: str
    runs: int
    method: Method | None = None
    groups: tuple[GroupMetrics, ...]
    fair: tuple[FairRow, ...]


class MetricsView(Frozen):
    """What `piton metrics` prints, and all of its JSON."""

    piton_metrics: Literal[1] = 1
    world: World
    settings: Settings
    differences: tuple[str, ...] = ()
    """What is not the same in all runs although they may be taken together."""
    methods: tuple[MethodView, ...]


def view_metrics(methods: Sequence[MethodSamples], options: ViewOptions) -> MetricsView:
    """Metrics of every method. Raises UsageError for runs of different worlds, and for a k that a task has too few samples for."""
    runs = [run for method in methods for run in method.runs]
    differences = check_world(runs)
    tasks = [tasks_of(method.samples, options.unit, options.expected) for method in methods]
    tasks = _on_the_same(tasks)
    ks = usable_ks([task for found in tasks for task in found], options.metric.ks)
    chosen = replace(options, metric=replace(options.metric, ks=ks))
    views = [_method_view(method, found, chosen) for method, found in zip(methods, tasks, strict=True)]
    return MetricsView(world=_world(runs), settings=_settings(chosen), differences=tuple(differences), methods=tuple(views))


def _on_the_same(tasks: Sequence[Sequence[Task]]) -> list[list[Task]]:
    """Every method with the tasks of all: what one of them never tried counts against it, else methods that try less would look better."""
    known = {task.name: task for found in tasks for task in found}
    own = [{task.name: task for task in found} for found in tasks]
    return [[found.get(name) or replace(task, samples=()) for name, task in known.items()] for found in own]


def _method_view(method: MethodSamples, tasks: Sequence[Task], options: ViewOptions) -> MethodView:
    reports = [run.report for run in method.runs]
    groups = tuple(GroupMetrics(group=name, found=measure(found, options.metric)) for name, found in _groups(tasks, options.group_by))
    return MethodView(
        name=method.name,
        runs=len(reports),
        method=over(_agreed(reports), method.method, Method()),
        groups=groups,
        fair=method_record(reports, method.method, method.reporting, _counted(method, groups[0].found, options)),
    )


def _agreed(reports: Sequence[Report]) -> Method | None:
    """What the submissions say of their method, if all say the same."""
    found = {report.method for report in reports}
    return found.pop() if len(found) == 1 else None


def _groups(tasks: Sequence[Task], by: GroupBy | None) -> list[tuple[str, list[Task]]]:
    """(name, tasks): all of them first."""
    grouped: dict[str, list[Task]] = {}
    for task in tasks if by else ():
        grouped.setdefault(_group_name(task, by), []).append(task)
    return [("all", list(tasks)), *sorted(grouped.items())]


def _group_name(task: Task, by: GroupBy | None) -> str:
    if by == "level":
        return f"level {task.level}"
    return task.category or "category not recorded" if by == "category" else task.name


def _counted(method: MethodSamples, found: MethodMetrics, options: ViewOptions) -> dict[FairItem, str]:
    """What is known of the record from the samples themselves."""
    turns = max(len(sample.turns) for sample in method.samples)
    counted = {
        FairItem.METRICS: ", ".join(metric.name for metric in found.metrics),
        FairItem.SAMPLES: _samples_text(found),
    }
    return counted if turns == 1 else {**counted, FairItem.SELECTION: f"{options.metric.selection.value} of up to {turns} turns"}


def _samples_text(found: MethodMetrics) -> str:
    """How many samples the tried tasks have, and how many tasks have none."""
    low, high, untried = found.samples_low, found.samples_high, len(found.untried)
    of = "tried task" if untried else "task"
    text = f"{low} of every {of}" if low == high else f"{low} to {high}, by {of}"
    return f"{text}; {untried} {'task' if untried == 1 else 'tasks'} not tried" if untried else text


def _settings(options: ViewOptions) -> Settings:
    metric = options.metric
    return Settings(
        task=options.unit,
        select=metric.selection.value,
        estimator="all_subsets" if metric.is_unbiased else "first_k",
        seed=metric.seed,
        ks=metric.ks,
        thresholds=metric.thresholds,
    )


def _world(runs: Sequence[Run]) -> World:
    report = runs[0].report
    return World(
        suite=report.suite,
        suite_version=report.suite_version,
        target=report.target,
        hardware=report.hardware,
        score_profile=report.score_profile.value,
        precision_profile=report.precision_profile,
        accuracy=report.accuracy,
        origins=_origins([run.report for run in runs]),
    )


def _origins(reports: Sequence[Report]) -> dict[str, tuple[str, ...]]:
    cases = [case for report in reports for item in report.operators for case in item.cases]
    found = {
        "T_cand": {case.time.provenance.value for case in cases if case.time},
        "T_baseline": {case.t_baseline.provenance.value for case in cases if case.t_baseline},
        "T_HW": {case.t_hw.provenance.value for case in cases if case.t_hw},
    }
    return {name: tuple(sorted(values)) for name, values in found.items()}


def metric_text(metric: Metric) -> str:
    """`0.583 [0.410, 0.750]`, a star where it is incomplete, a dash where there is none."""
    if metric.value is None:
        return "–"
    ends = f" [{metric.low:.3f}, {metric.high:.3f}]" if metric.low is not None and metric.high is not None else ""
    return f"{metric.value:.3f}{ends}{'' if metric.is_complete else ' *'}"


def metric_name(metric: Metric) -> str:
    """`fast_1@5 = SU_1@5`."""
    return f"{metric.name} = {metric.also}" if metric.also else metric.name
