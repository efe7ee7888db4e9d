"""The canary: a kernel of ours, measured before and after every case in a process of its own on the same core.

Problem: a machine that slows down or has other work between two cases makes times that look like the kernel's doing.
Approach: the same small program each time: with no work in it its batches cost what every batch costs, with work they show the speed of the core.
Limits: it sees what lasts longer than a case; a disturbance inside of one shows as the spread of its batches.
"""

from __future__ import annotations

import os
import random
import statistics
from dataclasses import dataclass

import numpy as np

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError, ProcessLostError
from piton.core.execution import TensorArgument
from piton.core.protocols import ProcessJob, Role, Runner, RunningProcess
from piton.targets.cpu import words
from piton.targets.cpu.arena import Arena, layout_of
from piton.targets.cpu.kernel_process import LIMITS, KernelProcess, Launch
from piton.targets.cpu.stopwatch import Sample, batch_sizes, fit

_ELEMENTS = 2048
"""8 KiB read and 8 KiB written: half of the smallest first-level cache in use."""
_ROUNDS = 100
"""Some 25 us on a processor of 2020: long beside what a batch costs, short beside a case."""
_BATCHES = 5
_MOST_CALLS = 16
_DEADLINE_S = 60.0


@dataclass(frozen=True)
class Condition:
    """How the machine is at one moment."""

    work_us: float
    """One call with work in it."""
    fixed_us: float
    """What a batch costs beside its calls."""


class Canary:
    """A running canary."""

    def __init__(self, program: str, runner: Runner) -> None:
        """Start it on the last core that this process may use. Raises EvaluatorError when it can't be started."""
        self.core = max(os.sched_getaffinity(0))
        self._arena = Arena()
        try:
            self._process = KernelProcess(launch_program(program), runner, self._arena, self.core)
        except BaseException:
            self._arena.close()
            raise
        data = memoryview(np.ones(_ELEMENTS, dtype=np.float32).tobytes())
        self._x = TensorArgument("x", (_ELEMENTS,), DType.FLOAT32, data)
        self._layout = layout_of((self._x,), (self._x,))
        for slot in range(self._layout.slots):
            self._arena.write_inputs(self._layout, slot, (data,))

    def measure(self) -> Condition:
        """Both figures, now. Raises EvaluatorError when it does not run."""
        empty, work = self._samples(0), self._samples(_ROUNDS)
        return Condition(max(fit(work).slope_us, 0.0), statistics.median(item.time_us for item in empty))

    def close(self) -> None:
        """End it; safe to call twice."""
        try:
            self._process.close()
        finally:
            self._arena.close()

    def _samples(self, rounds: int) -> list[Sample]:
        layout, x = self._layout, words.tensor_words(0, DType.FLOAT32, (_ELEMENTS,))
        self._ask([words.CASE, layout.input_stride, layout.output_stride, layout.slots, *x, rounds, *x])
        draw = random.Random(rounds)
        sizes = [1, *batch_sizes(_BATCHES, _MOST_CALLS, draw)]
        return [Sample(size, self._ask([words.BATCH, *range(size)])) for size in sizes][1:]

    def _ask(self, message: list[int]) -> float:
        answer = self._process.ask(message, _DEADLINE_S)
        if answer.is_killed:
            raise ProcessLostError("the canary was ended by a SIGKILL from outside")
        if answer.failure is not None:
            raise EvaluatorError("the canary did not run", found=answer.failure.message)
        return answer.time_us


def launch_program(program: str) -> Launch:
    """What starts a compiled kernel."""

    def launch(runner: Runner, channel: int, inputs: int, outputs: int) -> RunningProcess:
        fds = (channel, inputs, outputs)
        argv = (program, *map(str, fds))
        return runner.start(ProcessJob(Role.HOST, argv, cwd="/", readable=(program,), pass_fds=fds, limits=LIMITS))

    return launch
