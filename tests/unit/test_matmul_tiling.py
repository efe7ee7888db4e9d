"""The tiling classes for host code: what they answer fits the chip, is always the same, and keeps what was asked for."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

INCLUDE = Path(__file__).parents[2] / "src" / "piton" / "vnpu_cpp" / "include"
PROGRAM = r"""
#include <cstdlib>
#include <cstring>
#include "lib/matmul/bmm_tiling.h"
#include "lib/matmul/matmul_tiling.h"
#include "tiling/tiling_api.h"
extern "C" uint64_t piton_host_platform(uint32_t) { return 0; }
using namespace matmul_tiling;
int main(int count, char **words) {
    MultiCoreMatmulTiling tiling;
    int number[32] = {};
    for (int i = 1; i < count; ++i) number[i] = std::atoi(words[i]);
    const auto type = static_cast<DataType>(number[5]);
    tiling.SetAType(TPosition::GM, CubeFormat::ND, type, number[6]);
    tiling.SetBType(TPosition::GM, CubeFormat::ND, type, number[7]);
    tiling.SetCType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
    tiling.SetDim(number[4]);
    tiling.SetOrgShape(number[1], number[2], number[3]);
    tiling.SetShape(-1, -1, -1);
    tiling.EnableBias(number[8]);
    if (number[9]) tiling.SetFixSplit(number[9], number[10]);
    if (number[11]) tiling.SetSingleShape(number[11], number[12], number[13]);
    if (number[14]) tiling.SetTraverse(static_cast<MatrixTraverse>(number[14]));
    if (number[15]) tiling.SetBufferSpace(number[15]);
    tiling.EnableMultiCoreSplitK(number[16]);
    optiling::TCubeTiling found;
    const int64_t result = tiling.GetTiling(found);
    unsigned char bytes[200];
    found.SaveToBuffer(bytes, sizeof bytes);
    AscendC::tiling::TCubeTiling plain;
    std::memcpy(&plain, bytes, sizeof plain);
    std::printf("{\"result\": %d", static_cast<int>(result));
#define PITON_FIELD(name) std::printf(", \"" #name "\": %d", plain.name);
    PITON_CUBE_TILING_FIELDS(PITON_FIELD)
    std::printf("}\n");
}
"""
F32, F16, I8 = 0, 1, 2
BYTES = {F32: 4, F16: 2, I8: 1}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiling")
    (folder / "ask.cpp").write_text(PROGRAM)
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}/host", f"-I{INCLUDE}/project", f"-I{INCLUDE}"]
    subprocess.run(["g++", *flags, str(folder / "ask.cpp"), "-o", str(folder / "ask")], check=True, timeout=120)
    return folder / "ask"


def ask(program: Path, shape: tuple[int, int, int], cores: int, dtype: int = F16, **wishes: Any) -> tuple[dict[str, int], str]:
    single, fixed = wishes.get("single", (0, 0, 0)), wishes.get("fixed", (0, 0))
    numbers = [*shape, cores, dtype, 0, 0, wishes.get("bias", 0), *fixed, *single, wishes.get("order", 0), wishes.get("l1", 0), wishes.get("splits_k", 0)]
    done = subprocess.run([str(program), *map(str, numbers)], check=True, capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout), done.stderr


def check_fits(found: dict[str, int], dtype: int, cores: int, l1: int = 524288) -> None:
    size = BYTES[dtype]
    assert found["result"] == 0
    assert found["usedCoreNum"] <= cores
    assert found["baseM"] % 16 == 0
    assert found["baseN"] % (32 if dtype == I8 else 16) == 0
    assert found["baseK"] * size % 32 == 0
    assert found["baseM"] * found["baseK"] * size * found["dbL0A"] <= 65536
    assert found["baseN"] * found["baseK"] * size * found["dbL0B"] <= 65536
    assert found["baseM"] * found["baseN"] * 4 * found["dbL0C"] <= 131072
    assert found["depthA1"] in (found["stepKa"], 2 * found["stepKa"])
    assert found["depthB1"] in (found["stepKb"], 2 * found["stepKb"])
    held = (found["baseM"] * found["depthA1"] + found["baseN"] * found["depthB1"]) * found["baseK"] * size + found["isBias"] * found["baseN"] * 4
    assert held <= l1
    steps = [-(-found["singleCoreK"] // (found["baseK"] * found[name])) for name in ("stepKa", "stepKb")]
    assert max(steps) % min(steps) == 0


SHAPES = [(8192, 8192, 8192), (128, 2048, 1024), (1, 4096, 4096), (17, 33, 65), (4096, 16, 70), (1000, 1000, 1000)]


@pytest.mark.parametrize("dtype", [F16, F32, I8])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_tiling_fits_every_memory_of_the_chip_and_covers_the_product(program: Path, shape: tuple[int, int, int], dtype: int) -> None:
    found, _ = ask(program, shape, 24, dtype, bias=1)
    check_fits(found, dtype, 24)
    m, n, k = shape
    parts = -(-m // found["singleCoreM"]) * -(-n // found["singleCoreN"])
    assert (found["usedCoreNum"], found["singleCoreK"], found["isBias"]) == (parts, k, 1)
    assert (found["M"], found["N"], found["Ka"], found["Kb"]) == (m, n, k, k)


def test_a_large_product_gets_the_base_block_that_the_vendor_recommends(program: Path) -> None:
    found, _ = ask(program, (8192, 8192, 8192), 24)
    assert (found["baseM"], found["baseN"], found["baseK"], found["usedCoreNum"]) == (128, 256, 64, 24)


@pytest.mark.parametrize(("shape", "cores"), [((512, 512, 128), 2), ((1024, 1024, 1024), 8)])
def test_where_rows_and_columns_could_be_shared_out_at_one_price_it_is_rows(program: Path, shape: tuple[int, int, int], cores: int) -> None:
    """The published sample matmul_advanced_api finds a core's rows by its index alone and gives every core all of B."""
    found, _ = ask(program, shape, cores)
    assert (found["usedCoreNum"], found["singleCoreM"], found["singleCoreN"]) == (cores, shape[0] // cores, shape[1])


def test_what_was_asked_for_is_kept(program: Path) -> None:
    found, _ = ask(program, (8192, 8192, 8192), 24, single=(2048, 1536, 8192))
    assert (found["singleCoreM"], found["singleCoreN"], found["usedCoreNum"]) == (2048, 1536, 24)
    found, _ = ask(program, (1024, 1024, 1024), 24, fixed=(128, 64))
    assert (found["baseM"], found["baseN"]) == (128, 64)
    assert ask(program, (1024, 1024, 1024), 1, order=1)[0]["iterateOrder"] == 0
    assert ask(program, (1024, 1024, 1024), 1, order=2)[0]["iterateOrder"] == 1
    small, _ = ask(program, (1024, 1024, 1024), 1, l1=65536)
    check_fits(small, F16, 1, 65536)


def test_k_is_shared_out_only_where_that_was_allowed(program: Path) -> None:
    assert ask(program, (16, 16, 65536), 24)[0]["singleCoreK"] == 65536
    assert ask(program, (16, 16, 65536), 24, splits_k=1)[0]["singleCoreK"] < 65536


def test_the_same_question_has_the_same_answer(program: Path) -> None:
    assert ask(program, (1000, 3000, 500), 20) == ask(program, (1000, 3000, 500), 20)


@pytest.mark.parametrize(
    ("wishes", "text"),
    [
        ({"shape": (0, 16, 16)}, "call SetShape or SetOrgShape"),
        ({"shape": (1024, 1024, 1024), "fixed": (24, 16)}, "SetFixSplit: baseM is 24, not a multiple of 16"),
        ({"shape": (1024, 1024, 1024), "fixed": (512, 512)}, "nothing fits: L0A 65536"),
        ({"shape": (8192, 8192, 8192), "single": (16, 16, 8192)}, "24 cores"),
    ],
)
def test_without_a_tiling_the_answer_is_minus_one_and_says_why(program: Path, wishes: dict[str, Any], text: str) -> None:
    shape = wishes.pop("shape")
    found, said = ask(program, shape, 24, **wishes)
    assert found["result"] == -1
    assert text in said
