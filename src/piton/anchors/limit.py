"""T_HW of a case: min over implementation choices of the max over units (paper section 3.2, equation 4), not below the floor."""

from __future__ import annotations

from typing import Literal

from piton.anchors.elementwise import exp_convention, exp_silicon, gelu_convention, gelu_silicon
from piton.anchors.normalization import rms_norm_convention, rms_norm_silicon, softmax_convention, softmax_silicon
from piton.anchors.work import Work, unit_times_us
from piton.core.case import Case
from piton.core.hardware import Hardware, Peaks
from piton.core.measurement import Anchor, AnchorKind, Provenance
from piton.core.operator import Operator

Block = Literal["silicon", "convention"]
"""Which peaks and counts: documented ones and the cheapest known code (silicon), or those behind the published anchors (convention)."""

_FORMULAS = {
    "exp": {"convention": exp_convention, "silicon": exp_silicon},
    "gelu": {"convention": gelu_convention, "silicon": gelu_silicon},
    "rms_norm": {"convention": rms_norm_convention, "silicon": rms_norm_silicon},
    "softmax": {"convention": softmax_convention, "silicon": softmax_silicon},
}

_ATTRIBUTES = {"exp": {"base", "scale", "shift"}, "gelu": {"approximate"}, "rms_norm": {"epsilon"}, "softmax": {"dim"}}
"""The operator's attributes; an operator of another suite may share the name and not the meaning."""


def has_formula(operator: Operator) -> bool:
    """True when T_HW of this operator can be computed: it has our name and our attributes."""
    return operator.name in _FORMULAS and _ATTRIBUTES[operator.name] == {attribute.name for attribute in operator.attributes}


def t_hw(operator: Operator, case: Case, hardware: Hardware, block: Block = "silicon") -> Anchor | None:
    """T_HW in microseconds with the unit that limits it, or None for an operator without a formula.

    `unit_times_us` has one entry per unit (mte2, mte3, vector, cube) and `floor`. Raises FormatError when the hardware lacks a rate that is needed.
    """
    if not has_formula(operator):
        return None
    peaks = hardware.silicon if block == "silicon" else hardware.convention
    candidates = [(work, _times(work, peaks)) for work in _FORMULAS[operator.name][block](case)]
    work, times = min(candidates, key=lambda item: max(item[1].values()))
    limiting = max(times, key=lambda unit: times[unit])
    return Anchor(
        kind=AnchorKind.T_HW,
        value_us=times[limiting],
        provenance=Provenance.MODELLED,
        method=f"{block} peaks of {hardware.name}, {operator.name} as {work.choice}",
        limiting_unit=limiting,
        unit_times_us=times,
    )


def _times(work: Work, peaks: Peaks) -> dict[str, float]:
    return {**unit_times_us(work, peaks), "floor": peaks.floor_us.value}
