"""Are half and bfloat16_t of device code right for every bit pattern, and are unsupported types refused with a helpful text?"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from piton.targets.vnpu.diagnostics import parse_compiler

CPP = Path(__file__).parent / "cpp"
INCLUDE = Path(__file__).parents[2] / "src" / "piton" / "vnpu_cpp" / "include"
FLAGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]


@pytest.fixture(scope="module")
def conversions(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """One row per 16-bit pattern: its half as float bits, then (half, bfloat16) of floats below, at and above a tie."""
    program = tmp_path_factory.mktemp("half") / "half"
    subprocess.run(["g++", *FLAGS, "-DPITON_DEVICE_PASS", str(CPP / "headers_half.cpp"), "-o", str(program)], check=True, timeout=120)
    output = subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60).stdout
    return np.array([[int(word) for word in line.split()] for line in output.splitlines()], dtype=np.uint32)


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    """Equal bits, or both NaN."""
    bits = found.view(expected.dtype)
    with np.errstate(invalid="ignore"):
        return bool(np.all((bits == expected) | (np.isnan(bits.astype(np.float64)) & np.isnan(expected.astype(np.float64)))))


def test_portable_half_widens_every_pattern_exactly(conversions: np.ndarray) -> None:
    expected = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
    assert same(conversions[:, 0].copy(), expected)


@pytest.mark.parametrize(("column", "step"), [(1, -1), (3, 0), (5, 1)])
def test_portable_half_rounds_to_nearest_even_around_every_tie(conversions: np.ndarray, column: int, step: int) -> None:
    near = (conversions[:, 0] + np.uint32(0x1000 + step)).view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        assert same(conversions[:, column].astype(np.uint16), near.astype(np.float16))


@pytest.mark.parametrize(("column", "step"), [(2, -1), (4, 0), (6, 1)])
def test_bfloat16_rounds_to_nearest_even_around_every_tie(conversions: np.ndarray, column: int, step: int) -> None:
    near = ((np.arange(65536, dtype=np.uint32) << 16) + np.uint32(0x8000 + step)).view(np.float32)
    with np.errstate(invalid="ignore"):
        expected = near.astype(ml_dtypes.bfloat16)
    assert same(conversions[:, column].astype(np.uint16), expected)


REFUSALS = {
    "Exp(b, b, 8);": "Exp does not support bfloat16_t on the Ascend 910B; supported: half, float. Cast to float first.",
    "Add(l, l, l, 8);": "Add does not support int64_t on the Ascend 910B; supported: half, float, int16_t, int32_t. Cast to int32_t or float first.",
    "Div(i, i, i, 8);": "Div does not support int32_t on the Ascend 910B; supported: half, float. Cast to float first.",
    "Muls(u, u, uint8_t(2), 8);": "Muls does not support uint8_t on the Ascend 910B; supported: half, float, int16_t, int32_t. Cast to half first.",
    "Duplicate(u, uint8_t(2), 8);": "Duplicate does not support uint8_t on the Ascend 910B",
    "Cast(b, h, RoundMode::CAST_RINT, 8);": "Cast from half to this type does not exist on the Ascend 910B; supported from half: float, int32_t",
    "Cast(f, u, RoundMode::CAST_NONE, 8);": "Cast from uint8_t to this type does not exist on the Ascend 910B; supported from uint8_t: half.",
    "Compare(u, b, b, CMPMODE::EQ, 128);": "Compare does not support bfloat16_t on the Ascend 910B; supported: half, float, int32_t (CMPMODE::EQ only).",
    "Compare(h, f, f, CMPMODE::EQ, 64);": "Compare: the destination holds packed bits",
    "Select(i, u, i, i, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);": "Select does not support int32_t on the Ascend 910B; supported: half, float.",
    "Select(f, f, f, f, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);": "Select: selMask is a tensor of uint8_t",
    "And(i, i, i, uint64_t(64), 1, {1, 1, 1, 8, 8, 8});": "And does not support int32_t on the Ascend 910B; supported: int16_t, uint16_t.",
    "Or(l, l, l, 64);": "Or does not support int64_t on the Ascend 910B; supported: int16_t, uint16_t; by count also int32_t, uint32_t.",
    "AddRelu(i, i, i, 64);": "AddRelu does not support int32_t on the Ascend 910B; supported: half, float, int16_t.",
    "FusedMulAdd(b, b, b, 64);": "FusedMulAdd does not support bfloat16_t on the Ascend 910B; supported: half, float.",
    "MulAddDst(h, f, f, 64);": "MulAddDst exists on the Ascend 910B for these pairs only: half += half",
    "AddReluCast(u, h, h, 64);": "AddReluCast exists on the Ascend 910B for these pairs only: half to int8_t",
    "MulCast(h, f, f, 64);": "MulCast exists on the Ascend 910B for these pairs only: half to int8_t, half to uint8_t",
    "i = i / i;": "Div does not support int32_t on the Ascend 910B; supported: half, float.",
    "u = l < l;": "Compare does not support int64_t on the Ascend 910B",
    "Sort32(i, i, LocalTensor<uint32_t>(), 1);": "Sort32 does not support int32_t on the Ascend 910B; supported: half, float.",
    "MrgSortSrcList<int32_t> s; MrgSort(i, s, MrgSort4Info());": "MrgSort does not support int32_t on the Ascend 910B; supported: half, float.",
    "Transpose(f, f);": "Transpose does not support float on the Ascend 910B; supported: int16_t, uint16_t, half.",
    "uint64_t a[16]; TransDataTo5HD<bfloat16_t>(a, a, TransDataTo5HDParams());": "TransDataTo5HD does not support bfloat16_t on the Ascend 910B",
    "Select<float, SELMODE::VSEL_TENSOR_SCALAR_MODE>(f, f, f, 1, {1, 1, 1, 8, 8, 8});": "Select with a scalar takes selMask",
    "(void)AscendC::Cast<float, int32_t, RoundMode::CAST_ODD>(1.0f);": "a scalar Cast goes from float to half (CAST_ODD)",
    "SetCtrlSpr<48, 64>(1);": "CTRL has the bits 0 to 63",
    "ShiftLeft(h, h, half(1), 64);": "ShiftLeft does not support half on the Ascend 910B",
    "Axpy(h, f, 1.0f, 64);": "Axpy adds half to half, float to float, or half to float",
    "Copy(u, u, 8, 1, {1, 1, 8, 8});": "Copy does not support uint8_t on the Ascend 910B",
    "ReduceSum(i, i, i, 64);": "ReduceSum does not support int32_t on the Ascend 910B; supported: half, float.",
    "WholeReduceMax(b, b, 64, 1, 1, 1, 8);": "WholeReduceMax does not support bfloat16_t on the Ascend 910B",
    "Brcb(u, u, 1, {1, 8});": "Brcb does not support uint8_t on the Ascend 910B",
    "Gather(l, l, LocalTensor<uint32_t>(), 0u, 8);": "Gather does not support int64_t on the Ascend 910B",
    "uint64_t n; GatherMask(h, h, u, false, 0, {1, 1, 8, 0}, n);": "GatherMask: the pattern is a tensor of uint16_t",
    "Gatherb(h, h, LocalTensor<uint32_t>(), 1, {1, 8});": "Gatherb does not support half on the Ascend 910B; supported: uint16_t, uint32_t.",
    "CreateVecIndex(u, uint8_t(0), 8);": "CreateVecIndex does not support uint8_t on the Ascend 910B; supported: half, float, int16_t, int32_t.",
    "SetAtomicAdd<uint16_t>();": "SetAtomicAdd does not support uint16_t on the Ascend 910B",
    "DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_ATOMIC>(f);": "DcciDst::CACHELINE_ATOMIC is not supported",
    "PipeBarrier<PIPE_S>();": "PipeBarrier<PIPE_S> is not allowed",
    "TPipe p; TQue<TPosition::GM, 1> q; p.InitBuffer(q, 1, 32);": "scratch memory is a TBuf",
    "CrossCoreSetFlag<4, PIPE_V>(0);": "CrossCoreSetFlag has the modes 0 (all cores of a kind), 1",
    "static constexpr LayerNormConfig c{false, false, true, true}; LayerNorm<float, float, false, c>(f, f, f, f, f, f, 0.1f, LayerNormPara(), Separate());": (
        "LayerNorm with isOnlyOutput = true does not exist"
    ),
    "static constexpr LayerNormConfig c{false, false, false, false}; LayerNorm<float, float, false, c>(f, f, f, f, f, f, 0.1f, LayerNormPara(), Separate());": (
        "LayerNorm that gives the variance (isOutputRstd = false) is of later chips"
    ),
    "static constexpr WelfordFinalizeConfig c{true}; WelfordFinalize<false, c>(f, f, f, f, WelfordFinalizePara());": (
        "WelfordFinalize with isCorrection is of later chips"
    ),
}


def test_what_the_chip_lacks_is_refused_at_compile_time_with_the_way_out(tmp_path: Path) -> None:
    functions = "\n".join(
        f"void f{index}(LocalTensor<bfloat16_t> b, LocalTensor<half> h, LocalTensor<float> f, LocalTensor<int64_t> l, LocalTensor<int32_t> i,"
        f" LocalTensor<uint8_t> u) {{ (void)b, (void)h, (void)f, (void)l, (void)i, (void)u; {statement} }}"
        for index, statement in enumerate(REFUSALS)
    )
    source = tmp_path / "refused.cpp"
    source.write_text(f'#include "kernel_operator.h"\nusing namespace AscendC;\nusing Separate = tiling::LayerNormSeparateTiling;\n{functions}\n')
    result = subprocess.run(["g++", *FLAGS, "-fmax-errors=0", "-fsyntax-only", str(source)], check=False, capture_output=True, text=True, timeout=120)
    assert result.returncode != 0
    missing = [text for text in REFUSALS.values() if text not in result.stderr]
    assert missing == []


CUTS = """#include "kernel_operator.h"
using namespace AscendC;
void known(LocalTensor<float> x) { Exp(x, x, uint64_t(64), 256, {1, 1, 8, 8}); }
void both(LocalTensor<float> x) { Add(x, x, x, 64, 256, {1, 1, 1, 8, 8, 8}); }
template <uint32_t repeats> void instance(LocalTensor<float> x) {
    Muls(x, x, 2.0f, uint64_t(64), repeats, {1, 1, 8, 8}); }
void stride(LocalTensor<float> x) { Add(x, x, x, 64, 1, {1, 1, 1, 8, 8, 300}); }
void wide(LocalTensor<float> x) { Copy(x, x, 64, 1, {1, 1, 70000, 8}); }
void unknown(LocalTensor<float> x, int n) { Exp(x, x, uint64_t(64), n, {1, 1, 8, 8}); }
void fits(LocalTensor<float> x) { Exp(x, x, uint64_t(64), 255, {65535, 1, 255, 8}); int m = 1000; Exp(x, x, m); }
void g(LocalTensor<float> x) { instance<512>(x); instance<255>(x); }
"""


def test_a_constant_that_a_narrow_parameter_cuts_is_a_warning_at_the_user_s_line_and_nothing_else_is(tmp_path: Path) -> None:
    source = tmp_path / "cuts.cpp"
    source.write_text(CUTS)
    argv = ["g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-isystem", str(INCLUDE), "-DPITON_DEVICE_PASS", "-c", str(source), "-o", str(tmp_path / "cuts.o")]
    result = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=120, env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
    messages = parse_compiler(result.stderr, lambda file: file == str(source))
    found = {(message.diagnostic.line, "255" in message.diagnostic.message) for message in messages if message.diagnostic.severity == "warning"}
    assert found == {(3, True), (4, True), (6, True), (7, True), (8, False)}


ALL_HEADERS = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h"))
FORWARDS = re.compile(r'/\* [^*]* \*/\n#ifndef (\w+)\n#define \1\n\n#include "kernel_operator.h"\n\n#endif /\* \1 \*/\n')
FORWARDING_HEADERS = [name for name in ALL_HEADERS if FORWARDS.fullmatch((INCLUDE / name).read_text("utf-8"))]
DEVICE_HEADERS = [name for name in ALL_HEADERS if not name.startswith(("host/", "project/")) and name not in FORWARDING_HEADERS]
VENDOR_NAMES = ("project/tikicpulib.h", "project/ascendc/host_api/tiling/template_argument.h", "project/register/op_def_registry.h")
OF_TORCH = ("binding.h", "arguments.h", "torch_types.h")
"""They need the headers of torch, with which every operator project of the tests is compiled."""
PROJECT_HEADERS = [name for name in ALL_HEADERS if name.startswith("project/piton_project/") and not name.endswith(OF_TORCH)]
HOST_HEADERS = ("host/platform/platform_ascendc.h", "host/acl/acl.h", "host/acl/acl_rt.h", "host/torch_npu/csrc/framework/OpCommand.h")


@pytest.mark.parametrize(
    "header", [*DEVICE_HEADERS, *HOST_HEADERS, *PROJECT_HEADERS, "project/tikicpulib.h", "project/ascendc/host_api/tiling/template_argument.h"]
)
def test_each_header_compiles_alone(header: str, tmp_path: Path) -> None:
    source = tmp_path / "alone.cpp"
    source.write_text(f'#include "{header}"\n')
    subprocess.run(["g++", *FLAGS, f"-I{INCLUDE}/host", f"-I{INCLUDE}/project", "-DPITON_PROJECT_HOST", "-fsyntax-only", str(source)], check=True, timeout=120)


def test_headers_that_only_forward_do_so_under_guards_of_their_own(tmp_path: Path) -> None:
    source = tmp_path / "forwards.cpp"
    source.write_text("".join(f'#include "{header}"\nAscendC::TPipe *pipe_{number};\n' for number, header in enumerate(FORWARDING_HEADERS)))
    assert len(FORWARDING_HEADERS) > 100
    assert len({FORWARDS.match((INCLUDE / header).read_text("utf-8"))[1] for header in FORWARDING_HEADERS}) == len(FORWARDING_HEADERS)  # type: ignore[index]
    subprocess.run(["g++", *FLAGS, "-fsyntax-only", str(source)], check=True, timeout=120)
