"""Work of operators that bring lines to a common scale, against small cases counted by hand."""

from __future__ import annotations

from work_cases import BRAIN, CHIP, HALF, NEWER, SINGLE, call, lanes_by_choice, moved, only, tensor

from piton.anchors.normalization import (
    dynamic_quant_convention,
    dynamic_quant_silicon,
    group_norm_convention,
    group_norm_silicon,
    rms_norm_convention,
    rms_norm_silicon,
    softmax_convention,
    softmax_silicon,
)
from piton.anchors.on_chip import capacity_bytes, read_again_bytes
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Figure, Hardware

KIB = 1024


def groups(shape: tuple[int, ...], num_groups: int, dtype: DType = SINGLE) -> Case:
    parameters = (tensor(name, (shape[1],), dtype) for name in ("gamma", "beta"))
    return call(tensor("x", shape, dtype), *parameters, num_groups=num_groups, epsilon=1e-5)


def with_capacity(size: int) -> Hardware:
    """A chip of this many bytes in all."""
    silicon = CHIP.silicon.model_copy(update={"l2_bytes": Figure(value=size, source="test")})
    return CHIP.model_copy(update={"memory_bytes": {}, "silicon": silicon})


def test_softmax_of_small_numbers_takes_three_instructions() -> None:
    case = call(tensor("x", (3, 5), SINGLE), dim=-1)
    work = only(softmax_silicon(case, CHIP))
    assert moved(work) == (3 * 5 * 4, 3 * 5 * 4)
    assert work.vector_lanes == {SINGLE: 15 * (1 + 1 + 1)}  # Exp, Add, Mul
    assert only(softmax_silicon(case, NEWER)).vector_lanes == work.vector_lanes


def test_rms_norm_reads_gamma_once_for_all_rows() -> None:
    work = only(rms_norm_silicon(call(tensor("x", (3, 5), SINGLE), tensor("gamma", (5,), SINGLE), epsilon=1e-6), CHIP))
    assert moved(work) == ((3 * 5 + 5) * 4, 3 * 5 * 4)
    assert work.vector_lanes == {SINGLE: 15 * (1 + 1 + 1)}  # MulAddDst, Mul, Mul


def test_group_norm_reads_two_parameters_and_takes_three_instructions() -> None:
    work = only(group_norm_silicon(groups((2, 6, 5), 3), CHIP))
    assert moved(work) == ((2 * 6 * 5 + 6 + 6) * 4, 2 * 6 * 5 * 4)
    assert work.vector_lanes == {SINGLE: 60 * (1 + 1 + 1)}  # Add, MulAddDst, FusedMulAdd


def test_group_norm_in_half_needs_no_conversions_and_in_float32_two() -> None:
    assert lanes_by_choice(group_norm_silicon, groups((2, 6, 5), 3, HALF)) == {"half arithmetic": {HALF: 60 * 3}, "float32 arithmetic": {SINGLE: 60 * 5}}


def test_the_published_counts_per_element_and_row() -> None:
    x = {dtype: tensor("x", (3, 8), dtype) for dtype in (SINGLE, HALF)}
    assert [softmax_convention(call(x[dtype], dim=-1), "910b2").vector_lanes for dtype in x] == [{SINGLE: 24 * 7}, {SINGLE: 24 * 9}]
    assert [rms_norm_convention(call(x[dtype], epsilon=1e-6), "910b2").vector_lanes for dtype in x] == [{SINGLE: 24 * 3 + 3 * 4}, {SINGLE: 24 * 5 + 3 * 4}]
    assert [group_norm_convention(groups((3, 8), 2, dtype), "910b2").vector_lanes for dtype in x] == [{SINGLE: 24 * 7}, {SINGLE: 24 * 9}]


def test_the_published_count_of_group_norm_does_not_depend_on_the_groups() -> None:
    assert group_norm_convention(groups((2, 6, 5), 3), "910b2") == group_norm_convention(groups((2, 6, 5), 1), "950pr")


def test_dynamic_quant_writes_a_byte_per_element_and_a_scale_per_row() -> None:
    (half, _) = dynamic_quant_silicon(call(tensor("x", (2, 3, 5), HALF)), CHIP)
    assert moved(half) == (2 * 3 * 5 * 2, 2 * 3 * 5 + 2 * 3 * 4)
    assert half.vector_lanes == {HALF: 30 * (1 + 1 + 1)}  # Abs, Max, MulCast
    assert lanes_by_choice(dynamic_quant_silicon, call(tensor("x", (5, 6), HALF)))["float32 arithmetic"] == {SINGLE: 30 * (3 + 2)}  # x in, quotients out


def test_dynamic_quant_of_bfloat16_compares_magnitudes_as_integers() -> None:
    case = call(tensor("x", (2, 3, 5), BRAIN))
    work = only(dynamic_quant_silicon(case, CHIP))
    assert work.vector_lanes == {DType.INT16: 30 * 2, SINGLE: 30 * 2, HALF: 30}  # And, Max; to float32, to half; MulCast
    assert moved(work) == (60, 30 + 24)
    assert lanes_by_choice(dynamic_quant_silicon, case, NEWER)["bfloat16 arithmetic"] == {BRAIN: 30 * 3}


def test_the_published_count_of_dynamic_quant_has_four_instructions_per_row() -> None:
    work = dynamic_quant_convention(call(tensor("x", (2, 3, 5), HALF)), "910b2")
    assert moved(work) == (60, 30 + 24)
    assert work.vector_lanes == {SINGLE: 30 * 9 + 6 * 4}


def test_a_chip_holds_its_cores_memories_and_l2() -> None:
    ub = 48 * 192 * KIB
    cube_memories = 24 * (512 + 64 + 64 + 128) * KIB
    assert capacity_bytes(CHIP) == ub + cube_memories + 192 * KIB * KIB


def test_what_a_chip_cannot_hold_of_a_line_is_read_twice() -> None:
    chip = with_capacity(100)
    assert read_again_bytes(chip, line_bytes=130, lines=3) == 3 * 30
    assert read_again_bytes(chip, line_bytes=100, lines=3) == 0


def test_lines_that_do_not_fit_are_read_twice_by_each_operator() -> None:
    chip = with_capacity(100)
    x = tensor("x", (2, 4, 10), SINGLE)
    assert only(softmax_silicon(call(x, dim=1), chip)).read_bytes == 320  # lines of 4 x 4 bytes
    assert only(softmax_silicon(call(tensor("x", (2, 40), SINGLE), dim=-1), chip)).read_bytes == 320 + 2 * (160 - 100)
    assert only(group_norm_silicon(groups((2, 4, 10), 1), chip)).read_bytes == 320 + 2 * 4 * 4 + 2 * (160 - 100)  # one group per sample
    assert only(group_norm_silicon(groups((2, 4, 10), 2), chip)).read_bytes == 320 + 2 * 4 * 4  # groups of 80 bytes
    assert only(group_norm_silicon(groups((2, 6, 10), 1), chip)).read_bytes == 480 + 2 * 6 * 4 + 2 * (240 - 100)
    rows = call(tensor("x", (3, 60), HALF), tensor("gamma", (60,), HALF), epsilon=1e-6)
    assert rms_norm_silicon(rows, chip)[0].read_bytes == 3 * 120 + 120 + 3 * (120 - 100)
    assert dynamic_quant_silicon(call(tensor("x", (3, 60), HALF)), chip)[0].read_bytes == 3 * 120 + 3 * (120 - 100)
