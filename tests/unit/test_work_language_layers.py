"""Are bytes and instructions of engram_gate_fusion and mhc_sinkhorn those that one counts by hand?"""

from __future__ import annotations

import pytest
from vector_work_cases import A2, A5, by_choice, case_of

from piton.anchors.language_layers import engram_gate_fusion_convention, engram_gate_fusion_silicon, mhc_sinkhorn_convention, mhc_sinkhorn_silicon
from piton.core.case import Case
from piton.core.dtype import DType

F16, F32, BF16 = DType.FLOAT16, DType.FLOAT32, DType.BFLOAT16
MIXED = "float32 products, half taps"


def engram_case(*, length: int = 2, has_state: bool = False, dilation: int = 1) -> Case:
    """Batch 1, four streams of width 3, three taps."""
    keys = (1, length, 4, 3)
    norms = [(name, F32, (4, 3)) for name in ("norm1_weight", "norm2_weight", "conv_norm_weight")]
    state = [("conv_state", BF16, (1, 12, 2 * dilation))] if has_state else []
    tensors = [("keys", BF16, keys), ("hidden_states", BF16, keys), ("value", BF16, (1, length, 3)), *norms, ("conv_weight", F32, (12, 1, 3)), *state]
    return case_of("engram_gate_fusion", tensors, hc_mult=4, hidden_size=3, kernel_size=3, dilation=dilation, norm_eps=1e-5)


def test_a_gate_with_state_reads_everything_and_writes_its_state() -> None:
    work = by_choice(engram_gate_fusion_silicon(engram_case(has_state=True), A2))[MIXED]
    weights = 3 * 12 * 4 + 12 * 3 * 4  # three norms [4, 3], taps [12, 1, 3]
    assert work.read_bytes == 2 * 24 * 2 + 6 * 2 + weights + 12 * 2 * 2  # keys and hidden states, value, weights, state [1, 12, 2]
    assert work.write_bytes == 24 * 2 + 12 * 2 * 2
    # Per element: two Cast in, Mul, three MulAddDst, two Cast out in float32; scale, three taps, Exp, Adds, Div, Axpy in half.
    assert work.vector_lanes == {F32: 24 * 8, F16: 24 * (1 + 3 + 4)}


def test_taps_before_the_sequence_are_neither_read_nor_counted_without_state() -> None:
    work = by_choice(engram_gate_fusion_silicon(engram_case(), A2))[MIXED]
    assert work.read_bytes == 2 * 24 * 2 + 6 * 2 + 3 * 12 * 4 + 12 * 2 * 4  # of three taps, two positions meet the last two
    assert work.vector_lanes == {F32: 24 * 8, F16: 24 * (1 + 2 + 4)}


@pytest.mark.parametrize(("length", "dilation", "taps"), [(1, 1, 1), (3, 1, 3), (9, 1, 3), (3, 3, 1), (4, 3, 2), (7, 3, 3)])
def test_the_last_position_sees_back_by_the_length_of_the_sequence(length: int, dilation: int, taps: int) -> None:
    work = by_choice(engram_gate_fusion_silicon(engram_case(length=length, dilation=dilation), A5))["bfloat16 arithmetic"]
    assert work.vector_lanes == {BF16: 12 * length * (4 + taps + 5)}


def test_the_convention_of_the_gate_leaves_its_state_unwritten() -> None:
    work = engram_gate_fusion_convention(engram_case(has_state=True), "910b2")
    assert work.write_bytes == 24 * 2
    assert work.vector_lanes == {F32: 24 * 12}


def sinkhorn_case(side: int, rounds: int, batch: int = 3) -> Case:
    return case_of("mhc_sinkhorn", [("comb", F32, (batch, side, side))], iter_step=rounds, eps=1e-6)


def test_one_round_is_a_softmax_and_one_division() -> None:
    work = by_choice(mhc_sinkhorn_silicon(sinkhorn_case(2, 1), A2))["division in place"]
    assert work.read_bytes == work.write_bytes == 3 * 4 * 4
    # A row of two: two Exp, one Add, one reciprocal, two FusedMulAdd: 6. A column: one Add, one Adds, two Div: 4. 6 rows, 6 columns.
    assert work.vector_lanes == {F32: 6 * 6 + 6 * 4}


def test_equal_entries_need_no_second_round() -> None:
    zeros = [
        case.model_copy(update={"inputs": (case.inputs[0].model_copy(update={"low": 0.0, "high": 0.0}),)})
        for case in (sinkhorn_case(4, 1), sinkhorn_case(4, 9))
    ]
    one, nine = (mhc_sinkhorn_silicon(case, A2) for case in zeros)
    assert one == nine


def test_division_in_place_costs_two_per_entry_and_half_round() -> None:
    work = by_choice(mhc_sinkhorn_silicon(sinkhorn_case(2, 3), A2))["division in place"]
    assert work.vector_lanes == {F32: 6 * 6 + 5 * (6 * 4)}  # column, then twice row and column


def test_scaling_vectors_leave_the_entries_alone_until_the_end() -> None:
    work = by_choice(mhc_sinkhorn_silicon(sinkhorn_case(4, 3), A2))["scaling vectors"]
    # A row of four: 4 Exp, 3 Add, 1 reciprocal, 4 FusedMulAdd = 12, and there are 12 rows. First columns: 3 Add, Adds, reciprocal = 5 each.
    # Four more sums of products: 4 multiply-adds, eps, reciprocal = 6 each. At the end two products per entry.
    assert work.vector_lanes == {F32: pytest.approx(12 * 12 + 12 * 5 + 4 * 12 * 6 + 2 * 48)}


def test_scaling_vectors_pay_for_large_matrices_only() -> None:
    def cheapest(side: int) -> str:
        return min(mhc_sinkhorn_silicon(sinkhorn_case(side, 20), A2), key=lambda work: work.vector_lanes[F32]).choice

    assert cheapest(2) == "division in place"
    assert cheapest(16) == "scaling vectors"


def test_the_editions_of_the_convention_of_sinkhorn_differ() -> None:
    case = sinkhorn_case(4, 20)
    assert mhc_sinkhorn_convention(case, "910b2").vector_lanes == {F32: 48 * (10 * 20 + 1)}
    assert mhc_sinkhorn_convention(case, "950pr").vector_lanes == {F32: 48 * (8 * 20 - 2 + 6)}
