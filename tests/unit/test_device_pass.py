"""Does the device pass of a single-source file keep what kernels need, line by line, and nothing of the host?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piton.targets.vnpu.device_pass import DeviceTexts, cut

SINGLE = """#include <torch/all.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "kernel_operator.h"
#include <vector>
namespace mine {
constexpr int kTile = 64;
constexpr int kHostOnly = 3;
std::vector<int> made_on_load = {1, 2};
TORCH_LIBRARY_FRAGMENT(EXTENSION_MODULE_NAME, m)
{
    m.def("twice(Tensor x) -> Tensor");
}
struct Tiling {
    int64_t total = 0;
    static Tiling of(const at::Tensor &x) { return {x.numel()}; }
};
int64_t blocks_for(int64_t total) { return total / kHostOnly; }
inline int rounded(int n) { return n / kTile * kTile; }
template <typename T>
class Twice {
public:
    __aicore__ inline Twice() {}
    __aicore__ inline void Run(GM_ADDR x, Tiling tiling) { n_ = rounded(tiling.total); }
private:
    int n_ = 0;
};
template <typename T>
__global__ __aicore__ void twice(GM_ADDR x, Tiling tiling)
{
    Twice<T> op;
    op.Run(x, tiling);
}
torch::Tensor twice_npu(const torch::Tensor &x)
{
    auto y = at::empty_like(x);
    twice<float><<<blocks_for(x.numel()), nullptr, nullptr>>>((GM_ADDR)x.data_ptr(), Tiling::of(x));
    return y;
}
TORCH_LIBRARY_IMPL(EXTENSION_MODULE_NAME, PrivateUse1, m) { m.impl("twice", twice_npu); }
}  // namespace mine
"""


def device_part(text: str, *wanted: str) -> str:
    return cut({"op.asc": text}, wanted).texts["op.asc"]


def kept(text: str, *wanted: str) -> list[str]:
    return [line for line in device_part(text, *wanted).split("\n") if line.strip()]


def test_every_line_keeps_its_number() -> None:
    before, after = SINGLE.split("\n"), device_part(SINGLE).split("\n")
    assert len(after) == len(before)
    assert all(new.strip() == "" or new == old for old, new in zip(before, after, strict=True))


def test_torch_registrations_host_functions_and_host_constructors_are_gone() -> None:
    text = device_part(SINGLE)
    for word in ("torch", "at::", "TORCH_", "EXTENSION_MODULE_NAME", "made_on_load", "blocks_for", "kHostOnly", "twice_npu", "<<<"):
        assert word not in text, word


def test_kernels_and_what_they_mention_stay() -> None:
    lines = kept(SINGLE)
    for line in ("constexpr int kTile = 64;", "class Twice {", "    int64_t total = 0;", '#include "kernel_operator.h"', "namespace mine {"):
        assert line in lines, line
    assert "inline int rounded(int n) { return n / kTile * kTile; }" in lines
    assert "__global__ __aicore__ void twice(GM_ADDR x, Tiling tiling)" in lines


def test_a_type_that_only_a_launch_mentions_stays_when_it_is_wanted() -> None:
    text = "struct Policy { static constexpr int n = 4; };\nint main() { return 0; }\n"
    assert kept(text) == []
    assert kept(text, "Policy") == ["struct Policy { static constexpr int n = 4; };"]


def test_a_registration_without_a_semicolon_leaves_the_end_of_its_namespace_alone() -> None:
    text = "namespace host {\nint left = torch::now();\nREGISTER(Sum, SumData)\n}  // namespace host\n__global__ __aicore__ void k() {}\n"
    lines = kept(text)
    assert lines.count("namespace host {") == sum(line.startswith("}") for line in lines)
    assert "__global__ __aicore__ void k() {}" in lines


def test_a_function_that_needs_torch_is_named_for_the_message() -> None:
    found = cut({"op.asc": "int64_t size_of(const at::Tensor &x) { return x.numel(); }\n__aicore__ inline void f() { size_of(); }\n"}, ())
    assert isinstance(found, DeviceTexts)
    assert "size_of" in found.host_names


@pytest.mark.parametrize(
    "kernel",
    [
        "__global__ __aicore__ void k() {}",
        'extern "C" __global__ __aicore__ void k(GM_ADDR x) { f(x); }',
        "template <typename T, int N = (3 > 2)> __global__ __vector__ void k(__gm__ T *x) { g<N>(x); }",
        "template <int N = 1 << 4, bool B = N <= 3, bool C = N >= 3> __global__ __aicore__ void k(GM_ADDR x) { f(x); }",
        "#define KERNEL __global__ __aicore__\nKERNEL void k() {}",
        "#define INNER __aicore__\n#define OUTER INNER inline\nOUTER void k() {}",
        "__attribute__((always_inline)) __aicore__ inline void k() {}",
        "struct alignas(64) K { int a[4]; __aicore__ void Run() {} };",
        "constexpr int größe = 3;\n__global__ __aicore__ void кернел(GM_ADDR x) { f(x, größe); }",
        "class K : public Base<int> {\npublic:\n    __aicore__ K() : a_{1}, b_(2) {}\n    int a_;\n    int b_;\n};",
        "#if LONG\n__aicore__ inline void k(int a, int b) {\n#else\n__aicore__ inline void k(int a) {\n#endif\n    use(a);\n}",
        'DEFINE_KERNEL(k, half)\n#define DEFINE_KERNEL(name, T) extern "C" __global__ void name(T) {}',
    ],
)
def test_device_code_in_every_form_stays_as_it_is(kernel: str) -> None:
    text = f"int before() {{ return 1; }}\n{kernel}\nint after() {{ return 2; }}\n"
    assert device_part(text) == f"\n{kernel}\n\n"


@pytest.mark.parametrize(
    "host",
    [
        "int main(int argc, char **argv) { return 0; }",
        'static std::map<std::string, int> table{{"a", 1}, {"b", 2}};',
        'Registry registry("name", [](int n) { return n; });',
        "template <typename T>\nstd::tuple<int64_t, int64_t> tiles(T n)\n{\n    return {n, 1};\n}",
        "Thing::Thing() : a_{1}, b_{2} { use(a_); }",
        "struct Host { at::Tensor x; int n; };",
        'static_assert(sizeof(Tiling) == 16, "layout");',
        'PYBIND11_MODULE(mine, m)\n{\n    m.def("f", &f);\n}',
        "extern int counter;",
        "using Tensor = torch::Tensor;",
        "using namespace at;",
    ],
)
def test_host_code_in_every_form_goes(host: str) -> None:
    text = f"__aicore__ inline void before() {{}}\n{host}\n__aicore__ inline void after() {{}}\n"
    blank = "\n" * host.count("\n")
    assert device_part(text) == f"__aicore__ inline void before() {{}}\n{blank}\n__aicore__ inline void after() {{}}\n"


def test_conditions_stay_where_what_they_guard_goes() -> None:
    text = "int f()\n{\n#ifdef A\n    return 1;\n#else\n    return 2;\n#endif\n}\n"
    assert kept(text) == ["#ifdef A", "#else", "#endif"]


def test_what_a_header_of_the_unit_defines_is_kept_for_the_kernel_that_mentions_it() -> None:
    header = "#include <ATen/ATen.h>\nconstexpr int kTile = 8;\nat::Tensor made();\n"
    unit = '#include "tiling.h"\n__global__ void k() { use(kTile); }\n'
    texts = cut({"op.asc": unit, "tiling.h": header}, ()).texts
    assert texts == {"op.asc": unit, "tiling.h": "\nconstexpr int kTile = 8;\n\n"}


@pytest.mark.parametrize(
    "constants",
    [
        "constexpr uint32_t A = 1, B = 8;",
        "constexpr uint32_t A = f(1, 2), *C = nullptr, B{8};",
        "static const int A[2] = {1, 2}, B[] = {3};",
        "constexpr int A = Pick<int, 3>::value, B = A < 3 ? 1 : 2;",
        "constexpr bool A = 1 < 2, B = true;",
        "struct Sizes { int n; } A = {1}, B = {2};",
    ],
)
def test_constants_stay_whichever_of_their_names_a_kernel_mentions(constants: str) -> None:
    for name in ("A", "B"):
        text = f"{constants}\n__global__ void k() {{ use({name}); }}\n"
        assert device_part(text) == text


def test_what_a_list_of_template_arguments_names_is_not_declared_there() -> None:
    assert kept("int a = pick<X, B, Y>(1), c = 2;\n__global__ void k() { use(B, Y, X); }\n") == ["__global__ void k() { use(B, Y, X); }"]


PIECES = (*"{}()[]<>;:#\"'\\/*\n =,abc~", "class ", "struct ", "template ", "namespace ", "#if ", "#else\n", "torch::")


@given(st.lists(st.sampled_from(PIECES)))
def test_no_text_is_too_odd_to_cut_and_no_line_is_lost(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert device_part(text).count("\n") == text.count("\n")


@pytest.mark.parametrize("piece", ["x{} ", "class A {", "template <", "f(", "}", "int a, ", "namespace a {"])
def test_deep_nesting_and_endless_heads_come_to_an_end(piece: str) -> None:
    assert device_part(piece * 10_000).count("\n") == 0
