"""Work of elementwise operators of one tensor, against small cases counted by hand."""

from __future__ import annotations

import pytest
from work_cases import BRAIN, BY_WAY, CHIP, HALF, NEWER, SINGLE, call, lanes_by_choice, moved, only, tensor

from piton.anchors.elementwise import FORMULAS, exp_convention, exp_silicon, gelu_silicon, mish_silicon, sigmoid_silicon, swi_glu_convention, swi_glu_silicon
from piton.anchors.formula import Silicon
from piton.anchors.work import unit_times_us
from piton.core.dtype import DType
from piton.core.operator import AttrValue

PLAIN: dict[str, AttrValue] = {"base": -1.0, "scale": 1.0, "shift": 0.0}
ONE_TENSOR: dict[str, dict[str, AttrValue]] = {"exp": PLAIN, "gelu": {"approximate": "none"}, "mish": {}, "sigmoid": {}}


def test_exp_reads_and_writes_each_byte_once_and_takes_one_instruction() -> None:
    work = only(exp_silicon(call(tensor("x", (3, 5), SINGLE), **PLAIN), CHIP))
    assert moved(work) == (3 * 5 * 4, 3 * 5 * 4)
    assert work.vector_lanes == {SINGLE: 3 * 5 * 1}  # Exp


@pytest.mark.parametrize(("scale", "shift", "instructions"), [(2.0, 0.0, 2), (1.0, 0.5, 2), (2.0, 0.5, 2)])  # Muls, Adds or FusedMulAdd, and Exp
def test_a_factor_and_a_summand_of_exp_are_one_instruction(scale: float, shift: float, instructions: int) -> None:
    work = only(exp_silicon(call(tensor("x", (3, 5), SINGLE), base=-1.0, scale=scale, shift=shift), CHIP))
    assert work.vector_lanes == {SINGLE: 15 * instructions}


def test_gelu_of_bfloat16_is_faster_in_half_although_it_takes_four_conversions() -> None:
    case = call(tensor("x", (1000,), BRAIN), approximate="tanh")
    times = {work.choice: unit_times_us(work, CHIP.silicon)["vector"] for work in gelu_silicon(case, CHIP)}
    assert times["float32 arithmetic"] == pytest.approx(1e6 * 1000 * (6 + 2) / 5.5296e12)
    assert times["half arithmetic by way of float32"] == pytest.approx(1e6 * 1000 * (4 / 5.5296e12 + 6 / 11.0592e12))  # 7 / 8 of it


def test_gelu_takes_six_instructions() -> None:
    work = only(gelu_silicon(call(tensor("x", (3, 5), SINGLE), approximate="tanh"), CHIP))
    assert moved(work) == (60, 60)
    assert work.vector_lanes == {SINGLE: 15 * (1 + 1 + 1 + 1 + 1 + 1)}  # Mul, FusedMulAdd, Mul, Exp, Adds, Div


def test_sigmoid_takes_an_exponential_a_sum_and_a_quotient() -> None:
    work = only(sigmoid_silicon(call(tensor("x", (2, 3, 4), SINGLE)), CHIP))
    assert moved(work) == (2 * 3 * 4 * 4, 2 * 3 * 4 * 4)
    assert work.vector_lanes == {SINGLE: 24 * (1 + 1 + 1)}  # Exp, Adds, Div


def test_mish_takes_five_instructions() -> None:
    work = only(mish_silicon(call(tensor("x", (7,), SINGLE)), CHIP))
    assert moved(work) == (28, 28)
    assert work.vector_lanes == {SINGLE: 7 * (1 + 1 + 1 + 1 + 1)}  # Exp, Adds, FusedMulAdd, Div, Axpy


def test_swi_glu_reads_two_halves_and_writes_one() -> None:
    work = only(swi_glu_silicon(call(tensor("input", (3, 8), SINGLE), dim=-1), CHIP))
    assert moved(work) == (3 * 8 * 4, 3 * 4 * 4)
    assert work.vector_lanes == {SINGLE: 3 * 4 * (1 + 1 + 1 + 1)}  # Exp, Adds, Div, Mul for each of 3 x 4 results


def test_swi_glu_converts_both_halves_and_the_result() -> None:
    lanes = lanes_by_choice(swi_glu_silicon, call(tensor("input", (3, 8), HALF), dim=-1))
    assert lanes == {"half arithmetic": {HALF: 12 * 4}, "float32 arithmetic": {SINGLE: 12 * 4 + 24 + 12}}


@pytest.mark.parametrize(("silicon", "instructions"), [(sigmoid_silicon, 3), (mish_silicon, 5)])
def test_bfloat16_is_converted_unless_the_chip_computes_in_it(silicon: Silicon, instructions: int) -> None:
    case = call(tensor("x", (10,), BRAIN))
    in_half = {HALF: 10 * instructions, SINGLE: 10 * 2 * 2}  # to float32 and to half, and back
    assert lanes_by_choice(silicon, case) == {"float32 arithmetic": {SINGLE: 10 * (instructions + 2)}, BY_WAY: in_half}
    newer = lanes_by_choice(silicon, case, NEWER)
    assert newer == {"bfloat16 arithmetic": {BRAIN: 10 * instructions}, "float32 arithmetic": {SINGLE: 10 * (instructions + 2)}}


@pytest.mark.parametrize("name", ONE_TENSOR)
@pytest.mark.parametrize("dtype", [SINGLE, HALF, BRAIN])
def test_twice_the_elements_are_twice_the_work(name: str, dtype: DType) -> None:
    formula, attributes = FORMULAS[name], ONE_TENSOR[name]
    once, twice = (call(tensor("x", (size, 6), dtype), **attributes) for size in (5, 10))
    for small, large in zip(formula.silicon(once, CHIP), formula.silicon(twice, CHIP), strict=True):
        assert moved(large) == (2 * small.read_bytes, 2 * small.write_bytes)
        assert large.vector_lanes == {lanes: 2 * amount for lanes, amount in small.vector_lanes.items()}
    assert formula.convention(twice, "910b2").read_bytes == 2 * formula.convention(once, "910b2").read_bytes


def test_the_published_count_of_swi_glu_is_of_both_halves() -> None:
    work = swi_glu_convention(call(tensor("input", (3, 8), BRAIN), dim=-1), "910b2")
    assert moved(work) == (3 * 8 * 2, 3 * 4 * 2)
    assert work.vector_lanes == {SINGLE: 3 * 8 * 6}


@pytest.mark.parametrize(
    ("name", "attributes", "in_float32", "in_bfloat16"),
    [
        ("sigmoid", {}, 8, 10),
        ("mish", {}, 7, 9),
        ("gelu", {"approximate": "none"}, 6, 8),
        ("gelu", {"approximate": "tanh"}, 10, 12),
    ],
)
def test_the_published_counts_of_activations_have_two_conversions_in_bfloat16(
    name: str, attributes: dict[str, AttrValue], in_float32: int, in_bfloat16: int
) -> None:
    counts = [FORMULAS[name].convention(call(tensor("x", (10,), dtype), **attributes), "910b2").vector_lanes for dtype in (SINGLE, BRAIN)]
    assert counts == [{SINGLE: 10 * in_float32}, {BRAIN: 10 * in_bfloat16}]


def test_the_published_count_of_exp_adds_one_for_each_attribute_that_changes_the_result() -> None:
    variants: list[dict[str, AttrValue]] = [{}, {"scale": 2.0}, {"shift": 1.0}, {"base": 1.0}, {"base": 2.0, "scale": 2.0, "shift": 1.0}]
    counts = [exp_convention(call(tensor("x", (10,), SINGLE), **{**PLAIN, **variant}), "910b2").vector_lanes[SINGLE] for variant in variants]
    assert counts == [10 * 2, 10 * 3, 10 * 3, 10 * 3, 10 * 5]
    assert exp_convention(call(tensor("x", (10,), HALF), **PLAIN), "910b2").vector_lanes == {SINGLE: 10 * (2 + 2)}
