"""T_baseline by simulation: the suite's own plain v0 kernels, called for their time only on the same target (D5)."""

from __future__ import annotations

import threading
from pathlib import Path

from piton.core.canonical import digest
from piton.core.case import Case
from piton.core.errors import EvaluatorError
from piton.core.execution import Build, CaseCall, TensorArgument
from piton.core.measurement import Anchor, AnchorKind
from piton.core.operator import Operator
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
        if not any(sources.operator == operator.name for sources in self._submission.operators):
            return None
        target = self._place.target
        with self._lock:  # one build and one session per operator, shared by all lanes
            build = self._build(operator)
            key = _value_key(target, build.key, operator, case)
            value = _stored(self._store, key) or self._measure(key, build, operator, case)
        return _anchor(target, value)

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

    def _measure(self, key: str, build: Build, operator: Operator, case: Case) -> float:
        execution = self._session(build, operator).call(timing_call(operator, case))
        if execution.outcomes or execution.time is None:
            reason = execution.outcomes[0].message if execution.outcomes else "it has no time"
            raise EvaluatorError(f"the baseline failed: {reason}", where=f"{operator.name}/{case.id}")
        self._store.keep(key, execution.time.value)
        return execution.time.value

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
        return _anchor(self._target, value) if value else None

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


def _stored(store: ValueStore, key: str) -> float | None:
    value = store.load(key)
    return value if isinstance(value, float) and value > 0 else None


def _anchor(target: Target, value_us: float) -> Anchor:
    return Anchor(kind=AnchorKind.T_BASELINE, value_us=value_us, provenance=target.provenance, method=f"plain v0 kernel of the suite on {target.name}")


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
