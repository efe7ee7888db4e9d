"""Records of a comparison of reports: what `piton compare --json` prints (docs/compare.schema.json)."""

from __future__ import annotations

from typing import Literal

from piton.core.measurement import Provenance
from piton.core.operator import Frozen
from piton.report.moves import DOUBTFUL_KINDS, Move, kind_text

SCHEMA_VERSION: Literal[1] = 1


class Run(Frozen):
    """One report of a comparison."""

    name: str
    """What it is called here: its folder, where that tells runs apart."""
    submission: str
    """Name of the submission."""
    submission_digest: str
    """Its identity."""
    target: str
    """What it ran on."""
    score_profile: str
    """Which triple of times its scores are made of."""
    result_digest: str
    """Identity of the report."""
    piton: str
    """Version that wrote it."""


class Difference(Frozen):
    """Something beside the submission in which a run differs from the first."""

    run: str
    """Name of the run."""
    field: str
    """Field of report.json, or `piton` for the version that wrote it."""
    first: str
    """What the first run has."""
    other: str
    """What this one has."""

    @property
    def text(self) -> str:
        """In a sentence, without the name of the first run."""
        return f"{self.field.replace('_', ' ')} of {self.run}: {self.other}, not {self.first}"


class Sum(Frozen):
    """An operator, a level, a category or all, in two reports."""

    name: str
    """Of the operator, level or category, or `total`."""
    before: float | None
    """Score; None when there is none, or the group is not in the report."""
    after: float | None
    """Score in the other report."""
    most: int
    """Points of a perfect submission, in the report that has more of them."""
    passed_before: int
    """Cases that passed in the first report."""
    passed_after: int
    """Cases that passed in the other."""
    speedup: float | None = None
    """Geometric mean of T_cand before / after over the cases that passed in both, with times of one origin."""
    speedup_provenances: tuple[Provenance, ...] = ()
    """Where these times come from; more than one where some cases have device times in both and others simulated ones."""

    @property
    def change(self) -> float | None:
        """Points won."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def is_worse(self) -> bool:
        """True when the score is lower or gone, or fewer cases passed."""
        is_gone = self.before is not None and self.after is None
        return is_gone or (self.change or 0.0) < 0 or self.passed_after < self.passed_before

    @property
    def has_changed(self) -> bool:
        """True when the score, the passed cases, or the speed-up in the second decimal did."""
        is_moved = self.speedup is not None and abs(self.speedup - 1) >= 0.005
        return self.before != self.after or self.passed_before != self.passed_after or is_moved


class SpeedUp(Frozen):
    """Geometric mean of T_cand before / T_cand after."""

    value: float
    """Above 1 the other run is faster."""
    low: float | None = None
    """Lower end of the interval."""
    high: float | None = None
    """95 % interval over cases, resampled inside operators: how far it depends on which cases there are. None for fewer than two cases or equal ones."""
    cases: int
    """Cases that it is the mean over."""
    provenances: tuple[Provenance, ...]
    """Where their times come from; a case counts only with one origin in both runs."""


class Pair(Frozen):
    """One run against the first."""

    before: str
    """Name of the first run."""
    after: str
    """Name of the other run."""
    counts: dict[str, int]
    """Cases by kind of move, `unchanged` among them."""
    moves: tuple[Move, ...]
    """Every case that moved, in the order of their weight."""
    speedup: SpeedUp | None
    """None when no case passed in both with times of one origin."""
    total: Sum
    """All operators."""
    levels: tuple[Sum, ...]
    """By level."""
    categories: tuple[Sum, ...]
    """By category."""
    operators: tuple[Sum, ...]
    """Every operator that one of the two has."""
    is_sums_only: bool = False
    """True when hidden cases of the two can't be matched: `counts` and `moves` are empty then."""

    @property
    def regressions(self) -> tuple[Move, ...]:
        """What a gate stops."""
        return tuple(item for item in self.moves if item.is_regression)

    @property
    def is_doubtful(self) -> bool:
        """True when this run is not shown to be as good as the first one, whether or not a gate stops it."""
        has_worse_sum = self.is_sums_only and any(item.is_worse for item in self.operators)
        return has_worse_sum or bool(self.regressions) or any(item.kind in DOUBTFUL_KINDS for item in self.moves)

    @property
    def headline(self) -> str:
        """`2 broke, 5 faster, 13 unchanged`."""
        if self.is_sums_only:
            return "hidden cases can't be told apart, so only sums are compared"
        return ", ".join(f"{count} {kind_text(kind)}" for kind, count in self.counts.items() if count) or "no cases"


class Comparison(Frozen):
    """The reports in the order they were given."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this form."""
    runs: tuple[Run, ...]
    """The reports, in the order they were given; the first is what the others are compared with."""
    least_time_change: float
    """A smaller change of T_cand, as a share, is none."""
    least_hap_change: float
    """A smaller change of HAP, where T_cand stayed, is none."""
    differences: tuple[Difference, ...]
    """What beside the submission differs: then a difference of scores says little about the submissions."""
    pairs: tuple[Pair, ...]
    """Every other run against the first."""
