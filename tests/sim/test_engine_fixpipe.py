"""Fixpipe into L1, a scale per column, registers of DataCopy out of L0C, Fill, HF32 and 4-bit products, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from cube_steps import BT, DEQ_F16, FRACTAL, L0A, L0B, ROWS, TO_B8, TO_F16, fixpipe, left, load_data, local, mmad, narrowed, operands, to_l1
from engine_rig import (
    AIC,
    DATA_COPY,
    F16,
    F32,
    FIX,
    I4,
    I8,
    I32,
    MTE1,
    MTE2,
    MTE3,
    SET_CTRL,
    UB,
    M,
    Operand,
    Record,
    Rig,
    S,
    barrier,
    flag,
    gm,
    l1,
    load,
    record,
)

FB, REGISTERS, FILL, SET_FIXPIPE = 8, 0x80, 209, 305
VECTOR_DEQ_F16, VECTOR_TO_B8 = 4, 6
HF32, TOWARDS_ZERO, KEEPS_INFINITIES = 1 << 46, 1 << 47, 1 << 48
GENERATOR = np.random.default_rng(31)


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def product(rig: Rig, m: int, n: int, dtype: int = F16) -> tuple[list[Record], npt.NDArray[Any]]:
    """Records that leave a product of small whole numbers in L0C, and the product."""
    a, b = GENERATOR.integers(-8, 9, (m, 32)), GENERATOR.integers(-8, 9, (32, n))
    is_bytes = dtype == I8
    steps = operands(rig, narrowed(a, dtype), narrowed(b.T if is_bytes else b, dtype), dtype, is_transposed=is_bytes)
    return [*steps, mmad((m, n, 32), dtype), *flag(M, FIX)], a @ b


def out_of_l1(rig: Rig, at: int, nbytes: int) -> tuple[Record, int]:
    """L1 to global memory."""
    out = rig.allocate(nbytes)
    made = record(DATA_COPY, MTE3, p=(1, nbytes, 0, 0))
    made.dst, made.src0 = gm(out, I8), l1(at, I8)
    return made, out


def parameters(rig: Rig, scales: npt.NDArray[np.float32], at: int = 131072) -> list[Record]:
    """Scales with the bit for signed results, through L1 at `at` into the fixpipe buffer."""
    words = scales.view(np.uint32).astype(np.uint64) | np.uint64(1 << 46)
    copy = record(DATA_COPY, FIX, p=(1, words.nbytes, 0, 0))
    copy.dst, copy.src0 = local(FB, 0, 11), l1(at, 11)
    return [load(l1(at, 11), gm(rig.upload(words), 11), words.nbytes), *flag(MTE2, FIX), copy, barrier(FIX)]


def by_column(made: Record) -> Record:
    made.src1 = local(FB, 0, 11)
    return made


def test_results_go_to_l1_by_columns_as_halves(rig: Rig) -> None:
    steps, expected = product(rig, 24, 48)
    back, out = out_of_l1(rig, 65536, 24 * 48 * 2)
    fix = fixpipe(l1(65536, F16), (24, 48), 24 * 32, mode=0, quant=TO_F16)
    report = rig.launch([*steps, fix, *flag(FIX, MTE3), back], core_kind=AIC)
    assert report.diagnostics == []
    got = rig.download(out, 24 * 48, np.float16).reshape(3, 24, 16)
    np.testing.assert_array_equal(got.transpose(1, 0, 2).reshape(24, 48), expected)


def test_bytes_go_to_l1_in_pairs_of_columns(rig: Rig) -> None:
    steps, expected = product(rig, 16, 64)
    back, out = out_of_l1(rig, 65536, 16 * 64)
    bits = int(np.float32(0.25).view(np.uint32)) | 1 << 46
    fix = fixpipe(l1(65536, I8), (16, 64), 16 * 32, mode=0, quant=TO_B8, scalar=bits)
    report = rig.launch([*steps, fix, *flag(FIX, MTE3), back], core_kind=AIC)
    assert report.diagnostics == []
    got = rig.download(out, 1024, np.int8).reshape(2, 16, 32).transpose(1, 0, 2).reshape(16, 64)
    np.testing.assert_array_equal(got, np.clip(np.rint(expected * 0.25), -128, 127))


def test_nothing_goes_to_l1_as_it_is(rig: Rig) -> None:
    steps, _ = product(rig, 16, 16)
    report = rig.launch([*steps, fixpipe(l1(65536, F32), (16, 16), 1024, mode=0)], core_kind=AIC)
    assert report.causes() == ["unsupported_api"]


def test_a_copy_out_of_l1_waits_for_what_fixpipe_puts_there(rig: Rig) -> None:
    steps, _ = product(rig, 16, 16)
    back, _ = out_of_l1(rig, 65536, 512)
    report = rig.launch([*steps, fixpipe(l1(65536, F16), (16, 16), 512, mode=0, quant=TO_F16), back], core_kind=AIC)
    assert "missing_sync" in report.causes()


def test_undefined_results_are_carried_to_l1(rig: Rig) -> None:
    back, _ = out_of_l1(rig, 65536, 512)
    report = rig.launch([fixpipe(l1(65536, F16), (16, 16), 512, mode=0, quant=TO_F16), *flag(FIX, MTE3), back], core_kind=AIC)
    assert report.causes() == ["undefined_data"]


@pytest.mark.parametrize(("quant", "source", "to"), [(VECTOR_TO_B8, F32, I8), (VECTOR_DEQ_F16, I32, F16)])
def test_every_column_has_a_scale_of_its_own(rig: Rig, quant: int, source: int, to: int) -> None:
    steps, expected = product(rig, 16, 48, I8 if source == I32 else F16)
    scales = (2.0 ** GENERATOR.integers(-5, 3, 48)).astype(np.float32)
    out = rig.allocate(16 * 48 * 2)
    size = 1 if to == I8 else 2
    fix = by_column(fixpipe(gm(out, to), (16, 48), 48 * size, mode=ROWS, quant=quant, source=source))
    report = rig.launch([*parameters(rig, scales), *steps, fix], core_kind=AIC)
    assert report.diagnostics == []
    got = rig.download(out, 16 * 48, np.int8 if to == I8 else np.float16).reshape(16, 48)
    np.testing.assert_array_equal(got, np.clip(np.rint(expected * scales), -128, 127) if to == I8 else (expected * scales).astype(np.float16))


def test_a_scale_per_column_needs_its_tensor(rig: Rig) -> None:
    steps, _ = product(rig, 16, 16)
    report = rig.launch([*steps, fixpipe(gm(rig.allocate(256), I8), (16, 16), 16, quant=VECTOR_TO_B8)], core_kind=AIC)
    assert report.causes() == ["bad_parameter"]


def test_a_scale_that_was_never_copied_is_undefined(rig: Rig) -> None:
    steps, _ = product(rig, 16, 16)
    report = rig.launch([*steps, by_column(fixpipe(gm(rig.allocate(256), I8), (16, 16), 16, quant=VECTOR_TO_B8))], core_kind=AIC)
    assert "undefined_data" in report.causes()


def test_a_copy_out_goes_by_registers(rig: Rig) -> None:
    steps, expected = product(rig, 32, 32, I8)
    out = rig.allocate(2048)
    matrices = record(SET_FIXPIPE, S, p=(0, 2, 2, 512))
    scale = record(SET_FIXPIPE, S, p=(1, 0, 0, 0), scalar=int(np.float32(0.5).view(np.uint32)))
    fix = fixpipe(gm(out, F16), (16, 16), 32, mode=ROWS | REGISTERS, quant=DEQ_F16, source=I32, strip=2048)
    report = rig.launch([matrices, scale, *steps, fix], core_kind=AIC)
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 256, np.float16).reshape(16, 16), expected[:16, :16] * 0.5)
    np.testing.assert_array_equal(rig.download(out + 1024, 256, np.float16).reshape(16, 16), expected[:16, 16:] * 0.5)


def test_a_copy_out_by_columns_of_scales_goes_by_registers(rig: Rig) -> None:
    steps, expected = product(rig, 16, 16, I8)
    scales = (2.0 ** GENERATOR.integers(-5, 3, 16)).astype(np.float32)
    out = rig.allocate(512)
    config = record(SET_FIXPIPE, S, p=(2, 0, 0, 0), scalar=0)
    fix = fixpipe(gm(out, F16), (16, 16), 32, mode=ROWS | REGISTERS, quant=VECTOR_DEQ_F16, source=I32)
    report = rig.launch([*parameters(rig, scales)[:-1], config, *steps, fix], core_kind=AIC)
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 256, np.float16).reshape(16, 16), (expected * scales).astype(np.float16))


def test_a_copy_out_without_its_register_is_refused(rig: Rig) -> None:
    steps, _ = product(rig, 16, 16, I8)
    report = rig.launch([*steps, fixpipe(gm(rig.allocate(512), F16), (16, 16), 32, mode=ROWS | REGISTERS, quant=DEQ_F16, source=I32)], core_kind=AIC)
    assert report.causes() == ["undefined_data"]


def filled(to: Operand, pipe: int, repeats: int, nbytes: int, gap: int, value: float) -> Record:
    made = record(FILL, pipe, p=(repeats, nbytes, 0, gap), scalar=int(np.float16(value).view(np.uint16)))
    made.dst = to
    return made


def test_fill_writes_blocks_with_gaps_between(rig: Rig) -> None:
    back, out = out_of_l1(rig, 0, 256)
    whole = filled(l1(0, F16), MTE2, 1, 256, 0, 1.5)
    report = rig.launch([whole, barrier(MTE2), filled(l1(32, F16), MTE2, 2, 64, 32, -2.0), *flag(MTE2, MTE3), back], core_kind=AIC)
    assert report.diagnostics == []
    expected = np.repeat(np.array([1.5, -2, -2, 1.5, -2, -2, 1.5, 1.5]), 16)
    np.testing.assert_array_equal(rig.download(out, 128, np.float16), expected)


def test_fill_of_an_operand_memory_is_what_mmad_reads(rig: Rig) -> None:
    fills = [filled(local(L0A, 0, F16), MTE1, 1, FRACTAL, 0, 3), filled(local(L0B, 0, F16), MTE1, 1, FRACTAL, 0, 0.5)]
    out = rig.allocate(1024)
    report = rig.launch([*fills, *flag(MTE1, M), mmad((16, 16, 16), F16), *flag(M, FIX), fixpipe(gm(out, F32), (16, 16), 64)], core_kind=AIC)
    assert report.diagnostics == []
    assert (rig.download(out, 256, np.float32) == 24).all()


@pytest.mark.parametrize("space", [BT, UB])
def test_fill_of_another_memory_is_refused(rig: Rig, space: int) -> None:
    assert rig.launch([filled(local(space, 0, F16), MTE1, 1, 512, 0, 1)], core_kind=AIC).causes() == ["unsupported_api"]


def to_hf32(values: npt.NDArray[np.float32], *, towards_zero: bool) -> npt.NDArray[np.float64]:
    """11 bits of mantissa, to nearest."""
    scale = 2.0 ** (np.floor(np.log2(np.abs(values.astype(np.float64)))) - 11)
    steps = values.astype(np.float64) / scale
    nearest = np.sign(steps) * np.ceil(np.abs(steps) - 0.5) if towards_zero else np.rint(steps)
    return np.asarray(nearest * scale)


@pytest.mark.parametrize("is_towards_zero", [False, True])
def test_hf32_rounds_both_operands_first(rig: Rig, is_towards_zero: bool) -> None:
    values = (1 + GENERATOR.integers(0, 1 << 13, (16, 16)) * 2.0**-13).astype(np.float32)  # every fourth one lies halfway
    steps = operands(rig, values, narrowed(np.eye(16, dtype=np.int64), F32), F32, is_transposed=True)
    ctrl = record(SET_CTRL, S, scalar=KEEPS_INFINITIES | HF32 | (TOWARDS_ZERO if is_towards_zero else 0))
    out = rig.allocate(1024)
    report = rig.launch([ctrl, *steps, mmad((16, 16, 16), F32), *flag(M, FIX), fixpipe(gm(out, F32), (16, 16), 64)], core_kind=AIC)
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 256, np.float32).reshape(16, 16), to_hf32(values, towards_zero=is_towards_zero))


def nibbles(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    """Pairs of 4-bit numbers in bytes, the first in the low half."""
    flat = values.astype(np.uint8).reshape(values.shape[0], -1, 2) & 15
    return np.asarray((flat[:, :, 0] | flat[:, :, 1] << 4).astype(np.uint8).view(np.int8))


def int4_load(made: Record) -> Record:
    made.dst.dtype = made.src0.dtype = I4
    return made


@pytest.mark.parametrize("is_transposed", [False, True])
def test_products_of_four_bit_numbers(rig: Rig, is_transposed: bool) -> None:
    a, b = GENERATOR.integers(-8, 8, (32, 64)), GENERATOR.integers(-8, 8, (64, 64))
    first, behind = to_l1(gm(rig.upload(nibbles(a)), I8), (32, 32), 0, 1)
    second, _ = to_l1(gm(rig.upload(nibbles(b if is_transposed else b.T)), I8), (64, 32), behind, 1)
    step = load_data(local(L0B, 0, I4), l1(behind, I4), 1 if is_transposed else 4, 1, fractal_gap=0 if is_transposed else None)
    loads = [*(int4_load(one) for one in left(0, (32, 32), I8)), step]
    product_step = mmad((32, 64, 64), I8)
    product_step.src0.dtype = product_step.src1.dtype = I4
    out = rig.allocate(32 * 64 * 4)
    back = fixpipe(gm(out, I32), (32, 64), 256, source=I32)
    report = rig.launch([first, second, *flag(MTE2, MTE1), *loads, *flag(MTE1, M), product_step, *flag(M, FIX), back], core_kind=AIC)
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 2048, np.int32).reshape(32, 64), a @ b)
