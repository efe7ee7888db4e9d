"""Does every vector instruction give the same bits on every instruction set that this machine has?"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from cube_steps import ZERO, fixpipe, mmad, operands
from engine_rig import (
    AIC,
    BF16,
    BLOCK_REDUCE_MAX,
    BLOCK_REDUCE_SUM,
    COMPARE,
    F16,
    F32,
    FIX,
    FULL,
    I8,
    I16,
    I32,
    I64,
    NUMPY,
    PAIR_REDUCE_SUM,
    SELECT,
    SIZE,
    U8,
    U16,
    U32,
    WHOLE_REDUCE_MIN,
    WHOLE_REDUCE_SUM,
    M,
    Record,
    Rig,
    V,
    barrier,
    engine_library,
    flag,
    gm,
    strided,
    ub,
)
from engine_rig import count as counted
from vector_run import A, B, C, D
from vector_run import run as run_vector

CAST = 72
OPCODES = [*range(1, 17), 17, *range(32, 40), *range(64, 72), 73, 74, CAST]
DTYPES = (F16, BF16, F32, I8, U8, I16, U16, I32, U32, I64)
COUNTS = (1, 7, 16, 33, 512, 1200)
"""Below a vector, with a rest, one chunk of the half loops, several."""
BORDERS = (0x477FF000, 0x477FEFFF, 0x33000000, 0x33000001, 0x387FFFFF, 0x3F800000, 0x42B00000, 0x4F000000, 0x4EFFFFFF, 0xCF000000, 0x42D00000, 0xC2CF0000)
"""Floats between two halves, at the ends of int32, and where exp and ln change."""
SPECIAL = {
    F16: (0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7D01, 0xFE55, 0x3C00, 0xBC00),
    BF16: (0x0000, 0x8000, 0x0001, 0x807F, 0x0080, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0, 0x7FA1, 0xFFC5, 0x3F80),
    F32: (0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FA00001, 0xFFC12345, *BORDERS),
}
"""Zeros, subnormals, the ends of the range, infinities, NaNs that are quiet or not."""


def paths() -> list[str]:
    library = engine_library()
    return [name for name in ("portable", "avx2", "avx512") if library.rig_has_path(name.encode())]


def bits(dtype: int, count: int, seed: int) -> npt.NDArray[np.uint8]:
    """Operand bytes: everything that can be in a register, special values among them, values of everyday size in the second half."""
    random = np.random.default_rng(seed)
    kind = np.dtype(f"u{SIZE[dtype]}")
    values = random.integers(0, np.iinfo(kind).max, count, dtype=kind, endpoint=True)
    places = random.integers(0, count, count // 4)
    special = SPECIAL.get(dtype, (0, 1, np.iinfo(kind).max, np.iinfo(kind).max // 2, np.iinfo(kind).max // 2 + 1))
    values[places] = np.array(special, kind)[random.integers(0, len(special), len(places))]
    if dtype in (F16, F32):
        everyday = (random.standard_normal(count - count // 2) * 4).astype(np.float16 if dtype == F16 else np.float32)
        values[count // 2 :] = everyday.view(kind)
    return values.view(np.uint8)


def result(path: str, key: tuple[int, int, int, int], count: int, scalar: int) -> bytes | None:
    """The bytes that the loop of an instruction leaves, those behind its last element included; None without such an instruction."""
    dst = np.concatenate([bits(key[1], count, 3), np.full(64, 0xA5, np.uint8)])
    sources = [np.concatenate([bits(key[2], count, seed), np.zeros(64, np.uint8)]) for seed in (1, 2)]
    pointers = [ctypes.c_void_p(data.ctypes.data) for data in (dst, *sources)]
    found = engine_library().rig_loop(path.encode(), (ctypes.c_uint32 * 4)(*key), *pointers, ctypes.c_uint64(scalar), count)
    return dst.tobytes() if found else None


def instructions() -> Iterator[tuple[int, int, int, int]]:
    """(opcode, dtype of the destination, of the sources, rounding mode) of all that could exist."""
    for opcode in OPCODES:
        modes = range(7) if opcode == CAST else range(2)
        yield from ((opcode, dst, src, mode) for dst in DTYPES for src in DTYPES for mode in modes)


def present(path: str) -> set[tuple[int, int, int, int]]:
    return {key for key in instructions() if result(path, key, 1, 0) is not None}


def test_every_path_has_the_same_instructions() -> None:
    expected = present("portable")
    assert len(expected) > 150
    assert all(present(path) == expected for path in paths())


@pytest.mark.parametrize("path", ["avx2", "avx512"])
def test_every_instruction_gives_the_bits_of_the_portable_path(path: str) -> None:
    if path not in paths():
        pytest.skip(f"this machine has no {path}")
    scalars = (0x3E00, 0x3FC00000, 0x8003, 5)
    wrong = []
    for key in sorted(present("portable")):
        for count in COUNTS:
            scalar = scalars[(count + key[0]) % len(scalars)]
            if result(path, key, count, scalar) != result("portable", key, count, scalar):
                wrong.append((key, count, scalar))
    assert wrong == []


@pytest.mark.parametrize("path", ["portable", "avx2", "avx512"])
@pytest.mark.parametrize(("dst", "src"), [(F32, F16), (F16, F32)])
def test_halves_are_converted_as_numpy_converts_them(path: str, dst: int, src: int) -> None:
    """All halves to floats; to halves all floats whose low bits make the rounding interesting."""
    if path not in paths():
        pytest.skip(f"this machine has no {path}")
    halves = np.arange(1 << 16, dtype=np.uint16)
    wide = halves.view(np.float16).astype(np.float32)
    if src == F16:
        operand, expected = halves.view(np.uint8), wide
    else:
        near = np.concatenate([(wide.view(np.uint32) + np.uint32(step)).view(np.float32) for step in (0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF)])
        with np.errstate(over="ignore"):
            operand, expected = near.view(np.uint8), near.astype(np.float16)
    count = len(expected)
    out = np.zeros_like(expected)
    key = (ctypes.c_uint32 * 4)(CAST, dst, src, 0 if src == F16 else 1)
    pointers = [ctypes.c_void_p(data.ctypes.data) for data in (out, operand, operand)]
    assert engine_library().rig_loop(path.encode(), key, *pointers, ctypes.c_uint64(0), count)
    same = (out == expected) | (np.isnan(out) & np.isnan(expected))
    assert bool(np.all(same)), operand.view(np.uint16 if src == F16 else np.uint32)[~same][:8]
    zeros = expected == 0
    assert bool(np.all(np.signbit(out[zeros]) == np.signbit(expected[zeros])))


PRODUCTS = [(17, 33, 100), (2, 16, 40), (40, 48, 16)]
"""m, n, k: rows and fractals that are not full, few rows, full ones."""


def product(path: str, dtype: int, shape: tuple[int, int, int]) -> bytes:
    """What two Mmad on a path leave, the second adding to the first; the operands are those of `bits`."""
    m, n, k = shape
    a, b = (bits(dtype, rows * k, seed).view(NUMPY[dtype]).reshape(rows, k) for rows, seed in ((m, 1), (n, 2)))
    source = I32 if dtype == I8 else F32
    assert engine_library().rig_use_path(path.encode())
    with Rig() as rig:
        out = rig.allocate(m * n * 4)
        steps = [*operands(rig, a, b, dtype, is_transposed=True), mmad(shape, dtype, mode=ZERO), barrier(M), mmad(shape, dtype, mode=0)]
        report = rig.launch([*steps, *flag(M, FIX), fixpipe(gm(out, source), (m, n), n * 4, source=source)], core_kind=AIC)
        assert report.diagnostics == []
        return rig.download(out, m * n * 4, np.uint8).tobytes()


@pytest.fixture
def best_path() -> Iterator[None]:
    """Whatever a test chooses, the others run on the best path of the machine."""
    yield
    engine_library().rig_use_path(paths()[-1].encode())


@pytest.mark.usefixtures("best_path")
@pytest.mark.parametrize("path", ["avx2", "avx512"])
@pytest.mark.parametrize("dtype", [F16, BF16, F32, I8])
def test_products_of_the_cube_have_the_bits_of_the_portable_path(path: str, dtype: int) -> None:
    """Infinities and NaNs of all payloads among the operands: one form of NaN comes out."""
    if path not in paths():
        pytest.skip(f"this machine has no {path}")
    assert [shape for shape in PRODUCTS if product(path, dtype, shape) != product("portable", dtype, shape)] == []


@pytest.mark.usefixtures("best_path")
def test_the_cube_multiplies_on_the_path_that_is_chosen() -> None:
    """Every path sums in the documented order: the products of a fractal one after another, then onto the sum so far."""
    random = np.random.default_rng(5)
    a, b = (random.standard_normal((16, 48)).astype(np.float16) for _ in range(2))
    expected = np.zeros((16, 16), np.float32)
    for first in range(0, 48, 16):
        part = np.zeros((16, 16), np.float32)
        for deep in range(first, first + 16):
            part += a[:, deep : deep + 1].astype(np.float32) * b[:, deep].astype(np.float32)
        expected += part
    for path in paths():
        assert engine_library().rig_use_path(path.encode())
        with Rig() as rig:
            out = rig.allocate(1024)
            steps = [*operands(rig, a, b, F16, is_transposed=True), mmad((16, 16, 48), F16), *flag(M, FIX)]
            rig.launch([*steps, fixpipe(gm(out), (16, 16), 64)], core_kind=AIC)
            np.testing.assert_array_equal(rig.download(out, 256, np.float32).reshape(16, 16), expected, err_msg=path)


REPEATS = 3


def of_lanes(dtype: int) -> Iterator[tuple[Record, ...]]:
    """Instructions whose loops work on the lanes of a repeat, dense and with gaps between blocks, with all lanes and some of them."""
    lanes, dst, a, b = 256 // SIZE[dtype], ub(D, dtype), ub(A, dtype), ub(B, dtype)
    apart = {"blk": 2, "rep": 16}
    for mode in range(6) if dtype != I32 else (2,):
        yield (counted(COMPARE, (ub(D, U8), a, b), REPEATS * lanes, mode=mode),)
        yield (strided(COMPARE, (ub(D, U8), ub(A, dtype, **apart), b), (FULL, FULL), REPEATS, mode=mode),)
    if dtype == I32:
        return
    for mask in ((FULL, FULL if dtype == F16 else 0), (0xF0F1_3355_7777_0001, 0)):
        for opcode in (WHOLE_REDUCE_SUM, WHOLE_REDUCE_MIN, BLOCK_REDUCE_SUM, BLOCK_REDUCE_MAX, PAIR_REDUCE_SUM):
            for source in (a, ub(A, dtype, **apart)):
                yield (strided(opcode, (ub(D, dtype, blk=1, rep=1), source), mask, REPEATS),)
        select = strided(SELECT, (dst, a, b), mask, REPEATS, mode=2, scalar=C | 0xFFFFFFFF << 32)
        yield (counted(COMPARE, (ub(C, U8), a, b), REPEATS * lanes, mode=0), barrier(V), select)


def left_by(path: str, dtype: int, steps: tuple[Record, ...]) -> bytes:
    """The destination after `steps` on a path."""
    lanes = 256 // SIZE[dtype] * REPEATS * 2
    sources = {place: bits(dtype, lanes, seed).view(NUMPY[dtype]) for place, seed in ((A, 1), (B, 2))}
    assert engine_library().rig_use_path(path.encode())
    with Rig() as rig:
        got, report = run_vector(rig, sources, np.zeros(1024, np.uint8), list(steps))
    assert report.causes() == []
    return got.tobytes()


@pytest.mark.usefixtures("best_path")
@pytest.mark.parametrize("path", ["avx2", "avx512"])
@pytest.mark.parametrize("dtype", [F16, F32, I32])
def test_comparisons_selections_and_reductions_have_the_bits_of_the_portable_path(path: str, dtype: int) -> None:
    """NaNs, infinities, zeros of both signs and subnormals among the operands."""
    if path not in paths():
        pytest.skip(f"this machine has no {path}")
    wrong = [[step.opcode for step in steps] for steps in of_lanes(dtype) if left_by(path, dtype, steps) != left_by("portable", dtype, steps)]
    assert wrong == []
