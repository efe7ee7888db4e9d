"""Cube cores and L1: the layout of Nd2Nz against a NumPy model, capacity and bounds, hazards, which core has which memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from engine_rig import (
    ADD,
    AIC,
    AIV,
    F16,
    GET_CAPACITY,
    GET_CORE_KIND,
    GM_READ,
    I8,
    L1,
    MTE2,
    MTE3,
    TASK_TYPE,
    UB,
    Record,
    Report,
    Rig,
    S,
    barrier,
    count,
    flag,
    get_value,
    gm,
    l1,
    load,
    nd2nz,
    record,
    store,
    ub,
)

L1_BYTES = 524288
UNIT = 32


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def random_bytes(nbytes: int) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(7).integers(1, 255, nbytes, np.uint8)


def modelled(data: npt.NDArray[np.uint8], shape: tuple[int, int, int], pitch: int, chip: tuple[int, int], between: tuple[int, int]) -> dict[int, Any]:
    """L1 bytes by address of every unit of 32 bytes: what the documentation page of the call says, written down once more."""
    matrices, rows, row_bytes = shape
    units: dict[int, Any] = {}
    for matrix in range(matrices):
        for row in range(rows):
            start = matrix * between[0] + row * pitch
            line = np.zeros(-(-row_bytes // UNIT) * UNIT, np.uint8)
            line[:row_bytes] = data[start : start + row_bytes]
            for unit, part in enumerate(line.reshape(-1, UNIT)):
                units[matrix * between[1] + unit * chip[0] + row * chip[1]] = part
    return units


def read_back(rig: Rig, steps: list[Record], nbytes: int) -> tuple[Report, npt.NDArray[np.uint8]]:
    """`steps` on a cube core, then the first `nbytes` of L1."""
    out = rig.allocate(nbytes)
    report = rig.launch([*steps, *flag(MTE2, MTE3), store(gm(out, I8), l1(0, I8), nbytes)], core_kind=AIC)
    return report, rig.download(out, nbytes, np.uint8)


SHAPES = [
    ((1, 16, 32), 32, (16 * UNIT, UNIT), (0, 0)),  # one fractal
    ((1, 40, 112), 112, (48 * UNIT, UNIT), (0, 0)),  # 40 x 56 half, height rounded up to fractals
    ((1, 64, 512), 24576, (64 * UNIT, UNIT), (0, 0)),  # a tile of a wide matrix
    ((1, 16, 46), 64, (16 * UNIT, UNIT), (0, 0)),  # a last unit that is not full
    ((1, 5, 1), 3, (16 * UNIT, UNIT), (0, 0)),
    ((2, 8, 46), 64, (37 * UNIT, 2 * UNIT), (768, 640 * 16)),  # two matrices, rows apart
    ((3, 4, 40), 64, (4 * UNIT, UNIT), (0, 256)),  # the same matrix three times
]


@pytest.mark.parametrize(("shape", "pitch", "chip", "between"), SHAPES)
def test_rows_become_columns_of_32_byte_units(rig: Rig, shape: tuple[int, int, int], pitch: int, chip: tuple[int, int], between: tuple[int, int]) -> None:
    data = random_bytes((shape[0] - 1) * between[0] + (shape[1] - 1) * pitch + shape[2])
    units = modelled(data, shape, pitch, chip, between)
    step = nd2nz(l1(0, F16), gm(rig.upload(data), F16), shape, pitch, chip, between)
    report, got = read_back(rig, [step], max(units) + UNIT)
    assert report.causes() in ([], ["undefined_data"])  # units between the rows were never written
    for address, expected in units.items():
        np.testing.assert_array_equal(got[address : address + UNIT], expected)


def test_the_zeros_that_fill_a_unit_are_defined(rig: Rig) -> None:
    step = nd2nz(l1(0, F16), gm(rig.upload(random_bytes(16 * 46)), F16), (1, 16, 46), 46, (16 * UNIT, UNIT))
    report, _ = read_back(rig, [step], 2 * 16 * UNIT)
    assert report.diagnostics == []


def test_bytes_nobody_wrote_in_global_memory_arrive_undefined(rig: Rig) -> None:
    report, _ = read_back(rig, [nd2nz(l1(0), gm(rig.allocate(512)), (1, 16, 32), 32, (16 * UNIT, UNIT))], 512)
    assert report.causes() == ["undefined_data"]
    assert report.first("undefined_data")["message"].startswith("L1 byte 0 ")


def test_plain_copies_go_to_l1_and_back_with_gaps(rig: Rig) -> None:
    data = random_bytes(256)
    report, got = read_back(rig, [load(l1(0, I8), gm(rig.upload(data), I8), 64, blocks=2, gaps=(64, 32))], 96)
    np.testing.assert_array_equal(got[:64], data[:64])
    assert report.causes() == ["undefined_data"]  # the gap of 32 bytes on chip


@pytest.mark.parametrize("matrices", [1, 3])
def test_every_matrix_is_a_transfer_and_only_the_first_is_set_up(rig: Rig, matrices: int) -> None:
    source = rig.upload(random_bytes(4096))
    report = rig.launch([nd2nz(l1(0), gm(source), (matrices, 16, 32), 32, (16 * UNIT, UNIT), (512, 512))], core_kind=AIC)
    assert report.kinds() == [GM_READ] * matrices
    assert [entry[-1] for entry in report.trace[0]] == [20 + 16] + [0] * (matrices - 1)  # the stand-in's cycles for 16 rows


@pytest.mark.parametrize("shape", [(0, 16, 32), (1, 0, 32), (1, 16, 0)])
def test_nothing_to_copy_is_no_operation(rig: Rig, shape: tuple[int, int, int]) -> None:
    report = rig.launch([nd2nz(l1(0), gm(rig.upload(random_bytes(512))), shape, 32, (16 * UNIT, UNIT))], core_kind=AIC)
    assert report.diagnostics == []


# ---- capacity, bounds, alignment, parameters
@pytest.mark.parametrize(("address", "causes"), [(L1_BYTES - 1024, []), (L1_BYTES - 1024 + 32, ["out_of_bounds"])])
def test_l1_ends_after_512_kib(rig: Rig, address: int, causes: list[str]) -> None:
    source = gm(rig.upload(random_bytes(1024)))
    assert rig.launch([nd2nz(l1(address), source, (1, 16, 64), 64, (16 * UNIT, UNIT))], core_kind=AIC).causes() == causes
    report = rig.launch([load(l1(address), source, 1024)], core_kind=AIC)
    assert report.causes() == causes
    if causes:
        assert "past the end of L1 (524288 bytes)" in report.first("out_of_bounds")["message"]


@pytest.mark.parametrize(("limit", "causes"), [(1024, []), (1023, ["out_of_bounds"])])
def test_a_tensor_in_l1_ends_where_it_was_declared_to_end(rig: Rig, limit: int, causes: list[str]) -> None:
    source = gm(rig.upload(random_bytes(1024)))
    assert rig.launch([nd2nz(l1(0, limit=limit), source, (1, 16, 64), 64, (16 * UNIT, UNIT))], core_kind=AIC).causes() == causes


def test_rows_past_the_end_of_global_memory_are_out_of_bounds(rig: Rig) -> None:
    source = gm(rig.upload(random_bytes(1024)))
    assert rig.launch([nd2nz(l1(0), source, (1, 16, 64), 64, (16 * UNIT, UNIT))], core_kind=AIC).causes() == []
    assert rig.launch([nd2nz(l1(0), source, (1, 17, 64), 64, (17 * UNIT, UNIT))], core_kind=AIC).causes() == ["out_of_bounds"]


def test_l1_addresses_are_multiples_of_32(rig: Rig) -> None:
    report = rig.launch([load(l1(16), gm(rig.upload(random_bytes(64))), 32)], core_kind=AIC)
    assert report.first("misaligned")["numbers"] == {"address": 16, "alignment_bytes": 32}


@pytest.mark.parametrize(("column", "causes"), [(16, []), (15, ["bad_overlap"])])
def test_units_that_fall_on_one_place_are_refused(rig: Rig, column: int, causes: list[str]) -> None:
    step = nd2nz(l1(0), gm(rig.upload(random_bytes(1024))), (1, 16, 64), 64, (column * UNIT, UNIT))
    assert rig.launch([step], core_kind=AIC).causes() == causes


def test_interleaved_rows_do_not_overlap(rig: Rig) -> None:
    step = nd2nz(l1(0), gm(rig.upload(random_bytes(1024))), (1, 16, 64), 64, (UNIT, 2 * UNIT))
    assert rig.launch([step], core_kind=AIC).causes() == []


@pytest.mark.parametrize(
    ("shape", "chip", "between"),
    [((4096, 1, 32), (UNIT, UNIT), (0, UNIT)), ((1, 16385, 32), (UNIT, UNIT), (0, 0)), ((2, 1, 32), (UNIT, UNIT), (0, 48))],
)
def test_parameters_beyond_the_documented_ranges_are_refused(rig: Rig, shape: tuple[int, int, int], chip: tuple[int, int], between: tuple[int, int]) -> None:
    step = nd2nz(l1(0), gm(rig.upload(random_bytes(1024))), shape, 0, chip, between)
    assert rig.launch([step], core_kind=AIC).causes() == ["bad_parameter"]


# ---- order
def test_nothing_orders_l1_by_itself(rig: Rig) -> None:
    data = rig.upload(random_bytes(1024))
    out = gm(rig.allocate(1024))
    into = load(l1(0), gm(data), 1024)
    assert rig.launch([into, store(out, l1(0), 1024)], core_kind=AIC).causes() == ["missing_sync"]
    assert rig.launch([into, *flag(MTE2, MTE3), store(out, l1(0), 1024)], core_kind=AIC).causes() == []


def test_loads_over_one_another_need_a_barrier_before_anybody_reads_them(rig: Rig) -> None:
    into = nd2nz(l1(0), gm(rig.upload(random_bytes(1024))), (1, 16, 64), 64, (16 * UNIT, UNIT))
    out = [*flag(MTE2, MTE3), store(gm(rig.allocate(1024)), l1(0), 1024)]
    report = rig.launch([into, into, *out], core_kind=AIC)
    assert report.causes() == ["missing_sync"]
    assert "writes L1 bytes 0..1024" in report.first("missing_sync")["message"]
    assert rig.launch([into, barrier(MTE2), into, *out], core_kind=AIC).diagnostics == []


def test_loads_over_one_another_that_nobody_reads_are_a_finding_only(rig: Rig) -> None:
    into = nd2nz(l1(0), gm(rig.upload(random_bytes(1024))), (1, 16, 64), 64, (16 * UNIT, UNIT))
    report = rig.launch([into, into, into], core_kind=AIC)
    assert (report.causes(), report.findings()) == ([], ["other"])


def test_loads_into_different_places_need_no_order(rig: Rig) -> None:
    source = gm(rig.upload(random_bytes(1024)))
    first = nd2nz(l1(0), source, (1, 16, 32), 64, (32 * UNIT, 2 * UNIT))  # every other unit
    second = nd2nz(l1(UNIT), source, (1, 16, 32), 64, (32 * UNIT, 2 * UNIT))
    assert rig.launch([first, second], core_kind=AIC).causes() == []


# ---- which core has what
@pytest.mark.parametrize(("kind", "space", "causes"), [(AIV, UB, []), (AIV, L1, ["unsupported_api"]), (AIC, L1, []), (AIC, UB, ["unsupported_api"])])
def test_vector_cores_have_the_unified_buffer_and_cube_cores_have_l1(rig: Rig, kind: int, space: int, causes: list[str]) -> None:
    target = ub(0) if space == UB else l1(0)
    report = rig.launch([load(target, gm(rig.upload(random_bytes(64))), 64)], core_kind=kind)
    assert report.causes() == causes
    assert report.is_cut == bool(causes)


def test_a_cube_core_has_no_vector_unit(rig: Rig) -> None:
    report = rig.launch([count(ADD, (ub(0), ub(1024), ub(2048)), 64)], core_kind=AIC)
    assert report.causes() == ["unsupported_api"]
    assert "which a cube core does not have" in report.first("unsupported_api")["message"]


def test_what_a_cube_core_cannot_do_is_refused(rig: Rig) -> None:
    assert rig.launch([get_value(l1(0))], core_kind=AIC).causes() == ["unsupported_api"]


def test_nd2nz_goes_nowhere_but_to_l1(rig: Rig) -> None:
    step = nd2nz(ub(0), gm(rig.upload(random_bytes(512))), (1, 16, 32), 32, (16 * UNIT, UNIT))
    assert rig.launch([step]).causes() == ["unsupported_api"]


def test_a_kernel_may_say_what_it_is_when_it_starts(rig: Rig) -> None:
    source = gm(rig.upload(random_bytes(64)))
    is_cube = record(TASK_TYPE, S, p=(AIC,))
    questions = [record(GET_CORE_KIND, S), record(GET_CAPACITY, S, p=(L1,)), record(GET_CAPACITY, S, p=(UB,))]
    report = rig.launch([*questions, is_cube, *questions, load(l1(0), source, 64)])
    assert report.causes() == []
    assert report.answers[:3] + report.answers[4:7] == [AIV, 0, 196608, AIC, L1_BYTES, 0]


def test_a_kernel_declared_for_cube_cores_cannot_name_vector_cores(rig: Rig) -> None:
    assert rig.launch([record(TASK_TYPE, S, p=(AIC,))], core_kind=AIC).causes() == []
    assert rig.launch([record(TASK_TYPE, S, p=(AIV,))], core_kind=AIC).causes() == ["bad_parameter"]


def test_surplus_blocks_are_counted_in_cube_cores() -> None:
    with Rig(cores=4) as rig:
        assert rig.launch([], [], core_kind=AIC).findings() == []
        report = rig.launch([], [], [], core_kind=AIC)
        assert report.first("surplus_blocks")["numbers"] == {"blocks": 3, "cores": 2}


def test_l1_is_poison_at_the_start_of_every_launch(rig: Rig) -> None:
    first, _ = read_back(rig, [load(l1(0, I8), gm(rig.upload(random_bytes(64)), I8), 64)], 64)
    second, got = read_back(rig, [], 64)
    assert (first.causes(), second.causes()) == ([], ["undefined_data"])
    assert (got == 0xFF).all()
