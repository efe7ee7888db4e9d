"""T_baseline by simulation: the suite's own plain v0 kernels, called for their time only on the same target (D5).

What is kept of a case is its time and the kind of call that it was (`core.fidelity.regime`), which tells how far the time can be trusted.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

from pydantic import Field, ValidationError

from piton.core.canonical import digest
from piton.core.case import Case
from piton.core.errors import EvaluatorError, ProcessLostError
from piton.core.execution import Build, CaseCall, TensorArgument
from piton.core.fidelity import regime
from piton.core.measurement import Anchor, AnchorKind, Measurement, Provenance
from piton.core.operator import Frozen, Operator
from piton.core.protocols import Session, Target
from piton.core.submission import Submission
from piton.evaluate.arguments import all_attributes, argument_order
from piton.evaluate.build import Workplace, build_with_progress
from piton.evaluate.cache import ValueStore

FOLDER = "baselines"
"""Folder of the plain submission inside a suite of ours."""
_BUDGET_CYCLES = 20_000_000_000
"""A baseline is trusted; this only ends a run that our own mistake made endless (11 s at 1.8 GHz)."""


class SimulatedBaselines:
    """Times of a baseline submission, cached by content: build, hardware and case."""

    def __init__(self, place: Workplace, submission: Submission, store: ValueStore) -> None:
        self._place = place
        self._submission = submission
        self._store = store
        self._lock = threading.Lock()
        self._builds: dict[str, Build] = {}
        self._sessions: dict[str, Session] = {}

    def anchor(self, operator: Operator, case: Case) -> Anchor | None:
        """T_baseline of a case, or None for an operator without a baseline. Raises EvaluatorError if the baseline fails: that is our mistake."""
        value = self.time(operator, case)
        return None if value is None else _anchor(value, self.version)

    @property
    def version(self) -> str:
        """How scores name these baselines."""
        return _version(self._place.target, self._submission)

    @property
    def submission_digest(self) -> str:
        """Which kernels they are."""
        return self._submission.digest()

    def has(self, operator: Operator) -> bool:
        """True for an operator with a plain kernel."""
        return any(sources.operator == operator.name for sources in self._submission.operators)

    def time(self, operator: Operator, case: Case) -> Measurement | None:
        """The time of a case, as `anchor` has it."""
        if not self.has(operator):
            return None
        target = self._place.target
        with self._lock:  # one build and one session per operator, shared by all lanes
            build = self._build(operator)
            key = _value_key(target, build.key, operator, case)
            value = _stored(self._store, key) or self._measure(key, build, operator, case)
        return _measurement(target, value)

    def close(self) -> None:
        """End the processes of all baselines."""
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            session.close()

    def _build(self, operator: Operator) -> Build:
        if operator.name not in self._builds:
            self._builds[operator.name] = build_with_progress(self._place, self._submission, operator, "baseline")
        build = self._builds[operator.name]
        if build.outcome is not None:
            raise EvaluatorError(f"the baseline does not build: {build.outcome.message}", where=str(Path(self._submission.root) / str(build.outcome.place)))
        return build

    def _measure(self, key: str, build: Build, operator: Operator, case: Case) -> _Stored:
        try:
            execution = self._session(build, operator).call(timing_call(operator, case))
            if execution.is_killed:
                raise ProcessLostError("a process of the baseline was ended from outside", where=f"{operator.name}/{case.id}")
            if execution.outcomes or execution.time is None:
                reason = execution.outcomes[0].message if execution.outcomes else "it has no time"
                raise EvaluatorError(f"the baseline failed: {reason}", where=f"{operator.name}/{case.id}")
        except EvaluatorError:
            self._end_session(operator)  # whatever state it is in, the next case must not see it
            raise
        value = _Stored(time_us=execution.time.value, regime=regime(execution.launches, execution.time.value) or "")
        self._store.keep(key, value.model_dump())
        return value

    def _end_session(self, operator: Operator) -> None:
        session = self._sessions.pop(operator.name, None)
        if session is not None:
            with suppress(EvaluatorError):
                session.close()

    def _session(self, build: Build, operator: Operator) -> Session:
        if operator.name not in self._sessions:
            self._sessions[operator.name] = self._place.target.device.open(self._submission, operator, build, self._place.runner)
        return self._sessions[operator.name]


class KnownBaselines:
    """Simulated baselines that an evaluation left in the cache: nothing is built or run to find them."""

    def __init__(self, target: Target, submission: Submission, store: ValueStore, scratch: Path) -> None:
        """`scratch` takes copies of sources, to name what a build of them would be."""
        self._target = target
        self._submission = submission
        self._store = store
        self._scratch = scratch
        self._keys: dict[str, str] = {}

    def anchor(self, operator: Operator, case: Case) -> Anchor | None:
        """T_baseline of a case, or None when no evaluation has simulated it yet."""
        key = self._build_key(operator)
        value = _stored(self._store, _value_key(self._target, key, operator, case)) if key else None
        return _anchor(_measurement(self._target, value), _version(self._target, self._submission)) if value else None

    @property
    def version(self) -> str:
        """How scores name these baselines."""
        return _version(self._target, self._submission)

    def close(self) -> None:
        """Nothing was started."""

    def _build_key(self, operator: Operator) -> str:
        if operator.name not in self._keys:
            is_ready = not self._target.toolchain.missing()  # without a compiler a build has no name
            self._keys[operator.name] = self._target.toolchain.key(self._submission, operator, str(self._scratch)) if is_ready else ""
        return self._keys[operator.name]


def _value_key(target: Target, build_key: str, operator: Operator, case: Case) -> str:
    call = [argument_order(operator), all_attributes(operator, case)]  # defaults are the operator's, not the case's
    return digest([build_key, target.name, target.hardware.digest(), case.digest(), call])


class _Stored(Frozen):
    """What the cache keeps of one case."""

    time_us: float = Field(gt=0, allow_inf_nan=False)
    regime: str
    """Empty for a call unlike anything that was measured."""


def _stored(store: ValueStore, key: str) -> _Stored | None:
    """What is kept; None where there is nothing, or something of an older form."""
    try:
        return _Stored.model_validate(store.load(key))
    except ValidationError:
        return None


def _measurement(target: Target, value: _Stored) -> Measurement:
    band = target.hardware.fidelity.get(value.regime) if target.provenance is Provenance.SIMULATED else None
    return Measurement(
        samples=(value.time_us,),
        provenance=target.provenance,
        method=f"plain v0 kernel of the suite on {target.name}",
        interval=band.around(value.time_us) if band else None,
    )


def _anchor(time: Measurement, version: str) -> Anchor:
    return Anchor(kind=AnchorKind.T_BASELINE, value_us=time.value, provenance=time.provenance, method=time.method, version=version, interval=time.bounds)


def _version(target: Target, submission: Submission) -> str:
    return f"plain kernels {submission.digest()[:12]} simulated with {target.toolchain.identity}"


def timing_call(operator: Operator, case: Case) -> CaseCall:
    """A call that needs no data: sizes only."""
    tensors = tuple(TensorArgument(item.argument, item.shape, item.dtype, None, list_index=item.list_index) for item in case.inputs)
    return CaseCall(
        case_id=case.id,
        tensors=tensors,
        order=argument_order(operator),
        attributes=all_attributes(operator, case),
        omitted=case.omitted,
        budget_cycles=_BUDGET_CYCLES,
        is_timing_only=True,
    )
