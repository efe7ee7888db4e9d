"""Do the headers of two-step, sorting, transposing, cross-core and register calls give the right records?"""

from __future__ import annotations

import pytest
from recorded import CPP, Scenarios, scenarios_of

ADD_RELU, FUSED_MUL_ADD, MUL_ADD_DST, ADD_RELU_CAST = 9, 11, 13, 14
ADD, DIV, AND, COMPARE, SELECT, CAST = 1, 4, 7, 96, 97, 72
SORT32, MRG_SORT, TRANS_5HD, TRANSPOSE, ADDRESSES = 145, 146, 147, 148, 294
CROSS_SET, CROSS_WAIT, SOFT_SET, SOFT_WAIT, SYNC_ALL = 260, 261, 262, 263, 259
BARRIER, ALL_PIPES = 258, 7
SET_FLAG, WAIT_FLAG, MTE2, MTE3 = 256, 257, 4, 5
REDUCE_SUM_REGISTER = 358
DEQ_SCALE, CTRL, FAULT, SYS_WORKSPACE = 292, 293, 325, 327
BEST, MRG_RESULT, GET_CTRL, GET_WORKSPACE = 359, 360, 361, 362
I32, U16, F16, F32, I4 = 8, 7, 1, 3, 13
COUNT, MASK, KEEP = 1, 2, 4
WORKSPACE = 0x200000001000


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Scenarios:
    return scenarios_of("headers_more.cpp", tmp_path_factory.mktemp("more"))


def line_of(mark: str) -> int:
    lines = (CPP / "headers_more.cpp").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.rstrip().endswith(f"// @{mark}"))


def test_fused_instructions_carry_three_operands_and_their_form(scenarios: Scenarios) -> None:
    relu, mul_add, dst, cast = scenarios["fused"]
    assert (relu["op"], relu["flags"], relu["p"][0], [relu[name][1] for name in ("dst", "src0", "src1")]) == (ADD_RELU, COUNT, 60, [512, 0, 256])
    assert (mul_add["op"], mul_add["flags"], mul_add["mask"], mul_add["p"][:3]) == (FUSED_MUL_ADD, MASK, [127, 0], [2, 7, 1])
    assert [mul_add[name][4:] for name in ("dst", "src0", "src1")] == [[1, 4], [2, 5], [3, 6]]
    assert (dst["op"], dst["dst"][3], dst["src0"][3]) == (MUL_ADD_DST, F32, F16)
    assert (cast["op"], cast["dst"][3], cast["src0"][3], cast["mask"], cast["p"][2]) == (ADD_RELU_CAST, F16, F32, [5, 0], 0)


def test_an_operator_is_the_count_form_over_the_destination_at_the_line_of_the_statement(scenarios: Scenarios) -> None:
    plus, over, both, at_least, by_count = scenarios["operators"]
    assert (plus["op"], plus["p"][0], plus["line"]) == (ADD, 48, line_of("plus"))
    assert (over["op"], over["p"][0], over["src0"][1], over["line"]) == (DIV, 48, 32, line_of("over"))
    assert (both["op"], both["p"][0], both["dst"][3], both["line"]) == (AND, 32, U16, line_of("both"))  # 16 elements are 32 halves
    assert (at_least["op"], at_least["p"], at_least["line"]) == (COMPARE, [64, 0, 0, 4], line_of("atleast"))
    assert (by_count["op"], by_count["p"][0], by_count["dst"][3]) == (AND, 10, U16)  # by count it counts the halves itself


def test_sorting_carries_all_lists(scenarios: Scenarios) -> None:
    sort, merge, question = scenarios["sorting"]
    assert (sort["op"], sort["p"][0], sort["src0"][1], sort["src1"][1]) == (SORT32, 2, 0, 256)
    assert (merge["op"], merge["p"][:3]) == (MRG_SORT, [1, 15, 1])
    assert merge["mask"] == [32 | 31 << 16 | 30 << 32 | 29 << 48, (2048 - 512) | (2048 - 768) << 32]
    assert (merge["src0"][1], merge["src1"][1], merge["scalar"]) == (4096, 4096 + 256, (4096 + 512) | (4096 + 768) << 32)
    assert question["op"] == MRG_RESULT


def test_transposition_sets_both_lists_before_it_goes_by_them(scenarios: Scenarios) -> None:
    sources, targets, trans, square, nchw = scenarios["transposing"]
    words = [source["mask"] + [source["scalar"], source["p"][1] | source["p"][2] << 32] for source in (sources, targets)]
    lists = [[word >> (16 * at) & 0xFFFF for word in group for at in range(4)] for group in words]
    assert (sources["op"], sources["p"][3], lists[0]) == (ADDRESSES, 0, list(range(16)))
    assert (targets["op"], targets["p"][3], lists[1]) == (ADDRESSES, 1, [512 + 16 * at for at in range(16)])
    assert (trans["op"], trans["p"], trans["dst"][3]) == (TRANS_5HD, [3, 1, 16, 1], F16)
    assert (square["op"], square["p"], square["dst"][1], square["src0"][1]) == (TRANSPOSE, [0, 0, 0, 0], 16384, 0)
    assert (nchw["op"], nchw["p"], nchw["src1"][1]) == (TRANSPOSE, [2, 3 | 32 << 16, (3 * 2 + 1) * 16 * 32, 2], 65536)


def test_older_names_are_the_calls_they_stand_for(scenarios: Scenarios) -> None:
    sources, targets, trans, flag, wait, bits, value = scenarios["older_names"]
    assert [addresses["mask"][0] for addresses in (sources, targets)] == [0x0003000200010000, 0x0230022002100200]
    assert (trans["op"], trans["p"], trans["dst"][3]) == (TRANS_5HD, [3, 1, 16, 0], F16)
    assert [(record["op"], record["p"][:3]) for record in (flag, wait)] == [(SET_FLAG, [MTE3, MTE2, 2]), (WAIT_FLAG, [MTE3, MTE2, 2])]
    assert [record["op"] for record in (bits, value)] == [REDUCE_SUM_REGISTER, REDUCE_SUM_REGISTER]


def test_select_without_a_mask_goes_by_the_registers(scenarios: Scenarios) -> None:
    tensors, scalar = scenarios["selecting"]
    assert (tensors["op"], tensors["flags"], tensors["p"], tensors["src1"][1]) == (SELECT, KEEP, [3, 0, 0, 0x12], 256)
    assert (scalar["flags"], scalar["p"], scalar["src1"][1], scalar["src0"][1]) == (KEEP, [3, 0, 0, 0x11], 512, 256)


def test_registers_are_written_whole_and_read_first(scenarios: Scenarios) -> None:
    written = [(record["op"], record["scalar"]) for record in scenarios["registers"] if record["op"] in (DEQ_SCALE, CTRL)]
    assert written == [(DEQ_SCALE, 0x3800), (CTRL, 1 << 48), (CTRL, 7 << 6), (CTRL, 0)]
    assert [(record["op"], record["p"][0]) for record in scenarios["registers"] if record["op"] == BEST] == [(BEST, 0), (BEST, 1)]


def test_the_user_s_workspace_lies_16_mib_behind_the_system_s(scenarios: Scenarios) -> None:
    assert [(record["op"], record["scalar"]) for record in scenarios["workspace"]] == [
        (SYS_WORKSPACE, WORKSPACE),
        (GET_WORKSPACE, 0),
        (SYS_WORKSPACE, WORKSPACE + (16 << 20)),
    ]


def test_flags_between_cores_name_mode_pipe_and_place(scenarios: Scenarios) -> None:
    records = [record for record in scenarios["between_cores"] if record["op"] in (CROSS_SET, CROSS_WAIT, SOFT_SET, SOFT_WAIT)]
    cross_set, cross_wait, ib_set, ib_wait, meet, *waits = records
    assert (cross_set["op"], cross_set["pipe"], cross_set["p"][:3]) == (CROSS_SET, 5, [0, 5, 5])
    assert (cross_wait["op"], cross_wait["p"][2]) == (CROSS_WAIT, 5)
    place = WORKSPACE + 32 * (48 + 2)  # event 1, block 2, of 48 blocks
    assert (ib_set["dst"][1], ib_set["scalar"], ib_set["p"][0]) == (place, 1, 0)
    assert (ib_wait["src0"][1], ib_wait["scalar"], ib_wait["p"][0]) == (place, 1, 1)
    assert (meet["op"], meet["dst"][1], meet["p"][0]) == (SOFT_SET, WORKSPACE + 32 * 3, 1)  # this is block 3
    assert [(wait["src0"][1], wait["p"][0]) for wait in waits] == [(WORKSPACE, 0), (WORKSPACE + 32, 0)]


def test_blocks_take_turns_by_the_flag_of_the_block_before(scenarios: Scenarios) -> None:
    reset, own, wait, notify = [record for record in scenarios["turns"] if record["op"] in (SOFT_SET, SOFT_WAIT)]
    assert [(record["dst"][1], record["scalar"], record["p"][0]) for record in (reset, own, notify)] == [
        (WORKSPACE + 96, add, how) for add, how in ((0, 2), (0, 1), (1, 1))
    ]
    assert (wait["src0"][1], wait["scalar"], wait["p"][0]) == (WORKSPACE + 64, 1, 2)


def test_printf_formats_device_types_and_keeps_what_has_no_argument(scenarios: Scenarios) -> None:
    texts = [record["text"] for record in scenarios["text"][:3]]
    assert texts == [f"-3 of 7:  1.50|ff  |text|%|{WORKSPACE:#x} {1 << 40} A\n", "1 %d\n", "2.000000 3.000000 1\n"]
    assert scenarios["text"][0]["line"] == line_of("print")


def test_a_tensor_is_dumped_with_its_place_and_in_the_order_of_its_shape(scenarios: Scenarios) -> None:
    texts = [record["text"] for record in scenarios["text"][3:]]
    pi, low, whole = "3.141593", "4059", "1078530011"  # what the recorder gives for every load
    assert texts == [
        "DumpTensor: desc=5, addr=0x40, data_type=float32, position=UB, dump_size=3\n",
        f"[{pi},{pi},{pi}]\n",
        "DumpTensor: desc=6, addr=0x60, data_type=int16, position=UB, dump_size=3\n",
        "shape is [2, 2], dumpSize is 3, data is not enough.\n",
        f"[[{low},{low}],\n[{low},-]]\n",
        f"DumpTensor: desc=7, addr={WORKSPACE:#x}, data_type=uint32, position=GM, dump_size=5\n",
        "shape is [2, 2], dumpSize is 5, dumpSize is greater than shapeSize.\n",
        f"[[{whole},{whole}],\n[{whole},{whole}]]\n",
        " ".join([pi] * 8) + f"\n{pi}\n",
        f"{low} {low}\n",
    ]
    assert scenarios["text"][3]["line"] == line_of("dump")
    barriers = [record for record in scenarios["dumping"] if record["op"] == BARRIER]
    assert [record["p"][0] for record in barriers] == [ALL_PIPES] * 5


def test_four_bit_tensors_count_two_elements_to_a_byte(scenarios: Scenarios) -> None:
    narrow, widen = scenarios["four_bits"]
    assert (narrow["op"], narrow["dst"][1:4]) == (CAST, [64 + 16, 64 - 16, I4])
    assert (widen["p"][0], widen["src0"][1:4]) == (128, [64, 64, I4])


@pytest.mark.parametrize(
    ("scenario", "api", "figures", "value"),
    [
        ("fault_assertion", "three == 4", [10, 0, 0], 0),
        ("fault_queue_flag", "TQueSync::SetFlag", [9, 0, 0], 8),
        ("fault_misaligned_list", "TransDataTo5HD", [9, 1, 0], 8),
        ("fault_far_list", "TransDataTo5HD", [9, 1, 0], 0x200000),
        ("fault_shape", "DumpTensor", [9, 3, 0], 0),
        ("fault_plane", "Transpose", [9, 3, 0], 30),
        ("fault_sort", "Sort32", [9, 3, 0], 300),
        ("fault_cores", "SyncAll", [9, 2, 0], 49),
    ],
)
def test_a_misuse_is_a_fault_with_its_figures(scenarios: Scenarios, scenario: str, api: str, figures: list[int], value: int) -> None:
    faults = [record for record in scenarios[scenario] if record["op"] == FAULT]
    assert [(fault["api"], fault["p"][:3], fault["scalar"]) for fault in faults] == [(api, figures, value)]


def test_an_assertion_has_the_line_it_stands_in(scenarios: Scenarios) -> None:
    assert next(record for record in scenarios["fault_assertion"] if record["op"] == FAULT)["line"] == line_of("assertion")


def test_scalar_functions_count_and_round_as_documented(scenarios: Scenarios) -> None:
    told = [record["scalar"] for record in scenarios["scalar_functions"] if record["op"] == CTRL]
    expected = [8, 56, 63, 64, 6, 63, 8, -1, -3, 2, -2, 2**31 - 1, 0x4249, 0xFBFF, 0x3FC0, 312]
    assert told == [value % 2**64 for value in expected]
