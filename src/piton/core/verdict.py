"""The closed set of what can become of a submission on a case, with causes, places and precedence."""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Verdict(str, Enum):
    """What became of a submission on one case (DESIGN, vocabulary)."""

    PASSED = "passed"
    REJECTED = "rejected"
    BUILD_FAILED = "build_failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    WRONG_LAYOUT = "wrong_layout"
    WRONG_VALUE = "wrong_value"
    HAZARD = "hazard"
    UNATTRIBUTED = "unattributed"
    NONDETERMINISTIC = "nondeterministic"
    RESOURCE_EXCEEDED = "resource_exceeded"
    TAMPERED = "tampered"
    NOT_RUN = "not_run"


class Cause(str, Enum):
    """Why; each cause belongs to exactly one verdict (see `VERDICT_OF`)."""

    NONE = "none"
    # rejected
    FRAMEWORK_COMPUTE = "framework_compute"
    HOST_COPY = "host_copy"
    HOST_COMPUTED = "host_computed"
    STRIDED_COPY = "strided_copy"
    CASTING_COPY = "casting_copy"
    FORBIDDEN_SOURCE = "forbidden_source"
    PROCESS_STARTED = "process_started"
    # build_failed
    COMPILE_ERROR = "compile_error"
    LINK_ERROR = "link_error"
    BUILD_TIMEOUT = "build_timeout"
    OPERATOR_MISSING = "operator_missing"
    UNSUPPORTED_API = "unsupported_api"
    UNSUPPORTED_DTYPE = "unsupported_dtype"
    LOAD_FAILED = "load_failed"
    # crashed
    HOST_SIGNAL = "host_signal"
    HOST_EXCEPTION = "host_exception"
    HOST_EXIT = "host_exit"
    HOST_DEVICE_ACCESS = "host_device_access"
    DEVICE_SIGNAL = "device_signal"
    DEVICE_EXCEPTION = "device_exception"
    RAW_GM_STORE = "raw_gm_store"
    PROTOCOL_VIOLATION = "protocol_violation"
    # timed_out
    DEVICE_BUDGET = "device_budget"
    HOST_DEADLINE = "host_deadline"
    # wrong_*
    SHAPE_MISMATCH = "shape_mismatch"
    OUTPUT_COUNT = "output_count"
    DTYPE_MISMATCH = "dtype_mismatch"
    NOT_A_TENSOR = "not_a_tensor"
    NOT_CONTIGUOUS = "not_contiguous"
    WRONG_DEVICE = "wrong_device"
    ALIASES_INPUT = "aliases_input"
    MEAN_ERROR = "mean_error"
    MAX_ERROR = "max_error"
    SMALL_VALUE_ERRORS = "small_value_errors"
    CANCELLATION_ERRORS = "cancellation_errors"
    NAN_MISMATCH = "nan_mismatch"
    INF_MISMATCH = "inf_mismatch"
    SPECIAL_MISMATCH = "special_mismatch"
    INTEGER_MISMATCH = "integer_mismatch"
    INDEX_MISMATCH = "index_mismatch"
    UNWRITTEN_OUTPUT = "unwritten_output"
    INPUT_MODIFIED = "input_modified"
    # hazard
    MISSING_SYNC = "missing_sync"
    UNDEFINED_DATA = "undefined_data"
    OUT_OF_BOUNDS = "out_of_bounds"
    MISALIGNED = "misaligned"
    BAD_OVERLAP = "bad_overlap"
    BAD_PARAMETER = "bad_parameter"
    FLAG_MISUSE = "flag_misuse"
    FLAG_LEAK = "flag_leak"
    QUEUE_MISUSE = "queue_misuse"
    DEADLOCK = "deadlock"
    # resource_exceeded
    UB_OVERFLOW = "ub_overflow"
    L1_OVERFLOW = "l1_overflow"
    L0_OVERFLOW = "l0_overflow"
    BUFFER_LIMIT = "buffer_limit"
    DEVICE_MEMORY = "device_memory"
    HOST_MEMORY = "host_memory"
    OUTPUT_FLOOD = "output_flood"
    # others
    NO_KERNEL_LAUNCHED = "no_kernel_launched"
    NOT_STORED_BY_KERNEL = "not_stored_by_kernel"
    RESULTS_DIFFER = "results_differ"
    ILLEGAL_REPLY = "illegal_reply"
    OPERATOR_FAILED = "operator_failed"
    FILTERED_OUT = "filtered_out"
    TOO_LARGE = "too_large"
    INTERRUPTED = "interrupted"
    EVALUATION_FAILED = "evaluation_failed"


_CAUSES: dict[Verdict, tuple[Cause, ...]] = {
    Verdict.PASSED: (Cause.NONE,),
    Verdict.REJECTED: (
        Cause.FRAMEWORK_COMPUTE,
        Cause.HOST_COPY,
        Cause.HOST_COMPUTED,
        Cause.STRIDED_COPY,
        Cause.CASTING_COPY,
        Cause.FORBIDDEN_SOURCE,
        Cause.PROCESS_STARTED,
    ),
    Verdict.BUILD_FAILED: (
        Cause.COMPILE_ERROR,
        Cause.LINK_ERROR,
        Cause.BUILD_TIMEOUT,
        Cause.OPERATOR_MISSING,
        Cause.UNSUPPORTED_API,
        Cause.UNSUPPORTED_DTYPE,
        Cause.LOAD_FAILED,
    ),
    Verdict.CRASHED: (
        Cause.HOST_SIGNAL,
        Cause.HOST_EXCEPTION,
        Cause.HOST_EXIT,
        Cause.HOST_DEVICE_ACCESS,
        Cause.DEVICE_SIGNAL,
        Cause.DEVICE_EXCEPTION,
        Cause.RAW_GM_STORE,
        Cause.PROTOCOL_VIOLATION,
    ),
    Verdict.TIMED_OUT: (Cause.DEVICE_BUDGET, Cause.HOST_DEADLINE),
    Verdict.WRONG_SHAPE: (Cause.SHAPE_MISMATCH, Cause.OUTPUT_COUNT),
    Verdict.WRONG_DTYPE: (Cause.DTYPE_MISMATCH, Cause.NOT_A_TENSOR),
    Verdict.WRONG_LAYOUT: (Cause.NOT_CONTIGUOUS, Cause.WRONG_DEVICE, Cause.ALIASES_INPUT),
    Verdict.WRONG_VALUE: (
        Cause.MEAN_ERROR,
        Cause.MAX_ERROR,
        Cause.SMALL_VALUE_ERRORS,
        Cause.CANCELLATION_ERRORS,
        Cause.NAN_MISMATCH,
        Cause.INF_MISMATCH,
        Cause.SPECIAL_MISMATCH,
        Cause.INTEGER_MISMATCH,
        Cause.INDEX_MISMATCH,
        Cause.UNWRITTEN_OUTPUT,
        Cause.INPUT_MODIFIED,
    ),
    Verdict.HAZARD: (
        Cause.MISSING_SYNC,
        Cause.UNDEFINED_DATA,
        Cause.OUT_OF_BOUNDS,
        Cause.MISALIGNED,
        Cause.BAD_OVERLAP,
        Cause.BAD_PARAMETER,
        Cause.FLAG_MISUSE,
        Cause.FLAG_LEAK,
        Cause.QUEUE_MISUSE,
        Cause.DEADLOCK,
    ),
    Verdict.RESOURCE_EXCEEDED: (
        Cause.UB_OVERFLOW,
        Cause.L1_OVERFLOW,
        Cause.L0_OVERFLOW,
        Cause.BUFFER_LIMIT,
        Cause.DEVICE_MEMORY,
        Cause.HOST_MEMORY,
        Cause.OUTPUT_FLOOD,
    ),
    Verdict.UNATTRIBUTED: (Cause.NO_KERNEL_LAUNCHED, Cause.NOT_STORED_BY_KERNEL),
    Verdict.NONDETERMINISTIC: (Cause.RESULTS_DIFFER,),
    Verdict.TAMPERED: (Cause.ILLEGAL_REPLY,),
    Verdict.NOT_RUN: (Cause.OPERATOR_FAILED, Cause.FILTERED_OUT, Cause.TOO_LARGE, Cause.INTERRUPTED, Cause.EVALUATION_FAILED),
}

VERDICT_OF: dict[Cause, Verdict] = {cause: verdict for verdict, causes in _CAUSES.items() for cause in causes}
"""The one verdict that each cause belongs to."""

LEFT_OUT = frozenset({Cause.FILTERED_OUT, Cause.TOO_LARGE})
"""Causes of cases that nobody asked for: left out by a filter, or above the size that was allowed."""

PRECEDENCE: tuple[Verdict, ...] = (
    Verdict.TAMPERED,
    Verdict.REJECTED,
    Verdict.BUILD_FAILED,
    Verdict.CRASHED,
    Verdict.TIMED_OUT,
    Verdict.RESOURCE_EXCEEDED,
    Verdict.WRONG_SHAPE,
    Verdict.WRONG_DTYPE,
    Verdict.WRONG_LAYOUT,
    Verdict.HAZARD,
    Verdict.WRONG_VALUE,
    Verdict.UNATTRIBUTED,
    Verdict.NONDETERMINISTIC,
    Verdict.PASSED,
    Verdict.NOT_RUN,
)
"""When several hold for one case the earliest is the verdict.

Acts against the harness come first, then what kept an output from existing, then what is wrong with it; a hazard goes before a wrong value because it
explains one.
"""


class Place(BaseModel):
    """Where something happened; only the parts that are known are set."""

    model_config = ConfigDict(frozen=True)

    file: str = ""
    """Path inside the submission, or of the header that refused."""
    line: int = 0
    """1-based source line, 0 when unknown."""
    core: int | None = None
    """Virtual core (block) index."""
    instruction: str = ""
    """API name, such as `DataCopyPad`; of code that crashed or did not end, its function."""

    def __str__(self) -> str:
        spot = f"{self.file}:{self.line}" if self.line else self.file
        core = f"core {self.core}" if self.core is not None else ""
        return ", ".join(part for part in (spot, self.instruction, core) if part)


class Outcome(BaseModel):
    """One verdict with its cause, place, explanation and numbers."""

    model_config = ConfigDict(frozen=True)

    verdict: Verdict
    """What became of it."""
    cause: Cause = Cause.NONE
    """Why."""
    place: Place = Place()
    """Where, as far as it has a place."""
    message: str = ""
    """A sentence for a person; never parsed."""
    numbers: dict[str, float | int | str] = Field(default_factory=dict)
    """The figures behind the sentence, by name with unit, such as `used_bytes`."""

    @model_validator(mode="after")
    def _cause_fits(self) -> Outcome:
        if VERDICT_OF[self.cause] is not self.verdict:
            raise ValueError(f"cause {self.cause.value} belongs to {VERDICT_OF[self.cause].value}, not {self.verdict.value}")
        return self


def outcome(cause: Cause, message: str = "", *, place: Place | None = None, **numbers: float | int | str) -> Outcome:
    """Build the outcome whose verdict `cause` implies."""
    return Outcome(verdict=VERDICT_OF[cause], cause=cause, message=message, place=place or Place(), numbers=numbers)


PASSED = outcome(Cause.NONE)


def decide(outcomes: list[Outcome]) -> Outcome:
    """The outcome that counts when several were found: earliest in PRECEDENCE, first found among equals.

    An empty list means that nothing was wrong: passed.
    """
    return min(outcomes, key=lambda found: PRECEDENCE.index(found.verdict), default=PASSED)
