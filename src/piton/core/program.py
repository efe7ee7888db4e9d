"""A whole program with `main()`: how it is run, what it leaves behind, and the report of `piton run`."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import Field

from piton.core.execution import Accuracy, CopyLog, Diagnostic, LaunchRecord
from piton.core.finding import Finding
from piton.core.hardware import ChipFigures
from piton.core.operator import Frozen
from piton.core.verdict import Outcome

PROGRAM_SCHEMA_VERSION = 1


@dataclass(frozen=True)
class ProgramSources:
    """What is compiled: the file with `main()` first, then others; paths inside the program's folder."""

    files: tuple[str, ...]
    defines: tuple[str, ...] = ()
    """Macros as `NAME` or `NAME=VALUE`."""


@dataclass(frozen=True)
class ProgramCall:
    """One run of a built program."""

    arguments: tuple[str, ...]
    working_dir: str
    """The only folder it may write to, and its working directory."""
    budget_cycles: int = 10_000_000_000
    """Simulated cycles of all launches together after which device code is cut."""
    deadline_s: float = 300.0
    """Wall-clock seconds after which the program is ended."""
    output_bytes: int = 1 << 20
    """What is kept of each of its output streams."""
    is_auto_sync: bool = True
    is_timing_only: bool = False
    """Time launches without computing data: what the program reads back are zeros."""
    accuracy: Accuracy = "exact"
    """How good the vector unit's Exp, Ln, Div, Rsqrt and Reciprocal are (docs/accuracy.md)."""


@dataclass(frozen=True)
class ProgramExecution:
    """What a run left behind, its files aside."""

    exit_code: int | None
    """None when it did not end by itself."""
    stdout: str
    stderr: str
    printed: str = ""
    """What kernels printed, in the order of execution."""
    outcomes: tuple[Outcome, ...] = ()
    """Everything wrong, in the order of what explains what."""
    launches: tuple[LaunchRecord, ...] = ()
    launch_count: int = 0
    """Launches and device copies; more than there are records when there were very many."""
    total_us: float = 0.0
    """Simulated time of all launches and device copies together."""
    copies: CopyLog = field(default_factory=CopyLog)
    findings: tuple[Finding, ...] = ()


class ProgramReport(Frozen):
    """What `piton run --json` prints."""

    schema_version: int = PROGRAM_SCHEMA_VERSION
    """Version of this form."""
    piton: str
    """Version of Piton."""
    program: str
    """File with `main()`, as it was given."""
    arguments: tuple[str, ...] = ()
    """What the program was given."""
    target: str
    """Name of what it ran on; of a hardware file the chip's name with `-sim`."""
    hardware: str = ""
    """Name of the chip; empty in a report from before it was kept, as the next."""
    hardware_digest: str = ""
    """Identity of every figure of the chip that a time depends on."""
    is_auto_sync: bool
    """True when the compiler's auto-sync was on."""
    is_timing_only: bool = False
    """True when launches were timed without computing data: nothing that the program read back or wrote means anything."""
    accuracy: Accuracy = "exact"
    """How good the simulated Exp, Ln, Div, Rsqrt and Reciprocal were (docs/accuracy.md); "exact" in reports from before it was kept."""
    isolation: tuple[str, ...] = ()
    """Mechanisms in force while it ran."""
    outcome: Outcome
    """Passed when the program returned 0 and nothing was wrong; else the outcome that counts."""
    outcomes: tuple[Outcome, ...] = ()
    """Everything that was wrong."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Messages of the compiler."""
    exit_code: int | None = None
    """What the program returned; null when it was not built, crashed or was ended."""
    stdout: str = ""
    """What it printed."""
    stderr: str = ""
    """What it printed to standard error."""
    printed: str = ""
    """What kernels printed."""
    launches: tuple[LaunchRecord, ...] = ()
    """Simulated times; the first thousand one by one."""
    launch_count: int = Field(default=0, ge=0)
    """Launches and device copies, listed or not."""
    total_us: float = 0.0
    """Simulated microseconds of all launches and device copies together."""
    copies: CopyLog = CopyLog()
    """Copies that the host asked for."""
    chip: ChipFigures | None = None
    """Clock, cores and peaks that shares of the roof are of; null in a report from before they were kept."""
    findings: tuple[Finding, ...] = ()
    """What a person should look at."""
    files: tuple[str, ...] = ()
    """What the program wrote, relative to its working directory."""
    out: str = ""
    """Folder those files were brought to; empty when they were not asked for."""
    wall_s: float = 0.0
    """Wall-clock seconds of the run, building aside; measured on this machine."""
