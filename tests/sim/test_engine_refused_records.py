"""Records for the cube unit that no header makes, each of which would hang, crash or corrupt an engine that trusts it: they are refused."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from cube_steps import BT, L0A, ROWS, fixpipe, local
from engine_rig import AIC, DATA_COPY, F16, F32, GATHER_MASK, I64, MTE1, MTE2, U16, Record, Rig, S, V, gm, l1, load, record, ub

UNKNOWN = 255  # of element types
LOAD_DATA, LOAD_IMAGE, FILL, SET_IMAGE, SET_FIXPIPE = 195, 208, 209, 304, 305
REGISTERS, SETS_SHAPE = 0x80, 4


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def to(space: int, dtype: int, opcode: int, p: tuple[int, int, int, int], at: int = 0) -> Record:
    """A record on MTE1 from L1 to a place of the cube."""
    made = record(opcode, MTE1, p=p)
    made.dst, made.src0 = local(space, at, dtype), l1(0, dtype)
    return made


def image(rows: int, columns: int) -> Record:
    """A load as convolution of a feature map of 1 x 64 pixels of 16 halves."""
    made = to(L0A, F16, LOAD_IMAGE, (rows | columns << 16, 0, 0x01010101, SETS_SHAPE))
    made.mask[0], made.mask[1] = 1 | 64 << 16, 1 | 1 << 16 | 16 << 32
    return made


@pytest.mark.parametrize(
    ("dtype", "space", "at", "p", "cause"),
    [
        (UNKNOWN, L0A, 0, (1, 512, 0, 0), "unsupported_api"),
        (I64, 3, 524256, (32, 1, 0, 0), "bad_parameter"),
        (F16, 3, 0, (2, 32, 0, 1), "bad_parameter"),
        (F16, 3, 0, (0xFFFFFFFF, 32, 0, 0xFFFFFFE0), "bad_parameter"),
    ],
)
def test_a_fill_of_no_elements_or_of_parts_of_blocks_is_refused(rig: Rig, dtype: int, space: int, at: int, p: tuple[int, int, int, int], cause: str) -> None:
    made = record(FILL, MTE2 if space == 3 else MTE1, p=p)
    made.dst = local(space, at, dtype)
    assert rig.launch([made], core_kind=AIC).causes() == [cause]


@pytest.mark.parametrize("p", [(0, 65536, 0, 0), (0, 1, 513, 0), (0, 1, 0, 65536), (0, 0x800001, 0x80000000, 0)])
def test_a_register_of_fixpipe_holds_no_more_than_its_call_lets_through(rig: Rig, p: tuple[int, int, int, int]) -> None:
    fix = fixpipe(gm(rig.allocate(512), F32), (1, 16), 64, mode=ROWS | REGISTERS)
    assert rig.launch([record(SET_FIXPIPE, S, p=p), fix], core_kind=AIC).causes() == ["bad_parameter"]


@pytest.mark.parametrize(("matrices", "cause"), [((65536, 0, 0), "bad_parameter"), ((65535, 0, 0), "unsupported_api")])
def test_a_fixpipe_of_more_matrices_than_its_field_holds_or_memory_has_is_refused(rig: Rig, matrices: tuple[int, int, int], cause: str) -> None:
    fix = fixpipe(gm(rig.allocate(512), F32), (16, 16), 64, matrices=matrices)
    assert rig.launch([fix], core_kind=AIC).causes() == [cause]


def test_a_fetch_on_a_pipe_that_does_not_exist_is_refused(rig: Rig) -> None:
    made = record(GATHER_MASK, V, p=(1, 1, 8, 8), scalar=1)
    made.dst, made.src0, made.src1 = ub(0, F16), ub(4096, F16), ub(8192, U16)
    made.pipe = 200
    assert rig.launch([made]).causes() == ["protocol_violation"]


def test_a_load_of_elements_of_no_size_is_refused(rig: Rig) -> None:
    assert rig.launch([to(L0A, UNKNOWN, LOAD_DATA, (1, 0, 0, 512))], core_kind=AIC).causes() == ["unsupported_api"]


@pytest.mark.parametrize("p", [(5, 1, 1, 0), (4, 256, 1, 0), (4, 0xFFFFFFFF, 0, 0), (4, 1, 65536, 0)])
def test_a_register_of_loads_as_convolution_holds_no_more_than_its_field(rig: Rig, p: tuple[int, int, int, int]) -> None:
    assert rig.launch([record(SET_IMAGE, S, p=p)], core_kind=AIC).causes() == ["bad_parameter"]


def test_a_load_as_convolution_beyond_its_memory_is_refused_before_it_is_planned(rig: Rig) -> None:
    repeats = record(SET_IMAGE, S, p=(4, 255, 1, 0))
    assert rig.launch([repeats, image(65535, 16)], core_kind=AIC).causes() == ["out_of_bounds"]


@pytest.mark.parametrize("p", [(2, 1, 0, 1020), (4096, 32, 0, 0)])
def test_a_bias_copy_of_parts_of_blocks_or_of_too_many_is_refused(rig: Rig, p: tuple[int, int, int, int]) -> None:
    made = record(DATA_COPY, MTE1, p=p)
    made.dst, made.src0 = local(BT, 0, F32), l1(0, F16)
    assert rig.launch([made], core_kind=AIC).causes() == ["bad_parameter"]


@pytest.mark.parametrize("boundary", [1040, 524320, 1 << 40])
def test_a_boundary_inside_a_block_or_outside_its_memory_is_refused(rig: Rig, boundary: int) -> None:
    whole = load(l1(0, F16), gm(rig.upload(np.zeros(1024, np.float16)), F16), 2048)
    bounded = record(SET_IMAGE, S, p=(3, 0, 0, 0), scalar=boundary)
    assert "bad_parameter" in rig.launch([whole, bounded, image(64, 16)], core_kind=AIC).causes()
