"""What a worker does on its machine: everything that a local run has, made from an order; then one case per task.

Nothing of it knows how orders and tasks arrive. Folders, below the cache folder of the machine: `cluster/parcels/<digest>` (kept for later runs),
`cluster/runs/<name>` (gone with the worker; that of one that was killed goes with the next worker).
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from piton.core.errors import EvaluatorError, StorageError, TargetUnavailableError
from piton.core.execution import Build
from piton.core.fault import Fault
from piton.core.operator import Operator
from piton.core.protocols import Target
from piton.core.report import CaseResult
from piton.evaluate.admit import find_refusals
from piton.evaluate.anchoring import open_anchors
from piton.evaluate.assemble import Subject
from piton.evaluate.build import Workplace, build_operator
from piton.evaluate.cluster.brought import TensorsOnly, collect
from piton.evaluate.cluster.order import Reply, WorkOrder, here, moved, package_root, placed
from piton.evaluate.cluster.parcel import locked, unpack
from piton.evaluate.engine_place import isolation_of
from piton.evaluate.execute import CaseLane, CaseTask, Evaluation
from piton.evaluate.overlap import whole
from piton.evaluate.progress import Event, Notice, ignore
from piton.evaluate.retry import Trouble
from piton.evaluate.selection import Selection

_FOLDER = "cluster"
_NOTHING_SELECTED = Selection(members=(), left_out=())


class NodeWork:
    """One worker's share of an evaluation. Several tasks may be given at once; as many as the request has jobs are evaluated at the same time."""

    def __init__(self, order: WorkOrder, fetch: Callable[[str], bytes], cache: Path) -> None:
        """Set everything up; `fetch` gets the content of a parcel that this machine lacks. Raises PitonError for what is missing here."""
        self._order = order
        self._stack = ExitStack()
        self._notices: list[str] = []
        self._builds: dict[str, Build] = {}
        self._building = threading.Lock()
        try:
            self._open(fetch, cache)
        except BaseException:
            self.close()
            raise

    @property
    def place(self) -> str:
        """Machine and process, for people."""
        return f"{platform.node()} (process {os.getpid()})"

    @property
    def isolation(self) -> tuple[str, ...]:
        """The mechanisms in force around submissions here."""
        return isolation_of(self._shared.place.runner, self._shared.request.engine)

    def evaluate(self, task: CaseTask) -> Reply:
        """Evaluate one case; what could not be evaluated is a void in the result, or said as trouble: an error has no good way to another machine."""
        try:
            return self._evaluated(task)
        except EvaluatorError as error:
            return Reply(trouble=Trouble(error.fault, str(error)))
        except (StorageError, OSError) as error:
            return Reply(trouble=Trouble(Fault.STORAGE if isinstance(error, StorageError) else Fault.MACHINE, f"{self.place}: {error}"))

    def _evaluated(self, task: CaseTask) -> Reply:
        own = replace(task, operator=moved(task.operator, self._order.suite.root, self._suite_root))
        build = self._build(own.operator)
        if build.outcome is not None or build.key != task.build.key:
            return Reply(refusal=_other_build(task, build))
        self._shared.goldens.prefetch(own.operator, own.case)  # beside the cases that keep the lanes busy
        with self._lanes.borrow(own.operator.name) as lane:
            result = whole(lane.run(replace(own, build=build)))
            files = collect(self._shared.place.run_dir, own.operator.name, own.case.id)
        return Reply(result, notices=self._told(), files=files)

    def close(self) -> None:
        """End all processes and remove the run's folder; safe to call twice."""
        self._stack.close()

    def _open(self, fetch: Callable[[str], bytes], cache: Path) -> None:
        from piton.evaluate.pipeline import open_target, shared_parts
        from piton.evaluate.planning import effective_submission, make_extras
        from piton.evaluate.sandbox import make_runner

        order = self._order
        folder = self._stack.enter_context(_run_folder(cache / _FOLDER / "runs"))
        store = cache / _FOLDER / "parcels"
        sources = unpack(order.submission_parcel, store, lambda: fetch(order.submission_parcel))
        self._suite_root = self._find_suite(store, fetch)
        submission, suite = placed(order, sources, self._suite_root)
        request = here(order, folder, cache)
        target = open_target(request, ignore)
        _check_hardware(target, order)
        runner = make_runner(demanded=request.isolation, engine=request.engine)
        self._stack.callback(runner.close)
        place = Workplace(target, runner, folder, self._hear)
        subject = Subject(request=request, suite=suite, selection=_NOTHING_SELECTED, submission=submission, target=target, filed=order.filed)
        self._lock_path = cache / _FOLDER / "build.lock"
        self._prepare(place)
        anchors, _ = open_anchors(place, subject)
        goldens, guard = self._stack.enter_context(shared_parts(place, subject, [], anchors))
        self._refusals = find_refusals(submission)
        failures = TensorsOnly(folder, request, submission, self._hear) if request.keeps_failures else None
        bare = replace(subject, request=request.model_copy(update={"keeps_failures": False}))
        traces = make_extras(place, bare).traces
        self._shared = Evaluation(request, place, effective_submission(subject), goldens, anchors, guard, _nobody, failures, traces)
        self._lanes = _Lanes([CaseLane(number, self._shared) for number in range(request.jobs)])
        self._stack.callback(self._lanes.close)

    def _find_suite(self, store: Path, fetch: Callable[[str], bytes]) -> str:
        wanted = self._order.suite_parcel
        return str(unpack(wanted, store, lambda: fetch(wanted))) if wanted else package_root(self._order.suite_in_package)

    def _prepare(self, place: Workplace) -> None:
        """Build what is the target's own: once on this machine, whoever of its workers is first. Raises TargetUnavailableError for what it lacks."""
        from piton.evaluate.pipeline import check_target

        check_target(place.target)
        with locked(self._lock_path):
            place.target.toolchain.prepare(place.runner)

    def _build(self, operator: Operator) -> Build:
        """The build of an operator: compiled once on this machine, since the cache of builds is shared and only one worker fills it at a time."""
        with self._building:
            if operator.name not in self._builds:
                with locked(self._lock_path):
                    self._builds[operator.name] = build_operator(self._shared.place, self._shared.submission, operator, self._refusals)
            return self._builds[operator.name]

    def _hear(self, event: Event) -> None:
        if isinstance(event, Notice):
            self._notices.append(event.message)

    def _told(self) -> tuple[str, ...]:
        told, self._notices = tuple(self._notices), []
        return told


class _Lanes:
    """The lanes of a worker; a task goes to one that has a session of its operator already, if such a lane is free."""

    def __init__(self, lanes: list[CaseLane]) -> None:
        self._all = lanes
        self._idle: list[tuple[str, CaseLane]] = [("", lane) for lane in lanes]
        self._changed = threading.Condition()

    @contextmanager
    def borrow(self, operator: str) -> Iterator[CaseLane]:
        """A lane of one's own; waits until one is free."""
        with self._changed:
            self._changed.wait_for(lambda: self._idle)
            found = next((item for item in self._idle if item[0] == operator), self._idle[0])
            self._idle.remove(found)
        try:
            yield found[1]
        finally:
            with self._changed:
                self._idle.append((operator, found[1]))
                self._changed.notify()

    def close(self) -> None:
        """End the sessions of all lanes, busy ones included."""
        for lane in self._all:
            lane.interrupt()


@contextmanager
def _run_folder(root: Path) -> Iterator[Path]:
    """A folder of this worker's own, locked as long as it lives; those of workers that were killed are removed."""
    root.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        with locked(root.with_name(f"{root.name}.lock")):  # a folder that is just being made has no lock of its own yet, or a free one
            for left in root.iterdir():
                _remove_if_left(left)
            folder = Path(tempfile.mkdtemp(dir=root))
            held = stack.enter_context((folder / ".lock").open("wb"))
            fcntl.flock(held, fcntl.LOCK_EX)
        folder.chmod(0o755)  # jobs of a sandbox are another user
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_if_left(folder: Path) -> None:
    """Remove a folder that no process holds."""
    with suppress(OSError), (folder / ".lock").open("rb") as lock:  # another process has it
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)


def _check_hardware(target: Target, order: WorkOrder) -> None:
    found = target.hardware.digest()
    if found != order.hardware_digest:
        problem = f"target {target.name} is other hardware there ({found[:12]} instead of {order.hardware_digest[:12]}), and times of both can't be compared"
        raise TargetUnavailableError(problem)


def _nobody(task: CaseTask, result: CaseResult) -> None:
    """The driver takes what is finished."""
    del task, result


def _other_build(task: CaseTask, build: Build) -> str:
    """Why the builds of driver and worker are not the same."""
    found = build.outcome.message if build.outcome else f"build {build.key[:12]} instead of {task.build.key[:12]}"
    return f"{task.operator.name} builds to something else there ({found}): the compilers differ, or torch does"
