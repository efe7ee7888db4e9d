"""One run of a whole program: its process and the device process, from start to end.

Problem: the program is foreign code with a `main()` of its own; what it does has to be seen without its help.
Approach: the two processes of an evaluation with the program in the place of the host worker. The device is open to it from before `main()` until it has
ended; then the device's log says what was launched and what was wrong.
Limits: nothing of the program's results is checked, that is its own business; what it prints is text.
"""

from __future__ import annotations

import math
import os
import socket
from dataclasses import dataclass, replace

from piton.core.errors import EvaluatorError
from piton.core.hardware import Hardware
from piton.core.program import ProgramCall, ProgramExecution
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role, Runner
from piton.core.verdict import Cause, Outcome, outcome
from piton.targets.vnpu.device import DEVICE_MEMORY_BYTES, PROCESS_LIMITS, platform_figures
from piton.targets.vnpu.device_messages import CallOptions, DeviceBusyError, DeviceForgedError, DeviceGoneError
from piton.targets.vnpu.device_process import DeviceProcess, DeviceProgram
from piton.targets.vnpu.gather import CONSEQUENCES, findings_of, how_the_device_ended
from piton.targets.vnpu.host_end import after_the_deadline, how_the_program_ended, read_last_words
from piton.targets.vnpu.log import CallLog
from piton.targets.vnpu.memory import DeviceArena, hide_from_same_user
from piton.targets.vnpu.places import SourceFinder

VARIABLE = "PITON_PROGRAM"
"""Environment variable that tells a program its descriptors and the chip's figures; program/program_abi.cpp reads it."""
_UNBOUNDED = 1 << 62
"""A program moves its data itself: no allowance of bytes applies."""
_BUSY_S = 5.0
"""After the program's end: how long the device may take to finish what it is doing."""
_FILE_BYTES = 4 << 30
_WORDS_S = 0.5
"""After the deadline: how long the program has for saying where it is."""


@dataclass(frozen=True)
class ProgramPlan:
    """A built program and the chip it runs on."""

    program: str
    device_library: str
    device_executable: str
    hardware: Hardware
    chip_table: str
    root: str
    """Folder of the immutable copy of its sources, for places."""
    code_executable: str = ""
    """Runs device code in a process of its own; empty: it shares the engine's."""


def run_program(plan: ProgramPlan, call: ProgramCall, runner: Runner) -> ProgramExecution:
    """Run to the end or the deadline. Raises EvaluatorError when our own parts failed."""
    if "separate_users" not in runner.isolation:
        hide_from_same_user()
    arena = DeviceArena()
    try:
        return _ProgramRun(plan, call, runner, arena).run()
    finally:
        arena.close()


class _ProgramRun:
    """One call of `run_program`."""

    def __init__(self, plan: ProgramPlan, call: ProgramCall, runner: Runner, arena: DeviceArena) -> None:
        self._plan = plan
        self._call = call
        self._runner = runner
        self._arena = arena
        places = SourceFinder(runner, plan.root)
        self._in_program, self._in_device = places.within(plan.program), places.within(plan.device_library)

    def run(self) -> ProgramExecution:
        """Both processes from start to end."""
        host_end, device_end = socket.socketpair()
        with host_end, device_end:
            device = self._open_device(device_end)
            try:
                result, end = self._run_host(host_end)
                execution = self._execution(device, result, end)
            finally:
                ended = device.close()
            return replace(execution, printed=ended.stdout)

    def _open_device(self, channel: socket.socket) -> DeviceProcess:
        plan = self._plan
        program = DeviceProgram(plan.device_executable, plan.device_library, self._arena.fd, channel, PROCESS_LIMITS, plan.code_executable)
        device = DeviceProcess(program, self._runner)
        try:
            device.wait_until_ready()
            device.open_case(self._options(), ())
            device.begin_call(_UNBOUNDED)
        except BaseException:
            device.close()
            raise
        return device

    def _options(self) -> CallOptions:
        return CallOptions(
            auto_sync=self._call.is_auto_sync,
            is_timing_only=self._call.is_timing_only,
            is_pessimistic=self._call.accuracy == "pessimistic",
            budget_cycles=self._call.budget_cycles,
            memory_bytes=DEVICE_MEMORY_BYTES,
            chip_table=self._plan.chip_table,
        )

    def _run_host(self, channel: socket.socket) -> tuple[ProcessResult, Outcome | None]:
        """Its result, and what was wrong with its end."""
        status, status_writer = os.pipe()
        try:
            result = self._runner.run(self._job(channel.fileno(), status_writer))
            os.close(status_writer)
            status_writer = -1
            if result.is_timed_out:
                text = f"the program had not ended after {self._call.deadline_s:g} s of wall-clock time"
                return result, after_the_deadline(text, self._call.deadline_s, read_last_words(status), self._in_program)
            return result, how_the_program_ended(result, read_last_words(status), self._in_program)
        finally:
            channel.close()
            for descriptor in (status, status_writer):
                if descriptor >= 0:
                    os.close(descriptor)

    def _job(self, device_fd: int, status_fd: int) -> ProcessJob:
        call = self._call
        cpu_s = math.ceil(call.deadline_s + _WORDS_S) + 1  # the deadline on the wall clock comes first: it tells the place, the kernel's limit does not
        return ProcessJob(
            role=Role.HOST,
            argv=(self._plan.program, *call.arguments),
            cwd=call.working_dir,
            readable=(self._plan.program,),
            writable=(call.working_dir,),
            environment={VARIABLE: " ".join(map(str, (device_fd, status_fd, round(1e3 * call.deadline_s), *platform_figures(self._plan.hardware))))},
            pass_fds=(device_fd, status_fd),
            limits=Limits(wall_s=call.deadline_s + _WORDS_S, cpu_s=cpu_s, file_bytes=_FILE_BYTES, processes=256, output_bytes=call.output_bytes),
        )

    def _execution(self, device: DeviceProcess, result: ProcessResult, end: Outcome | None) -> ProgramExecution:
        try:
            log, _ = device.end_call(_BUSY_S)
        except DeviceGoneError as gone:
            return self._without_log(result, [how_the_device_ended(gone, self._in_device)], end)
        except DeviceForgedError as forged:
            return self._without_log(result, [outcome(Cause.PROTOCOL_VIOLATION, f"the device process sent what no engine of ours sends: {forged}")], end)
        except DeviceBusyError:
            text = "a kernel was still running when the program ended" if end is None else "a kernel was still running"
            return self._without_log(result, [outcome(Cause.DEVICE_BUDGET, text)], end)
        if log.engine_failure:
            raise EvaluatorError("the engine failed", found=log.engine_failure, where=self._plan.program)
        return self._with_log(result, log.placed(self._in_device), end)

    def _with_log(self, result: ProcessResult, log: CallLog, end: Outcome | None) -> ProgramExecution:
        clock_hz = self._plan.hardware.clock_hz.value
        return ProgramExecution(
            exit_code=_exit_code(result),
            stdout=result.stdout,
            stderr=result.stderr,
            outcomes=_in_order(log.outcomes(self._plan.root, self._in_program), end),
            launches=log.records(clock_hz),
            launch_count=log.launch_count,
            total_us=log.total_cycles / clock_hz * 1e6,
            copies=log.copies(),
            findings=tuple(findings_of(log, self._plan.root)),
        )

    @staticmethod
    def _without_log(result: ProcessResult, reasons: list[Outcome], end: Outcome | None) -> ProgramExecution:
        return ProgramExecution(exit_code=_exit_code(result), stdout=result.stdout, stderr=result.stderr, outcomes=_in_order(reasons, end))


def _exit_code(result: ProcessResult) -> int | None:
    return None if result.is_timed_out else result.exit_code


def _in_order(reasons: list[Outcome], end: Outcome | None) -> tuple[Outcome, ...]:
    """What explains comes first: a program that failed because the device stopped is no failure of its own."""
    if end is None:
        return tuple(reasons)
    return (*reasons, end) if reasons and end.cause in CONSEQUENCES else (end, *reasons)
