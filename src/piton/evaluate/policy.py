"""What one evaluation is asked to do, and the fixed bounds it keeps; all frozen."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from piton.core.canonical import digest
from piton.core.execution import Accuracy
from piton.core.foreign import SizeBudget
from piton.core.integrity import IntegrityMode
from piton.core.operator import Frozen
from piton.core.protocols import EnginePlace
from piton.core.timeline import TimelineRequest

PrecisionProfile = Literal["strict", "cann-bench"]


class Bounds(Frozen):
    """Limits that keep one submission from costing more than its share."""

    budget_ratio: float = 100.0
    """Device code is cut after this many times T_baseline (facts: a wall deadline would make a verdict depend on the host)."""
    budget_floor_cycles: int = 50_000_000
    """Least budget: 28 ms at 1.8 GHz, room for a slow first version of a small case."""
    budget_ceiling_cycles: int = 10_000_000_000
    """Budget where no T_baseline is known, and the most that is ever given."""
    host_deadline_s: float = 300.0
    """Wall-clock seconds for the host code of one call."""
    golden_deadline_s: float = 900.0
    """Wall-clock seconds for one golden run; longer is a Void."""
    copy_allowance_bytes: int = 4096
    """Bytes that may cross between host and device inside a call, for metadata (D2)."""
    golden_cache_bytes: int = Field(default=4 << 30, ge=0)
    """Size of the golden cache on disk; the oldest entries go first."""
    memory_share: float = 0.8
    """Share of the available memory that running cases and golden runs may be estimated to need together."""
    failure_bytes: int = 2 << 30
    """Most bytes of tensors that the reproducers of one run take; further ones come without tensors and say so."""
    build_bytes: int = 1 << 30
    """Least free disk space for builds; `piton doctor` asks for the same."""


class HiddenRequest(Frozen):
    """Evaluate hidden cases instead of the public ones."""

    key_file: str
    """File with the secret key that they are drawn from."""
    count: int = Field(default=80, ge=1, le=2000)
    """Cases per operator."""
    detail: Literal["counts", "verdicts", "all"] = "counts"
    """What the report says of each case (`evaluate.seal`)."""


class EvaluationRequest(Frozen):
    """One evaluation: which submission, on what, how."""

    submission: str
    """Folder of the submission."""
    run_dir: str
    """Folder of this run: journal, report, immutable copy of the submission, builds."""
    cache_dir: str
    """Folder shared by all runs: golden results, baselines, target builds."""
    suite: str = "piton"
    """Name of a suite of Piton's, or a folder in the published layout."""
    suite_format: str = ""
    """Form of the suite (core.foreign.SuiteFormat); empty to recognise it."""
    suite_budget: SizeBudget = SizeBudget()
    """How large tasks of other benchmarks may be before their sizes are halved."""
    target: str = "ascend910b2-sim"
    operators: tuple[str, ...] = ()
    """Only these operators; empty means all of the suite."""
    levels: tuple[int, ...] = ()
    """Only operators of these levels; empty means all. With `operators` as well, an operator has to be in both."""
    cases: tuple[str, ...] = ()
    """Only these cases, as `id` or `operator/id`; the others are listed as not run."""
    max_elements: int | None = Field(default=None, ge=1)
    """Cases whose inputs together have more elements than this are listed as not run (`too_large`)."""
    is_fast: bool = False
    """Only the three telling cases of each operator, out of those that the other filters left (`evaluate.telling`)."""
    keeps_failures: bool = False
    """Write a reproducer of every failed case to the run folder (`evaluate.failures`)."""
    timelines: TimelineRequest | None = None
    """Write timelines of the launches of every case to the run folder (`evaluate.traces`); no result depends on it."""
    baseline: str = ""
    """A baseline file whose times go before all other T_baseline; empty for none. Its content is part of what a run is identified by."""
    hidden: HiddenRequest | None = None
    """Hidden cases instead of the public ones; None for these."""
    ray: str = ""
    """Address of a Ray cluster whose workers evaluate the cases (`evaluate.cluster`), each `jobs` at a time; empty for this machine."""
    jobs: int = Field(default=1, ge=1, le=256)
    seed: int = Field(default=0, ge=0)
    """Enters every input together with the suite's version, the case and its own seed."""
    trials: int = Field(default=1, ge=1, le=2)
    """Trials that a case has to pass; the second has a fresh seed and shifted inputs (precision standard, rule 8)."""
    integrity: IntegrityMode = "standard"
    """How much of the integrity policy is checked (docs/integrity.md); `full` includes the second trial."""
    precision_profile: PrecisionProfile = "strict"
    accuracy: Accuracy = "exact"
    """How good the simulated Exp, Ln, Div, Rsqrt and Reciprocal are (docs/accuracy.md)."""
    auto_sync: bool | None = None
    """Overrides the submission's own choice of the compiler's auto-sync; None keeps it."""
    engine: EnginePlace = "in-process"
    """Where device code of a virtual NPU runs: beside the engine, or in a process of its own that reaches neither engine nor device memory."""
    isolation: int = 0
    """Least level of isolation (evaluate/sandbox/levels.py); a machine that does not reach it evaluates nothing."""
    is_trusted: bool = False
    """The caller trusts the code of a foreign suite (its golden.py is run)."""
    is_resumed: bool = False
    """Go on with the journal in `run_dir`."""
    bounds: Bounds = Bounds()

    @model_validator(mode="before")
    @classmethod
    def _full_has_two_trials(cls, data: Any) -> Any:
        return {**data, "trials": 2} if isinstance(data, dict) and data.get("integrity") == "full" else data

    def identity(self) -> str:
        """Digest of the options that can change a result; jobs, folders and filters cannot."""
        bounds = self.bounds
        budget = [bounds.budget_ratio, bounds.budget_floor_cycles, bounds.budget_ceiling_cycles, bounds.copy_allowance_bytes]
        hidden = [self.hidden.detail] if self.hidden else []  # key and count are part of the suite's digest
        apart = [self.engine] if self.engine != "in-process" else []
        accuracy = [self.accuracy] if self.accuracy != "exact" else []  # a run in the usual mode is what it was before there was another
        full = [f"integrity {self.integrity}"] if self.integrity != "standard" else []
        patience = [f"host deadline {bounds.host_deadline_s!r}"] if bounds.host_deadline_s != Bounds().host_deadline_s else []
        demanded = [f"isolation {self.isolation}"] if self.isolation else []  # what was measured in a weaker cage does not count in a stronger one
        return digest([self.seed, self.trials, self.precision_profile, self.auto_sync, budget, *hidden, *apart, *accuracy, *full, *patience, *demanded])
