/* Calls around the cube unit whose records tests/sim/test_headers_cube.py looks at. A comment with @name marks a line whose number has to be in a record. */
#include <cstdio>

#include "headers_recorder.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

template <typename T>
LocalTensor<T> At(TPosition position, uint32_t address, uint32_t elements) {
    return LocalTensor<T>(position, address, elements);
}

void load() {
    auto from = At<half>(TPosition::A1, 4096, 8192);
    LoadData(At<half>(TPosition::A2, 512, 4096), from, LoadData2DParams{2, 3, 4, 0, 5, false, 0});  // @load
    LoadData2dParams params;
    params.repeatTimes = 7;
    params.srcStride = 1;
    params.ifTranspose = true;
    LoadData(At<half>(TPosition::B2, 0, 4096), from, params);
}

void load_transposed() {
    const LoadData2dTransposeParams params(1, 3, 2, 4, 6);
    LoadDataWithTranspose(At<int8_t>(TPosition::B2, 0, 8192), At<int8_t>(TPosition::B1, 0, 8192), params);  // @transposed
    LoadDataWithTranspose(At<half>(TPosition::B2, 0, 8192), At<half>(TPosition::B1, 0, 8192), params);
    LoadDataWithTranspose(At<float>(TPosition::B2, 0, 8192), At<float>(TPosition::B1, 0, 8192), params);
}

void products() {
    auto c = At<float>(TPosition::CO1, 1024, 4096);
    auto a = At<half>(TPosition::A2, 512, 4096), b = At<half>(TPosition::B2, 1536, 4096);
    Mmad(c, a, b, MmadParams{30, 40, 70, 3, false, true});  // @zero
    MmadParams params(16, 16, 16, 2, false, false);
    params.kDirectionAlign = true;
    Mmad(c, a, b, params);
    Mmad(c, a, b, MmadParams{16, 16, 16, 0, true, false});
    Mmad(c, a, b, At<float>(TPosition::C2, 64, 16), MmadParams{16, 16, 16, 0, false, true});
    Mmad(At<int32_t>(TPosition::CO1, 0, 256), At<int8_t>(TPosition::A2, 0, 512), At<int8_t>(TPosition::B2, 0, 512),
         MmadParams(16, 16, 16, true, 0, false, false, false));
}

void results() {
    GlobalTensor<half> out;
    out.SetGlobalBuffer((__gm__ half *)0x200000001000ull);
    out.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    auto c = At<float>(TPosition::CO1, 1024, 4096);
    Fixpipe(out, c, FixpipeParamsV220{48, 24, 32, 100, true, QuantMode_t::F322F16, 7, 2, 6, 900, 3});  // @rows
    GlobalTensor<float> plain;
    plain.SetGlobalBuffer((__gm__ float *)0x200000002000ull);
    FixpipeParamsV220 params(48, 24, 32, 100, false);
    params.isChannelSplit = true;
    Fixpipe<float, float, CFG_NZ>(plain, c, params);
}

void bias() {
    static_assert(ONE_BLK_SIZE == 32, "the block that DataCopy counts");
    auto to = At<float>(TPosition::C2, 64, 192), from = At<float>(TPosition::C1, 32, 1024);
    DataCopy(to, from, DataCopyParams(2, 3, 1, 1));
    DataCopy(to, from, 32);
    DataCopy(to, At<half>(TPosition::C1, 32, 1024), DataCopyParams(1, 2, 0, 0));
}

void allocators() {
    LocalMemAllocator<Hardware::L0A> left;
    LocalMemAllocator<Hardware::L0C> results;
    left.Alloc<TPosition::A2, half>(4096);
    auto second = left.Alloc<half>(4096);
    auto c = results.Alloc<TPosition::CO1, float, 256>();
    LoadData(second, At<half>(TPosition::A1, 0, 256), LoadData2DParams{0, 1, 1, 0, 0, false, 0});
    Mmad(c, second, At<half>(TPosition::B2, 0, 256), MmadParams{16, 16, 16, 0, false, true});
}

void queues() {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TQue<TPosition::A2, 1> left;
    TQue<TPosition::CO1, 1> results;
    pipe.InitBuffer(left, 2, 1024);
    pipe.InitBuffer(results, 1, 1024);
    auto a = left.AllocTensor<half>();
    left.EnQue(a);
    a = left.DeQue<half>();
    auto c = results.AllocTensor<float>();
    results.EnQue(c);
    c = results.DeQue<float>();
    left.FreeTensor(a);
    results.FreeTensor(c);
}

void fault_transposed_bytes() {
    LoadData(At<int8_t>(TPosition::A2, 0, 512), At<int8_t>(TPosition::A1, 0, 512), LoadData2DParams{0, 1, 1, 0, 0, true, 0});  // @bytes
}

void fault_downwards() {
    LoadData(At<half>(TPosition::A2, 0, 512), At<half>(TPosition::A1, 0, 512), LoadData2DParams{0, 1, 1, 0, 0, false, 1});  // @downwards
}

void fault_repeats() {
    volatile int repeats = 256;
    LoadData2DParams params(0, repeats, 1, 0, 0, false, 0);  // @repeats
}

void fault_bias() {
    Mmad(At<float>(TPosition::CO1, 0, 256), At<half>(TPosition::A2, 0, 256), At<half>(TPosition::B2, 0, 256), At<float>(TPosition::C1, 0, 16),
         MmadParams{16, 16, 16, 0, false, true});  // @bias
}

void fault_l0() {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TQue<TPosition::A2, 1> left;
    pipe.InitBuffer(left, 2, 40000);  // @l0
}

struct Scenario {
    const char *name;
    void (*kernel)();
};
#define SCENARIO(name) {#name, &name}
constexpr Scenario kScenarios[] = {
    SCENARIO(load),   SCENARIO(load_transposed),        SCENARIO(products),        SCENARIO(results),       SCENARIO(bias),       SCENARIO(allocators),
    SCENARIO(queues), SCENARIO(fault_transposed_bytes), SCENARIO(fault_downwards), SCENARIO(fault_repeats), SCENARIO(fault_bias), SCENARIO(fault_l0),
};

}  // namespace

int main() {
    for (const Scenario &scenario : kScenarios) {
        TheRecorder().records.clear();
        try {
            scenario.kernel();
        } catch (const Faulted &) {
        }
        for (const vnpu_record &record : TheRecorder().records) PrintRecord(scenario.name, record);
    }
    return 0;
}
