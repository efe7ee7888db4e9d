"""Report: everything about one evaluation, schema-versioned; enough to re-score without a device."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from piton.core.canonical import digest
from piton.core.case import Case, SizeClass
from piton.core.dtype import DType
from piton.core.execution import Accuracy, CopyLog, Diagnostic, LaunchRecord
from piton.core.fault import Fault, Retry
from piton.core.finding import Finding
from piton.core.hardware import ChipFigures
from piton.core.integrity import Integrity
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
    """Positions in the region."""
    errors: int = 0
    """Of these, positions where the submission is out of bounds."""
    native_errors: int | None = None
    """None when the same-dtype run was not needed."""


class WorstPosition(Frozen):
    """One of the worst positions of an output."""

    index: tuple[int, ...]
    """Of the element, one number per axis."""
    got: float
    """What the submission wrote."""
    expected: float
    """What the golden has."""
    relative_error: float
    """Their relative error."""


class OutputCheck(Frozen):
    """How one output compares with the golden (facts: precision standard)."""

    name: str
    """Of the output, as in the signature."""
    dtype: DType
    """Its element type."""
    elements: int
    """Number of elements, all of which were compared."""
    precision_profile: Literal["strict", "cann-bench"]
    """Which form of the precision standard was used."""
    tau: float
    """Effective mean gate, or the absolute tolerance of an integer output."""
    default_tau: float
    """What tau is without the operator's own threshold."""
    mean_error: float
    """Mean relative error over the finite positions."""
    max_error: float
    """Largest relative error."""
    mean_error_outside: float | None = None
    """Mean over the positions outside both regions (strict); None when the first screen passed."""
    small_value: RegionCount = RegionCount()
    """Positions whose golden is close to zero."""
    cancellation: RegionCount = RegionCount()
    """Positions where large terms cancel."""
    nan_mismatches: int = 0
    """Positions where only one of the two is NaN."""
    inf_mismatches: int = 0
    """Positions where infinities differ."""
    mismatches: int = 0
    """Positions that break the max bound (floats) or the tolerance (integers)."""
    finite_positions: int = 0
    """Positions where both are finite."""
    passed_first_screen: bool = False
    """True when mean and max error suffice without a look at the regions."""
    worst: tuple[WorstPosition, ...] = ()
    """The worst positions, worst first."""
    outcome: Outcome
    """What became of this output."""

    @property
    def is_relaxed(self) -> bool:
        """True when the operator's threshold is looser than the default."""
        return self.tau > self.default_tau


class CaseResult(Frozen):
    """One line of the journal: everything about one case."""

    operator: str
    """Name of the operator."""
    case: Case
    """What was asked: inputs and attributes."""
    size: SizeClass
    """Size class of the case."""
    outcome: Outcome
    """What became of it."""
    void: str = ""
    """Why we could not evaluate; such a case is never scored and makes the report incomplete."""
    fault: Fault | None = None
    """What kind of fault made it void; None for a case that is not, and in files from before it was kept."""
    others: tuple[Outcome, ...] = ()
    """Further outcomes that precedence put behind `outcome`."""
    checks: tuple[OutputCheck, ...] = ()
    """How each output compares with the golden; empty when nothing was compared."""
    second_checks: tuple[OutputCheck, ...] = ()
    """Checks of the second trial; empty when there was none. Time, launches and copies are those of the first."""
    time: Measurement | None = None
    """T_cand; None unless the case passed and has a time."""
    t_hw: Anchor | None = None
    """What the hardware allows at best; None where nothing says so."""
    t_baseline: Anchor | None = None
    """What a plain implementation takes; None where nothing says so."""
    hap: HapScore | None = None
    """Where T_cand lies between the two; None without all three."""
    launches: tuple[LaunchRecord, ...] = ()
    """What the device did for one call, in order."""
    copies: CopyLog = CopyLog()
    """Copies that the host asked for during the call."""
    findings: tuple[Finding, ...] = ()
    """What a person should look at."""
    is_sealed: bool = False
    """True for a hidden case whose details are withheld: it has its verdict and HAP, and is never scored again."""
    wall_s: float = 0.0
    """Wall-clock seconds the harness spent; not part of the canonical result."""
    retries: tuple[Retry, ...] = ()
    """Tries before this one that a fault of the machine brought to nothing; not part of the canonical result."""


class OperatorResult(Frozen):
    """One operator: its build, its cases, its score."""

    operator: str
    """Name in the suite."""
    level: int
    """Level of difficulty that the suite gives it, from 1."""
    category: str = ""
    """Family of the operator as its suite calls it, such as `Elementwise`; empty in files from before it was kept."""
    compiled: bool
    """True when it was built; otherwise no case ran."""
    build_outcome: Outcome
    """What became of the build."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Messages of the compiler."""
    cases: tuple[CaseResult, ...]
    """Every case of the operator, run or not, in the order of the suite."""
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


class Environment(Frozen):
    """Where and with what the evaluation ran; never part of the canonical result."""

    piton: str
    """Version of Piton."""
    python: str
    """Version of Python."""
    torch: str
    """Version of torch."""
    compiler: str
    """First line of what the compiler says of itself."""
    machine: str
    """System and processor."""
    cores: int
    """Processor cores of the machine."""
    isolation: tuple[str, ...] = ()
    """Measures that were in force around the submission."""
    isolation_level: int | None = None
    """The level they make up (docs/processes.md); None in a report from before there were levels."""
    started: str = ""
    """ISO 8601 time."""
    wall_s: float = 0.0
    """Wall-clock seconds of the whole evaluation."""
    jobs: int = 1
    """Cases that ran at the same time."""
    libraries: dict[str, str] = Field(default_factory=dict)
    """Versions of further libraries that have a say in results, by package name."""


class Report(Frozen):
    """One evaluation of one submission on one suite and target."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this form; a reader refuses any other."""
    suite: str
    """Name of the suite."""
    suite_version: str
    """Its version."""
    suite_digest: str
    """SHA-256 of every signature, case and golden that was asked for."""
    submission: str
    """Name of the submission."""
    submission_digest: str
    """SHA-256 of its manifest and every file."""
    target: str
    """What it ran on, such as `ascend910b2-sim`."""
    hardware: str
    """Name of the chip, the same for a device and its simulation."""
    hardware_digest: str
    """SHA-256 of every figure of the hardware file."""
    chip: ChipFigures | None = None
    """Figures of the hardware file that renderings use; None in files from before they were kept."""
    score_profile: ScoreProfile
    """Which triple of times the scores are made of."""
    precision_profile: Literal["strict", "cann-bench"]
    """Which form of the precision standard outputs were compared by."""
    accuracy: Accuracy = "exact"
    """How good the simulated Exp, Ln, Div, Rsqrt and Reciprocal were (docs/accuracy.md); "exact" in files from before it was kept."""
    integrity: Integrity | None = None
    """Version of the integrity policy in force; None in files from before it was kept."""
    method: Method | None = None
    """How the submission came about, as its submission.toml says; None when it says nothing."""
    reporting: Reporting | None = None
    """What its submission.toml adds to the fair-reporting record; None when it says nothing."""
    hidden: HiddenSet | None = None
    """Set when the cases are hidden ones; `suite_digest` then covers them."""
    seed: int
    """Seed of all inputs."""
    trials: int = Field(default=1, ge=1, le=2)
    """Trials that every case had to pass; the second has a fresh seed and shifted inputs."""
    auto_sync: bool
    """True when the compiler's auto-sync was on."""
    operators: tuple[OperatorResult, ...]
    """Every operator that was asked for, in the order of the suite."""
    missing_operators: dict[str, int] = Field(default_factory=dict)
    """Operators of the suite that the submission does not have, with their levels: each scores 0. Empty when operators were asked for by name."""
    level_scores: dict[str, float | None] = Field(default_factory=dict)
    """Sum of operator scores per level ("1".."4")."""
    total_score: float | None = None
    """Sum of all operator scores; None when an operator has none."""
    level_intervals: dict[str, Interval] = Field(default_factory=dict)
    """Where the level scores of true times are expected, as far as known."""
    total_interval: Interval | None = None
    """Where the total score of true times is expected, as far as known."""
    baselines: tuple[str, ...] = ()
    """Versions of T_baseline that the scores were computed with; empty in files from before they were kept."""
    is_complete: bool = True
    """False when any case is void: unranked."""
    findings: tuple[Finding, ...] = ()
    """What a person should know about the whole run."""
    environment: Environment
    """Where and with what it ran."""
    result_digest: str = ""
    """Digest of the canonical result, see `canonical_result`."""

    @property
    def most_points(self) -> int:
        """Points that a perfect submission would have, operators that this one lacks included."""
        return 100 * (len(self.operators) + len(self.missing_operators))

    def canonical_result(self) -> dict[str, object]:
        """The report without environment, wall times, retries, what depends on the isolation and its own digest: equal for equal work on any machine.

        What an older report does not have is left out where there is none (second trial, reasons of waits, work figures, the cube's data path, intervals,
        policy, its mode, method, accuracy, cube cores of a mixed launch), so that it still matches its digest.
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
        if isinstance(data["integrity"], dict):
            data["integrity"].pop("rules")
            _drop_absent(data["integrity"], mode="standard")
        _drop_absent(data, integrity=None, method=None, reporting=None, accuracy="exact")
        return data

    def canonical_digest(self) -> str:
        """SHA-256 of the canonical result."""
        return digest(self.canonical_result())


def _drop_from_case(case: dict[str, Any]) -> None:
    """Remove from a dumped case its wall time, its retries and what an older one does not have."""
    case.pop("wall_s")
    case.pop("retries")
    _drop_absent(case, fault=None, second_checks=(), is_sealed=False)
    for launch in case["launches"]:
        _drop_absent(launch, cores=0, wait_cycles={}, lost_cycles={}, hbm_bytes=None, l2_bytes=None, cube=None)
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
