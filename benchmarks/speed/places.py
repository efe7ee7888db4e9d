"""What does an engine in a process of its own cost? Add and Gelu of float16, each with the engine beside device code and apart from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from figures import Figure
from rig import ROOT, Rig

from piton.catalog import load_suite, read_submission
from piton.core.dtype import DType
from piton.core.execution import CaseCall, Execution, TensorArgument
from piton.core.operator import Operator
from piton.core.protocols import Session

ROUNDS = 5
SHAPE = (4096, 4096)
FIDELITY = ROOT / "kernels" / "fidelity"
SLOWEST_SHARE = 1 / 3
"""Of the rate beside device code: what the own process has to reach."""


@dataclass(frozen=True)
class Subject:
    """A kernel and one call of it."""

    name: str
    suite: str
    submission: Path
    operator: str
    inputs: tuple[str, ...]
    attributes: dict[str, float | int | str]
    lowest_rate: float
    """M elements/s of one core that the project promises with the engine beside device code."""

    def call(self) -> CaseCall:
        """The same numbers every time."""
        values = [np.random.default_rng(seed).standard_normal(SHAPE, np.float32).astype(np.float16) for seed in range(len(self.inputs))]
        tensors = tuple(TensorArgument(name, SHAPE, DType.FLOAT16, memoryview(data).cast("B")) for name, data in zip(self.inputs, values, strict=True))
        return CaseCall("bench", tensors, (*self.inputs, *self.attributes), dict(self.attributes))


SUBJECTS = (
    Subject("Add", str(FIDELITY / "suite"), FIDELITY / "add_high_performance", "", ("x", "y"), {"variant": 6}, 300.0),
    Subject("Gelu", "piton", ROOT / "kernels" / "reference", "gelu", ("x",), {"approximate": "none"}, 100.0),
)


def measure(rig: Rig) -> list[Figure]:
    """Rates in both places, and their ratio."""
    return [figure for subject in SUBJECTS for figure in _figures(rig, subject)]


def _figures(rig: Rig, subject: Subject) -> list[Figure]:
    members = load_suite(subject.suite).members
    operator = next(item.operator for item in members if subject.operator in ("", item.operator.name))
    rates = {place: _rates(rig, subject, operator, is_apart=place == "own process") for place in ("in process", "own process")}
    method = f"float16 {SHAPE[0]} x {SHAPE[1]}; elements by the wall time of one launch: device code, execution, hazards, replay; {ROUNDS} calls"
    bounds = {"in process": subject.lowest_rate, "own process": subject.lowest_rate * SLOWEST_SHARE}
    made = [Figure(f"{subject.name} fp16 16M, engine {place}", "M elements/s", found, method, bounds[place], is_rate=True) for place, found in rates.items()]
    share = max(rates["own process"]) / max(rates["in process"])
    return [*made, Figure(f"{subject.name}: own process by in process", "ratio", (share,), "of the best rates above", SLOWEST_SHARE, is_rate=True)]


def _rates(rig: Rig, subject: Subject, operator: Operator, *, is_apart: bool) -> tuple[float, ...]:
    target = rig.target.with_engine_apart() if is_apart else rig.target
    place = rig.fresh("place")
    submission = read_submission(subject.submission, place / "submission")
    build = target.toolchain.build(submission, operator, rig.runner, str(place / "build"))
    if build.outcome is not None:
        raise RuntimeError(f"{subject.name} was not built: {build.outcome.message}")
    session = target.device.open(submission, operator, build, rig.runner)
    try:
        return _measured(session, subject.call)
    finally:
        session.close()


def _measured(session: Session, call: Callable[[], CaseCall]) -> tuple[float, ...]:
    elements = SHAPE[0] * SHAPE[1] / 1e6
    return tuple(elements / _checked(session.call(call())).simulation_s for _ in range(ROUNDS))


def _checked(execution: Execution) -> Execution:
    if execution.outcomes:
        raise RuntimeError(f"a kernel of the benchmark failed: {execution.outcomes[0].message}")
    return execution
