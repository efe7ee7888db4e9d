"""All that one call left behind, put together: outcomes in the order of what explains what, the time, the findings."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from piton.core.execution import OutputBuffer
from piton.core.finding import Finding, FindingKind
from piton.core.measurement import Measurement, Provenance
from piton.core.protocols import Limits
from piton.core.verdict import Cause, Outcome, outcome
from piton.targets.vnpu import wire
from piton.targets.vnpu.device_messages import DeviceGoneError
from piton.targets.vnpu.judge import Judged
from piton.targets.vnpu.log import CallLog
from piton.targets.vnpu.places import Locate, calls_text

CONSEQUENCES = frozenset({Cause.HOST_EXCEPTION, Cause.HOST_SIGNAL, Cause.HOST_EXIT})
"""How host code reacts to a device that stopped or refused; the reason is reported instead."""


def gather(failures: Sequence[Outcome], log: CallLog, judged: Sequence[Judged], root: str) -> list[Outcome]:
    """Every outcome of one call; `root` is the submission's folder."""
    reasons = log.outcomes(root) + _modified(log)
    own = [item for item in failures if not (reasons and item.cause in CONSEQUENCES)]
    unlaunched = [] if failures or log.has_kernel or log.is_cut else _no_kernel([item.buffer for item in judged])
    wrong = [found for item in judged for found in item.outcomes]
    return [*own, *reasons, *unlaunched, *(_unlaunched(wrong) if unlaunched else wrong)]


def measured(log: CallLog, clock_hz: float) -> Measurement | None:
    """The simulated time of the call, launches and device copies together; None when the device did nothing."""
    if log.total_cycles == 0:
        return None
    method = f"replay of {log.launch_count} launches and device copies, second-level cache cold, {clock_hz / 1e6:g} MHz"
    return Measurement(samples=(log.total_cycles / clock_hz * 1e6,), provenance=Provenance.SIMULATED, method=method)


def findings_of(log: CallLog, root: str) -> list[Finding]:
    """What the engine found, and copies that were priced."""
    copies = sum(launch.is_copy for launch in log.launches)
    if not copies:
        return log.findings(root)
    message = f"{copies} device copies of {log.device_to_device_bytes} bytes in all were made by the framework and are part of the time"
    return [*log.findings(root), Finding(kind=FindingKind.COPY_PRICED, message=message, occurrences=copies)]


def how_the_device_ended(gone: DeviceGoneError, locate: Locate) -> Outcome:
    """The outcome of a call during which the device process ended; `locate` knows the device library."""
    words = gone.words
    if gone.is_flooded:
        return outcome(Cause.OUTPUT_FLOOD, "device code printed more than a process may and was ended", allowed_bytes=Limits.flood_bytes)
    if words is None:
        return outcome(Cause.DEVICE_SIGNAL, "the device process ended without a word: device code ended it, or it ran out of memory")
    places = locate(words.code)
    place, calls = (places[0] if places else None), calls_text(places)
    where = f" in kernel {words.kernel}" if words.kernel else ""
    if words.fault == wire.RAW_STORE:
        text = f"a raw pointer store to global memory{where}, which no instruction of the NPU makes; use DataCopy or SetValue{calls}"
        return outcome(Cause.RAW_GM_STORE, text, place=place, fault_address=f"{words.address:#x}", kernel=words.kernel)
    if words.signal == signal.SIGSYS:
        return outcome(Cause.PROCESS_STARTED, f"device code{where} tried to start a process{calls}", place=place, signal=words.signal)
    at = f" at address {words.address:#x}" if words.address or words.signal in (signal.SIGSEGV, signal.SIGBUS) else ""
    why = ": its stack is full, by calls that never end or by arrays too large for it" if words.fault == wire.FULL_STACK else ""
    text = f"device code was ended by {_signal_name(words.signal)}{where}{at}{why}{calls}"
    return outcome(Cause.DEVICE_SIGNAL, text, place=place, signal=words.signal, fault_address=f"{words.address:#x}", kernel=words.kernel)


def _signal_name(number: int) -> str:
    """Device code can write a dying process's last words too, with any number in them."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _modified(log: CallLog) -> list[Outcome]:
    """Inputs that a kernel stored to although the engine let it pass."""
    return [outcome(Cause.INPUT_MODIFIED, f"the input at {address:#x} was stored to", address=f"{address:#x}") for address in log.modified_inputs]


def _unlaunched(wrong: Sequence[Outcome]) -> list[Outcome]:
    """The same with the reason first where nothing was written because nothing ran."""
    reason = "no kernel was launched in this call: "
    return [item.model_copy(update={"message": reason + item.message}) if item.cause is Cause.UNWRITTEN_OUTPUT else item for item in wrong]


def _no_kernel(outputs: Sequence[OutputBuffer]) -> list[Outcome]:
    if not any(0 not in output.shape for output in outputs):
        return []
    return [outcome(Cause.NO_KERNEL_LAUNCHED, "the outputs came about without any kernel of the submission")]
