"""Forms that few kernels use, on the engine, against NumPy: matrices into the unified buffer, 4-bit global memory, buffers at places, shapes of tensors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array, same_bits

DTYPES = {"f16": np.float16, "f32": np.float32, "i8": np.int8}
UNIT = 32
FILLER = 7
"""What every byte of the unified buffer holds before."""


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def in_columns(data: Array, rows: int, width: int) -> Array:
    """Two matrices of rows of `width` elements, 3 more apart: unit c of row r lies in block c * (2 * rows + 1) + 2 * r of its matrix, the last one filled up
    with zeros; blocks between them keep what they held."""
    elements = UNIT // data.itemsize
    units = -(-width // elements)
    image = np.full((2, units * (2 * rows + 1) + 1, UNIT), FILLER, np.uint8)
    for matrix in range(2):
        for row in range(rows):
            start = (matrix * rows + row) * (width + 3)
            line = np.zeros(units * elements, data.dtype)
            line[:width] = data[start : start + width]
            for unit, part in enumerate(line.reshape(units, elements)):
                image[matrix, unit * (2 * rows + 1) + 2 * row] = part.view(np.uint8)
    return image.reshape(-1)


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("rows", "width"), [(1, 1), (5, 16), (16, 40), (33, 70)])
def test_a_matrix_becomes_columns_of_units_in_the_unified_buffer(rig: Rig, kind: str, rows: int, width: int) -> None:
    data = np.random.default_rng(rows + width).integers(-100, 100, 2 * rows * (width + 3)).astype(DTYPES[kind])
    expected = in_columns(data, rows, width)
    out = rig.allocate(expected.nbytes)
    assert rig.run_kernel(f"columns {kind}", rig.upload(data), out, rows, width).diagnostics == []
    same_bits(rig.download(out, expected.size, np.uint8), expected)


@pytest.mark.parametrize("step", [1, 8, 15])
def test_rows_of_a_matrix_may_share_elements(rig: Rig, step: int) -> None:
    data = np.arange(16 + 9 * step).astype(np.float16)
    out = rig.allocate(10 * UNIT)
    assert rig.run_kernel("close_rows", rig.upload(data), out, 10, step).diagnostics == []
    same_bits(rig.download(out, 160, np.float16), np.concatenate([data[row * step :][:16] for row in range(10)]))


@pytest.mark.parametrize("start", [0, 2, 130])
def test_four_bit_numbers_are_stored_two_to_a_byte_from_an_element_on(rig: Rig, start: int) -> None:
    data = np.random.default_rng(3).integers(-8, 8, 64).astype(np.float16)
    out = rig.allocate(128)
    rig.copy_in(out, np.full(128, 0x55, np.uint8))
    assert rig.run_kernel("nibbles", rig.upload(data), out, 64, start).causes() == []
    pairs = data.astype(np.int8).reshape(-1, 2) & 15
    expected = np.full(128, 0x55, np.uint8)
    expected[start // 2 : start // 2 + 32] = pairs[:, 0] | pairs[:, 1] << 4
    same_bits(rig.download(out, 128, np.uint8), expected)


def test_a_copy_of_four_bit_numbers_counts_elements(rig: Rig) -> None:
    data = np.random.default_rng(5).integers(0, 256, 160).astype(np.uint8)
    out = rig.allocate(64)
    assert rig.run_kernel("nibbles_back", rig.upload(data), out, 128, 64).causes() == []
    same_bits(rig.download(out, 64, np.uint8), data[32:96])


def test_buffers_lie_where_the_kernel_puts_them_and_the_next_one_behind(rig: Rig) -> None:
    data = np.arange(512, dtype=np.float32)
    out = rig.allocate(4 * 520)
    report = rig.run_kernel("placed", rig.upload(data), out, 4096, 8192)
    assert report.causes() == []
    got = rig.download(out, 513, np.float32)
    assert (got[0], got[256], got[512]) == (4096, 8192, 8192 + 1024)
    same_bits(got[1:256], data[1:256])
    same_bits(got[257:512], data[257:512])


@pytest.mark.parametrize(("place", "cause"), [(196608 - 1000, "bad_parameter"), (196608 - 992, "ub_overflow"), (40, "bad_parameter")])
def test_a_buffer_out_of_the_memory_or_of_its_units_is_told(rig: Rig, place: int, cause: str) -> None:
    out = rig.allocate(4 * 520)
    assert rig.run_kernel("placed", rig.upload(np.zeros(512, np.float32)), out, 0, place).causes() == [cause]


def test_a_pipe_can_be_given_up_without_waiting(rig: Rig) -> None:
    data = np.arange(128, dtype=np.float32)
    out = rig.allocate(512)
    assert rig.run_kernel("two_pipes", rig.upload(data), out, 64).causes() == []
    same_bits(rig.download(out, 128, np.float32), data)


def test_what_was_under_way_is_not_waited_for_when_a_pipe_is_given_up(rig: Rig) -> None:
    report = rig.run_kernel("two_pipes", rig.upload(np.zeros(128, np.float32)), rig.allocate(512), 64, 1)
    assert "missing_sync" in report.causes()


def test_a_tensor_keeps_the_shape_that_it_was_given_and_so_do_its_copies(rig: Rig) -> None:
    out = rig.allocate(64)
    assert rig.run_kernel("shapes", rig.allocate(32), out, 0).causes() == []
    assert rig.download(out, 11, np.int32).tolist() == [96 * 4, (2048 - 96) * 2, 2, 1024, 3, 3, 1, 16 * 1024, 10 * 1000 * 3, 4, 0]


@pytest.mark.parametrize("kernel", ["constant_sizes", "constant_sizes full"])
@pytest.mark.parametrize(("rows", "columns"), [(32, 48), (20, 32), (1, 16)])
def test_a_product_of_constant_sizes_covers_the_shape_that_was_set(rig: Rig, rows: int, columns: int, kernel: str) -> None:
    rng = np.random.default_rng(rows)
    a, b = rng.integers(-4, 5, (32, 64)).astype(np.float16), rng.integers(-4, 5, (64, 48)).astype(np.float16)
    out = rig.allocate(32 * 48 * 4)
    rig.copy_in(out, np.full((32, 48), 7, np.float32))
    assert rig.run_kernel(kernel, rig.upload(np.concatenate([a.reshape(-1), b.reshape(-1)])), out, rows, columns).causes() == []
    expected = np.full((32, 48), 7, np.float32)
    expected[:rows, :columns] = a[:rows, :48].astype(np.float32) @ b[:48, :columns].astype(np.float32)
    same_bits(rig.download(out, 32 * 48, np.float32), expected.reshape(-1))


def test_a_bias_for_which_a_constant_tiling_leaves_no_room_in_l1_is_refused(rig: Rig) -> None:
    report = rig.run_kernel("constant_sizes full bias", rig.allocate(32 * 64 * 2 + 64 * 48 * 2), rig.allocate(32 * 48 * 4), 32, 48)
    assert report.causes() == ["device_exception"]
    assert "L1 has no room for a bias" in report.first("device_exception")["message"]
