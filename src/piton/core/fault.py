"""Faults: why we could not evaluate a case. None of them is the submission's doing, so that none becomes a verdict (DESIGN, vocabulary: Void)."""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel, ConfigDict


class Fault(str, Enum):
    """What kept us from evaluating."""

    PROCESS_LOST = "process_lost"
    """A process of ours, or one that runs the submission, was ended from outside or did not come up."""
    STORAGE = "storage"
    """The disk was full, or a file could not be written."""
    MACHINE = "machine"
    """The system refused something else that it usually gives: memory, descriptors, processes."""
    CANARY = "canary"
    """The measuring machine was not in the state in which its times count."""
    NO_MEMORY = "no_memory"
    """The case needs more memory than this machine gives."""
    GOLDEN_FAILED = "golden_failed"
    """The golden raised, or gave nothing that can be compared with."""
    GOLDEN_DEADLINE = "golden_deadline"
    """The golden did not end in time."""
    INTERNAL = "internal"
    """A mistake of Piton's."""
    OTHER = "other"
    """Anything else; the text says what."""


TRANSIENT = frozenset({Fault.PROCESS_LOST, Fault.STORAGE, Fault.MACHINE, Fault.CANARY})
"""Faults that another try may not meet; the others would only cost their time again."""


class Retry(BaseModel):
    """One try at a case that came to nothing, and was followed by another."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fault: Fault
    """What kind of fault it was."""
    reason: str
    """What happened."""
