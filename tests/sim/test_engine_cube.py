"""The cube unit against NumPy: layouts of LoadData, Mmad in its dtypes, changes of type and layout in Fixpipe; hazards, bounds, undefined bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from cube_steps import (
    BIAS,
    BT,
    DEQ_F16,
    FRACTAL,
    K_ALIGN,
    L0A,
    L0B,
    L0C,
    RELU,
    REQ_B8,
    ROWS,
    SPLIT,
    TO_B8,
    TO_BF16,
    TO_F16,
    ZERO,
    fixpipe,
    left,
    load_data,
    local,
    mmad,
    narrowed,
    operands,
    right_transposed,
    to_l1,
    up,
)
from engine_rig import (
    AIC,
    AIV,
    BF16,
    DATA_COPY,
    F16,
    F32,
    FIX,
    GET_CAPACITY,
    I8,
    I32,
    MTE1,
    MTE2,
    SET_ATOMIC,
    SET_CTRL,
    M,
    Record,
    Report,
    Rig,
    S,
    barrier,
    flag,
    gm,
    l1,
    load,
    record,
    ub,
)

GENERATOR = np.random.default_rng(11)
SHAPES = [(16, 16, 16), (32, 48, 64), (30, 40, 70), (17, 1, 33), (2, 50, 8)]
"""m, n, k: whole fractals, several of them, the example of the vendor's page, last ones almost empty."""


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def whole(rows: int, columns: int) -> npt.NDArray[np.int64]:
    """Whole numbers so small that every sum of products is exact in every dtype."""
    return GENERATOR.integers(-8, 9, (rows, columns))


def run(rig: Rig, steps: list[Record], shape: tuple[int, int], *, source: int = F32) -> tuple[Report, npt.NDArray[Any]]:
    """`steps`, which leave a product in L0C, then its rows as they are."""
    out = rig.allocate(shape[0] * shape[1] * 4)
    report = rig.launch([*steps, *flag(M, FIX), fixpipe(gm(out, source), shape, shape[1] * 4, source=source)], core_kind=AIC)
    return report, rig.download(out, shape[0] * shape[1], np.int32 if source == I32 else np.float32).reshape(shape)


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("dtype", [F16, BF16])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_two_byte_types_are_exact_on_whole_numbers(rig: Rig, shape: tuple[int, int, int], dtype: int, is_transposed: bool) -> None:
    m, n, k = shape
    a, b = whole(m, k), whole(k, n)
    steps = operands(rig, narrowed(a, dtype), narrowed(b.T if is_transposed else b, dtype), dtype, is_transposed=is_transposed)
    report, got = run(rig, [*steps, mmad(shape, dtype)], (m, n))
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, a @ b)


@pytest.mark.parametrize("dtype", [I8, F32])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_one_and_four_byte_types_are_exact_on_whole_numbers(rig: Rig, shape: tuple[int, int, int], dtype: int) -> None:
    m, n, k = shape
    a, b = whole(m, k), whole(k, n)
    steps = operands(rig, narrowed(a, dtype), narrowed(b.T, dtype), dtype, is_transposed=True)
    report, got = run(rig, [*steps, mmad(shape, dtype)], (m, n), source=I32 if dtype == I8 else F32)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, a @ b)


def test_a_product_of_random_halves_is_as_near_as_float_sums_are(rig: Rig) -> None:
    a, b = GENERATOR.standard_normal((48, 200)).astype(np.float16), GENERATOR.standard_normal((200, 32)).astype(np.float16)
    _, got = run(rig, [*operands(rig, a, b, F16, is_transposed=False), mmad((48, 32, 200), F16)], (48, 32))
    np.testing.assert_allclose(got, a.astype(np.float64) @ b.astype(np.float64), rtol=0, atol=2e-5 * 200**0.5)


def test_one_row_is_read_as_a_vector(rig: Rig) -> None:
    a, b = whole(1, 70), whole(70, 40)
    padded = np.zeros(256, np.float16)
    padded[:70] = a[0]
    first = load(l1(0, F16), gm(rig.upload(padded), F16), 512)
    second, _ = to_l1(gm(rig.upload(narrowed(b.T, F16)), F16), (40, 70), FRACTAL, 2)
    loads = [load_data(local(L0A, 0, F16), l1(0, F16), 1, 1), *right_transposed(FRACTAL, (40, 70), F16)]
    report, got = run(rig, [first, second, *flag(MTE2, MTE1), *loads, *flag(MTE1, M), mmad((1, 40, 70), F16)], (1, 40))
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, a @ b)


@pytest.mark.parametrize("dtype", [I8, F16])
def test_the_left_matrix_is_transposed_square_by_square(rig: Rig, dtype: int) -> None:
    m, n, k = 64, 32, 96
    size, a, b = (1 if dtype == I8 else 2), whole(64, 96), whole(96, 32)
    squares, deep = (2, 32) if dtype == I8 else (1, 16)
    first, behind = to_l1(gm(rig.upload(narrowed(a.T, dtype)), dtype), (k, m), 0, size)
    second, _ = to_l1(gm(rig.upload(narrowed(b.T, dtype)), dtype), (n, k), behind, size)
    k1 = k // deep  # rows of squares in the source, and fractals in a row of L0A
    loads = [
        load_data(local(L0A, strip * k1 * squares * FRACTAL, dtype), l1(strip * k1 * squares * FRACTAL, dtype), k1, squares, fractal_gap=k1 - 1)
        for strip in range(m // deep)
    ]
    steps = [first, second, *flag(MTE2, MTE1), *loads, *right_transposed(behind, (n, k), dtype), *flag(MTE1, M), mmad((m, n, k), dtype)]
    report, got = run(rig, steps, (m, n), source=I32 if dtype == I8 else F32)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, a @ b)


def test_a_right_matrix_of_floats_is_transposed_in_squares_of_two_fractals(rig: Rig) -> None:
    """16 x 16 floats in L1 are two fractals side by side; L0B takes two of 8 x 16, one below the other."""
    a, b = whole(16, 16), whole(16, 16)
    first, behind = to_l1(gm(rig.upload(narrowed(a, F32)), F32), (16, 16), 0, 4)
    second, _ = to_l1(gm(rig.upload(narrowed(b, F32)), F32), (16, 16), behind, 4)
    loads = [*left(0, (16, 16), F32), load_data(local(L0B, 0, F32), l1(behind, F32), 1, 2, fractal_gap=0)]
    report, got = run(rig, [first, second, *flag(MTE2, MTE1), *loads, *flag(MTE1, M), mmad((16, 16, 16), F32)], (16, 16))
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, a @ b)


def test_rows_of_float_fractals_may_have_an_even_number_of_them(rig: Rig) -> None:
    m, n, k = 32, 16, 36  # five fractals of 8, six in a row
    a, b = whole(m, k), whole(k, n)
    wide = np.zeros((m, 48), np.int64)
    wide[:, :k] = a
    steps = operands(rig, narrowed(wide, F32), narrowed(b.T, F32), F32, is_transposed=True)
    _, got = run(rig, [*steps, mmad((m, n, k), F32, mode=ZERO | K_ALIGN)], (m, n))
    np.testing.assert_array_equal(got, a @ b)
    assert (run(rig, [*steps, mmad((m, n, k), F32)], (m, n))[1] != a @ b).any()


def test_a_second_product_adds_to_the_first(rig: Rig) -> None:
    a, b = whole(32, 16), whole(16, 32)
    steps = operands(rig, narrowed(a, F16), narrowed(b, F16), F16, is_transposed=False)
    report, got = run(rig, [*steps, mmad((32, 32, 16), F16), barrier(M), mmad((32, 32, 16), F16, mode=0)], (32, 32))
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, 2 * (a @ b))


def bias_copy(source: int, nbytes: int) -> Record:
    made = record(DATA_COPY, MTE1, p=(1, nbytes, 0, 0))
    made.dst, made.src0 = local(BT, 0, F32), l1(source, F32)
    return made


def test_a_bias_row_starts_every_row(rig: Rig) -> None:
    a, b, bias = whole(20, 16), whole(16, 32), GENERATOR.integers(-99, 99, 32).astype(np.float32)
    steps = operands(rig, narrowed(a, F16), narrowed(b, F16), F16, is_transposed=False)
    prologue = [load(l1(65536, F32), gm(rig.upload(bias), F32), 128), *flag(MTE2, MTE1), bias_copy(65536, 128)]
    report, got = run(rig, [*prologue, *steps, mmad((20, 32, 16), F16, mode=BIAS)], (20, 32))
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, a @ b + bias)


def product(rig: Rig, values: npt.NDArray[Any], dtype: int = F32) -> list[Record]:
    """L0C holds `values` (16 x 16): they times the unit matrix."""
    unit = np.eye(16, dtype=np.int64)
    if dtype == I32:
        return [*operands(rig, narrowed(values, I8), narrowed(unit, I8), I8, is_transposed=True), mmad((16, 16, 16), I8), *flag(M, FIX)]
    return [*operands(rig, values.astype(np.float32), narrowed(unit, F32), F32, is_transposed=True), mmad((16, 16, 16), F32), *flag(M, FIX)]


def test_fixpipe_narrows_to_half_and_bfloat16_to_the_nearest(rig: Rig) -> None:
    values = GENERATOR.standard_normal((16, 16)).astype(np.float32) * 1000
    out = rig.allocate(2048)
    steps = product(rig, values)
    report = rig.launch([*steps, fixpipe(gm(out, F16), (16, 16), 32, quant=TO_F16), fixpipe(gm(out + 1024, BF16), (16, 16), 32, quant=TO_BF16)], core_kind=AIC)
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 256, np.float16).reshape(16, 16), values.astype(np.float16))
    bits = values.view(np.uint32)
    np.testing.assert_array_equal(rig.download(out + 1024, 256, np.uint16).reshape(16, 16), (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


@pytest.mark.parametrize(("ctrl", "expected"), [(1 << 48, np.inf), (0, 65504.0)])
def test_ctrl_decides_what_becomes_of_what_half_cannot_hold(rig: Rig, ctrl: int, expected: float) -> None:
    out = rig.allocate(512)
    steps = product(rig, np.full((16, 16), 1e6))
    rig.launch([record(SET_CTRL, S, scalar=ctrl), *steps, fixpipe(gm(out, F16), (16, 16), 32, quant=TO_F16)], core_kind=AIC)
    assert (rig.download(out, 256, np.float16) == expected).all()


def quant_bits(scale: float, *, offset: int = 0, is_signed: bool = True) -> int:
    return int(np.float32(scale).view(np.uint32)) | (offset & 0x1FF) << 37 | int(is_signed) << 46


def test_fixpipe_scales_integers_to_half(rig: Rig) -> None:
    values = GENERATOR.integers(-128, 128, (16, 16))
    out = rig.allocate(512)
    rig.launch([*product(rig, values, I32), fixpipe(gm(out, F16), (16, 16), 32, quant=DEQ_F16, source=I32, scalar=quant_bits(0.125))], core_kind=AIC)
    np.testing.assert_array_equal(rig.download(out, 256, np.float16).reshape(16, 16), values * 0.125)


@pytest.mark.parametrize(("quant", "source"), [(TO_B8, F32), (REQ_B8, I32)])
def test_fixpipe_scales_rounds_moves_and_saturates_to_bytes(rig: Rig, quant: int, source: int) -> None:
    values = GENERATOR.integers(-128, 128, (16, 16))
    out = rig.allocate(256)
    steps = [*product(rig, values, source), fixpipe(gm(out, I8), (16, 16), 16, quant=quant, source=source, scalar=quant_bits(1.5, offset=-3))]
    rig.launch(steps, core_kind=AIC)
    expected = np.clip(np.rint(values * 1.5) - 3, -128, 127)
    np.testing.assert_array_equal(rig.download(out, 256, np.int8).reshape(16, 16), expected)


def test_the_scale_has_ten_bits_of_mantissa(rig: Rig) -> None:
    out = rig.allocate(512)
    steps = [*product(rig, np.full((16, 16), 100), I32), fixpipe(gm(out, F16), (16, 16), 32, quant=DEQ_F16, source=I32, scalar=quant_bits(1 + 2**-11))]
    rig.launch(steps, core_kind=AIC)
    assert (rig.download(out, 256, np.float16) == 100).all()


def test_relu_cuts_off_below_zero(rig: Rig) -> None:
    values = GENERATOR.integers(-99, 99, (16, 16))
    out = rig.allocate(1024)
    rig.launch([*product(rig, values), fixpipe(gm(out, F32), (16, 16), 64, mode=ROWS | RELU)], core_kind=AIC)
    np.testing.assert_array_equal(rig.download(out, 256, np.float32).reshape(16, 16), np.maximum(values, 0))


def big_product(rig: Rig, m: int, n: int) -> tuple[list[Record], npt.NDArray[Any]]:
    a, b = whole(m, 16), whole(16, n)
    return [*operands(rig, narrowed(a, F16), narrowed(b, F16), F16, is_transposed=False), mmad((m, n, 16), F16), *flag(M, FIX)], a @ b


@pytest.mark.parametrize(("columns", "mode"), [(16, 0), (8, SPLIT)])
def test_columns_of_fractals_stay_what_they_are(rig: Rig, columns: int, mode: int) -> None:
    steps, expected = big_product(rig, 24, 48)
    out = rig.allocate(48 // columns * 40 * 32 * 2)
    pitch = 24 * columns * 4 + 64
    report = rig.launch([*steps, fixpipe(gm(out, F32), (24, 48), pitch, mode=mode)], core_kind=AIC)
    assert report.diagnostics == []
    for strip in range(48 // columns):
        got = rig.download(out + strip * pitch, 24 * columns, np.float32).reshape(24, columns)
        np.testing.assert_array_equal(got, expected[:, strip * columns : (strip + 1) * columns])


def test_columns_of_bytes_are_merged_in_pairs_and_an_odd_one_stays(rig: Rig) -> None:
    steps, expected = big_product(rig, 24, 48)
    out = rig.allocate(2048)
    rig.launch([*steps, fixpipe(gm(out, I8), (24, 48), 24 * 32, mode=0, quant=TO_B8, scalar=quant_bits(0.25))], core_kind=AIC)
    scaled = np.clip(np.rint(expected * 0.25), -128, 127)
    np.testing.assert_array_equal(rig.download(out, 24 * 32, np.int8).reshape(24, 32), scaled[:, :32])
    np.testing.assert_array_equal(rig.download(out + 24 * 32, 24 * 16, np.int8).reshape(24, 16), scaled[:, 32:])


def test_several_matrices_leave_in_one_call(rig: Rig) -> None:
    steps, expected = big_product(rig, 32, 32)
    out = rig.allocate(8192)
    matrices = fixpipe(gm(out, F32), (16, 16), 64, strip=2048, matrices=(2, 2048, 4096))
    rig.launch([*steps, matrices], core_kind=AIC)
    np.testing.assert_array_equal(rig.download(out, 256, np.float32).reshape(16, 16), expected[:16, :16])
    np.testing.assert_array_equal(rig.download(out + 4096, 256, np.float32).reshape(16, 16), expected[:16, 16:])


def test_fixpipe_adds_atomically(rig: Rig) -> None:
    values = GENERATOR.integers(-99, 99, (16, 16))
    out = rig.upload(np.full(256, 5, np.float32), is_mutable=True)
    mode = record(SET_ATOMIC, S, p=(1,))
    mode.dst.dtype = F32
    report = rig.launch([mode, *product(rig, values), fixpipe(gm(out, F32), (16, 16), 64)], core_kind=AIC)
    assert report.causes() == []
    np.testing.assert_array_equal(rig.download(out, 256, np.float32).reshape(16, 16), values + 5)


# ---- hazards ----
def steps_without(rig: Rig, lost: tuple[int, int]) -> list[Record]:
    """A product of two matrices into global memory with every flag but one pair."""
    a = narrowed(whole(16, 16), F16)
    first, behind = to_l1(gm(rig.upload(a), F16), (16, 16), 0, 2)
    second, _ = to_l1(gm(rig.upload(a), F16), (16, 16), behind, 2)
    parts: list[tuple[tuple[int, int], list[Record]]] = [
        ((MTE2, MTE1), [first, second]),
        ((MTE1, M), [*left(0, (16, 16), F16), *right_transposed(behind, (16, 16), F16)]),
        ((M, FIX), [mmad((16, 16, 16), F16)]),
    ]
    steps = [step for pair, part in parts for step in [*part, *([] if pair == lost else flag(*pair))]]
    return [*steps, fixpipe(gm(rig.allocate(1024), F32), (16, 16), 64)]


@pytest.mark.parametrize(("lost", "named"), [((MTE2, MTE1), "MTE2_MTE1"), ((MTE1, M), "MTE1_M"), ((M, FIX), "M_FIX")])
def test_a_missing_flag_between_two_pipes_is_named(rig: Rig, lost: tuple[int, int], named: str) -> None:
    report = rig.launch(steps_without(rig, lost), core_kind=AIC)
    assert set(report.causes()) == {"missing_sync"}
    assert f"HardEvent::{named}>" in report.first("missing_sync")["message"]


def test_all_flags_together_are_enough(rig: Rig) -> None:
    assert rig.launch(steps_without(rig, (FIX, FIX)), core_kind=AIC).diagnostics == []


def test_loads_over_operands_still_in_use_need_a_flag_back(rig: Rig) -> None:
    steps = steps_without(rig, (FIX, FIX))
    again = [*left(0, (16, 16), F16)]
    assert rig.launch([*steps, *again], core_kind=AIC).causes() == ["missing_sync"]
    assert rig.launch([*steps, *flag(M, MTE1), *again], core_kind=AIC).causes() == []


@pytest.mark.parametrize(("side", "causes"), [(32, ["missing_sync"]), (64, [])])
def test_only_small_products_need_a_barrier_before_the_next_adds(rig: Rig, side: int, causes: list[str]) -> None:
    a = narrowed(whole(side, 16), F16)
    steps = operands(rig, a, narrowed(whole(16, side), F16), F16, is_transposed=False)
    shape = (side, side, 16)
    assert run(rig, [*steps, mmad(shape, F16), mmad(shape, F16, mode=0)], (side, side))[0].causes() == causes


def test_the_unit_flag_orders_product_and_way_out(rig: Rig) -> None:
    a, b = whole(16, 16), whole(16, 16)
    steps = operands(rig, narrowed(a, F16), narrowed(b, F16), F16, is_transposed=False)
    out = rig.allocate(2048)
    twice = [step for at in (0, 1024) for step in [mmad((16, 16, 16), F16, mode=ZERO | 3), fixpipe(gm(out + at, F32), (16, 16), 64, mode=ROWS | 3)]]
    report = rig.launch([*steps, *twice], core_kind=AIC)
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out + 1024, 256, np.float32).reshape(16, 16), a @ b)


def test_the_unit_flag_of_one_side_orders_nothing(rig: Rig) -> None:
    a = narrowed(whole(16, 16), F16)
    steps = [*operands(rig, a, a, F16, is_transposed=False), mmad((16, 16, 16), F16, mode=ZERO | 3)]
    assert rig.launch([*steps, fixpipe(gm(rig.allocate(1024), F32), (16, 16), 64)], core_kind=AIC).causes() == ["missing_sync"]


# ---- undefined bytes ----
def test_a_row_that_was_never_loaded_is_found_where_it_leaves(rig: Rig) -> None:
    a, b = narrowed(whole(17, 16), F16), narrowed(whole(16, 16), F16)
    steps = operands(rig, a, b, F16, is_transposed=False)
    assert run(rig, [*steps, mmad((17, 16, 16), F16)], (17, 16))[0].causes() == []
    report, _ = run(rig, [*steps, mmad((18, 16, 16), F16)], (18, 16))
    assert report.causes() == ["undefined_data"]
    assert report.first("undefined_data")["numbers"]["address"] == 17 * 64


def test_a_column_that_was_never_loaded_is_found_where_it_leaves(rig: Rig) -> None:
    steps = operands(rig, narrowed(whole(16, 16), F16), narrowed(whole(16, 17).T, F16), F16, is_transposed=True)
    assert run(rig, [*steps, mmad((16, 17, 16), F16)], (16, 17))[0].causes() == []
    assert run(rig, [*steps, mmad((16, 18, 16), F16)], (16, 18))[0].causes() == ["undefined_data"]


def test_adding_to_accumulators_that_nobody_set_is_found(rig: Rig) -> None:
    a = narrowed(whole(16, 16), F16)
    steps = operands(rig, a, a, F16, is_transposed=False)
    assert run(rig, [*steps, mmad((16, 16, 16), F16, mode=0)], (16, 16))[0].causes() == ["undefined_data"]


def test_results_beyond_m_and_n_are_undefined(rig: Rig) -> None:
    a = narrowed(whole(16, 16), F16)
    steps = operands(rig, a, a, F16, is_transposed=False)
    assert run(rig, [*steps, mmad((16, 16, 16), F16), mmad((15, 16, 16), F16)], (15, 16))[0].causes() == ["missing_sync"]
    assert run(rig, [*steps, mmad((16, 16, 16), F16), barrier(M), mmad((15, 16, 16), F16)], (16, 16))[0].causes() == ["undefined_data"]


# ---- bounds and what is refused ----
@pytest.mark.parametrize(
    ("step", "cause"),
    [
        (load_data(local(L0A, 65536 - 512, F16), l1(0, F16), 2, 1), "out_of_bounds"),
        (load_data(local(L0A, 256, F16), l1(0, F16), 1, 1), "misaligned"),
        (load_data(local(L0A, 0, F16), l1(524288 - 512, F16), 2, 1), "out_of_bounds"),
        (load_data(local(L0B, 0, I8), l1(0, I8), 2, 2, fractal_gap=0), "bad_overlap"),
        (load_data(local(L0C, 0, F16), l1(0, F16), 1, 1), "unsupported_api"),
        (load_data(local(L0A, 0, F16), l1(0, F16), 256, 1), "bad_parameter"),
        (mmad((256, 256, 16), F16), "out_of_bounds"),
        (mmad((4096, 16, 16), F16), "bad_parameter"),
        (mmad((16, 16, 16), F16, at=(512, 0, 0)), "misaligned"),
        (mmad((16, 16, 16), I32), "unsupported_api"),
        (fixpipe(gm(0, F16), (16, 16), 32), "bad_parameter"),
        (fixpipe(gm(0, F32), (16, 24), 1024, mode=0), "bad_parameter"),
        (fixpipe(gm(0, F32), (16, 16), 60), "bad_overlap"),
        (fixpipe(gm(8, F32), (16, 16), 1024, mode=0), "misaligned"),
        (fixpipe(ub(0, F32), (16, 16), 64), "unsupported_api"),
        (fixpipe(gm(0, F32), (16, 16), 64), "out_of_bounds"),
    ],
)
def test_what_does_not_fit_is_refused(rig: Rig, step: Record, cause: str) -> None:
    assert rig.launch([step], core_kind=AIC).causes() == [cause]


def test_whole_fractals_past_the_declared_end_of_a_tensor_are_a_finding(rig: Rig) -> None:
    """Public kernels declare a tensor by its matrix, which the unit rounds up; nothing of the chip knows the declared size."""
    report = rig.launch([load_data(local(L0A, 0, F16, 512), l1(0, F16), 2, 1)], core_kind=AIC)
    assert report.causes() == []
    finding = report.first("other")
    assert "512 bytes past the end of its tensor, which starts at L0A byte 0 and was declared with 512" in finding["message"]
    assert finding["numbers"] == {"bytes": 1024, "tensor_bytes": 512}


def test_memories_of_the_cube_are_those_of_cube_cores(rig: Rig) -> None:
    questions = [record(GET_CAPACITY, S, p=(space,)) for space in (L0A, L0B, L0C, BT)]
    assert rig.launch(questions, core_kind=AIC).answers == [65536, 65536, 131072, 1024]
    assert rig.launch(questions, core_kind=AIV).answers == [0, 0, 0, 0]
    assert rig.launch([mmad((16, 16, 16), F16)], core_kind=AIV).causes() == ["unsupported_api"]


def test_nothing_is_done_for_sizes_of_zero(rig: Rig) -> None:
    steps = [load_data(local(L0A, 0, F16), l1(0, F16), 0, 1), mmad((0, 16, 16), F16), fixpipe(gm(0, F32), (16, 0), 64)]
    assert rig.launch(steps, core_kind=AIC).diagnostics == []


def test_a_whole_left_matrix_takes_as_many_fractals_as_it_has() -> None:
    assert sum(step.p[0] for step in left(0, (30, 70), F16)) == up(30, 16) * up(70, 16)
