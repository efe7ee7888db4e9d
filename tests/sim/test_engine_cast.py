"""Cast: every pair and rounding mode of the 910B, over ties, edges, infinities, NaN and subnormals, against exact models."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from engine_rig import (
    BF16,
    CAST,
    CEIL,
    F16,
    F32,
    FLOOR,
    FULL,
    I8,
    I16,
    I32,
    I64,
    MTE2,
    MTE3,
    NONE,
    NUMPY,
    ODD,
    RINT,
    ROUND,
    SIZE,
    TRUNC,
    U8,
    Rig,
    V,
    count,
    flag,
    gm,
    pad,
    strided,
    ub,
)

Array = npt.NDArray[Any]
R = (RINT, FLOOR, CEIL, ROUND, TRUNC)
A, D = 0, 98304


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def cast(rig: Rig, data: Array, source: int, target: int, mode: int, *, at: int = D) -> Array:
    """Cast `data` on the engine."""
    rig.reset()
    out = rig.allocate(data.size * SIZE[target])
    program = [
        pad(ub(A, source), gm(rig.upload(data), source), data.nbytes),
        *flag(MTE2, V),
        count(CAST, (ub(at, target), ub(A, source)), data.size, mode=mode),
        *flag(V, MTE3),
        pad(gm(out, target), ub(at, target), data.size * SIZE[target]),
    ]
    report = rig.launch(program)
    assert report.diagnostics == []
    return rig.download(out, data.size, NUMPY[target])


def rounded(value: Fraction, mode: int) -> int:
    """`value` as an integer by RoundMode."""
    low = math.floor(value)
    rest = value - low
    if mode == FLOOR or rest == 0:
        return low
    if mode == CEIL:
        return low + 1
    if mode == TRUNC:
        return low if value > 0 else low + 1
    if mode == ODD:
        return low if low % 2 else low + 1
    if rest == Fraction(1, 2):
        return (low + (value > 0)) if mode == ROUND else low + low % 2
    return low + (rest > Fraction(1, 2))


def shortened(value: float, mode: int, *, mantissa: int, lowest: int, largest: Fraction) -> float:
    """`value` with fewer mantissa bits; beyond `largest` after rounding it is infinite."""
    if not math.isfinite(value) or value == 0:
        return value
    exponent = max(math.frexp(value)[1] - 1, lowest)
    unit = Fraction(2) ** (exponent - mantissa)
    result = rounded(Fraction(value) / unit, mode) * unit
    if abs(result) > largest:
        return math.copysign(math.inf, value)
    return math.copysign(float(result), value)


EDGES = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.49999997,
    1e-8,
    2.9802322e-8,
    5.9604645e-8,
    6.0e-8,
    8.9e-8,
    1e-40,
    -1e-45,
    65504.0,
    65519.9,
    65520.0,
    65536.0,
    1e6,
    -7e4,
    1.0009765625,
    1.00048828125,
    1.00146484375,
    6.1035156e-5,
    6.1005353e-5,
    127.5,
    128.0,
    255.5,
    -128.5,
    -129.0,
    32767.5,
    40000.0,
    -40000.0,
    2147483520.0,
    2147483648.0,
    -2147483648.0,
    9.2233715e18,
    9.223372e18,
    -9.223372e18,
    1e30,
    -1e30,
    3.4e38,
    3.3961775e38,
    math.inf,
    -math.inf,
    math.nan,
]


def floats() -> Array:
    """Edges and random bit patterns."""
    rng = np.random.default_rng(5)
    random = rng.integers(0, 1 << 32, 1500, dtype=np.uint64).astype(np.uint32).view(np.float32)
    near = (rng.integers(-300, 300, 500) / 4).astype(np.float32)
    return np.concatenate([np.array(EDGES, np.float32), random[np.isfinite(random)], near])


def all_halves() -> Array:
    """Every half there is."""
    return np.arange(65536, dtype=np.uint32).astype(np.uint16).view(np.float16)


def same_floats(got: Array, expected: Array) -> None:
    """Equal bits, any NaN for NaN."""
    both = np.isnan(got) & np.isnan(expected)
    wrong = np.flatnonzero((got.view(f"u{got.itemsize}") != expected.view(f"u{got.itemsize}")) & ~both)
    assert wrong.size == 0, (wrong[0], got[wrong[0]], expected[wrong[0]])


@pytest.mark.parametrize("mode", [*R, ODD, NONE])
def test_float_to_half_rounds_by_mode(rig: Rig, mode: int) -> None:
    data = floats()
    model = [shortened(float(x), RINT if mode == NONE else mode, mantissa=10, lowest=-14, largest=Fraction(65504)) for x in data]
    same_floats(cast(rig, data, F32, F16, mode), np.array(model, np.float64).astype(np.float16))


def test_nearest_float_to_half_agrees_with_numpy_for_a_million_patterns(rig: Rig) -> None:
    patterns = (np.arange(1 << 20, dtype=np.uint64) * 4099 % (1 << 32)).astype(np.uint32).view(np.float32)
    for part in np.split(patterns, 64):
        with np.errstate(over="ignore"):
            same_floats(cast(rig, part, F32, F16, RINT), part.astype(np.float16))


@pytest.mark.parametrize("mode", R)
def test_float_to_bfloat16_rounds_by_mode(rig: Rig, mode: int) -> None:
    data = floats()
    largest = Fraction(float(np.uint32(0x7F7F0000).view(np.float32)))
    model = np.array([shortened(float(x), mode, mantissa=7, lowest=-126, largest=largest) for x in data], np.float32)
    got = (cast(rig, data, F32, BF16, mode).astype(np.uint32) << 16).view(np.float32)
    same_floats(got, model)


def test_widening_is_exact_for_every_pattern(rig: Rig) -> None:
    for part in np.split(all_halves(), 4):
        same_floats(cast(rig, part, F16, F32, NONE), part.astype(np.float32))
        bits = part.view(np.uint16)
        same_floats(cast(rig, bits, BF16, F32, NONE), (bits.astype(np.uint32) << 16).view(np.float32))


def as_integer(value: float, mode: int, target: int) -> int:
    """Rounded and saturated; NaN gives 0."""
    info = np.iinfo(NUMPY[target])
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return int(info.max if value > 0 else info.min)
    return int(min(max(rounded(Fraction(value), mode), int(info.min)), int(info.max)))


@pytest.mark.parametrize("mode", R)
@pytest.mark.parametrize("target", [I16, I32, I64])
def test_float_to_integer_rounds_and_saturates(rig: Rig, target: int, mode: int) -> None:
    data = floats()
    expected = np.array([as_integer(float(x), mode, target) for x in data], NUMPY[target])
    np.testing.assert_array_equal(cast(rig, data, F32, target, mode), expected)


@pytest.mark.parametrize(("target", "modes"), [(I32, R), (I16, R), (I8, (*R, NONE)), (U8, (*R, NONE))])
def test_half_to_integer_rounds_and_saturates(rig: Rig, target: int, modes: tuple[int, ...]) -> None:
    data = np.concatenate([all_halves()[::37], np.array([126.5, 127.5, 254.5, 255.5, -0.5, 0.5, 1.5, -128.5], np.float16)])
    for mode in modes:
        expected = np.array([as_integer(float(x), RINT if mode == NONE else mode, target) for x in data], NUMPY[target])
        np.testing.assert_array_equal(cast(rig, data, F16, target, mode), expected)


@pytest.mark.parametrize("mode", R)
def test_bfloat16_to_int32_rounds_and_saturates(rig: Rig, mode: int) -> None:
    bits = np.arange(0, 65536, 41, dtype=np.uint32).astype(np.uint16)
    wide = (bits.astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(cast(rig, bits, BF16, I32, mode), np.array([as_integer(float(x), mode, I32) for x in wide], np.int32))


@pytest.mark.parametrize("mode", R)
def test_float_to_float_rounds_to_an_integer(rig: Rig, mode: int) -> None:
    data = floats()
    model = [float(x) if not math.isfinite(x) else math.copysign(float(rounded(Fraction(float(x)), mode)), x) for x in data]
    same_floats(cast(rig, data, F32, F32, mode), np.array(model, np.float32))


@pytest.mark.parametrize("mode", [*R, NONE])
@pytest.mark.parametrize(("source", "target", "mantissa"), [(I32, F32, 23), (I64, F32, 23), (I16, F16, 10)])
def test_integer_to_float_rounds_by_mode(rig: Rig, source: int, target: int, mantissa: int, mode: int) -> None:
    if source == I64 and mode == NONE:
        return
    info = np.iinfo(NUMPY[source])
    rng = np.random.default_rng(2)
    edges = [0, 1, -1, info.max, info.min, 2049, 2051, 4098, 4102, -2049, 16777, -16777]
    edges += [16777217, 16777219, -16777217, -16777219, 33554434, 33554438] if source != I16 else []
    data = np.concatenate([np.array(edges, NUMPY[source]), rng.integers(info.min, info.max, 500, dtype=NUMPY[source])])
    model = [shortened_exact(int(x), RINT if mode == NONE else mode, mantissa) for x in data]
    same_floats(cast(rig, data, source, target, mode), np.array(model, np.float64).astype(NUMPY[target]))


def shortened_exact(value: int, mode: int, mantissa: int) -> float:
    """An integer rounded to `mantissa` bits after the leading one."""
    if value == 0:
        return 0.0
    unit = Fraction(2) ** (abs(value).bit_length() - 1 - mantissa)
    return float(rounded(Fraction(value) / unit, mode) * unit)


@pytest.mark.parametrize(("source", "target"), [(I8, F16), (U8, F16), (I16, F32), (I32, I64)])
def test_exact_integer_pairs_keep_every_value(rig: Rig, source: int, target: int) -> None:
    info = np.iinfo(NUMPY[source])
    data = np.linspace(info.min, info.max, 999).astype(NUMPY[source])
    np.testing.assert_array_equal(cast(rig, data, source, target, NONE), data.astype(NUMPY[target]))


@pytest.mark.parametrize(("source", "target"), [(I32, I16), (I64, I32)])
def test_narrowing_integers_saturate(rig: Rig, source: int, target: int) -> None:
    small, wide = np.iinfo(NUMPY[target]), np.iinfo(NUMPY[source])
    data = np.array([0, 5, -5, small.max, small.max + 1, small.min, small.min - 1, wide.max, wide.min], NUMPY[source])
    np.testing.assert_array_equal(cast(rig, data, source, target, NONE), np.clip(data, small.min, small.max).astype(NUMPY[target]))


SUPPORTED = {
    (F16, F32): [NONE],
    (F32, F16): [*R, ODD, NONE],
    (F16, I32): R,
    (F16, I16): R,
    (F16, I8): [*R, NONE],
    (F16, U8): [*R, NONE],
    (F32, BF16): R,
    (F32, I32): R,
    (F32, I16): R,
    (F32, I64): R,
    (F32, F32): R,
    (I8, F16): [NONE],
    (U8, F16): [NONE],
    (BF16, F32): [NONE],
    (BF16, I32): R,
    (I16, F16): [*R, NONE],
    (I16, F32): [NONE],
    (I64, F32): R,
    (I32, F32): [*R, NONE],
    (I32, I16): [NONE],
    (I32, I64): [NONE],
    (I64, I32): [NONE],
}


def test_only_the_documented_pairs_and_modes_exist(rig: Rig) -> None:
    kinds = (F16, BF16, F32, I8, U8, I16, I32, I64)
    for source in kinds:
        for target in kinds:
            for mode in range(7):
                report = rig.launch([count(CAST, (ub(D, target), ub(A, source)), 1, mode=mode)])
                assert (report.causes() == []) == (mode in SUPPORTED.get((source, target), [])), (source, target, mode)


def test_mask_counts_lanes_of_the_wider_type(rig: Rig) -> None:
    data = np.arange(128, dtype=np.float16)
    out = rig.allocate(512)
    step = strided(CAST, (ub(D), ub(A, F16, rep=4)), (FULL, FULL), 2)
    program = [pad(ub(A, F16), gm(rig.upload(data), F16), 256), *flag(MTE2, V), step, *flag(V, MTE3), pad(gm(out), ub(D), 512)]
    assert rig.launch(program).diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 128, np.float32), data.astype(np.float32))


def test_narrowing_in_place_is_right_and_widening_in_place_is_refused(rig: Rig) -> None:
    data = np.arange(1000, dtype=np.float32)
    np.testing.assert_array_equal(cast(rig, data, F32, F16, RINT, at=A), data.astype(np.float16))
    report = rig.launch([count(CAST, (ub(A), ub(A, F16)), 1000)])
    assert report.causes() == ["bad_overlap"]


def test_widening_from_the_upper_half_of_the_same_buffer_is_right(rig: Rig) -> None:
    data = np.arange(1024, dtype=np.float16)
    out = rig.allocate(4096)
    program = [
        pad(ub(2048, F16), gm(rig.upload(data), F16), 2048),
        *flag(MTE2, V),
        count(CAST, (ub(0), ub(2048, F16)), 1024),
        *flag(V, MTE3),
        pad(gm(out), ub(0), 4096),
    ]
    assert rig.launch(program).diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 1024, np.float32), data.astype(np.float32))
