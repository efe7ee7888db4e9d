"""Do the sizes of a case go together? Compared with the forms that rules.yaml has for the operator's shapes.

Problem: a person who types shapes may leave gamma at the length of another x, and a formula would count that without a word. Approach: an axis that is a
plain name takes its first size; every other use of the name, and every formula whose names are known, has to agree; what stands for `...` is the same
everywhere. Limits: forms are for drawing cases and may be narrower than the operator, so that a mismatch is a remark and no error; without rules.yaml, or
for a combination of tensors that no form has, nothing can be said.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from piton.catalog.expression import ExpressionError, parse_expression
from piton.catalog.rule_forms import BATCH
from piton.catalog.rules import Layout, read_rules
from piton.core.case import Case
from piton.core.operator import Operator

Shape = tuple[int, ...]
_Pairs = list[tuple[str, int]]


def sizes_go_together(operator: Operator, case: Case) -> bool:
    """False when there are forms for these tensors and the sizes fit none of them."""
    rules = read_rules(Path(operator.golden_path).parent, operator) if operator.golden_path else None
    given = {item.argument for item in case.inputs}
    layouts = [layout for layout in rules.layouts if {name.partition("[")[0] for name, _ in layout.shapes} == given] if rules else []
    return not layouts or any(_fits(layout, case) for layout in layouts)


def _fits(layout: Layout, case: Case) -> bool:
    """True when every element of a list by itself, with the plain tensors, agrees with the layout."""
    longest = max((item.list_index or 0) for item in case.inputs)
    return all(_element_fits(layout, case, index) for index in range(longest + 1))


def _element_fits(layout: Layout, case: Case, index: int) -> bool:
    pairs: _Pairs = []
    for axes, shape in _shapes(layout, case, index):
        found = _paired(axes, shape)
        if found is None:
            return False
        pairs += found
    return _agree(pairs)


def _shapes(layout: Layout, case: Case, index: int) -> Iterator[tuple[tuple[str, ...], Shape]]:
    forms = dict(layout.shapes)
    for item in case.inputs:
        axes = forms.get(item.argument) or forms.get(f"{item.argument}[{item.list_index}]")
        if axes is not None and item.list_index in (None, index):
            yield axes, item.shape


def _paired(axes: tuple[str, ...], shape: Shape) -> _Pairs | None:
    """Each axis with its size, those that `...` stands for numbered from the right, and their count; None for another rank."""
    if BATCH not in axes:
        return list(zip(axes, shape, strict=True)) if len(axes) == len(shape) else None
    count = len(shape) - len(axes) + 1
    if count < 0:
        return None
    names = [f"{BATCH}{count - place}" for place in range(count)]
    return [(f"{BATCH}#", count), *zip([*names, *axes[1:]], shape, strict=True)]


def _agree(pairs: _Pairs) -> bool:
    sizes: dict[str, int] = {}
    for axis, size in pairs:
        if (axis.isidentifier() or axis.startswith(BATCH)) and sizes.setdefault(axis, size) != size:
            return False
    return all(_has_value(axis, size, sizes) for axis, size in pairs if not (axis.isidentifier() or axis.startswith(BATCH)))


def _has_value(axis: str, size: int, sizes: dict[str, int]) -> bool:
    """True when the formula gives `size`, or has names that no tensor tells."""
    expression = parse_expression(axis)
    if not expression.names <= sizes.keys():
        return True
    try:
        return expression.value(sizes) == size
    except ExpressionError:
        return False
