"""T_baseline by the model: traces of goldens from the cache or from a golden worker, and their prices (docs/baselines.md)."""

from __future__ import annotations

import tempfile
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from piton.anchors.eager import kind, modelled_baseline, price_us, quantities
from piton.catalog.eager_constants import load_eager_constants
from piton.core.canonical import digest
from piton.core.case import Case
from piton.core.eager import EagerConstants, EagerTrace, Launch
from piton.core.errors import EvaluatorError
from piton.core.fault import TRANSIENT
from piton.core.hardware import Hardware
from piton.core.measurement import Anchor
from piton.core.operator import Frozen, Operator
from piton.core.protocols import Runner
from piton.core.suite import Suite
from piton.evaluate.arguments import filled_case
from piton.evaluate.cache import TensorStore, ValueStore
from piton.evaluate.golden_service import GoldenService, GoldenSettings, generator_digest
from piton.evaluate.memory import MemoryGuard, available_bytes

FOLDER = "eager"
"""Traces inside the cache folder."""
_DEADLINE_S = 60.0
"""Of one trace: the longest of ours takes 3 s with the start of torch."""


class TraceMaker(Protocol):
    """Runs goldens for their traces."""

    def trace(self, operator: Operator, case: Case) -> EagerTrace:
        """The trace of a case. Raises EvaluatorError when it can't be made."""
        ...

    def close(self) -> None:
        """End what was started."""
        ...


class TraceBook:
    """Traces by case, each made once."""

    def __init__(self, store: ValueStore | None, suite_version: str, make: TraceMaker | None) -> None:
        """Without `store` nothing is kept (hidden cases); without `make` only what is kept is known, and nothing runs."""
        self._store = store
        self._suite_version = suite_version
        self._make = make
        self._failed: dict[str, str] = {}

    def trace(self, operator: Operator, case: Case) -> EagerTrace | None:
        """The trace of a case; one with a refusal when the golden can't be traced; None when it is not kept and nothing may run.

        Raises EvaluatorError when the worker failed: a time limit, a lack of memory. Another run may do better, so that nothing may stand in for the trace:
        the same work would have another T_baseline then. It is tried once per run.
        """
        key = self._key(operator, case)
        if key in self._failed:
            raise EvaluatorError(self._failed[key], where=f"{operator.name}/{case.id}")
        kept = self._kept(key)
        if kept is not None or self._make is None:
            return kept
        try:
            made = self._make.trace(operator, case)
        except EvaluatorError as error:
            if error.fault in TRANSIENT:  # another try is due
                raise
            self._failed[key] = f"the golden could not be traced: {error.problem}" + (f" ({error.found})" if error.found else "")
            raise EvaluatorError(self._failed[key], where=f"{operator.name}/{case.id}") from error
        if self._store is not None:
            self._store.keep(key, made.model_dump(mode="json"))
        return made

    def close(self) -> None:
        """End what was started for traces."""
        if self._make is not None:
            self._make.close()

    def _key(self, operator: Operator, case: Case) -> str:
        return digest(["eager trace", generator_digest(), operator.digest(), case.digest(), self._suite_version])

    def _kept(self, key: str) -> EagerTrace | None:
        try:
            return EagerTrace.model_validate(self._store.load(key)) if self._store else None
        except ValidationError:  # nothing there, or damaged: a miss
            return None


class EagerBaselines:
    """T_baseline by the model, for the cases of one suite on one chip."""

    def __init__(self, book: TraceBook, constants: EagerConstants, hardware: Hardware) -> None:
        self._book = book
        self._constants = constants
        self._hardware = hardware

    def __call__(self, operator: Operator, case: Case) -> Anchor | None:
        """T_baseline of a case, or None when the model does not know the operator, or its trace is not known. Raises EvaluatorError as `TraceBook.trace`."""
        trace = self._book.trace(operator, case)
        return self._price(operator, case, trace) if trace else None

    def _price(self, operator: Operator, case: Case, trace: EagerTrace) -> Anchor | None:
        return modelled_baseline(operator, filled_case(operator, case), trace, self._constants, self._hardware)

    @property
    def version(self) -> str:
        """How scores name these baselines."""
        return self._constants.title

    def view(self, operator: Operator, case: Case) -> EagerView | None:
        """The price of a case, explained; None where there is none, or no trace could be made (`refusal` says why)."""
        try:
            trace = self._book.trace(operator, case)
        except EvaluatorError:
            return None
        anchor = self._price(operator, case, trace) if trace else None
        found = quantities(operator, filled_case(operator, case), trace, self._hardware) if trace else None
        if anchor is None or trace is None or found is None:
            return None
        return EagerView(
            anchor=anchor,
            constants=self._constants,
            origin=found.origin,
            refusal=trace.refusal,
            is_on_data=trace.is_on_data,
            terms_us=price_us(found, self._constants, self._hardware),
            launches=trace.count,
            views=trace.views,
            golden=tuple(_launch_view(launch) for launch in trace.launches),
        )

    def refusal(self, operator: Operator, case: Case) -> str:
        """Why there is no price although a trace was asked for; empty where there is one, and where no trace is known."""
        try:
            trace = self._book.trace(operator, case)
        except EvaluatorError as error:
            return error.problem
        return trace.refusal if trace and self._price(operator, case, trace) is None else ""

    def close(self) -> None:
        """End the golden worker, if one was started."""
        self._book.close()


class LaunchView(Frozen):
    """Launches of a golden that are alike."""

    operation: str
    """torch's name, such as `aten.mul.Tensor`."""
    kind: str
    """What the model takes it for, such as `elementwise`."""
    count: int
    result: str
    """Element type and shape of what it writes."""
    read_bytes: int
    write_bytes: int
    """Both of one of them."""


class EagerView(Frozen):
    """A modelled T_baseline, explained."""

    anchor: Anchor
    constants: EagerConstants
    origin: str
    """What the price was made from: `trace` or `work formula`."""
    refusal: str
    """Why there is no trace."""
    is_on_data: bool
    terms_us: dict[str, float]
    """What the price is the sum of."""
    launches: int
    views: int
    golden: tuple[LaunchView, ...]
    """Alike ones together, in the order of the golden."""


def _launch_view(launch: Launch) -> LaunchView:
    return LaunchView(
        operation=launch.operation,
        kind=kind(launch),
        count=launch.count,
        result=", ".join(f"{form.dtype} {list(form.shape)}" for form in launch.writes),
        read_bytes=launch.read_bytes,
        write_bytes=launch.write_bytes,
    )


def eager_baselines(suite: Suite, hardware: Hardware, cache_dir: str, traces: Traces) -> EagerBaselines | None:
    """The model for a suite on a chip, or None for a chip without constants. A golden worker starts with the first trace that is not kept."""
    constants = load_eager_constants(hardware.name)
    if constants is None:
        return None
    store = ValueStore(Path(cache_dir) / FOLDER) if traces.are_kept else None
    make = _Worker(suite, traces.runner) if traces.may_run else None
    return EagerBaselines(TraceBook(store, suite.version, make), constants, hardware)


@dataclass(frozen=True)
class Traces:
    """How a command gets traces that it lacks."""

    runner: Runner | None = None
    """Starts the golden worker; None for a runner of its own."""
    may_run: bool = True
    """False: only what an earlier run has kept is known, and nothing runs."""
    are_kept: bool = True
    """False for hidden cases, whose sizes never reach the disk."""


class _Worker:
    """A golden service of one worker that starts when it is asked."""

    def __init__(self, suite: Suite, runner: Runner | None) -> None:
        self._suite = suite
        self._runner = runner
        self._lock = threading.Lock()
        self._service: GoldenService | None = None
        self._endings = ExitStack()

    def trace(self, operator: Operator, case: Case) -> EagerTrace:
        """The trace of a case, one at a time. Raises EvaluatorError."""
        with self._lock:
            if self._service is None:
                self._service = self._start()
            return self._service.trace(operator, case)

    def close(self) -> None:
        """End the worker, and the runner if it is our own; a trace in progress fails."""
        self._endings.close()

    def _start(self) -> GoldenService:
        runner = self._runner
        if runner is None:
            from piton.evaluate.sandbox import make_runner

            runner = make_runner()
            self._endings.callback(runner.close)
        settings = GoldenSettings(self._suite.version, 0, (self._suite.root,), _DEADLINE_S)
        scratch = self._endings.enter_context(tempfile.TemporaryDirectory(prefix="piton-"))
        service = GoldenService(runner, TensorStore(Path(scratch), 0), settings, MemoryGuard(available_bytes()))
        self._endings.callback(service.close)
        return service
