"""Power, Broadcast of bytes, ListTensorDesc, sliced copies, TBufPool and CastDequant as kernels call them, on the engine, against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array, same_bits

DTYPES = {"f16": np.float16, "f32": np.float32, "i32": np.int32}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def powers(kind: str, n: int) -> tuple[Array, Array]:
    """Bases and exponents whose powers the type holds; negative bases with whole and other exponents among them."""
    rng = np.random.default_rng(1)
    if kind == "i32":
        base, exponent = rng.integers(-9, 10, n), rng.integers(0, 10, n)
        base[:2], exponent[:2] = (3, -1), (9, 31)
        return base.astype(np.int32), exponent.astype(np.int32)
    base, exponent = rng.uniform(0.1, 3, n), rng.integers(-8, 9, n) * 0.5
    base[::3] *= -1
    base[:4], exponent[:4] = (0, 0, -2, 5), (0, 2, 3, 0)
    return base.astype(DTYPES[kind]), exponent.astype(DTYPES[kind])


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("name", ["power", "power_of_tensor", "power_of_number"])
@pytest.mark.parametrize("n", [16, 1008])
def test_powers_are_those_of_the_elements(rig: Rig, name: str, kind: str, n: int) -> None:
    base, exponent = powers(kind, n)
    rig.reset()
    out = rig.allocate(base.nbytes)
    report = rig.run_kernel(f"{name} {kind}", rig.upload(np.concatenate([base, exponent])), out, n)
    assert report.causes() == []
    x = np.full_like(base, base[0]) if name == "power_of_number" else base
    y = np.full_like(base, exponent[0]) if name == "power_of_tensor" else exponent
    got = rig.download(out, n, base.dtype)
    if kind == "i32":
        expected = np.array([(int(a) ** int(b) + 2**31) % 2**32 - 2**31 for a, b in zip(x, y, strict=True)])
        fits = np.array([abs(int(a) ** int(b)) < 2**31 for a, b in zip(x, y, strict=True)])
        assert fits.sum() >= 6
        assert np.array_equal(got[fits], expected[fits])
        return
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), y.astype(np.float64))
    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=1e-3 if kind == "f16" else 4e-6)


MODELS: dict[str, Callable[[Array], Array]] = {"tanh": np.tanh, "sign": np.sign, "sigmoid": lambda x: 1 / (1 + np.exp(-x))}


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("is_in_place", [False, True])
@pytest.mark.parametrize("n", [5, 3000])
def test_functions_of_one_tensor_are_those_of_its_elements(rig: Rig, name: str, kind: str, is_in_place: bool, n: int) -> None:
    dtype = DTYPES[kind]
    data = np.random.default_rng(4).uniform(-12, 12, n).astype(dtype)
    data[:5] = np.array([0, np.finfo(dtype).smallest_subnormal, -np.finfo(dtype).smallest_subnormal, np.inf, -np.inf], dtype)
    rig.reset()
    out = rig.allocate(data.nbytes)
    report = rig.run_kernel(f"{name} {kind}", rig.upload(data), out, n, int(is_in_place))
    assert report.causes() == []
    with np.errstate(over="ignore"):
        expected = MODELS[name](data.astype(np.float64))
    got = rig.download(out, n, dtype).astype(np.float64)
    if name == "sign":
        assert np.array_equal(got, expected)
    np.testing.assert_allclose(got, expected, rtol=1e-3 if kind == "f16" else 2e-6, atol=1e-7)


def test_a_trap_ends_the_launch(rig: Rig) -> None:
    rig.reset()
    report = rig.run_kernel("trap", rig.allocate(32), rig.allocate(32), 0)
    assert report.causes() == ["device_exception"]
    assert "Trap()" in report.first("device_exception")["message"]


@pytest.mark.parametrize("kind", ["i8", "u8"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 32), (32, 7), (70, 33), (40, 100)])
def test_a_column_of_bytes_is_repeated_along_its_rows(rig: Rig, kind: str, rows: int, columns: int) -> None:
    data = np.random.default_rng(2).integers(-128, 128, rows).astype(np.int8).view(np.int8 if kind == "i8" else np.uint8)
    rig.reset()
    out = rig.allocate(rows * columns)
    report = rig.run_kernel(f"byte_column {kind}", rig.upload(data), out, rows, columns)
    assert report.causes() == []
    same_bits(rig.download(out, rows * columns, data.dtype), np.repeat(data, columns))


@pytest.mark.parametrize("kind", ["i8", "u8"])
def test_a_row_of_bytes_is_repeated(rig: Rig, kind: str) -> None:
    data = np.arange(96).astype(np.int8 if kind == "i8" else np.uint8)
    rig.reset()
    out = rig.allocate(5 * 96)
    assert rig.run_kernel(f"byte_row {kind}", rig.upload(data), out, 5, 96).diagnostics == []
    same_bits(rig.download(out, 5 * 96, data.dtype), np.tile(data, 5))


def test_a_row_of_bytes_that_is_no_whole_blocks_is_refused(rig: Rig) -> None:
    data = np.arange(48).astype(np.int8)
    assert rig.run_kernel("byte_row i8", rig.upload(data), rig.allocate(48 * 3), 3, 48).causes() == ["bad_parameter"]


def table_of(rig: Rig, shapes: list[tuple[int, ...]]) -> int:
    """Address of the table of tensors of these shapes; tensor i starts with 100 + i."""
    words: list[int] = []
    for number, shape in enumerate(shapes):
        words += [number << 32 | len(shape), *shape]
    pointers = [rig.upload(np.full(8, 100 + number, np.int32)) for number in range(len(shapes))]
    return rig.upload(np.array([8 * (1 + len(words)), *words, *pointers], np.uint64))


def test_a_list_of_tensors_is_read_by_its_table(rig: Rig) -> None:
    rig.reset()
    shapes = [(1, 2, 3), (3, 4), (5,), (6, 7, 8, 9)]
    table, out = table_of(rig, shapes), rig.upload(np.zeros(32, np.int32), is_mutable=True)
    assert rig.run_kernel("list", table, out, len(shapes)).diagnostics == []
    expected = [4] + [value for number, shape in enumerate(shapes) for value in (shape[0], shape[-1], len(shape), number, 100 + number)]
    assert list(rig.download(out, 32, np.int32)[: len(expected)]) == expected


@pytest.mark.parametrize(("name", "asked"), [("list", 3), ("list_of", 3)])
def test_more_tensors_than_the_list_has_are_refused(rig: Rig, name: str, asked: int) -> None:
    rig.reset()
    table, out = table_of(rig, [(8,), (8,)]), rig.upload(np.zeros(32, np.int32), is_mutable=True)
    assert rig.run_kernel(name, table, out, asked).causes() == ["bad_parameter"]


def box(data: Array) -> Array:
    """What the documentation's slices take of 3 x 87 elements."""
    return np.concatenate([data.reshape(3, 87)[[0, 2]][:, 16:40], data.reshape(3, 87)[[0, 2]][:, 47:71]], axis=1).ravel()


def test_slices_are_taken_out_of_rows_and_columns(rig: Rig) -> None:
    data = np.arange(261, dtype=np.float32)
    rig.reset()
    out = rig.allocate(96 * 4)
    assert rig.run_kernel("slices", rig.upload(data), out, 0).diagnostics == []
    same_bits(rig.download(out, 96, np.float32), box(data))


def test_slices_are_put_back_where_they_were(rig: Rig) -> None:
    data = np.arange(261, dtype=np.float32)
    rig.reset()
    out = rig.upload(np.full(261, -1, np.float32), is_mutable=True)
    assert rig.run_kernel("slices", rig.upload(data), out, 1).diagnostics == []
    got = rig.download(out, 261, np.float32)
    same_bits(box(got), box(data))
    assert int((got == -1).sum()) == 261 - 96


def test_pieces_that_do_not_fill_a_slice_are_refused(rig: Rig) -> None:
    rig.reset()
    assert rig.run_kernel("uneven_slices", rig.upload(np.zeros(261, np.float32)), rig.allocate(1024), 0).causes() == ["bad_parameter"]


def test_stages_use_the_memory_of_a_pool_in_turn(rig: Rig) -> None:
    data = np.arange(512, dtype=np.float32)
    rig.reset()
    out = rig.allocate(2048 + 32)
    assert rig.run_kernel("pools", rig.upload(data), out, 2).diagnostics == []
    same_bits(rig.download(out, 512, np.float32), np.concatenate([data[:256] + np.float32(1), data[256:] + np.float32(2)]))
    assert int(rig.download(out + 2048, 1, np.int32)[0]) == 4096  # the pool's memory is given out as a whole


def test_a_stage_that_begins_without_a_reset_is_a_race(rig: Rig) -> None:
    rig.reset()
    report = rig.run_kernel("pools_without_reset", rig.upload(np.zeros(512, np.float32)), rig.allocate(2048), 2)
    assert "missing_sync" in report.causes()


@pytest.mark.parametrize("name", ["pool_too_small", "pool_of_too_many"])
def test_what_a_pool_does_not_have_is_refused(rig: Rig, name: str) -> None:
    rig.reset()
    report = rig.run_kernel(name, rig.allocate(32), rig.allocate(32), 0)
    assert report.causes() == ["bad_parameter"]
    assert "TBufPool::InitBuffer" in report.first("bad_parameter")["message"]


@pytest.mark.parametrize("form", range(4))
@pytest.mark.parametrize("n", [16, 300])
def test_values_are_quantised_into_one_half_of_each_block(rig: Rig, form: int, n: int) -> None:
    n = (n + 15) // 16 * 16
    data = np.random.default_rng(3).integers(-400, 400, n).astype(np.int16)
    rig.reset()
    out = rig.allocate(2 * n)
    assert rig.run_kernel("cast_dequant", rig.upload(data), out, n, form).causes() == []
    lane = np.arange(n) % 16
    scale, offset = (0.25 * (lane + 1), lane - 8) if form & 1 else (0.5, -3)
    values = np.clip(np.rint(data * scale + offset), -128, 127).astype(np.int8).reshape(-1, 16)
    empty = np.zeros_like(values)
    expected = np.concatenate([empty, values] if form & 2 else [values, empty], axis=1).ravel()
    same_bits(rig.download(out, 2 * n, np.int8), expected)
