"""T_HW and T_baseline of a case: looked up, computed or simulated, each named by where it comes from (D5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from piton.anchors import t_hw
from piton.catalog import QuotedAnchors
from piton.core.case import Case
from piton.core.errors import EvaluatorError
from piton.core.execution import CaseCall
from piton.core.finding import Finding, FindingKind
from piton.core.hardware import Hardware
from piton.core.measurement import Anchor, Provenance
from piton.core.operator import Operator
from piton.core.score import ScoreProfile
from piton.evaluate.arguments import filled_case
from piton.evaluate.baseline_sources import BaselineSources
from piton.evaluate.policy import Bounds

Quoted = Mapping[tuple[str, str], QuotedAnchors]
"""Published anchors by operator and case id."""
_NOTHING_QUOTED = QuotedAnchors()


@dataclass(frozen=True)
class CaseAnchors:
    """The two ends of a case's scale; either may be unknown."""

    t_hw: Anchor | None
    t_baseline: Anchor | None
    findings: tuple[Finding, ...] = ()
    """What a person should know about where they come from."""


def peaks_block(profile: ScoreProfile) -> Literal["silicon", "convention"]:
    """The block of the hardware file whose peaks T_HW of this profile is made of (D4)."""
    return "silicon" if profile is ScoreProfile.SIM else "convention"


class AnchorBook:
    """Answers for one hardware, suite and score profile."""

    def __init__(self, hardware: Hardware, profile: ScoreProfile, quoted: Quoted, baselines: BaselineSources, bounds: Bounds) -> None:
        self._hardware = hardware
        self._profile = profile
        self._quoted = quoted
        self._baselines = baselines
        self._bounds = bounds

    def of(self, operator: Operator, case: Case) -> CaseAnchors:
        """Anchors of a case. Raises EvaluatorError when a baseline of ours does not run."""
        quoted = self._quoted.get((operator.name, case.id), _NOTHING_QUOTED)
        if self._profile is ScoreProfile.CPU:
            chosen = self._baselines.choose(operator, case, None, self._profile)
            return CaseAnchors(None, chosen.anchor, chosen.findings)
        roof = t_hw(operator, filled_case(operator, case), self._hardware, peaks_block(self._profile)) or quoted.t_hw
        chosen = self._baselines.choose(operator, case, quoted.t_baseline, self._profile)
        return CaseAnchors(roof, chosen.anchor, chosen.findings)

    @property
    def is_measuring(self) -> bool:
        """True on a target that measures real time on this machine."""
        return self._baselines.measured is not None

    def measured(self, anchors: CaseAnchors, operator: Operator, case: Case, call: CaseCall) -> CaseAnchors:
        """The anchors with T_baseline measured now, on targets where it is, unless a file has given one; without, and with a finding, where that fails."""
        source = self._baselines.measured
        if source is None or anchors.t_baseline is not None:
            return anchors
        try:
            return replace(anchors, t_baseline=source.anchor(operator, case, call))
        except EvaluatorError as error:  # the submission's time is as good without it
            return replace(anchors, findings=(*anchors.findings, Finding(kind=FindingKind.OTHER, message=str(error))))

    def budget_cycles(self, anchors: CaseAnchors) -> int:
        """Simulated cycles a call may take: a multiple of T_baseline, between a floor and a ceiling. Of a modelled one the upper end counts: it is rough."""
        baseline = anchors.t_baseline
        if baseline is None:
            return self._bounds.budget_ceiling_cycles
        rough = baseline.interval if baseline.provenance is Provenance.MODELLED else None
        time_us = rough.high if rough else baseline.value_us
        cycles = int(time_us * 1e-6 * self._hardware.clock_hz.value * self._bounds.budget_ratio)
        return min(max(cycles, self._bounds.budget_floor_cycles), self._bounds.budget_ceiling_cycles)

    def close(self) -> None:
        """End the processes of baselines; a baseline run in progress fails."""
        self._baselines.close()
