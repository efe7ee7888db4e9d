"""What the dataset rules ask of a case: alignment, primes, the family of its value range. Used by the lint and by the generator, so that both mean the same."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import lru_cache

from piton.catalog.rules import CaseRules
from piton.core.canonical import plain
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.operator import Operator
from piton.numerics.dtypes import largest_finite

ALIGNMENT_BYTES = 512
"""Innermost byte length that counts as aligned is a multiple of this (paper, section 2.3)."""
FEWEST_ELEMENTS, MOST_ELEMENTS = 1_000_000, 300_000_000
"""Elements of a case (paper, section 2.3)."""
SIDE_SHARE = 0.01
"""An input with a smaller share of the case's elements is a side tensor: it alone should not make a case non-aligned."""
SMALL_MAGNITUDE, MEDIUM_MAGNITUDE = 8.0, 40.0
"""Ends of the ranges called small and medium in the taxonomy."""
BOUNDARY = {DType.FLOAT16: 60000.0}
"""From this magnitude on a range reaches the boundary of its dtype: near 65504 for float16 ..."""
BOUNDARY_DEFAULT = 88.0
"""... and for the others the exponent's range in float32, e^88 (both from the paper's taxonomy)."""
BOUNDARY_SHARE = 0.95
"""Share of the largest value from which on a range reaches the boundary of a dtype that ends below 88 (float4_e2m1: 6)."""


def is_aligned(item: CaseInput) -> bool:
    """True when the innermost axis of the tensor fills whole 512-byte blocks."""
    return not item.shape or item.dtype.bytes_of(item.shape[-1]) % ALIGNMENT_BYTES == 0


def is_non_aligned(case: Case) -> bool:
    """True when any input is not aligned: the measure of the paper."""
    return any(not is_aligned(item) for item in case.inputs)


def has_side_tensor_only(case: Case) -> bool:
    """True for a non-aligned case in which only tiny side tensors are not aligned."""
    skewed = [item for item in case.inputs if not is_aligned(item)]
    return bool(skewed) and sum(item.elements for item in skewed) < SIDE_SHARE * case.elements


def has_prime(case: Case) -> bool:
    """True when an axis of an input is a prime above 2."""
    return any(is_prime(size) and size > 2 for item in case.inputs for size in item.shape)


@lru_cache(maxsize=65536)
def is_prime(number: int) -> bool:
    """Deterministic Miller-Rabin for 64-bit numbers (bases of Jaeschke and of Sorenson and Webster)."""
    if number < 2:
        return False
    for small in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        if number % small == 0:
            return number == small
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_is_probable(number, base, odd, twos) for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37))


def _is_probable(number: int, base: int, odd: int, twos: int) -> bool:
    value = pow(base, odd, number)
    if value in (1, number - 1):
        return True
    for _ in range(twos - 1):
        value = value * value % number
        if value == number - 1:
            return True
    return False


def near_prime(number: int) -> int:
    """The largest prime that is at most `number`; `number` itself below 3."""
    while number > 2 and not is_prime(number):
        number -= 1
    return number


def families(item: CaseInput) -> frozenset[str]:
    """Families of the taxonomy that the value range of `item` belongs to: one by form and magnitude, and dtype-boundary where it reaches that far."""
    low, high = item.low, item.high
    if math.isnan(low) or math.isnan(high):
        return frozenset({"special-nan"})
    if math.isinf(low) or math.isinf(high):
        return frozenset({"special-inf"})
    if low == high == 0:
        return frozenset({"special-zero"})
    magnitude = max(abs(low), abs(high))
    size = "small" if magnitude <= SMALL_MAGNITUDE else "medium" if magnitude <= MEDIUM_MAGNITUDE else "large"
    form = f"{'symmetric' if low == -high else 'asymmetric'}-{size}"
    return frozenset({form, "dtype-boundary"} if magnitude >= _boundary(item.dtype) else {form})


def _boundary(dtype: DType) -> float:
    if dtype.is_low_bit:
        return min(BOUNDARY_DEFAULT, BOUNDARY_SHARE * largest_finite(dtype))
    if dtype.is_floating:
        return BOUNDARY.get(dtype, BOUNDARY_DEFAULT)
    return float((1 << (dtype.bits - 1)) - 1) if dtype is not DType.BOOL else 1.0


def case_families(case: Case) -> frozenset[str]:
    """Families of all inputs together."""
    return frozenset(family for item in case.inputs for family in families(item))


def range_key(case: Case) -> str:
    """Text that two cases share when their value ranges are equal."""
    return str([(float(item.low), float(item.high)) for item in case.inputs])


def attribute_key(case: Case) -> str:
    """JSON of the attributes, the paper's measure."""
    return json.dumps(plain(case.attributes), sort_keys=True)


def identity_key(case: Case) -> str:
    """Everything that an implementer could have prepared for: shapes, dtypes, attributes, ranges; not the seed."""
    return str([[(item.argument, item.shape, item.dtype.value) for item in case.inputs], attribute_key(case), range_key(case), case.omitted])


def repeats(keys: Iterable[tuple[str, object]]) -> list[tuple[str, str]]:
    """Pairs (case, earlier case) of equal keys, given (case, key)."""
    seen: dict[object, str] = {}
    found = []
    for name, key in keys:
        if key in seen:
            found.append((name, seen[key]))
        seen.setdefault(key, name)
    return found


def has_many_attribute_values(operator: Operator, rules: CaseRules | None = None) -> bool:
    """True when the attributes can take any number of combinations, so that no two cases need the same; names, axes, orders of axes and switches can't."""
    orders = {name for name, rule in rules.attributes.items() if rule.permutation_of} if rules else set()
    return any(spec.type in ("float", "float_list", "int_list") and spec.name not in orders for spec in operator.attributes)
