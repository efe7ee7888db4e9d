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


def draw_range(family: str, dtype: DType, rules: CaseRules, stream: Stream) -> Range:
    """A range of `family` for the leading input; ends have two digits, at the boundary four, and integers none after the point."""
    if not dtype.is_floating:
        return _draw_whole_range(family, dtype, rules, stream)
    return _DRAWS[family.partition("-")[0]](family, dtype, rules, stream)


def family_for(family: str, dtype: DType) -> str:
    """The family, or what a dtype without infinities or without negative values has in its place."""
    if dtype.is_floating:
        return family
    if family in ("special-inf", "special-nan"):
        return "dtype-boundary"
    return f"a{family}" if family.startswith("symmetric") and integer_bounds(dtype)[0] == 0 else family


def _draw_whole_range(family: str, dtype: DType, rules: CaseRules, stream: Stream) -> Range:
    """Both ends are whole numbers of the dtype; a range at the boundary ends at the dtype's own end unless the rules have a limit."""
    least, most = (float(end) for end in integer_bounds(dtype))
    low, high = _DRAWS[family.partition("-")[0]](family, dtype, rules, stream)
    if family == "special-zero":
        return 0.0, 0.0
    if family == "dtype-boundary":
        low = low + most if least == 0 else low
        ends = (low, high) if dtype in rules.limits else (low, most) if stream.below(2) else (least, high)
        return float(max(least, math.ceil(ends[0]))), float(min(most, math.floor(ends[1])))
    end = max(min(2.0, most), float(round(min(max(abs(low), abs(high)), most))))
    if family.startswith("symmetric"):
        return -end, end
    is_mirrored = abs(low) > abs(high)
    inner = float(min(max(math.ceil(-high if is_mirrored else low), 1 - end, least), end - 1))
    return (-end, -inner) if is_mirrored and least < 0 else (inner, end)


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


def _symmetric(family: str, dtype: DType, rules: CaseRules, stream: Stream) -> Range:
    end = rounded(stream.log_uniform(*_MAGNITUDES[family.partition("-")[2]]))
    return -end, end


def _asymmetric(family: str, dtype: DType, rules: CaseRules, stream: Stream) -> Range:
    """The other end lies well inside: a range that is narrow beside its values would hide errors behind their mean."""
    end = rounded(stream.log_uniform(*_MAGNITUDES[family.partition("-")[2]]))
    inner = rounded(end * stream.uniform(-0.9, 0.3))
    return (inner, end) if stream.below(2) else (-end, -inner)


def _boundary(family: str, dtype: DType, rules: CaseRules, stream: Stream) -> Range:
    end = boundary_of(rules, dtype)
    first, second = (min(rounded(end, _BOUNDARY_DIGITS + 1), rounded(end * stream.uniform(_BOUNDARY_SHARE, 1.0), _BOUNDARY_DIGITS)) for _ in range(2))
    return stream.choice(((-first, first), (-first, second), (-second, first)))


def _special(family: str, dtype: DType, rules: CaseRules, stream: Stream) -> Range:
    if family == "special-zero":
        return 0.0, 0.0
    end = rounded(stream.log_uniform(0.5, SMALL_MAGNITUDE))
    low, high = (math.nan, math.nan) if family == "special-nan" else (-math.inf, math.inf)
    return stream.choice(((low, high), (low, end), (-end, high)))


_DRAWS = {"symmetric": _symmetric, "asymmetric": _asymmetric, "dtype": _boundary, "special": _special}
