"""Where a published T_HW that does not fit its case may come from: the definitions of the case that give just this value.

Tried are: a unit's time alone (a count was left out), other element types, inputs or attributes of the operator's other cases, one size that is 2, 4 or 8
times smaller or larger or a round one, optional tensors left out. Several may give the same value: they are possible origins, not findings of fact. A value
near the floor fits too much to tell anything, and so is not looked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from piton.anchors import Candidate, candidates
from piton.anchors.limit import FLOOR
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import PitonError
from piton.core.hardware import Hardware
from piton.core.operator import Operator

_MOST = 3
"""Origins that are told."""
_SCALES = (2.0, 0.5, 4.0, 0.25, 8.0, 0.125)
_FEWEST = 64
"""Smaller sizes leave too few to choose from for a round one to tell anything."""
_TELLING = 1.02
"""Multiple of the floor from which a value tells one definition from another."""

_TYPES = (DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.INT8, DType.INT32, DType.INT64)
"""Element types that an older definition may have had, whether or not the signature has them now."""

_SHARP = 0.01
"""A size has to be told to this part of it."""
_TOLERANCE_US, _TOLERANCE = 0.006, 0.002
"""Published values have two decimals: one unit of the last, and what rates of three digits leave open."""


def tolerance_us(published_us: float) -> float:
    """What a derived value may be off: 0.006 us + 0.2 % of the published one."""
    return _TOLERANCE_US + _TOLERANCE * published_us


def is_equal(published_us: float, derived_us: float) -> bool:
    """True when the two agree within the tolerance."""
    return abs(published_us - derived_us) <= tolerance_us(published_us)


@dataclass(frozen=True)
class Origins:
    """What to look among."""

    operator: Operator
    case: Case
    """With a value for every attribute."""
    hardware: Hardware
    others: tuple[Case, ...]
    """All published cases of the operator."""


def find_origins(origins: Origins, published_us: float, derived: Candidate) -> tuple[str, ...]:
    """Sentences about definitions that give the published value, likeliest first; none when there is no telling."""
    if published_us < _TELLING * derived.unit_times_us[FLOOR]:
        return ()
    found = list(_of_units(published_us, derived))
    for text, case in _variants(origins, published_us):
        if len(found) >= _MOST:
            break
        if is_equal(published_us, _t_hw(origins, case)) and text not in found:
            found.append(text)
    return tuple(found)


def _of_units(published_us: float, derived: Candidate) -> Iterator[str]:
    for unit, time in derived.unit_times_us.items():
        if unit not in (derived.limiting_unit, FLOOR) and is_equal(published_us, time):
            yield f"it is the time of {unit} alone, as if {derived.limiting_unit} did not count"


def _t_hw(origins: Origins, case: Case) -> float:
    """T_HW of a variant; 0 where the formula or the chip has none."""
    try:
        found = candidates(origins.operator, case, origins.hardware, "convention")
    except PitonError:  # variants need not go together
        return 0.0
    return min((item.time_us for item in found), default=0.0)


def _variants(origins: Origins, published_us: float) -> Iterator[tuple[str, Case]]:
    yield from _by_dtype(origins)
    yield from _by_other_attributes(origins)
    yield from _by_size(origins)
    yield from _by_solved_size(origins, published_us)
    yield from _by_other_inputs(origins)
    yield from _by_omission(origins)


def _by_dtype(origins: Origins) -> Iterator[tuple[str, Case]]:
    """Every type the first tensor may have or may have had, given to all tensors that have its type now."""
    case = origins.case
    if not case.inputs or not origins.operator.inputs:
        return
    now = case.inputs[0].dtype
    for dtype in dict.fromkeys((*origins.operator.inputs[0].dtypes, *_TYPES)):
        if dtype is not now:
            yield f"as if {_named(case, now)} were {dtype.value} and not {now.value}", _with_dtype(case, now, dtype)


def _named(case: Case, dtype: DType) -> str:
    return " and ".join(dict.fromkeys(item.argument for item in case.inputs if item.dtype is dtype))


def _with_dtype(case: Case, now: DType, dtype: DType) -> Case:
    return _with_inputs(case, tuple(item.model_copy(update={"dtype": dtype}) if item.dtype is now else item for item in case.inputs))


def _with_inputs(case: Case, inputs: tuple[CaseInput, ...]) -> Case:
    return case.model_copy(update={"inputs": inputs})


def _by_other_attributes(origins: Origins) -> Iterator[tuple[str, Case]]:
    """This case's tensors with one attribute of another case."""
    case = origins.case
    for name, value in case.attributes.items():
        known = {repr(other.attributes[name]): other for other in origins.others if name in other.attributes}
        for other in known.values():
            theirs = other.attributes[name]
            if repr(theirs) != repr(value):
                changed = case.model_copy(update={"attributes": {**case.attributes, name: theirs}})
                yield f"as if {name} were {_shown(theirs)} and not {_shown(value)}", changed


def _shown(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _by_other_inputs(origins: Origins) -> Iterator[tuple[str, Case]]:
    """The tensors of another case, with its attributes or with this one's."""
    for other in origins.others:
        if other.id != origins.case.id and other.inputs:
            shape = "x".join(map(str, other.inputs[0].shape))
            yield f"it is what case {other.id} has ({shape} {other.inputs[0].dtype.value})", other
            yield f"as if the tensors were those of case {other.id} ({shape} {other.inputs[0].dtype.value})", _with_inputs(origins.case, other.inputs)


def _by_size(origins: Origins) -> Iterator[tuple[str, Case]]:
    """One size, wherever it occurs, made smaller or larger."""
    for size in dict.fromkeys(size for item in origins.case.inputs for size in item.shape if size > 1):
        for scale in _SCALES:
            other = size * scale
            if other == int(other):
                yield f"as if the axis of {size} were {int(other)}", _with_size(origins.case, size, int(other))


def _by_solved_size(origins: Origins, published_us: float) -> Iterator[tuple[str, Case]]:
    """One size, wherever it occurs, such that a straight line through two sizes gives the published value: the round size next to that.

    Only where the rounding of the published value leaves hardly more than one such size: else one is always found.
    """
    for size in dict.fromkeys(size for item in origins.case.inputs for size in item.shape if size >= _FEWEST):
        here, there = (_t_hw(origins, _with_size(origins.case, size, other)) for other in (size, 2 * size))
        if here and tolerance_us(published_us) < _SHARP * (there - here):
            solved = size * (1 + (published_us - here) / (there - here))
            other = _round_size(solved) if solved >= _FEWEST else size
            if other != size:
                yield f"as if the axis of {size} were {other}", _with_size(origins.case, size, other)


def _round_size(value: float) -> int:
    """The nearest of 8 to 16 times a power of two: sizes that people choose, and few."""
    step = 1 << int(math.log2(value / 8))
    return round(value / step) * step


def _with_size(case: Case, size: int, other: int) -> Case:
    return _with_inputs(case, tuple(item.model_copy(update={"shape": _replaced(item.shape, size, other)}) for item in case.inputs))


def _replaced(shape: tuple[int, ...], size: int, other: int) -> tuple[int, ...]:
    return tuple(other if item == size else item for item in shape)


def _by_omission(origins: Origins) -> Iterator[tuple[str, Case]]:
    for spec in origins.operator.inputs:
        kept = tuple(item for item in origins.case.inputs if item.argument != spec.name)
        if spec.is_optional and len(kept) < len(origins.case.inputs):
            yield f"as if {spec.name} were left out", _with_inputs(origins.case, kept)
