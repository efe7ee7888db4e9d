"""Further calls of a case that has passed, to find out what its outputs depend on (docs/integrity.md).

| check | when | call |
|---|---|---|
| host-computation | the host read bytes of the device | fresh values on the device, while the host is answered what it was answered before |
| process-history | integrity mode full | the first call, which began fresh processes, once more after the others, with another pattern in unwritten memory |
| kernel-disabled | integrity mode full | the first call once more with launches that do nothing |

All come after the timed call. The device is deterministic, so the verdicts are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from piton.core.errors import EvaluatorError
from piton.core.execution import OTHER_POISON, USUAL, Execution, OutputBuffer, Probe
from piton.core.finding import Finding, FindingKind
from piton.core.integrity import IntegrityMode
from piton.core.verdict import Cause, Outcome, outcome
from piton.evaluate.trials import FIRST, SECOND

FIRST_OF_ITS_PROCESSES = Probe(in_fresh_processes=True)
REPEATED = Probe(poison=OTHER_POISON)
DISABLED = Probe(launches_do_nothing=True)
HOST_REPEATED = Probe(repeats_answers=True)


@dataclass(frozen=True)
class Attempt:
    """What one call left behind, without its outputs."""

    execution: Execution
    passes: tuple[bool, ...]
    """Whether the outputs were right, for each set of values that they were compared with."""
    outputs: str
    """Digest of the bytes of all outputs."""
    is_empty: bool = False
    """No output has an element."""


Try = Callable[[int, Probe, Sequence[int]], Attempt]
"""Calls the case with the values of a trial, and compares with the goldens of trials: (trial, probe, trials)."""


@dataclass(frozen=True)
class Further:
    """What further calls found."""

    outcomes: tuple[Outcome, ...] = ()
    findings: tuple[Finding, ...] = ()

    def joined(self, other: Further) -> Further:
        """Both, in order."""
        return Further((*self.outcomes, *other.outcomes), (*self.findings, *other.findings))


NOTHING = Further()
Checks = Callable[[Attempt, Try], Further]
"""Further calls after a first attempt."""


def made(checks: Checks, first: Attempt, attempt: Try, where: str) -> Further:
    """What the checks find. Raises EvaluatorError that names them when a call could not be evaluated."""
    try:
        return checks(first, attempt)
    except EvaluatorError as error:
        wrapped = EvaluatorError("a further call for the integrity policy could not be evaluated", found=str(error), where=where)
        wrapped.fault = error.fault  # whether another try can help
        raise wrapped from error


def digest_of_outputs(outputs: Sequence[OutputBuffer]) -> str:
    """SHA-256 over names, forms and bytes."""
    found = hashlib.sha256()
    for output in outputs:
        found.update(f"{output.name} {output.dtype_name} {output.shape}\n".encode())
        found.update(output.data if output.data is not None else b"")
    return found.hexdigest()


def wants_further_calls(first: Execution) -> bool:
    """True when `after_first_trial` makes a call."""
    return first.copies.device_to_host_bytes != 0


def probe_of_trial(mode: IntegrityMode, trial: int) -> Probe:
    """How a trial is called: in mode `full` every case begins in fresh processes, so that what is found does not depend on other cases and lanes."""
    return FIRST_OF_ITS_PROCESSES if mode == "full" and trial == FIRST else USUAL


def after_first_trial(first: Attempt, attempt: Try) -> Further:
    """Run before the second trial: a host that knows its values could answer with them when it is told those of the first trial again."""
    if not wants_further_calls(first.execution):
        return Further()
    found = attempt(SECOND, HOST_REPEATED, (SECOND, FIRST))
    return _host_values(first, found).joined(_history_again(attempt) if found.execution.outcomes else NOTHING)


def after_trials(first: Attempt, attempt: Try) -> Further:
    """The checks of mode `full`, with the values of the first trial."""
    repeated = _process_history(first, attempt(FIRST, REPEATED, ()))
    return repeated.joined(_kernel_disabled(attempt(FIRST, DISABLED, (FIRST,))))


def _host_values(first: Attempt, found: Attempt) -> Further:
    """Right for the values on the device: fine. Right for those that the host knew: computed by the host. Else nobody can tell."""
    is_right, is_of_the_host = found.passes
    read = first.execution.copies.device_to_host_bytes
    if is_right:
        return Further()
    if is_of_the_host:
        text = (
            f"the outputs follow the {read} bytes that the host read from the device, not what lies there: with other values on the device they stay the same"
        )
        return Further((outcome(Cause.HOST_COMPUTED, text, read_bytes=read),))
    text = f"the host read {read} bytes of values from the device during the call, and the outputs depend on them; what it may read is metadata"
    return Further((), (Finding(kind=FindingKind.HOST_VALUES_READ, message=text),))


def _history_again(attempt: Try) -> Further:
    """A call that failed has cost the processes: the first one once more, so that the second trial is no first call of its process. Failing is no way out."""
    again = attempt(FIRST, USUAL, (FIRST,))
    if again.passes == (True,):
        return NOTHING
    return Further((outcome(Cause.RESULTS_DIFFER, "the first call, which had passed, did not pass again in fresh processes"),))


def _process_history(first: Attempt, found: Attempt) -> Further:
    if found.execution.outcomes:
        ended = found.execution.outcomes[0]
        text = f"made again in the same processes, the call ended with {ended.verdict.value}: {ended.cause.value}; it had passed before"
        return Further((outcome(Cause.RESULTS_DIFFER, text),))
    if found.outputs != first.outputs:
        text = "the same call gave other bytes when it was made again in the same processes, with other contents in memory that nobody had written"
        return Further((outcome(Cause.RESULTS_DIFFER, text),))
    return Further((), tuple(_other_time(first.execution, found.execution)))


def _other_time(first: Execution, found: Execution) -> Iterator[Finding]:
    if first.time is not None and found.time is not None and first.time.samples != found.time.samples:
        text = f"the call took {first.time.value:.3f} us, and {found.time.value:.3f} us when it was made again; simulated time depends on the call alone"
        yield Finding(kind=FindingKind.TIME_DIFFERS, message=text)


def _kernel_disabled(found: Attempt) -> Further:
    """Outputs that no kernel stored have failed by now (`unwritten_output`): what is right all the same was right before the call."""
    (is_right,) = found.passes
    if not is_right or found.is_empty:
        return Further()
    text = "the outputs are right without any kernel, as they were before the call: this case does not show whether the operator works"
    return Further((), (Finding(kind=FindingKind.KERNEL_NOT_NEEDED, message=text),))
