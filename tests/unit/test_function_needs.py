"""Do the host functions ask for the memory that the kernel's functions use, and fill in the lengths that they read?"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

INCLUDE = Path(__file__).parents[2] / "src" / "piton" / "vnpu_cpp" / "include"
FLAGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", f"-I{INCLUDE}/host", f"-I{INCLUDE}/project"]

AGREES = """
#include "kernel_operator.h"
#include "piton_functions/matrices.h"

static_assert(piton::LgammaFunction::kSlots == 6 && piton::DigammaFunction::kSlots == 7, "GetLgamma*, GetDigamma*");
static_assert(piton::kBroadcastRows == piton_functions::kBroadcastRows && piton::kTurned == piton_functions::kTurned, "GetBroadCast*, GetCumSum*");
static_assert(piton::ByteSelection<half, bool>::kUnitBytes == 288 && piton::ByteSelection<float, int32_t>::kUnitBytes == 544, "GetSelect*");
static_assert(piton::AntiQuantWork<bfloat16_t>::Bytes(128) == 1280 && piton::AntiQuantWork<half>::Bytes(128) == 768, "GetAscendAntiQuant*");
static_assert(piton::XorParts::kUnit * piton::XorParts::kElementBytes == 1024, "GetReduceXorSum*");
"""

PROGRAM = """
#include <cstdio>

#include "tiling/tiling_api.h"

using namespace AscendC;

static void Say(const char *name, uint32_t most, uint32_t least) { std::printf("%s %u %u\\n", name, most, least); }
#define ASK(name, function, ...)               \\
    {                                          \\
        uint32_t most = 0, least = 0;          \\
        function(__VA_ARGS__, most, least);    \\
        Say(name, most, least);                \\
    }

int main() {
    const TensorShape row({1000}), matrix({20, 100}), mask({20, 128}), scale({20, 1});
    const platform_ascendc::PlatformAscendC platform;
    ASK("lgamma f16", GetLgammaMaxMinTmpSize, row, 2, false)
    ASK("mean AR f32", GetReduceMeanMaxMinTmpSize, matrix, ge::DT_FLOAT, ReducePattern::AR, true, false)
    ASK("all AR u8", GetReduceAllMaxMinTmpSize, matrix, ge::DT_UINT8, ReducePattern::AR, true, false)
    ASK("prod AR f32", GetReduceProdMaxMinTmpSize, matrix, ge::DT_FLOAT, ReducePattern::AR, true, false)
    ASK("prod RA f32", GetReduceProdMaxMinTmpSize, matrix, ge::DT_FLOAT, ReducePattern::RA, true, false)
    ASK("xor sum", GetReduceXorSumMaxMinTmpSize, row, 2, false)
    ASK("cumsum along f16", GetCumSumMaxMinTmpSize, matrix, 2, true, false)
    ASK("cumsum down f16", GetCumSumMaxMinTmpSize, matrix, 2, false, false)
    ASK("cumsum down f32", GetCumSumMaxMinTmpSize, matrix, 4, false, false)
    ASK("select", GetSelectWithBytesMaskMaxMinTmpSize, matrix, TensorShape({1}), 2, mask, 1, false)
    ASK("dropout", GetDropOutMaxMinTmpSize, matrix, 2, false)
    ASK("antiquant bf16", GetAscendAntiQuantMaxMinTmpSize, matrix, scale, true, ge::DT_INT8, ge::DT_BF16)
    ASK("pad", GetPadMaxMinTmpSize, matrix, 2)
    ASK("unpad", GetUnPadMaxMinTmpSize, platform, mask, 2)
    ASK("broadcast f32", GetBroadCastMaxMinTmpSize, platform, scale, matrix, 4, false)
    Say("sort", GetSortTmpSize(platform, 1000, 2), GetConcatTmpSize(platform, 1000, 2));
    optiling::PadTiling pad;
    PadTilingFunc(mask, matrix, 1024, 2, pad);
    Say("pad tiling", pad.get_srcWidth(), pad.get_srcOriWidth());
    optiling::UnPadTiling unpad;
    UnPadTilingFunc(mask, 1024, 2, unpad);
    Say("unpad tiling", unpad.get_srcHeight(), unpad.get_srcWidth());
}
"""

EXPECTED = {
    "lgamma f16": (7 * 4 * 1024, 7 * 256),
    "mean AR f32": (24 * 256, 8 * 256),
    "all AR u8": ((64 + 64 + 128) * 4 + 128 * 2, (64 + 64 + 128) * 4 + 128 * 2),
    "prod AR f32": (2 * 64 * 64, 2 * 64 * 64),
    "prod RA f32": (256, 256),
    "xor sum": (64 + 1024 * 8, 64 + 128 * 8),
    "cumsum along f16": (2 * 112 * 64, 2 * 112 * 64),
    "cumsum down f16": (20 * 100 * 4, 20 * 64),
    "cumsum down f32": (256, 256),
    "select": (32 + 288, 32 + 288),
    "dropout": (32 + 16 * 288, 32 + 288),
    "antiquant bf16": (128 * 10, 128 * 10),
    "pad": (112 * 4, 112 * 4),
    "unpad": (256, 256),
    "broadcast f32": (16 * (32 + 416), 16 * (32 + 416)),
    "sort": (1024 * 8, 256),
    "pad tiling": (128, 100),
    "unpad tiling": (20, 128),
}


def test_the_units_of_the_host_functions_are_those_of_the_kernels_headers(tmp_path: Path) -> None:
    source = tmp_path / "agrees.cpp"
    source.write_text(AGREES)
    subprocess.run(["g++", *FLAGS, "-fsyntax-only", str(source)], check=True, timeout=120)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, int]]:
    folder = tmp_path_factory.mktemp("needs")
    (folder / "needs.cpp").write_text(PROGRAM)
    subprocess.run(["g++", *FLAGS, "-DPITON_PROJECT_HOST", str(folder / "needs.cpp"), "-o", str(folder / "needs")], check=True, timeout=120)
    lines = subprocess.run([str(folder / "needs")], check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
    return {name: (int(most), int(least)) for name, most, least in (line.rsplit(" ", 2) for line in lines)}


def test_every_question_is_answered_by_what_the_kernel_uses(answers: dict[str, tuple[int, int]]) -> None:
    assert answers == EXPECTED
