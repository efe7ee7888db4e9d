"""T_HW of a case: min over implementation choices of the max over units (paper section 3.2, equation 4), not below the floor."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Literal

from piton.anchors import (
    attention,
    combining,
    convolution,
    data_movement,
    elementwise,
    grouped_products,
    language_layers,
    latent_projections,
    low_bit,
    low_bit_products,
    matmul,
    normalization,
    quantized_rows,
    recurrent,
    reduction,
    resampling,
    routing,
    sampling,
    selection,
    stencil,
)
from piton.anchors.formula import Formula
from piton.anchors.work import UNITS, Work, unit_times_us
from piton.core.case import Case
from piton.core.errors import FormatError
from piton.core.hardware import Hardware, Peaks
from piton.core.measurement import Anchor, AnchorKind, Provenance
from piton.core.operator import Operator

Block = Literal["silicon", "convention"]
"""Which peaks and counts: documented ones and the cheapest known code (silicon), or those behind the published anchors (convention)."""
Bottleneck = Literal["Vector", "Cube", "MTE", "floor"]
"""What limits a case, in the words of the paper; `floor` where no unit takes as long as the shortest kernel."""
FLOOR = "floor"
"""Entry of `unit_times_us` beside the units: the shortest time that any kernel is said to take."""
_ROLLED_UP: dict[str, Bottleneck] = {"vector": "Vector", "cube": "Cube", "mte1": "MTE", "mte2": "MTE", "mte3": "MTE", "fixp": "MTE", FLOOR: "floor"}

_FORMULAS: dict[str, Formula] = {
    **attention.FORMULAS,
    **combining.FORMULAS,
    **convolution.FORMULAS,
    **data_movement.FORMULAS,
    **elementwise.FORMULAS,
    **grouped_products.FORMULAS,
    **language_layers.FORMULAS,
    **latent_projections.FORMULAS,
    **low_bit.FORMULAS,
    **low_bit_products.FORMULAS,
    **matmul.FORMULAS,
    **normalization.FORMULAS,
    **quantized_rows.FORMULAS,
    **recurrent.FORMULAS,
    **reduction.FORMULAS,
    **resampling.FORMULAS,
    **routing.FORMULAS,
    **sampling.FORMULAS,
    **selection.FORMULAS,
    **stencil.FORMULAS,
}


def has_formula(operator: Operator) -> bool:
    """True when T_HW of this operator can be computed: it has our name and our attributes."""
    return operator.name in _FORMULAS and _FORMULAS[operator.name].attributes == {attribute.name for attribute in operator.attributes}


def reasoning(operator: Operator, block: Block) -> str:
    """What the operator's formula says about itself: the text of its function for `block`; empty without one."""
    if not has_formula(operator):
        return ""
    formula = _FORMULAS[operator.name]
    function = formula.convention if block == "convention" else formula.silicon
    return (inspect.getdoc(function) or "") if function else ""


def family(operator: Operator) -> str:
    """What the module of the operator's formula says of all its operators; empty without a formula."""
    module = inspect.getmodule(_FORMULAS[operator.name].silicon) if has_formula(operator) else None
    return (inspect.getdoc(module) or "") if module else ""


def t_hw(operator: Operator, case: Case, hardware: Hardware, block: Block = "silicon") -> Anchor | None:
    """T_HW in microseconds with the unit that limits it, or None for an operator without a formula, and for the convention where no anchors are published.

    None also for a case that the formula can't read: a suite from outside may leave a value to its golden, or mean something else by a name.
    `unit_times_us` has one entry per unit (`work.UNITS`) and `floor`. Raises FormatError when the hardware lacks a rate that is needed.
    """
    try:
        best = fastest(candidates(operator, case, hardware, block))
    except UnreadableCaseError:
        return None
    if best is None:
        return None
    return Anchor(
        kind=AnchorKind.T_HW,
        value_us=best.time_us,
        provenance=Provenance.MODELLED,
        method=f"{block} peaks of {hardware.name}, {operator.name} as {best.work.choice}",
        limiting_unit=best.limiting_unit,
        unit_times_us=best.unit_times_us,
        work=best.work.figures(),
    )


@dataclass(frozen=True)
class Candidate:
    """One implementation choice with the time of each unit."""

    work: Work
    unit_times_us: dict[str, float]
    """The six units and `floor`."""

    @property
    def limiting_unit(self) -> str:
        """The unit that takes longest; `floor` where none takes longer than that."""
        slowest = max(UNITS, key=lambda unit: self.unit_times_us[unit])
        return slowest if self.unit_times_us[slowest] > self.unit_times_us[FLOOR] else FLOOR

    @property
    def bottleneck(self) -> Bottleneck:
        """The limiting unit rolled up."""
        return bottleneck(self.limiting_unit)

    @property
    def time_us(self) -> float:
        """What the limiting unit takes."""
        return self.unit_times_us[self.limiting_unit]


def fastest(found: tuple[Candidate, ...]) -> Candidate | None:
    """The choice that makes T_HW, None for no choices. Where several take equally long, the one whose units have least to do: it leaves most room."""
    return min(found, key=lambda candidate: (candidate.time_us, sum(candidate.unit_times_us.values())), default=None)


def bottleneck(limiting_unit: str) -> Bottleneck:
    """The rolled-up label of a limiting unit: the four data movers are MTE (paper section 3.2, bottleneck attribution); the floor is said as such."""
    return _ROLLED_UP[limiting_unit]


class UnreadableCaseError(FormatError):
    """A case that its operator's work formula can't read: sizes and attributes that do not go together."""


def candidates(operator: Operator, case: Case, hardware: Hardware, block: Block = "silicon") -> tuple[Candidate, ...]:
    """The choices among which T_HW is the fastest, in the order of the formula; none for an operator without one.

    Raises UnreadableCaseError when the case is none that the formula can read, FormatError when the hardware lacks a rate that is needed.
    """
    if not has_formula(operator):
        return ()
    try:
        works = _works(_FORMULAS[operator.name], case, hardware, block)
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:  # formulas trust that a case is one of the operator
        raise _unreadable(operator, case, error) from error
    if block == "convention":
        return tuple(priced(work, hardware.convention) for work in works)
    return tuple(priced(work, hardware.silicon, shares_hbm=True) for work in works)


def _works(formula: Formula, case: Case, hardware: Hardware, block: Block) -> tuple[Work, ...]:
    if block == "silicon":
        return formula.silicon(case, hardware)
    return (formula.convention(case, hardware.edition),) if formula.convention else ()


def _unreadable(operator: Operator, case: Case, error: Exception) -> UnreadableCaseError:
    shapes = ", ".join(f"{item.argument} {list(item.shape)}" for item in case.inputs)
    problem = f"the work formula of {operator.name} can't read case {case.id}: sizes and attributes do not go together"
    return UnreadableCaseError(problem, found=f"{shapes} ({type(error).__name__}: {error})", action="check its shapes and attributes")


def priced(work: Work, peaks: Peaks, *, shares_hbm: bool = False) -> Candidate:
    """What this work takes at these peaks; `shares_hbm` is physical, published anchors know nothing of it. Raises FormatError for a lacking rate."""
    return Candidate(work, {**unit_times_us(work, peaks, shares_hbm=shares_hbm), FLOOR: peaks.floor_us.value})
