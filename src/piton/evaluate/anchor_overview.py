"""T_HW over a whole suite: which operators have a work formula, what limits their cases, and between which times they lie."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from piton.anchors import Block, bottleneck, has_formula, t_hw
from piton.core.case import Case
from piton.core.hardware import Hardware
from piton.core.operator import Frozen, Operator
from piton.core.suite import Suite, SuiteOperator
from piton.evaluate.anchor_view import BLOCKS, absent_types
from piton.evaluate.arguments import filled_case


class BlockOverview(Frozen):
    """T_HW of an operator's cases (or of all) in one profile."""

    block: Literal["silicon", "convention"]
    cases: int
    """Those that have a T_HW here."""
    labels: dict[str, int]
    """Cases by what limits them: Vector, Cube, MTE, floor."""
    units: dict[str, int]
    """The same by unit."""
    least_us: float
    median_us: float
    most_us: float


class OperatorOverview(Frozen):
    """One operator."""

    operator: str
    level: int
    cases: int
    has_formula: bool
    absent: int
    """Cases with an element type that the chip does not have."""
    blocks: tuple[BlockOverview, ...]
    """Empty without a formula."""


class SuiteOverview(Frozen):
    """All operators, and all of them together."""

    operators: tuple[OperatorOverview, ...]
    with_formula: int
    """Operators whose T_HW can be computed."""
    blocks: tuple[BlockOverview, ...]


def view_limits(suite: Suite, hardware: Hardware) -> SuiteOverview:
    """The limits of every case of the suite on this chip; nothing is run."""
    limits = {member.operator.name: _limits(member, hardware) for member in suite.members}
    together = {block: [item for found in limits.values() for item in found[block]] for block in BLOCKS}
    operators = tuple(_operator(member, limits[member.operator.name], hardware) for member in suite.members)
    return SuiteOverview(operators=operators, with_formula=sum(item.has_formula for item in operators), blocks=_blocks(together))


_Limit = tuple[float, str]
"""T_HW in microseconds, and the limiting unit."""


def _limits(member: SuiteOperator, hardware: Hardware) -> dict[Block, list[_Limit]]:
    cases = [filled_case(member.operator, case) for case in member.cases if not absent_types(case, hardware)]
    return {block: _of_block(member.operator, cases, hardware, block) for block in BLOCKS}


def _of_block(operator: Operator, cases: Sequence[Case], hardware: Hardware, block: Block) -> list[_Limit]:
    anchors = (t_hw(operator, case, hardware, block) for case in cases)
    return [(anchor.value_us, anchor.limiting_unit) for anchor in anchors if anchor is not None]


def _operator(member: SuiteOperator, limits: dict[Block, list[_Limit]], hardware: Hardware) -> OperatorOverview:
    return OperatorOverview(
        operator=member.operator.name,
        level=member.operator.level,
        cases=len(member.cases),
        has_formula=has_formula(member.operator),
        absent=sum(bool(absent_types(case, hardware)) for case in member.cases),
        blocks=_blocks(limits),
    )


def _blocks(limits: dict[Block, list[_Limit]]) -> tuple[BlockOverview, ...]:
    return tuple(_block(block, found) for block, found in limits.items() if found)


def _block(block: Block, found: Sequence[_Limit]) -> BlockOverview:
    times = [time for time, _ in found]
    units = Counter(unit for _, unit in found)
    return BlockOverview(
        block=block,
        cases=len(found),
        labels=dict(Counter(bottleneck(unit) for _, unit in found)),
        units=dict(units),
        least_us=min(times),
        median_us=statistics.median(times),
        most_us=max(times),
    )
