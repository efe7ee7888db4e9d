"""From reports to samples: what every run says about every task, and whether the runs belong to one world at all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from piton.core.errors import UsageError
from piton.core.method import Method, Reporting
from piton.core.metrics import FAILED, Attempt, Task
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.verdict import LEFT_OUT, Verdict
from piton.report.rescore import is_finished

Unit = Literal["operator", "case"]
"""What a task is: an operator, correct when all its cases pass, or a single case."""

_REPORT = "report.json"
"""Name of a report in its run's folder."""
_WORLD = ("suite", "suite_version", "hidden", "target", "hardware", "hardware_digest", "score_profile", "precision_profile", "accuracy", "trials")
"""Fields that have to agree: a score never mixes worlds (D4), and no more does a metric."""
_NOTED = ("suite_digest", "seed", "auto_sync", "integrity")
"""Fields whose difference is shown. The digest of a foreign suite covers the tasks that were asked for, so that runs of single tasks differ in it."""


@dataclass(frozen=True)
class Run:
    """A report with the name it goes by in messages."""

    name: str
    report: Report

    @property
    def folder(self) -> Path:
        """The run's folder, however the run was named: what tells one run from another."""
        found = Path(self.name).resolve()
        return found.parent if found.name == _REPORT else found


@dataclass(frozen=True)
class Sample:
    """One sample: its turns in order."""

    turns: tuple[Run, ...]
    task: str = ""
    """Count only this operator; empty for all."""


@dataclass(frozen=True)
class MethodSamples:
    """All samples of one method."""

    name: str
    samples: tuple[Sample, ...]
    method: Method | None = None
    """What the sample set says of it; None: as the reports say."""
    reporting: Reporting | None = None

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run of it once, also one that serves several tasks or is a turn of several samples."""
        return tuple({run.folder: run for sample in self.samples for run in sample.turns}.values())


@dataclass(frozen=True)
class TaskFacts:
    """What a suite says of one of its operators."""

    level: int
    category: str = ""


def check_world(runs: Sequence[Run]) -> list[str]:
    """Raise UsageError unless all runs are of one world and the same cases; returns what else differs, one sentence each."""
    first = runs[0]
    for run in runs[1:]:
        for field in _WORLD:
            expected, found = getattr(first.report, field), getattr(run.report, field)
            if expected != found:
                problem = f"the runs can't be taken together: {field.replace('_', ' ')} differs"
                action = "give runs of one suite, target and profile"
                raise UsageError(problem, expected=f"{_short(expected)}, as {first.name}", found=_short(found), where=run.name, action=action)
    _check_cases(runs)
    return [*_differences(runs), *_baseline_differences(runs)]


def _short(value: object) -> str:
    return str(getattr(value, "value", value))[:60]


def _check_cases(runs: Sequence[Run]) -> None:
    """Every operator has the same cases in all runs; of hidden ones that are withheld only the number is known."""
    seen: dict[str, tuple[str, tuple[str, ...]]] = {}
    for run in runs:
        for item in run.report.operators:
            cases = tuple("" if case.is_sealed else case.case.digest() for case in item.cases)
            name, known = seen.setdefault(item.operator, (run.name, cases))
            if known != cases:
                problem = f"the runs can't be taken together: the cases of {item.operator} differ"
                raise UsageError(problem, expected=f"the {len(known)} cases of {name}", found=f"{len(cases)} others", where=run.name)


def _differences(runs: Sequence[Run]) -> list[str]:
    values = {field: list(dict.fromkeys(_short(getattr(run.report, field)) for run in runs)) for field in _NOTED}
    values["Piton"] = list(dict.fromkeys(run.report.environment.piton for run in runs))
    return [f"not the same in all runs: {field.replace('_', ' ')} ({', '.join(found)})" for field, found in values.items() if len(found) > 1]


def _baseline_differences(runs: Sequence[Run]) -> list[str]:
    """Cases whose T_baseline is not the same in all runs: then a faster baseline may look like a slower kernel."""
    known: dict[tuple[str, str], set[float]] = {}
    for case in (case for run in runs for item in run.report.operators for case in item.cases if case.t_baseline is not None):
        assert case.t_baseline is not None
        known.setdefault((case.operator, case.case.id), set()).add(case.t_baseline.value_us)
    differing = ["/".join(key) for key, values in known.items() if len(values) > 1]
    shown = ", ".join(differing[:5]) + (f" and {len(differing) - 5} more" if len(differing) > 5 else "")
    return [f"T_baseline is not the same in all runs: {shown}"] if differing else []


def tasks_of(samples: Sequence[Sample], unit: Unit, expected: Mapping[str, TaskFacts]) -> list[Task]:
    """The tasks of one method: those its runs have, and those of `expected` (by operator) that they lack, which have no samples.

    Raises UsageError for single cases where the runs withhold which is which.
    """
    found: dict[str, list[tuple[Attempt, ...]]] = {}
    facts: dict[str, TaskFacts] = {}
    for sample in samples:
        turns = [list(_attempts(run, sample.task, unit, facts)) for run in sample.turns]
        for name in dict.fromkeys(name for turn in turns for name, _ in turn):
            found.setdefault(name, []).append(tuple(attempt for turn in turns for other, attempt in turn if other == name))
    if unit == "case":
        _refuse_unknown_cases(found, expected)
    untried = {name: known for name, known in expected.items() if unit == "operator" and name not in found}
    facts = {**facts, **untried}
    return [Task(name, tuple(found.get(name, ())), facts[name].level, facts[name].category or _category(name, expected)) for name in (*found, *untried)]


def _category(name: str, expected: Mapping[str, TaskFacts]) -> str:
    """What the suite says, for an operator that no run has built: then no report has its category."""
    return expected[name].category if name in expected else ""


def _refuse_unknown_cases(found: Mapping[str, object], expected: Mapping[str, TaskFacts]) -> None:
    tried = {name.partition("/")[0] for name in found}
    missing = [name for name in expected if name not in tried]
    if missing:
        action = "leave out --task case, or --suite"
        raise UsageError("cases of operators that no run has are not known", found=", ".join(missing[:6]), action=action)


def _attempts(run: Run, only: str, unit: Unit, facts: dict[str, TaskFacts]) -> Iterator[tuple[str, Attempt]]:
    """(task, what became of it) of one run; `facts` learns of the tasks."""
    report = run.report
    items = [item for item in report.operators if only in ("", item.operator)]
    missing = [(name, level) for name, level in report.missing_operators.items() if only in ("", name)]
    if only and not items and not missing:
        raise UsageError(f"the run does not have the task {only}", where=run.name, action="correct `task`")
    is_tampered = any(case.outcome.verdict is Verdict.TAMPERED for item in report.operators for case in item.cases)
    for item in items:
        known = TaskFacts(item.level, item.category)
        for name, cases in _units(item, unit, run):
            facts[name] = known
            yield name, attempt_of(item, cases, is_tampered=is_tampered)
    for name, level in missing if unit == "operator" else ():
        facts.setdefault(name, TaskFacts(level))
        yield name, FAILED


def _units(item: OperatorResult, unit: Unit, run: Run) -> list[tuple[str, tuple[CaseResult, ...]]]:
    if unit == "operator":
        return [(item.operator, item.cases)]
    hidden = run.report.hidden
    if hidden is not None and hidden.detail == "counts":
        raise UsageError("single cases of this run can't be told apart: its hidden cases have no ids", where=run.name, action="leave out --task case")
    return [(f"{item.operator}/{case.case.id}", (case,)) for case in item.cases if case.outcome.cause not in LEFT_OUT]


def attempt_of(item: OperatorResult, cases: Sequence[CaseResult], *, is_tampered: bool = False) -> Attempt:
    """What became of `cases` of an operator, taken together.

    Correct: it was built and every case that was asked for passed. One case that failed decides, whatever others are void; when none failed and some are
    void, nothing is known. Tampering costs the whole submission (D4). A case whose output no kernel stored (unattributed) has not passed.
    """
    if not item.compiled:
        return Attempt()
    asked = [case for case in cases if case.outcome.cause not in LEFT_OUT]
    judged = [case for case in asked if is_finished(case)]
    has_failed = is_tampered or any(case.outcome.verdict is not Verdict.PASSED for case in judged)
    if not has_failed and len(judged) < len(asked):
        case = next(case for case in asked if not is_finished(case))
        return Attempt(void=f"case {case.case.id}: {case.void or case.outcome.message or case.outcome.cause.value}")
    if not judged:
        return Attempt(void="no case was asked for")
    return Attempt(
        is_compiled=True,
        is_correct=not has_failed,
        speedup=None if has_failed else _speedup(judged),
        hap=0.0 if is_tampered else sum(case.hap.ranked if case.hap else 0.0 for case in judged) / len(judged),
        is_partial=len(judged) < len(cases),
        lacks_hap=any(case.hap is None and case.outcome.verdict is Verdict.PASSED for case in judged),
    )


def _speedup(cases: Sequence[CaseResult]) -> float | None:
    """Geometric mean of T_baseline / T_cand; None when a time is not known or is zero."""
    logs = [math.log(case.t_baseline.value_us / case.time.value) for case in cases if case.t_baseline and case.time and case.time.value > 0]
    return math.exp(math.fsum(logs) / len(logs)) if len(logs) == len(cases) else None
