"""How a process that runs host code ended, and what it said about it."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.protocols import Limits, ProcessResult
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.targets.vnpu import wire
from piton.targets.vnpu.places import Locate, calls_text


@dataclass(frozen=True)
class Fault:
    """What a crashing host process told about its end."""

    signal: int
    address: int
    """0 when the signal has none."""
    is_device_pointer: bool
    code: tuple[int, ...]
    """Offsets in the submission's library, innermost call first."""


def read_fault(status: int) -> Fault | None:
    """Last words about a crash from the pipe `status`. A submission can write them too; they only explain."""
    os.set_blocking(status, False)
    try:
        words = os.read(status, wire.FAULT.size)
    except BlockingIOError:
        return None
    if len(words) != wire.FAULT.size:
        return None
    number, address, is_device, count, *frames = wire.FAULT.unpack(words)
    return Fault(number, address, bool(is_device), tuple(frames[:count]))


def how_the_program_ended(result: ProcessResult, fault: Fault | None, locate: Locate) -> Outcome | None:
    """The outcome of a program with a `main()` of its own; None when it returned 0."""
    if result.signal is not None or result.is_flooded:
        return how_it_ended(result, fault, locate)
    if result.exit_code == 0:
        return None
    return outcome(Cause.HOST_EXIT, f"the program returned {result.exit_code}", exit_code=result.exit_code if result.exit_code is not None else -1)


def how_it_ended(result: ProcessResult, fault: Fault | None, locate: Locate) -> Outcome:
    """The outcome of a worker that is gone before it replied."""
    tail = result.stderr.strip()[-500:]
    if result.is_flooded:
        text = "the host code printed more than a process may and was ended"
        return outcome(Cause.OUTPUT_FLOOD, text, allowed_bytes=Limits.flood_bytes)
    if result.signal is None:
        text = f"the host process ended by itself with exit code {result.exit_code} instead of returning from the operator"
        return outcome(Cause.HOST_EXIT, f"{text}\n{tail}".strip(), exit_code=result.exit_code if result.exit_code is not None else -1)
    if fault is not None and fault.signal == result.signal:
        return _crashed(fault, tail, locate(fault.code))
    if result.signal == signal.SIGSYS:
        return _started_a_process(Place(), "")
    if result.signal == signal.SIGXCPU:
        return outcome(Cause.HOST_DEADLINE, "the host process used up its processor time", signal=result.signal)
    return outcome(Cause.HOST_SIGNAL, f"the host process was ended by {_signal_name(result.signal)}\n{tail}".strip(), signal=result.signal)


def _crashed(fault: Fault, tail: str, places: Sequence[Place]) -> Outcome:
    """A signal that the process reported itself, with the innermost place inside the submission."""
    place, calls = (places[0] if places else None), calls_text(places)
    if fault.signal == signal.SIGSYS:
        return _started_a_process(place, calls)
    numbers: dict[str, int | str] = {"signal": fault.signal}
    if fault.signal in (signal.SIGSEGV, signal.SIGBUS):
        numbers["fault_address"] = f"{fault.address:#x}"
    if fault.is_device_pointer:
        text = f"the host code touched device memory through a pointer; device pointers are for kernels only{calls}"
        return outcome(Cause.HOST_DEVICE_ACCESS, text, place=place, **numbers)
    text = f"the host code was ended by {_signal_name(fault.signal)}{_MEANING.get(fault.signal, '')}{calls}"
    return outcome(Cause.HOST_SIGNAL, f"{text}\n{tail}".strip(), place=place, **numbers)


def _started_a_process(place: Place | None, calls: str) -> Outcome:
    text = f"the host code tried to start a process; an operator works in the process that calls it, with threads if it needs them{calls}"
    return outcome(Cause.PROCESS_STARTED, text, place=place, signal=int(signal.SIGSYS))


_MEANING: dict[int, str] = {
    signal.SIGSEGV: ", an access to memory that it does not have",
    signal.SIGBUS: ", an access beyond the end of a mapped file or one that is not aligned",
    signal.SIGFPE: ", an integer division by zero or overflow",
    signal.SIGILL: ", an illegal instruction",
    signal.SIGABRT: ": abort() was called, by a failed assertion or an exception that nobody caught",
}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
