"""Metrics over many samples of a method: pass@k, Compilation@k, fast_p@k, speed-up, HAP (survey, section 4.5). Pure functions.

An attempt is one evaluated kernel for one task. A sample is a trajectory of attempts (turns) of which a selection scheme says which count; samples are
independent of one another, turns are not. A task has all samples of one method. docs/metrics.md has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from piton.core.errors import UsageError
from piton.core.estimators import Interval, at_least_one, first_k, interval_of_mean
from piton.core.method import SelectionScheme
from piton.core.operator import Frozen


@dataclass(frozen=True)
class Attempt:
    """What became of one kernel on one task."""

    is_compiled: bool = False
    is_correct: bool = False
    speedup: float | None = None
    """T_baseline / T_cand, geometric mean over the cases of the task; None unless it is correct and all its cases have both times."""
    hap: float = 0.0
    """Mean ranked HAP over the cases; a case that did not pass, or has no HAP, brings 0."""
    void: str = ""
    """Why it could not be judged; the other fields then mean nothing."""
    is_partial: bool = False
    """True when cases were left out: it is judged by the others."""
    lacks_hap: bool = False
    """True when a case that passed has no HAP."""

    @property
    def lacks_speedup(self) -> bool:
        """True for a correct kernel whose speed-up is not known."""
        return self.is_correct and self.speedup is None


FAILED = Attempt()
"""A kernel that is not there."""


@dataclass(frozen=True)
class Task:
    """One task with the samples of one method; each is a trajectory of at least one attempt, in order."""

    name: str
    samples: tuple[tuple[Attempt, ...], ...]
    """Empty for a task that the method never tried: it counts 0 at every k."""
    level: int = 0
    category: str = ""


@dataclass(frozen=True)
class MetricOptions:
    """What is computed, and how."""

    ks: tuple[int, ...] = ()
    """Empty: those of 1, 5 and 10 for which every task has samples."""
    thresholds: tuple[float, ...] = (1.0,)
    """Speed-ups p of fast_p, which are the alpha of SU_alpha@k."""
    selection: SelectionScheme = SelectionScheme.LAST
    is_unbiased: bool = True
    """Mean over all k-subsets of the samples; otherwise the first k samples, as equation 6 is written."""
    seed: int = 0
    """Of the resamples."""


class Metric(Frozen):
    """One number over a set of tasks."""

    name: str
    """Such as `pass@5`, `fast_1@5`."""
    also: str = ""
    """Another name of the same number, such as `SU_1@5`."""
    value: float | None
    """None where no task has one."""
    low: float | None = None
    high: float | None = None
    """Ends of the 95 % interval; None for fewer than two tasks, or when all of them have the same value."""
    tasks: int
    """Tasks that the value is the mean over."""
    is_complete: bool
    """False when attempts are void or partly judged, so that another run may give another number."""


class MethodMetrics(Frozen):
    """All metrics of a method over one set of tasks."""

    tasks: int
    untried: tuple[str, ...] = ()
    """Tasks without a sample: failures."""
    samples_low: int
    samples_high: int
    """Fewest and most samples that a tried task has, void ones included."""
    voids: tuple[str, ...] = ()
    """`task: why` of samples that are left out because they could not be judged."""
    notes: tuple[str, ...] = ()
    metrics: tuple[Metric, ...]


def select(turns: Sequence[Attempt], scheme: SelectionScheme) -> tuple[Attempt, ...]:
    """The attempts of a trajectory that count, each with the same weight; empty when the sample is void.

    Last: the last turn. Best: of the turns that could be judged the correct one with the largest speed-up, then HAP; the earliest of equals. Average: all
    turns that could be judged. Raises ValueError for a custom scheme, which is not ours to apply.
    """
    judged = [turn for turn in turns if not turn.void]
    if scheme is SelectionScheme.LAST:
        return () if turns[-1].void else (turns[-1],)
    if scheme is SelectionScheme.AVERAGE or not judged:
        return tuple(judged)
    if scheme is SelectionScheme.BEST:
        return (max(judged, key=lambda turn: (turn.is_correct, turn.speedup or 0.0, turn.hap, turn.is_compiled)),)
    raise ValueError(f"selection {scheme.value} is not defined here")


def measure(tasks: Sequence[Task], options: MetricOptions) -> MethodMetrics:
    """All metrics over `tasks`. Raises UsageError for a k that a task has too few samples for, and for no tasks."""
    if not tasks:
        raise UsageError("there are no tasks to compute metrics of", action="give runs that hold operators")
    ks = usable_ks(tasks, options.ks)
    chosen = [_Chosen.of(task, options.selection) for task in tasks]
    counts = [len(task.samples) for task in tasks if task.samples]
    return MethodMetrics(
        tasks=len(tasks),
        untried=tuple(task.name for task in tasks if not task.samples),
        samples_low=min(counts, default=0),
        samples_high=max(counts, default=0),
        voids=tuple(f"{task.name}: {text}" for task in tasks for text in _void_texts(task, options.selection)),
        notes=tuple(_notes(chosen)),
        metrics=tuple(_metrics(chosen, ks, options)),
    )


def usable_ks(tasks: Sequence[Task], asked: Sequence[int]) -> tuple[int, ...]:
    """The ks that were asked for, or by default those of 1, 5 and 10 that every tried task has samples for. Raises UsageError for one that is too large."""
    tried = [task for task in tasks if task.samples]
    least = min(tried, key=lambda task: len(task.samples), default=None)
    most = len(least.samples) if least else 1
    for k in asked:
        if k > most and least is not None:
            found = f"{least.name} has {most} sample{'s' if most > 1 else ''}"
            raise UsageError(f"k = {k} needs at least {k} samples of every task", found=found, action="give more samples, or a smaller --k")
    return tuple(asked) or tuple(k for k in (1, 5, 10) if k <= most)


@dataclass(frozen=True)
class _Chosen:
    """A task with the attempts that count: one tuple per sample that could be judged."""

    task: Task
    samples: tuple[tuple[Attempt, ...], ...]

    @staticmethod
    def of(task: Task, scheme: SelectionScheme) -> _Chosen:
        return _Chosen(task, tuple(filter(None, (select(turns, scheme) for turns in task.samples))))

    def chances(self, is_good: Callable[[Attempt], bool]) -> list[float]:
        """For each sample the share of its attempts that are good."""
        return [sum(map(is_good, sample)) / len(sample) for sample in self.samples]

    def has(self, is_so: Callable[[Attempt], bool]) -> bool:
        """True when something is so of any attempt that counts."""
        return any(is_so(turn) for sample in self.samples for turn in sample)


def _is_partial(turn: Attempt) -> bool:
    return turn.is_partial


_GAPS: tuple[tuple[Callable[[Attempt], bool], str], ...] = (
    (_is_partial, "judged by a part of the cases"),
    (lambda turn: turn.lacks_speedup, "correct, but without a speed-up (counts as not fast)"),
    (lambda turn: turn.lacks_hap, "passed cases without HAP (count 0)"),
)


def _notes(chosen: Sequence[_Chosen]) -> list[str]:
    """What is incomplete, with the tasks it concerns."""
    found = [(text, [item.task.name for item in chosen if item.has(is_so)]) for is_so, text in _GAPS]
    return [f"{text}: {', '.join(names)}" for text, names in found if names]


def _void_texts(task: Task, scheme: SelectionScheme) -> list[str]:
    looked_at = [(number, turns[-1:] if scheme is SelectionScheme.LAST else turns) for number, turns in enumerate(task.samples, 1)]
    return [f"sample {number}: {turn.void}" for number, turns in looked_at for turn in turns if turn.void]


def _metrics(chosen: Sequence[_Chosen], ks: Sequence[int], options: MetricOptions) -> list[Metric]:
    found = [_at_k(f"Compilation@{k}", chosen, lambda turn: turn.is_compiled, k, options) for k in ks]
    found += [_without_gaps(_at_k(f"pass@{k}", chosen, lambda turn: turn.is_correct, k, options), chosen, _is_partial) for k in ks]
    for p in options.thresholds:
        found += [_fast(p, chosen, k, options) for k in ks]
    return [*found, _speedup(chosen, options), _hap(chosen, options)]


def _fast(p: float, chosen: Sequence[_Chosen], k: int, options: MetricOptions) -> Metric:
    """fast_p@k; fast_p itself (equation 5) is that of one sample. SU_alpha@k asks the same of alpha, since a kernel that is not correct has no time."""
    metric = _at_k(f"fast_{p:.12g}@{k}", chosen, lambda turn: turn.is_correct and turn.speedup is not None and turn.speedup >= p, k, options)
    return _without_gaps(metric.model_copy(update={"also": f"SU_{p:.12g}@{k}"}), chosen, _is_partial, lambda turn: turn.lacks_speedup)


def _without_gaps(metric: Metric, chosen: Sequence[_Chosen], *gaps: Callable[[Attempt], bool]) -> Metric:
    """The metric, incomplete where one of `gaps` is so of an attempt that counts."""
    has_gaps = any(item.has(gap) for item in chosen for gap in gaps)
    return metric.model_copy(update={"is_complete": metric.is_complete and not has_gaps})


def _at_k(name: str, chosen: Sequence[_Chosen], is_good: Callable[[Attempt], bool], k: int, options: MetricOptions) -> Metric:
    """Mean over tasks (equation 3) of the chance that one of k samples is good; a task that was never tried brings 0.

    A task of which voids left fewer than k samples has no value, and the metric says that it is incomplete.
    """
    estimate = at_least_one if options.is_unbiased else first_k
    values = [(estimate(item.chances(is_good), k) if item.task.samples else 0.0, item) for item in chosen if not item.task.samples or len(item.samples) >= k]
    return _mean(name, values, chosen, options)


def _speedup(chosen: Sequence[_Chosen], options: MetricOptions) -> Metric:
    """Geometric mean over the tasks that have a correct sample, of the geometric mean over its correct attempts.

    Attempts of one sample share that sample's weight. Failures have no time and so no speed-up: read it beside pass@k.
    """
    logs = [(value, item) for item in chosen if (value := _log_speedup(item)) is not None]
    metric = _mean("speed-up (geometric mean)", logs, chosen, options)
    ends = {name: None if (end := getattr(metric, name)) is None else math.exp(end) for name in ("value", "low", "high")}
    return _without_gaps(metric.model_copy(update=ends), chosen, _is_partial, lambda turn: turn.lacks_speedup)


def _log_speedup(item: _Chosen) -> float | None:
    samples = [[math.log(turn.speedup) for turn in sample if turn.is_correct and turn.speedup is not None] for sample in item.samples]
    means = [sum(logs) / len(logs) for logs in samples if logs]
    return sum(means) / len(means) if means else None


def _hap(chosen: Sequence[_Chosen], options: MetricOptions) -> Metric:
    """Mean over tasks of the mean over samples; what did not pass brings 0."""
    values = [(_mean_hap(item), item) for item in chosen if item.samples or not item.task.samples]
    return _without_gaps(_mean("HAP (mean)", values, chosen, options), chosen, _is_partial, lambda turn: turn.lacks_hap)


def _mean_hap(item: _Chosen) -> float:
    means = [sum(turn.hap for turn in sample) / len(sample) for sample in item.samples]
    return sum(means) / len(means) if means else 0.0


def _mean(name: str, values: Sequence[tuple[float, _Chosen]], chosen: Sequence[_Chosen], options: MetricOptions) -> Metric:
    """Mean over tasks with its interval; incomplete when a sample of any task is void."""
    numbers = [value for value, _ in values]
    found: Interval | None = interval_of_mean(numbers, [item.task.level for _, item in values], options.seed)
    return Metric(
        name=name,
        value=math.fsum(numbers) / len(numbers) if numbers else None,
        low=found.low if found else None,
        high=found.high if found else None,
        tasks=len(numbers),
        is_complete=not any(_void_texts(item.task, options.selection) for item in chosen),
    )
