/* Kernels whose records tests/sim/test_headers_by_address.py looks at: API functions as template arguments, and 4-bit elements in global memory. */
#include "headers_recorder.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

template <typename T>
using ByMask = void(const LocalTensor<T> &, const LocalTensor<T> &, const LocalTensor<T> &, uint64_t, const uint8_t, const BinaryRepeatParams &);
template <typename T>
using ByCount = void(const LocalTensor<T> &, const LocalTensor<T> &, const LocalTensor<T> &, const int32_t &);
template <typename T>
using OneByCount = void(const LocalTensor<T> &, const LocalTensor<T> &, const int32_t &);
template <typename T>
using Composed = void(const LocalTensor<T> &, const LocalTensor<T> &, const uint32_t);

template <typename T>
LocalTensor<T> At(uint32_t address) {
    return LocalTensor<T>(TPosition::VECCALC, address, 64);
}

template <ByMask<half> *masked, ByCount<float> *counted, OneByCount<half> *one>
void Call() {
    auto h = At<half>(0);
    auto f = At<float>(1024);
    masked(h[16], h, h, 100, 2, {1, 2, 3, 4, 5, 6});
    counted(f[8], f, f, 40);
    one(h, h, 50);
}

template <Composed<float> *function>
void CallComposed() {
    TPipe pipe;
    function(At<float>(0), At<float>(1024), 64);
}

void through_pointers() { Call<Sub, Div, Sqrt>(); }

void composed() { CallComposed<Tanh<float, false>>(); }

void direct() {
    auto h = At<half>(0);
    const uint8_t repeats = 2;
    const int more = 3;
    Sub(h, h, h, uint64_t(100), repeats, {1, 1, 1, 8, 8, 8});
    Sub(h, h, h, uint64_t(100), more, {1, 1, 1, 8, 8, 8});
    Sub(h, h, h, 50);
    Sqrt(h, h, 50);
}

constexpr TQueConfig kConfig = {false, false, false, 0, 1};

void configured_queue() {
    TPipe pipe;
    TQue<QuePosition::VECIN, 1, &kConfig> queue;
    pipe.InitBuffer(queue, 2, 256);
}

void too_often() {
    auto h = At<half>(0);
    volatile int repeats = 256;
    Sub(h, h, h, uint64_t(100), static_cast<int>(repeats), {1, 1, 1, 8, 8, 8});
}

void four_bits() {
    GlobalTensor<int4b_t> global;
    global.SetGlobalBuffer(reinterpret_cast<__gm__ int4b_t *>(0x100000000000), 4096);
    DataCopy(global[256], At<int4b_t>(0), 128);
    DataCopy(At<int4b_t>(64)[64], global, 64);
    DataCopyPad(global[2], At<int4b_t>(0), DataCopyParams(1, 5, 0, 0));
}

struct Scenario {
    const char *name;
    void (*kernel)();
};

const Scenario kScenarios[] = {{"through_pointers", through_pointers}, {"composed", composed},   {"direct", direct},
                               {"configured_queue", configured_queue}, {"too_often", too_often}, {"four_bits", four_bits}};

}  // namespace

int main() {
    for (const Scenario &scenario : kScenarios) {
        TheRecorder().records.clear();
        try {
            scenario.kernel();
        } catch (const Faulted &) {
        }
        for (const vnpu_record &record : TheRecorder().records) {
            PrintRecord(scenario.name, record);
        }
    }
    return 0;
}
