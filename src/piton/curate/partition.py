"""Lists of whole numbers that split an axis into groups, as routing does with the rows of a mixture of experts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from piton.catalog.expression import ExpressionError, Number, parse_expression
from piton.catalog.rule_forms import PartitionRule
from piton.curate.stream import Stream


def draw_partition(rule: PartitionRule, sizes: Mapping[str, Number], stream: Stream) -> tuple[int, ...]:
    """A partition that the rule describes, of one of the kinds that are met: even, uneven, with empty groups, nearly all in one group.

    Raises ExpressionError where a formula has no whole number, or for fewer than one group.
    """
    whole, groups = parse_expression(rule.of).whole(sizes), parse_expression(rule.into).whole(sizes)
    if whole < 0 or groups < 1:
        raise ExpressionError(f"no partition of {whole} into {groups} groups")
    counts = stream.choice((_even, _uneven, _with_empty, _skewed))(whole, groups, stream)
    return tuple(accumulate(counts)) if rule.form == "ends" else tuple(counts)


def _even(whole: int, groups: int, stream: Stream) -> list[int]:
    """Lengths that differ by one at most."""
    return [whole * (group + 1) // groups - whole * group // groups for group in range(groups)]


def _uneven(whole: int, groups: int, stream: Stream) -> list[int]:
    """Random ends; two of them are equal now and then."""
    ends = [*sorted(stream.between(0, whole) for _ in range(groups - 1)), whole]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _with_empty(whole: int, groups: int, stream: Stream) -> list[int]:
    """About a third of the groups empty, the first or the last one among them now and then."""
    order = stream.shuffled(range(groups))
    filled = sorted(order[: max(1, groups - groups // 3)])
    lengths = dict(zip(filled, _uneven(whole, len(filled), stream), strict=True))
    return [lengths.get(group, 0) for group in range(groups)]


def _skewed(whole: int, groups: int, stream: Stream) -> list[int]:
    """One group has more than half, the others share the rest evenly."""
    most = stream.between(whole // 2, whole)
    lengths = _even(whole - most, groups, stream)
    lengths[stream.below(groups)] += most
    return lengths
