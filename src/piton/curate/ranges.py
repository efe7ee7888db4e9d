"""Value ranges by family: the leading input from the taxonomy, the others from the operator's own rules."""

from __future__ import annotations

import math
from collections.abc import Mapping

from piton.catalog.expression import Value
from piton.catalog.rules import CaseRules
from piton.core.dtype import DType
from piton.curate.aspects import MEDIUM_MAGNITUDE, SMALL_MAGNITUDE
from piton.curate.stream import Stream
from piton.numerics.dtypes import integer_bounds, largest_finite

Range = tuple[float, float]

_MAGNITUDES = {"small": (0.25, SMALL_MAGNITUDE), "medium": (SMALL_MAGNITUDE * 1.1, MEDIUM_MAGNITUDE), "large": (MEDIUM_MAGNITUDE * 1.1, 1000.0)}
_DIGITS = 2
_BOUNDARY_DIGITS = 4
_BOUNDARY_SHARE = 0.95
"""Least share of the boundary that an end of a boundary range has; ranges have to differ from case to case."""


def largest_of(dtype: DType) -> float:
    """Largest finite value of a dtype, floating or not."""
    return largest_finite(dtype) if dtype.is_floating else float(integer_bounds(dtype)[1])


def boundary_of(rules: CaseRules, dtype: DType) -> float:
    """Where boundary ranges of the leading input end: the operator's own limit, else the dtype's largest value."""
    return rules.limits.get(dtype, largest_of(dtype))


def family_for(family: str, dtype: DType) -> str:
    """The family, or its asymmetric kin where the dtype has no negative values."""
    is_unsigned = not dtype.is_floating and integer_bounds(dtype)[0] == 0
    return f"a{family}" if is_unsigned and family.startswith("symmetric") else family


def draw_range(family: str, dtype: DType, rules: CaseRules, stream: Stream) -> Range:
    """A range of `family` for the leading input; ends have two digits, at the boundary four, and integers none after the point."""
    low, high = _DRAWS[family.partition("-")[0]](family, dtype, rules, stream)
    if dtype.is_floating:
        return low, high
    least = float(integer_bounds(dtype)[0])
    if least == 0 and abs(low) > abs(high):
        low, high = -high, -low
    return max(least, float(math.ceil(low))), float(math.floor(max(high, math.ceil(low))))


def draw_other(name: str, dtype: DType, rules: CaseRules, names: Mapping[str, Value], stream: Stream) -> Range:
    """A range of another input: one of the operator's, inside its dtype if that is whole, else symmetric and small."""
    if name in rules.values:
        low, high = (float(end.value(names)) for end in stream.choice(rules.values[name]))
        if dtype.is_floating:
            return low, high
        least, most = integer_bounds(dtype)
        return float(min(max(low, least), most)), float(min(max(high, least), most))
    end = rounded(stream.log_uniform(0.25, 4.0))
    return -end, end


def rounded(value: float, digits: int = _DIGITS) -> float:
    """`value` with so many significant digits."""
    return float(f"{value:.{digits}g}")


def _end(family: str, dtype: DType, stream: Stream) -> float:
    """The far end of a range; for integers a whole number that the dtype has, and at least 2, so that a range has more than one value."""
    end = rounded(stream.log_uniform(*_MAGNITUDES[family.partition("-")[2]]))
    return end if dtype.is_floating else min(max(float(math.ceil(end)), 2.0), largest_of(dtype))


def _symmetric(family: str, dtype: DType, rules: CaseRules, stream: Stream) -> Range:
    end = _end(family, dtype, stream)
    return -end, end


def _asymmetric(family: str, dtype: DType, rules: CaseRules, stream: Stream) -> Range:
    """The other end lies well inside: a range that is narrow beside its values would hide errors behind their mean."""
    end = _end(family, dtype, stream)
    inner = rounded(end * stream.uniform(-0.9, 0.3))
    return (inner, end) if stream.below(2) else (-end, -inner)


def _boundary(family: str, dtype: DType, rules: CaseRules, stream: Stream) -> Range:
    end = boundary_of(rules, dtype)
    if not dtype.is_floating:
        return _integer_boundary(end, dtype, stream)
    first, second = (min(rounded(end, _BOUNDARY_DIGITS + 1), rounded(end * stream.uniform(_BOUNDARY_SHARE, 1.0), _BOUNDARY_DIGITS)) for _ in range(2))
    return stream.choice(((-first, first), (-first, second), (-second, first)))


def _integer_boundary(end: float, dtype: DType, stream: Stream) -> Range:
    """One end is exact: a kernel that computes in a wider or a floating type goes wrong at the very last integers only."""
    least = float(integer_bounds(dtype)[0])
    inner = float(math.floor(rounded(end * stream.uniform(0.5, 1.0), _BOUNDARY_DIGITS)))
    if least == 0:
        return stream.choice(((least, end), (end - inner, end)))
    return stream.choice(((least, end), (-inner, end), (least, inner)))


def _special(family: str, dtype: DType, rules: CaseRules, stream: Stream) -> Range:
    if family == "special-zero":
        return 0.0, 0.0
    end = rounded(stream.log_uniform(0.5, SMALL_MAGNITUDE))
    low, high = (math.nan, math.nan) if family == "special-nan" else (-math.inf, math.inf)
    return stream.choice(((low, high), (low, end), (-end, high)))


_DRAWS = {"symmetric": _symmetric, "asymmetric": _asymmetric, "dtype": _boundary, "special": _special}
