"""Value ranges by family: the leading input from the taxonomy, the others from the operator's own rules."""

from __future__ import annotations

import math
from collections.abc import Mapping

from piton.catalog.expression import Expression, Value
from piton.catalog.rules import CaseRules
from piton.core.dtype import DType
from piton.curate.aspects import BOUNDARY_SHARE, MEDIUM_MAGNITUDE, SMALL_MAGNITUDE
from piton.curate.stream import Stream
from piton.numerics.dtypes import has_infinity, has_nan, integer_bounds, largest_finite
from piton.numerics.inputs import interior

Range = tuple[float, float]

_MAGNITUDES = {"small": (0.25, SMALL_MAGNITUDE), "medium": (SMALL_MAGNITUDE * 1.1, MEDIUM_MAGNITUDE), "large": (MEDIUM_MAGNITUDE * 1.1, 1000.0)}
_DIGITS = 2
_BOUNDARY_DIGITS = 4
_COARSEST = 4.0
"""Ends are at least this part of a dtype's largest value where that is small: between the few values of float4_e2m1 a narrower range holds none."""
STAND_INS = {"special-inf": "dtype-boundary", "special-nan": "dtype-boundary", "special-zero": "symmetric-small"}
"""What is drawn in the place of a family that an operator or a dtype does not have."""
_FORMULA_DIGITS = 15
"""One less than float64 has: (2.4 + 3 * 0.2) / 4 should read 0.75."""


def largest_of(dtype: DType) -> float:
    """Largest finite value of a dtype, floating or not."""
    return largest_finite(dtype) if dtype.is_floating else float(integer_bounds(dtype)[1])


def boundary_of(rules: CaseRules, dtype: DType) -> float:
    """Where boundary ranges of the leading input end: the operator's own limit, else the dtype's largest value."""
    return rules.limits.get(dtype, largest_of(dtype))


def family_for(family: str, dtype: DType) -> str:
    """The family, or what stands in where the dtype has no infinities, no NaN or no values that large; its asymmetric kin without negative values."""
    if (family == "special-inf" and not has_infinity(dtype)) or (family == "special-nan" and not has_nan(dtype)):
        return STAND_INS[family]
    form, _, size = family.partition("-")
    if size in ("medium", "large") and dtype.is_low_bit and largest_of(dtype) < _MAGNITUDES["large"][0]:
        return f"{form}-small"
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
        low, high = (_other_end(end, names) for end in stream.choice(rules.values[name]))
        if dtype.is_floating:
            return low, high
        least, most = integer_bounds(dtype)
        return float(min(max(low, least), most)), float(min(max(high, least), most))
    end = rounded(stream.log_uniform(0.25, 4.0))
    return -end, end


def reach_of(span: Range) -> float:
    """Largest magnitude of the ordinary values of a range, those between special ends."""
    return max(map(abs, interior(*span)))


def _other_end(end: Expression, names: Mapping[str, Value]) -> float:
    value = float(end.value(names))
    if math.isnan(value):
        return math.nan  # the one object, as in ranges of the leading input: equal draws give equal cases
    return rounded(value, _DIGITS if "reach" in end.names else _FORMULA_DIGITS)


def rounded(value: float, digits: int = _DIGITS) -> float:
    """`value` with so many significant digits."""
    return float(f"{value:.{digits}g}")


def _end(family: str, dtype: DType, stream: Stream) -> float:
    """The far end of a range; for integers a whole number that the dtype has, and at least 2, so that a range has more than one value."""
    least, most = _MAGNITUDES[family.partition("-")[2]]
    if dtype.is_low_bit:
        most = min(most, largest_of(dtype))
        least = max(least, most / _COARSEST) if most < SMALL_MAGNITUDE else least
    end = rounded(stream.log_uniform(least, most))
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
    first, second = (min(rounded(end, _BOUNDARY_DIGITS + 1), rounded(end * stream.uniform(BOUNDARY_SHARE, 1.0), _BOUNDARY_DIGITS)) for _ in range(2))
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
