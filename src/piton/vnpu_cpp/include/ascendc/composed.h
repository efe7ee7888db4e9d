/*
 * Elementwise functions made of instructions: their arithmetic, their parts, their overloads.
 *
 * Problem: the vendor's library composes such functions; of what is not published, what comes out is. Each has memory of its own, works on halves by way of
 * float, and comes with and without that memory and a count.
 * Approach: a function is a structure whose call makes `dst` of `x` (and `y`) in float with a few tensors ("slots") between; the frame cuts the count into
 * parts that fit the memory, casts halves, and asks that memory and tensors are apart. A step waits for the one before it, as the library's own steps have to.
 * Their time, hazards and rounding are those of these instructions.
 * Limits: half and float. `dst` may be `x` or `y`: a function writes it after its last look at either.
 */
#ifndef PITON_ASCENDC_COMPOSED_H
#define PITON_ASCENDC_COMPOSED_H

#include <initializer_list>

#include "cast.h"
#include "duplicate.h"
#include "pipe.h"
#include "scratch.h"
#include "vector_binary.h"
#include "vector_scalar.h"
#include "vector_unary.h"

namespace piton {

using FloatTensor = AscendC::LocalTensor<float>;

/* Instructions of one part, each after the one before; `memory` holds `room` floats per slot. */
struct FloatSteps {
    FloatTensor memory;
    uint32_t room;
    int32_t count;
    Location at;

    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }
    PITON_API FloatTensor Slot(uint32_t number) const { return memory[number * room]; }

#define PITON_STEP_OF_TWO(Name)                                                                     \
    PITON_API void Name(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &y) const { \
        AscendC::Name(dst, x, y, count, at);                                                        \
        Barrier();                                                                                  \
    }
#define PITON_STEP_WITH_NUMBER(Name)                                                   \
    PITON_API void Name(const FloatTensor &dst, const FloatTensor &x, float y) const { \
        AscendC::Name(dst, x, y, count, at);                                           \
        Barrier();                                                                     \
    }
#define PITON_STEP_OF_ONE(Name)                                               \
    PITON_API void Name(const FloatTensor &dst, const FloatTensor &x) const { \
        AscendC::Name(dst, x, count, at);                                     \
        Barrier();                                                            \
    }
    PITON_STEP_OF_TWO(Add)
    PITON_STEP_OF_TWO(Sub)
    PITON_STEP_OF_TWO(Mul)
    PITON_STEP_OF_TWO(Div)
    PITON_STEP_OF_TWO(Max)
    PITON_STEP_OF_TWO(Min)
    PITON_STEP_WITH_NUMBER(Adds)
    PITON_STEP_WITH_NUMBER(Muls)
    PITON_STEP_WITH_NUMBER(Maxs)
    PITON_STEP_WITH_NUMBER(Mins)
    PITON_STEP_OF_ONE(Exp)
    PITON_STEP_OF_ONE(Ln)
    PITON_STEP_OF_ONE(Sqrt)
    PITON_STEP_OF_ONE(Abs)
    PITON_STEP_OF_ONE(Relu)
#undef PITON_STEP_OF_TWO
#undef PITON_STEP_WITH_NUMBER
#undef PITON_STEP_OF_ONE

    PITON_API void Set(const FloatTensor &dst, float value) const {
        AscendC::Duplicate(dst, value, count, at);
        Barrier();
    }
    PITON_API void Round(const FloatTensor &dst, const FloatTensor &x, AscendC::RoundMode mode) const {
        AscendC::Cast(dst, x, mode, static_cast<uint32_t>(count), at);
        Barrier();
    }
    /* Into [-limit, limit]. */
    PITON_API void Cut(const FloatTensor &dst, const FloatTensor &x, float limit) const {
        Mins(dst, x, limit);
        Maxs(dst, dst, -limit);
    }
    /* 1 where x > threshold, else 0; what is blended by it has to agree at the threshold. */
    PITON_API void IsAbove(const FloatTensor &dst, const FloatTensor &x, float threshold) const {
        constexpr float kLarge = 1e30f;
        Adds(dst, x, -threshold);
        Muls(dst, dst, kLarge);
        Mins(dst, dst, 1.0f);
        Maxs(dst, dst, 0.0f);
    }
    /* dst = low + chosen * (high - low), where `high` is lost. */
    PITON_API void Blend(const FloatTensor &dst, const FloatTensor &low, const FloatTensor &high, const FloatTensor &chosen) const {
        Sub(high, high, low);
        Mul(high, high, chosen);
        Add(dst, low, high);
    }
    /* dst = c[0] + x (c[1] + x (c[2] + ...)); dst is not x. */
    PITON_API void Polynomial(const FloatTensor &dst, const FloatTensor &x, std::initializer_list<float> coefficients) const {
        auto next = coefficients.end();
        Set(dst, *--next);
        while (next != coefficients.begin()) {
            Mul(dst, dst, x);
            Adds(dst, dst, *--next);
        }
    }
    /* dst = x, which is not negative, with the sign of `sign`; dst may be `sign`. */
    PITON_API void CopySign(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &sign, const FloatTensor &scratch) const {
        const auto bits = scratch.ReinterpretCast<uint32_t>();
        AscendC::ShiftRight(bits, sign.ReinterpretCast<uint32_t>(), uint32_t(31), count, at);
        Barrier();
        AscendC::ShiftLeft(bits, bits, uint32_t(31), count, at);
        Barrier();
        AscendC::Or(dst.ReinterpretCast<uint16_t>(), x.ReinterpretCast<uint16_t>(), scratch.ReinterpretCast<uint16_t>(), 2 * count, at);
        Barrier();
    }
};

/* How many elements go at once where `tensors` floats of memory belong to each; whole repeats. */
PITON_API uint32_t ComposedRoom(const char *api, const AscendC::LocalTensor<uint8_t> &memory, uint32_t tensors, uint32_t count, Location at) {
    constexpr uint32_t kUnit = kRepeatBytes / sizeof(float);
    const uint32_t all = (count + kUnit - 1) / kUnit * kUnit;
    if (tensors == 0) {
        return all;
    }
    const uint32_t room = memory.GetSize() / (tensors * kRepeatBytes) * kUnit;
    if (room == 0) {
        Fault(VNPU_FAULT_UB_OVERFLOW, api, at, tensors * kRepeatBytes, memory.GetSize());
    }
    return room < all ? room : all;
}

/* What a function reads: one tensor or two of one type. */
template <typename T>
struct ComposedSources {
    const AscendC::LocalTensor<T> &x;
    const AscendC::LocalTensor<T> &y;
};

template <typename T>
PITON_API FloatTensor WidePart(const FloatTensor &place, const AscendC::LocalTensor<T> &src, const FloatSteps &steps) {
    if constexpr (std::is_same<T, float>::value) {
        return src;
    } else {
        AscendC::Cast(place, src, AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(steps.count), steps.at);
        steps.Barrier();
        return place;
    }
}

/* `count` floats as T, each rounded once. */
template <typename T>
PITON_API void GiveFloats(const AscendC::LocalTensor<T> &dst, const FloatTensor &src, uint32_t count, Location at) {
    if constexpr (std::is_same<T, float>::value) {
        AscendC::Adds(dst, src, 0.0f, static_cast<int32_t>(count), at);
    } else {
        AscendC::Cast(dst, src, AscendC::RoundMode::CAST_NONE, count, at);
    }
    SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
}

template <typename Function, typename T>
PITON_API void ComposePart(const Function &function, const AscendC::LocalTensor<T> &dst, const ComposedSources<T> &src, const FloatSteps &steps) {
    const FloatTensor x = WidePart(steps.Slot(Function::kSlots), src.x, steps);
    const FloatTensor y = Function::kSources == 2 ? WidePart(steps.Slot(Function::kSlots + 1), src.y, steps) : x;
    if constexpr (std::is_same<T, float>::value) {
        function(dst, x, y, steps);
    } else {
        function(x, x, y, steps);
        AscendC::Cast(dst, x, AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(steps.count), steps.at);
        steps.Barrier();
    }
}

template <typename Function, typename T>
PITON_API void Compose(const char *api, const Function &function, const AscendC::LocalTensor<T> &dst, const ComposedSources<T> &src,
                       const AscendC::LocalTensor<uint8_t> &memory, uint32_t count, Location at) {
    constexpr uint32_t kTensors = Function::kSlots + (std::is_same<T, half>::value ? Function::kSources : 0);
    const uint32_t room = ComposedRoom(api, memory, kTensors, count, at);
    if (kTensors != 0) {
        const uint64_t used = uint64_t(kTensors) * room * sizeof(float);
        RequireApart(api, dst.Operand(), count * sizeof(T), memory.Operand(), used, at);
        RequireApart(api, src.x.Operand(), count * sizeof(T), memory.Operand(), used, at);
        RequireApart(api, src.y.Operand(), count * sizeof(T), memory.Operand(), used, at);
    }
    const FloatTensor floats = memory.template ReinterpretCast<float>();
    for (uint32_t done = 0; done < count; done += room) {
        const uint32_t part = count - done < room ? count - done : room;
        const auto x = src.x[done], y = src.y[done];
        ComposePart(function, dst[done], ComposedSources<T>{x, y}, FloatSteps{floats, room, static_cast<int32_t>(part), at});
    }
}

/* Memory that TPipe has not given out; none where the function needs none, so that it runs without a TPipe. */
template <typename Function, typename T>
PITON_API AscendC::LocalTensor<uint8_t> ComposedMemory(Location at) {
    constexpr bool isNeeded = Function::kSlots != 0 || !std::is_same<T, float>::value;
    return isNeeded ? AscendC::GetTPipePtr(at)->UnusedMemory(at) : AscendC::LocalTensor<uint8_t>();
}

}  // namespace piton

/* The two forms with a count of a function of one tensor. */
#define PITON_COMPOSED_COUNT(Name, Function)                                                                                                                 \
    namespace AscendC {                                                                                                                                      \
    template <typename T, bool isReuseSource = false, bool = false>                                                                                          \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer,                       \
                        const uint32_t calCount, piton::Location at = piton::Location()) {                                                                   \
        using piton::kDtype;                                                                                                                                 \
        PITON_REQUIRE_TYPE(#Name, piton::kIsFloat<T>, "half, float");                                                                                        \
        piton::Compose(#Name, piton::Function, dstTensor, {srcTensor, srcTensor}, sharedTmpBuffer, calCount, at);                                            \
    }                                                                                                                                                        \
    template <typename T, bool isReuseSource = false, bool = false>                                                                                          \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const uint32_t calCount, piton::Location at = piton::Location()) { \
        Name<T, isReuseSource>(dstTensor, srcTensor, piton::ComposedMemory<decltype(piton::Function), T>(at), calCount, at);                                 \
    }                                                                                                                                                        \
    }

/* Those and the two for whole tensors. */
#define PITON_COMPOSED_UNARY(Name, Function)                                                                                           \
    PITON_COMPOSED_COUNT(Name, Function)                                                                                               \
    namespace AscendC {                                                                                                                \
    template <typename T, bool isReuseSource = false>                                                                                  \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer, \
                        piton::Location at = piton::Location()) {                                                                      \
        Name<T, isReuseSource>(dstTensor, srcTensor, sharedTmpBuffer, srcTensor.GetSize(), at);                                        \
    }                                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                                  \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, piton::Location at = piton::Location()) {    \
        Name<T, isReuseSource>(dstTensor, srcTensor, srcTensor.GetSize(), at);                                                         \
    }                                                                                                                                  \
    }

/* The four forms of a function of two tensors. */
#define PITON_COMPOSED_BINARY(Name, Function)                                                                                                                 \
    namespace AscendC {                                                                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                                                         \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const LocalTensor<uint8_t> &sharedTmpBuffer, \
                        const uint32_t calCount, piton::Location at = piton::Location()) {                                                                    \
        using piton::kDtype;                                                                                                                                  \
        PITON_REQUIRE_TYPE(#Name, piton::kIsFloat<T>, "half, float");                                                                                         \
        piton::Compose(#Name, piton::Function, dstTensor, {src0, src1}, sharedTmpBuffer, calCount, at);                                                       \
    }                                                                                                                                                         \
    template <typename T, bool isReuseSource = false>                                                                                                         \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const uint32_t calCount,                     \
                        piton::Location at = piton::Location()) {                                                                                             \
        Name<T, isReuseSource>(dstTensor, src0, src1, piton::ComposedMemory<decltype(piton::Function), T>(at), calCount, at);                                 \
    }                                                                                                                                                         \
    template <typename T, bool isReuseSource = false>                                                                                                         \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const LocalTensor<uint8_t> &sharedTmpBuffer, \
                        piton::Location at = piton::Location()) {                                                                                             \
        Name<T, isReuseSource>(dstTensor, src0, src1, sharedTmpBuffer, src0.GetSize(), at);                                                                   \
    }                                                                                                                                                         \
    template <typename T, bool isReuseSource = false>                                                                                                         \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0, const LocalTensor<T> &src1, piton::Location at = piton::Location()) {    \
        Name<T, isReuseSource>(dstTensor, src0, src1, src0.GetSize(), at);                                                                                    \
    }                                                                                                                                                         \
    }

#endif /* PITON_ASCENDC_COMPOSED_H */
