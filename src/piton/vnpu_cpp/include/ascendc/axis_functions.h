/*
 * ReduceProd, ReduceMean, ReduceAll, ReduceAny along an axis of two; ReduceXorSum.
 *
 * Problem: of these only sums, maxima and minima are reductions of the chip; bytes have none.
 * Approach: a mean is a sum times a factor, All and Any of zeros and ones are minima and maxima. A product along the last axis multiplies the repeats of 16
 * rows lane by lane, turns the lanes into lines (turn_rows.h) and halves those. Bytes go by way of half and float, row by row; along the first axis they are
 * the bits' And and Or. ReduceXorSum is Xor, Cast, ReduceSum and a saturating Cast. Their time is that of these instructions.
 * Limits: the forms of the Ascend 910B. In which order the vendor's library multiplies and adds is not published.
 */
#ifndef PITON_ASCENDC_AXIS_FUNCTIONS_H
#define PITON_ASCENDC_AXIS_FUNCTIONS_H

#include "math.h"
#include "turn_rows.h"

namespace piton {

struct ProductOfRows {
    template <typename T>
    PITON_API static void Row(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &row, uint32_t count, Location at) {
        AscendC::Mul(dst, dst, row, static_cast<int32_t>(count), at);
    }
};

/* A call along an axis; rows of both types lie whole blocks apart. */
template <typename T>
struct AxisCall {
    const char *api;
    const AscendC::LocalTensor<T> &dst;
    const AscendC::LocalTensor<T> &src;
    const AscendC::LocalTensor<uint8_t> &memory;
    AxisShape shape;

    PITON_API Location At() const { return shape.at; }
    PITON_API FloatTensor Floats() const { return memory.template ReinterpretCast<float>(); }
    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, At()); }
    PITON_API void Check(uint64_t used) const {
        if (memory.GetSize() < used) {
            Fault(VNPU_FAULT_UB_OVERFLOW, api, At(), used, memory.GetSize());
        }
        RequireApart(api, src.Operand(), uint64_t(shape.first) * shape.pitch * sizeof(T), memory.Operand(), used, At());
        RequireApart(api, dst.Operand(), shape.first * sizeof(T), memory.Operand(), used, At());
    }
};

/* `lanes` of every row times the next ones; a repeat stride has 8 bits, so that rows far apart go one by one. */
PITON_API void MultiplyRepeats(const FloatTensor &lanes, const FloatTensor &src, uint32_t rows, uint32_t width, const AxisShape &shape) {
    const uint32_t stride = shape.pitch / kFloatsOfBlock, step = width / kFloatsOfBlock;
    for (uint32_t done = 0; done < shape.last; done += width) {
        const uint64_t mask = shape.last - done < width ? shape.last - done : width;
        if (stride <= kMostPitch) {
            const AscendC::BinaryRepeatParams strides(1, 1, 1, static_cast<uint8_t>(step), static_cast<uint8_t>(step), static_cast<uint8_t>(stride));
            AscendC::Mul(lanes, lanes, src[done], mask, static_cast<uint8_t>(rows), strides, shape.at);
        } else {
            for (uint32_t row = 0; row < rows; ++row) {
                AscendC::Mul(lanes[row * width], lanes[row * width], src[row * shape.pitch + done], static_cast<int32_t>(mask), shape.at);
            }
        }
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, shape.at);
    }
}

/* `count` lines of 16 floats into the first. */
PITON_API void MultiplyLines(const FloatTensor &lines, uint32_t count, Location at) {
    while (count > 1) {
        const uint32_t upper = count / 2;
        count -= upper;
        AscendC::Mul(lines, lines, lines[count * kTurned], static_cast<int32_t>(upper * kTurned), at);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
    }
}

/* Memory: up to 64 lanes of 16 rows, and they turned. */
PITON_API void MultiplyLastAxis(const AxisCall<float> &call) {
    const AxisShape &shape = call.shape;
    const uint32_t width = shape.pitch < kFloatLanes ? shape.pitch : kFloatLanes;
    const FloatTensor lanes = call.Floats(), lines = lanes[width * kTurned];
    call.Check(2ull * width * kTurned * sizeof(float));
    for (uint32_t row = 0; row < shape.first; row += kTurned) {
        const uint32_t rows = shape.first - row < kTurned ? shape.first - row : kTurned;
        AscendC::Duplicate(lanes, 1.0f, static_cast<int32_t>(width * kTurned), shape.at);
        call.Barrier();
        MultiplyRepeats(lanes, call.src[row * shape.pitch], rows, width, shape);
        TurnIn(lines, lanes, kTurned, width, width, shape.at);
        MultiplyLines(lines, width, shape.at);
        AscendC::Adds(call.dst[row], lines, 0.0f, static_cast<int32_t>(rows), shape.at);
        call.Barrier();
    }
}

/* Memory: results of all rows as floats and as halves, 64 lanes, a row as floats and as halves. */
template <typename Kind>
PITON_API void ReduceBytesLastAxis(const AxisCall<uint8_t> &call) {
    const AxisShape &shape = call.shape;
    const uint32_t results = (shape.first + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
    const FloatTensor result = call.Floats(), lanes = result[results], wide = lanes[kFloatLanes];
    const auto halves = wide[shape.pitch].template ReinterpretCast<half>();
    const uint32_t narrow = shape.pitch > results ? shape.pitch : results;
    call.Check((results + kFloatLanes + shape.pitch) * sizeof(float) + narrow * sizeof(half));
    for (uint32_t row = 0; row < shape.first; ++row) {
        AscendC::Cast(halves, call.src[row * shape.pitch], AscendC::RoundMode::CAST_NONE, shape.last, shape.at);
        call.Barrier();
        AscendC::Cast(wide, halves, AscendC::RoundMode::CAST_NONE, shape.last, shape.at);
        call.Barrier();
        ReduceRows<Kind>(result[row], wide, lanes, Rows{1, shape.last, shape.pitch, shape.at});
    }
    AscendC::Cast(halves, result, AscendC::RoundMode::CAST_NONE, shape.first, shape.at);
    call.Barrier();
    AscendC::Cast(call.dst, halves, AscendC::RoundMode::CAST_NONE, shape.first, shape.at);
    call.Barrier();
}

/* Zeros and ones: rows of bytes, two in a number of 16 bits. */
template <bool isAll>
PITON_API void CombineBytesFirstAxis(const AxisCall<uint8_t> &call) {
    const auto dst = call.dst.template ReinterpretCast<uint16_t>(), src = call.src.template ReinterpretCast<uint16_t>();
    const int32_t pairs = static_cast<int32_t>((call.shape.last + 1) / 2);
    for (uint32_t row = 0; row < call.shape.first; ++row) {
        const auto next = src[row * (call.shape.pitch / 2)], before = row == 0 ? next : dst;
        if constexpr (isAll) {
            AscendC::And(dst, before, next, pairs, call.At());
        } else {
            AscendC::Or(dst, before, next, pairs, call.At());
        }
        call.Barrier();
    }
}

struct ProductFunction {
    static constexpr bool kTakesBytes = false;
    template <bool isLast>
    PITON_API static void Run(const AxisCall<float> &call) {
        if constexpr (isLast) {
            MultiplyLastAxis(call);
        } else {
            ReduceFirstAxis<ProductOfRows>(call.dst, call.src, call.shape);
        }
    }
};

struct MeanFunction {
    static constexpr bool kTakesBytes = false;
    template <bool isLast>
    PITON_API static void Run(const AxisCall<float> &call) {
        const AxisShape &shape = call.shape;
        if constexpr (isLast) {
            ReduceLastAxis<SumOfRows>(call.api, call.dst, call.src, call.memory, shape);
        } else {
            ReduceFirstAxis<SumOfRows>(call.dst, call.src, shape);
        }
        const uint32_t summed = isLast ? shape.last : shape.first, results = isLast ? shape.first : shape.last;
        AscendC::Muls(call.dst, call.dst, 1.0f / static_cast<float>(summed), static_cast<int32_t>(results), shape.at);
        call.Barrier();
    }
};

template <typename Kind, bool isAll>
struct TruthFunction {
    static constexpr bool kTakesBytes = true;
    template <bool isLast>
    PITON_API static void Run(const AxisCall<float> &call) {
        if constexpr (isLast) {
            ReduceLastAxis<Kind>(call.api, call.dst, call.src, call.memory, call.shape);
        } else {
            ReduceFirstAxis<Kind>(call.dst, call.src, call.shape);
        }
    }
    template <bool isLast>
    PITON_API static void Run(const AxisCall<uint8_t> &call) {
        if constexpr (isLast) {
            ReduceBytesLastAxis<Kind>(call);
        } else {
            CombineBytesFirstAxis<isAll>(call);
        }
    }
};

using AllFunction = TruthFunction<MinOfRows, true>;
using AnyFunction = TruthFunction<MaxOfRows, false>;

template <typename Function, typename pattern, typename T>
PITON_API void RunAxisFunction(AxisCall<T> call, const uint32_t *shape, bool srcInnerPad) {
    constexpr bool isLast = std::is_same<pattern, AscendC::Pattern::Reduce::AR>::value;
    static_assert(isLast || std::is_same<pattern, AscendC::Pattern::Reduce::RA>::value, "the pattern is Pattern::Reduce::AR or RA");
    constexpr uint32_t kUnit = kBlockBytes / sizeof(T);
    RequireRange(call.api, 4, uint32_t(srcInnerPad), 1, 1, call.At());
    RequireRange(call.api, 3, shape[0], 1, UINT32_MAX, call.At());
    RequireRange(call.api, 3, shape[1], 1, UINT32_MAX, call.At());
    call.shape = {shape[0], shape[1], (shape[1] + kUnit - 1) / kUnit * kUnit, call.At()};
    Function::template Run<isLast>(call);
}

}  // namespace piton

#define PITON_AXIS_FUNCTION(Name, Function, list)                                                                                                          \
    namespace AscendC {                                                                                                                                    \
    template <class T, class pattern, bool isReuseSource = false>                                                                                          \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer,                     \
                        const uint32_t srcShape[], bool srcInnerPad, piton::Location at = piton::Location()) {                                             \
        using Chosen = piton::Function;                                                                                                                    \
        static_assert(std::is_same<T, float>::value || (Chosen::kTakesBytes && std::is_same<T, uint8_t>::value), #Name " on the Ascend 910B takes " list); \
        piton::RunAxisFunction<Chosen, pattern>(piton::AxisCall<T>{#Name, dstTensor, srcTensor, sharedTmpBuffer, {0, 0, 0, at}}, srcShape, srcInnerPad);   \
    }                                                                                                                                                      \
    template <class T, class pattern, bool isReuseSource = false>                                                                                          \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const uint32_t srcShape[], bool srcInnerPad,                     \
                        piton::Location at = piton::Location()) {                                                                                          \
        Name<T, pattern, isReuseSource>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), srcShape, srcInnerPad, at);                               \
    }                                                                                                                                                      \
    }

PITON_AXIS_FUNCTION(ReduceProd, ProductFunction, "float")
PITON_AXIS_FUNCTION(ReduceMean, MeanFunction, "float")
PITON_AXIS_FUNCTION(ReduceAll, AllFunction, "uint8_t, float")
PITON_AXIS_FUNCTION(ReduceAny, AnyFunction, "uint8_t, float")
#undef PITON_AXIS_FUNCTION

namespace piton {

/* Memory: the sum so far, that of a part, a part's integers, what Xor needs, the integers as floats. */
struct XorParts {
    static constexpr uint32_t kUnit = kRepeatBytes / sizeof(int16_t);
    static constexpr uint32_t kElementBytes = 2 * sizeof(int16_t) + sizeof(float);

    const AscendC::LocalTensor<uint8_t> &memory;
    uint32_t room;
    Location at;

    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }
    PITON_API FloatTensor Total() const { return memory.ReinterpretCast<float>(); }
    PITON_API void Add(const AscendC::LocalTensor<int16_t> &x, const AscendC::LocalTensor<int16_t> &y, uint32_t count) const {
        const auto ints = memory[2 * kBlockBytes].ReinterpretCast<int16_t>();
        const auto rest = memory[2 * kBlockBytes + room * sizeof(int16_t)];
        const FloatTensor wide = rest[room * sizeof(int16_t)].ReinterpretCast<float>(), sum = Total()[kFloatsOfBlock];
        AscendC::Xor(ints, x, y, rest, count, at);
        AscendC::Cast(wide, ints, AscendC::RoundMode::CAST_NONE, count, at);
        Barrier();
        AscendC::ReduceSum(sum, wide, sum, static_cast<int32_t>(count), at);
        Barrier();
        AscendC::Add(Total(), Total(), sum, 1, at);
        Barrier();
    }
};

PITON_API void SumOfXor(const AscendC::LocalTensor<int16_t> &dst, const AscendC::LocalTensor<int16_t> &x, const AscendC::LocalTensor<int16_t> &y,
                        const AscendC::LocalTensor<uint8_t> &memory, uint32_t count, Location at) {
    constexpr uint32_t kUnitBytes = XorParts::kUnit * XorParts::kElementBytes, kSums = 2 * kBlockBytes;
    const uint32_t units = memory.GetSize() < kSums ? 0 : (memory.GetSize() - kSums) / kUnitBytes;
    if (units == 0) {
        Fault(VNPU_FAULT_UB_OVERFLOW, "ReduceXorSum", at, kSums + kUnitBytes, memory.GetSize());
    }
    RequireApart("ReduceXorSum", dst.Operand(), sizeof(int16_t), memory.Operand(), kSums + uint64_t(units) * kUnitBytes, at);
    const XorParts parts{memory, units * XorParts::kUnit, at};
    AscendC::Duplicate(parts.Total(), 0.0f, static_cast<int32_t>(kFloatsOfBlock), at);
    parts.Barrier();
    for (uint32_t done = 0; done < count; done += parts.room) {
        parts.Add(x[done], y[done], count - done < parts.room ? count - done : parts.room);
    }
    AscendC::Cast(dst, parts.Total(), AscendC::RoundMode::CAST_RINT, 1, at);
    parts.Barrier();
}

}  // namespace piton

namespace AscendC {

template <typename T, bool isReuseSource = false>
PITON_API void ReduceXorSum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const LocalTensor<T> &src1Tensor,
                            const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t calCount, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("ReduceXorSum", (std::is_same<T, int16_t>::value), "int16_t");
    piton::SumOfXor(dstTensor, src0Tensor, src1Tensor, sharedTmpBuffer, calCount, at);
}
template <typename T, bool isReuseSource = false>
PITON_API void ReduceXorSum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const LocalTensor<T> &src1Tensor, const uint32_t calCount,
                            piton::Location at = piton::Location()) {
    ReduceXorSum<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, GetTPipePtr(at)->UnusedMemory(at), calCount, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_AXIS_FUNCTIONS_H */
