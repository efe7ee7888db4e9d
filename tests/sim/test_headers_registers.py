"""Do calls that set registers or ask a question give the records that the documentation means, and do the small names have their values?"""

from __future__ import annotations

import pytest
from recorded import Scenarios, scenarios_of

LOAD_IMAGE, FILL, SET_IMAGE, SET_FIXPIPE, CTRL, GET_CTRL = 208, 209, 304, 305, 293, 361
MASK, CROSS_SET, CROSS_WAIT, SYS_WORKSPACE, BEST, SUM = 288, 260, 261, 327, 359, 358
MTE1, MTE2, MTE3 = 3, 4, 5
SUB_RELU_CAST, COPY, SET, WAIT = 15, 192, 256, 257
L1, L0A, L0B = 3, 4, 5
F16, F32 = 1, 3
ONE_HALF = 0x3C00
SHAPE = 5 | 6 << 16 | 1 << 32 | 2 << 40 | 3 << 48 | 4 << 56
"""Height, width, paddings left, right, top, bottom."""


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Scenarios:
    return scenarios_of("headers_registers.cpp", tmp_path_factory.mktemp("registers"))


def test_a_load_as_convolution_tells_windows_shape_and_padding(scenarios: Scenarios) -> None:
    all_set, kept = (record for record in scenarios["images"][:2])
    assert (all_set["op"], all_set["pipe"]) == (LOAD_IMAGE, MTE1)
    assert [all_set[name][:2] for name in ("dst", "src0")] == [[L0A, 512], [L1, 64]]
    rows_and_columns, first, steps = 32 | 48 << 16, 8 | 16 << 16, 2 | 3 << 8 | 6 << 16 | 7 << 24
    assert all_set["p"] == [rows_and_columns, first, steps, 1 | 4 | 8]
    assert (all_set["mask"], all_set["scalar"]) == ([SHAPE, (4 + 256) | 5 << 16 | 16 << 32], ONE_HALF)
    assert kept["p"][3] == 1  # neither the shape nor the padding goes into its register


def test_the_short_form_goes_by_registers(scenarios: Scenarios) -> None:
    shape, padding, pro, boundary, repeats = scenarios["images"][2:]
    assert [(record["op"], record["p"][0], record["scalar"]) for record in (shape, padding, boundary)] == [
        (SET_IMAGE, 1, SHAPE),
        (SET_IMAGE, 2, ONE_HALF),
        (SET_IMAGE, 3, 1024),
    ]
    assert (pro["p"][:3], pro["p"][3], pro["mask"][1]) == (scenarios["images"][0]["p"][:3], 2, scenarios["images"][0]["mask"][1])
    assert (repeats["op"], repeats["p"]) == (SET_IMAGE, [4, 4, 3, 1])


def test_a_fill_counts_blocks_of_its_memory(scenarios: Scenarios) -> None:
    in_l1, in_l0 = scenarios["fills"]
    assert (in_l1["op"], in_l1["pipe"], in_l1["p"], in_l1["scalar"], in_l1["dst"][0]) == (FILL, MTE2, [2, 3 * 32, 0, 32], ONE_HALF, L1)
    assert (in_l0["pipe"], in_l0["p"], in_l0["scalar"], in_l0["dst"][0]) == (MTE1, [2, 512, 0, 0], 0x3F800000, L0B)


def test_the_registers_of_the_way_out_of_the_cube_are_set(scenarios: Scenarios) -> None:
    assert [(record["op"], record["p"][0]) for record in scenarios["fixpipe"]] == [(SET_FIXPIPE, number) for number in (0, 1, 2)]
    matrices, scale, scales = scenarios["fixpipe"]
    assert (matrices["p"][1:], scale["scalar"], scales["scalar"]) == ([2, 3, 4], 7, 128)


def test_modes_of_the_cube_are_bits_of_ctrl(scenarios: Scenarios) -> None:
    set_to = [record["scalar"] for record in scenarios["controls"] if record["op"] == CTRL]
    assert set_to == [1 << 46, 1 << 47, 1 << 51, 1 << 51, 0]  # the recorder always answers that CTRL is 0


def test_questions_are_answered_by_the_engine_and_small_functions_by_their_arithmetic(scenarios: Scenarios) -> None:
    told = [record["scalar"] for record in scenarios["questions"] if record["op"] == CTRL]
    assert told == [3, 48, 0, 1, 1, 1, 1000, 32, 0, 1, 3, 63, 3, 3, 16]
    assert sum(record["op"] == GET_CTRL for record in scenarios["questions"]) == 2 + len(told)  # SetCtrlSpr reads first


def test_older_names_give_the_records_of_the_newer_ones(scenarios: Scenarios) -> None:
    some, every, set_flag, wait, workspace, *answers = scenarios["others"]
    assert [(record["op"], record["mask"]) for record in (some, every)] == [(MASK, [31, 0]), (MASK, [2**64 - 1, 2**64 - 1])]
    assert (set_flag["op"], set_flag["p"][:3]) == (CROSS_SET, [2, MTE3, 6])
    assert (wait["op"], wait["p"][2]) == (CROSS_WAIT, 6)
    assert (workspace["op"], workspace["scalar"]) == (SYS_WORKSPACE, 0x200000001000)
    assert [record["op"] for record in answers if record["op"] in (BEST, SUM)] == [BEST, BEST, SUM]
    assert (answers[-1]["op"], answers[-1]["p"][0], answers[-1]["dst"][3], answers[-1]["src0"][3]) == (SUB_RELU_CAST, 60, F16, F32)


def test_a_queue_into_l1_orders_its_loads_before_their_use(scenarios: Scenarios) -> None:
    (load,) = (record for record in scenarios["held_in_l1"] if record["op"] == COPY)
    assert (load["pipe"], load["dst"][0], load["p"][1]) == (MTE2, L1, 512)
    after = scenarios["held_in_l1"][scenarios["held_in_l1"].index(load) + 1 :]
    flags = [(record["op"], *record["p"][:2]) for record in after if record["op"] in (SET, WAIT)]
    assert flags[:3] == [(SET, MTE2, MTE1), (WAIT, MTE2, MTE1), (SET, MTE1, MTE2)]
