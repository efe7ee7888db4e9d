"""Do the device headers turn each API call into the right record, with the kernel's own line?"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import Record, Scenarios, by_scenario

CPP = Path(__file__).parent / "cpp"
INCLUDE = Path(__file__).parents[2] / "src" / "piton" / "vnpu_cpp" / "include"
FLAGS = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", f"-I{CPP}"]

# enum vnpu_pipe, enum vnpu_opcode, flags: written out, so that a change of the ABI is noticed here
S, V, M, MTE1, MTE2, MTE3, FIX, ALL = range(8)
ADD, MULS, EXP, CAST, DUPLICATE, COPY, COPY_PAD, LOAD, STORE = 1, 33, 64, 72, 74, 192, 193, 224, 225
COPY_ND2NZ, TASK_TYPE = 194, 328
ADDS, COMPARE, SELECT = 32, 96, 97
SET, WAIT, BARRIER, SYNC_ALL, SET_MASK, MASK_MODE, ATOMIC, PAD_VALUE = 256, 257, 258, 259, 288, 289, 290, 291
INIT, ACQUIRE, RELEASE, BEGIN, END, FAULT = 320, 321, 322, 323, 324, 325
COUNT, SET_FORM, KEEP_FORM, QUEUE, BYPASS = 1, 2, 4, 8, 16
GM, UB, L1 = 1, 2, 3
F16, F32, U8, I16 = 1, 3, 5, 6
QUESTIONS = range(352, 365)


def compile_and_run(folder: Path, *sources: str, flags: tuple[str, ...] = ()) -> str:
    program = folder / "program"
    subprocess.run(["g++", *FLAGS, *flags, *(str(CPP / source) for source in sources), "-o", str(program)], check=True, timeout=120)
    return subprocess.run([str(program)], check=True, timeout=60, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Scenarios:
    folder = tmp_path_factory.mktemp("records")
    recorder = folder / "recorder.o"
    subprocess.run(["g++", *FLAGS, "-c", str(CPP / "headers_recorder.cpp"), "-o", str(recorder)], check=True, timeout=120)
    output = compile_and_run(folder, "headers_records.cpp", flags=("-DPITON_DEVICE_PASS", "-fsanitize-coverage=trace-pc", str(recorder)))
    return by_scenario(output)


def instructions(records: list[Record]) -> list[Record]:
    return [record for record in records if "op" in record and record["op"] not in QUESTIONS]


def shape(records: list[Record]) -> list[tuple[int, ...]]:
    """(opcode, source pipe, destination pipe, id) of flags; (opcode, handle) of buffer notes; (opcode, pipe) of barriers; else (opcode,)."""

    def one(record: Record) -> tuple[int, ...]:
        if record["op"] in (SET, WAIT):
            return (record["op"], *record["p"][:3])
        return (record["op"], record["p"][0]) if record["op"] in (ACQUIRE, RELEASE, BARRIER) else (record["op"],)

    return [one(record) for record in instructions(records)]


@pytest.fixture(scope="module")
def line_of() -> Callable[[str], int]:
    lines = (CPP / "headers_records.cpp").read_text().splitlines()
    return lambda mark: next(number for number, line in enumerate(lines, 1) if line.rstrip().endswith(f"// @{mark}"))


def test_a_double_buffered_queue_sets_and_waits_in_the_documented_order(scenarios: Scenarios) -> None:
    def turn(handle: int, waits: list[tuple[int, ...]], freed: int) -> list[tuple[int, ...]]:
        forward, backward = (MTE2, V, 0), (V, MTE2, freed)
        return [*waits, (ACQUIRE, handle), (SET, *forward), (WAIT, *forward), (SET, *backward), (RELEASE, handle)]

    third = turn(0, [(WAIT, V, MTE2, 0)], 0)  # the first buffer again: its id 0 was given back by the wait, and is taken again
    ends = [(WAIT, V, MTE2, 0), (WAIT, V, MTE2, 1), (BARRIER, ALL), (END,)]
    assert shape(scenarios["double_buffer"]) == [(BEGIN,), (INIT,), (INIT,), *turn(0, [], 0), *turn(1, [], 1), *third, *ends]


def test_queue_flags_are_marked_as_the_framework_s(scenarios: Scenarios) -> None:
    flags = [record["flags"] for record in instructions(scenarios["double_buffer"]) if record["op"] in (SET, WAIT, BARRIER)]
    assert set(flags) == {QUEUE}


def test_buffers_are_given_out_from_zero_in_blocks_of_32_bytes(scenarios: Scenarios) -> None:
    buffers = [(record["dst"][:3], record["p"]) for record in scenarios["double_buffer"] if record.get("op") == INIT]
    assert buffers == [([UB, 0, 128], [0, 9, 1, 0]), ([UB, 128, 128], [1, 9, 1, 0])]
    scratch = [(record["dst"][:3], record["p"]) for record in scenarios["scratch"] if record.get("op") == INIT]
    assert scratch == [([UB, 0, 64], [0, 11, 0, 0]), ([UB, 64, 256], [1, 11, 0, 0])]


def test_two_buffers_in_flight_use_two_ids_per_direction(scenarios: Scenarios) -> None:
    flags = [item for item in shape(scenarios["two_in_flight"]) if item[0] in (SET, WAIT)]
    forward = [(SET, MTE2, V, 0), (SET, MTE2, V, 1), (WAIT, MTE2, V, 0), (WAIT, MTE2, V, 1)]
    backward = [(SET, V, MTE2, 0), (SET, V, MTE2, 1), (WAIT, V, MTE2, 0), (WAIT, V, MTE2, 1)]
    assert flags == forward + backward


def test_a_queue_of_depth_zero_starts_with_its_backward_flag_set(scenarios: Scenarios) -> None:
    free, full = (MTE3, V, 0), (V, MTE3, 0)
    used = [(SET, *free), (WAIT, *free), (ACQUIRE, 0), (SET, *full), (WAIT, *full), (SET, *free), (RELEASE, 0)]
    assert shape(scenarios["in_place"]) == [(BEGIN,), (INIT,), *used, (WAIT, *free), (BARRIER, ALL), (END,)]


def test_user_positions_replace_the_event_of_a_bound_queue(scenarios: Scenarios) -> None:
    flags = [item for item in shape(scenarios["bound_queue"]) if item[0] in (SET, WAIT)]
    user = [(SET, MTE2, V, 0), (WAIT, MTE2, V, 0)]
    own = [(SET, MTE2, MTE3, 0), (WAIT, MTE2, MTE3, 0), (SET, MTE3, MTE2, 0), (WAIT, MTE3, MTE2, 0)]
    assert flags == user + own


def test_reset_waits_for_free_buffers_and_starts_addresses_again(scenarios: Scenarios) -> None:
    items = shape(scenarios["reset_pipe"])
    assert items[items.index((RELEASE, 0)) + 1 :] == [(WAIT, V, MTE2, 0), (BEGIN,), (INIT,), (BARRIER, ALL), (END,)]
    last = [record for record in scenarios["reset_pipe"] if record.get("op") == INIT][-1]
    assert last["dst"][1] == 0
    assert last["p"][0] == 2  # a handle of its own


def test_a_destroyed_pipe_ends_once(scenarios: Scenarios) -> None:
    assert shape(scenarios["destroyed_once"]) == [(BEGIN,), (BARRIER, ALL), (END,)]


@pytest.mark.parametrize(("mark", "opcode"), [("alloc", ACQUIRE), ("enque", SET), ("deque", WAIT), ("free", RELEASE)])
def test_members_of_a_queue_record_the_line_of_the_call(scenarios: Scenarios, line_of: Callable[[str], int], mark: str, opcode: int) -> None:
    record = next(record for record in instructions(scenarios["double_buffer"]) if record["op"] == opcode and record["line"] == line_of(mark))
    assert record["file"].endswith("headers_records.cpp")


@pytest.mark.parametrize(
    ("scenario", "mark", "opcode"), [("pads", "padin", COPY_PAD), ("pads", "braces", COPY_PAD), ("scalars", "getvalue", 224), ("scalars", "element", STORE)]
)
def test_calls_record_the_line_of_the_call(scenarios: Scenarios, line_of: Callable[[str], int], scenario: str, mark: str, opcode: int) -> None:
    assert line_of(mark) in {record["line"] for record in scenarios[scenario] if record.get("op") == opcode}


def test_a_padded_copy_in_is_told_in_bytes(scenarios: Scenarios) -> None:
    record = instructions(scenarios["pads"])[0]
    assert (record["op"], record["pipe"], record["p"]) == (COPY_PAD, MTE2, [3, 20, 7, 64])
    assert record["src0"] == [GM, 0x200000001000 + 40, 0xFFFFFFFF, F32, 0, 0]
    assert record["dst"] == [UB, 64, 512, F32, 0, 0]
    assert record["mask"][0] == 1 | 2 << 8 | 1 << 16
    assert record["scalar"] == 0x3F800000


def test_a_padded_copy_out_is_told_in_bytes(scenarios: Scenarios) -> None:
    record = instructions(scenarios["pads"])[1]
    assert (record["op"], record["pipe"], record["p"]) == (COPY_PAD, MTE3, [3, 20, 64, 7])
    assert record["src0"][:3] == [UB, 96, 480]
    assert record["dst"][:2] == [GM, 0x200000001004]


def test_the_short_form_of_a_padded_copy_is_in_bytes_too(scenarios: Scenarios) -> None:
    assert instructions(scenarios["pads"])[2]["p"] == [1, 4, 0, 0]


def test_copies_go_by_the_pipe_of_their_direction(scenarios: Scenarios) -> None:
    into, out, inside = instructions(scenarios["copies"])
    assert (into["op"], into["pipe"], into["p"], into["flags"]) == (COPY, MTE2, [1, 128, 0, 0], 0)
    assert (out["op"], out["pipe"], out["p"], out["flags"]) == (COPY, MTE3, [2, 96, 128, 160], BYPASS)
    assert (inside["op"], inside["pipe"], inside["p"]) == (COPY, V, [1, 64, 0, 0])


def test_nd2nz_copies_count_bytes_on_both_sides(scenarios: Scenarios, line_of: Callable[[str], int]) -> None:
    kind, one, two, plain, out = instructions(scenarios["cube_copies"])
    assert (kind["op"], kind["p"][0]) == (TASK_TYPE, 1)
    assert (one["op"], one["pipe"], one["p"], one["line"]) == (COPY_ND2NZ, MTE2, [20, 46, 64, 1], line_of("nd2nz"))
    assert one["mask"] == [32 * 32 | 32 << 32, 0]
    assert (one["dst"][:4], one["src0"][:2]) == ([L1, 32, 2048, F16], [GM, 0x200000000004])
    assert (two["p"], two["flags"], two["mask"]) == ([20, 46, 64, 2], BYPASS, [32 * 32 | 32 << 32, 18 | 18 << 32])
    assert (plain["op"], plain["pipe"], plain["dst"][:2]) == (COPY, MTE2, [L1, 0])
    assert (out["op"], out["pipe"], out["p"], out["src0"][0]) == (COPY, MTE3, [2, 96, 128, 160], L1)


def test_a_pipe_on_a_cube_core_keeps_three_flags_for_itself(scenarios: Scenarios) -> None:
    kept = [(SET, M, MTE1, 0), (SET, M, MTE1, 1), (SET, M, MTE1, 2)]
    given_back = [(WAIT, *flag[1:]) for flag in kept]
    used = [(SET, MTE2, MTE1, 0), (WAIT, MTE2, MTE1, 0), (SET, MTE1, MTE2, 0)]
    flags = [item for item in shape(scenarios["cube_pipe"]) if item[0] in (SET, WAIT)]
    assert flags == [*kept, *used, (WAIT, MTE1, MTE2, 0), *given_back]


def test_the_kind_of_core_is_known_to_the_kernel(scenarios: Scenarios) -> None:
    barriers = [item for item in shape(scenarios["cube_pipe"]) if item[0] == BARRIER]
    assert barriers == [(BARRIER, MTE1), (BARRIER, ALL)]


def test_mask_forms_become_bits_and_a_count(scenarios: Scenarios) -> None:
    lanes, bits, kept, count, scalar, duplicate, *_ = instructions(scenarios["masks"])
    assert (lanes["op"], lanes["flags"], lanes["p"], lanes["mask"]) == (ADD, SET_FORM, [4, 100, 1, 0], [2**64 - 1, 2**36 - 1])
    assert [lanes[name][4:] for name in ("dst", "src0", "src1")] == [[1, 8], [2, 9], [3, 10]]
    assert (bits["flags"], bits["p"], bits["mask"]) == (SET_FORM, [4, 0, 0, 0], [5, 9])
    assert (kept["flags"], kept["p"], kept["mask"]) == (KEEP_FORM, [4, 0, 0, 0], [0, 0])
    assert (count["flags"], count["p"], count["src1"]) == (COUNT, [1000, 0, 0, 0], [UB, 4096, 2048, F16, 1, 8])
    assert (scalar["op"], scalar["scalar"], scalar["p"][:3]) == (MULS, 0x3800, [2, 64, 1])
    assert (duplicate["op"], duplicate["scalar"], duplicate["dst"][4:]) == (DUPLICATE, 0x4000, [2, 3])


def test_mask_registers_are_set_by_count_or_bits(scenarios: Scenarios) -> None:
    registers = [(record["op"], *(record["mask"] if record["op"] == SET_MASK else record["p"][:1])) for record in instructions(scenarios["masks"])[6:]]
    full = 2**64 - 1
    assert registers == [(SET_MASK, full, 2**36 - 1), (SET_MASK, 1000, 0), (SET_MASK, 5, 9), (MASK_MODE, 1), (MASK_MODE, 0), (SET_MASK, full, full)]


def test_comparisons_carry_mode_and_bits(scenarios: Scenarios) -> None:
    compared = instructions(scenarios["comparisons"])[:4]
    assert [(one["op"], one["flags"], one["p"][0], one["p"][3], one["scalar"]) for one in compared] == [
        (COMPARE, COUNT, 256, 4, 0),
        (COMPARE, SET_FORM, 4, 0, 0),
        (COMPARE, COUNT, 256, 5, 0x4000),
        (COMPARE, SET_FORM, 3, 1, 0x4000),
    ]
    assert [one["src1"][0] for one in compared] == [UB, UB, 0, 0]
    assert [one["src0"][4:] for one in compared] == [[1, 8], [2, 9], [1, 8], [2, 9]]


def test_the_compare_register_is_filled_and_read(scenarios: Scenarios) -> None:
    compared, got, put = instructions(scenarios["registers"])
    assert (compared["op"], compared["p"], compared["dst"][0], compared["src1"][1]) == (COMPARE, [1, 64, 1, 0], 0, 4096)
    assert (got["op"], got["dst"][:2], put["op"], put["src0"][:2]) == (143, [UB, 8192], 144, [UB, 8192])


def test_select_carries_its_bits_as_operand_or_as_address_and_limit(scenarios: Scenarios) -> None:
    tensor, scalar, one_repeat = instructions(scenarios["comparisons"])[4:]
    bits = 8192 | 64 << 32
    assert (tensor["op"], tensor["p"], tensor["src1"][1], tensor["scalar"]) == (SELECT, [300, 0, 0, 2], 4096, bits)
    assert (scalar["p"][3], scalar["src1"][:4], scalar["scalar"]) == (1, [UB, 8192, 64, U8], 0x4000)
    assert (one_repeat["p"], one_repeat["mask"], one_repeat["scalar"], one_repeat["src1"][4:]) == ([2, 0, 0, 0], [5, 9], bits, [3, 10])


def test_bit_operations_and_their_forms(scenarios: Scenarios) -> None:
    conjunction, disjunction, negation, left, right, kept, leaky, axpy, copy = instructions(scenarios["bit_operations"])
    assert [one["op"] for one in (conjunction, disjunction, negation, left, right, leaky, axpy, copy)] == [7, 8, 71, 37, 38, 36, 39, 73]
    assert (left["scalar"], left["p"], right["p"]) == (3, [64, 0, 0, 0], [2, 100, 1, 1])
    assert (kept["flags"], kept["p"]) == (KEEP_FORM, [1, 0, 0, 0])
    assert (axpy["dst"][3:], axpy["src0"][3:], axpy["scalar"]) == ([F32, 1, 8], [F16, 1, 4], 0x3800)
    assert (copy["p"], copy["dst"][4:], copy["src0"][4:]) == ([18, 8, 1, 0], [1, 300], [2, 4095])


def test_reductions_of_repeats_keep_the_stride_of_results_as_given(scenarios: Scenarios) -> None:
    groups = instructions(scenarios["reductions"])[:7]
    assert [one["op"] for one in groups] == [131, 132, 136, 140, 131, 133, 134]
    assert {(one["p"][0], one["dst"][5], *one["src0"][4:]) for one in groups} == {(4, 1, 2, 9)}
    assert [one["p"][3] for one in groups] == [2, 3, 0, 0, 2, 0, 0]
    assert [one["mask"] for one in groups[:4]] == [[2**64 - 1, 2**36 - 1], [5, 9]] * 2


def test_reductions_of_tensors_carry_their_work_buffer(scenarios: Scenarios) -> None:
    by_count, by_repeats, index, low, spread = instructions(scenarios["reductions"])[7:]
    assert [one["op"] for one in (by_count, by_repeats, index, low, spread)] == [128, 128, 129, 130, 137]
    assert {tuple(one["src1"][:3]) for one in (by_count, by_repeats, index, low)} == {(UB, 8192, 128)}
    assert (by_count["flags"], by_count["p"], index["p"]) == (COUNT, [1000, 0, 0, 0], [1000, 0, 0, 1])
    assert (by_repeats["flags"], by_repeats["p"], by_repeats["mask"]) == (SET_FORM, [300, 0, 0, 0], [2**64 - 1, 2**36 - 1])
    assert (low["mask"], low["src0"][5], spread["p"][0], spread["dst"][4:]) == ([5, 9], 9, 2, [1, 8])


def test_gather_and_index_carry_base_and_first_value(scenarios: Scenarios) -> None:
    by_count, strided, counted, placed = instructions(scenarios["indices"])[:4]
    assert (by_count["op"], by_count["flags"], by_count["p"][0], by_count["scalar"], by_count["src1"][1]) == (138, COUNT, 300, 32, 16384)
    assert (strided["p"][:3], strided["dst"][4:], strided["scalar"]) == ([4, 100, 1], [1, 300], 0)
    assert (counted["op"], counted["p"][0], counted["scalar"]) == (139, 300, 0xFFFE)
    assert (placed["p"][:3], placed["dst"][4:]) == ([4, 100, 1], [2, 9])


def test_gather_mask_carries_pattern_or_bits(scenarios: Scenarios) -> None:
    fixed, bits, blocks = instructions(scenarios["indices"])[-3:]
    assert (blocks["op"], blocks["p"][0], blocks["dst"][4:], blocks["src1"][1]) == (142, 3, [1, 9], 16384)
    assert (fixed["op"], fixed["p"], fixed["scalar"], fixed["src0"][4:], fixed["src1"][0]) == (141, [4, 0, 0, 0], 2, [1, 8], 0)
    assert (bits["p"], bits["scalar"], bits["src0"][4:], bits["src1"][:2], bits["src1"][5]) == ([2, 70, 0, 1], 0, [1, 4], [UB, 16384], 5)


def test_an_arithmetic_progression_doubles_what_the_scalar_unit_began(scenarios: Scenarios) -> None:
    steps = [record for record in instructions(scenarios["indices"])[4:] if record["op"] in (STORE, ADDS)]
    assert [step["scalar"] for step in steps[:16]] == list(range(3, 35, 2))
    assert [(step["dst"][1] - 8192, step["src0"][1] - 8192, step["scalar"], step["p"][0]) for step in steps[16:]] == [
        *((at * 32, at * 32 - 32, 32, 16) for at in range(1, 8)),
        (256, 0, 256, 22),
    ]


def test_atomic_kinds_carry_their_dtype(scenarios: Scenarios) -> None:
    kinds = [(record["op"], record["p"][0], record["dst"][3]) for record in instructions(scenarios["atomics"])]
    assert kinds == [(ATOMIC, 1, F16), (ATOMIC, 2, 4), (ATOMIC, 3, 2), (ATOMIC, 4, F32), (ATOMIC, 0, 0), (ATOMIC, 0, 0)]


def test_cache_cleaning_names_lines_and_destination(scenarios: Scenarios) -> None:
    cleaned = [(record["op"], record["p"][:2], record["src0"][:2]) for record in instructions(scenarios["caches"])]
    assert cleaned == [(226, [0, 2], [GM, 0x200000000020]), (226, [1, 2], [GM, 0x200000000000]), (226, [0, 1], [UB, 32])]


def test_an_allocator_gives_out_whole_blocks_one_after_another(scenarios: Scenarios) -> None:
    assert [record["dst"][:3] for record in instructions(scenarios["allocated"])] == [[UB, 0, 34], [UB, 64, 32]]


def test_a_cast_carries_its_mode_and_both_types(scenarios: Scenarios) -> None:
    widen, narrow = instructions(scenarios["casts"])
    assert (widen["op"], widen["p"], widen["dst"][3], widen["src0"][3]) == (CAST, [64, 0, 0, 0], F32, F16)
    assert (narrow["p"], narrow["dst"][4:], narrow["src0"][4:]) == ([1, 64, 1, 6], [1, 4], [1, 8])


def test_scalar_accesses_carry_the_bits(scenarios: Scenarios) -> None:
    load, *stores = [record for record in scenarios["scalars"] if record.get("op") in (LOAD, STORE)]
    assert (load["src0"][:3], load["p"][0]) == ([UB, 44, 52], 4)
    assert [(store["dst"][1], store["scalar"], store["p"][0]) for store in stores] == [
        (36, 0x40490FDB, 4),
        (40, 0x3F800000, 4),
        (0x20000000000A, 0xFFFE, 2),
    ]
    assert next(record for record in scenarios["scalars"] if record.get("op") == PAD_VALUE)["scalar"] == 0x3FC00000


def test_synchronisation_names_its_pipes(scenarios: Scenarios) -> None:
    flags = [(SET, MTE2, V, 1), (WAIT, MTE2, V, 1), (SET, V, MTE3, 2)]
    assert shape(scenarios["sync"]) == [*flags, (BARRIER, V), (BARRIER, ALL), (BARRIER, FIX), (SYNC_ALL,), (ATOMIC,), (MASK_MODE,), (SET_MASK,)]
    assert all(record["flags"] == 0 for record in instructions(scenarios["sync"]))


def test_event_ids_are_the_lowest_free_ones(scenarios: Scenarios) -> None:
    assert [item for item in shape(scenarios["event_ids"]) if item[0] == SET] == [(SET, V, MTE3, 1), (SET, V, MTE3, 0)]


@pytest.mark.parametrize(
    ("scenario", "api", "figures", "value"),
    [
        ("fault_overflow", "InitBuffer", [1, 196608, UB], 262144),
        ("fault_l1", "InitBuffer", [1, 524288, L1], 524352),
        ("fault_nd2nz", "DataCopy", [9, 2, 0], 0),
        ("fault_limit", "InitBuffer", [2, 65, 64], 0),
        ("fault_alloc", "AllocTensor", [3, 2, 2], 0),
        ("fault_deque", "DeQue", [5, 0, 2], 0),
        ("fault_tbuf", "TBuf::Get", [11, 0, 0], 0),
        ("fault_event_ids", "AllocEventID", [8, MTE2, V], 8),
        ("fault_repeat", "Add", [9, 4, 0], 256),
        ("fault_stride", "BinaryRepeatParams", [9, 3, 0], 256),
        ("fault_block_count", "DataCopy", [9, 2, 0], 4096),
        ("fault_round_mode", "Cast", [9, 2, 0], 0),
        ("fault_integer_compare", "Compare", [9, 3, 0], 0),
        ("fault_select_mode", "Select", [9, 4, 0], 2),
        ("fault_shift", "ShiftLeft", [9, 2, 0], 17),
        ("fault_reduce_repeat", "WholeReduceSum", [9, 3, 0], 256),
        ("fault_allocator", "Alloc", [1, 196608, UB], 196640),
        ("fault_event_id", "SetFlag", [9, 0, 0], 8),
        ("fault_count", "Exp", [9, 2, 0], 2**64 - 256),
        ("fault_pad", "DataCopyPad", [9, 3, 0], 36),
        ("fault_ragged", "DataCopyPad", [9, 2, 0], 3),
        ("fault_wide_pad", "DataCopyPad", [9, 3, 0], 5),
    ],
)
def test_a_misuse_is_a_fault_with_its_figures(scenarios: Scenarios, scenario: str, api: str, figures: list[int], value: int) -> None:
    faults = [record for record in scenarios[scenario] if record.get("op") == FAULT]
    assert [(fault["api"], fault["p"][:3], fault["scalar"]) for fault in faults] == [(api, figures, value)]


@pytest.mark.parametrize(
    ("scenario", "api", "why", "given", "has"),
    [
        ("fault_full", "EnQue", [4, 1], (32, "given_full"), ((0, 64), "given_full")),
        ("fault_double_free", "FreeTensor", [6, 0], (0, "given_twice"), ((0, 64), "given_twice")),
        ("fault_foreign", "EnQue", [7, 1], (0, "given"), ((64, 32), "has")),
        ("fault_scratch", "EnQue", [7, 0], (64, ""), ((0, 64), "given_scratch")),
        ("fault_freed", "EnQue", [7, 2], (0, "given_freed"), ((0, 64), "given_freed")),
        ("fault_enque_twice", "EnQue", [7, 3], (0, "given_enque_twice"), ((0, 64), "given_enque_twice")),
    ],
)
def test_a_misuse_of_a_queue_names_the_tensor_the_queue_and_where_both_got_their_memory(
    scenarios: Scenarios, line_of: Callable[[str], int], scenario: str, api: str, why: list[int], given: tuple[int, str], has: tuple[tuple[int, int], str]
) -> None:
    (fault,) = [record for record in scenarios[scenario] if record.get("op") == FAULT]
    assert (fault["api"], fault["p"][:2], fault["dst"][:2]) == (api, why, [UB, given[0]])
    assert fault["scalar"] == (line_of(given[1]) if given[1] else 0)
    assert (fault["src1"][:3], fault["p"][2:]) == ([UB, *has[0]], [has[0][1] // 32, line_of(has[1])])


@pytest.mark.parametrize(("scenario", "mark"), [("fault_overflow", "overflow"), ("fault_alloc", "stuck")])
def test_a_fault_has_the_line_of_the_call(scenarios: Scenarios, line_of: Callable[[str], int], scenario: str, mark: str) -> None:
    assert next(record for record in scenarios[scenario] if record.get("op") == FAULT)["line"] == line_of(mark)


def test_the_headers_hardly_count_in_the_budget(scenarios: Scenarios) -> None:
    records = scenarios["masks"]
    blocks = next(record["basic_blocks"] for record in records if "basic_blocks" in record)
    assert 0 < blocks <= 5 * len(instructions(records))
