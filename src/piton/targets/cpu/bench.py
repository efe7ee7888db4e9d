"""Measures the calls of one case: fresh values and poisoned outputs before every batch, times by the parent, everything kept for the check.

Problem: nothing that the kernel's process says about time can be believed, and a call that is timed has to be as right as any other.
Approach: batches of random size; the case's own values are one call among the others, so that no call is known to be checked or not; what every call left
behind is copied while the process stands still, and is compared with the golden of the very values it got (evaluate.measured).
Limits: memory and time bound how many calls there are; the first two batches settle caches and clocks and have no say in the time.
"""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from piton.core.errors import EvaluatorError
from piton.core.execution import CaseCall, OutputBuffer, TensorArgument, TimedCall
from piton.core.finding import Finding, FindingKind
from piton.core.measurement import Measurement, Provenance
from piton.core.protocols import Runner
from piton.core.verdict import Outcome
from piton.targets.cpu import words
from piton.targets.cpu.arena import OTHER_POISON, POISON, Arena, Layout, layout_of, nbytes
from piton.targets.cpu.canary import Canary, Condition
from piton.targets.cpu.kernel_process import Answer, KernelProcess, Launch
from piton.targets.cpu.perturb import fresh_inputs, is_fresh
from piton.targets.cpu.stopwatch import FIRST_BATCHES, TIMED_BATCHES, CallTime, Sample, batch_sizes, call_time
from piton.targets.vnpu.arguments import dense_strides, torch_name

ALONE = threading.Lock()
"""One measurement at a time in this process: two would slow each other down."""
_KEPT_BYTES = 192 << 20
"""Inputs and outputs of all calls of a case together, beyond the least number of calls: so much is compared with goldens afterwards."""
_TIME_US = 2e6
"""Processor time that a case may take, beyond the least number of calls."""
_DRIFT = 0.1
"""The canary before and after may differ by so much before it is a finding: several times what it differs by on a quiet machine (benchmarks/cpu)."""
_MORE = 1.25
"""Processor time and wall-clock time of all batches may differ by this factor before it is said: waking up and replying is a part of short batches."""


@dataclass(frozen=True)
class Run:
    """What the calls of one case left behind."""

    outcomes: tuple[Outcome, ...] = ()
    outputs: tuple[OutputBuffer, ...] = ()
    """Of the call with the case's own values."""
    timed: tuple[TimedCall, ...] = ()
    """All others."""
    time: Measurement | None = None
    findings: tuple[Finding, ...] = ()
    is_killed: bool = False
    """As `Answer.is_killed`."""


@dataclass
class _Record:
    """What is gathered over the batches of a case."""

    calls: list[tuple[int | None, bytes, int]] = field(default_factory=list)
    """Seed of the values (None: the case's own), output bytes, poison."""
    samples: list[Sample] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)


class Bench:
    """One kernel process at a time, and the memories it shares with this one."""

    def __init__(self, launch: Launch, runner: Runner, canary: Canary, *, keeps_outputs: bool = True) -> None:
        """`launch` starts the process; without `keeps_outputs` (a trusted golden, which returns tensors of its own) nothing is kept to be checked."""
        self._launch = launch
        self._runner = runner
        self._canary = canary
        self._keeps = keeps_outputs
        self._arena = Arena()
        self._process: KernelProcess | None = None
        self._threads = 0

    @property
    def process(self) -> KernelProcess | None:
        """The one that runs, for those who look at it from outside."""
        return self._process

    def run(self, call: CaseCall, arguments: Sequence[int] = ()) -> Run:
        """Measure one case; `arguments` are the words after the layout (`case_words`). Never raises for what the kernel did."""
        layout = layout_of(call.tensors, call.results)
        with ALONE:
            before = self._canary.measure()
            answer = self._bind(layout, arguments, call.deadline_s)
            record = _Record()
            self._threads = answer.threads
            if answer.failure is None:
                answer = self._batches(call, layout, record)
            after = self._canary.measure() if answer.failure is None else before
        if answer.failure is not None:
            self.stop()
            return Run((answer.failure,), is_killed=answer.is_killed)
        return self._result(call, layout, record, (before, after))

    def close(self) -> None:
        """End the process; safe to call twice."""
        try:
            self.stop()
        finally:
            self._arena.close()

    def stop(self) -> None:
        """End the process; the next case gets a fresh one."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _bind(self, layout: Layout, arguments: Sequence[int], deadline_s: float) -> Answer:
        if self._process is None:
            self._process = KernelProcess(self._launch, self._runner, self._arena, self._canary.core)
        return self._process.ask((words.CASE, layout.input_stride, layout.output_stride, layout.slots, *arguments), deadline_s)

    def _batches(self, call: CaseCall, layout: Layout, record: _Record) -> Answer:
        """All batches of a case; the last answer, which is the one that failed if one did."""
        draw = random.Random(secrets.randbits(64))
        sizes = batch_sizes(FIRST_BATCHES, min(4, layout.slots), draw)
        own = draw.randrange(sum(sizes))  # the call with the case's own values, somewhere in the first batches
        for number in range(FIRST_BATCHES + TIMED_BATCHES):
            if number == FIRST_BATCHES:
                sizes += batch_sizes(TIMED_BATCHES, _most_calls(layout, record), draw)
            answer = self._batch(call, layout, draw.sample(range(layout.slots), sizes[number]), (own, draw), record)
            if answer.failure is not None:
                break
        return answer

    def _batch(self, call: CaseCall, layout: Layout, slots: list[int], drawn: tuple[int, random.Random], record: _Record) -> Answer:
        own, draw = drawn
        first, prepared = len(record.calls), []
        for number, slot in enumerate(slots):
            seed = None if first + number == own or not call.is_varied else draw.getrandbits(63)
            poison = draw.choice((POISON, OTHER_POISON))
            self._arena.write_inputs(layout, slot, _values(call, seed))
            self._arena.poison(layout, slot, poison)
            prepared.append((seed, poison))
        assert self._process is not None
        answer = self._process.ask((words.BATCH, *slots), call.deadline_s)
        if answer.failure is not None:
            return answer
        for slot, (seed, poison) in zip(slots, prepared, strict=True):
            record.calls.append((seed, self._arena.read_outputs(layout, slot) if self._keeps else b"", poison))
        record.samples.append(Sample(len(slots), answer.time_us))
        record.answers.append(answer)
        return answer

    def _result(self, call: CaseCall, layout: Layout, record: _Record, canaries: tuple[Condition, Condition]) -> Run:
        found = call_time(record.samples[FIRST_BATCHES:], canaries[0].fixed_us)
        kept = record.calls if self._keeps else []
        made = [
            TimedCall(partial(_values, call, seed), _outputs(call.results, layout, data), bytes((poison,)), is_own=seed is None) for seed, data, poison in kept
        ]
        own = next((item.outputs for item in made if item.is_own), ())
        timed = tuple(item for item in made if not item.is_own or not call.is_varied)
        findings = [*_watched(record.answers, self._threads), *_judged(found, canaries), *_stale(call)]
        return Run(outputs=own, timed=timed, time=_measurement(found, record, canaries), findings=tuple(findings))


def _values(call: CaseCall, seed: int | None) -> tuple[memoryview, ...]:
    if seed is not None:
        return fresh_inputs(call.tensors, seed)
    data = tuple(item.data for item in call.tensors)
    if any(part is None for part in data):
        raise EvaluatorError("target cpu needs the data of a case", where=call.case_id)
    return tuple(part for part in data if part is not None)


def _most_calls(layout: Layout, record: _Record) -> int:
    """Calls of the largest batch, so that all of them together keep below the bounds on memory and time; at least two, or there is no slope."""
    call_us = max(record.samples[-1].time_us / record.samples[-1].calls, 1e-3)
    by_size, by_time = _KEPT_BYTES // layout.call_bytes, _TIME_US / call_us
    return max(2, min(layout.slots, int(2 * min(by_size, by_time) / TIMED_BATCHES)))


def _outputs(results: Sequence[TensorArgument], layout: Layout, data: bytes) -> tuple[OutputBuffer, ...]:
    view = memoryview(data)
    parts = [view[offset : offset + nbytes(item)] for offset, item in zip(layout.output_offsets, results, strict=True)]
    return tuple(
        OutputBuffer(item.name, item.shape, torch_name(item.dtype), dense_strides(item.shape), is_on_device=True, data=part)
        for item, part in zip(results, parts, strict=True)
    )


def _measurement(found: CallTime, record: _Record, canaries: tuple[Condition, Condition]) -> Measurement:
    sizes = [item.calls for item in record.samples[FIRST_BATCHES:]]
    canary = f"canary {canaries[0].work_us:.2f} us before, {canaries[1].work_us:.2f} us after"
    batches = f"{len(sizes)} batches of {min(sizes)} to {max(sizes)} calls on one core, fresh values in every call"
    taken_off = f"waiting for the core and {found.taken_off_us:.1f} us per batch taken off"
    method = f"wall clock of the parent around {batches}; {taken_off}, slope {found.line.slope_us:.3f} us; {canary}"
    return Measurement(samples=found.samples_us, provenance=Provenance.DEVICE, method=method, interval=found.interval)


def _watched(answers: Sequence[Answer], threads: int) -> list[Finding]:
    """What the process did beside its calls."""
    most, cpu = max(item.threads for item in answers), sum(item.cpu_us for item in answers)
    wall, waited = sum(item.wall_us for item in answers), sum(item.waited_us for item in answers)
    said = []
    if most > threads:
        left = f"{most - threads} thread{'' if most == threads + 1 else 's'}"
        said.append(f"the kernel left {left} behind, which stand still outside of measured calls")
    if not all(item.is_confined for item in answers):
        said.append("the kernel's process can use more than the one core it was bound to; its processor time counts where that is longer than the clock's")
    elif cpu > _MORE * wall:
        said.append(f"the kernel used {cpu:.0f} us of processor time in {wall:.0f} us: it works after its reply; what it used is what counts")
    if waited > wall / 2:
        said.append(f"of {wall:.0f} us others had the core for {waited:.0f} us, which were taken off: measure on a machine with less other work")
    return [Finding(kind=FindingKind.OTHER, message=text) for text in said]


def _judged(found: CallTime, canaries: tuple[Condition, Condition]) -> list[Finding]:
    """What a reader has to know of the time."""
    said = []
    if found.is_padded:
        fixed = f"a fixed cost of {found.line.fixed_us:.0f} us, those of an empty kernel {found.taken_off_us:.0f} us"
        said.append(f"batches have {fixed}: the difference counts as time of calls")
    before, after = canaries[0].work_us, canaries[1].work_us
    if abs(after - before) > _DRIFT * min(before, after):
        said.append(f"the machine changed its speed meanwhile: the canary took {before:.2f} us before and {after:.2f} us after")
    return [Finding(kind=FindingKind.OTHER, message=text) for text in said]


def _stale(call: CaseCall) -> list[Finding]:
    if call.is_varied and is_fresh(call.tensors):
        return []
    reason = "no others fit its golden and its outputs" if is_fresh(call.tensors) else "the case has no floating input whose elements are no whole numbers"
    return [Finding(kind=FindingKind.OTHER, message=f"all calls had the same values: {reason}")]
