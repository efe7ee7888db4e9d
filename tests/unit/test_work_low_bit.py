"""Work of operators with floating formats of 8 and 4 bits, against small cases counted by hand."""

from __future__ import annotations

import pytest
from work_cases import BRAIN, CHIP, HALF, NEWER, SINGLE, call, lanes_by_choice, moved, only, tensor

from piton.anchors import candidates, has_formula, t_hw
from piton.anchors.low_bit import (
    add_rms_norm_fp8_quant_silicon,
    dynamic_fp8_quant_silicon,
    dynamic_mx_quant_silicon,
    fp8_dequant_silicon,
    fp8_quant_silicon,
    mx_dequant_silicon,
    mx_quant_silicon,
    quantization_network_grad_silicon,
    quantization_network_silicon,
    swi_glu_mx_quant_silicon,
)
from piton.anchors.low_bit_products import fp8_quant_matmul_silicon, mx_quant_matmul_silicon
from piton.catalog import load_suite
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Hardware
from piton.core.operator import AttrValue
from piton.evaluate.arguments import all_attributes

E4M3, E5M2, FP4, SCALE = DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.FLOAT4_E2M1, DType.FLOAT8_E8M0
SUITE = load_suite("cann-lowbit")


def test_dequantisation_reads_a_byte_and_writes_the_wide_type() -> None:
    work = only(fp8_dequant_silicon(call(tensor("x", (3, 10), E4M3), tensor("scale", (10,), SINGLE), dst_type="bfloat16"), NEWER))
    assert moved(work) == (3 * 10 + 10 * 4, 3 * 10 * 2)
    assert work.vector_lanes == {BRAIN: 2 * 30}  # Cast, Mul


def test_mx_scales_are_a_byte_for_every_32_elements_and_4_bit_elements_half_a_byte() -> None:
    work = only(mx_dequant_silicon(call(tensor("x", (3, 40), FP4), tensor("scale", (3, 2), SCALE), dst_type="float32"), NEWER))
    assert moved(work) == (3 * 40 // 2 + 3 * 2, 3 * 40 * 4)
    assert work.vector_lanes == {SINGLE: 2 * 120}


def test_quantisation_multiplies_and_converts() -> None:
    work = only(fp8_quant_silicon(call(tensor("x", (3, 10), HALF), tensor("scale", (1,), SINGLE), dst_type="float8_e4m3"), NEWER))
    assert (moved(work), work.vector_lanes) == ((3 * 10 * 2 + 4, 3 * 10), {HALF: 2 * 30})


def test_dynamic_quantisation_writes_a_scale_per_row_and_smooths_where_asked() -> None:
    plain = call(tensor("x", (3, 10), SINGLE), dst_type="hifloat8")
    smooth = call(tensor("x", (3, 10), SINGLE), tensor("smooth_scales", (10,), SINGLE), dst_type="hifloat8")
    works = [only(dynamic_fp8_quant_silicon(case, NEWER)) for case in (plain, smooth)]
    assert [moved(work) for work in works] == [(120, 30 + 3 * 4), (120 + 40, 30 + 3 * 4)]
    assert [work.vector_lanes for work in works] == [{SINGLE: 4 * 30}, {SINGLE: 5 * 30}]


@pytest.mark.parametrize(("dst_type", "element_bytes"), [("float8_e5m2", 3 * 40), ("float4_e2m1", 3 * 20)])
def test_mx_quantisation_writes_a_scale_for_each_block_begun(dst_type: str, element_bytes: int) -> None:
    work = only(mx_quant_silicon(call(tensor("x", (3, 40), BRAIN), dst_type=dst_type), NEWER))
    assert (moved(work), work.vector_lanes) == ((3 * 40 * 2, element_bytes + 3 * 2), {BRAIN: 4 * 120})


@pytest.mark.parametrize(("axis", "scales"), [(0, 40 * 2), (-1, 70 * 2)])
def test_dynamic_mx_quantisation_pairs_scales_along_its_axis(axis: int, scales: int) -> None:
    """Blocks of 64: along the 70 rows two of them, one pair for each of 40 columns; along the 40 columns one, with a partner, for each of 70 rows."""
    attributes: dict[str, AttrValue] = {"axis": axis, "round_mode": "rint", "dst_type": "float8_e4m3", "blocksize": 64, "scale_alg": 0}
    work = only(dynamic_mx_quant_silicon(call(tensor("x", (70, 40), HALF), **attributes), NEWER))
    assert moved(work) == (70 * 40 * 2, 70 * 40 + scales)


def test_swiglu_quantises_half_the_columns() -> None:
    """Rows of 20 make 10 results: one block, whose scale has a partner."""
    work = only(swi_glu_mx_quant_silicon(call(tensor("x", (3, 20), HALF), activate_left=True, dst_type="float8_e4m3", scale_alg=0), NEWER))
    assert (moved(work), work.vector_lanes) == ((3 * 20 * 2, 3 * 10 + 3 * 2), {HALF: 9 * 30})


def test_a_residual_norm_writes_codes_the_sum_and_scales() -> None:
    tensors = (tensor("x1", (3, 10), HALF), tensor("x2", (3, 10), HALF), tensor("gamma", (10,), HALF))
    work = only(add_rms_norm_fp8_quant_silicon(call(*tensors, epsilon=1e-6, dst_type="float8_e4m3"), NEWER))
    assert moved(work) == ((30 + 30 + 10) * 2, 30 + 30 * 2 + 3 * 4)
    assert work.vector_lanes == {HALF: 7 * 30}


def network(*, is_hard: bool, dtype: DType = HALF) -> Case:
    """5 steps."""
    tensors = (tensor("x", (3, 10), dtype), tensor("thresholds", (5,), SINGLE), tensor("scales", (5,), SINGLE))
    return call(*tensors, alpha=1.0, beta=1.0, temperature=1.0, is_hard=is_hard)


@pytest.mark.parametrize(("is_hard", "instructions"), [(False, 4 + 2 * 5), (True, 1 + 2 * 3)])  # 5 steps have 6 levels: three halvings
def test_a_staircase_takes_a_search_and_a_soft_one_every_step(is_hard: bool, instructions: int) -> None:
    case = network(is_hard=is_hard)
    assert lanes_by_choice(quantization_network_silicon, case) == {
        "half arithmetic": {HALF: instructions * 30},
        "float32 arithmetic": {SINGLE: (instructions + 2) * 30},
    }
    assert {moved(work) for work in quantization_network_silicon(case, CHIP)} == {(30 * 2 + 2 * 5 * 4, 30 * 2)}


@pytest.mark.parametrize(("steps", "instructions"), [(1, 2 + 3 * 1), (2, 2 + 3 * 2), (3, 4 + 2 * 3)])
def test_three_soft_steps_and_more_are_cheaper_as_one_quotient_of_polynomials(steps: int, instructions: int) -> None:
    tensors = (tensor("x", (3, 10), SINGLE), tensor("thresholds", (steps,), SINGLE), tensor("scales", (steps,), SINGLE))
    work = only(quantization_network_silicon(call(*tensors, alpha=1.0, beta=1.0, temperature=1.0, is_hard=False), CHIP))
    assert work.vector_lanes == {SINGLE: 30 * instructions}


def test_the_gradient_of_a_staircase_has_two_sums_and_one_for_each_step() -> None:
    tensors = (tensor("grad_y", (3, 10), SINGLE), tensor("x", (3, 10), SINGLE), tensor("thresholds", (5,), SINGLE), tensor("scales", (5,), SINGLE))
    work = only(quantization_network_grad_silicon(call(*tensors, alpha=1.0, beta=1.0, temperature=1.0), CHIP))
    assert moved(work) == (2 * 30 * 4 + 2 * 5 * 4, 30 * 4 + (5 + 2) * 4)
    assert work.vector_lanes == {SINGLE: (5 + 6 * 5) * 30}


def product(*, has_row_scale: bool) -> Case:
    row_scale = (tensor("pertoken_scale", (2, 3), SINGLE),) if has_row_scale else ()
    tensors = (tensor("x1", (2, 3, 32), E4M3), tensor("x2", (32, 5), E5M2), tensor("scale", (5,), SINGLE), *row_scale)
    return call(*tensors, output_dtype="bfloat16")


@pytest.mark.parametrize(("has_row_scale", "lanes"), [(False, {}), (True, {BRAIN: 6 * 5})])
def test_rows_of_all_batch_items_share_a_matrix(has_row_scale: bool, lanes: dict[DType, int]) -> None:
    work = only(fp8_quant_matmul_silicon(product(has_row_scale=has_row_scale), NEWER))
    assert moved(work) == (6 * 32 + 32 * 5 + 5 * 4 + 6 * 4 * has_row_scale, 6 * 5 * 2)
    assert work.cube_flops == {E4M3: 2 * 6 * 32 * 5}
    assert (work.vector_lanes, work.writes_from_cube) == (lanes, not has_row_scale)


def test_batches_of_matrices_are_products_of_their_own() -> None:
    case = call(tensor("x1", (2, 3, 32), E4M3), tensor("x2", (2, 32, 5), E4M3), tensor("scale", (1,), SINGLE), output_dtype="float32")
    work = only(fp8_quant_matmul_silicon(case, NEWER))
    assert moved(work) == (2 * (3 * 32 + 32 * 5) + 4, 2 * 3 * 5 * 4)
    assert work.cube_flops == {E4M3: 2 * 2 * 3 * 32 * 5}
    assert work.path is not None
    assert work.path.cube_flops == {E4M3: 32 * 2 * 16 * 16 * 32}  # two of 32 cores have one fractal each
    assert work.path.l2_read_bytes == 16 * (2 * (3 * 32 + 32 * 5))


def mx_product(left: DType, right: DType) -> Case:
    tensors = (tensor("x1", (3, 64), left), tensor("x2", (5, 64), right), tensor("x1_scale", (3, 2), SCALE), tensor("x2_scale", (5, 2), SCALE))
    return call(*tensors, output_dtype="float16")


@pytest.mark.parametrize(
    ("left", "right", "read", "rate", "converted"),
    [
        (E4M3, E5M2, 3 * 64 + 5 * 64, E4M3, {}),
        (FP4, FP4, 3 * 32 + 5 * 32, FP4, {}),
        (E5M2, FP4, 3 * 64 + 5 * 32, E5M2, {BRAIN: 5 * 64}),
    ],
)
def test_an_mx_product_works_at_the_rate_of_the_wider_operand(left: DType, right: DType, read: int, rate: DType, converted: dict[DType, int]) -> None:
    work = only(mx_quant_matmul_silicon(mx_product(left, right), NEWER))
    assert moved(work) == (read + 3 * 2 + 5 * 2, 3 * 5 * 2)
    assert work.cube_flops == {rate: 2 * 3 * 64 * 5}
    assert work.vector_lanes == converted


@pytest.mark.parametrize("chip", [CHIP, NEWER])
def test_only_a_chip_that_has_the_types_has_choices(chip: Hardware) -> None:
    for member in SUITE.members:
        assert has_formula(member.operator), member.operator.name
        case = member.cases[0].model_copy(update={"attributes": all_attributes(member.operator, member.cases[0])})
        runs_anywhere = member.operator.name.startswith("quantization_network")
        assert bool(candidates(member.operator, case, chip)) is (chip is NEWER or runs_anywhere), member.operator.name


def test_no_anchors_are_published_for_low_bit_operators() -> None:
    for member in SUITE.members:
        assert t_hw(member.operator, member.cases[0], NEWER, "convention") is None
