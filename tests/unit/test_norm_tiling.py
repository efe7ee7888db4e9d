"""Host functions of the softmax and normalisation families: sizes that kernels get along with, and structures in both forms."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

INCLUDE = Path(__file__).parents[2] / "src" / "piton" / "vnpu_cpp" / "include"
PROGRAM = r"""
#include <cstdio>
#include "tiling/tiling_api.h"
extern "C" uint64_t piton_host_platform(uint32_t) { return 0; }
using namespace AscendC;
static const char *separator = "";
static void Size(const char *name, uint32_t most, uint32_t least) {
    std::printf("%s\"%s\": [%u, %u]", separator, name, most, least);
    separator = ", ";
}
#define SIZES(name, ...) { uint32_t most = 0, least = 0; name##MaxMinTmpSize(__VA_ARGS__, most, least); Size(#name, most, least); }
#define TWO(name, ...) Size(#name, name##MaxTmpSize(__VA_ARGS__), name##MinTmpSize(__VA_ARGS__));
/* The plain structure and the bytes of the other form. */
template <typename Plain, typename Set, typename Fill>
static void Same(const char *name, const Fill &fill) {
    Plain plain;
    Set set;
    fill(plain);
    fill(set);
    unsigned char bytes[sizeof(Plain)] = {};
    set.SaveToBuffer(bytes, sizeof bytes);
    std::printf(", \"%s\": %d", name, int(set.GetDataSize() == sizeof(Plain) && std::memcmp(bytes, &plain, sizeof bytes) == 0));
}
#define SAME(name, call) Same<AscendC::tiling::name, optiling::name>(#name, [&](auto &t) { call; });
int main() {
    const TensorShape four({3, 5, 64, 60}), three({3, 5, 64}), two({15, 100}), image({2, 8, 4, 4});
    std::printf("{");
    SIZES(GetLayerNorm, four, 4, false)
    SIZES(GetLayerNorm, two, 4, false, true, false)
    SIZES(GetNormalize, two, 4, 2, false, true, false)
    SIZES(GetLayerNormGrad, four, 4, false)
    SIZES(GetLayerNormGradBeta, four, 4, false)
    SIZES(GetDeepNorm, three, 4, false, false)
    SIZES(GetRmsNorm, three, 4)
    SIZES(GetGroupNorm, image, 4, false, 2)
    SIZES(GetBatchNorm, three, three, 4, false)
    SIZES(GetWelfordUpdate, two, 4, 4, false, false)
    SIZES(GetWelfordFinalize, TensorShape({100}), 4, false)
    TWO(GetSoftMax, two, 4, false)
    TWO(GetSoftMaxFlash, two, 4, false, false)
    TWO(GetSoftMaxFlashV2, two, 4, 4, true)
    TWO(GetSoftMaxGrad, two, 4, false, false)
    TWO(GetLogSoftMax, two, 4, false)
    SIZES(GetTanh, TensorShape({1000}), 2, false)
    SIZES(GetFloor, TensorShape({1000}), 4, false)
    SIZES(GetPower, TensorShape({1000}), TensorShape({1}), false, 4, false)
    SIZES(GetGelu, TensorShape({1000}), 4)
    SIZES(GetSum, 1000, 4, false)
    SIZES(GetReduceMax, two, ge::DT_FLOAT16, ReducePattern::AR, true, false)
    uint32_t live = 0, extra = 0;
    GetErfTmpBufferFactorSize(2, live, extra);
    std::printf(", \"factors\": [%u, %u]", live, extra);
    SAME(LayerNormTiling, GetLayerNormNDTilingInfo(four, 8192, 4, false, t))
    SAME(LayerNormSeparateTiling, GetLayerNormNDTilingInfo(two, 8192, 4, false, true, t))
    SAME(LayerNormGradTiling, GetLayerNormGradNDTilingInfo(four, 8192, 4, false, t))
    SAME(LayerNormGradBetaTiling, GetLayerNormGradBetaNDTilingInfo(four, 8192, 4, false, t))
    SAME(DeepNormTiling, GetDeepNormTilingInfo(three, three, 8192, 4, false, false, t))
    SAME(RmsNormTiling, GetRmsNormTilingInfo(three, three, 8192, 4, t))
    SAME(GroupNormTiling, GetGroupNormNDTilingInfo(image, 8192, 4, false, 2, t))
    SAME(BatchNormTiling, GetBatchNormNDTilingInfo(three, three, 8192, 4, false, t))
    SAME(SoftMaxTiling, SoftMaxTilingFunc(two, 4, 8192, t))
    SAME(LogSoftMaxTiling, LogSoftMaxTilingFunc(two, 4, 8192, t))
    tiling::LayerNormTiling rows;
    GetLayerNormNDTilingInfo(four, 8192, 4, false, rows);
    tiling::GroupNormTiling groups;
    GetGroupNormNDTilingInfo(image, 8192, 4, false, 2, groups);
    tiling::BatchNormTiling batch;
    GetBatchNormNDTilingInfo(three, TensorShape({2, 5, 64}), 8192, 4, false, batch);
    tiling::SoftMaxTiling basic, other;
    SoftMaxTilingFunc(TensorShape({2, 8, 128}), 4, 8192, basic);
    SoftMaxTilingFunc(two, 4, 8192, other);
    tiling::DeepNormTiling deep;
    std::printf(", \"rows\": [%u, %u, %u, %u]", rows.bLength, rows.sLength, rows.hLength, rows.originalHLength);
    std::printf(", \"groups\": [%u, %u, %u, %u, %u]", groups.n, groups.c, groups.hw, groups.g, groups.d);
    std::printf(", \"batch\": [%u, %u], \"softmax\": [%u, %u]", batch.originalBLength, batch.meanVarSize, basic.srcM, basic.srcK);
    std::printf(", \"basic\": [%d, %d]", IsBasicBlockInSoftMax(basic, 4), IsBasicBlockInSoftMax(other, 4));
    const bool few = GetDeepNormTilingInfo(three, three, 64, 4, false, false, deep), many = GetDeepNormTilingInfo(three, three, 8192, 4, false, false, deep);
    std::printf(", \"too small\": [%d, %d]", few, many);
    std::printf("}\n");
}
"""


LISTED = r"""
#include "kernel_operator.h"
#include "ascendc/norms/elementwise.h"
#define AS_LISTED(Name, Kind, slots, sources) \
    static_assert(piton::Kind##Function::kSlots == slots && piton::Kind##Function::kSources == sources, #Name);
PITON_ELEMENTWISE(AS_LISTED)
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("norms")
    (folder / "ask.cpp").write_text(PROGRAM)
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}/host", f"-I{INCLUDE}/project", f"-I{INCLUDE}"]
    subprocess.run(["g++", *flags, str(folder / "ask.cpp"), "-o", str(folder / "ask")], check=True, timeout=300)
    found: dict[str, Any] = json.loads(subprocess.run([str(folder / "ask")], check=True, capture_output=True, text=True, timeout=60).stdout)
    return found


def test_the_least_memory_is_some_and_not_more_than_the_most(answers: dict[str, Any]) -> None:
    sizes = {name: size for name, size in answers.items() if name.startswith("Get")}
    assert len(sizes) == 21
    assert [name for name, (most, least) in sizes.items() if not 0 < least <= most < 196608] == []


def test_elementwise_functions_ask_for_what_their_headers_keep(answers: dict[str, Any], tmp_path: Path) -> None:
    source = tmp_path / "listed.cpp"
    source.write_text(LISTED)
    subprocess.run(["g++", "-std=c++17", "-fsyntax-only", f"-I{INCLUDE}", str(source)], check=True, timeout=300)
    assert answers["GetTanh"] == [2 * 1024 * 4, 2 * 256]
    assert answers["factors"] == [10, 5 * 256]


def test_both_forms_of_a_tiling_structure_have_the_same_bytes(answers: dict[str, Any]) -> None:
    same = {name: value for name, value in answers.items() if name.endswith("Tiling")}
    assert same == dict.fromkeys(same, 1)
    assert len(same) == 10


def test_a_structure_tells_the_shape_that_it_was_made_for(answers: dict[str, Any]) -> None:
    assert answers["rows"] == [3, 5, 64, 60]
    assert answers["groups"] == [2, 8, 16, 2, 4]
    assert answers["batch"] == [2, 320]
    assert answers["softmax"] == [16, 128]


def test_a_basic_block_has_whole_columns_and_eights_of_rows(answers: dict[str, Any]) -> None:
    assert answers["basic"] == [1, 0]


def test_memory_below_the_least_gives_no_tiling(answers: dict[str, Any]) -> None:
    assert answers["too small"] == [0, 1]
