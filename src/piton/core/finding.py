"""Finding: something a person should look at; never changes a verdict by itself."""

from __future__ import annotations

from enum import Enum

from piton.core.operator import Frozen
from piton.core.verdict import Place


class FindingKind(str, Enum):
    """The closed set of findings."""

    TIME_BELOW_T_HW = "time_below_t_hw"
    BASELINE_RAISED = "baseline_raised"
    NO_ANCHOR = "no_anchor"
    RELAXED_PASS = "relaxed_pass"
    AUTO_SYNC_RELIED_ON = "auto_sync_relied_on"
    RESERVED_EVENT_ID = "reserved_event_id"
    DEFAULT_MASK_CHANGED = "default_mask_changed"
    COPY_PRICED = "copy_priced"
    EQUAL_VALUE_OVERLAP = "equal_value_overlap"
    SURPLUS_BLOCKS = "surplus_blocks"
    ISOLATION_REDUCED = "isolation_reduced"
    STALE_ANCHOR = "stale_anchor"
    HOST_VALUES_READ = "host_values_read"
    TIME_DIFFERS = "time_differs"
    STATIC_STATE = "static_state"
    KERNEL_NOT_NEEDED = "kernel_not_needed"
    OTHER = "other"


class Finding(Frozen):
    """One finding with its place and how often it occurred."""

    kind: FindingKind
    """What it is about."""
    message: str
    """What was found, in a sentence."""
    place: Place = Place()
    """Where, as far as it has a place."""
    occurrences: int = 1
    """How often it was found."""
