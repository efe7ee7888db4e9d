/*
 * Host functions of the elementwise functions and of sums: how much temporary memory a kernel needs.
 *
 * Problem: host code asks for the least and the most memory, or for what each element takes.
 * Approach: a function keeps tensors of floats, a repeat of each at least; halves are kept as floats besides (ascendc/composed.h).
 * Limits: the numbers are ours, not the vendor's. Where a function needs nothing, a repeat is asked for, since programs give it out as a buffer.
 */
#ifndef PITON_NORMS_ELEMENTWISE_H
#define PITON_NORMS_ELEMENTWISE_H

#include "ascendc/norms/elementwise.h"
#include "ascendc/norms/reduce_pattern.h"
#include "norms.h"
#include "piton_project/types.h"

namespace piton_norms {

constexpr uint32_t kRepeatBytes = 256;

/* Floats that belong to each element. */
struct Kept {
    uint32_t slots, sources;

    uint32_t Tensors(uint32_t typeSize) const {
        const uint32_t tensors = slots + (typeSize == 2 ? sources : 0);
        return tensors == 0 ? 1 : tensors;
    }
    void TellSizes(uint64_t elements, uint32_t typeSize, uint32_t &most, uint32_t &least) const {
        const uint64_t whole = elements == 0 ? 64 : (elements + 63) / 64 * 64;
        least = Tensors(typeSize) * kRepeatBytes;
        most = Bytes(Tensors(typeSize) * whole * sizeof(float));
    }
    /* In tensors of the type of the data, and what rounding takes besides. */
    void TellFactors(uint32_t typeSize, uint32_t &live, uint32_t &extra) const {
        live = typeSize == 0 ? Tensors(typeSize) : static_cast<uint32_t>((Tensors(typeSize) * sizeof(float) + typeSize - 1) / typeSize);
        extra = Tensors(typeSize) * kRepeatBytes;
    }
};

inline uint64_t Elements(const AscendC::TensorShape &shape) { return static_cast<uint64_t>(shape.GetShapeSize()); }

}  // namespace piton_norms

namespace AscendC {

using TensorDataType = ge::DataType;

/* The documented order of arguments; some pages have the platform in front, which changes nothing. */
#define PITON_SIZES(Name, slots, sources)                                                                                                            \
    inline void Get##Name##MaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool, uint32_t &maxValue, uint32_t &minValue) { \
        piton_norms::Kept{slots, sources}.TellSizes(piton_norms::Elements(srcShape), typeSize, maxValue, minValue);                                  \
    }                                                                                                                                                \
    inline void Get##Name##MaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const TensorShape &srcShape, const uint32_t typeSize,            \
                                         const bool isReuseSource, uint32_t &maxValue, uint32_t &minValue) {                                         \
        Get##Name##MaxMinTmpSize(srcShape, typeSize, isReuseSource, maxValue, minValue);                                                             \
    }                                                                                                                                                \
    inline void Get##Name##TmpBufferFactorSize(const uint32_t typeSize, uint32_t &maxLiveNodeCount, uint32_t &extraBuf) {                            \
        piton_norms::Kept{slots, sources}.TellFactors(typeSize, maxLiveNodeCount, extraBuf);                                                         \
    }                                                                                                                                                \
    inline void Get##Name##TmpBufferFactorSize(const platform_ascendc::PlatformAscendC &, const uint32_t typeSize, uint32_t &maxLiveNodeCount,       \
                                               uint32_t &extraBuf) {                                                                                 \
        Get##Name##TmpBufferFactorSize(typeSize, maxLiveNodeCount, extraBuf);                                                                        \
    }
#define PITON_SIZES_OF(Name, Function, slots, sources) PITON_SIZES(Name, slots, sources)
PITON_ELEMENTWISE(PITON_SIZES_OF)
#undef PITON_SIZES_OF
PITON_SIZES(Floor, 0, 1)
PITON_SIZES(Ceil, 0, 1)
PITON_SIZES(Trunc, 0, 1)
PITON_SIZES(Rint, 0, 1)
PITON_SIZES(Round, 0, 1)
PITON_SIZES(Xor, 2, 2)
PITON_SIZES(Clamp, 1, 1)
PITON_SIZES(Axpy, 1, 1)
#undef PITON_SIZES

inline bool GetExpMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool, uint32_t &maxValue, uint32_t &minValue) {
    piton_norms::Kept{3, 1}.TellSizes(piton_norms::Elements(srcShape), typeSize, maxValue, minValue);
    return srcShape.GetShapeSize() > 0;
}
inline void GetExpTmpBufferFactorSize(const uint32_t typeSize, uint32_t &maxLiveNodeCount, uint32_t &extraBuffer) {
    piton_norms::Kept{3, 1}.TellFactors(typeSize, maxLiveNodeCount, extraBuffer);
}

/* The exact one and the faster ones. */
inline void GetGeluMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, uint32_t &maxValue, uint32_t &minValue) {
    piton_norms::Kept{2, 1}.TellSizes(piton_norms::Elements(srcShape), typeSize, maxValue, minValue);
}
inline uint32_t GetGeluMaxTmpSize(const TensorShape &srcShape, const uint32_t typeSize) {
    uint32_t most = 0, least = 0;
    GetGeluMaxMinTmpSize(srcShape, typeSize, most, least);
    return most;
}
inline uint32_t GetGeluMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize) {
    uint32_t most = 0, least = 0;
    GetGeluMaxMinTmpSize(srcShape, typeSize, most, least);
    return least;
}
inline void GetSiluTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool, uint32_t &maxValue, uint32_t &minValue) {
    piton_norms::Kept{1, 1}.TellSizes(piton_norms::Elements(srcShape), typeSize, maxValue, minValue);
}
inline void GetSwishTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource, uint32_t &maxValue, uint32_t &minValue) {
    GetSiluTmpSize(srcShape, typeSize, isReuseSource, maxValue, minValue);
}
inline void GetSwiGLUMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, uint32_t &maxValue, uint32_t &minValue, const bool) {
    piton_norms::Kept{1, 2}.TellSizes(piton_norms::Elements(srcShape), typeSize, maxValue, minValue);
}
inline void GetSwiGLUTmpBufferFactorSize(const uint32_t typeSize, uint32_t &maxLiveNodeCount, uint32_t &extraBuffer) {
    piton_norms::Kept{1, 2}.TellFactors(typeSize, maxLiveNodeCount, extraBuffer);
}

/* As power.h keeps them, whichever operand is a tensor. */
inline void GetPowerMaxMinTmpSize(const TensorShape &srcShape1, const TensorShape &srcShape2, const bool, const uint32_t, const bool, uint32_t &maxValue,
                                  uint32_t &minValue) {
    const uint64_t one = piton_norms::Elements(srcShape1), two = piton_norms::Elements(srcShape2);
    piton_norms::Kept{6, 0}.TellSizes(one > two ? one : two, sizeof(float), maxValue, minValue);
}
inline void GetPowerTmpBufferFactorSize(const bool, const bool, const bool, const uint32_t typeSize, uint32_t &maxLiveNodeCount, uint32_t &extraBuffer) {
    piton_norms::Kept{typeSize == 2 ? 12u : 6u, 0}.TellFactors(sizeof(float), maxLiveNodeCount, extraBuffer);
}

/* Rows one by one: 192 numbers and a row twice. */
inline void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t, const bool, uint32_t &maxSize, uint32_t &minSize) {
    maxSize = minSize = piton_norms::Bytes((192 + 2 * uint64_t(piton::WholeRepeats(n))) * sizeof(float));
}
inline void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t srcTypeSize, const uint32_t, const bool isReuseSource, uint32_t &maxSize, uint32_t &minSize) {
    GetSumMaxMinTmpSize(n, srcTypeSize, isReuseSource, maxSize, minSize);
}

/* Along the last axis 64 lanes of eight rows at least; halves need their results and a row as floats. */
#define PITON_REDUCE_SIZES(Name)                                                                                                                            \
    inline void Get##Name##MaxMinTmpSize(const TensorShape &srcShape, const TensorDataType dataType, ReducePattern pattern, bool, bool, uint32_t &maxValue, \
                                         uint32_t &minValue) {                                                                                              \
        const uint32_t rows = piton_norms::Length(srcShape, 0), columns = piton_norms::Length(srcShape, 1);                                                 \
        const uint32_t eights = rows > 240 ? 248 : (rows + 7) / 8 * 8;                                                                                      \
        const bool isHalf = dataType == ge::DT_FLOAT16, isKept = pattern == ReducePattern::RA;                                                              \
        const uint32_t half = (piton::WholeRepeats(rows) + 64 + piton::WholeRepeats(columns)) * sizeof(float);                                              \
        minValue = isKept ? 32 : isHalf ? half : 8 * piton_norms::kRepeatBytes;                                                                             \
        maxValue = isKept || isHalf ? minValue : (eights == 0 ? 8 : eights) * piton_norms::kRepeatBytes;                                                    \
    }
PITON_REDUCE_SIZES(ReduceSum)
PITON_REDUCE_SIZES(ReduceMax)
PITON_REDUCE_SIZES(ReduceMin)
#undef PITON_REDUCE_SIZES

}  // namespace AscendC

#endif /* PITON_NORMS_ELEMENTWISE_H */
