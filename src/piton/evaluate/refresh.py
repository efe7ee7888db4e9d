"""`piton baseline refresh`: measure T_baseline of every case anew, into one versioned set.

On a virtual NPU the suite's plain kernels are called for their time only, case by case; a time that is measured is kept at once (`kept_times`), so a
refresh that was stopped goes on where it was. A submission that is named (the only way on a device) is evaluated like any other, and the times of the cases
that it passes are the baselines: a wrong kernel is no baseline. One bad case is listed with its reason and costs the others nothing.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import piton
from piton.core.baseline import BaselineSet, BaselineTime, case_identity
from piton.core.canonical import digest
from piton.core.case import Case
from piton.core.errors import EvaluatorError, UsageError
from piton.core.measurement import Measurement, Provenance
from piton.core.operator import Operator
from piton.core.protocols import Runner, Target
from piton.core.report import Report
from piton.core.suite import Suite
from piton.core.verdict import LEFT_OUT, Cause, Verdict
from piton.evaluate.anchoring import plain_kernels
from piton.evaluate.baseline_sources import Modelled
from piton.evaluate.baselines import SimulatedBaselines
from piton.evaluate.build import Workplace
from piton.evaluate.cache import ValueStore
from piton.evaluate.eager import EagerBaselines, Traces, eager_baselines
from piton.evaluate.foreign import open_suite
from piton.evaluate.journal import NAME as JOURNAL
from piton.evaluate.journal import DamagedJournalError, OtherEvaluationError
from piton.evaluate.kept_times import SUFFIX, KeptTimes
from piton.evaluate.pipeline import check_target, evaluate_on, open_target, prepare_target, suite_request
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.refresh_request import Hooks, RefreshRequest, beside, check_names, check_out, next_version
from piton.evaluate.selection import select
from piton.evaluate.types import needed_types

_RUN = ".run"
_SHOWN = 3
_NO_TIME = "its time is 0 us, shorter than the clock can tell"


@dataclass
class Measured:
    """What a refresh has found."""

    times: list[BaselineTime] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    lacking: list[str] = field(default_factory=list)
    """Cases of operators that nothing is known of: no plain kernel and no model, or no kernel in the submission."""
    kept: int = 0
    """Times that an earlier refresh, which was stopped, had measured."""
    kernels: tuple[str, str] = ("none", "")
    """Name and digest of what was timed."""


@dataclass(frozen=True)
class Refreshed:
    """The set, and what is not in it."""

    baselines: BaselineSet
    lacking: tuple[str, ...]
    kept: int


def refresh(request: RefreshRequest, hooks: Hooks) -> Refreshed:
    """Measure, and return the set; `finish` is to be called once it is written.

    Raises UsageError for what the caller has to put right and when no case got a time; KeyboardInterrupt when it is stopped, with everything measured kept.
    """
    from piton.evaluate.sandbox import make_runner

    check_out(request)
    target = open_target(request.evaluation, hooks.events)
    runner = make_runner()
    try:
        return refresh_on(target, runner, request, hooks)
    finally:
        runner.close()


def refresh_on(target: Target, runner: Runner, request: RefreshRequest, hooks: Hooks) -> Refreshed:
    """`refresh` on a given target, with a given starter of processes."""
    if not request.evaluation.submission and target.provenance is Provenance.DEVICE:
        problem = f"{target.name} is a device: its baselines are the times of a submission"
        raise UsageError(problem, action="add --submission with the kernels to measure")
    suite = open_suite(suite_request(request.evaluation))
    check_names(request, _name(request, suite, target))
    with tempfile.TemporaryDirectory(prefix="piton-") as scratch:
        place = Workplace(target=target, runner=runner, run_dir=Path(scratch), events=hooks.events)
        measured = _evaluated(request, place, suite) if request.evaluation.submission else _simulated(request, place, suite, hooks)
    if not measured.times:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(measured.failed.items())[:_SHOWN])
        raise UsageError("no case has a baseline", found=reasons or "no kernel for any of them", action="check --op, --case and --submission")
    return Refreshed(_set(request, suite, target, measured), tuple(measured.lacking), measured.kept)


def finish(request: RefreshRequest) -> None:
    """Remove what was kept on the way, now that the file is written."""
    beside(request.out, SUFFIX).unlink(missing_ok=True)
    shutil.rmtree(beside(request.out, _RUN), ignore_errors=True)


def _name(request: RefreshRequest, suite: Suite, target: Target) -> str:
    return request.name or f"{suite.name}-{target.name}"


def _set(request: RefreshRequest, suite: Suite, target: Target, measured: Measured) -> BaselineSet:
    """The set, sealed."""
    now = datetime.now(timezone.utc)
    name = _name(request, suite, target)
    return BaselineSet(
        name=name,
        version=request.version or next_version(request.out.absolute().parent, name, f"{now:%Y-%m-%d}"),
        created=now.isoformat(timespec="seconds"),
        piton=piton.__version__,
        suite=suite.name,
        suite_version=suite.version,
        suite_digest=suite.digest(),
        hardware=target.hardware.name,
        hardware_digest=target.hardware.digest(),
        target=target.name,
        toolchain=target.toolchain.identity,
        submission=measured.kernels[0],
        submission_digest=measured.kernels[1],
        cases=tuple(measured.times),
        failed=measured.failed,
    ).sealed()


def _simulated(request: RefreshRequest, place: Workplace, suite: Suite, hooks: Hooks) -> Measured:
    """The plain kernels of the suite, on the virtual NPU."""
    selection = select(suite, request.evaluation)
    cases = [(member.operator, case) for member in selection.members for case in member.cases if selection.has(case)]
    check_target(place.target)
    with (
        _kernels(place, suite, request.evaluation) as kernels,
        _model(place, suite, request.evaluation) as modelled,
        KeptTimes(beside(request.out, SUFFIX)) as kept,
    ):
        if kernels is None and modelled is None:
            raise UsageError(f"suite {suite.name} has no plain kernels", action="add --submission with the kernels to measure")
        measured = Measured(kernels=("plain kernels of the suite", kernels.submission_digest) if kernels else ("none", ""))
        way = CaseRefresh(place.target, kernels, kept, modelled)
        for number, (operator, case) in enumerate(cases, start=1):
            hooks.told(f"{operator.name}/{case.id}", way.run(operator, case, measured), number, len(cases))
    return measured


@contextmanager
def _kernels(place: Workplace, suite: Suite, request: EvaluationRequest) -> Iterator[SimulatedBaselines | None]:
    """The plain kernels, ready to be timed; None for a suite that has none."""
    prepare_target(place)
    kernels = plain_kernels(place, suite, ValueStore(Path(request.cache_dir) / "baselines"))
    try:
        yield kernels
    finally:
        if kernels is not None:
            kernels.close()


@contextmanager
def _model(place: Workplace, suite: Suite, request: EvaluationRequest) -> Iterator[EagerBaselines | None]:
    """The model, for operators without a plain kernel; None for a chip that it does not know."""
    model = eager_baselines(suite, place.target.hardware, request.cache_dir, Traces(runner=place.runner, may_run=request.is_trusted or not suite.is_foreign))
    try:
        yield model
    finally:
        if model is not None:
            model.close()


@dataclass(frozen=True)
class CaseRefresh:
    """How one case gets its time."""

    target: Target
    kernels: SimulatedBaselines | None
    kept: KeptTimes
    modelled: Modelled | None

    def run(self, operator: Operator, case: Case, measured: Measured) -> str:
        """Add the case to what was found; what became of it, in a few words."""
        name = f"{operator.name}/{case.id}"
        try:
            time = self._time(operator, case, measured)
        except EvaluatorError as error:
            measured.failed[name] = str(error)
            return f"failed: {error}"
        if time is None:
            measured.lacking.append(name)
            return "no kernel, and the model does not know it"
        if time.value <= 0:
            measured.failed[name] = _NO_TIME
            return f"failed: {_NO_TIME}"
        measured.times.append(BaselineTime(operator=operator.name, case=case.id, identity=case_identity(operator, case), time=time))
        return f"{time.value:.2f} us {time.provenance.value}"

    def _time(self, operator: Operator, case: Case, measured: Measured) -> Measurement | None:
        absent = [dtype.value for dtype in needed_types(operator, case) if dtype in self.target.hardware.absent_types]
        if absent:
            raise EvaluatorError(f"{self.target.hardware.name} has no {absent[0]}")
        if self.kernels is None or not self.kernels.has(operator):
            return self._modelled(operator, case)
        key = digest([self.kernels.version, self.target.name, self.target.hardware.digest(), case_identity(operator, case)])
        found = self.kept.find(key)
        if found is not None:
            measured.kept += 1
            return found
        time = self.kernels.time(operator, case)
        if time is not None:
            self.kept.keep(key, time)
        return time

    def _modelled(self, operator: Operator, case: Case) -> Measurement | None:
        anchor = self.modelled(operator, case) if self.modelled else None
        if anchor is None:
            return None
        return Measurement(samples=(anchor.value_us,), provenance=anchor.provenance, method=anchor.method, interval=anchor.interval)


def _evaluated(request: RefreshRequest, place: Workplace, suite: Suite) -> Measured:
    """The times of a submission, from an evaluation of it. Raises KeyboardInterrupt when that was stopped: its journal is kept."""
    run_dir = beside(request.out, _RUN).absolute()
    evaluation = request.evaluation.model_copy(update={"run_dir": str(run_dir), "is_resumed": (run_dir / JOURNAL).is_file()})
    try:
        report = evaluate_on(place.target, place.runner, evaluation, place.events)
    except OtherEvaluationError:
        shutil.rmtree(run_dir)
        report = evaluate_on(place.target, place.runner, evaluation.model_copy(update={"is_resumed": False}), place.events)
    except DamagedJournalError as error:
        action = f"delete the folder {run_dir} and measure anew; times that this journal still holds are lost"
        raise UsageError(error.problem, where=error.where, found=error.found, action=action) from error
    if any(case.outcome.cause is Cause.INTERRUPTED for item in report.operators for case in item.cases):
        raise KeyboardInterrupt
    measured = times_of(report, suite)
    measured.lacking += _lacking(report, suite, evaluation)
    return measured


def _lacking(report: Report, suite: Suite, request: EvaluationRequest) -> list[str]:
    """The cases of operators that the submission does not have, as far as they were asked for."""
    if not report.missing_operators:
        return []
    selection = select(suite, request)
    absent = [member for member in selection.members if member.operator.name in report.missing_operators]
    return [f"{member.operator.name}/{case.id}" for member in absent for case in member.cases if selection.has(case)]


def times_of(report: Report, suite: Suite) -> Measured:
    """The times of the cases that a submission passed, and why the others have none."""
    measured = Measured(kernels=(report.submission, report.submission_digest))
    for item in report.operators:
        member = suite.member(item.operator)
        cases = {case.id: case for case in member.cases} if member else {}
        for result in item.cases:
            if result.outcome.cause in LEFT_OUT:
                continue
            if member is None or result.case.id not in cases or result.time is None or result.outcome.verdict is not Verdict.PASSED:
                reason = result.void or result.outcome.message
                measured.failed[f"{item.operator}/{result.case.id}"] = f"{result.outcome.verdict.value}: {reason}".removesuffix(": ")
                continue
            if result.time.value <= 0:
                measured.failed[f"{item.operator}/{result.case.id}"] = _NO_TIME
                continue
            identity = case_identity(member.operator, cases[result.case.id])
            measured.times.append(BaselineTime(operator=item.operator, case=result.case.id, identity=identity, time=result.time))
    return measured
