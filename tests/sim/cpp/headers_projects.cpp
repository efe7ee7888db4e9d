/* Names that kernels of operator projects use beside the documented API. */
#include "headers_recorder.h"
#include "kernel_operator.h"
#include "op_kernel/math_util.h"
#include "op_kernel/platform_util.h"

using namespace AscendC;

static_assert(std::is_same<float16_t, half>::value && std::is_same<float32_t, float>::value && std::is_same<__bf16, bfloat16_t>::value, "");
static_assert(DEFAULT_DATA_COPY_NBURST == 1 && DEFAULT_DATA_COPY_STRIDE == 0, "");
static_assert(Ops::Base::CeilDiv(33, 8) == 5 && Ops::Base::CeilDiv(32, 8) == 4 && Ops::Base::CeilDiv(7, 0) == 7, "");
static_assert(Ops::Base::CeilAlign(33, 8u) == 40 && Ops::Base::FloorAlign(33u, 8) == 32 && Ops::Base::FloorDiv(33, 8) == 4, "");
static_assert(std::is_same<decltype(Ops::Base::CeilDiv(int64_t{1}, 2u)), int64_t>::value, "the type is the value's");
static_assert(Ops::Base::GetUbBlockSize() == 32 && Ops::Base::GetVRegSize() == 256, "");

static void ScratchQueue() {
    TPipe pipe;
    TQue<TPosition::VECCALC, 1> queue;
    pipe.InitBuffer(queue, 1, 256);
    LocalTensor<float> tensor = queue.AllocTensor<float>();
    queue.EnQue(tensor);
    tensor = queue.DeQue<float>();
    queue.FreeTensor(tensor);
}

/* Taken from the queue without naming a type. */
static void DequeueByHandle() {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    pipe.InitBuffer(queue, 1, 256);
    LocalTensor<float> tensor = queue.AllocTensor<float>();
    queue.EnQue(tensor);
    queue.DeQue();
    queue.FreeTensor(tensor);
}

/* API functions as arguments of a template, in the documented types. */
using OfOne = void(const LocalTensor<half> &, const LocalTensor<half> &, const int32_t &);
using OfTwo = void(const LocalTensor<int32_t> &, const LocalTensor<int32_t> &, const LocalTensor<int32_t> &, const int32_t &);
using OfTwoStrided = void(const LocalTensor<float> &, const LocalTensor<float> &, const LocalTensor<float> &, uint64_t, const uint8_t,
                          const BinaryRepeatParams &);
using WithNumber = void(const LocalTensor<float> &, const LocalTensor<float> &, const float &, const int32_t &);
using OfMathematics = void(const LocalTensor<float> &, const LocalTensor<float> &, const uint32_t);

template <OfOne *one, OfTwo *two, OfTwoStrided *strided, WithNumber *number, OfMathematics *sine>
static void CallHanded() {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 8192);
    one(buffer.Get<half>()[1024], buffer.Get<half>(), 100);
    two(buffer.Get<int32_t>()[1024], buffer.Get<int32_t>(), buffer.Get<int32_t>()[512], 64);
    strided(buffer.Get<float>()[1024], buffer.Get<float>(), buffer.Get<float>()[512], 32, 3, {1, 1, 1, 8, 8, 8});
    number(buffer.Get<float>()[1024], buffer.Get<float>(), 0.5f, 65);
    Exp(buffer.Get<half>()[1024], buffer.Get<half>(), 100);  // @called
    if (GetBlockNum() == 0) {
        sine(buffer.Get<float>()[1024], buffer.Get<float>(), 64);
    }
}

static void Addresses() { CallHanded<Exp, Max, Div<float>, &Muls, Sin>(); }

static void Assertions() {
    KERNEL_LOG(KERNEL_ERROR, "said on no chip %d", 1);
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_VECTOR_CORE);
    ASSERT(GetBlockNum() != 0 && "blocks");
    ASSERT(GetBlockNum() == 0);  // @fails
}

struct Scenario {
    const char *name;
    void (*kernel)();
};

int main() {
    for (const Scenario &scenario :
         {Scenario{"scratch_queue", ScratchQueue}, Scenario{"handle", DequeueByHandle}, Scenario{"addresses", Addresses}, Scenario{"assertions", Assertions}}) {
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
