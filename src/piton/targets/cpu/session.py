"""A session: the process of one operator's kernel, and one case after another on it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import piton
from piton.core.errors import UsageError
from piton.core.execution import CaseCall, Execution, TensorArgument
from piton.core.finding import Finding, FindingKind
from piton.core.operator import Operator
from piton.core.protocols import ProcessJob, Role, Runner, RunningProcess
from piton.core.verdict import Cause, Outcome, outcome
from piton.targets.cpu import words
from piton.targets.cpu.arena import Layout, layout_of
from piton.targets.cpu.bench import Bench, Run
from piton.targets.cpu.canary import Canary
from piton.targets.cpu.kernel_process import LIMITS, Launch
from piton.targets.cpu.mapped import code_of, refusal
from piton.targets.cpu.signature import parameters, schema_order

_BOOT = "import sys; sys.path.insert(0, {root!r}); from piton.targets.cpu.python_kernel import main; main(sys.argv[1:])"
_UNSEEN = Finding(
    kind=FindingKind.ISOLATION_REDUCED, message="what the kernel's process has loaded could not be seen, so that a framework in it would not be noticed"
)


class CpuSession:
    """Implements core.protocols.Session."""

    def __init__(self, operator: Operator, launch: Launch, runner: Runner, canary: Callable[[], Canary]) -> None:
        self._operator = operator
        self._launch = launch
        self._runner = runner
        self._open_canary = canary
        self._canary: Canary | None = None
        self._bench: Bench | None = None

    def call(self, call: CaseCall) -> Execution:
        """Measure one case. Raises EvaluatorError when we could not."""
        message = case_words(self._operator, call, layout_of(call.tensors, call.results))
        run = self._running().run(call, message)
        outcomes = (*run.outcomes, *unwritten(run))
        findings = run.findings
        process = self._bench.process if self._bench else None
        if process is not None:
            code = code_of(process.pid)
            outcomes += refusal(code or ())
            findings += () if code is not None else (_UNSEEN,)
        if outcomes and self._bench is not None:
            self._bench.stop()  # whoever broke a rule once may have left more behind
        time = None if outcomes else run.time
        return Execution(outputs=run.outputs, outcomes=outcomes, time=time, findings=findings, timed=run.timed, is_killed=run.is_killed)

    def close(self) -> None:
        """End the processes; safe to call twice."""
        bench, self._bench = self._bench, None
        canary, self._canary = self._canary, None
        with ExitStack() as stack:  # one that can't be ended keeps the other from nothing
            for part in (bench, canary):
                if part is not None:
                    stack.callback(part.close)

    def _running(self) -> Bench:
        self._canary = self._canary or self._open_canary()
        self._bench = self._bench or Bench(self._launch, self._runner, self._canary)
        return self._bench


def case_words(operator: Operator, call: CaseCall, layout: Layout) -> list[int]:
    """The arguments of a case. Raises UsageError for an attribute that has no form in this track."""
    offsets = {(item.name, item.list_index): (offset, item) for item, offset in zip(call.tensors, layout.input_offsets, strict=True)}
    made: list[int] = []
    for name in schema_order(operator):
        spec = next((item for item in operator.attributes if item.name == name), None)
        if spec is None:
            is_list = any(item.name == name and item.is_list for item in operator.inputs)
            made += _tensors([found for key, found in offsets.items() if key[0] == name], is_list)
            continue
        try:
            made += words.attribute_words(spec.type, call.attributes.get(name))
        except ValueError as error:
            raise UsageError(f"{operator.name} can't be called on target cpu", found=str(error), action="leave it out with --op") from None
    return made + _results(operator, call, layout)


def unwritten(run: Run) -> list[Outcome]:
    """Outputs with a byte that kept its poison in every call, of which there were two kinds: nothing was written there."""
    if len({item.poison for item in run.timed}) < 2:
        return []
    return [found for number in range(len(run.timed[0].outputs)) if (found := _unwritten(run, number)) is not None]


def _unwritten(run: Run, number: int) -> Outcome | None:
    kept: int | None = None
    for item in run.timed:
        data = item.outputs[number].data
        assert data is not None
        # As one large whole number: a byte that is 0 in every difference was never written.
        difference = int.from_bytes(data, "little") ^ int.from_bytes(item.poison * data.nbytes, "little")
        kept = difference if kept is None else kept | difference
    output = run.timed[0].outputs[number]
    size = output.data.nbytes if output.data is not None else 0
    first = (kept or 0).to_bytes(size, "little").find(b"\0")
    if first < 0:
        return None
    text = f"{output.name} is not written completely when the kernel returns: byte {first} of {size} still holds what was there before, in every call"
    return outcome(Cause.UNWRITTEN_OUTPUT, text, first_byte=first, bytes=size)


def launch_python(source: str, operator: Operator) -> Launch:
    """What starts a kernel in Python."""
    kinds = ",".join(item.reader for item in parameters(operator))
    boot = _BOOT.format(root=str(Path(piton.__file__).resolve().parent.parent))

    def launch(runner: Runner, channel: int, inputs: int, outputs: int) -> RunningProcess:
        fds = (channel, inputs, outputs)
        argv = (sys.executable, "-I", "-c", boot, *map(str, fds), source, operator.name, kinds)
        return runner.start(ProcessJob(Role.HOST, argv, cwd="/", readable=(str(Path(source).parent),), pass_fds=fds, limits=LIMITS))

    return launch


def _tensors(found: list[tuple[int, TensorArgument]], is_list: bool) -> list[int]:
    if not found and not is_list:
        return [words.ABSENT]
    each = [word for offset, item in found for word in words.tensor_words(offset, item.dtype, item.shape)]
    return [len(found), *each] if is_list else each


def _results(operator: Operator, call: CaseCall, layout: Layout) -> list[int]:
    made: list[int] = []
    for spec in operator.outputs:
        pairs = zip(layout.output_offsets, call.results, strict=True)
        found = [(offset, item) for offset, item in pairs if item.name.partition("[")[0] == spec.name]
        made += _tensors(found, spec.is_list)
    return made
