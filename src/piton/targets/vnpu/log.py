"""The device's log of one call, and what its entries mean in the vocabulary."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from piton.core.execution import PIPES, CopyLog, CorePipes, LaunchRecord
from piton.core.finding import Finding, FindingKind
from piton.core.verdict import VERDICT_OF, Cause, Outcome, Place, outcome
from piton.targets.vnpu.places import Locate, calls_text, nowhere

NOTICE_CAUSES = frozenset({"framework_compute", "strided_copy", "casting_copy", "host_copy", "device_memory", "host_memory", "input_modified", "bad_parameter"})
"""What the host library and the device process may refuse; a host process can send any text as a cause."""


class LoggedDiagnostic(BaseModel):
    """engine.h's Diagnostic."""

    model_config = ConfigDict(frozen=True, strict=True)
    is_finding: bool
    cause: str
    kind: str
    message: str
    file: str
    line: int
    core: int
    instruction: str
    numbers: dict[str, int]
    occurrences: int
    code: list[int] = Field(default_factory=list)
    """Offsets in the device library when no instruction gives the place, innermost call first."""

    def place(self, root: str) -> Place:
        """Where, with files relative to `root` (the submission's folder)."""
        return Place(file=relative(self.file, root), line=self.line, core=self.core if self.core >= 0 else None, instruction=self.instruction)

    def placed(self, locate: Locate) -> LoggedDiagnostic:
        """The same with the place that its code has."""
        places = locate(self.code) if self.code else ()
        if not places:
            return self
        inner = places[0]
        found = {"file": inner.file, "line": inner.line, "instruction": inner.instruction, "message": self.message + calls_text(places)}
        return self.model_copy(update=found)


class LoggedPipes(BaseModel):
    """What the pipes of the cube cores of a mixed launch did."""

    model_config = ConfigDict(frozen=True, strict=True)
    busy_cycles: dict[str, int]
    stall_cycles: dict[str, int]
    wait_cycles: dict[str, dict[str, int]]
    lost_cycles: dict[str, dict[str, int]]
    cores: int


class LoggedLaunch(BaseModel):
    """One launch or device copy."""

    model_config = ConfigDict(frozen=True, strict=True)
    kernel: str
    is_copy: bool
    blocks: int
    is_cut: bool
    instructions: int
    cycles: int
    busy_cycles: dict[str, int]
    stall_cycles: dict[str, int]
    gm_read_bytes: int
    gm_written_bytes: int
    cores: int = 0
    cube: LoggedPipes | None = None
    wait_cycles: dict[str, dict[str, int]] = Field(default_factory=dict)
    lost_cycles: dict[str, dict[str, int]] = Field(default_factory=dict)
    hbm_bytes: int = 0
    l2_bytes: int = 0
    diagnostics: list[LoggedDiagnostic]


class Notice(BaseModel):
    """Something that was refused."""

    model_config = ConfigDict(frozen=True, strict=True)
    cause: str
    message: str
    code: int = 0
    """Offset in the library of the host code that asked; 0 when unknown."""

    def outcome(self, locate: Locate) -> Outcome:
        """What was refused, and where in the host code."""
        places = locate((self.code,)) if self.code else ()
        return outcome(_cause(self.cause, NOTICE_CAUSES), self.message, place=places[0] if places else None)


class CallLog(BaseModel):
    """Everything the device saw during one call."""

    model_config = ConfigDict(frozen=True, strict=True)
    launches: list[LoggedLaunch] = Field(default_factory=list)
    notices: list[Notice] = Field(default_factory=list)
    modified_inputs: list[int] = Field(default_factory=list)
    launch_count: int = 0
    total_cycles: int = 0
    host_to_device_bytes: int = 0
    device_to_host_bytes: int = 0
    device_to_device_bytes: int = 0
    is_cut: bool = False
    is_code_gone: bool = False
    """The process of the device code has ended during the call."""
    engine_failure: str = ""
    """Why the engine could not execute a launch; our failure, the call cannot be evaluated."""
    launch_seconds: float = 0.0
    """Wall-clock time the device worked; tells a slow simulation from a host that hangs."""

    def placed(self, locate: Locate) -> CallLog:
        """The same where the violation that cut the call, the only one without a place of its own, is placed by its code."""
        if not self.is_cut or not self.launches or not self.launches[-1].diagnostics:
            return self
        cut = self.launches[-1]
        diagnostics = [*cut.diagnostics[:-1], cut.diagnostics[-1].placed(locate)]
        return self.model_copy(update={"launches": [*self.launches[:-1], cut.model_copy(update={"diagnostics": diagnostics})]})

    @property
    def has_kernel(self) -> bool:
        """True when at least one kernel of the submission ran."""
        return any(not launch.is_copy for launch in self.launches)

    def records(self, clock_hz: float) -> tuple[LaunchRecord, ...]:
        """The launches as reports show them; times in microseconds at `clock_hz`."""
        return tuple(_record(launch, clock_hz) for launch in self.launches if not launch.is_cut)

    def copies(self) -> CopyLog:
        """Bytes copied, and what was refused."""
        return CopyLog(
            host_to_device_bytes=self.host_to_device_bytes,
            device_to_host_bytes=self.device_to_host_bytes,
            device_to_device_bytes=self.device_to_device_bytes,
            refused=tuple(notice.message for notice in self.notices),
        )

    def outcomes(self, root: str, locate: Locate = nowhere) -> list[Outcome]:
        """Every violation: refused operations first, placed by `locate` (which knows the host library), then what the engine found."""
        refused = [notice.outcome(locate) for notice in self.notices]
        found = [_violation(item, launch.kernel, root) for launch in self.launches for item in launch.diagnostics if not item.is_finding]
        return [*_distinct(refused), *found]

    def findings(self, root: str) -> list[Finding]:
        """What the engine wants a person to look at."""
        items = [item for launch in self.launches for item in launch.diagnostics if item.is_finding]
        return [Finding(kind=_kind(item.kind), message=item.message, place=item.place(root), occurrences=item.occurrences) for item in items]


def relative(path: str, root: str) -> str:
    """`path` inside the submission's folder `root`; of any other file only the name. The toolchain's `#line` directives make most of them relative already."""
    if root and path.startswith(root.rstrip("/") + "/"):
        return path[len(root.rstrip("/")) + 1 :]
    return path if path and not path.startswith(("/", "<")) else path.rpartition("/")[2]


def _record(launch: LoggedLaunch, clock_hz: float) -> LaunchRecord:
    return LaunchRecord(
        kernel=launch.kernel,
        kind="copy" if launch.is_copy else "kernel",
        blocks=launch.blocks,
        cycles=launch.cycles,
        time_us=launch.cycles / clock_hz * 1e6,
        instructions=launch.instructions,
        busy_cycles=launch.busy_cycles,
        stall_cycles=launch.stall_cycles,
        gm_read_bytes=launch.gm_read_bytes,
        gm_written_bytes=launch.gm_written_bytes,
        cores=launch.cores,
        wait_cycles=launch.wait_cycles,
        lost_cycles=launch.lost_cycles,
        hbm_bytes=launch.hbm_bytes,
        l2_bytes=launch.l2_bytes,
        cube=None if launch.cube is None else CorePipes(**dict(launch.cube)),
    )


def _violation(item: LoggedDiagnostic, kernel: str, root: str) -> Outcome:
    cause = _cause(item.cause, frozenset(known.value for known in Cause))
    numbers: dict[str, float | int | str] = {**_named(item.numbers), "kernel": kernel, "occurrences": item.occurrences}
    return Outcome(verdict=VERDICT_OF[cause], cause=cause, message=item.message, place=item.place(root), numbers=numbers)


def _named(numbers: dict[str, int]) -> dict[str, int | str]:
    """The same with pipes by the vendor's names, which the engine sends as numbers."""
    return {name: PIPES[value].upper() if name.endswith("_pipe") and 0 <= value < len(PIPES) else value for name, value in numbers.items()}


def _cause(name: str, allowed: frozenset[str]) -> Cause:
    """The cause of that name; one that nothing honest sends is itself a violation of the protocol."""
    return Cause(name) if name in allowed and name != Cause.NONE.value else Cause.PROTOCOL_VIOLATION


def _kind(name: str) -> FindingKind:
    return FindingKind(name) if name in {kind.value for kind in FindingKind} else FindingKind.OTHER


def _distinct(outcomes: list[Outcome]) -> list[Outcome]:
    return list({(item.cause, item.message, item.place): item for item in outcomes}.values())
