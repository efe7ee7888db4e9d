"""Calls that are composed of instructions, on the engine: Floor and its kin, Log, Broadcast, Fill, tensor operators, blocks in turns; against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array, floats, same_bits

DTYPES = {"f16": np.float16, "f32": np.float32}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def run(rig: Rig, name: str, data: Array, shape: int, *numbers: int) -> tuple[Array, list[str]]:
    """The kernel's output and the causes of what was wrong."""
    rig.reset()
    out = rig.allocate(shape * data.itemsize)
    report = rig.run_kernel(f"{name} f{8 * data.itemsize}", rig.upload(data), out, *numbers)
    return rig.download(out, shape, data.dtype), report.causes()


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("name", "model"), [("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("rint", np.rint)])
@pytest.mark.parametrize("n", [1, 1000, 3000])
def test_rounding_functions_round_every_value(rig: Rig, name: str, model: Any, kind: str, n: int) -> None:
    data = floats(DTYPES[kind], n)
    got, causes = run(rig, name, data, n, n)
    assert causes == []
    finite = np.isfinite(data)
    assert np.array_equal(got[finite], model(data[finite]))


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("name", "model"), [("log", np.log), ("log2", np.log2), ("log10", np.log10)])
def test_logarithms_have_their_base(rig: Rig, name: str, model: Any, kind: str) -> None:
    data = np.exp(np.random.default_rng(1).uniform(-5, 5, 1500)).astype(DTYPES[kind])
    got, causes = run(rig, name, data, 1500, 1500)
    assert causes == []
    np.testing.assert_allclose(
        got.astype(np.float64), model(data.astype(np.float64)), rtol=2e-3 if kind == "f16" else 1e-6, atol=1e-3 if kind == "f16" else 2e-7
    )


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 8), (16, 16), (33, 40), (40, 7), (19, 33)])
def test_a_column_is_repeated_along_its_rows(rig: Rig, kind: str, rows: int, columns: int) -> None:
    data = floats(DTYPES[kind], rows)
    got, causes = run(rig, "repeat_column", data, rows * columns, rows, columns)
    assert causes == []
    same_bits(got, np.repeat(data, columns))


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("rows", "columns"), [(3, 16), (300, 32), (7, 272)])
def test_a_row_is_repeated(rig: Rig, kind: str, rows: int, columns: int) -> None:
    data = floats(DTYPES[kind], columns)
    got, causes = run(rig, "repeat_row", data, rows * columns, rows, columns)
    assert causes == []
    same_bits(got, np.tile(data, rows))


def test_a_row_that_is_no_whole_blocks_is_refused(rig: Rig) -> None:
    assert run(rig, "repeat_row", floats(np.float32, 9), 27, 3, 9)[1] == ["bad_parameter"]


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("n", [1, 5, 70000])
def test_global_memory_is_filled_to_its_last_element(rig: Rig, kind: str, n: int) -> None:
    got, causes = run(rig, "fill", np.zeros(8, DTYPES[kind]), n, n)
    assert causes == []
    same_bits(got, np.full(n, 3, DTYPES[kind]))


def test_the_local_memory_of_a_fill_may_not_be_loaded_into_at_once(rig: Rig) -> None:
    assert run(rig, "fill_and_load", np.zeros(1024, np.float32), 4096, 4096)[1] == ["missing_sync"]


@pytest.mark.parametrize("kind", DTYPES)
def test_operators_work_on_the_length_of_the_destination(rig: Rig, kind: str) -> None:
    data = np.random.default_rng(2).uniform(-4, 4, 100).astype(DTYPES[kind])
    got, causes = run(rig, "expression", data, 100, 100)
    assert causes == []
    same_bits(got, (data * data).astype(data.dtype) - data)


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_blocks_take_turns_in_their_order_round_after_round(rig: Rig, blocks: int) -> None:
    out = rig.upload(np.zeros(8, np.int32), is_mutable=True)
    report = rig.run_kernel("turns", rig.allocate(32 * blocks), out, 3, blocks=blocks)
    assert report.causes() == []
    expected = 0
    for _ in range(3):
        for block in range(blocks):
            expected = expected * 2 + block
    assert int(rig.download(out, 8, np.int32)[0]) == expected
