"""The pipeline: one submission, one suite, one target, one report."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import piton
from piton.catalog import read_submission
from piton.catalog.baseline_file import read_baselines
from piton.catalog.hardware import flat_table, load_hardware
from piton.core import heap
from piton.core.canonical import digest
from piton.core.errors import TargetUnavailableError, UsageError
from piton.core.protocols import Runner, Target
from piton.core.report import CaseResult, Report
from piton.core.suite import Suite
from piton.curate.hidden import hidden_suite, read_key, require_cases
from piton.evaluate.admit import check_trust
from piton.evaluate.anchoring import open_anchors, with_baselines
from piton.evaluate.assemble import Subject, assemble_report
from piton.evaluate.batches import Batches, Keep, Named, Results
from piton.evaluate.build import Workplace
from piton.evaluate.build_ahead import BuiltFirst, PlannedTask
from piton.evaluate.cache import TensorStore
from piton.evaluate.cluster.open import open_crew, run_with_crew
from piton.evaluate.engine_place import isolation_of, with_engine
from piton.evaluate.environment import describe_environment
from piton.evaluate.execute import CaseLane, Evaluation
from piton.evaluate.foreign import SuiteRequest, open_suite
from piton.evaluate.golden_service import GoldenService, GoldenSettings
from piton.evaluate.journal import NAME, Journal
from piton.evaluate.memory import MemoryGuard, available_bytes
from piton.evaluate.planning import Extras, Finished, announce, building, effective_submission, make_extras, plan
from piton.evaluate.policy import Bounds, EvaluationRequest, HiddenRequest
from piton.evaluate.progress import (
    CaseFinished,
    Events,
    HiddenCaseFinished,
    Interrupted,
    Notice,
    StageFinished,
    StageProgress,
    StageStarted,
    ignore,
    one_at_a_time,
)
from piton.evaluate.schedule import never, run_in_lanes
from piton.evaluate.seal import seal_case, seal_report
from piton.evaluate.selection import Selection, select, without_missing
from piton.evaluate.timing import AnchorBook
from piton.evaluate.types import check_types
from piton.targets.cpu.host import NAME as CPU
from piton.targets.cpu.target import open_cpu
from piton.targets.null import NAME as NULL
from piton.targets.null import NullTarget

_IDLE_BYTES = 32 << 20
"""What comparisons leave for the next ones."""


def evaluate(request: EvaluationRequest, events: Events = ignore) -> Report:
    """Evaluate a submission on the target that the request names. Raises PitonError for what the caller has to put right.

    A failure of the submission is in the report; so is what we could not evaluate (void), which makes the report incomplete.
    """
    from piton.evaluate.sandbox import make_runner

    events = one_at_a_time(events)
    target = open_target(request, events)
    runner = make_runner(demanded=request.isolation, engine=request.engine)
    try:
        if target.name != NULL:  # which may never need a worker
            runner.start_early()
        return evaluate_on(target, runner, request, events)
    finally:
        runner.close()


def evaluate_on(target: Target, runner: Runner, request: EvaluationRequest, events: Events = ignore, is_stopped: Callable[[], bool] = never) -> Report:
    """`evaluate` on a given target, with a given starter of processes; once `is_stopped` says so, what is left is reported as interrupted."""
    started = time.monotonic()
    heap.keep(_IDLE_BYTES)
    environment = describe_environment(isolation_of(runner, request.engine), request.jobs)
    place = Workplace(target=target, runner=runner, run_dir=Path(request.run_dir), events=one_at_a_time(events), is_stopped=is_stopped)
    subject = load(request, target, events)
    check_target(target)
    warn_about_key(request, place.events)
    with open_crew(place, subject) as crew, open_journal(subject) as journal:  # before anything that takes long: a run that is stopped there can be resumed
        place = replace(place, crew=crew)
        if journal.remark:
            place.events(Notice(journal.remark))
        prepare_target(place)
        extras = make_extras(place, subject)
        with building(place, subject, extras) as ahead:
            tasks, finished = plan(subject, ahead, journal, extras)
            place.events(announce(subject, tasks, finished))
            anchors, versions = open_anchors(place, subject)
            finished |= run_tasks(replace(place, stop_builds=ahead.stop), subject, journal, tasks, extras, anchors)
            builds = ahead.all()
    finished = {pair: result for pair, result in finished.items() if builds[pair[0]].outcome is None}
    environment = crew.describe(environment) if crew else environment
    environment = environment.model_copy(update={"wall_s": time.monotonic() - started})
    report = assemble_report(subject, builds, finished, environment, versions)
    return report if request.hidden is None else seal_report(report, request.hidden, subject.suite.hidden.partition("/")[0])


def open_target(request: EvaluationRequest, events: Events) -> Target:
    """The target of that name. Raises UsageError for one that Piton does not have."""
    target = named_target(request.target, request.cache_dir, lambda text: events(StageProgress(stage="target", message=text)))
    return with_engine(target, request.engine)


def named_target(name: str, cache_dir: str, progress: Callable[[str], None]) -> Target:
    """The target `name`, or the virtual NPU of the hardware file (.yaml) of that path; `progress` hears of what takes long.

    Raises UsageError for one that Piton does not have.
    """
    if name == NULL:
        return NullTarget()
    if name == CPU:
        return open_cpu(cache_dir, progress)
    from piton.targets.registry import hardware_name, resolve_simulated, resolve_target

    if name.endswith((".yaml", ".yml")):
        own = load_hardware(name)
        return resolve_simulated(own, flat_table(own), cache_dir, progress)
    hardware = load_hardware(hardware_name(name))
    return resolve_target(name, hardware, flat_table(hardware), cache_dir, progress)


def suite_request(request: EvaluationRequest) -> SuiteRequest:
    """The part of the request that says which suite."""
    return SuiteRequest(
        suite=request.suite,
        cache_dir=request.cache_dir,
        format=request.suite_format,
        budget=request.suite_budget,
        is_trusted=request.is_trusted,
        operators=request.operators,
        levels=request.levels,
    )


def load(request: EvaluationRequest, target: Target, events: Events = ignore) -> Subject:
    """Read suite and submission. Of either nothing has run when this returns, but tasks of a trusted foreign suite that had to be described."""
    suite = open_suite(suite_request(request), lambda text: events(StageProgress(stage="suite", message=text)))
    check_trust(suite, is_trusted=request.is_trusted)
    if request.hidden is not None:
        suite = with_hidden_cases(suite, request)
    selection = select(suite, request)
    if request.hidden is not None:
        require_cases(selection.members)
    submission = read_submission(Path(request.submission), Path(request.run_dir) / "submission")
    selection = without_missing(selection, submission, suite, request)
    if request.hidden is not None:
        selection = without_names(selection, request.hidden)
    check_types(selection, target.name, target.hardware)
    filed = read_baselines(request.baseline) if request.baseline else None
    if filed is not None:
        selection = with_baselines(selection, filed, suite, target)
    return Subject(request=request, suite=suite, selection=selection, submission=submission, target=target, filed=filed)


def with_hidden_cases(suite: Suite, request: EvaluationRequest) -> Suite:
    """The suite with the hidden cases of the request's key. Raises UsageError for a key that is none, and for extras that would write cases down."""
    assert request.hidden is not None
    if request.hidden.detail != "all" and (request.keeps_failures or request.timelines is not None):
        name = "--keep-failures" if request.keeps_failures else "--trace"
        raise UsageError(f"{name} would write hidden cases down", action="add --reveal if that is wanted, or leave it out")
    return hidden_suite(suite, read_key(Path(request.hidden.key_file).expanduser()), request.hidden.count)


def without_names(selection: Selection, hidden: HiddenRequest) -> Selection:
    """The selection whose remarks for the report do not name single cases, unless these are revealed."""
    if hidden.detail == "all" or not selection.remarks:
        return selection
    return replace(selection, remarks=("partial: filters left out operators or hidden cases; such a report does not rank",))


def warn_about_key(request: EvaluationRequest, events: Events) -> None:
    """Say so when the key file is open to others."""
    warning = read_key(Path(request.hidden.key_file).expanduser()).warning if request.hidden else ""
    if warning:
        events(Notice(f"warning: {warning}"))


def check_request(request: EvaluationRequest) -> None:
    """Raise what the evaluation would raise before it builds anything; for a caller who is about to replace the results of an earlier run."""
    target = open_target(request, ignore)
    with tempfile.TemporaryDirectory(prefix="piton-") as scratch:
        load(request.model_copy(update={"run_dir": scratch}), target)
    check_target(target)


def check_target(target: Target) -> None:
    """Raises TargetUnavailableError that lists everything this machine lacks."""
    missing = (*target.toolchain.missing(), *target.device.missing())
    if missing:
        raise TargetUnavailableError(f"target {target.name} can't run here", found="; ".join(missing), action="install what is missing, see `piton doctor`")


def prepare_target(place: Workplace) -> None:
    """Build what is the target's own. Raises TargetUnavailableError when this machine lacks something for it."""
    target = place.target
    place.events(StageStarted(stage="target", subject=target.name))
    target.toolchain.prepare(place.runner)
    place.events(StageFinished(stage="target", subject=target.name))


def open_journal(subject: Subject) -> Journal:
    """The journal of the run folder, for exactly this evaluation."""
    request, target = subject.request, subject.target
    identity = [piton.__version__, subject.suite.digest(), subject.submission.digest(), target.name, target.hardware.digest(), request.identity()]
    identity += [subject.filed.digest()] if subject.filed else []
    return Journal(Path(request.run_dir) / NAME, digest(identity), is_resumed=request.is_resumed)


def run_tasks(place: Workplace, subject: Subject, journal: Journal, tasks: list[PlannedTask], extras: Extras, anchors: AnchorBook) -> Finished:
    """Run all tasks in lanes; on Ctrl-C what is finished comes back, and the rest is reported as interrupted."""

    hidden = subject.request.hidden
    is_sealed, is_silent = hidden is not None and hidden.detail != "all", hidden is not None and hidden.detail == "counts"

    def keep(task: Named, result: CaseResult) -> None:
        kept = seal_case(result) if is_sealed else result
        journal.append(task.key, kept)
        place.events(HiddenCaseFinished(task.operator.name) if is_silent else CaseFinished(kept))

    if place.crew is not None:
        results, is_interrupted = run_with_crew(place, tasks, extras.failures, keep)
    else:
        with shared_parts(place, subject, tasks, anchors) as (goldens, guard):

            def run(some: Sequence[PlannedTask], take: Keep) -> Results:
                shared = Evaluation(subject.request, place, effective_submission(subject), goldens, anchors, guard, take, extras.failures, extras.traces)
                return run_in_lanes(some, subject.request.jobs, partial(_lane, shared), place.is_stopped)

            results, is_interrupted = Batches(place.target, place.runner, run, keep).all(tasks)
    finished = {(result.operator, result.case.id): result for result in results if result is not None}
    if is_interrupted:
        place.events(Interrupted(remaining=len(tasks) - len(finished) - sum(task.is_unbuildable for task in tasks)))
    return finished


def _lane(shared: Evaluation, number: int) -> BuiltFirst:
    return BuiltFirst(CaseLane(number, shared), shared.place.stop_builds)


@contextmanager
def shared_parts(place: Workplace, subject: Subject, tasks: list[PlannedTask], anchors: AnchorBook) -> Iterator[tuple[GoldenService, MemoryGuard]]:
    """What all lanes of this process share; ends the processes of `anchors` as well."""
    request, suite = subject.request, subject.suite
    cache = Path(request.cache_dir)
    guard = MemoryGuard(int(available_bytes() * request.bounds.memory_share))
    store = TensorStore(cache / "golden", 0 if request.hidden else _golden_cap_bytes(cache, request.bounds))  # hidden values never reach the disk
    settings = GoldenSettings(suite.version, request.seed, (suite.root,), request.bounds.golden_deadline_s)
    ahead = [(task.operator, task.case) for task in tasks]
    with GoldenService(place.runner, store, settings, guard, workers=_golden_workers(request.jobs)) as goldens:
        try:
            goldens.expect(ahead)
            yield goldens, guard
        finally:
            anchors.close()


def _golden_cap_bytes(cache: Path, bounds: Bounds) -> int:
    """The cap of the request, but never more than half of what the disk has left."""
    cache.mkdir(parents=True, exist_ok=True)
    return min(bounds.golden_cache_bytes, shutil.disk_usage(cache).free // 2)


def _golden_workers(jobs: int) -> int:
    """One ahead of every lane, as far as there are cores."""
    return max(1, min(jobs, os.cpu_count() or 1))
