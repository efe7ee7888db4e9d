/* The vector unit's calls in each of their forms, run by tests/sim/test_headers_calls.py: destination and two sources of 1 KiB each come in one behind the
 * other, the destination goes out. x.b: 0 by count, 1 by lanes, 2 by bits, 3 by what SetVectorMask said. */
#include "engine_kernels.h"

using namespace rig;

namespace {

constexpr uint32_t kBytes = 1024;
constexpr uint64_t kLanes = 37;
constexpr uint8_t kRepeats = 2;
const BinaryRepeatParams kBinary(2, 1, 1, 17, 8, 9);
const UnaryRepeatParams kUnary(2, 1, 17, 8);

/* 4-byte elements have 64 lanes. */
template <typename T>
struct Bits {
    uint64_t words[2] = {0x9249249249249249, sizeof(T) == 2 ? 0x00ff00ff00ff00ffull : 0};
};

template <typename T, typename Step>
void On(const Arguments &x, const Step &step) {
    constexpr uint32_t count = kBytes / sizeof(T);
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 4 * kBytes);
    const Tensors<T> memory(x);
    const LocalTensor<T> local = buffer.Get<T>();
    DataCopy(local, memory.in, 3 * count);
    PipeBarrier<PIPE_ALL>();
    step(local, local[count], local[2 * count]);
    ResetMask();
    PipeBarrier<PIPE_ALL>();
    DataCopy(memory.out, local, count);
}

/* `first` are the operands up to the mask; strides of the call behind the number of repeats. */
#define IN_ALL_FORMS(Name, strides, ...)                                      \
    const int32_t count = static_cast<int32_t>(kBytes / sizeof(T));           \
    const Bits<T> bits;                                                       \
    switch (x.b) {                                                            \
        case 0:                                                               \
            Name(__VA_ARGS__, count);                                         \
            break;                                                            \
        case 1:                                                               \
            Name(__VA_ARGS__, kLanes, kRepeats, strides);                     \
            break;                                                            \
        case 2:                                                               \
            Name(__VA_ARGS__, bits.words, kRepeats, strides);                 \
            break;                                                            \
        default:                                                              \
            SetVectorMask<T>(bits.words[1], bits.words[0]);                   \
            Name<T, false>(__VA_ARGS__, MASK_PLACEHOLDER, kRepeats, strides); \
    }
#define CALL(Name, ...)                                                                                            \
    template <typename T>                                                                                          \
    void Of##Name(const Arguments &x) {                                                                            \
        On<T>(x, [&](const LocalTensor<T> &d, const LocalTensor<T> &a, const LocalTensor<T> &b) { __VA_ARGS__; }); \
    }
#define BINARY(Name) CALL(Name, IN_ALL_FORMS(Name, kBinary, d, a, b))
#define UNARY(Name) CALL(Name, (void)b; IN_ALL_FORMS(Name, kUnary, d, a))
#define NUMBER(Name) CALL(Name, const T number = b.GetValue(0); IN_ALL_FORMS(Name, kUnary, d, a, number))

BINARY(Add)
BINARY(Sub)
BINARY(Mul)
BINARY(Div)
BINARY(Max)
BINARY(Min)
BINARY(And)
BINARY(Or)
BINARY(AddRelu)
BINARY(SubRelu)
BINARY(FusedMulAdd)
BINARY(MulAddRelu)
BINARY(FusedMulAddRelu)
UNARY(Exp)
UNARY(Ln)
UNARY(Sqrt)
UNARY(Rsqrt)
UNARY(Reciprocal)
UNARY(Abs)
UNARY(Relu)
UNARY(Not)
NUMBER(Adds)
NUMBER(Muls)
NUMBER(Maxs)
NUMBER(Mins)
NUMBER(LeakyRelu)
NUMBER(ShiftLeft)
NUMBER(ShiftRight)

/* ---- Calls whose strides are numbers ---- */

#define DUPLICATED(Name, number)                                   \
    const Bits<T> bits;                                            \
    if (x.b == 0) {                                                \
        Name(d, number, static_cast<int32_t>(kBytes / sizeof(T))); \
    } else if (x.b == 1) {                                         \
        Name(d, number, kLanes, kRepeats, 2, 17);                  \
    } else if (x.b == 2) {                                         \
        Name(d, number, bits.words, kRepeats, 2, 17);              \
    }
CALL(
    Duplicate, (void)a; const T number = b.GetValue(0); DUPLICATED(Duplicate, number) else {
        SetVectorMask<T>(bits.words[1], bits.words[0]);
        Duplicate<T, false>(d, number, MASK_PLACEHOLDER, kRepeats, 2, 17);
    })
CALL(CreateVecIndex, (void)a; const T number = b.GetValue(0); DUPLICATED(CreateVecIndex, number))

CALL(
    Copy, (void)b; const Bits<T> bits; const CopyRepeatParams strides(2, 1, 17, 8);
    if (x.b == 1) { Copy(d, a, kLanes, kRepeats, strides); } else if (x.b == 2) { Copy(d, a, bits.words, kRepeats, strides); } else {
        SetVectorMask<T>(bits.words[1], bits.words[0]);
        Copy<T, false>(d, a, MASK_PLACEHOLDER, kRepeats, strides);
    })

#define REDUCED(Name)                                                                                                                          \
    CALL(                                                                                                                                      \
        Name, (void)b; const Bits<T> bits; if (x.b == 1) { Name(d, a, static_cast<int32_t>(kLanes), kRepeats, 1, 1, 9); } else if (x.b == 2) { \
            Name(d, a, bits.words, kRepeats, 1, 1, 9);                                                                                         \
        } else {                                                                                                                               \
            SetVectorMask<T>(bits.words[1], bits.words[0]);                                                                                    \
            Name<T, false>(d, a, 0, kRepeats, 1, 1, 9);                                                                                        \
        })
REDUCED(WholeReduceSum)
REDUCED(WholeReduceMax)
REDUCED(WholeReduceMin)

#define BLOCK_REDUCED(Name)                                                                                                                    \
    CALL(                                                                                                                                      \
        Name, (void)b; const Bits<T> bits; if (x.b == 1) { Name(d, a, kRepeats, static_cast<int32_t>(kLanes), 1, 1, 9); } else if (x.b == 2) { \
            Name(d, a, kRepeats, bits.words, 1, 1, 9);                                                                                         \
        } else {                                                                                                                               \
            SetVectorMask<T>(bits.words[1], bits.words[0]);                                                                                    \
            Name<T, false>(d, a, kRepeats, 0, 1, 1, 9);                                                                                        \
        })
BLOCK_REDUCED(BlockReduceSum)
BLOCK_REDUCED(BlockReduceMax)
BLOCK_REDUCED(BlockReduceMin)
BLOCK_REDUCED(PairReduceSum)
CALL(ReducePairElem, (void)b; ReducePairElem<ReduceType::SUM>(d, a, static_cast<int32_t>(kLanes), kRepeats, 1, 1, 9))

/* Bits of the first 256 bytes. */
#define COMPARED(Name, other) CALL(Name, Name(d.template ReinterpretCast<uint8_t>(), a, other, CMPMODE::LT, static_cast<uint32_t>(256 / sizeof(T))))
COMPARED(Compare, b)
COMPARED(Compares, b.GetValue(0))
COMPARED(CompareScalar, b.GetValue(0))

/* ---- Calls that choose, and those that make one number of many ---- */

CALL(Brcb, (void)b; Brcb(d, a, kRepeats, BrcbRepeatParams(2, 16)))

/* Byte offsets from the end of two repeats backwards, behind the three tensors. */
template <typename T>
LocalTensor<uint32_t> Backwards(const LocalTensor<T> &b) {
    constexpr uint32_t lanes = 256 / sizeof(T);
    const LocalTensor<int32_t> offsets = b[kBytes / sizeof(T)].template ReinterpretCast<int32_t>();
    CreateVecIndex(offsets, int32_t(0), 2 * lanes);
    PipeBarrier<PIPE_V>();
    Muls(offsets, offsets, -static_cast<int32_t>(sizeof(T)), static_cast<int32_t>(2 * lanes));
    PipeBarrier<PIPE_V>();
    Adds(offsets, offsets, static_cast<int32_t>((2 * lanes - 1) * sizeof(T)), static_cast<int32_t>(2 * lanes));
    PipeBarrier<PIPE_V>();
    return offsets.template ReinterpretCast<uint32_t>();
}
CALL(
    Gather, const Bits<T> bits; const auto offsets = Backwards(b); if (x.b == 0) { Gather(d, a, offsets, 0, 256 / sizeof(T)); } else if (x.b == 1) {
        Gather(d, a, offsets, 0, kLanes, kRepeats, 17);
    } else { Gather(d, a, offsets, 0, bits.words, kRepeats, 17); })

CALL(
    GatherMask, using Word = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>; uint64_t kept = 0; const GatherMaskParams once(1, 1, 8, 8); if (x.b == 0) {
        GatherMask(d, a, uint8_t(2), false, 0, once, kept);
    } else { GatherMask(d, a, b.template ReinterpretCast<Word>(), false, 0, once, kept); } SetFlag<HardEvent::V_S>(0);
    WaitFlag<HardEvent::V_S>(0); d.template ReinterpretCast<uint16_t>().SetValue(kBytes / 2 - 1, static_cast<uint16_t>(kept)); SetFlag<HardEvent::S_MTE3>(0);
    WaitFlag<HardEvent::S_MTE3>(0))

CALL(
    Select, const Bits<T> bits; const BinaryRepeatParams dense; const T number = b.GetValue(0); const auto chosen = b.template ReinterpretCast<uint8_t>();
    switch (x.b) {
        case 0:
            Select(d, chosen, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, 256 / sizeof(T));
            break;
        case 1:
            Select(d, chosen, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, kLanes, 1, dense);
            break;
        case 2:
            Select(d, chosen, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, bits.words, 1, dense);
            break;
        case 3:
            Select(d, chosen, a, number, SELMODE::VSEL_TENSOR_SCALAR_MODE, 256 / sizeof(T));
            break;
        case 4:
            Select(d, chosen, a, number, SELMODE::VSEL_TENSOR_SCALAR_MODE, kLanes, 1, dense);
            break;
        default:
            Select(d, chosen, a, number, SELMODE::VSEL_TENSOR_SCALAR_MODE, bits.words, 1, dense);
    })

CALL(
    Axpy, const T number = b.GetValue(0); const int32_t count = static_cast<int32_t>(kBytes / sizeof(T)); const Bits<T> bits; switch (x.b) {
        case 0:
            Axpy(d, a, number, count);
            break;
        case 1:
            Axpy(d, a, number, kLanes, kRepeats, kUnary);
            break;
        case 2:
            Axpy(d, a, number, bits.words, kRepeats, kUnary);
            break;
        default:
            SetVectorMask<T>(bits.words[1], bits.words[0]);
            Axpy<T, T, false>(d, a, number, MASK_PLACEHOLDER, kRepeats, kUnary);
    })

#define REDUCED_TO_ONE(Name, ...)                                                                                                          \
    CALL(                                                                                                                                  \
        Name, const Bits<T> bits; if (x.b == 0) { Name(d, a, b, static_cast<int32_t>(256 / sizeof(T)) __VA_ARGS__); } else if (x.b == 1) { \
            Name(d, a, b, static_cast<int32_t>(kLanes), kRepeats, 8 __VA_ARGS__);                                                          \
        } else { Name(d, a, b, bits.words, kRepeats, 8 __VA_ARGS__); })
REDUCED_TO_ONE(ReduceSum)
REDUCED_TO_ONE(ReduceMax, , true)
REDUCED_TO_ONE(ReduceMin, , true)

CALL(ArithProgression, (void)a; const T number = b.GetValue(0); ArithProgression(d, number, number, 100))

#define FLOATS(Name) \
    {#Name " f16", Of##Name<half>}, { #Name " f32", Of##Name<float> }
#define ARITHMETIC(Name) \
    FLOATS(Name), {#Name " i16", Of##Name<int16_t>}, { #Name " i32", Of##Name<int32_t> }
#define LOGIC(Name) \
    {#Name " i16", Of##Name<int16_t>}, { #Name " u16", Of##Name<uint16_t> }
#define SHIFTED(Name) \
    LOGIC(Name), {#Name " i32", Of##Name<int32_t>}, { #Name " u32", Of##Name<uint32_t> }
#define SPREAD(Name) \
    ARITHMETIC(Name), {#Name " u16", Of##Name<uint16_t>}, {#Name " u32", Of##Name<uint32_t>}, { #Name " bf16", Of##Name<bfloat16_t> }
const Row kRows[] = {ARITHMETIC(Add),
                     ARITHMETIC(Sub),
                     ARITHMETIC(Mul),
                     FLOATS(Div),
                     ARITHMETIC(Max),
                     ARITHMETIC(Min),
                     LOGIC(And),
                     LOGIC(Or),
                     FLOATS(AddRelu),
                     {"AddRelu i16", OfAddRelu<int16_t>},
                     FLOATS(SubRelu),
                     {"SubRelu i16", OfSubRelu<int16_t>},
                     FLOATS(FusedMulAdd),
                     FLOATS(MulAddRelu),
                     FLOATS(FusedMulAddRelu),
                     FLOATS(Exp),
                     FLOATS(Ln),
                     FLOATS(Sqrt),
                     FLOATS(Rsqrt),
                     FLOATS(Reciprocal),
                     FLOATS(Abs),
                     FLOATS(Relu),
                     {"Relu i32", OfRelu<int32_t>},
                     LOGIC(Not),
                     ARITHMETIC(Adds),
                     ARITHMETIC(Muls),
                     ARITHMETIC(Maxs),
                     ARITHMETIC(Mins),
                     FLOATS(LeakyRelu),
                     SHIFTED(ShiftLeft),
                     SHIFTED(ShiftRight),
                     SPREAD(Duplicate),
                     ARITHMETIC(CreateVecIndex),
                     SPREAD(Copy),
                     FLOATS(WholeReduceSum),
                     FLOATS(WholeReduceMax),
                     FLOATS(WholeReduceMin),
                     FLOATS(PairReduceSum),
                     FLOATS(ReducePairElem),
                     FLOATS(BlockReduceSum),
                     FLOATS(BlockReduceMax),
                     FLOATS(BlockReduceMin),
                     FLOATS(Compare),
                     FLOATS(Compares),
                     FLOATS(CompareScalar),
                     SPREAD(Brcb),
                     SPREAD(Gather),
                     SPREAD(GatherMask),
                     FLOATS(Select),
                     FLOATS(Axpy),
                     FLOATS(ReduceSum),
                     FLOATS(ReduceMax),
                     FLOATS(ReduceMin),
                     ARITHMETIC(ArithProgression)};

}  // namespace

rig::Entry rig::FindCallKernel(const char *name) { return Find(kRows, name); }
