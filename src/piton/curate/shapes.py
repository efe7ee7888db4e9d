"""Shapes of a case: sizes of all axes of a layout so that the inputs together have the wanted number of elements, aligned or not as asked.

Every axis but one is drawn; the outermost free one is then found by bisection, since the number of elements grows with each axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from piton.catalog.expression import Expression, Number, parse_expression
from piton.catalog.rule_forms import BATCH, AxisRule
from piton.catalog.rules import CaseRules, Layout
from piton.core.dtype import DType
from piton.curate.aspects import ALIGNMENT_BYTES, near_prime
from piton.curate.stream import Stream

Sizes = dict[str, int]
Shape = tuple[int, ...]

_FREE = AxisRule()
_INNER = (24, 8192)
_LONG_INNER = 131_072
_LONG_ONE_IN = 6
"""One innermost axis in this many may be longer than `_INNER`."""
_LARGEST_BATCH = 64


@dataclass(frozen=True)
class ShapeWish:
    """What the shapes should be like."""

    elements: int
    rank: int
    """Of the first input, where the layout lets it vary."""
    is_aligned: bool
    is_prime: bool
    dtypes: tuple[DType, ...]
    """One per input."""

    @property
    def unit(self) -> int:
        """Elements of one aligned block of the first input."""
        return max(1, ALIGNMENT_BYTES * 8 // self.dtypes[0].bits)

    @property
    def packed(self) -> int:
        """Elements that share a byte in the narrowest input: an innermost axis has to fill its bytes."""
        return max(1, 8 // min(dtype.bits for dtype in self.dtypes))


def draw_sizes(layout: Layout, rules: CaseRules, wish: ShapeWish, stream: Stream, given: Mapping[str, int]) -> Sizes | None:
    """Sizes of all axes (`...` as `...0`, `...1`, ...), or None when this draw cannot reach the wanted number of elements. Those `given` stay."""
    names = axis_names(layout, wish.rank)
    free = [name for name in names if name not in given and not rules.axes.get(name, _FREE).choices]
    sizes = {name: given[name] if name in given else stream.choice(rules.axes[name].choices) for name in names if name not in free}
    inner = _inner_names(layout)
    filled = free[0] if free else ""
    left = float(wish.elements)
    for name in sorted(free[1:], key=lambda item: item not in inner):
        sizes[name] = _draw_inner(wish, rules, name, left, stream) if name in inner else _draw_outer(wish, rules, name, left, stream)
        left /= sizes[name]
    if filled:
        found = _fill(layout, rules, wish, sizes, filled)
        if found is None:
            return None
        sizes[filled] = found
    return sizes


def draw_loose(rules: CaseRules, sizes: Mapping[str, int], stream: Stream) -> Sizes:
    """Sizes that are in no shape of the layout, such as an output's: one of their choices, or free between their ends."""
    loose = ((name, rule) for name, rule in rules.axes.items() if name not in sizes)
    return {name: stream.choice(rule.choices) if rule.choices else round(stream.log_uniform(rule.low, rule.high)) for name, rule in loose}


def shapes_of(layout: Layout, sizes: Mapping[str, int]) -> dict[str, Shape]:
    """The shape of every input under these sizes. Raises ExpressionError for an axis that is not a whole number."""
    batch = tuple(size for name, size in sizes.items() if name.startswith(BATCH))
    return {name: tuple(size for axis in axes for size in (batch if axis == BATCH else (_formula(axis).whole(sizes),))) for name, axes in layout.shapes}


def elements_of(layout: Layout, sizes: Mapping[str, int]) -> int:
    """Elements of all inputs together, each list counted once."""
    return sum(math.prod(shape) for shape in shapes_of(layout, sizes).values())


def axis_names(layout: Layout, rank: int) -> list[str]:
    """All axes, outermost first: those of `...`, then the named ones in the order of their appearance."""
    fixed = len(layout.shapes[0][1]) - 1
    batch = [f"{BATCH}{index}" for index in range(rank - fixed)] if layout.has_batch else []
    named = (name for _, axes in layout.shapes for axis in axes if axis != BATCH for name in sorted(_formula(axis).names))
    return [*batch, *dict.fromkeys(named)]


def numbers(sizes: Mapping[str, int]) -> dict[str, Number]:
    """The named axes, for formulas."""
    return {name: size for name, size in sizes.items() if not name.startswith(BATCH)}


@lru_cache(maxsize=1024)
def _formula(text: str) -> Expression:
    return parse_expression(text)


def _inner_names(layout: Layout) -> frozenset[str]:
    """Axes that decide the length of an innermost axis."""
    return frozenset(name for _, axes in layout.shapes if axes and axes[-1] != BATCH for name in _formula(axes[-1]).names)


def _draw_inner(wish: ShapeWish, rules: CaseRules, name: str, left: float, stream: Stream) -> int:
    rule = rules.axes.get(name, _FREE)
    most = _LONG_INNER if stream.below(_LONG_ONE_IN) == 0 else _INNER[1]
    most = max(rule.low, min(rule.high, most, int(left / 2)))
    least = max(rule.low, min(_INNER[0], most))
    return _shaped(round(stream.log_uniform(least, most)), wish, rule)


def _draw_outer(wish: ShapeWish, rules: CaseRules, name: str, left: float, stream: Stream) -> int:
    rule = rules.axes.get(name, _FREE)
    most = max(rule.low, min(rule.high, _LARGEST_BATCH, int(math.sqrt(left))))
    drawn = round(stream.log_uniform(max(rule.low, min(2, most)), most))
    return max(rule.low, near_prime(drawn)) if wish.is_prime and stream.below(2) else drawn


def _fill(layout: Layout, rules: CaseRules, wish: ShapeWish, sizes: Sizes, name: str) -> int | None:
    """The size of axis `name` that gives the wanted number of elements, or None when its rule does not allow it."""
    rule = rules.axes.get(name, _FREE)
    order = axis_names(layout, wish.rank)

    def total(size: int) -> int:
        filled = {**sizes, name: size}
        return elements_of(layout, {item: filled[item] for item in order})

    if total(rule.low) > wish.elements * 2 or total(rule.high) < wish.elements:
        return None
    size = _bisect(total, wish.elements, rule)
    is_inner = name in _inner_names(layout)
    return _shaped(size, wish, rule) if is_inner else max(rule.low, near_prime(size)) if wish.is_prime else size


def _bisect(total: Callable[[int], int], wanted: int, rule: AxisRule) -> int:
    low, high = rule.low, rule.high
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if total(middle) < wanted else (low, middle)
    return low


def _shaped(size: int, wish: ShapeWish, rule: AxisRule) -> int:
    """`size` made a multiple of the aligned block, a prime, or odd (of packed elements: in bytes), as wished, inside the axis's rule."""
    whole = max(1, size // wish.packed)
    odd = wish.packed * (near_prime(whole) if wish.is_prime else whole | 1)
    shaped = max(1, round(size / wish.unit)) * wish.unit if wish.is_aligned else odd
    return min(max(shaped, rule.low), rule.high)
