"""T_HW and T_baseline of a case: looked up, computed or simulated, each named by where it comes from (D5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from piton.anchors import choose_baseline, t_hw
from piton.catalog import QuotedAnchors
from piton.core.case import Case
from piton.core.hardware import Hardware
from piton.core.measurement import Anchor
from piton.core.operator import Operator
from piton.core.score import ScoreProfile
from piton.evaluate.arguments import all_attributes
from piton.evaluate.baselines import KnownBaselines, SimulatedBaselines
from piton.evaluate.policy import Bounds

Quoted = Mapping[tuple[str, str], QuotedAnchors]
"""Published anchors by operator and case id."""
_NOTHING_QUOTED = QuotedAnchors()


@dataclass(frozen=True)
class CaseAnchors:
    """The two ends of a case's scale; either may be unknown."""

    t_hw: Anchor | None
    t_baseline: Anchor | None


def peaks_block(profile: ScoreProfile) -> Literal["silicon", "convention"]:
    """The block of the hardware file whose peaks T_HW of this profile is made of (D4)."""
    return "silicon" if profile is ScoreProfile.SIM else "convention"


class AnchorBook:
    """Answers for one hardware, suite and score profile."""

    def __init__(
        self, hardware: Hardware, profile: ScoreProfile, quoted: Quoted, baselines: SimulatedBaselines | KnownBaselines | None, bounds: Bounds
    ) -> None:
        self._hardware = hardware
        self._profile = profile
        self._quoted = quoted
        self._baselines = baselines
        self._bounds = bounds

    def of(self, operator: Operator, case: Case) -> CaseAnchors:
        """Anchors of a case. Raises EvaluatorError when a baseline of ours does not run."""
        quoted = self._quoted.get((operator.name, case.id), _NOTHING_QUOTED)
        filled = case.model_copy(update={"attributes": all_attributes(operator, case)})  # work formulas read every attribute
        roof = t_hw(operator, filled, self._hardware, peaks_block(self._profile)) or quoted.t_hw
        simulated = self._baselines.anchor(operator, case) if self._baselines else None
        return CaseAnchors(roof, choose_baseline(simulated=simulated, modelled=None, quoted=quoted.t_baseline, profile=self._profile))

    def budget_cycles(self, anchors: CaseAnchors) -> int:
        """Simulated cycles a call may take: a multiple of T_baseline, between a floor and a ceiling."""
        if anchors.t_baseline is None:
            return self._bounds.budget_ceiling_cycles
        cycles = int(anchors.t_baseline.value_us * 1e-6 * self._hardware.clock_hz.value * self._bounds.budget_ratio)
        return min(max(cycles, self._bounds.budget_floor_cycles), self._bounds.budget_ceiling_cycles)

    def close(self) -> None:
        """End the processes of baselines; a baseline run in progress fails."""
        if self._baselines is not None:
            self._baselines.close()
