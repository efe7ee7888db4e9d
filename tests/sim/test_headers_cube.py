"""Do the calls around the cube unit give the right records, and are types and forms that are not there refused with the way out?"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cube_steps import BIAS, K_ALIGN, ROWS, SPLIT, ZERO
from recorded import CPP, FLAGS, Record, Scenarios, scenarios_of

M, MTE1, FIX = 2, 3, 6
COPY, MMAD, LOAD, LOAD_TRANSPOSED, FIXPIPE = 192, 160, 195, 196, 197
SET, WAIT, ACQUIRE, FAULT = 256, 257, 321, 325
L1, L0A, L0B, L0C, BT = 3, 4, 5, 6, 7
F16, F32, I8, I32 = 1, 3, 4, 8
FRACTAL = 512


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Scenarios:
    return scenarios_of("headers_cube.cpp", tmp_path_factory.mktemp("cube"))


def line_of(mark: str) -> int:
    lines = (CPP / "headers_cube.cpp").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.rstrip().endswith(f"// @{mark}"))


def place(record: Record, name: str) -> list[int]:
    """Space, address and dtype of an operand."""
    space, address, _, dtype = record[name][:4]
    return [space, address, dtype]


def test_a_load_counts_fractals_from_start_to_start(scenarios: Scenarios) -> None:
    plain, transposed = scenarios["load"]
    assert (plain["op"], plain["pipe"], plain["line"]) == (LOAD, MTE1, line_of("load"))
    assert plain["p"] == [3, 4 * FRACTAL, 6 * FRACTAL, 0]
    assert (place(plain, "dst"), place(plain, "src0")) == ([L0A, 512, F16], [L1, 4096 + 2 * FRACTAL, F16])
    assert plain["src0"][2] == 8192 * 2 - 2 * FRACTAL  # startIndex takes away from what is left of the tensor
    assert (transposed["p"], place(transposed, "dst")[0]) == ([7, FRACTAL, FRACTAL, FRACTAL], L0B)


def test_a_transposing_load_counts_squares_of_one_or_two_fractals(scenarios: Scenarios) -> None:
    for record, square in zip(scenarios["load_transposed"], (1024, 512, 1024), strict=True):
        assert (record["op"], record["p"]) == (LOAD_TRANSPOSED, [3, 2 * square, 5 * FRACTAL, 7 * FRACTAL])
        assert record["src0"][1] == square
    assert scenarios["load_transposed"][0]["line"] == line_of("transposed")


def test_a_product_says_where_it_starts_from(scenarios: Scenarios) -> None:
    zero, adds, table, bias, older = scenarios["products"]
    assert (zero["op"], zero["pipe"], zero["p"], zero["line"]) == (MMAD, M, [30, 40, 70, ZERO | 3], line_of("zero"))
    assert [place(zero, name) for name in ("dst", "src0", "src1")] == [[L0C, 1024, F32], [L0A, 512, F16], [L0B, 1536, F16]]
    assert adds["p"][3] == K_ALIGN | 2
    assert (table["p"][3], table["mask"]) == (BIAS, [0, 0xFFFFFFFF])
    assert (bias["p"][3], bias["mask"]) == (BIAS, [64, 64])  # whatever cmatrixInitVal says
    assert (older["p"][3], place(older, "dst"), place(older, "src1")) == (0, [L0C, 0, I32], [L0B, 0, I8])


def test_results_leave_row_by_row_or_in_columns(scenarios: Scenarios) -> None:
    rows, columns = scenarios["results"]
    assert (rows["op"], rows["pipe"], rows["line"], rows["flags"]) == (FIXPIPE, FIX, line_of("rows"), 16)
    assert (rows["p"], rows["scalar"]) == ([24, 48, 32 * 64, 200], 7)
    assert rows["mask"] == [2 | 6 * 1024 << 32, 1800 | (3 | ROWS | 0x20 | 1 << 8) << 32]
    assert (place(rows, "src0"), rows["dst"][3]) == ([L0C, 1024, F32], F16)
    assert (columns["p"], columns["mask"]) == ([24, 48, 32 * 64, 3200], [1, SPLIT << 32])


def test_the_bias_table_counts_64_bytes(scenarios: Scenarios) -> None:
    blocks, elements, widened = scenarios["bias"]
    assert (blocks["op"], blocks["pipe"], blocks["p"]) == (COPY, MTE1, [2, 3 * 64, 32, 64])
    assert (place(blocks, "dst"), place(blocks, "src0")) == ([BT, 64, F32], [L1, 32, F32])
    assert elements["p"] == [1, 128, 0, 0]
    assert (widened["p"], widened["dst"][3], widened["src0"][3]) == ([1, 128, 0, 0], F32, F16)


def test_an_allocator_gives_out_each_memory_from_its_start(scenarios: Scenarios) -> None:
    load, product = [record for record in scenarios["allocators"] if record["op"] in (LOAD, MMAD)]
    assert (place(load, "dst"), place(product, "dst")) == ([L0A, 8192, F16], [L0C, 0, F32])


def test_queues_of_the_cube_set_the_flags_of_their_pipes(scenarios: Scenarios) -> None:
    flags = [(record["op"], *record["p"][:3]) for record in scenarios["queues"] if record["op"] in (SET, WAIT)]
    framework = [(SET, M, MTE1, number) for number in range(3)]
    assert flags[:3] == framework
    assert flags[3:9] == [(SET, MTE1, M, 0), (WAIT, MTE1, M, 0), (SET, M, FIX, 0), (WAIT, M, FIX, 0), (SET, M, MTE1, 3), (SET, FIX, M, 0)]
    assert (WAIT, M, MTE1, 3) in flags[9:]
    assert (WAIT, FIX, M, 0) in flags[9:]


@pytest.mark.parametrize(
    ("scenario", "mark", "value"),
    [("fault_transposed_bytes", "bytes", 1), ("fault_downwards", "downwards", 1), ("fault_repeats", "repeats", 256), ("fault_bias", None, L1)],
)
def test_an_argument_that_the_chip_or_we_do_not_take_is_a_fault(scenarios: Scenarios, scenario: str, mark: str | None, value: int) -> None:
    fault = scenarios[scenario][-1]
    assert (fault["op"], fault["p"][0], fault["scalar"]) == (FAULT, 9, value)
    assert mark is None or fault["line"] == line_of(mark)


def test_more_than_l0a_holds_is_an_overflow(scenarios: Scenarios) -> None:
    (fault,) = [record for record in scenarios["fault_l0"] if record["op"] == FAULT]
    assert (fault["p"][:3], fault["scalar"], fault["line"]) == ([1, 65536, L0A], 80000, line_of("l0"))


REFUSALS = {
    "LoadData(d, d, LoadData2DParams());": "LoadData does not support double on the Ascend 910B; supported: int4b_t, int8_t, uint8_t, int16_t",
    "LoadDataWithTranspose(s, s, LoadData2dTransposeParams());": "LoadDataWithTranspose does not support int16_t on the Ascend 910B; supported: int4b_t",
    "Mmad(h, h, h, MmadParams());": "Mmad on the virtual NPU multiplies half, bfloat16_t or float into float",
    "Mmad(f, h, f, MmadParams());": "both operands have one type",
    "Mmad(f, h, h, h, MmadParams());": "Mmad: the bias has the type of the result",
    "GlobalTensor<int16_t> o; Fixpipe(o, f, FixpipeParamsV220());": "Fixpipe on the Ascend 910B goes from float to float, half",
    "Fixpipe(f, f, FixpipeParamsV220());": "Fixpipe to L1 on the Ascend 910B goes from float to half",
    "DataCopy(f, f, DataCopyCO12DstParams());": "DataCopy from L0C to L1 goes from float to half",
    "LocalMemAllocator<Hardware::FIXBUF> a;": "LocalMemAllocator: the virtual NPU has Hardware::UB, L1, L0A, L0B, L0C and BIAS",
    "LocalMemAllocator<Hardware::L0A> a; a.Alloc<TPosition::B2, half>(16);": "LocalMemAllocator: the position has to be one in this memory",
}


def test_what_is_not_there_is_refused_at_compile_time_with_the_way_out(tmp_path: Path) -> None:
    types = {"h": "half", "f": "float", "d": "double", "s": "int16_t", "q": "int4b_t"}
    arguments = ", ".join(f"LocalTensor<{name}> {letter}" for letter, name in types.items()) + ", GlobalTensor<half> g"
    unused = " ".join(f"(void){letter};" for letter in [*types, "g"])
    functions = "\n".join(f"void f{index}({arguments}) {{ {unused} {statement} }}" for index, statement in enumerate(REFUSALS))
    source = tmp_path / "refused.cpp"
    source.write_text(f'#include "kernel_operator.h"\nusing namespace AscendC;\n{functions}\n')
    result = subprocess.run(["g++", *FLAGS, "-fmax-errors=0", "-fsyntax-only", str(source)], check=False, capture_output=True, text=True, timeout=120)
    assert result.returncode != 0
    assert [text for text in REFUSALS.values() if text not in result.stderr] == []
