"""Report: everything about one evaluation, schema-versioned; enough to re-score without a device."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from piton.core.canonical import digest
from piton.core.case import Case, SizeClass
from piton.core.dtype import DType
from piton.core.execution import CopyLog, Diagnostic, LaunchRecord
from piton.core.finding import Finding
from piton.core.hardware import ChipFigures
from piton.core.interval import Interval
from piton.core.measurement import Anchor, Measurement
from piton.core.method import Method, Reporting
from piton.core.operator import Frozen
from piton.core.score import HapScore, ScoreProfile
from piton.core.verdict import Outcome

SCHEMA_VERSION: Literal[1] = 1


class RegionCount(Frozen):
    """One unstable region of the precision standard: positions in it, errors of the candidate and of the same-dtype run."""

    positions: int = 0
    errors: int = 0
    native_errors: int | None = None
    """None when the same-dtype run was not needed."""


class WorstPosition(Frozen):
    """One of the worst positions of an output."""

    index: tuple[int, ...]
    got: float
    expected: float
    relative_error: float


class OutputCheck(Frozen):
    """How one output compares with the golden (facts: precision standard)."""

    name: str
    dtype: DType
    elements: int
    precision_profile: Literal["strict", "cann-bench"]
    tau: float
    """Effective mean gate, or the absolute tolerance of an integer output."""
    default_tau: float
    mean_error: float
    max_error: float
    mean_error_outside: float | None = None
    """Mean over the positions outside both regions (strict); None when the first screen passed."""
    small_value: RegionCount = RegionCount()
    cancellation: RegionCount = RegionCount()
    nan_mismatches: int = 0
    inf_mismatches: int = 0
    mismatches: int = 0
    """Positions that break the max bound (floats) or the tolerance (integers)."""
    finite_positions: int = 0
    passed_first_screen: bool = False
    worst: tuple[WorstPosition, ...] = ()
    outcome: Outcome

    @property
    def is_relaxed(self) -> bool:
        """True when the operator's threshold is looser than the default."""
        return self.tau > self.default_tau


class CaseResult(Frozen):
    """One line of the journal: everything about one case."""

    operator: str
    case: Case
    size: SizeClass
    outcome: Outcome
    void: str = ""
    """Why we could not evaluate; such a case is never scored and makes the report incomplete."""
    others: tuple[Outcome, ...] = ()
    """Further outcomes that precedence put behind `outcome`."""
    checks: tuple[OutputCheck, ...] = ()
    second_checks: tuple[OutputCheck, ...] = ()
    """Checks of the second trial; empty when there was none. Time, launches and copies are those of the first."""
    time: Measurement | None = None
    t_hw: Anchor | None = None
    t_baseline: Anchor | None = None
    hap: HapScore | None = None
    launches: tuple[LaunchRecord, ...] = ()
    copies: CopyLog = CopyLog()
    findings: tuple[Finding, ...] = ()
    is_sealed: bool = False
    """True for a hidden case whose details are withheld: it has its verdict and HAP, and is never scored again."""
    wall_s: float = 0.0
    """Wall-clock seconds the harness spent; not part of the canonical result."""


class OperatorResult(Frozen):
    """One operator: its build, its cases, its score."""

    operator: str
    level: int
    category: str = ""
    """Family of the operator as its suite calls it, such as `Elementwise`; empty in files from before it was kept."""
    compiled: bool
    build_outcome: Outcome
    diagnostics: tuple[Diagnostic, ...] = ()
    cases: tuple[CaseResult, ...]
    score: float | None
    """None when a case is void."""
    interval: Interval | None = None
    """Where the score of true times is expected; None without a score, and where no case of the report has one."""


class HiddenSet(Frozen):
    """Which hidden cases a report is about; never the key."""

    key_id: str
    """Name of the key that they were drawn from."""
    count: int
    """Cases per operator."""
    detail: Literal["counts", "verdicts", "all"]
    """What is said of each case: its result under a new number, its result under its id, everything."""


class Integrity(Frozen):
    """The integrity policy in force: what counts as a cheat, and how equal outputs have to be (docs/metrics.md lists its rules)."""

    version: str
    """Raised whenever a rule changes."""
    digest: str
    """SHA-256 of all the rules: refused texts, verdicts with their causes and precedence, thresholds, allowances."""


class Environment(Frozen):
    """Where and with what the evaluation ran; never part of the canonical result."""

    piton: str
    python: str
    torch: str
    compiler: str
    machine: str
    cores: int
    isolation: tuple[str, ...] = ()
    started: str = ""
    """ISO 8601 time."""
    wall_s: float = 0.0
    jobs: int = 1
    libraries: dict[str, str] = Field(default_factory=dict)
    """Versions of further libraries that have a say in results, by package name."""


class Report(Frozen):
    """One evaluation of one submission on one suite and target."""

    schema_version: Literal[1] = SCHEMA_VERSION
    suite: str
    suite_version: str
    suite_digest: str
    submission: str
    """Name of the submission."""
    submission_digest: str
    target: str
    hardware: str
    hardware_digest: str
    chip: ChipFigures | None = None
    """Figures of the hardware file that renderings use; None in files from before they were kept."""
    score_profile: ScoreProfile
    precision_profile: Literal["strict", "cann-bench"]
    integrity: Integrity | None = None
    """None in files from before it was kept."""
    method: Method | None = None
    """How the submission came about, as its submission.toml says; None when it says nothing."""
    reporting: Reporting | None = None
    """What its submission.toml adds to the fair-reporting record; None when it says nothing."""
    hidden: HiddenSet | None = None
    """Set when the cases are hidden ones; `suite_digest` then covers them."""
    seed: int
    trials: int = Field(default=1, ge=1, le=2)
    """Trials that every case had to pass; the second has a fresh seed and shifted inputs."""
    auto_sync: bool
    operators: tuple[OperatorResult, ...]
    missing_operators: dict[str, int] = Field(default_factory=dict)
    """Operators of the suite that the submission does not have, with their levels: each scores 0. Empty when operators were asked for by name."""
    level_scores: dict[str, float | None] = Field(default_factory=dict)
    """Sum of operator scores per level ("1".."4")."""
    total_score: float | None = None
    level_intervals: dict[str, Interval] = Field(default_factory=dict)
    """Where the level scores of true times are expected, as far as known."""
    total_interval: Interval | None = None
    baselines: tuple[str, ...] = ()
    """Versions of T_baseline that the scores were computed with; empty in files from before they were kept."""
    is_complete: bool = True
    """False when any case is void: unranked."""
    findings: tuple[Finding, ...] = ()
    environment: Environment
    result_digest: str = ""
    """Digest of the canonical result, see `canonical_result`."""

    @property
    def most_points(self) -> int:
        """Points that a perfect submission would have, operators that this one lacks included."""
        return 100 * (len(self.operators) + len(self.missing_operators))

    def canonical_result(self) -> dict[str, object]:
        """The report without environment, wall times and its own digest: equal for equal work on any machine.

        What an older report does not have is left out where there is none (second trial, reasons of waits, work figures, the cube's data path, intervals,
        policy, method), so that it still matches its digest.
        """
        data: dict[str, object] = self.model_dump(mode="python", exclude={"environment", "result_digest"})
        operators = data["operators"]
        assert isinstance(operators, (list, tuple))
        for item in operators:
            _drop_absent(item, category="", interval=None)
            for case in item["cases"]:
                _drop_from_case(case)
        if isinstance(data["chip"], dict):
            _drop_absent(data["chip"], fidelity={})
            _drop_absent(data["chip"]["peaks"], cube_path=None)
        _drop_absent(data, trials=1, chip=None, hidden=None, missing_operators={}, level_intervals={}, total_interval=None, baselines=())
        _drop_absent(data, integrity=None, method=None, reporting=None)
        return data

    def canonical_digest(self) -> str:
        """SHA-256 of the canonical result."""
        return digest(self.canonical_result())


def _drop_from_case(case: dict[str, Any]) -> None:
    """Remove from a dumped case its wall time and what an older one does not have."""
    case.pop("wall_s")
    _drop_absent(case, second_checks=(), is_sealed=False)
    for launch in case["launches"]:
        _drop_absent(launch, cores=0, wait_cycles={}, lost_cycles={}, hbm_bytes=None)
    for anchor in filter(None, (case["t_hw"], case["t_baseline"])):
        _drop_absent(anchor, work=None, version="", interval=None)
        if "work" in anchor:
            _drop_absent(anchor["work"], cube_path=None)
    for record in filter(None, (case["time"], case["hap"])):
        _drop_absent(record, interval=None)


def _drop_absent(record: dict[str, object], **absent: object) -> None:
    """Remove the fields that records did not always have, where they hold what stands for their absence."""
    for name, value in absent.items():
        if record[name] == value:
            record.pop(name)
