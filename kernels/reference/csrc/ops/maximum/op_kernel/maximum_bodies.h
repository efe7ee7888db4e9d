/*
 * The larger of two tiles, for the types that the vector unit compares, and for those that one of these holds.
 *
 * Floats: no public page says what Max makes of NaN, so it does not decide: where a side is not equal to itself the result is that side.
 */
#ifndef REFERENCE_MAXIMUM_BODIES_H
#define REFERENCE_MAXIMUM_BODIES_H

#include <type_traits>

#include "kernel_operator.h"

constexpr int64_t kSelectBytes = 8192;  // the end of the unified buffer, which Select uses

/* T is float16, bfloat16 or float32; F, half or float, is what it is compared in. */
template <typename T, typename F>
class MaximumOfFloats {
public:
    using Wide = F;
    static constexpr bool kIsNarrow = !std::is_same_v<T, F>;
    static constexpr int64_t kBytesPerElement = 1 + (kIsNarrow ? sizeof(F) : 0);  // bits, rounded up; the result before it is narrowed
    static constexpr int64_t kFixedBytes = kSelectBytes;
    static constexpr int64_t kElementsPerLaunch = 1500;

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile) {
        if constexpr (kIsNarrow) {
            pipe.InitBuffer(wide_, perTile * sizeof(F));
        }
        pipe.InitBuffer(bits_, perTile / 8);
    }

    __aicore__ static inline void Widen(const AscendC::LocalTensor<F> &wide, const AscendC::LocalTensor<T> &narrow, uint32_t count) {
        AscendC::Cast(wide, narrow, AscendC::RoundMode::CAST_NONE, count);
    }

    __aicore__ inline void Run(const AscendC::LocalTensor<T> &y, const AscendC::LocalTensor<F> &a, const AscendC::LocalTensor<F> &b, uint32_t count) {
        AscendC::PipeBarrier<PIPE_V>();  // the tensors of the last tile have been read
        if constexpr (kIsNarrow) {
            const auto wide = wide_.template Get<F>();
            Choose(wide, a, b, count);
            AscendC::Cast(y, wide, AscendC::RoundMode::CAST_RINT, count);
        } else {
            Choose(y, a, b, count);
        }
    }

private:
    __aicore__ inline void Choose(const AscendC::LocalTensor<F> &y, const AscendC::LocalTensor<F> &a, const AscendC::LocalTensor<F> &b, uint32_t count) {
        AscendC::Max(y, a, b, count);
        KeepNan(y, a, count);
        KeepNan(y, b, count);
    }

    /* y = x where x is NaN. Compare works on whole 256 bytes. */
    __aicore__ inline void KeepNan(const AscendC::LocalTensor<F> &y, const AscendC::LocalTensor<F> &x, uint32_t count) {
        constexpr uint32_t kLanes = 256 / sizeof(F);
        const auto bits = bits_.template Get<uint8_t>();
        AscendC::Compare(bits, x, x, AscendC::CMPMODE::EQ, (count + kLanes - 1) / kLanes * kLanes);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Select(y, bits, y, x, AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bits_;
};

class MaximumOfBytes {
public:
    using Wide = half;
    static constexpr int64_t kBytesPerElement = sizeof(half);
    static constexpr int64_t kFixedBytes = 0;
    static constexpr int64_t kElementsPerLaunch = 4000;

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile) { pipe.InitBuffer(wide_, perTile * sizeof(half)); }

    __aicore__ static inline void Widen(const AscendC::LocalTensor<half> &wide, const AscendC::LocalTensor<int8_t> &narrow, uint32_t count) {
        AscendC::Cast(wide, narrow, AscendC::RoundMode::CAST_NONE, count);
    }

    __aicore__ inline void Run(const AscendC::LocalTensor<int8_t> &y, const AscendC::LocalTensor<half> &a, const AscendC::LocalTensor<half> &b,
                               uint32_t count) {
        const auto wide = wide_.Get<half>();
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Max(wide, a, b, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(y, wide, AscendC::RoundMode::CAST_RINT, count);
    }

private:
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
};

class MaximumOfWords {
public:
    using Wide = int32_t;
    static constexpr int64_t kBytesPerElement = 0;
    static constexpr int64_t kFixedBytes = 0;
    static constexpr int64_t kElementsPerLaunch = 1500;

    __aicore__ inline void Init(AscendC::TPipe &, uint32_t) {}

    __aicore__ inline void Run(const AscendC::LocalTensor<int32_t> &y, const AscendC::LocalTensor<int32_t> &a, const AscendC::LocalTensor<int32_t> &b,
                               uint32_t count) {
        AscendC::Max(y, a, b, count);
    }
};

#endif  // REFERENCE_MAXIMUM_BODIES_H
