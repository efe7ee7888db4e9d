"""A session: the host and the device process of one (submission, operator), and one case after another through them.

Problem: both processes run foreign code and may end, hang or lie at any time; one bad case must cost that case only.
Approach: the parent allocates and fills the inputs itself, lets the host process call the operator, closes the call on the device, and then looks at
device memory; after any end of a process both are started afresh for the next case.
Limits: within one session a submission keeps its own Python and C++ state between cases; device memory it never keeps.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace

from piton.core.errors import EvaluatorError
from piton.core.execution import CaseCall, Execution, OutputBuffer, TensorArgument
from piton.core.operator import Operator
from piton.core.protocols import Limits, Runner
from piton.core.timeline import LaunchTimeline
from piton.core.verdict import Cause, Outcome, outcome
from piton.targets.vnpu.arguments import dense_strides, in_schema_order, torch_name
from piton.targets.vnpu.device_messages import CallOptions, Description, DeviceBusyError, DeviceForgedError, DeviceGoneError, Wanted
from piton.targets.vnpu.device_process import REQUEST_S, DeviceProcess, DeviceProgram
from piton.targets.vnpu.gather import findings_of, gather, how_the_device_ended, measured
from piton.targets.vnpu.host_process import HostProcess, HostProgram, HostResult
from piton.targets.vnpu.inputs import changed_inputs
from piton.targets.vnpu.judge import Evidence, Judged, claimed_range, judge_output, output_names
from piton.targets.vnpu.log import CallLog
from piton.targets.vnpu.memory import DeviceArena, hide_from_same_user
from piton.targets.vnpu.places import SourceFinder
from piton.targets.vnpu.timeline_frame import MalformedTimelineError, RecordedLaunch, read_timeline

_BUSY_S = 2.0
"""After the host's deadline: how long the device may take to finish what it is doing."""


_Known = dict[tuple[int, int], Description]
"""What the allocation table says, by address and bytes."""


@dataclass(frozen=True)
class SessionPlan:
    """Everything a session needs to start its processes."""

    operator: Operator
    package_folder: str
    package: str
    device_library: str
    device_executable: str
    host_library: str
    platform: tuple[int, ...]
    chip_table: str
    clock_hz: float
    device_memory_bytes: int
    auto_sync: bool
    submission_root: str
    limits: Limits
    host_module: str = ""
    """Copy of the submission's host library that its host process cannot change; empty when it has none."""
    code_executable: str = ""
    """Runs device code in a process of its own; empty: it shares the engine's."""


@dataclass(frozen=True)
class _Uploaded:
    """Where the arguments lie."""

    arguments: list[object]
    """In the form the host worker takes them."""
    tensors: tuple[tuple[TensorArgument, int], ...]
    """Every input with its address."""

    @property
    def mutable(self) -> tuple[tuple[TensorArgument, int], ...]:
        """Inputs that the operator may change."""
        return tuple((tensor, at) for tensor, at in self.tensors if tensor.is_mutable)


class VnpuSession:
    """Implements core.protocols.Session for the virtual NPU."""

    def __init__(self, plan: SessionPlan, runner: Runner) -> None:
        if "separate_users" not in runner.isolation:
            hide_from_same_user()
        self._plan = plan
        self._runner = runner
        self._arena = DeviceArena()
        self._places = SourceFinder(runner, plan.submission_root)
        self._device: DeviceProcess | None = None
        self._host: HostProcess | None = None
        self._is_recording = False

    def call(self, call: CaseCall) -> Execution:
        """Run one case. The outputs' bytes are valid until the next call. Raises EvaluatorError when we could not evaluate."""
        is_reusable = False
        if call.probe.in_fresh_processes:
            self._stop()
        try:
            device, host = self._running()
            uploaded = self._upload(device, call)
            self._record(device, call)
            device.begin_call(call.copy_allowance_bytes, call.probe)
            result = host.call(uploaded.arguments, call.deadline_s)
            log, known = _end_call(device, result, call)
            log = log.placed(self._places.within(self._plan.device_library))
            outcomes, judged = self._outcomes(result, log, known, uploaded, call)
            execution = replace(self._execution(device, log, outcomes, judged, call), is_killed=result.is_killed)
            is_reusable = not execution.outcomes  # whoever broke a rule once may have left more behind: a thread, a second reply
        except DeviceGoneError as gone:
            ended = how_the_device_ended(gone, self._places.within(self._plan.device_library))
            execution = Execution(outcomes=(ended,), is_killed=gone.is_killed)
        except DeviceForgedError as forged:
            execution = Execution(outcomes=(outcome(Cause.PROTOCOL_VIOLATION, f"the device process sent what no engine of ours sends: {forged}"),))
        except DeviceBusyError:
            if self._device is None or not self._device.is_asleep():
                action = "raise the deadline or lower the budget"
                raise EvaluatorError(f"the simulation of case {call.case_id} did not end in time", action=action) from None
            execution = Execution(outcomes=(outcome(Cause.DEVICE_BUDGET, "device code waits for ever instead of computing"),))
        finally:
            if not is_reusable:
                self._stop()
        return execution

    def close(self) -> None:
        """End the processes; safe to call twice."""
        self._stop()
        self._arena.close()

    def _running(self) -> tuple[DeviceProcess, HostProcess]:
        """Both processes, started if they are not there; a host process that has spoken without being asked is replaced."""
        if self._host is not None and self._host.has_spoken():
            self._stop()
        if self._device is None or self._host is None:
            host_end, device_end = socket.socketpair()
            with host_end, device_end:
                plan = self._plan
                program = DeviceProgram(plan.device_executable, plan.device_library, self._arena.fd, device_end, plan.limits, plan.code_executable)
                self._device = DeviceProcess(program, self._runner)
                worker = HostProgram(
                    package_folder=plan.package_folder,
                    package=plan.package,
                    operator=plan.operator.name,
                    library=plan.host_library,
                    platform=plan.platform,
                    device_channel=host_end,
                    limits=plan.limits,
                    locate=self._places.within(plan.host_module),
                )
                self._host = HostProcess(worker, self._runner)
            self._device.wait_until_ready()  # both start at the same time
            self._host.wait_until_ready()
        return self._device, self._host

    def _stop(self) -> None:
        for process in (self._host, self._device):
            if process is not None:
                process.close()
        self._host = self._device = None

    def _upload(self, device: DeviceProcess, call: CaseCall) -> _Uploaded:
        """Fresh device memory with the inputs in it."""
        sizes = [tensor.dtype.bytes_of(math.prod(tensor.shape)) for tensor in call.tensors]
        wanted = [Wanted(nbytes, tensor.is_mutable, is_defined=True) for nbytes, tensor in zip(sizes, call.tensors, strict=True)]
        placed = list(zip(call.tensors, device.open_case(self._options(call), wanted), strict=True))
        for (tensor, address), nbytes in zip(placed, sizes, strict=True):
            self._fill(tensor, address, nbytes, call)
        return _Uploaded(in_schema_order(call, placed, self._plan.operator), tuple(placed))

    def _options(self, call: CaseCall) -> CallOptions:
        return CallOptions(
            auto_sync=self._plan.auto_sync,
            is_timing_only=call.is_timing_only,
            is_pessimistic=call.accuracy == "pessimistic",
            budget_cycles=call.budget_cycles,
            memory_bytes=self._plan.device_memory_bytes,
            chip_table=self._plan.chip_table,
        )

    def _fill(self, tensor: TensorArgument, address: int, nbytes: int, call: CaseCall) -> None:
        if address == 0:
            raise EvaluatorError(f"input {tensor.name} of {nbytes} bytes does not fit into device memory")
        if tensor.data is not None and not call.is_timing_only and nbytes:
            self._arena.write(address, tensor.data)

    def _outcomes(self, result: HostResult, log: CallLog, known: _Known, uploaded: _Uploaded, call: CaseCall) -> tuple[list[Outcome], list[Judged]]:
        """What is wrong with the call, and its outputs."""
        judged = self._judge(known, result, uploaded, call)
        outcomes = gather(result.failures, log, judged, self._plan.submission_root)
        if not call.is_timing_only and not any(item.cause is Cause.INPUT_MODIFIED for item in outcomes):
            outcomes += changed_inputs(uploaded.tensors, self._arena.view)
        if not result.failures and len(judged) != self._expected(result, call):
            outcomes.append(outcome(Cause.OUTPUT_COUNT, f"{len(result.claims)} values returned, {len(self._plan.operator.outputs)} expected"))
        return outcomes, judged

    def _execution(self, device: DeviceProcess, log: CallLog, outcomes: list[Outcome], judged: list[Judged], call: CaseCall) -> Execution:
        """What is there after the call."""
        return Execution(
            outputs=tuple(item.buffer for item in judged),
            outcomes=tuple(outcomes),
            launches=log.records(self._plan.clock_hz),
            copies=log.copies(),
            time=None if outcomes else measured(log, self._plan.clock_hz),
            findings=tuple(findings_of(log, self._plan.submission_root)),
            simulation_s=log.launch_seconds,
            timelines=tuple(self._timelines(device, log)) if call.timeline else (),
        )

    def _record(self, device: DeviceProcess, call: CaseCall) -> None:
        if call.timeline is not None or self._is_recording:
            device.record(call.timeline)
        self._is_recording = call.timeline is not None

    def _timelines(self, device: DeviceProcess, log: CallLog) -> Iterator[LaunchTimeline]:
        """Of the launches that the device has recorded."""
        plan, kernels = self._plan, [launch for launch in log.launches if not launch.is_copy]
        for number, launch in enumerate(launch for launch in kernels if not launch.is_cut):
            data = device.timeline(number)
            if data is None:
                return
            known = RecordedLaunch(launch.kernel, number + 1, len(kernels), launch.blocks, int(plan.clock_hz), plan.submission_root)
            try:
                yield read_timeline(data, known)
            except MalformedTimelineError as error:
                raise DeviceForgedError(f"a timeline that cannot be read: {error}") from None

    def _judge(self, known: _Known, result: HostResult, uploaded: _Uploaded, call: CaseCall) -> list[Judged]:
        """Every returned value checked; for an operator that returns nothing, the inputs it updates."""
        if not result.claims and not result.failures:
            return [self._updated(tensor, address, call) for tensor, address in uploaded.mutable]
        names = output_names([(item.name, item.is_list) for item in self._plan.operator.outputs], len(result.claims))
        mutable = frozenset(address for _, address in uploaded.mutable)
        evidence = Evidence(lambda address, nbytes: known[address, nbytes], self._arena.view, mutable, call.is_timing_only)
        return [judge_output(name, claim, evidence) for name, claim in zip(names or (), result.claims, strict=False)]

    def _expected(self, result: HostResult, call: CaseCall) -> int:
        """How many outputs there have to be: at least as many as came, when they come in a list."""
        declared, mutable = self._plan.operator.outputs, sum(tensor.is_mutable for tensor in call.tensors)
        if not result.claims:
            return len(declared) if declared and len(declared) != mutable else mutable
        return len(result.claims) if any(item.is_list for item in declared) else len(declared)

    def _updated(self, tensor: TensorArgument, address: int, call: CaseCall) -> Judged:
        nbytes = tensor.dtype.bytes_of(math.prod(tensor.shape))
        data = None if call.is_timing_only else self._arena.view(address, nbytes)
        return Judged(OutputBuffer(tensor.name, tensor.shape, torch_name(tensor.dtype), dense_strides(tensor.shape), True, data), ())


def _end_call(device: DeviceProcess, result: HostResult, call: CaseCall) -> tuple[CallLog, _Known]:
    """Close the call; its log, and what the allocation table says about every claim that can be looked up.

    Raises DeviceBusyError when the deadline passed because the simulation was slow, EvaluatorError when the engine failed: neither is the submission's doing.
    """
    ranges = [found for claim in result.claims if (found := claimed_range(claim)) is not None]
    log, described = device.end_call(_BUSY_S if result.is_deadline else REQUEST_S, ranges)
    if result.is_deadline and log.launch_seconds > call.deadline_s / 2:
        raise DeviceBusyError
    if log.engine_failure:
        raise EvaluatorError("the engine failed", found=log.engine_failure, where=f"case {call.case_id}")
    return log, dict(zip(ranges, described, strict=True))
