"""Work of recurrent networks, against small cases counted by hand."""

from __future__ import annotations

from work_cases import BRAIN, CHIP, HALF, NEWER, SINGLE, call, moved, tensor

from piton.anchors.recurrent import gru_convention, gru_silicon, lstm_convention, lstm_silicon
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.operator import AttrValue

ATTRIBUTES: dict[str, AttrValue] = {
    "inputSize": 16,
    "hiddenSize": 16,
    "numLayers": 1,
    "bias": True,
    "batchFirst": False,
    "dropout": 0.0,
    "bidirectional": False,
}


def weights(gates: int, dtype: DType, *, layers: int = 1, directions: int = 1, state: int = 16) -> list[CaseInput]:
    """16 features, 16 hidden ones, states of `state`; one list entry for each layer and direction."""
    found = []
    for index in range(layers * directions):
        features = 16 if index < directions else state * directions
        found += [tensor("weight_ih", (gates * 16, features), dtype, list_index=index), tensor("weight_hh", (gates * 16, state), dtype, list_index=index)]
    return found


def gru(*more: CaseInput, dtype: DType = HALF, steps: int = 2, layers: int = 1, is_bidirectional: bool = False, is_batch_first: bool = False) -> Case:
    """Sequences of 3 in a batch."""
    shape = (3, steps, 16) if is_batch_first else (steps, 3, 16)
    matrices = weights(3, dtype, layers=layers, directions=1 + is_bidirectional)
    others: dict[str, AttrValue] = {"batchFirst": is_batch_first, "bidirectional": is_bidirectional, "numLayers": layers}
    return call(tensor("x", shape, dtype), *matrices, *more, **{**ATTRIBUTES, **others})


def lstm(*more: CaseInput, projected: int = 0) -> Case:
    matrices = weights(4, HALF, state=projected or 16)
    return call(tensor("x", (2, 3, 16), HALF), *matrices, *more, **ATTRIBUTES, projSize=projected)


def test_a_gru_multiplies_inputs_at_once_and_states_from_the_second_step_on() -> None:
    half, _single = gru_silicon(gru(), CHIP)
    assert moved(half) == ((2 * 3 * 16 + 48 * 16 + 48 * 16) * 2, (2 * 3 * 16 + 3 * 16) * 2)
    assert half.cube_flops == {HALF: 2 * (2 * 3) * 48 * 16 + 1 * (2 * 3 * 48 * 16)}
    assert half.vector_lanes == {HALF: 13 * 2 * 3 * 16}


def test_every_step_of_three_gates_waits_for_the_one_before() -> None:
    """One step of [3, 16] x [16, 48]: 1 x 3 fractals of one depth, one for the busiest core, 24 times; the inputs take as much again."""
    half, _single = gru_silicon(gru(), CHIP)
    assert half.path is not None
    assert half.path.cube_flops == {HALF: 24 * 2 * 16**3 + 24 * 2 * 16**3}


def test_a_state_to_begin_with_is_read_and_multiplied_in_the_first_step_too() -> None:
    without, given = (gru_silicon(case, CHIP)[0] for case in (gru(), gru(tensor("h0", (1, 3, 16), HALF))))
    assert given.read_bytes - without.read_bytes == 3 * 16 * 2
    assert given.cube_flops[HALF] - without.cube_flops[HALF] == 2 * 3 * 48 * 16


def test_a_step_loads_the_state_into_l0a_and_takes_the_gates_out_of_the_accumulators() -> None:
    """The one step more: 3 rows, padded to 16 of 32 B, and 3 x 48 results."""
    without, given = (gru_silicon(case, CHIP)[0].path for case in (gru(), gru(tensor("h0", (1, 3, 16), HALF))))
    assert without is not None
    assert given is not None
    assert (given.l0a_bytes - without.l0a_bytes, given.l0c_elements - without.l0c_elements) == (16 * 32, 3 * 48)


def test_batch_first_changes_nothing() -> None:
    assert gru_silicon(gru(is_batch_first=True, steps=5), CHIP) == gru_silicon(gru(steps=5), CHIP)


def test_a_layer_on_top_reads_both_directions_of_the_one_below() -> None:
    work = gru_silicon(gru(layers=2, is_bidirectional=True), CHIP)[0]
    inputs = 2 * (2 * 3) * 48 * (16 + 32)
    states = 4 * (2 * 3 * 48 * 16)
    assert work.cube_flops == {HALF: 2 * inputs + states}
    assert work.write_bytes == (2 * 3 * 2 * 16 + 4 * 3 * 16) * 2
    assert work.vector_lanes == {HALF: 13 * 4 * 2 * 3 * 16}


def test_twice_the_steps_are_twice_the_instructions() -> None:
    assert gru_silicon(gru(steps=4), CHIP)[0].vector_lanes[HALF] == 2 * gru_silicon(gru(steps=2), CHIP)[0].vector_lanes[HALF]


def test_bfloat16_is_computed_in_float32_or_half_where_the_chip_does_not_compute_in_it() -> None:
    assert [dict(work.vector_lanes) for work in gru_silicon(gru(dtype=BRAIN), CHIP)] == [{SINGLE: 13 * 96}, {HALF: 13 * 96, SINGLE: 0}]
    assert [dict(work.vector_lanes) for work in gru_silicon(gru(dtype=BRAIN), NEWER)] == [{BRAIN: 13 * 96}, {SINGLE: 13 * 96}]


def test_float32_products_may_be_rounded_to_hf32() -> None:
    assert [next(iter(work.cube_flops)) for work in gru_silicon(gru(dtype=SINGLE), CHIP)] == [DType.HIFLOAT32, SINGLE]


def test_the_published_count_multiplies_a_state_in_every_step_and_leaves_final_states_out() -> None:
    work = gru_convention(gru(), "910b2")
    assert work.cube_flops == {HALF: 2 * (2 * 3) * 48 * (16 + 16)}
    assert work.write_bytes == 2 * 3 * 16 * 2


def test_edition_950pr_counts_float32_at_the_rate_of_float16() -> None:
    assert [next(iter(gru_convention(gru(dtype=SINGLE), edition).cube_flops)) for edition in ("910b2", "950pr")] == [SINGLE, HALF]


def test_an_lstm_has_four_gates_and_a_cell() -> None:
    work = lstm_silicon(lstm(), CHIP)[0]
    assert moved(work) == ((2 * 3 * 16 + 2 * 64 * 16) * 2, (2 * 3 * 16 + 3 * 16 + 3 * 16) * 2)
    assert work.cube_flops == {HALF: 2 * (2 * 3) * 64 * 16 + 1 * (2 * 3 * 64 * 16)}
    assert work.vector_lanes == {HALF: 20 * 2 * 3 * 16}


def test_a_projection_makes_states_smaller_and_adds_a_product_to_every_step() -> None:
    case = lstm(tensor("weight_hr", (8, 16), HALF, list_index=0), projected=8)
    work = lstm_silicon(case, CHIP)[0]
    assert moved(work) == ((2 * 3 * 16 + 64 * 16 + 64 * 8 + 8 * 16) * 2, (2 * 3 * 8 + 3 * 8 + 3 * 16) * 2)
    assert work.cube_flops == {HALF: 2 * 6 * 64 * 16 + 1 * (2 * 3 * 64 * 8) + 2 * (2 * 3 * 16 * 8)}
    assert lstm_convention(case, "910b2").cube_flops == {HALF: 2 * 6 * (64 * (16 + 8) + 16 * 8)}


def loaded_into_l0b(case: Case) -> float:
    path = gru_silicon(case, CHIP)[0].path
    assert path is not None
    return path.l0b_bytes


def test_a_matrix_that_all_l0b_together_hold_is_loaded_once() -> None:
    """24 x 64 KiB hold 48 x 16; [2048, 3 x 2048] half is 25 MB, of which every step loads what does not fit."""
    assert loaded_into_l0b(gru(steps=3)) == loaded_into_l0b(gru(steps=2)), "only the inputs' product loads anything"
    assert loaded_into_l0b(large(3)) - loaded_into_l0b(large(2)) >= 2048 * 3 * 2048 * 2 - 24 * 65536


def large(steps: int) -> Case:
    matrices = [tensor("weight_ih", (3 * 2048, 16), HALF, list_index=0), tensor("weight_hh", (3 * 2048, 2048), HALF, list_index=0)]
    return call(tensor("x", (steps, 1, 16), HALF), *matrices, **{**ATTRIBUTES, "hiddenSize": 2048})
