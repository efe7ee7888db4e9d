"""What targets that measure real time on this machine need beside their own times: every timed call checked, and a T_baseline measured in the same way.

The golden is the baseline: its same-dtype run in torch, on one thread of the same core, with torch's best code for this processor. It runs in a process of
its own under the same measurement (targets.cpu.bench), so that both times have the same meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from piton.core.canonical import canonical_json
from piton.core.case import Case
from piton.core.errors import EvaluatorError, ProcessLostError
from piton.core.execution import CaseCall, TimedCall
from piton.core.measurement import Anchor, AnchorKind
from piton.core.operator import Operator
from piton.core.protocols import Limits, Role, Runner, RunningProcess
from piton.core.suite import Suite
from piton.core.verdict import Outcome
from piton.evaluate.build import Workplace
from piton.evaluate.check import Expectation, check_outputs
from piton.evaluate.golden_service import CaseData, GoldenService, TensorData
from piton.evaluate.policy import EvaluationRequest
from piton.numerics.tensors import GoldenOutput
from piton.targets.cpu.bench import Bench
from piton.targets.cpu.kernel_process import Launch
from piton.targets.cpu.perturb import fresh_inputs, is_fresh
from piton.targets.cpu.target import CpuDevice

_ENTRY = "piton.evaluate.worker.timed_golden:serve"
_VERSION = "golden in torch, measured on this processor"
_METHOD = "the golden's same-dtype run in torch on one thread, measured like T_cand on the same core"
"""The same for every case: a reader counts cases by it."""
_DAY_S = 86_400
_TRIED_SEEDS = (1, 2, 3)
"""Of values that are tried on the golden before a case is measured."""
_MOST_TOGETHER = 50
"""Calls in one request: a reply names every output, and has bounds."""
_BYTES_TOGETHER = 64 << 20
"""Bytes of inputs and outputs in one request: goldens are small beside what a case takes anyway."""


@dataclass(frozen=True)
class Checked:
    """What timed calls are compared with, and how."""

    operator: Operator
    case: Case
    data: CaseData
    """Inputs and goldens of the case's own values."""
    goldens: GoldenService
    request: EvaluationRequest

    def golden(self, inputs: Sequence[Sequence[memoryview]]) -> tuple[tuple[GoldenOutput, ...], ...]:
        """Goldens of other values."""
        found = self.goldens.given(self.operator, self.case, inputs, "float64")
        each = len(found) // len(inputs)
        return tuple(found[number * each : (number + 1) * each] for number in range(len(inputs)))

    def failures(self, call: TimedCall, inputs: Sequence[memoryview], golden: tuple[GoldenOutput, ...]) -> list[Outcome]:
        """What is wrong with the outputs of one call."""
        data = tuple(TensorData(item.tensor, part) for item, part in zip(self.data.inputs, inputs, strict=True))
        native = partial(self._native, inputs)
        expected = Expectation(self.operator, self.case, data, golden, native, self.request.precision_profile, 1)
        return check_outputs(call.outputs, expected)[1]

    def _native(self, inputs: Sequence[memoryview]) -> tuple[GoldenOutput, ...]:
        return self.goldens.given(self.operator, self.case, [inputs], "native")


def timed_failures(timed: Sequence[TimedCall], checked: Checked) -> list[Outcome]:
    """What is wrong with the first timed call whose outputs are not right; each is compared with the golden of its own inputs, element by element.

    Raises EvaluatorError when the golden could not be run on these inputs.
    """
    together = max(1, min(_MOST_TOGETHER, _BYTES_TOGETHER // max(1, _call_bytes(timed))))
    forms = _forms(checked.data.outputs)
    for first in range(0, len(timed), together):
        calls = timed[first : first + together]
        inputs = [call.inputs() for call in calls]
        goldens = [checked.data.outputs] * len(calls) if calls[0].is_own else checked.golden(inputs)
        for number, (call, golden) in enumerate(zip(calls, goldens, strict=True)):
            if _forms(golden) != forms:  # values for which the outputs that were handed over do not fit: nobody could have filled them
                continue
            failures = checked.failures(call, inputs[number], golden)
            if failures:
                return [_in_timed_call(failures[0], first + number + 1, len(timed))]
    return []


def varied(call: CaseCall, checked: Checked) -> CaseCall:
    """The call, whose measured calls keep the case's own values where the golden does not take others or makes outputs of another form from them."""
    if not is_fresh(call.tensors):
        return replace(call, is_varied=False)
    try:
        found = checked.golden([fresh_inputs(call.tensors, seed) for seed in _TRIED_SEEDS])
    except EvaluatorError:
        return replace(call, is_varied=False)
    return replace(call, is_varied=all(_forms(golden) == _forms(checked.data.outputs) for golden in found))


def _forms(outputs: Sequence[GoldenOutput]) -> list[object]:
    return [(item.shape, item.dtype) for item in outputs]


def _call_bytes(timed: Sequence[TimedCall]) -> int:
    """Of the outputs of one call, with inputs of about the same size."""
    return 2 * sum(output.data.nbytes for output in timed[0].outputs if output.data is not None) if timed else 1


class MeasuredBaselines:
    """T_baseline of one case after another, each measured when it is asked for."""

    def __init__(self, device: CpuDevice, runner: Runner, suite: Suite) -> None:
        self._device = device
        self._runner = runner
        self._suite = suite

    @property
    def version(self) -> str:
        """How reports name them."""
        return _VERSION

    def anchor(self, operator: Operator, case: Case, call: CaseCall) -> Anchor:
        """T_baseline of a case. Raises EvaluatorError when its golden does not run."""
        launch = _launch(operator, case, self._suite.root)
        with closing(self._device.canary(self._runner)) as canary, closing(Bench(launch, self._runner, canary, keeps_outputs=False)) as bench:
            run = bench.run(call)
        where = f"{operator.name}/{case.id}"
        if run.is_killed:
            raise ProcessLostError("the process that measures T_baseline was ended by a SIGKILL from outside", where=where)
        if run.time is None or run.time.value <= 0:
            found = run.outcomes[0].message if run.outcomes else "no time"
            raise EvaluatorError("T_baseline could not be measured", found=found, where=where)
        return Anchor(
            kind=AnchorKind.T_BASELINE, value_us=run.time.value, provenance=run.time.provenance, method=_METHOD, version=_VERSION, interval=run.time.bounds
        )

    def close(self) -> None:
        """Nothing outlives a measurement."""


def measured_baselines(place: Workplace, suite: Suite) -> MeasuredBaselines | None:
    """Those of a target that measures on this machine; None for any other."""
    device = place.target.device
    return MeasuredBaselines(device, place.runner, suite) if isinstance(device, CpuDevice) else None


def _launch(operator: Operator, case: Case, suite_root: str) -> Launch:
    arguments = {"operator": canonical_json(operator), "case": canonical_json(case)}

    def launch(runner: Runner, channel: int, inputs: int, outputs: int) -> RunningProcess:
        limits = Limits(wall_s=_DAY_S, cpu_s=_DAY_S)
        return runner.fork_worker(Role.GOLDEN, _ENTRY, arguments, {"channel": channel, "inputs": inputs, "outputs": outputs}, limits, (suite_root,))

    return launch


def _in_timed_call(found: Outcome, number: int, count: int) -> Outcome:
    """The outcome with the word that a timed call found it."""
    message = f"timed call {number} of {count} (values of its own): {found.message or found.cause.value}"
    return found.model_copy(update={"message": message, "numbers": {**found.numbers, "timed_call": number}})
