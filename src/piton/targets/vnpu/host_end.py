"""How a process that runs host code ended, and what it said about it."""

from __future__ import annotations

import os
import re
import select
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from piton.core.protocols import Limits, ProcessResult
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.targets.vnpu import wire
from piton.targets.vnpu.places import Locate, calls_text


@dataclass(frozen=True)
class Fault:
    """What a host process told about its end, or about where it was when its time was over (SIGALRM)."""

    signal: int
    """0 when it called exit()."""
    address: int
    """0 when the signal has none."""
    is_device_pointer: bool
    code: tuple[int, ...]
    """Offsets in the submission's library, innermost call first."""


@dataclass(frozen=True)
class LastWords:
    """What came through the status pipe of a host process. A submission can write it too; it only explains."""

    fault: Fault | None = None
    script: tuple[Place, ...] = ()
    """Lines of Python inside the package, innermost first."""


NO_WORDS = LastWords()
_MOST_BYTES = 1 << 16
_PATIENCE_S = 0.1
_SIGNALS = {0, *signal.Signals}
_FRAME = re.compile(r'^  File "(?P<file>[^"\n]{1,4096})", line (?P<line>\d{1,9}) in (?P<function>[^\n]{1,200})$', re.MULTILINE)
"""A line of Python's faulthandler."""


def read_last_words(status: int, package_folder: str = "", patience_s: float = _PATIENCE_S) -> LastWords:
    """What is in the pipe `status`; of a process that still lives what comes within `patience_s`. The lines of Python come first, then the fault."""
    words, ends = b"", time.monotonic() + patience_s
    while _fault_of(words) is None and len(words) < _MOST_BYTES and select.select([status], [], [], max(0.0, ends - time.monotonic()))[0]:
        part = os.read(status, _MOST_BYTES)
        if not part:
            break
        words += part
    return LastWords(_fault_of(words), tuple(_script_places(words, package_folder)) if package_folder else ())


def _fault_of(words: bytes) -> Fault | None:
    if len(words) < wire.FAULT.size:
        return None
    number, address, is_device, count, *frames = wire.FAULT.unpack(words[-wire.FAULT.size :])
    if number not in _SIGNALS or count > wire.FRAMES:  # text, or a part of it
        return None
    return Fault(number, address, bool(is_device), tuple(frames[:count]))


def _script_places(words: bytes, package_folder: str) -> Iterator[Place]:
    for match in _FRAME.finditer(words.decode(errors="replace")):
        file = os.path.relpath(match["file"], package_folder)
        if not file.startswith(".."):
            yield Place(file=file, line=int(match["line"]), instruction=match["function"])


def how_the_program_ended(result: ProcessResult, words: LastWords, locate: Locate) -> Outcome | None:
    """The outcome of a program with a `main()` of its own; None when it returned 0."""
    if result.signal is not None or result.is_flooded:
        return how_it_ended(result, words, locate)
    return None if result.exit_code == 0 else _left(result, f"the program returned {result.exit_code}", words, locate)


def after_the_deadline(text: str, deadline_s: float, words: LastWords, locate: Locate) -> Outcome:
    """The outcome of host code that was still at work; `text` says what had not happened."""
    places = _places(words, signal.SIGALRM, locate)
    return outcome(Cause.HOST_DEADLINE, f"{text}{_was_at(places)}", place=places[0] if places else None, deadline_s=deadline_s)


def _was_at(places: Sequence[Place]) -> str:
    return f"; it was at {places[0].file}:{places[0].line}{calls_text(places)}" if places else ""


def _places(words: LastWords, number: int, locate: Locate) -> tuple[Place, ...]:
    """Of the words with this signal: C++ first, since Python has called it."""
    fault = words.fault
    return (*(locate(fault.code) if fault is not None and fault.signal == number else ()), *words.script)


def _left(result: ProcessResult, text: str, words: LastWords, locate: Locate) -> Outcome:
    """The outcome of a process that ended by itself."""
    places = _places(words, 0, locate)
    tail = result.stderr.strip()[-500:]
    code = result.exit_code if result.exit_code is not None else -1
    return outcome(Cause.HOST_EXIT, f"{text}{calls_text(places)}\n{tail}".strip(), place=places[0] if places else None, exit_code=code)


def how_it_ended(result: ProcessResult, words: LastWords, locate: Locate) -> Outcome:
    """The outcome of a worker that is gone before it replied."""
    fault = words.fault
    tail = result.stderr.strip()[-500:]
    if result.is_flooded:
        text = "the host code printed more than a process may and was ended"
        return outcome(Cause.OUTPUT_FLOOD, text, allowed_bytes=Limits.flood_bytes)
    if result.signal is None:
        text = f"the host process ended by itself with exit code {result.exit_code} instead of returning from the operator"
        return _left(result, text, words, locate)
    if result.signal == signal.SIGXCPU:
        places = _places(words, signal.SIGXCPU, locate)
        text = f"the host process used up its processor time{_was_at(places)}"
        return outcome(Cause.HOST_DEADLINE, text, place=places[0] if places else None, signal=result.signal)
    if fault is not None and fault.signal == result.signal:
        return _crashed(fault, tail, locate(fault.code))
    if result.signal == signal.SIGSYS:
        return _started_a_process(Place(), "")
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
